//! Makes loops write their carries in place (`docs/reference/memory.md`, "Loop carries").
//!
//! The tile that a loop body yields becomes the carry of the next round, so its producer is moved onto the carry's memory,
//! through branches, inner loops and results written in place, unless something there still needs what the carry holds.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Attr, AttrName, Call, Carry, For, If, Kernel, Operand, Scalar, Stmt, Value, VarId, While, visit};
use crate::memory::bases::{self, BaseId, Bases, MemRef};
use crate::memory::carried::Inits;
use crate::ops::{Inplace, OpId, OutputSpace};
use crate::target::{Space, Target};

/// Producers one after the other that are followed; deeper chains are left as they are.
const DEEPEST_CHAIN: usize = 2048;

/// Moves the producers of yielded values onto the memory of their carries.
pub(super) fn materialize(kernel: &Kernel, inits: &Inits, target: Target, bases: &mut Bases) {
    let mut planner = Retargeter::new(kernel, inits, target, bases);
    planner.loops(&kernel.body);
    let moves = planner.moves;
    apply(kernel, &moves, bases);
}

/// Moves the first value of a peeled accumulation, which the other branch goes on with in place, onto that branch's
/// accumulator: no instruction copies one accumulator to another.
pub(super) fn coalesce_accumulators(kernel: &Kernel, inits: &Inits, target: Target, bases: &mut Bases) {
    let mut planner = Retargeter::new(kernel, inits, target, bases);
    planner.accumulator_branches(&kernel.body);
    let moves = planner.moves;
    apply(kernel, &moves, bases);
}

/// Where a statement stands: in which block and at which index.
#[derive(Debug, Clone, Copy)]
struct StmtPosition {
    block: usize,
    index: usize,
}

struct Block<'k> {
    stmts: &'k [Stmt],
    owner: Owner<'k>,
    /// The statement that the block is a part of.
    parent: Option<StmtPosition>,
}

#[derive(Clone, Copy)]
enum Owner<'k> {
    Kernel,
    For,
    While,
    Branch(&'k If),
}

