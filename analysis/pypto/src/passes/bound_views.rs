//! Declared allocations of tiles that lie in another tile's memory: a view, or the result of an operation that writes into its operand,
//! cannot have a slot of its own (InitMemRef).

use rustc_hash::FxHashSet;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Note, Reason};

use crate::ir::{Call, For, Kernel, Rejection, Stmt, Type, Value, Var, VarId, visit};
use crate::ops::OpId;
use crate::target::Space;

pub(super) fn check(kernel: &mut Kernel) {
    let mut refused: Vec<Rejection> = Vec::new();
    let mut unclear: Vec<Note> = Vec::new();
    // A kernel for both cores loses what neither of them needs before the compiler looks.
    let is_of_cube =
        |var: &Var| matches!(&var.ty, Type::Tile(tile) if tile.space.is_some_and(|space| space != Space::Vec));
    let for_cube = kernel.vars.iter().any(is_of_cube);
    // Tiles in the ring between the cores, and views of them, have no memory that a slot could be.
    let mut in_ring: FxHashSet<VarId> = FxHashSet::default();
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::For(inner) = stmt {
            unclear.extend(begun_in_computed_slots(kernel, inner));
        }
        let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
        let source = source_of(call);
        if matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV)
            || call.op.op().view_of.is_some() && source.is_some_and(|source| in_ring.contains(&source))
        {
            in_ring.insert(*var);
            return;
        }
        let Some((source, tile)) = source.zip(kernel.tile(*var)) else { return };
        let Some(binding) = &tile.binding else { return };
        if kernel.var(source).inserted.is_some() || for_cube {
            let name = &kernel.var(*var).name;
            let what = format!("`{name}`, which is bound to a slot and is in the memory of another tile");
            return unclear.push(Note { at: call.origin, reason: Reason::new(what) });
        }
        let (name, source) = (&kernel.var(*var).name, &kernel.var(source).name);
        let allocation = kernel.allocations.get(binding.allocation.0 as usize).map_or("?", |declared| &declared.name);
        let message = format!(
            "tile `{name}` is produced by `{}`, which writes to the allocation of its source tile `{source}`, so it cannot have its own slot of `{allocation}`; bind the source tile instead, or give the result another name",
            call.op.op().name
        );
        if !refused.iter().any(|known| known.at == call.origin) {
            refused.push(Rejection::new(call.origin, Code::Rejected, message));
        }
    });
    kernel.rejections.extend(refused);
    kernel.notes.extend(unclear);
}

/// Where the slot's index is assigned anew, the compiler at times makes the carried name another one than the body reads (Simplify).
fn begun_in_computed_slots(kernel: &Kernel, inner: &For) -> Vec<Note> {
    let is_computed = |var: VarId| {
        let binding = kernel.tile(var).and_then(|tile| tile.binding.as_ref());
        binding.is_some_and(|binding| binding.is_computed && binding.slot.as_int().is_none())
    };
    let carried = inner.carries.iter().filter(|carry| carry.init.var().is_some_and(is_computed));
    carried
        .map(|carry| {
            let Var { name, origin, .. } = kernel.var(carry.iter);
            Note { at: *origin, reason: Reason::new(format!("`{name}`, which a loop carries from a computed slot")) }
        })
        .collect()
}

/// The tile in whose memory the result lies.
fn source_of(call: &Call) -> Option<VarId> {
    let op = call.op.op();
    call.args.get(usize::from(op.view_of.or(op.reuses)?))?.var()
}
