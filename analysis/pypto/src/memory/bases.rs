//! Which memory each variable lives in before any sharing (`docs/reference/memory.md`, "Buffers").
//!
//! A *base* is one allocation. Variables on the same base must alias: views, results written in place, loop carries, tiles
//! bound to one declared allocation.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Call, Carry, If, Kernel, Operand, Role, Scalar, Stmt, Type, Value, VarId, visit};
use crate::memory::{carried, sizes};
use crate::ops::OpId;
use crate::target::{Space, Target};

/// Index of a base in [`Bases::all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BaseId(pub u32);

/// One allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    /// `mem_vec_3`, or the author's for a declared allocation. Addresses follow the text order of these names.
    pub name: String,
    pub space: Space,
    /// Bytes of all slots, for an allocation that the author declared.
    pub declared: Option<u64>,
}

/// The part of a base that a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemRef {
    pub base: BaseId,
    pub offset: Offset,
    /// Bytes; 0 for tensors whose shape is not constant.
    pub size: u64,
}

/// Bytes from the start of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offset {
    Known(u64),
    /// Selected at run time.
    Dynamic,
}

impl Offset {
    pub(super) fn plus(self, other: Offset) -> Offset {
        match (self, other) {
            (Offset::Known(a), Offset::Known(b)) => a.checked_add(b).map_or(Offset::Dynamic, Offset::Known),
            _ => Offset::Dynamic,
        }
    }
}

/// Where every variable lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bases {
    pub all: Vec<Base>,
    /// By variable. `None`: scalars, and tiles without memory of their own (received from the other core).
    refs: Vec<Option<MemRef>>,
}

impl Bases {
    pub(super) fn get(&self, var: VarId) -> Option<MemRef> {
        self.refs.get(var.0 as usize).copied().flatten()
    }

    pub(super) fn set(&mut self, var: VarId, to: MemRef) {
        if let Some(slot) = self.refs.get_mut(var.0 as usize) {
            *slot = Some(to);
        }
    }

    /// The memory of a variable that is added to the kernel.
    pub(super) fn push(&mut self, memory: MemRef) {
        self.refs.push(Some(memory));
    }

    /// The base of a tile; `None` for tensors, scalars and tiles without memory.
    pub(super) fn of_tile(&self, kernel: &Kernel, var: VarId) -> Option<BaseId> {
        kernel.tile(var)?;
        Some(self.get(var)?.base)
    }

    pub(super) fn base(&self, id: BaseId) -> &Base {
        &self.all[id.0 as usize]
    }
}

/// What cannot be given memory, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unplaced {
    pub var: VarId,
    pub why: String,
}

/// Gives every tensor and tile a base. A tile without a size or a space gets none and is reported.
pub(super) fn assign(kernel: &Kernel, target: Target) -> (Bases, Vec<Unplaced>) {
    let mut assigner = Assigner {
        kernel,
        target,
        bases: Bases { all: Vec::new(), refs: vec![None; kernel.vars.len()] },
        declared: vec![None; kernel.allocations.len()],
        strays: kernel.strays.iter().map(|stray| (stray.var, stray.first.var())).collect(),
        next: 0,
        received: FxHashSet::default(),
        unplaced: Vec::new(),
    };
    assigner.measure_declared();
    for param in &kernel.params {
        assigner.fresh(*param);
    }
    assigner.block(&kernel.body);
    for stray in &kernel.strays {
        assigner.inherit(stray.var, Some(stray.first.var()));
    }
    (assigner.bases, assigner.unplaced)
}

struct Assigner<'k> {
    kernel: &'k Kernel,
    target: Target,
    bases: Bases,
    /// By declared allocation that some tile is bound to.
    declared: Vec<Option<Declared>>,
    /// The values whose memory is that of names without a loop.
    strays: FxHashMap<VarId, VarId>,
    /// The compiler's counter: every tensor and tile that is not a view or reuse takes one, whether it keeps it or not.
    next: u32,
    /// Tiles without memory of their own.
    received: FxHashSet<VarId>,
    unplaced: Vec<Unplaced>,
}

#[derive(Debug, Clone, Copy)]
struct Declared {
    base: BaseId,
    slot_size: u64,
}