/// How a tile comes about.
#[derive(Clone, Copy)]
enum Producer<'k> {
    Value(&'k Value, StmtPosition),
    IfResult(&'k If, usize),
    ForResult(&'k For, usize),
    Carry(&'k For, usize),
}

struct Retargeter<'k> {
    kernel: &'k Kernel,
    inits: &'k Inits,
    target: Target,
    /// As it was before any move: reads and writes are looked up here.
    bases: &'k Bases,
    blocks: Vec<Block<'k>>,
    producers: FxHashMap<VarId, Producer<'k>>,
    moves: FxHashMap<VarId, MemRef>,
    visiting: FxHashSet<VarId>,
}

impl<'k> Retargeter<'k> {
    fn new(kernel: &'k Kernel, inits: &'k Inits, target: Target, bases: &'k Bases) -> Retargeter<'k> {
        let mut retargeter = Retargeter {
            kernel,
            inits,
            target,
            bases,
            blocks: Vec::new(),
            producers: FxHashMap::default(),
            moves: FxHashMap::default(),
            visiting: FxHashSet::default(),
        };
        retargeter.index(&kernel.body, Owner::Kernel, None);
        retargeter
    }

    fn index(&mut self, stmts: &'k [Stmt], owner: Owner<'k>, parent: Option<StmtPosition>) {
        let block = self.blocks.len();
        self.blocks.push(Block { stmts, owner, parent });
        for (index, stmt) in stmts.iter().enumerate() {
            let here = Some(StmtPosition { block, index });
            match stmt {
                Stmt::Let { var, value, .. } => {
                    self.produced(*var, Producer::Value(value, StmtPosition { block, index }))
                }
                Stmt::For(each) => {
                    for (slot, carry) in each.carries.iter().enumerate() {
                        self.produced(carry.iter, Producer::Carry(each, slot));
                        self.produced(carry.result, Producer::ForResult(each, slot));
                    }
                    self.index(&each.body, Owner::For, here);
                }
                Stmt::While(each) => self.index(&each.body, Owner::While, here),
                Stmt::If(branch) => {
                    for (slot, result) in branch.results.iter().enumerate() {
                        self.produced(*result, Producer::IfResult(branch, slot));
                    }
                    self.index(&branch.then, Owner::Branch(branch), here);
                    self.index(&branch.otherwise, Owner::Branch(branch), here);
                }
                _ => {}
            }
        }
    }

    fn produced(&mut self, var: VarId, by: Producer<'k>) {
        if self.kernel.tile(var).is_some() {
            self.producers.insert(var, by);
        }
    }

    /// Outer loops first, so that inner ones follow them.
    fn loops(&mut self, block: &'k [Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::For(each) => {
                    self.carries(each);
                    self.loops(&each.body);
                }
                Stmt::If(branch) => {
                    self.loops(&branch.then);
                    self.loops(&branch.otherwise);
                }
                _ => {}
            }
        }
    }

    fn carries(&mut self, each: &'k For) {
        for (carry, value) in each.carries.iter().zip(visit::yielded(&each.body)) {
            if self.kernel.tile(carry.iter).is_none() {
                continue;
            }
            if let (Some(memory), Some(value)) = (self.current(carry.iter), value.var()) {
                self.retarget(value, memory);
            }
        }
    }

    /// With the moves planned so far.
    fn current(&self, var: VarId) -> Option<MemRef> {
        self.moves.get(&var).copied().or_else(|| self.bases.get(var))
    }

    /// Plans to move `var` onto `memory`; false if it cannot be.
    fn retarget(&mut self, var: VarId, memory: MemRef) -> bool {
        if self.kernel.tile(var).is_none() {
            return false;
        }
        if self.current(var).is_some_and(|current| current.base == memory.base) {
            return true;
        }
        if self.visiting.len() >= DEEPEST_CHAIN || !self.visiting.insert(var) {
            return false;
        }
        let moved = match self.producers.get(&var).copied() {
            Some(Producer::Value(Value::Call(call), place)) => self.retarget_call(var, call, place, memory, true),
            Some(Producer::Value(..)) | None => false,
            Some(Producer::IfResult(branch, slot)) => self.retarget_branches(var, branch, slot, memory),
            Some(Producer::ForResult(each, slot)) => self.retarget_loop(var, each, slot, memory),
            Some(Producer::Carry(each, slot)) => {
                let init = each.carries.get(slot).and_then(|carry| carry.init.var());
                init.is_some_and(|init| self.retarget(init, memory)) && self.move_to(var, memory)
            }
        };
        self.visiting.remove(&var);
        moved
    }

    fn move_to(&mut self, var: VarId, memory: MemRef) -> bool {
        self.moves.insert(var, memory);
        true
    }

    /// With `check_tail`, only where nothing after the call, up to the end of the loop body, touches the memory.
    fn retarget_call(
        &mut self,
        var: VarId,
        call: &Call,
        place: StmtPosition,
        memory: MemRef,
        check_tail: bool,
    ) -> bool {
        let op = call.op.op();
        let arg = |index: u8| call.args.get(index as usize).and_then(Operand::var);
        if let Some(reused) = op.reuses {
            return arg(reused).is_some_and(|input| self.retarget(input, memory)) && self.move_to(var, memory);
        }
        if op.inherits_space() {
            // A view into the middle of a tile cannot take other memory; one that only narrows what is valid can.
            let whole = call.op == OpId::SET_VALIDSHAPE;
            let Some(input) = arg(0).filter(|_| whole) else { return false };
            let same = self.bases.of_tile(self.kernel, input) == self.bases.of_tile(self.kernel, var);
            return same && self.retarget(input, memory) && self.move_to(var, memory);
        }
        if !self.writes_to(call, self.bases.base(memory.base).space) {
            return false;
        }
        if let Some(operands) = never_in_place(call, self.target)
            && call.args.iter().take(operands).any(|arg| self.operand_on(arg, memory.base))
        {
            return false;
        }
        if check_tail && !self.untouched_behind(place, memory.base, None) {
            return false;
        }
        self.move_to(var, memory)
    }

    fn writes_to(&self, call: &Call, space: Space) -> bool {
        if let Some(attr) = call.attr(AttrName::TargetMemory) {
            return *attr == Attr::Space(space);
        }
        match call.op.op().output {
            OutputSpace::Fixed(fixed) => fixed == space,
            OutputSpace::TargetMemory => space == Space::Vec,
            OutputSpace::InheritFirstTile | OutputSpace::TargetMemoryOrDemand | OutputSpace::None => true,
        }
    }

    fn retarget_branches(&mut self, var: VarId, branch: &'k If, slot: usize, memory: MemRef) -> bool {
        let mut sides = |block: &'k [Stmt]| {
            let value = visit::yielded(block).get(slot).and_then(Operand::var);
            value.is_some_and(|value| self.retarget(value, memory))
        };
        // Both, as the compiler does, even where the first one fails.
        let then = sides(&branch.then);
        let otherwise = (!branch.has_else && branch.otherwise.is_empty()) || sides(&branch.otherwise);
        then && otherwise && self.move_to(var, memory)
    }

    fn retarget_loop(&mut self, var: VarId, each: &'k For, slot: usize, memory: MemRef) -> bool {
        let value = visit::yielded(&each.body).get(slot).and_then(Operand::var);
        if !value.is_some_and(|value| self.retarget(value, memory)) {
            return false;
        }
        if let Some(carry) = each.carries.get(slot) {
            if let Some(init) = carry.init.var()
                && !self.retarget(init, memory)
            {
                return false;
            }
            self.move_to(carry.iter, memory);
        }
        self.move_to(var, memory)
    }

    /// Whether no later statement reads or writes the base, from `place` to the end of the enclosing loop body, or of
    /// `within`. The other branch of an enclosing `if` does not count.
    fn untouched_behind(&self, place: StmtPosition, base: BaseId, within: Option<&If>) -> bool {
        let mut next = Some(place);
        let mut inside_while = false;
        while let Some(at) = next {
            let Some(block) = self.blocks.get(at.block) else { return true };
            // The compiler loses its way at the block around a `while` and goes on after it.
            let tail = if inside_while { &[] } else { block.stmts.get(at.index + 1..).unwrap_or(&[]) };
            if tail.iter().any(|stmt| self.touches(stmt, base)) {
                return false;
            }
            match (block.owner, within) {
                (Owner::For, _) => return true,
                (Owner::Branch(branch), Some(within)) if std::ptr::eq(branch, within) => return true,
                _ => {}
            }
            inside_while = matches!(block.owner, Owner::While);
            next = block.parent;
        }
        true
    }

    fn touches(&self, stmt: &Stmt, base: BaseId) -> bool {
        match stmt {
            Stmt::Let { var, value, .. } => self.on(*var, base) || self.value_on(value, base),
            Stmt::Eval { call, .. } => call.args.iter().any(|arg| self.operand_on(arg, base)),
            Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                values.iter().any(|value| self.operand_on(value, base))
            }
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                let carried = |carry: &Carry| self.operand_on(&carry.init, base) || self.on(carry.result, base);
                carries.iter().any(carried) || body.iter().any(|stmt| self.touches(stmt, base))
            }
            Stmt::If(branch) => {
                self.scalar_on(&branch.condition, base)
                    || branch.results.iter().any(|result| self.on(*result, base))
                    || branch.then.iter().chain(&branch.otherwise).any(|stmt| self.touches(stmt, base))
            }
            Stmt::Break(_) | Stmt::Continue(_) => false,
        }
    }

    fn on(&self, var: VarId, base: BaseId) -> bool {
        self.bases.of_tile(self.kernel, var) == Some(base)
    }

    fn operand_on(&self, operand: &Operand, base: BaseId) -> bool {
        let mut found = false;
        visit::operand_uses(operand, &mut |var| found |= self.on(self.inits.resolve(var), base));
        found
    }

    fn scalar_on(&self, scalar: &Scalar, base: BaseId) -> bool {
        let mut found = false;
        visit::scalar_uses(scalar, &mut |var| found |= self.on(self.inits.resolve(var), base));
        found
    }

    fn value_on(&self, value: &Value, base: BaseId) -> bool {
        let mut found = false;
        visit::value_uses(value, &mut |var| found |= self.on(self.inits.resolve(var), base));
        found
    }

    fn accumulator_branches(&mut self, block: &'k [Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::For(each) => self.accumulator_branches(&each.body),
                Stmt::If(branch) => {
                    for slot in 0..branch.results.len() {
                        self.coalesce(branch, slot);
                    }
                    self.accumulator_branches(&branch.then);
                    self.accumulator_branches(&branch.otherwise);
                }
                _ => {}
            }
        }
    }

    fn coalesce(&mut self, branch: &'k If, slot: usize) -> Option<()> {
        let [Some(then), Some(otherwise)] = branch.choices(slot) else { return None };
        let (accumulated, seed) = match (self.accumulates(then), self.accumulates(otherwise)) {
            (true, false) => (then, otherwise),
            (false, true) => (otherwise, then),
            _ => return None,
        };
        let memory = self.bases.get(accumulated)?;
        let seeded = self.bases.of_tile(self.kernel, seed)?;
        if self.bases.base(memory.base).space != Space::Acc || seeded == memory.base {
            return None;
        }
        let Some(Producer::Value(Value::Call(call), place)) = self.producers.get(&seed).copied() else { return None };
        if self.is_within(place, branch) && self.untouched_behind(place, memory.base, Some(branch)) {
            self.retarget_call(seed, call, place, memory, false);
        }
        Some(())
    }

    /// Written in place onto the operand that it accumulates into.
    fn accumulates(&self, var: VarId) -> bool {
        let Some(Producer::Value(Value::Call(call), _)) = self.producers.get(&var) else { return false };
        let reused = call.op.op().reuses.and_then(|index| call.args.get(index as usize)).and_then(Operand::var);
        reused.is_some_and(|input| {
            let base = self.bases.of_tile(self.kernel, var);
            base.is_some() && base == self.bases.of_tile(self.kernel, input)
        })
    }

    fn is_within(&self, place: StmtPosition, branch: &If) -> bool {
        let mut next = Some(place);
        while let Some(block) = next.and_then(|at| self.blocks.get(at.block)) {
            if matches!(block.owner, Owner::Branch(owner) if std::ptr::eq(owner, branch)) {
                return true;
            }
            next = block.parent;
        }
        false
    }
}

