//! Kernels of TileLang for Ascend NPUs: which they are, and what they take of each memory of a core (docs/reference/tilelang.md, "12. Ascend").

use std::collections::{BTreeMap, BTreeSet};

use tilefit_python::finding::{Origin, Reason};

use crate::plan::LiveRange;
use crate::program::{Buffer, BufferId, Kind, Launch, Loop, Memory, Op, Planning, Scope, Statement};

/// The compiler whose rules these are.
pub const COMPILER: &str = "tilelang-ascend 95acbd7";

/// Which compiler a kernel for Ascend is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// tilelang-ascend, a fork of TileLang.
    Fork,
    /// `tilelang.ascend` of TileLang itself.
    Own,
}

/// Names that only the fork has in `tilelang.language` (`tilelang/language/{__init__,allocate,ascend,warpgroup}.py`). Sorted.
const NAMES: [&str; 30] = [
    "Scope",
    "alloc_L0A",
    "alloc_L0B",
    "alloc_L0C",
    "alloc_L1",
    "alloc_ub",
    "annotate_address",
    "barrier_all",
    "clear_flag",
    "dump_tensor",
    "gemm_v0",
    "init_flag",
    "mma",
    "npu_use_swizzle",
    "pipe_barrier",
    "printf",
    "reinterpretcast",
    "set_cross_flag",
    "set_deq_scale",
    "set_flag",
    "shmem_get_nbi",
    "shmem_put_nbi",
    "shmem_ub_get_nbi",
    "shmem_ub_put_nbi",
    "sync_all",
    "sync_global",
    "sync_thread_partial",
    "tile",
    "wait_cross_flag",
    "wait_flag",
];

/// The argument of `T.Kernel` that only the fork has.
pub const KERNEL_OPTION: &str = "is_npu";

/// Values of `target` that are no GPU (`tilelang/utils/target.py`), with whose they are.
const TARGETS: [(&str, Backend); 4] =
    [("ascend", Backend::Own), ("ascendc", Backend::Fork), ("npu", Backend::Fork), ("pto", Backend::Fork)];

impl Backend {
    /// The one that has a dotted name, by the name's whole path; `None` of a name that TileLang for GPUs has, too.
    pub fn of_name(path: &str) -> Option<Backend> {
        if path == "tilelang.ascend" || path.starts_with("tilelang.ascend.") {
            return Some(Backend::Own);
        }
        let member = path.strip_prefix("tilelang.language.").and_then(|rest| rest.split('.').next());
        let is_option = path.starts_with("tilelang.") && path.contains("PassConfigKey.TL_ASCEND_");
        let is_of_fork = is_option || member.is_some_and(|name| NAMES.binary_search(&name).is_ok());
        is_of_fork.then_some(Backend::Fork)
    }

    /// The one that a target is of.
    pub fn of_target(name: &str) -> Option<Backend> {
        TARGETS.iter().find(|(target, _)| *target == name).map(|(_, backend)| *backend)
    }
}

/// Bytes that the planner of the fork gives out (`src/transform/ascend_memory_planning.cc`).
pub fn planned_limit(memory: Memory) -> u64 {
    match memory {
        Memory::Ub => 196_352,
        Memory::L1 => 524_032,
        Memory::L0a | Memory::L0b => 65_536,
        Memory::L0c => 131_072,
    }
}

/// What a launch takes of the memories of a core.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Of each memory of [`Memory::ALL`].
    pub totals: Vec<Total>,
    pub placed: Vec<Placed>,
    /// The planner was asked to give places out; it has limits then.
    pub is_planned: bool,
}

/// Bytes of one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    pub memory: Memory,
    pub low: u64,
    /// `None` where the compiler may add something.
    pub high: Option<u64>,
    /// Why it is not one number.
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub buffer: BufferId,
    pub memory: Memory,
    /// Bytes, at least and at most: with two vector cores, each may have half of a buffer in UB.
    pub bytes: (u64, u64),
    pub live: LiveRange,
    /// Of the first byte; `None` where it is not predicted.
    pub offset: Option<u64>,
}

/// Places begin at multiples of this, and sizes are rounded up to it.
const ALIGNMENT: u64 = 32;

/// Products, by the names that the front end gives them: of operands in L1, and of operands in L0A and L0B.
pub(crate) const GEMM: &str = "tl.ascend_gemm_v0";
pub(crate) const MMA: &str = "tl.ascend_mma";

