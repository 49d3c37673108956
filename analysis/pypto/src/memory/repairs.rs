//! Carries a sharing out, and what it takes to keep loops and branches right (`docs/reference/memory.md`, "Repairs").
//!
//! Names that loops and branches carry have no lifetime of their own and follow the values that they stand for. Where the
//! value at the end of a loop body or branch lies elsewhere than the carry, it is copied there before the yield.

use tilefit_python::finding::Origin;

use crate::ir::{Attr, AttrName, Call, For, If, Kernel, Operand, Role, Stmt, Type, Value, Var, VarId, Why};
use crate::memory::bases::{Bases, MemRef, Offset};
use crate::memory::carried;
use crate::memory::lifetimes::Group;
use crate::memory::plan::Order;
use crate::ops::OpId;
use crate::target::Space;

/// A copy that the compiler inserts before a yield: `<name>_mv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RepairMove {
    pub source: VarId,
    pub to: MemRef,
    /// Which value of the yield it is.
    pub slot: usize,
    /// Order number of the yield.
    pub before: Order,
    /// Source node of the yield.
    pub at: Origin,
}

/// The compiler gives up: an accumulator would have to be copied to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccumulatorCopy {
    pub source: VarId,
    pub at: Origin,
}

/// Gives the members of every buffer the memory of its representative. Returns false if there was nothing to share.
pub(super) fn rebase(kernel: &Kernel, groups: &[Group], buffers: &[Vec<usize>], bases: &mut Bases) -> bool {
    let before = bases.clone();
    let mut shared = false;
    for buffer in buffers {
        let Some((representative, others)) = buffer.split_first() else { continue };
        let Some(home) = before.get(groups[*representative].first()) else { continue };
        for other in others {
            let group = &groups[*other];
            let first = before.get(group.first());
            for member in &group.members {
                if kernel.tile(*member).is_some()
                    && let (Some(first), Some(memory)) = (first, before.get(*member))
                {
                    shared = true;
                    // The tile that a group is called by takes the size of its new buffer, even if the one that had it leaves.
                    let memory = if *member == group.first() { home } else { moved(first, memory, home) };
                    bases.set(*member, memory);
                }
            }
        }
    }
    shared
}

/// Members keep their offset to the first one.
fn moved(first: MemRef, member: MemRef, home: MemRef) -> MemRef {
    match (first.offset, member.offset, home.offset) {
        (Offset::Known(from), Offset::Known(at), Offset::Known(to)) if at >= from => {
            MemRef { base: home.base, offset: Offset::Known(to.saturating_add(at - from)), size: member.size }
        }
        _ => home,
    }
}

/// Puts the carries of every loop where its first values are, outer loops first.
pub(super) fn align_carries(kernel: &Kernel, block: &[Stmt], bases: &mut Bases) {
    for stmt in block {
        if let Stmt::For(each) = stmt {
            for carry in &each.carries {
                let init = carry.init.var().filter(|init| kernel.tile(*init).is_some());
                if let Some(memory) = init.and_then(|init| bases.get(init)) {
                    follow(kernel, carry.iter, memory, bases);
                    follow(kernel, carry.result, memory, bases);
                }
            }
        }
        stmt.blocks().for_each(|block| align_carries(kernel, block, bases));
    }
}

/// Moves a tile with memory onto `memory` unless it is on that base already.
fn follow(kernel: &Kernel, var: VarId, memory: MemRef, bases: &mut Bases) {
    if bases.of_tile(kernel, var).is_some_and(|base| base != memory.base) {
        bases.set(var, memory);
    }
}

/// What [`fix_yields`] had to do.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    pub moves: Vec<RepairMove>,
    pub failures: Vec<AccumulatorCopy>,
}

/// Makes every loop and branch yield into the memory of its carries and results, inner ones first.
pub(super) fn fix_yields(kernel: &Kernel, bases: &mut Bases) -> Repairs {
    let mut fixer = Fixer { kernel, bases, next: 0, repairs: Repairs::default() };
    fixer.block(&kernel.body);
    fixer.repairs
}

struct Fixer<'a> {
    kernel: &'a Kernel,
    bases: &'a mut Bases,
    /// Order number of the next statement, counted as lifetimes count.
    next: u32,
    repairs: Repairs,
}

/// The end of a block.
#[derive(Clone, Copy)]
struct End<'a> {
    values: &'a [Operand],
    order: Order,
    at: Origin,
}

impl<'a> End<'a> {
    fn value(&self, kernel: &Kernel, slot: usize) -> Option<VarId> {
        carried::own_var(kernel, self.values.get(slot))
    }
}

