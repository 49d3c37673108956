//! Warp specialisation: copies of the first pipelined loop go to warps of their own, as early as barriers let them
//! (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)" and "4. Order of events and live intervals").

mod prelude;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilefit_python::work;

use crate::bulk_copies;
use crate::program::{BufferId, Kind, Launch, Scope};
use crate::steps::{Form, Guard, Repeat, Step, Steps, is_global, is_shared};
use crate::target::Target;
use crate::versions;
use prelude::Divided;

/// Warps that copy, unless their work is that of all threads.
const PRODUCER_THREADS: u64 = 128;

/// What the pass makes of a launch.
#[derive(Debug)]
pub(crate) enum Outcome<'p> {
    /// It has nothing to do here.
    Unchanged,
    /// It begins, makes copies of buffers, and finds that it cannot: all is as before, but no loop is pipelined any more.
    Dropped(Steps<'p>, BTreeMap<BufferId, u64>),
    Specialised(Specialised<'p>),
}

#[derive(Debug)]
pub(crate) struct Specialised<'p> {
    pub steps: Steps<'p>,
    /// Copies of buffers, where there is more than one.
    pub versions: BTreeMap<BufferId, u64>,
    /// Statements that have become bulk copies, by their numbers.
    pub loads: BTreeSet<usize>,
    /// Barriers of the pass.
    pub barriers: u64,
    /// Copies of each barrier of the author's.
    pub of_each_barrier: u64,
    /// What is added to the block's.
    pub threads: Option<u64>,
}

/// What a statement of the pipelined loop's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    BulkLoad,
    /// `T.async_copy`.
    AsyncCopy,
    /// Elements that are copied by all threads.
    ByElement,
    Consumer,
}

pub(crate) fn specialised<'p>(launch: &'p Launch, steps: &Steps<'p>, target: Target) -> Outcome<'p> {
    let is_off = launch.options.is_warp_specialization_off || !target.has_bulk_copies();
    if is_off || !has_candidate(launch, steps, target, false) {
        return Outcome::Unchanged;
    }
    let found = first_pipelined(steps).and_then(|repeat| Body::of(launch, repeat, target));
    match found {
        Some(body) => Outcome::Specialised(body.specialise(launch, steps, target)),
        None => Outcome::Dropped(without_stages(steps), versions::of_pipelined_loops(launch, steps)),
    }
}

/// Some pipelined loop has a bulk load, however deep.
fn has_candidate(launch: &Launch, steps: &[Rc<Step>], target: Target, is_inside: bool) -> bool {
    steps.iter().any(|step| match &step.form {
        Form::Op(numbered) => is_inside && bulk_copies::load(launch, numbered.op, target).is_some(),
        form => {
            let is_inside = is_inside || matches!(form, Form::Loop(repeat) if repeat.stages >= 1);
            form.parts().into_iter().any(|part| has_candidate(launch, part, target, is_inside))
        }
    })
}

fn first_pipelined<'s, 'p>(steps: &'s [Rc<Step<'p>>]) -> Option<&'s Repeat<'p>> {
    steps.iter().find_map(|step| match &step.form {
        Form::Loop(repeat) if repeat.stages >= 1 => Some(repeat),
        form => form.parts().into_iter().find_map(first_pipelined),
    })
}

fn without_stages<'p>(steps: &[Rc<Step<'p>>]) -> Steps<'p> {
    let rebuilt = steps.iter().map(|step| match &step.form {
        Form::Loop(repeat) => {
            let body = without_stages(&repeat.body);
            Step::new(Form::Loop(Repeat { stages: 0, body, ..repeat.clone() }))
        }
        Form::If(guard) => {
            let (then, otherwise) = (without_stages(&guard.then), without_stages(&guard.otherwise));
            Step::new(Form::If(Guard { of: guard.of, then, otherwise }))
        }
        _ => step.clone(),
    });
    rebuilt.collect()
}

/// The body of the loop, divided.
struct Body<'s, 'p> {
    repeat: &'s Repeat<'p>,
    /// The one `if` without `else` that is around all of it.
    guard: Option<&'s Guard<'p>>,
    parts: Vec<(Part, Rc<Step<'p>>)>,
}

impl<'s, 'p> Body<'s, 'p> {
    /// `None` where no statement directly in it is a bulk load.
    fn of(launch: &Launch, repeat: &'s Repeat<'p>, target: Target) -> Option<Body<'s, 'p>> {
        let mut statements = behind_bindings(&repeat.body);
        let mut guard = None;
        if let [only] = statements
            && let Form::If(around) = &only.form
            && around.otherwise.is_empty()
        {
            guard = Some(around);
            statements = behind_bindings(&around.then);
        }
        let parts: Vec<(Part, Rc<Step>)> =
            statements.iter().map(|step| (part(launch, step, target), step.clone())).collect();
        let has_load = parts.iter().any(|(part, _)| *part == Part::BulkLoad);
        has_load.then_some(Body { repeat, guard, parts })
    }

