//! Reuse that makes one pipe of the core wait for another one (`docs/reference/memory.md`, "DSA_RP").
//!
//! A buffer that was loaded into, computed on or stored from is free for its next tile only when all pipes that touched it are
//! done. Where the next tile is first written by a pipe that is not one of them, the two should rather not share.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use crate::ir::{Call, Kernel, Operand, Scalar, Stmt, TileType, Type, Value, VarId};
use crate::memory::bases::{BaseId, Bases, Offset};
use crate::memory::lifetimes::Group;
use crate::ops::{Access, OpId};
use crate::target::{Space, Target};

/// A unit of the core that works beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pipe {
    Vector,
    Cube,
    /// Into the core.
    Mte2,
    /// Out of the core.
    Mte3,
    /// To the cube's operands.
    Mte1,
    /// From the accumulators.
    Fix,
}

/// A buffer as the penalties see it.
pub(in crate::memory) struct Tenant {
    pub base: BaseId,
    pub space: Space,
    pub bytes: u64,
    /// Order numbers.
    pub def: u32,
    pub last: u32,
}

impl Tenant {
    /// A tenant for each group; `sizes` are the bytes of their buffers.
    pub(in crate::memory) fn of_groups(groups: &[Group], bases: &Bases, sizes: &FxHashMap<BaseId, u64>) -> Vec<Tenant> {
        let tenant = |group: &Group| Tenant {
            base: group.base,
            space: bases.base(group.base).space,
            bytes: sizes.get(&group.base).copied().unwrap_or(0).max(1),
            def: group.live.def.0,
            last: group.live.last.0,
        };
        groups.iter().map(tenant).collect()
    }
}

/// Pairs of tenants that should rather not share, each once, the smaller index first.
pub(in crate::memory) fn recognize(
    kernel: &Kernel,
    target: Target,
    bases: &Bases,
    tenants: &[Tenant],
    separated: &FxHashSet<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let index = tenants.iter().enumerate().map(|(index, tenant)| (tenant.base, index)).collect();
    let mut collector = Collector {
        kernel,
        target,
        bases,
        tenants,
        index,
        tuples: FxHashMap::default(),
        uses: tenants.iter().map(|_| Uses::default()).collect(),
        order: 0,
        path: Path { id: 0, in_loop: false },
        next_path: 1,
    };
    collector.elements(&kernel.body);
    collector.block(&kernel.body);
    let summaries: Vec<Option<Summary>> = collector.uses.iter().map(Uses::summary).collect();
    let mut pairs = FxHashSet::default();
    for (later, summary) in summaries.iter().enumerate() {
        let Some(summary) = summary else { continue };
        work::spend_on_pairs(summaries.len());
        for (earlier, before) in summaries.iter().enumerate() {
            let Some(before) = before else { continue };
            let (first, second) = (&tenants[earlier], &tenants[later]);
            let follows = first.last <= second.def && earlier != later;
            let pair = (earlier.min(later), earlier.max(later));
            if follows
                && first.space == second.space
                && before.path == summary.path
                && !separated.contains(&pair)
                && (summary.waits_for(before) || (summary.path.in_loop && before.waits_for_next_round(summary)))
            {
                pairs.insert(pair);
            }
        }
    }
    let mut pairs: Vec<(usize, usize)> = pairs.into_iter().collect();
    pairs.sort_unstable();
    pairs
}

/// Which branch or loop body a statement is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    id: u32,
    in_loop: bool,
}

#[derive(Debug, Clone, Copy)]
struct Use {
    order: u32,
    pipe: Pipe,
    writes: bool,
    path: Path,
    /// All bytes of the buffer.
    whole: bool,
}

#[derive(Debug, Default)]
struct Uses {
    all: Vec<Use>,
    /// Touched by something that may touch anything.
    unknown: bool,
}

/// A buffer of which every use is known.
struct Summary {
    path: Path,
    /// Order number and pipe of the first write.
    first: (u32, Pipe),
    /// Order number of the last use by each pipe.
    last: Vec<(Pipe, u32)>,
}

impl Uses {
    fn summary(&self) -> Option<Summary> {
        let first = self.all.iter().min_by_key(|found| found.order)?;
        if self.unknown || self.all.iter().any(|found| found.path != first.path || !found.whole) {
            return None;
        }
        let mut at_first = self.all.iter().filter(|found| found.order == first.order);
        if !at_first.all(|found| found.writes && found.pipe == first.pipe) {
            return None;
        }
        let mut last: Vec<(Pipe, u32)> = Vec::new();
        for found in &self.all {
            match last.iter_mut().find(|(pipe, _)| *pipe == found.pipe) {
                Some((_, order)) => *order = found.order.max(*order),
                None => last.push((found.pipe, found.order)),
            }
        }
        Some(Summary { path: first.path, first: (first.order, first.pipe), last })
    }
}