impl Assigner<'_> {
    /// All slots of an allocation are as large as the largest tile bound to any of them.
    fn measure_declared(&mut self) {
        let mut slots: Vec<Option<(u64, Space)>> = vec![None; self.declared.len()];
        let mut defined = Vec::new();
        self.kernel.body.iter().for_each(|stmt| visit::definitions(stmt, &mut |var| defined.push(var)));
        for tile in defined.into_iter().filter_map(|var| self.kernel.tile(var)) {
            let (Some(binding), Some(space)) = (&tile.binding, tile.space) else { continue };
            let Some(size) = sizes::tile_bytes(tile, space, self.target) else { continue };
            if let Some(slot) = slots.get_mut(binding.allocation.0 as usize) {
                let (largest, _) = slot.get_or_insert((size, space));
                *largest = size.max(*largest);
            }
        }
        for (index, slot) in slots.into_iter().enumerate() {
            let Some((slot_size, space)) = slot else { continue };
            let declaration = &self.kernel.allocations[index];
            let bytes = slot_size.saturating_mul(u64::from(declaration.slots.max(1)));
            let base = self.add_base(declaration.name.clone(), space, Some(bytes));
            self.declared[index] = Some(Declared { base, slot_size });
        }
    }

    fn add_base(&mut self, name: String, space: Space, declared: Option<u64>) -> BaseId {
        self.bases.all.push(Base { name, space, declared });
        BaseId(self.bases.all.len() as u32 - 1)
    }

    fn numbered_base(&mut self, space: Space) -> BaseId {
        let name = format!("mem_{}_{}", space.name().to_ascii_lowercase(), self.next);
        self.next += 1;
        self.add_base(name, space, None)
    }

    /// Memory of its own, if it is a tensor or tile.
    fn fresh(&mut self, var: VarId) {
        match &self.kernel.var(var).ty {
            Type::Tensor(_) => {
                let base = self.numbered_base(Space::Ddr);
                self.bases.set(var, MemRef { base, offset: Offset::Known(0), size: 0 });
            }
            Type::Tile(_) => match self.tile(var) {
                Ok(memory) => self.bases.set(var, memory),
                Err(why) => self.unplaced.push(Unplaced { var, why }),
            },
            Type::Scalar(_) | Type::Array { .. } | Type::Tuple(_) | Type::Unknown(_) => {}
        }
    }

    fn tile(&mut self, var: VarId) -> Result<MemRef, String> {
        let name = &self.kernel.var(var).name;
        let Some(tile) = self.kernel.tile(var) else { return Err(format!("`{name}` is not a tile")) };
        let Some(space) = tile.space else { return Err(format!("the memory space of `{name}` is unknown")) };
        let Some(size) = sizes::tile_bytes(tile, space, self.target) else {
            return Err(format!("the shape of `{name}` has no size in {space}"));
        };
        if let Some(binding) = &tile.binding
            && let Some(Some(declared)) = self.declared.get(binding.allocation.0 as usize)
        {
            let offset = match binding.slot.as_int().map(u64::try_from) {
                Some(Ok(slot)) => slot.checked_mul(declared.slot_size).map_or(Offset::Dynamic, Offset::Known),
                _ => Offset::Dynamic,
            };
            return Ok(MemRef { base: declared.base, offset, size: declared.slot_size });
        }
        let base = self.numbered_base(space);
        Ok(MemRef { base, offset: Offset::Known(0), size })
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, value, .. } => {
                    visit::value_uses(value, &mut |read| self.read(read));
                    self.define(*var, value);
                }
                Stmt::For(each) => {
                    self.looped(&each.carries, &each.body);
                    // The compiler numbers the result before it finds that it shares the carry's memory.
                    for carry in &each.carries {
                        self.share_tile(carry.result, Some(carry.iter));
                    }
                }
                Stmt::While(each) => self.looped(&each.carries, &each.body),
                Stmt::If(branch) => self.branch(branch),
                Stmt::Eval { call, .. } => visit::call_uses(call, &mut |read| self.read(read)),
                Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                    values.iter().for_each(|value| visit::operand_uses(value, &mut |read| self.read(read)));
                }
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    fn looped(&mut self, carries: &[Carry], body: &[Stmt]) {
        for carry in carries {
            visit::operand_uses(&carry.init, &mut |read| self.read(read));
            self.inherit(carry.iter, carry.init.var());
        }
        self.block(body);
        carries.iter().for_each(|carry| self.fresh(carry.result));
    }

    /// What only the other core makes gets memory where it is first read.
    fn read(&mut self, var: VarId) {
        if self.kernel.var(var).role == Role::OtherCore && self.bases.get(var).is_none() {
            self.fresh(var);
        }
    }

    fn branch(&mut self, branch: &If) {
        self.block(&branch.then);
        self.block(&branch.otherwise);
        for result in &branch.results {
            self.fresh(*result);
        }
        let (then, otherwise) = (visit::yielded(&branch.then), visit::yielded(&branch.otherwise));
        for (index, result) in branch.results.iter().enumerate() {
            let own = |values: &[Operand]| carried::own_var(self.kernel, values.get(index));
            self.share_tile(*result, own(then).or_else(|| own(otherwise)));
        }
    }

    fn memory(&self, var: VarId) -> Option<MemRef> {
        match self.strays.get(&var) {
            Some(first) => self.memory(*first),
            None => self.bases.get(var),
        }
    }

    fn inherit(&mut self, iter: VarId, init: Option<VarId>) {
        if let Some(memory) = init.and_then(|init| self.memory(init)) {
            self.bases.set(iter, memory);
        }
    }

    /// A tile result takes the memory of the tile that it hands on.
    fn share_tile(&mut self, result: VarId, source: Option<VarId>) {
        let Some(source) = source else { return };
        if self.kernel.tile(result).is_none() || self.kernel.tile(source).is_none() {
            return;
        }
        if let Some(memory) = self.memory(source) {
            self.bases.set(result, memory);
        }
    }

    fn define(&mut self, var: VarId, value: &Value) {
        if self.kernel.tile(var).is_some() && self.without_memory(value) {
            self.received.insert(var);
            return;
        }
        let shared = match value {
            Value::Call(call) => self.view(var, call).or_else(|| self.in_place(call)),
            Value::Copy(source) if self.is_rename(var, *source) => self.memory(*source),
            _ => None,
        };
        match shared {
            Some(memory) => self.bases.set(var, memory),
            // What the compiler assigns again, when it splits a kernel, is where it was.
            None if self.bases.get(var).is_none() && !self.received.contains(&var) => self.fresh(var),
            None => {}
        }
    }

    /// `y = x` of tiles. Of a name that a loop carries it is no rename to the compiler: `y` gets memory of its own.
    fn is_rename(&self, var: VarId, source: VarId) -> bool {
        self.kernel.tile(var).is_some() && self.kernel.var(source).role != Role::IterArg
    }

    /// Received from the other core, or a view of such a tile: it lies in the ring of the pipe.
    fn without_memory(&self, value: &Value) -> bool {
        let memoryless = |var: VarId| self.kernel.tile(var).is_some() && self.memory(var).is_none();
        match value {
            Value::Call(call) if matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV) => true,
            Value::Call(call) => viewed(call).is_some_and(memoryless),
            Value::Copy(source) => memoryless(*source),
            Value::Scalar(_) | Value::Element { .. } => false,
        }
    }

    fn view(&self, var: VarId, call: &Call) -> Option<MemRef> {
        let source = viewed(call)?;
        let parent = self.memory(source)?;
        let offset = parent.offset.plus(view_offset(self.kernel, call));
        let size = slice_span(self.kernel, var, call).unwrap_or(parent.size);
        Some(MemRef { base: parent.base, offset, size })
    }

    fn in_place(&self, call: &Call) -> Option<MemRef> {
        let reused = call.args.get(call.op.op().reuses? as usize)?;
        self.memory(reused.var()?)
    }
}

