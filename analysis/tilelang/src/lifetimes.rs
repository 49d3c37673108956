//! From which event to which a buffer lives (docs/reference/tilelang.md, "4. Order of events and live intervals").
//!
//! A buffer ends with the last event that touches it, but for one rule. The compiler knows two depths of events: that of a loop over several
//! statements, and that of all others. What begins at the outer depth and ends at the inner one is held until an event of the outer depth is next
//! where something begins or ends.

use std::collections::BTreeMap;
use std::rc::Rc;

use tilefit_python::finding::Origin;

use crate::products::{Instruction, instruction, smallest_depth};
use crate::program::{BufferId, Kind, Launch, Op};
use crate::steps::{Form, Step, Steps, is_placed};
use crate::target::Target;
use crate::workspaces::{Need, Workspace};

/// From one event to behind another, in the numbers of events; and the statements that touch it first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveRange {
    pub start: usize,
    pub end: usize,
    pub first: Origin,
    pub last: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    Inner,
    /// It depends on how the statement is written out.
    Unsure,
}

#[derive(Debug, Default)]
pub(crate) struct Lifetimes {
    pub of: BTreeMap<BufferId, LiveRange>,
    /// Whether something may be held longer than it is here, beside something that begins then.
    pub are_unsure: bool,
    /// Whether a statement may be two events, so that what it reads is free when what it writes begins.
    pub may_be_split: bool,
}

pub(crate) fn lifetimes(
    launch: &Launch,
    events: &Steps,
    target: Target,
    scratch: &BTreeMap<usize, Workspace>,
) -> Lifetimes {
    let mut of: BTreeMap<BufferId, LiveRange> = BTreeMap::new();
    for (start, event) in events.iter().enumerate() {
        let end = start + 1;
        for buffer in event.touched.all().filter(|&buffer| is_placed(launch, buffer)) {
            let Some((first, last)) = event.places(buffer) else { continue };
            of.entry(buffer).and_modify(|range| *range = LiveRange { end, last, ..*range }).or_insert(LiveRange {
                start,
                end,
                first,
                last,
            });
        }
    }
    let depths = events.iter().enumerate().map(|(place, event)| {
        let is_alone = |range: &LiveRange| range.start == place && range.end == place + 1;
        let has_own = event.op().is_some() && event.touched.all().any(|buffer| of.get(&buffer).is_some_and(is_alone));
        match depth(launch, event, target, scratch) {
            // What is touched here only is declared inside.
            Depth::Outer if has_own => Depth::Unsure,
            depth => depth,
        }
    });
    let depths = depths.collect();
    let holding = Holding::of(events, &of, depths, scratch);
    let mut are_unsure = false;
    for range in of.values_mut() {
        let (surely, perhaps) = holding.ends(range.start, range.end - 1);
        are_unsure |= holding.begins[surely + 1..=perhaps].contains(&true);
        range.end = surely + 1;
    }
    let may_be_split = events.iter().enumerate().any(|(place, event)| {
        let begins = |buffer: &BufferId| of.get(buffer).is_some_and(|range| range.start == place);
        let ends = |buffer: &BufferId| of.get(buffer).is_some_and(|range| range.end == place + 1);
        may_be_split(launch, event)
            && event.touched.writes.iter().any(begins)
            && event.touched.reads.iter().any(|buffer| ends(buffer) && !begins(buffer))
    });
    Lifetimes { of, are_unsure, may_be_split }
}

/// Elements of another type go through registers, and where a thread has one vector of them, no loop is around both halves.
pub(crate) fn may_be_split(launch: &Launch, step: &Step) -> bool {
    /// More than a thread has in a vector.
    const VECTOR: u64 = 32;
    let Some(op) = step.op().filter(|op| op.is_copy() || op.is_by_element()) else { return false };
    let placed = |id: &&BufferId| is_placed(launch, **id);
    let (reads, writes) = (|| step.touched.reads.iter().filter(placed), || step.touched.writes.iter().filter(placed));
    let is_cast =
        reads().any(|read| writes().any(|written| launch.buffer(*read).dtype != launch.buffer(*written).dtype));
    let bytes = writes().filter_map(|written| launch.buffer(*written).bytes()).min().unwrap_or(0);
    let is_small = launch.threads.is_none_or(|threads| bytes <= threads.saturating_mul(VECTOR));
    (is_cast || op.writes.len() > 1) && is_small
}

