//! One address range after the other (`docs/reference/memory.md`, "Addresses").

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use crate::ir::{AttrName, Call, Kernel, KernelKind, Rejection, Scalar, Stmt, Value, VarId, visit};
use crate::memory::bases::{BaseId, Bases, MemRef};
use crate::memory::sizes;
use crate::ops::OpId;
use crate::target::Space;

/// Memory at the start of a space that tiles are placed after: the rings of pipes between the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reserved {
    pub space: Option<Space>,
    /// Bytes from the start of the space.
    pub end: u64,
    /// Among it is the ring that the compiler itself made when it split a kernel.
    pub ring: bool,
}

impl Reserved {
    /// What the `system.reserve_buffer` calls of the kernel take.
    pub(super) fn of(kernel: &Kernel) -> Reserved {
        let mut reserved = Reserved::default();
        for Reservation { base, size, ring, .. } in reservations(kernel) {
            // A high base wastes what is below it: only the highest end counts.
            reserved.end = reserved.end.max(sizes::aligned(base.saturating_add(size)));
            reserved.ring |= ring;
        }
        let space = match kernel.kind {
            KernelKind::Aic => Space::Mat,
            KernelKind::Aiv | KernelKind::InCore => Space::Vec,
        };
        Reserved { space: (reserved.end > 0).then_some(space), ..reserved }
    }

    pub(super) fn in_space(self, space: Space) -> u64 {
        if self.space == Some(space) { self.end } else { 0 }
    }
}

/// One `system.reserve_buffer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reservation {
    /// What the author calls it.
    pub(crate) var: Option<VarId>,
    /// Bytes from the start of the space.
    pub(crate) base: u64,
    pub(crate) size: u64,
    ring: bool,
    pub origin: Origin,
}

/// What a kernel reserves, in program order; without a base of its own each lies after those before it.
pub(crate) fn reservations(kernel: &Kernel) -> Vec<Reservation> {
    let mut found = Vec::new();
    let mut end = 0;
    visit::statements(&kernel.body, &mut |stmt| {
        let (var, call) = match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } => (Some(*var), call),
            Stmt::Let { var, value: Value::Scalar(Scalar::Call(call)), .. } => (Some(*var), &**call),
            Stmt::Eval { call, .. } => (None, call),
            _ => return,
        };
        if call.op != OpId::RESERVE_BUFFER {
            return;
        }
        // Negative numbers mean: wherever.
        let number = |name| call.int(name).and_then(|value| u64::try_from(value).ok());
        let base = number(AttrName::Base).unwrap_or(end);
        let size = number(AttrName::Size).unwrap_or(0);
        end = end.max(sizes::aligned(base.saturating_add(size)));
        found.push(Reservation { var, base, size, ring: is_ring(&kernel.name, call), origin: call.origin });
    });
    found
}

/// What the author reserves without bytes, or twice (`ResolveReserveBufferBases`).
pub(crate) fn check_reservations(kernel: &mut Kernel) {
    let mut known: Vec<Range> = Vec::new();
    for Reservation { base, size, origin, .. } in reservations(kernel) {
        let range = Range { address: base, size: sizes::aligned(base.saturating_add(size)).saturating_sub(base) };
        let message = match known.iter().find(|other| other.overlaps(range)) {
            _ if size == 0 => "`pl.reserve_buffer` requires a `size` of more than 0 bytes".to_owned(),
            Some(other) => format!(
                "`pl.reserve_buffer` takes bytes {base} to {}, but bytes {} to {} are already reserved; use another `base`, or leave `base` to the compiler",
                range.end(),
                other.address,
                other.end()
            ),
            None => {
                known.push(range);
                continue;
            }
        };
        kernel.rejections.push(Rejection::new(origin, Code::Rejected, message));
    }
}

/// `k_c2v_slot_buffer` in `k_aiv`.
fn is_ring(kernel: &str, call: &Call) -> bool {
    let Some(name) = call.text(AttrName::Name) else { return false };
    let mixed = kernel.strip_suffix("_aic").or_else(|| kernel.strip_suffix("_aiv"));
    let direction = mixed.and_then(|mixed| name.strip_prefix(mixed));
    matches!(direction, Some("_c2v_slot_buffer" | "_v2c_slot_buffer"))
}

/// Where each base starts, and how much of each space that takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Layout {
    /// Address and bytes of the bases in use.
    pub placed: FxHashMap<BaseId, Range>,
    /// Bytes from the start of a space, as far as anything reaches; of the spaces in use.
    pub used: FxHashMap<Space, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub address: u64,
    pub size: u64,
}

impl Range {
    fn end(self) -> u64 {
        self.address.saturating_add(self.size)
    }

    fn overlaps(self, other: Range) -> bool {
        self.address < other.end() && other.address < self.end()
    }
}

/// Lines the bases of `memories` up in the text order of their names, after what is reserved.
pub(super) fn sequential(bases: &Bases, memories: impl Iterator<Item = MemRef>, reserved: Reserved) -> Layout {
    let mut layout = Layout::default();
    for (base, size) in in_text_order(bases, sizes_of(bases, memories)) {
        let space = bases.base(base).space;
        let top = layout.used.entry(space).or_insert(reserved.in_space(space));
        layout.placed.insert(base, Range { address: *top, size });
        *top = sizes::aligned(top.saturating_add(size));
    }
    layout
}

/// The bases on chip with their sizes: of the largest member, or of the whole declared allocation.
pub(super) fn sizes_of(bases: &Bases, memories: impl Iterator<Item = MemRef>) -> FxHashMap<BaseId, u64> {
    let mut sizes: FxHashMap<BaseId, u64> = FxHashMap::default();
    for memory in memories {
        let base = bases.base(memory.base);
        if base.space != Space::Ddr {
            let size = sizes.entry(memory.base).or_insert(base.declared.unwrap_or(0));
            *size = memory.size.max(*size);
        }
    }
    sizes
}

/// `mem_vec_10` before `mem_vec_3`.
fn in_text_order(bases: &Bases, sizes: FxHashMap<BaseId, u64>) -> Vec<(BaseId, u64)> {
    let mut named: Vec<(BaseId, u64)> = sizes.into_iter().collect();
    named.sort_unstable_by(|(a, _), (b, _)| (&bases.base(*a).name, a).cmp(&(&bases.base(*b).name, b)));
    named
}