/// How many leading operands the result may not take the buffer of, for operations that cannot work in place at all.
pub(super) fn never_in_place(call: &Call, target: Target) -> Option<usize> {
    match (call.op.op().inplace, target) {
        (Inplace::Never, _) | (Inplace::NeverOn910b, Target::Ascend910b) => Some(call.args.len()),
        (Inplace::NeverOn910b, Target::Ascend950) => Some(2),
        (Inplace::Allowed | Inplace::UnlessWidening, _) => None,
    }
}

/// Carries the planned moves out; views of a tile that moved follow it.
fn apply(kernel: &Kernel, moves: &FxHashMap<VarId, MemRef>, bases: &mut Bases) {
    if moves.is_empty() {
        return;
    }
    let before = bases.clone();
    for (var, memory) in moves {
        bases.set(*var, *memory);
    }
    let mut moved: FxHashSet<VarId> = moves.keys().copied().collect();
    follow_views(kernel, &kernel.body, &before, &mut moved, bases);
}

fn follow_views(kernel: &Kernel, block: &[Stmt], before: &Bases, moved: &mut FxHashSet<VarId>, bases: &mut Bases) {
    for stmt in block {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } if !moved.contains(var) => {
                if let Some(memory) = followed(kernel, *var, call, before, moved, bases) {
                    bases.set(*var, memory);
                    moved.insert(*var);
                }
            }
            _ => stmt.blocks().for_each(|block| follow_views(kernel, block, before, moved, bases)),
        }
    }
}

fn followed(
    kernel: &Kernel,
    var: VarId,
    call: &Call,
    before: &Bases,
    moved: &FxHashSet<VarId>,
    bases: &Bases,
) -> Option<MemRef> {
    if !call.op.op().inherits_space() {
        return None;
    }
    let input = call.args.first()?.var().filter(|input| moved.contains(input))?;
    let (view, from, to) = (before.get(var)?, before.get(input)?, bases.get(input)?);
    if view.base != from.base || to.base == from.base {
        return None;
    }
    Some(MemRef { base: to.base, offset: to.offset.plus(bases::view_offset(kernel, call)), size: view.size })
}
