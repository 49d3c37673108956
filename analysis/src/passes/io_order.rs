//! CanonicalizeIOOrder: inside of pipelined loops scalars come first, then loads, then each stage's work with its stores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{spaces, walk};
use crate::ir::{Attr, Call, For, If, Kernel, LoopKind, PIPELINE_STAGES, Stmt, Type, Value, VarId, While};
use crate::ops::OpId;
use crate::target::Space;

/// `stores_stay`: indices of the loops whose stores stay beside what they store.
pub(super) fn run(kernel: &mut Kernel, stores_stay: &FxHashSet<VarId>) {
    let body = std::mem::take(&mut kernel.body);
    let order = Order { kernel, stores_stay };
    kernel.body = order.body(body, None);
}

struct Order<'a> {
    kernel: &'a Kernel,
    stores_stay: &'a FxHashSet<VarId>,
}

/// What the innermost pipeline around a statement does with stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stores {
    Follow,
    Stay,
}

impl Order<'_> {
    fn body(&self, body: Vec<Stmt>, pipeline: Option<Stores>) -> Vec<Stmt> {
        let body = body.into_iter().map(|stmt| self.inside(stmt, pipeline)).collect();
        match pipeline {
            Some(stores) => sort(self.kernel, body, stores),
            None => body,
        }
    }

    fn inside(&self, stmt: Stmt, pipeline: Option<Stores>) -> Stmt {
        match stmt {
            Stmt::For(inner) if matches!(inner.kind, LoopKind::Pipeline { .. }) => {
                let stores = if self.stores_stay.contains(&inner.index) { Stores::Stay } else { Stores::Follow };
                Stmt::For(For { kind: LoopKind::Range, body: self.body(inner.body, Some(stores)), ..inner })
            }
            Stmt::For(inner) => Stmt::For(For { body: self.body(inner.body, pipeline), ..inner }),
            Stmt::While(inner) => Stmt::While(While { body: self.body(inner.body, pipeline), ..inner }),
            Stmt::If(inner) => {
                let then = self.body(inner.then, pipeline);
                Stmt::If(If { then, otherwise: self.body(inner.otherwise, pipeline), ..inner })
            }
            leaf => leaf,
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

/// Order among the statements that are ready. Stages compare as the text that the compiler writes them as.
type Key = (Tier, String, bool, usize);

fn sort(kernel: &Kernel, mut body: Vec<Stmt>, stores: Stores) -> Vec<Stmt> {
    let last = match body.last() {
        Some(Stmt::Yield { .. } | Stmt::Return { .. } | Stmt::Break(_) | Stmt::Continue(_)) => body.pop(),
        _ => None,
    };
    let (successors, mut waits) = dependencies(&body);
    let keys = keys(kernel, &body, stores);
    let mut ready: BinaryHeap<Reverse<&Key>> =
        keys.iter().zip(&waits).filter(|(_, waits)| **waits == 0).map(|(key, _)| Reverse(key)).collect();
    let mut order = Vec::with_capacity(body.len());
    while let Some(Reverse(key)) = ready.pop() {
        order.push(key.3);
        for next in &successors[key.3] {
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
    out
}

/// For each statement those that need it, and how many it needs.
fn dependencies(body: &[Stmt]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut defined_by: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut successors = vec![Vec::new(); body.len()];
    let mut waits = vec![0; body.len()];
    for (index, stmt) in body.iter().enumerate() {
        let mut needs: Vec<usize> = Vec::new();
        walk::visit_uses(stmt, &mut |var| needs.extend(defined_by.get(&var)));
        needs.sort_unstable();
        needs.dedup();
        waits[index] = needs.len();
        for need in needs {
            successors[need].push(index);
        }
        walk::visit_definitions(stmt, &mut |var| {
            defined_by.insert(var, index);
        });
    }
    (successors, waits)
}

fn keys(kernel: &Kernel, body: &[Stmt], stores: Stores) -> Vec<Key> {
    let mut stage_of: FxHashMap<VarId, String> = FxHashMap::default();
    for stmt in body {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && let Some(stages) = stages(call)
        {
            stage_of.insert(*var, stages);
        }
    }
    let key = |(index, stmt): (usize, &Stmt)| {
        let (tier, is_store) = tier(kernel, stmt);
        let stage = if tier == Tier::Work { stage(stmt, &stage_of) } else { None };
        (tier, stage.cloned().unwrap_or_default(), is_store && stores == Stores::Follow, index)
    };
    body.iter().enumerate().map(key).collect()
}

fn stages(call: &Call) -> Option<String> {
    let Some(Attr::Stages(stages)) = call.attr(PIPELINE_STAGES) else { return None };
    let pairs: Vec<String> = stages.iter().map(|stage| format!("{}:{}", stage.group, stage.stage)).collect();
    Some(pairs.join(";"))
}

/// The stage of the tile that a statement makes, or else of the first tile that it reads.
fn stage<'a>(stmt: &Stmt, stage_of: &'a FxHashMap<VarId, String>) -> Option<&'a String> {
    if let Stmt::Let { var, .. } = stmt
        && let Some(stage) = stage_of.get(var)
    {
        return Some(stage);
    }
    walk::call_of(stmt)?.args.iter().find_map(|arg| stage_of.get(&arg.var()?))
}

/// The tier of a statement, and whether it stores.
fn tier(kernel: &Kernel, stmt: &Stmt) -> (Tier, bool) {
    let op = walk::call_of(stmt).map(|call| call.op);
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
    call.op == OpId::EXTRACT && matches!(spaces::target_memory(call), Some(Space::Left | Space::Right)) && from_mat()
}