/// The operand that the result of a call is a view of.
pub(super) fn viewed(call: &Call) -> Option<VarId> {
    call.args.get(call.op.op().view_of? as usize)?.var()
}

/// Bytes from the start of the viewed tile to that of the view.
pub(super) fn view_offset(kernel: &Kernel, call: &Call) -> Offset {
    if call.op != OpId::SLICE {
        return Offset::Known(0);
    }
    slice_offset(kernel, call).map_or(Offset::Dynamic, Offset::Known)
}

fn slice_offset(kernel: &Kernel, call: &Call) -> Option<u64> {
    let parent = kernel.tile(viewed(call)?)?;
    let offsets = scalars(call.args.get(2)?)?;
    if offsets.len() != parent.shape.len() {
        return None;
    }
    let mut linear: u64 = 0;
    for (offset, extent) in offsets.iter().zip(&parent.shape) {
        let offset = u64::try_from(offset.as_int()?).ok()?;
        linear = linear.checked_mul(*extent)?.checked_add(offset)?;
    }
    linear.checked_mul(parent.dtype.storage_bits()).map(|bits| bits / 8)
}

/// Bytes from the first to the last element of a slice of constant shape, which keeps the strides of its parent.
fn slice_span(kernel: &Kernel, var: VarId, call: &Call) -> Option<u64> {
    if call.op != OpId::SLICE {
        return None;
    }
    let parent = kernel.tile(viewed(call)?)?;
    let dtype = kernel.tile(var)?.dtype;
    let extents = scalars(call.args.get(1)?)?;
    if extents.len() != parent.shape.len() {
        return None;
    }
    let (mut last, mut stride) = (0u64, 1u64);
    for (extent, parent) in extents.iter().zip(&parent.shape).rev() {
        let extent = u64::try_from(extent.as_int()?).ok().filter(|extent| (1..=*parent).contains(extent))?;
        last = last.checked_add((extent - 1).checked_mul(stride)?)?;
        stride = stride.checked_mul(*parent)?;
    }
    sizes::packed_bytes(last.checked_add(1)?, dtype)
}

fn scalars(operand: &Operand) -> Option<&[Scalar]> {
    match operand {
        Operand::List(scalars) => Some(scalars),
        Operand::Scalar(scalar) => Some(std::slice::from_ref(scalar)),
        Operand::Var(_) | Operand::Unknown(_) => None,
    }
}
