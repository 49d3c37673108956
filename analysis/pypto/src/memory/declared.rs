//! What the tiles that an author bound to a declared allocation must obey (`docs/reference/memory.md`, "Declared allocations").

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Finding, Related};

use crate::ir::{Kernel, Value, VarId};
use crate::memory::bases::{BaseId, Bases, Offset};
use crate::memory::lifetimes::{Lifetimes, Live};

/// A tile with memory of its own in a slot, and when it is needed.
type Bound = (VarId, Live);

/// Tiles of one slot that are live together: the later one overwrites what the earlier one still needs.
pub(super) fn check(kernel: &Kernel, bases: &Bases, lifetimes: &Lifetimes) -> Vec<Finding> {
    if kernel.allocations.is_empty() {
        return Vec::new();
    }
    let mut slots: FxHashMap<(BaseId, u64), Vec<Bound>> = FxHashMap::default();
    for var in &lifetimes.defined {
        if let Some((slot, live)) = bound(*var, bases, lifetimes) {
            slots.entry(slot).or_default().push((*var, live));
        }
    }
    let computed = computed(kernel, bases);
    slots.retain(|(base, _), _| !computed.contains(base));
    let mut slots: Vec<((BaseId, u64), Vec<Bound>)> = slots.into_iter().collect();
    slots.sort_unstable_by_key(|(slot, _)| *slot);
    slots.iter().filter_map(|((base, _), tiles)| overwritten(kernel, bases, *base, tiles)).collect()
}

/// Allocations with tiles in slots that are computed: the compiler does not compare those.
fn computed(kernel: &Kernel, bases: &Bases) -> FxHashSet<BaseId> {
    let ids = (0..kernel.vars.len() as u32).map(VarId);
    let is_computed = |var: &VarId| {
        let binding = kernel.tile(*var).and_then(|tile| tile.binding.as_ref());
        binding.is_some_and(|binding| binding.is_computed)
    };
    ids.filter(is_computed).filter_map(|var| Some(bases.get(var)?.base)).collect()
}

/// The slot of a tile that is not merely another name for, or a result written in place onto, one that is in it.
fn bound(var: VarId, bases: &Bases, lifetimes: &Lifetimes) -> Option<((BaseId, u64), Live)> {
    let memory = bases.get(var)?;
    bases.base(memory.base).declared?;
    let Offset::Known(slot) = memory.offset else { return None };
    let same_data = match lifetimes.value(var)? {
        Value::Copy(_) => true,
        Value::Call(call) => call.op.op().view_of.is_some() || call.op.op().reuses.is_some(),
        Value::Scalar(_) | Value::Element { .. } => false,
    };
    if same_data { None } else { Some(((memory.base, slot), lifetimes.live(var)?)) }
}

fn overwritten(kernel: &Kernel, bases: &Bases, base: BaseId, tiles: &[Bound]) -> Option<Finding> {
    // They are in the order of their definitions, so neighbours tell.
    let (earlier, later) = tiles.windows(2).find_map(|pair| match pair {
        [earlier, later] if earlier.1.last > later.1.def => Some((earlier.0, later.0)),
        _ => None,
    })?;
    let (first, second) = (kernel.var(earlier), kernel.var(later));
    let message = format!(
        "`{}` is written to the slot of `{}` in the declared allocation `{}` while that is still needed; bind them to different \
         slots or allocations",
        second.name,
        first.name,
        bases.base(base).name
    );
    let related = vec![Related { at: first.origin, message: format!("`{}` is bound to the same slot", first.name) }];
    let code = Code::SlotOverwritten;
    Some(Finding::new(code, second.origin, message).with_related(related))
}
