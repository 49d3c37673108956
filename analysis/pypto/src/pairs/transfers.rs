//! What one kernel does with the queues between the cores.

use std::fmt;

use tilefit_python::finding::{Note, Origin};

use crate::codegen::sequence::Action;
use crate::ir::{Attr, AttrName, Call, For, Kernel, KernelKind, LoopKind, Stmt, visit};
use crate::ops::OpId;

/// One direction of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ring {
    /// `id=`
    pub id: i64,
    pub(super) to_cube: bool,
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.to_cube { "vector → cube" } else { "cube → vector" };
        write!(f, "queue {} ({direction})", self.id)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct End {
    pub(super) ring: Ring,
    /// Push or pop. What is popped the compiler wants to be given back beside it.
    pub(super) action: Action,
}

/// How often something happens; `most: None` is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) least: u64,
    pub most: Option<u64>,
}

impl Times {
    const NEVER: Times = Times { least: 0, most: Some(0) };
    const ONCE: Times = Times { least: 1, most: Some(1) };
    const UNKNOWN: Times = Times { least: 0, most: None };

    fn and(self, other: Times) -> Times {
        let most = self.most.zip(other.most).and_then(|(a, b)| a.checked_add(b));
        Times { least: self.least.saturating_add(other.least), most }
    }

    fn or(self, other: Times) -> Times {
        Times { least: self.least.min(other.least), most: self.most.zip(other.most).map(|(a, b)| a.max(b)) }
    }

    /// Each of them so often.
    fn each(self, times: Times) -> Times {
        let most = match (self.most, times.most) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (a, b) => a.zip(b).and_then(|(a, b)| a.checked_mul(b)),
        };
        Times { least: self.least.saturating_mul(times.least), most }
    }

    /// The number by itself.
    pub(super) fn number(self) -> String {
        match self {
            Times { least, most: Some(most) } if least == most => least.to_string(),
            Times { least: 0, most: Some(most) } => format!("at most {most}"),
            Times { least, most: Some(most) } => format!("{least} to {most}"),
            Times { least: 0, most: None } => "an unknown number".to_owned(),
            Times { least, most: None } => format!("at least {least}"),
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Times::UNKNOWN => write!(f, "tiles"),
            Times { most: Some(1), .. } => write!(f, "{} tile", self.number()),
            _ => write!(f, "{} tiles", self.number()),
        }
    }
}

/// The pushes and pops of a kernel of one core, in its control flow. Statements that move no tile between the cores are no part of it, so that
/// most edits leave it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfers {
    pub kernel: String,
    pub core: KernelKind,
    /// The functions whose buffers it imports.
    pub peers: Vec<String>,
    /// The slots of its queues, by id; `None` where the author gives no constant.
    pub(super) slots: Vec<(i64, Option<u64>)>,
    pub(super) steps: Vec<TransferStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TransferStep {
    Transfer { end: End, at: Origin },
    Repeat { times: Times, steps: Vec<TransferStep> },
    Either(Vec<TransferStep>, Vec<TransferStep>),
}

/// Slots of a queue whose author gives no number: less where both directions share it (`slotNum` of PTOAS).
const SLOTS: u64 = 8;
const SLOTS_OF_BOTH: u64 = 4;
/// `dir_mask=` of a queue for both directions.
const BOTH: i64 = 3;

impl Transfers {
    /// `None` for kernels of no core in particular, and where a statement is not known: one of these notes may `hide` it.
    pub fn of(kernel: &Kernel, hides: impl Fn(&Note) -> bool) -> Option<Transfers> {
        if kernel.kind == KernelKind::InCore || kernel.notes.iter().any(hides) || !kernel.rejections.is_empty() {
            return None;
        }
        let (mut peers, mut slots) = (Vec::new(), Vec::new());
        visit::statements(&kernel.body, &mut |stmt| {
            let Some(call) = visit::call_of(stmt) else { return };
            match call.op {
                OpId::IMPORT_PEER_BUFFER => {
                    peers.extend(call.text(AttrName::PeerFunc).map(str::to_owned));
                }
                OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE => slots.push((id(call), slots_of(call))),
                _ => {}
            }
        });
        peers.sort();
        peers.dedup();
        let slots = slots.into_iter().map(|(id, slots)| Some((id?, slots))).collect::<Option<Vec<_>>>()?;
        let (last, before) = kernel.body.split_last()?;
        let body = if matches!(last, Stmt::Return { .. }) { before } else { &kernel.body };
        let steps = steps(body)?;
        Some(Transfers { kernel: kernel.name.clone(), core: kernel.kind, peers, slots, steps })
    }