/// What the compiler makes of a launch, as far as it is known.
pub fn plan(launch: &Launch, backend: Backend) -> Plan {
    let touched = Touched::of(launch);
    let mut tenants: Vec<Tenant> = Vec::new();
    let mut reasons = Reasons::default();
    if backend == Backend::Own {
        reasons.everywhere("how TileLang's own compiler for Ascend gives out memory is not modelled");
    }
    if launch.options.is_for_pto {
        reasons.everywhere("the shapes that buffers have with `target=\"pto\"` are not modelled");
    }
    let memories = memories(launch, &touched, backend);
    for (id, life) in &touched.lives {
        let buffer = launch.buffer(*id);
        match memories.get(id) {
            Some(Some(Memory::L1)) if !is_of_whole_fractals(buffer) => {
                reasons.add(Memory::L1, format!("how `{}` is padded to fractals in L1 is not modelled", buffer.name));
                let bytes = sizes(launch, buffer, Memory::L1);
                tenants.extend(bytes.map(|bytes| Tenant { id: *id, memory: Memory::L1, bytes, life: *life }));
            }
            Some(Some(memory)) => match sizes(launch, buffer, *memory) {
                Some(bytes) => tenants.push(Tenant { id: *id, memory: *memory, bytes, life: *life }),
                None => reasons.add(*memory, format!("the size of `{}` is not known", buffer.name)),
            },
            Some(None) => {
                reasons.everywhere(format!("which memory the compiler chooses for `{}` is not modelled", buffer.name));
            }
            None => {}
        }
    }
    touched.note_additions(&memories, &mut reasons);
    launch.unknown.iter().for_each(|reason| reasons.known(reason));
    let mut placed = Vec::new();
    let totals = Memory::ALL.map(|memory| {
        let here: Vec<&Tenant> = tenants.iter().filter(|tenant| tenant.memory == memory).collect();
        let layout = InMemory { launch, touched: &touched, tenants: here, backend };
        layout.total(memory, reasons.of(memory), &mut placed)
    });
    placed.sort_by_key(|it| (it.memory, it.offset, it.live.start, it.buffer));
    Plan { totals: totals.to_vec(), placed, is_planned: launch.options.memory_planning == Planning::On }
}

/// Why amounts are not known, of each memory.
#[derive(Default)]
struct Reasons(BTreeMap<Memory, Vec<Reason>>);

impl Reasons {
    fn add(&mut self, memory: Memory, reason: impl Into<String>) {
        self.push(memory, Reason::new(reason.into()));
    }

    fn push(&mut self, memory: Memory, reason: Reason) {
        let of = self.0.entry(memory).or_default();
        if !of.contains(&reason) {
            of.push(reason);
        }
    }

    fn everywhere(&mut self, reason: impl Into<String>) {
        self.known(&Reason::new(reason.into()));
    }

    fn known(&mut self, reason: &Reason) {
        Memory::ALL.into_iter().for_each(|memory| self.push(memory, reason.clone()));
    }

    fn of(&self, memory: Memory) -> Vec<Reason> {
        self.0.get(&memory).cloned().unwrap_or_default()
    }
}

/// A buffer in a memory.
struct Tenant {
    id: BufferId,
    memory: Memory,
    /// At least and at most, rounded up.
    bytes: (u64, u64),
    life: Life,
}

/// When a buffer is touched, in numbers of statements.
#[derive(Debug, Clone, Copy)]
struct Life {
    first: usize,
    last: usize,
    first_at: Origin,
    last_at: Origin,
    /// In a loop that `T.Pipelined` makes.
    is_pipelined: bool,
}

/// The statements of a launch in source order, and what each touches.
struct Touched<'l> {
    ops: Vec<(&'l Op, Vec<BufferId>)>,
    lives: BTreeMap<BufferId, Life>,
    has_pipeline: bool,
}