/// What happens at each event.
struct Holding {
    depths: Vec<Depth>,
    begins: Vec<bool>,
    /// The next event where something begins or ends.
    next: Vec<Option<usize>>,
}

impl Holding {
    fn of(
        events: &Steps,
        live: &BTreeMap<BufferId, LiveRange>,
        depths: Vec<Depth>,
        scratch: &BTreeMap<usize, Workspace>,
    ) -> Holding {
        let has_scratch = |event: &Rc<Step>| {
            let of = event.ops().into_iter().filter_map(|numbered| scratch.get(&numbered.number));
            of.into_iter().any(|workspace| workspace.need != Need::Known(0))
        };
        let mut begins: Vec<bool> = events.iter().map(has_scratch).collect();
        let mut ends = begins.clone();
        for range in live.values() {
            begins[range.start] = true;
            ends[range.end - 1] = true;
        }
        let mut next = vec![None; events.len()];
        let mut behind = None;
        for i in (0..events.len()).rev() {
            next[i] = behind;
            behind = if begins[i] || ends[i] { Some(i) } else { behind };
        }
        Holding { depths, begins, next }
    }

    /// The last event of what begins at one and is touched last at another: for sure, and at most.
    fn ends(&self, first: usize, last: usize) -> (usize, usize) {
        let run = |is_outer: fn(Depth) -> bool, is_inner: fn(Depth) -> bool| {
            let mut end = last;
            if is_outer(self.depths[first]) && is_inner(self.depths[last]) {
                while let Some(next) = self.next[end].filter(|&next| is_inner(self.depths[next])) {
                    end = next;
                }
            }
            end
        };
        let surely = run(|depth| depth == Depth::Outer, |depth| depth == Depth::Inner);
        (surely, run(|depth| depth != Depth::Inner, |depth| depth != Depth::Outer).max(surely))
    }
}

fn depth(launch: &Launch, event: &Rc<Step>, target: Target, scratch: &BTreeMap<usize, Workspace>) -> Depth {
    match &event.form {
        Form::If(_) | Form::Roles { .. } => Depth::Outer,
        Form::Loop(repeat) if repeat.is_of_roles => Depth::Inner,
        Form::Loop(repeat) => match repeat.body.as_slice() {
            [] => Depth::Outer,
            // What one statement becomes is a loop itself.
            [only] => match only.op().map(|op| &op.kind) {
                Some(Kind::Other(_)) => Depth::Unsure,
                _ => Depth::Outer,
            },
            _ => Depth::Inner,
        },
        Form::Op(numbered) => of_statement(launch, numbered.op, target, scratch.get(&numbered.number)),
    }
}

fn of_statement(launch: &Launch, op: &Op, target: Target, workspace: Option<&Workspace>) -> Depth {
    match &op.kind {
        Kind::Copy | Kind::AsyncCopy | Kind::TmaCopy | Kind::Fill | Kind::Store { .. } | Kind::CumulativeSum => {
            Depth::Outer
        }
        // Several stores in one nest stand behind each other.
        Kind::Parallel { .. } if op.writes.len() > 1 => Depth::Unsure,
        Kind::Parallel { .. } => Depth::Outer,
        Kind::Gemm(gemm) => match instruction(launch, op, gemm, target, launch.threads_of(op).unwrap_or(0)) {
            Instruction::WarpGroup => Depth::Outer,
            Instruction::Mma => match smallest_depth(launch, op) {
                Some(least) if gemm.k > least => Depth::Inner,
                Some(least) if gemm.k == least && matches!(target, Target::Nvidia { .. }) => Depth::Outer,
                _ => Depth::Unsure,
            },
            Instruction::TensorMemory => Depth::Unsure,
        },
        // A loop over the results of a thread, if it has several.
        Kind::Reduce(_) => match workspace.and_then(|workspace| workspace.results) {
            Some(0..=1) => Depth::Outer,
            Some(_) => Depth::Inner,
            None => Depth::Unsure,
        },
        Kind::Other(_) => Depth::Unsure,
    }
}
