//! CanonicalizeIOOrder: inside of pipelined loops scalars come first, then loads, then each stage's work with its stores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::ir::{Attr, AttrName, Call, For, Kernel, LoopKind, PipelineStage, Stmt, Type, Value, VarId, visit};
use crate::ops::OpId;
use crate::target::Space;

pub(super) fn run(kernel: &mut Kernel, drains: &Drains) {
    let body = std::mem::take(&mut kernel.body);
    let order = Order { kernel, drains };
    kernel.body = order.body(body, None);
}

/// How the loops that are not in here by their index drain: [`Drain::AfterWork`].
pub(super) type Drains = FxHashMap<VarId, Drain>;

/// Where the stores of a pipeline go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drain {
    /// After the work of their stage.
    AfterWork,
    /// Where they are: one accumulator is drained before the next one is made.
    InPlace,
    /// After the work of two stages, each with an accumulator of its own: one is drained while the other one is made.
    InPairs,
}

struct Order<'a> {
    kernel: &'a Kernel,
    drains: &'a Drains,
}

impl Order<'_> {
    fn body(&self, body: Vec<Stmt>, pipeline: Option<Drain>) -> Vec<Stmt> {
        let body = body.into_iter().map(|stmt| self.inside(stmt, pipeline)).collect();
        match pipeline {
            Some(drain) => sort(self.kernel, body, drain),
            None => body,
        }
    }

    fn inside(&self, stmt: Stmt, pipeline: Option<Drain>) -> Stmt {
        match stmt {
            Stmt::For(inner) if matches!(inner.kind, LoopKind::Pipeline { .. }) => {
                let drain = self.drains.get(&inner.index).copied().unwrap_or(Drain::AfterWork);
                Stmt::For(For { kind: LoopKind::Range, body: self.body(inner.body, Some(drain)), ..inner })
            }
            other => other.map_blocks(|block| self.body(block, pipeline)),
        }
    }
}

/// What a statement waits for; the lowest that is ready goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Scalar,
    Load,
    Work,
}

/// Order among the statements that are ready: the tier, the stage or the pair of stages, stores after work, the stage within
/// the pair, and the place in the source. Stages compare as the text that the compiler writes them as.
type Key = (Tier, String, Option<u32>, bool, Option<u32>, usize);

fn sort(kernel: &Kernel, mut body: Vec<Stmt>, drain: Drain) -> Vec<Stmt> {
    let last = match body.last() {
        Some(Stmt::Yield { .. } | Stmt::Return { .. } | Stmt::Break(_) | Stmt::Continue(_)) => body.pop(),
        _ => None,
    };
    let (successors, mut waits) = dependencies(&body);
    let keys = keys(kernel, &body, drain);
    let mut ready: BinaryHeap<Reverse<&Key>> =
        keys.iter().zip(&waits).filter(|(_, waits)| **waits == 0).map(|(key, _)| Reverse(key)).collect();
    let mut order = Vec::with_capacity(body.len());
    while let Some(Reverse(key)) = ready.pop() {
        order.push(key.5);
        for next in &successors[key.5] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse(&keys[*next]));
            }
        }
    }
    let mut body: Vec<Option<Stmt>> = body.into_iter().map(Some).collect();
    let mut out: Vec<Stmt> = order.into_iter().filter_map(|index| body[index].take()).collect();
    out.extend(body.into_iter().flatten());
    out.extend(last);
    if drain == Drain::InPairs {
        rotate_accumulators(kernel, &mut out);
    }
    out
}

/// For each statement those that need it, and how many it needs.
fn dependencies(body: &[Stmt]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut defined_by: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut successors = vec![Vec::new(); body.len()];
    let mut waits = vec![0; body.len()];
    for (index, stmt) in body.iter().enumerate() {
        let mut needs: Vec<usize> = Vec::new();
        visit::uses(stmt, &mut |var| needs.extend(defined_by.get(&var)));
        needs.sort_unstable();
        needs.dedup();
        waits[index] = needs.len();
        for need in needs {
            successors[need].push(index);
        }
        visit::definitions(stmt, &mut |var| {
            defined_by.insert(var, index);
        });
    }
    (successors, waits)
}