impl<'l> Touched<'l> {
    fn of(launch: &'l Launch) -> Touched<'l> {
        let mut touched = Touched { ops: Vec::new(), lives: BTreeMap::new(), has_pipeline: false };
        touched.visit(&launch.body, false);
        touched
    }

    fn visit(&mut self, body: &'l [Statement], is_pipelined: bool) {
        for statement in body {
            match statement {
                Statement::Op(op) => self.op(op, is_pipelined),
                Statement::Loop(Loop { stages, body, .. }) => {
                    self.has_pipeline |= *stages > 0;
                    self.visit(body, is_pipelined || *stages > 0);
                }
                Statement::Branch(branch) => {
                    self.visit(&branch.then, is_pipelined);
                    self.visit(&branch.otherwise, is_pipelined);
                }
            }
        }
    }

    fn op(&mut self, op: &'l Op, is_pipelined: bool) {
        let at = self.ops.len();
        let mut buffers: Vec<BufferId> = Vec::new();
        for region in op.reads.iter().chain(&op.writes) {
            if !buffers.contains(&region.buffer) {
                buffers.push(region.buffer);
            }
        }
        for &buffer in &buffers {
            let now = Life { first: at, last: at, first_at: op.at, last_at: op.at, is_pipelined };
            let life = self.lives.entry(buffer).or_insert(now);
            (life.last, life.last_at) = (at, op.at);
            life.is_pipelined |= is_pipelined;
        }
        self.ops.push((op, buffers));
    }

    /// What the compiler adds to memories for statements (`src/transform/allocate_tmp_buffer.cc`, `src/transform/ascend_lower_parallel_to_vector.cc`).
    fn note_additions(&self, memories: &BTreeMap<BufferId, Option<Memory>>, reasons: &mut Reasons) {
        let memory_of = |id: &BufferId| memories.get(id).copied().flatten();
        for (op, buffers) in &self.ops {
            if buffers.iter().any(|id| memory_of(id) == Some(Memory::Ub)) && may_need_temporaries(&op.kind) {
                reasons.add(Memory::Ub, "temporaries that the compiler adds are not modelled");
            }
            if matches!(&op.kind, Kind::Other(name) if &**name == GEMM) {
                for memory in [Memory::L0a, Memory::L0b] {
                    reasons.add(memory, "what `T.gemm_v0` takes itself is not modelled");
                }
            }
        }
        for (id, life) in &self.lives {
            let (Some(memory), true) = (memory_of(id), life.is_pipelined) else { continue };
            reasons.add(memory, "how many copies `T.Pipelined` makes of a buffer is not modelled");
        }
    }
}

/// Functions of `T.tile` for which the compiler adds nothing, whatever the target (`src/transform/common/operation_config.h` lists the others). Sorted.
const WITHOUT_TEMPORARIES: [&str; 26] = [
    "tile.abs",
    "tile.add",
    "tile.arith_progression",
    "tile.axpy",
    "tile.bitwise_and",
    "tile.bitwise_lshift",
    "tile.bitwise_not",
    "tile.bitwise_or",
    "tile.bitwise_rshift",
    "tile.cast",
    "tile.compare",
    "tile.createvecindex",
    "tile.div",
    "tile.exp",
    "tile.fill",
    "tile.leaky_relu",
    "tile.ln",
    "tile.max",
    "tile.min",
    "tile.mul",
    "tile.reciprocal",
    "tile.relu",
    "tile.rsqrt",
    "tile.sqrt",
    "tile.sub",
    "tile.transpose",
];

fn may_need_temporaries(kind: &Kind) -> bool {
    match kind {
        Kind::Copy | Kind::Store { .. } => false,
        Kind::Other(name) => {
            let name = name.trim_start_matches("tl.");
            WITHOUT_TEMPORARIES.binary_search(&name).is_err() && !matches!(name, "bind" | "dump_tensor" | "printf")
        }
        _ => true,
    }
}

/// The memory of each buffer on the chip that is touched; `None` where the compiler chooses and that is not modelled
/// (`src/transform/ascend_infer_buffer_scope.cc`).
fn memories(launch: &Launch, touched: &Touched<'_>, backend: Backend) -> BTreeMap<BufferId, Option<Memory>> {
    let mut positions: BTreeMap<BufferId, BTreeSet<usize>> = BTreeMap::new();
    for (op, _) in &touched.ops {
        if matches!(&op.kind, Kind::Other(name) if [GEMM, MMA].contains(&&**name)) {
            for (position, region) in op.reads.iter().take(2).chain(op.writes.iter().take(1)).enumerate() {
                positions.entry(region.buffer).or_default().insert(position);
            }
        }
    }
    let chosen = |id: &BufferId, scope: Scope| {
        let positions = positions.get(id).filter(|_| backend == Backend::Fork)?;
        match scope {
            Scope::Shared => Some(Memory::L1),
            _ if positions.contains(&0) => Some(Memory::L0a),
            _ if positions.contains(&1) => Some(Memory::L0b),
            _ => Some(Memory::L0c),
        }
    };
    let of = |id: &BufferId| match launch.buffer(*id).scope {
        Scope::OfCore(memory) => Some((*id, Some(memory))),
        Scope::Shared if backend == Backend::Own => Some((*id, Some(Memory::Ub))),
        scope @ (Scope::Shared | Scope::Fragment) => Some((*id, chosen(id, scope))),
        _ => None,
    };
    touched.lives.keys().filter_map(of).collect()
}

/// Bytes of a buffer, at least and at most. With two threads a vector core has half of the first extent of what is in UB, unless it is indexed by
/// what another buffer holds (`src/transform/ascend_vid_reduction.cc`).
fn sizes(launch: &Launch, buffer: &Buffer, memory: Memory) -> Option<(u64, u64)> {
    let whole = buffer.bytes()?.checked_next_multiple_of(ALIGNMENT)?;
    let may_be_halved = memory == Memory::Ub && launch.threads != Some(1);
    let first = buffer.shape.first().and_then(|extent| extent.known()).filter(|_| may_be_halved);
    let least = match first {
        Some(first @ 1..) => (buffer.bytes()? / first).checked_mul((first / 2).max(1))?,
        _ => buffer.bytes()?,
    };
    Some((least.checked_next_multiple_of(ALIGNMENT)?, whole))
}

/// In L1 a matrix lies in fractals of 16 rows and 32 bytes (`tilelang/intrinsics/ascend_layout.py`).
fn is_of_whole_fractals(buffer: &Buffer) -> bool {
    let [.., rows, columns] = buffer.shape.as_slice() else { return false };
    let is_whole = |rows: u64, columns: u64| {
        rows.is_multiple_of(16) && columns.saturating_mul(buffer.dtype.bits).is_multiple_of(32 * 8)
    };
    rows.known().zip(columns.known()).is_some_and(|(rows, columns)| is_whole(rows, columns))
}

/// The buffers of one memory.
struct InMemory<'k> {
    launch: &'k Launch,
    touched: &'k Touched<'k>,
    tenants: Vec<&'k Tenant>,
    backend: Backend,
}