impl<'a> Fixer<'a> {
    /// Fixes the inner loops and branches, and returns the yield of the block.
    fn block(&mut self, block: &'a [Stmt]) -> Option<End<'a>> {
        let mut end = None;
        for stmt in block {
            match stmt {
                Stmt::Let { .. } | Stmt::Eval { .. } | Stmt::Return { .. } => self.next += 1,
                Stmt::Yield { values, origin } => {
                    end = Some(End { values, order: Order(self.next), at: *origin });
                    self.next += 1;
                }
                Stmt::For(each) => {
                    if let Some(end) = self.block(&each.body) {
                        self.fix_loop(each, end);
                    }
                }
                Stmt::While(each) => {
                    self.block(&each.body);
                }
                Stmt::If(branch) => {
                    let then = self.block(&branch.then);
                    let otherwise = self.block(&branch.otherwise);
                    self.fix_branch(branch, then, otherwise);
                }
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
        end
    }

    fn memory(&self, var: Option<VarId>) -> Option<MemRef> {
        let var = var?;
        self.kernel.tile(var)?;
        self.bases.get(var)
    }

    fn fix_loop(&mut self, each: &For, end: End) {
        for (slot, carry) in each.carries.iter().enumerate() {
            let Some(home) = self.memory(carried::own_var(self.kernel, Some(&carry.init))) else { continue };
            let value = end.value(self.kernel, slot);
            if let (Some(value), Some(memory)) = (value, self.memory(value)) {
                if memory.base != home.base {
                    self.copy(value, slot, memory, home, end);
                }
                follow(self.kernel, carry.result, home, self.bases);
            }
            follow(self.kernel, carry.iter, home, self.bases);
        }
    }

    fn fix_branch(&mut self, branch: &If, then: Option<End>, otherwise: Option<End>) {
        for (slot, result) in branch.results.iter().enumerate() {
            let value = |end: Option<End>| end.and_then(|end| end.value(self.kernel, slot));
            let (first, second) = (value(then), value(otherwise));
            let (first_memory, second_memory) = (self.memory(first), self.memory(second));
            let Some(home) = first_memory.or(second_memory) else { continue };
            if let (Some(_), Some(source), Some(memory), Some(end)) = (first_memory, second, second_memory, otherwise)
                && memory.base != home.base
            {
                self.copy(source, slot, memory, home, end);
            }
            follow(self.kernel, *result, home, self.bases);
        }
    }

    fn copy(&mut self, source: VarId, slot: usize, from: MemRef, to: MemRef, end: End) {
        let space = |memory: MemRef| self.bases.base(memory.base).space;
        if space(from) == Space::Acc && space(to) == Space::Acc {
            self.repairs.failures.push(AccumulatorCopy { source, at: end.at });
        } else {
            self.repairs.moves.push(RepairMove { source, to, slot, before: end.order, at: end.at });
        }
    }
}

/// The kernel with the copies written out, and the sources of its new variables, which follow those of `kernel`.
pub(super) fn written_out(kernel: &Kernel, moves: &[RepairMove], bases: &mut Bases) -> (Kernel, Vec<VarId>) {
    let mut written = kernel.clone();
    let mut body = std::mem::take(&mut written.body);
    let mut sources = Vec::new();
    let mut next = 0;
    write_out(&mut body, moves, &mut next, &mut |repair| {
        sources.push(repair.source);
        let source = kernel.var(repair.source);
        let name = format!("{}_mv", source.name);
        let mut ty = source.ty.clone();
        let space = bases.base(repair.to.base).space;
        if let Type::Tile(tile) = &mut ty {
            (tile.space, tile.binding) = (Some(space), None);
        }
        let var =
            written.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::CarriedCopy), origin: repair.at });
        bases.push(repair.to);
        let attrs = vec![(AttrName::TargetMemory, Attr::Space(space))];
        let call = Call { op: OpId::MOVE, args: vec![Operand::Var(repair.source)], attrs, origin: repair.at };
        (var, Stmt::Let { var, value: Value::Call(call), origin: repair.at })
    });
    written.body = body;
    (written, sources)
}

fn write_out(
    block: &mut Vec<Stmt>,
    moves: &[RepairMove],
    next: &mut u32,
    copy: &mut dyn FnMut(&RepairMove) -> (VarId, Stmt),
) {
    let mut copies = Vec::new();
    for stmt in block.iter_mut() {
        match stmt {
            Stmt::Let { .. } | Stmt::Eval { .. } | Stmt::Return { .. } => *next += 1,
            Stmt::Yield { values, .. } => {
                for repair in moves.iter().filter(|repair| repair.before.0 == *next) {
                    let (var, stmt) = copy(repair);
                    copies.push(stmt);
                    if let Some(value) = values.get_mut(repair.slot) {
                        *value = Operand::Var(var);
                    }
                }
                *next += 1;
            }
            _ => stmt.blocks_mut().for_each(|block| write_out(block, moves, next, copy)),
        }
    }
    // A yield is the last statement of its block.
    let end = block.len().saturating_sub(1);
    block.splice(end..end, copies);
}

/// Lets plain renames, and results written in place onto them, follow a value that moved.
pub(super) fn follow_renames(kernel: &Kernel, bases: &mut Bases) {
    let before = bases.clone();
    let mut moved = vec![false; kernel.vars.len()];
    follow_renames_in(kernel, &kernel.body, &before, &mut moved, bases);
}

fn follow_renames_in(kernel: &Kernel, block: &[Stmt], before: &Bases, moved: &mut [bool], bases: &mut Bases) {
    for stmt in block {
        match stmt {
            Stmt::Let { var, value, .. } => {
                let memory = match value {
                    Value::Copy(source) => renamed(kernel, *var, *source, bases),
                    Value::Call(call) => written_in_place(kernel, *var, call, before, moved, bases),
                    Value::Scalar(_) | Value::Element { .. } => None,
                };
                if let Some(memory) = memory {
                    bases.set(*var, memory);
                    moved[var.0 as usize] = true;
                }
            }
            _ => stmt.blocks().for_each(|block| follow_renames_in(kernel, block, before, moved, bases)),
        }
    }
}

fn renamed(kernel: &Kernel, var: VarId, source: VarId, bases: &Bases) -> Option<MemRef> {
    let (name, value) = (bases.of_tile(kernel, var)?, bases.of_tile(kernel, source)?);
    if name == value { None } else { bases.get(source) }
}

fn written_in_place(
    kernel: &Kernel,
    var: VarId,
    call: &Call,
    before: &Bases,
    moved: &[bool],
    bases: &Bases,
) -> Option<MemRef> {
    let input = call.args.get(call.op.op().reuses? as usize)?.var().filter(|input| moved[input.0 as usize])?;
    let (from, to) = (before.of_tile(kernel, input)?, bases.of_tile(kernel, input)?);
    if bases.of_tile(kernel, var)? != from || from == to { None } else { bases.get(input) }
}