impl Summary {
    /// The first write has to wait for another pipe to be done with `earlier`.
    fn waits_for(&self, earlier: &Summary) -> bool {
        let (order, pipe) = self.first;
        earlier.last.iter().any(|(other, last)| *other != pipe && *last <= order)
    }

    /// In the next round of the loop, this first write has to wait for another pipe to be done with `later`.
    fn waits_for_next_round(&self, later: &Summary) -> bool {
        let (order, pipe) = self.first;
        later.last.iter().any(|(other, last)| *other != pipe && *last > order)
    }
}

struct Collector<'a> {
    kernel: &'a Kernel,
    target: Target,
    bases: &'a Bases,
    tenants: &'a [Tenant],
    index: FxHashMap<BaseId, usize>,
    /// The tiles that a tuple consists of.
    tuples: FxHashMap<VarId, Vec<VarId>>,
    uses: Vec<Uses>,
    order: u32,
    path: Path,
    next_path: u32,
}

impl Collector<'_> {
    fn elements(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, value: Value::Element { tuple, .. }, .. } => {
                    self.tuples.entry(*tuple).or_default().push(*var);
                }
                _ => stmt.blocks().for_each(|block| self.elements(block)),
            }
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, value, .. } => {
                    if let Value::Call(call) = value {
                        self.call(call, Some(*var));
                    }
                    self.order += 1;
                }
                Stmt::Eval { call, .. } => {
                    self.call(call, None);
                    self.order += 1;
                }
                Stmt::Return { .. } => self.order += 1,
                Stmt::For(_) | Stmt::While(_) => stmt.blocks().for_each(|block| self.inside(block, true)),
                _ => stmt.blocks().for_each(|block| self.inside(block, self.path.in_loop)),
            }
        }
    }

    fn inside(&mut self, block: &[Stmt], in_loop: bool) {
        let outside = std::mem::replace(&mut self.path, Path { id: self.next_path, in_loop });
        self.next_path += 1;
        self.block(block);
        self.path = outside;
    }

    fn call(&mut self, call: &Call, result: Option<VarId>) {
        let results = match result {
            Some(tuple) if matches!(self.kernel.var(tuple).ty, Type::Tuple(_)) => {
                self.tuples.get(&tuple).cloned().unwrap_or_default()
            }
            result => result.into_iter().collect(),
        };
        let assembled = self.is_whole_assemble(call, &results);
        let operands = call.args.iter().skip(usize::from(assembled)).filter_map(operand);
        let reads: Vec<VarId> = operands.filter(|var| self.tenant(*var).is_some()).collect();
        let writes: Vec<VarId> = results.into_iter().filter(|var| self.tenant(*var).is_some()).collect();
        if reads.is_empty() && writes.is_empty() {
            return;
        }
        let known = match call.op.op().access {
            Access::None => return,
            Access::Functional => true,
            Access::Unknown => assembled || self.is_whole_store(call),
        };
        match self.pipe(call, result).filter(|_| known) {
            Some(pipe) => {
                reads.iter().for_each(|var| self.add(*var, pipe, false));
                writes.iter().for_each(|var| self.add(*var, pipe, true));
            }
            None => reads.iter().chain(&writes).for_each(|var| self.poison(*var)),
        }
    }

    fn tenant(&self, var: VarId) -> Option<usize> {
        self.index.get(&self.bases.of_tile(self.kernel, var)?).copied()
    }

    fn add(&mut self, var: VarId, pipe: Pipe, writes: bool) {
        let (Some(tenant), Some(tile), Some(memory)) = (self.tenant(var), self.kernel.tile(var), self.bases.get(var))
        else {
            return;
        };
        let covers = memory.offset == Offset::Known(0) && memory.size == self.tenants[tenant].bytes;
        let found =
            Use { order: self.order, pipe, writes, path: self.path, whole: covers && is_valid_throughout(tile) };
        self.uses[tenant].all.push(found);
    }

    fn poison(&mut self, var: VarId) {
        if let Some(tenant) = self.tenant(var) {
            self.uses[tenant].unknown = true;
        }
    }

    /// To the compiler, a store to a tensor of more than two axes has the extents of its window as a fourth operand, which keeps it
    /// from being known.
    fn is_whole_store(&self, call: &Call) -> bool {
        let ([stored, Operand::List(offsets), _], OpId::STORE) = (call.args.as_slice(), call.op) else { return false };
        let stored = operand(stored).and_then(|var| self.kernel.tile(var));
        offsets.len() <= 2 && stored.is_some_and(is_valid_throughout)
    }

    /// Overwrites all of its target, which it does not read then. Of what lies in no buffer, as a received tile does, the compiler
    /// does not know it.
    fn is_whole_assemble(&self, call: &Call, results: &[VarId]) -> bool {
        let ([target, source, Operand::List(offsets)], [result]) = (call.args.as_slice(), results) else {
            return false;
        };
        let (Some(target), Some(source)) = (operand(target), operand(source)) else { return false };
        let tiles = [target, source, *result].map(|var| self.kernel.tile(var));
        let [Some(onto), Some(from), Some(made)] = tiles else { return false };
        call.op == OpId::ASSEMBLE
            && self.bases.get(source).is_some()
            && [onto, from, made].into_iter().all(|tile| tile.shape == onto.shape && is_valid_throughout(tile))
            && offsets.len() == onto.shape.len()
            && offsets.iter().all(|offset| offset.as_int() == Some(0))
            && self.bases.of_tile(self.kernel, target) == self.bases.of_tile(self.kernel, *result)
    }

    /// The pipe that executes a call, by the spaces of what it reads and writes; `None` where that does not say.
    fn pipe(&self, call: &Call, result: Option<VarId>) -> Option<Pipe> {
        let inputs: Vec<Space> = call.args.iter().filter_map(operand).filter_map(|var| self.space(var)).collect();
        let result = match result {
            Some(var) => self.space(var).or_else(|| self.tuple_space(var)),
            None => (call.op == OpId::STORE).then_some(Space::Ddr),
        };
        if call.op == OpId::MOVE {
            let (Some(to), [from]) = (result, inputs.as_slice()) else { return None };
            return if *from == to && to != Space::Ddr { Some(Pipe::Vector) } else { self.transfer(*from, to) };
        }
        let to = result?;
        if to == Space::Ddr {
            return self.transfer(only(inputs.into_iter().filter(|space| *space != Space::Ddr))?, to);
        }
        if inputs.contains(&Space::Ddr) {
            return self.transfer(Space::Ddr, to);
        }
        let others = inputs.iter().copied().filter(|space| *space != to);
        if let Some(pipe) = only(others).and_then(|from| self.transfer(from, to)) {
            return Some(pipe);
        }
        let all = |is: fn(Space) -> bool| is(to) && inputs.iter().all(|space| is(*space));
        if all(|space| space == Space::Vec) {
            Some(Pipe::Vector)
        } else if all(is_l0) {
            Some(Pipe::Cube)
        } else {
            None
        }
    }

    fn space(&self, var: VarId) -> Option<Space> {
        match &self.kernel.var(var).ty {
            Type::Tile(tile) => self.bases.get(var).map(|memory| self.bases.base(memory.base).space).or(tile.space),
            Type::Tensor(_) => Some(Space::Ddr),
            _ => None,
        }
    }

    fn tuple_space(&self, tuple: VarId) -> Option<Space> {
        only(self.tuples.get(&tuple)?.iter().filter_map(|var| self.space(*var)))
    }

    fn transfer(&self, from: Space, to: Space) -> Option<Pipe> {
        match (from, to, self.target) {
            (Space::Ddr, Space::Vec | Space::Mat, _) => Some(Pipe::Mte2),
            (Space::Vec, Space::Ddr, _) => Some(Pipe::Mte3),
            (Space::Acc, Space::Ddr | Space::Mat, _) => Some(Pipe::Fix),
            (Space::Acc, Space::Vec, Target::Ascend950) => Some(Pipe::Fix),
            (Space::Vec, Space::Mat, Target::Ascend950) => Some(Pipe::Mte3),
            (Space::Mat, Space::Left | Space::Right | Space::Bias, _) => Some(Pipe::Mte1),
            (Space::Mat, Space::LeftScale | Space::RightScale, Target::Ascend950) => Some(Pipe::Mte1),
            _ => None,
        }
    }
}

fn is_l0(space: Space) -> bool {
    use Space::*;
    matches!(space, Left | Right | Acc | Bias | LeftScale | RightScale)
}

fn operand(operand: &Operand) -> Option<VarId> {
    operand.var()
}

/// The one space that all are.
fn only(mut spaces: impl Iterator<Item = Space>) -> Option<Space> {
    let first = spaces.next()?;
    spaces.all(|space| space == first).then_some(first)
}

fn is_valid_throughout(tile: &TileType) -> bool {
    let extent =
        |(valid, extent): (&Scalar, &u64)| valid.as_int().and_then(|valid| u64::try_from(valid).ok()) == Some(*extent);
    match &tile.view.valid_shape {
        None => true,
        Some(valid) => valid.len() == tile.shape.len() && valid.iter().zip(&tile.shape).all(extent),
    }
}