impl InMemory<'_> {
    fn total(mut self, memory: Memory, mut reasons: Vec<Reason>, placed: &mut Vec<Placed>) -> Total {
        self.tenants.sort_by_key(|tenant| tenant.life.first);
        if self.tenants.iter().any(|tenant| tenant.bytes.0 != tenant.bytes.1) {
            reasons.push(Reason::new("whether a vector core has half of a buffer or all of it is not modelled"));
        }
        if self.tenants.iter().any(|tenant| matches!(self.address(tenant), Some(None))) {
            reasons.push(Reason::new("an address of `T.annotate_address` is not known"));
        }
        let is_planned = self.launch.options.memory_planning != Planning::Off;
        let sum = self.linear(memory, |tenant| tenant.bytes.1, |_| true);
        // The planner takes new memory while there is some.
        let is_reused = is_planned && sum > planned_limit(memory);
        if is_reused {
            reasons.push(Reason::new("which buffers share memory under `tl.ascend_memory_planning` is not modelled"));
        }
        let is_sure = |tenant: &Tenant| self.is_sure(tenant);
        let low = match self.backend {
            Backend::Own => self.largest(is_sure),
            Backend::Fork if is_planned => self.live_at_once(is_sure),
            Backend::Fork => self.linear(memory, |tenant| tenant.bytes.0, is_sure),
        };
        let is_exact = reasons.is_empty() && self.tenants.iter().all(|tenant| is_sure(tenant));
        let high = is_exact.then_some(sum);
        let low = high.unwrap_or(low);
        placed.extend(self.placed(memory, is_exact));
        Total { memory, low, high, reasons }
    }

    /// One after the other: what has an address first, in UB; elsewhere those with an address count for nothing in the row.
    fn linear(&self, memory: Memory, size: impl Fn(&Tenant) -> u64, counts: impl Fn(&Tenant) -> bool) -> u64 {
        let (mut row, mut fixed) = (0_u64, 0_u64);
        for tenant in self.tenants.iter().filter(|tenant| counts(tenant)) {
            match self.address(tenant) {
                Some(address) => fixed = fixed.max(address.unwrap_or(0).saturating_add(size(tenant))),
                None => row = row.saturating_add(size(tenant)),
            }
        }
        if memory == Memory::Ub { fixed.saturating_add(row) } else { fixed.max(row) }
    }

    /// The most that is held at one statement. Two buffers that one instruction touches are held together; in a kernel without `T.Pipelined`, which
    /// moves statements, so is what is touched before and after it.
    fn live_at_once(&self, counts: impl Fn(&Tenant) -> bool) -> u64 {
        let tenants: Vec<&&Tenant> = self.tenants.iter().filter(|&&tenant| counts(tenant)).collect();
        let at = |(nth, (op, touched)): (usize, &(&Op, Vec<BufferId>))| {
            let is_one = matches!(op.kind, Kind::Copy | Kind::Other(_));
            let is_held = |tenant: &Tenant| {
                let is_around = tenant.life.first < nth && nth < tenant.life.last;
                !self.touched.has_pipeline && is_around || is_one && touched.contains(&tenant.id)
            };
            tenants.iter().filter(|tenant| is_held(tenant)).fold(0, |sum: u64, it| sum.saturating_add(it.bytes.0))
        };
        let most = self.touched.ops.iter().enumerate().map(at).max().unwrap_or(0);
        most.max(self.largest(counts))
    }

    fn largest(&self, counts: impl Fn(&Tenant) -> bool) -> u64 {
        self.tenants.iter().filter(|tenant| counts(tenant)).map(|tenant| tenant.bytes.0).max().unwrap_or(0)
    }

    /// That `T.annotate_address` gives; `Some(None)` where it does, and the number is not known.
    fn address(&self, tenant: &Tenant) -> Option<Option<u64>> {
        self.launch.buffer(tenant.id).address.as_ref().map(|address| address.known())
    }

    /// The buffer is there whatever is not known. A loop of stores from one buffer to another may be done in place
    /// (`src/transform/ascend_storage_rewrite.cc`).
    fn is_sure(&self, tenant: &Tenant) -> bool {
        let here: BTreeSet<BufferId> = self.tenants.iter().map(|tenant| tenant.id).collect();
        let may_be_in_place = self.touched.ops.iter().any(|(op, _)| {
            matches!(op.kind, Kind::Store { .. } | Kind::Parallel { .. })
                && op.writes.iter().any(|region| region.buffer == tenant.id)
                && op.reads.iter().any(|region| region.buffer != tenant.id && here.contains(&region.buffer))
        });
        self.launch.buffer(tenant.id).is_used && !may_be_in_place
    }

    fn placed(&self, memory: Memory, is_exact: bool) -> Vec<Placed> {
        let fixed =
            self.tenants.iter().filter_map(|tenant| Some(self.address(tenant)??.saturating_add(tenant.bytes.1)));
        let mut next = if memory == Memory::Ub { fixed.max().unwrap_or(0) } else { 0 };
        // Of several that one statement touches first, the order is not known.
        let is_alone = |tenant: &Tenant| {
            let alike = self.tenants.iter().filter(|other| other.life.first == tenant.life.first);
            alike.filter(|other| self.address(other).is_none()).count() == 1
        };
        let (begin, end) = (self.touched.ops.first(), self.touched.ops.last());
        let place = |tenant: &&Tenant| {
            let address = self.address(tenant);
            let offset = match address {
                Some(address) => address,
                None => {
                    let offset = next;
                    next = next.saturating_add(tenant.bytes.1);
                    (is_exact && is_alone(tenant)).then_some(offset)
                }
            };
            let Life { first, last, first_at, last_at, .. } = tenant.life;
            let live = match (begin, end, self.launch.options.memory_planning) {
                // Nothing else is given its memory.
                (Some((begin, _)), Some((end, _)), Planning::Off) => {
                    LiveRange { start: 0, end: self.touched.ops.len(), first: begin.at, last: end.at }
                }
                _ => LiveRange { start: first, end: last + 1, first: first_at, last: last_at },
            };
            Placed { buffer: tenant.id, memory, bytes: tenant.bytes, live, offset }
        };
        self.tenants.iter().map(place).collect()
    }
}