    fn producers(&self, is_one: impl Fn(Part) -> bool) -> impl Iterator<Item = &Rc<Step<'p>>> {
        self.parts.iter().filter(move |(part, _)| is_one(*part)).map(|(_, step)| step)
    }

    fn specialise(self, launch: &'p Launch, steps: &Steps<'p>, target: Target) -> Specialised<'p> {
        let consumers: Steps = self.producers(|part| part == Part::Consumer).cloned().collect();
        let loads: Steps = self.producers(|part| part == Part::BulkLoad).cloned().collect();
        let others: Steps = self.producers(|part| matches!(part, Part::AsyncCopy | Part::ByElement)).cloned().collect();
        let waits = waits(&loads, &others, &consumers);
        let moved = moved_to_producer(launch, target, &waits, &consumers);
        let is_work_of_all =
            self.parts.iter().any(|(part, step)| *part == Part::ByElement || is_plain_copy(launch, step, target))
                || moved.iter().any(|&i| is_plain_copy(launch, &consumers[i], target));

        let in_front = prelude::in_front_of(steps, self.repeat.number).unwrap_or_default();
        let is_waited_for = |step: &Step| {
            let written = step.op().and_then(|op| op.writes.first()).map(|region| region.buffer);
            part(launch, step, target) == Part::BulkLoad
                && written.is_some_and(|written| consumers.iter().any(|step| step.touched.seen.contains(&written)))
        };
        let early: Vec<usize> =
            in_front.iter().filter(|step| is_waited_for(step)).flat_map(|step| number(step)).collect();
        let stages = self.repeat.stages;
        let groups = if are_merged(&waits, others.is_empty()) { 1 } else { waits.len() as u64 };

        let (copying, computing) = self.loops(&others, &loads, &consumers, &moved);
        let divided = Divided { number: self.repeat.number, copying, computing };
        Specialised {
            versions: versions::of_pipelined_loops(launch, steps),
            loads: early.iter().copied().chain(loads.iter().flat_map(|step| number(step))).collect(),
            barriers: groups.saturating_mul(stages).saturating_mul(2).saturating_add(early.len() as u64),
            of_each_barrier: first_pipelined(steps).map_or(1, |repeat| repeat.stages),
            threads: if is_work_of_all { launch.threads } else { Some(PRODUCER_THREADS) },
            steps: divided.put_into(launch, steps),
        }
    }

    /// The producer's loop and the consumer's.
    fn loops(
        &self,
        others: &Steps<'p>,
        loads: &Steps<'p>,
        consumers: &Steps<'p>,
        moved: &BTreeSet<usize>,
    ) -> (Rc<Step<'p>>, Rc<Step<'p>>) {
        let pick = |is_moved: bool| {
            let of = consumers.iter().enumerate().filter(move |(i, _)| moved.contains(i) == is_moved);
            of.map(|(_, step)| step.clone())
        };
        let copying: Steps = others.iter().cloned().chain(pick(true)).chain(loads.iter().cloned()).collect();
        let computing: Steps = pick(false).collect();
        (self.again(copying), self.again(computing))
    }

    /// The loop with another body, and not pipelined any more.
    fn again(&self, body: Steps<'p>) -> Rc<Step<'p>> {
        let body = match self.guard {
            Some(guard) => {
                vec![Step::new(Form::If(Guard { of: guard.of, then: body, otherwise: Vec::new() }))]
            }
            None => body,
        };
        Step::new(Form::Loop(Repeat { stages: 0, is_written: false, is_of_roles: true, body, ..self.repeat.clone() }))
    }
}

fn number(step: &Step) -> Option<usize> {
    match &step.form {
        Form::Op(numbered) => Some(numbered.number),
        _ => None,
    }
}

fn behind_bindings<'s, 'p>(steps: &'s [Rc<Step<'p>>]) -> &'s [Rc<Step<'p>>] {
    let bindings = steps.iter().take_while(|step| step.op().is_some_and(|op| op.is_binding())).count();
    &steps[bindings..]
}

pub(super) fn part(launch: &Launch, step: &Step, target: Target) -> Part {
    match step.op() {
        Some(op) if bulk_copies::load(launch, op, target).is_some() => Part::BulkLoad,
        Some(op) if op.kind == Kind::AsyncCopy => Part::AsyncCopy,
        _ if copies_elements(launch, step) => Part::ByElement,
        _ => Part::Consumer,
    }
}