    /// The ends of rings that its text names, in order.
    pub(super) fn ends(&self) -> Vec<End> {
        let mut ends = Vec::new();
        each(&self.steps, Times::ONCE, &mut |end, _, _| {
            if !ends.contains(&end) {
                ends.push(end);
            }
        });
        ends
    }

    pub(super) fn times(&self, end: End) -> Times {
        times(&self.steps, end)
    }

    /// Where it does this, and how often at each place.
    pub(super) fn sites(&self, end: End) -> Vec<(Origin, Times)> {
        let mut sites = Vec::new();
        each(&self.steps, Times::ONCE, &mut |of, at, times| {
            if of == end {
                sites.push((at, times));
            }
        });
        sites
    }
}

fn times(steps: &[TransferStep], end: End) -> Times {
    let of = |step: &TransferStep| match step {
        TransferStep::Transfer { end: of, .. } if *of == end => Times::ONCE,
        TransferStep::Transfer { .. } => Times::NEVER,
        TransferStep::Repeat { times: trips, steps } => times(steps, end).each(*trips),
        TransferStep::Either(then, otherwise) => times(then, end).or(times(otherwise, end)),
    };
    steps.iter().map(of).fold(Times::NEVER, Times::and)
}

fn each(steps: &[TransferStep], around: Times, see: &mut dyn FnMut(End, Origin, Times)) {
    for step in steps {
        match step {
            TransferStep::Transfer { end, at } => see(*end, *at, around),
            TransferStep::Repeat { times, steps } => each(steps, around.each(*times), see),
            TransferStep::Either(then, otherwise) => {
                let perhaps = Times { least: 0, ..around };
                each(then, perhaps, see);
                each(otherwise, perhaps, see);
            }
        }
    }
}

fn steps(body: &[Stmt]) -> Option<Vec<TransferStep>> {
    let mut found = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::For(node) => found.extend(repeated(trips(node), steps(&node.body)?)),
            Stmt::While(node) => found.extend(repeated(Times::UNKNOWN, steps(&node.body)?)),
            Stmt::If(node) => {
                let (then, otherwise) = (steps(&node.then)?, steps(&node.otherwise)?);
                if !then.is_empty() || !otherwise.is_empty() {
                    found.push(TransferStep::Either(then, otherwise));
                }
            }
            // What comes after may not happen.
            Stmt::Return { .. } | Stmt::Break(_) | Stmt::Continue(_) => return None,
            Stmt::Let { .. } | Stmt::Eval { .. } | Stmt::Yield { .. } => {
                let Some((call, (to_cube, action))) = visit::call_of(stmt).and_then(|it| Some((it, end_of(it.op)?)))
                else {
                    continue;
                };
                let ring = Ring { id: id(call)?, to_cube };
                found.push(TransferStep::Transfer { end: End { ring, action }, at: call.origin });
            }
        }
    }
    Some(found)
}

fn repeated(times: Times, steps: Vec<TransferStep>) -> Option<TransferStep> {
    (!steps.is_empty()).then_some(TransferStep::Repeat { times, steps })
}

fn trips(node: &For) -> Times {
    if matches!(node.kind, LoopKind::Spmd | LoopKind::SplitAiv) {
        return Times::UNKNOWN;
    }
    match node.trip_count().map(i64::unsigned_abs) {
        Some(trips) => Times { least: trips, most: Some(trips) },
        None => Times::UNKNOWN,
    }
}

/// Whether a transfer goes to the cube core, and which end of it this is.
fn end_of(op: OpId) -> Option<(bool, Action)> {
    match op {
        OpId::TPUSH_TO_AIC => Some((true, Action::Push)),
        OpId::TPOP_FROM_AIV => Some((true, Action::Pop)),
        OpId::TPUSH_TO_AIV => Some((false, Action::Push)),
        OpId::TPOP_FROM_AIC => Some((false, Action::Pop)),
        _ => None,
    }
}

fn id(call: &Call) -> Option<i64> {
    match call.attr(AttrName::Id) {
        None => Some(0),
        Some(Attr::Int(id)) => Some(*id),
        Some(_) => None,
    }
}

fn slots_of(call: &Call) -> Option<u64> {
    match (call.attr(AttrName::SlotNum), call.attr(AttrName::DirMask)) {
        (Some(Attr::Int(slots @ 1..)), _) => Some(slots.unsigned_abs()),
        (None, Some(Attr::Int(mask))) => Some(if *mask == BOTH { SLOTS_OF_BOTH } else { SLOTS }),
        _ => None,
    }
}
