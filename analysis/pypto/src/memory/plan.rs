//! What the memory pipeline decides about one kernel.

use tilefit_python::element::Dtype;
use tilefit_python::finding::{Finding, Status};
use tilefit_python::finding::{Note, Origin};

use crate::coverage::{self, Mark, Setting};
use crate::ir::{Kernel, KernelKind, Role, VarId, Why};
use crate::memory::planners::background_search::OpenSearch;
use crate::target::{Planner, Space, Target};

/// Position of a statement in the walk over a kernel; the unit of lifetimes (`docs/reference/memory.md`, "Lifetimes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Order(pub u32);

/// Index of a buffer in [`Plan::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `kernel`; after a split `kernel_aic` or `kernel_aiv`.
    pub kernel: String,
    pub kind: KernelKind,
    pub origin: Origin,
    pub name_origin: Origin,
    pub target: Target,
    /// The planner that gave the addresses; never [`Planner::Auto`].
    pub planner: Planner,
    pub status: Status,
    /// Why the plan is not exact.
    pub notes: Vec<Note>,
    /// What of a kernel that is modelled was never compared with the compiler.
    pub uncompared: Vec<Mark>,
    /// What the plan rests on that the text leaves open, for people. A plan that rests on something is no more than predicted.
    pub assumed: Vec<String>,
    /// In definition order.
    pub tiles: Vec<PlannedTile>,
    pub buffers: Vec<Buffer>,
    /// The spaces that the kernel uses, in the order of [`Space::ON_CHIP`].
    pub spaces: Vec<SpaceUse>,
    /// Source node of each order number, for showing lifetimes as lines.
    pub statements: Vec<Origin>,
    pub findings: Vec<Finding>,
    /// What a search that takes its time may decide. A plan with the answers may be better.
    pub open: Vec<OpenSearch>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTile {
    pub var: VarId,
    pub name: String,
    /// As a reader has it: `x:load` of what the compiler makes for `x = …`.
    pub label: String,
    /// The operation that defines it, `tile.load`; empty for carried names.
    pub op: &'static str,
    pub role: Role,
    pub inserted: Option<Why>,
    pub origin: Origin,
    pub space: Option<Space>,
    pub shape: Vec<u64>,
    pub dtype: Dtype,
    /// Size of this tile by itself, in bytes.
    pub bytes: u64,
    /// `None` for tiles that own no memory (received from the other core).
    pub buffer: Option<BufferId>,
    /// Bytes from the start of the space; with `dynamic_offset` that of the whole buffer.
    pub address: Option<u64>,
    /// A view or slot that is selected at run time.
    pub dynamic_offset: bool,
    /// First and last order number at which the tile itself is defined or used.
    pub first: Order,
    pub last: Order,
}

/// A range of addresses that one reuse group lives in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// The compiler's name, `mem_vec_3`, or the author's for a declared allocation.
    pub name: String,
    pub space: Space,
    /// Bytes.
    pub size: u64,
    /// `None` where the plan could not place it.
    pub address: Option<u64>,
    pub declared: bool,
    /// Live intervals of the must-alias groups in it, first and last order number.
    pub live: Vec<(Order, Order)>,
}

/// Use of one memory space; all figures in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceUse {
    pub space: Space,
    /// Highest byte in use, reserved prefix included.
    pub used: u64,
    /// `None`: the target gives no limit.
    pub capacity: Option<Capacity>,
    /// Most bytes live at once; no plan can use less.
    pub peak: u64,
    pub peak_at: Order,
    pub reserved: u64,
    /// Of any planner, not of this plan: a space with more in use than it has may well fit.
    pub fit: Fit,
    /// Of the lowest placement known.
    pub best: u64,
    /// Proved: no placement is lower.
    pub lower_bound: u64,
    /// Why nothing fits, where nothing is known to.
    pub trouble: Option<Box<Trouble>>,
    /// Stages of pipelines that share memory since there is not enough of it.
    pub relaxed: Vec<StagePair>,
    /// Only where tiles are placed by lifetime.
    pub crossings: Option<Crossings>,
    /// A search goes on that may change the verdict.
    pub searching: bool,
}

/// Tiles of two stages of one pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagePair {
    /// Name and stage.
    pub tiles: [(String, i64); 2],
    /// Of the first one.
    pub at: Origin,
    pub space: Space,
}

/// Pairs of tiles of which one is written by a pipe of the core that has to wait for another pipe if they share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossings {
    /// Those that share.
    pub remaining: usize,
    pub total: usize,
}

/// Why a memory space does not fit, and what would help.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trouble {
    /// The first statement at which most is live.
    pub at: Order,
    /// The tile that is written there.
    pub joined: Option<Witness>,
    /// What is live there, largest first.
    pub live: Vec<Witness>,
    /// Bytes by which that exceeds what there is; 0 where it does not.
    pub overshoot: u64,
    /// Something ends where the peak begins: whether that may share decides.
    pub touching: bool,
    /// Other instants that are over capacity, and the bytes live there.
    pub further: Vec<(Order, u64)>,
    /// There may be more of them.
    pub and_more: bool,
    /// Changes to one tile with which everything fits.
    pub halve: Vec<String>,
    pub remove: Vec<String>,
    pub end_earlier: Vec<String>,
    /// Tiles that cannot be placed even without the others, and whether without any one of them the others can.
    pub core: Option<(Vec<Witness>, bool)>,
}

/// A buffer that is live at a peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    pub name: String,
    /// Of its first tile.
    pub shape: Vec<u64>,
    pub bytes: u64,
    pub at: Origin,
}

/// Bytes.
pub type Capacity = u64;

/// The verdict for one space (`docs/packing.md`, "Verdicts"); never blended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fit {
    Fits,
    /// Only if stages of a pipeline share memory and wait for each other.
    Relaxed,
    /// More is live at once than the space holds: no planner can help.
    OverAtAnInstant,
    /// Less is live at once than the space holds, but it was proved that no placement fits.
    Unpackable,
    /// No plan is known to fit, and none was proved impossible.
    Undecided,
}

impl Fit {
    pub fn name(self) -> &'static str {
        match self {
            Fit::Fits => "fits",
            Fit::Relaxed => "fits-relaxed",
            Fit::OverAtAnInstant => "over-capacity",
            Fit::Unpackable => "fragmented",
            Fit::Undecided => "undecided",
        }
    }
}

impl Plan {
    /// A plan without tiles, for a kernel of which nothing can be said.
    pub fn empty(kernel: &Kernel, target: Target, planner: Planner) -> Plan {
        Plan {
            kernel: kernel.name.clone(),
            kind: kernel.kind,
            origin: kernel.origin,
            name_origin: kernel.name_origin,
            target,
            planner: if planner == Planner::Auto { Planner::Sequential } else { planner },
            status: Status::of(!kernel.rejections.is_empty(), kernel.notes.is_empty()),
            notes: kernel.notes.clone(),
            uncompared: Vec::new(),
            assumed: Vec::new(),
            tiles: Vec::new(),
            buffers: Vec::new(),
            spaces: Vec::new(),
            statements: Vec::new(),
            findings: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes "exact" back where the kernel has marks that were never compared with the compiler.
    pub fn compare(&mut self, marks: &[Mark]) {
        if self.status == Status::Exact {
            self.uncompared = coverage::missing(marks, Setting::of(self.target, self.planner));
            self.status = if self.uncompared.is_empty() { Status::Exact } else { Status::Predicted };
        }
    }

    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    pub fn space(&self, space: Space) -> Option<&SpaceUse> {
        self.spaces.iter().find(|used| used.space == space)
    }
}