/// Element by element from global to shared memory, and without anything from shared memory or a thread's own.
fn copies_elements(launch: &Launch, step: &Step) -> bool {
    let is_near = |buffer| is_shared(launch, buffer) || launch.buffer(buffer).scope == Scope::Local;
    let (mut fills, mut reads_global) = (false, false);
    for numbered in step.ops() {
        let op = numbered.op;
        let (reads, writes) =
            (|| op.reads.iter().map(|read| read.buffer), || op.writes.iter().map(|written| written.buffer));
        let by_element = op.is_by_element();
        // Tiles that an operation is called with are looked at like elements that are read.
        if reads().any(is_near) || !by_element && writes().any(is_near) {
            return false;
        }
        fills |= by_element && writes().any(|written| is_shared(launch, written));
        reads_global |= reads().any(|read| is_global(launch, read));
    }
    let Form::If(Guard { of: Some(branch), .. }) = &step.form else { return fills && reads_global };
    !branch.reads.iter().any(|read| is_near(read.buffer)) && fills && reads_global
}

/// A copy from global to shared memory that stays one of all threads, also under an `if` of its own.
fn is_plain_copy(launch: &Launch, step: &Step, target: Target) -> bool {
    match &step.form {
        Form::If(Guard { then, otherwise, .. }) if otherwise.is_empty() => match then.as_slice() {
            [only] => is_plain_copy(launch, only, target),
            _ => false,
        },
        Form::Op(numbered) => {
            let op = numbered.op;
            let ends = op.reads.first().zip(op.writes.first());
            let is_between = ends.is_some_and(|(source, destination)| {
                is_global(launch, source.buffer)
                    && is_shared(launch, destination.buffer)
                    && launch.buffer(source.buffer).dtype == launch.buffer(destination.buffer).dtype
            });
            op.kind == Kind::Copy && is_between && bulk_copies::load(launch, op, target).is_none()
        }
        _ => false,
    }
}

/// Before which consumer the first one waits for a load, and after which one its buffer is free again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wait {
    before: usize,
    behind: usize,
}

fn waits(loads: &Steps, others: &Steps, consumers: &Steps) -> Vec<Wait> {
    work::spend_on_pairs(loads.len().saturating_mul(consumers.len()));
    let reads = |step: &Step| -> Option<usize> {
        consumers.iter().position(|consumer| !consumer.touched.seen.is_disjoint(&step.touched.writes))
    };
    // Whoever reads what others copy waits for all.
    let earliest = others.iter().filter_map(|step| reads(step)).min().unwrap_or(consumers.len());
    let of = |load: &Rc<Step>| {
        let touches = |consumer: &Rc<Step>| load.touched.writes.iter().any(|&written| consumer.touched.has(written));
        let last = consumers.iter().rposition(touches);
        let before = last.and(reads(load)).unwrap_or(0);
        let behind = last.map_or(consumers.len(), |last| last + 1);
        Wait { before: if others.is_empty() { before } else { before.min(earliest) }, behind }
    };
    loads.iter().map(of).collect()
}

/// All loads share their barriers.
fn are_merged(waits: &[Wait], are_all_bulk: bool) -> bool {
    waits.len() > 1 && are_all_bulk && waits.windows(2).all(|pair| pair[0] == pair[1])
}

/// Consumers before a wait that the producer can do as well: they copy, too.
fn moved_to_producer(launch: &Launch, target: Target, waits: &[Wait], consumers: &Steps) -> BTreeSet<usize> {
    let mut moved = BTreeSet::new();
    let mut from = 0;
    for wait in waits {
        if wait.before <= from {
            continue;
        }
        let are_movable = consumers[from..wait.before].iter().all(|step| is_movable(launch, step, target));
        if are_movable {
            moved.extend(from..wait.before);
        }
        from = wait.before;
    }
    moved
}

fn is_movable(launch: &Launch, step: &Step, target: Target) -> bool {
    if is_plain_copy(launch, step, target) {
        return true;
    }
    let is_near = |buffer| is_shared(launch, buffer) || launch.buffer(buffer).scope == Scope::Local;
    let mut has_work = false;
    for numbered in step.ops() {
        let op = numbered.op;
        let by_element = op.is_by_element();
        let reads_near = op.reads.iter().any(|read| is_near(read.buffer));
        let writes = || op.writes.iter().map(|written| written.buffer);
        let is_allowed = match by_element {
            true => !reads_near && writes().all(|written| is_shared(launch, written)),
            false => !reads_near && !writes().any(is_near) && !matches!(op.kind, Kind::Other(_)),
        };
        if !is_allowed {
            return false;
        }
        has_work |= by_element || op.reads.iter().any(|read| is_global(launch, read.buffer));
    }
    has_work
}