fn keys(kernel: &Kernel, body: &[Stmt], drain: Drain) -> Vec<Key> {
    let mut stage_of: FxHashMap<VarId, &[PipelineStage]> = FxHashMap::default();
    for stmt in body {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && let Some(stages) = stages(call)
        {
            stage_of.insert(*var, stages);
        }
    }
    let key = |(index, stmt): (usize, &Stmt)| {
        let (tier, is_store) = tier(kernel, stmt);
        let stages = if tier == Tier::Work { stages_of(stmt, &stage_of) } else { None };
        match drain {
            Drain::AfterWork => (tier, spelled(stages), None, is_store, None, index),
            Drain::InPlace => (tier, spelled(stages), None, false, None, index),
            Drain::InPairs => {
                let stage = stages.and_then(|stages| stages.first()).map(|innermost| innermost.stage);
                let drains = is_store || visit::call_of(stmt).is_some_and(|call| call.op == OpId::ASSEMBLE);
                (tier, String::new(), stage.map(|stage| stage / 2), drains, stage, index)
            }
        }
    };
    body.iter().enumerate().map(key).collect()
}

fn stages(call: &Call) -> Option<&[PipelineStage]> {
    match call.attr(AttrName::PipelineStages) {
        Some(Attr::Stages(stages)) => Some(stages),
        _ => None,
    }
}

fn spelled(stages: Option<&[PipelineStage]>) -> String {
    let pairs = stages.unwrap_or_default().iter().map(|stage| format!("{}:{}", stage.group, stage.stage));
    pairs.collect::<Vec<_>>().join(";")
}

/// The stages of the tile that a statement makes, or else of the first tile that it reads.
fn stages_of<'a>(stmt: &Stmt, stage_of: &FxHashMap<VarId, &'a [PipelineStage]>) -> Option<&'a [PipelineStage]> {
    if let Stmt::Let { var, .. } = stmt
        && let Some(stages) = stage_of.get(var)
    {
        return Some(stages);
    }
    visit::call_of(stmt)?.args.iter().find_map(|arg| stage_of.get(&arg.var()?).copied())
}

/// However many stages load ahead, there are two accumulators.
fn rotate_accumulators(kernel: &Kernel, body: &mut [Stmt]) {
    for stmt in body {
        let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { continue };
        let in_acc = kernel.tile(*var).is_some_and(|tile| tile.space == Some(Space::Acc));
        if !in_acc || !is_product(call) {
            continue;
        }
        for (name, attr) in &mut call.attrs {
            if let (&mut AttrName::PipelineStages, Attr::Stages(stages)) = (name, attr)
                && let Some(innermost) = stages.first_mut()
            {
                innermost.stage %= 2;
            }
        }
    }
}

/// A product of matrices in the cube, of whatever kind.
pub(super) fn is_product(call: &Call) -> bool {
    call.op.is_matmul()
}

/// The tier of a statement, and whether it stores.
fn tier(kernel: &Kernel, stmt: &Stmt) -> (Tier, bool) {
    let op = visit::call_of(stmt).map(|call| call.op);
    let is_store = matches!(op, Some(OpId::STORE | OpId::WRITE));
    let Stmt::Let { var, value, .. } = stmt else { return (Tier::Work, is_store) };
    match value {
        Value::Call(call) if matches!(call.op, OpId::LOAD | OpId::READ) || feeds_cube(kernel, call) => {
            (Tier::Load, false)
        }
        _ if is_store => (Tier::Work, true),
        _ if matches!(kernel.var(*var).ty, Type::Scalar(_)) => (Tier::Scalar, false),
        _ => (Tier::Work, false),
    }
}

/// An extract from L1 into an operand memory of the cube.
fn feeds_cube(kernel: &Kernel, call: &Call) -> bool {
    let from_mat =
        || call.args.first().and_then(|arg| kernel.tile(arg.var()?)).is_some_and(|tile| tile.space == Some(Space::Mat));
    call.op == OpId::EXTRACT && matches!(call.target_memory(), Some(Space::Left | Space::Right)) && from_mat()
}
