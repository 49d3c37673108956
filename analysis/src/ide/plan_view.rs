//! The plan of a kernel in the form of `tilefit plan --format json`.

use std::collections::BTreeMap;

use serde::Serialize;
use tilefit_pypto::coverage::Mark;
use tilefit_syntax::TextRange;

use crate::db::{MemoryUsage, Taken};

use super::confirmation::Confirmation;
use super::formatting;
use super::memory_map::CopyMark;

/// One kernel; lines count from 1, sizes and addresses are bytes, `None` is what is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelPlan {
    pub name: String,
    /// Of a notebook, from 1; lines count in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    pub line: usize,
    /// The bytes of the function that it is written in.
    #[serde(skip)]
    pub range: TextRange,
    pub status: &'static str,
    pub reasons: Vec<String>,
    /// What of a `predicted` kernel was never compared with the compiler.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<String>,
    /// All that there is to compare in the kernel.
    #[serde(skip)]
    pub marks: Vec<Mark>,
    /// What the plan rests on that the text of the kernel does not say: shapes of calls, how the program is started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    pub target: &'static str,
    pub planner: &'static str,
    /// The compiler that the plan is for; `None` for planners and languages of other ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    pub spaces: BTreeMap<&'static str, SpacePlan>,
    pub tiles: Vec<TilePlan>,
    /// Allocations that the author divides between buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<SpecView>,
    /// The kernel's memory under each of its scenarios, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioView>,
    /// What the author's compiler said of it, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    pub diagnostics: Vec<PlanDiagnostic>,
}

/// How full the memories of a kernel are.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSummary {
    pub name: String,
    /// Of a notebook, from 1; lines count in it.
    pub cell: Option<usize>,
    pub line: usize,
    /// The bytes of the function that it is written in.
    pub range: TextRange,
    pub status: &'static str,
    pub target: &'static str,
    pub planner: &'static str,
    pub spaces: BTreeMap<&'static str, SpacePlan>,
}

impl KernelPlan {
    pub fn summary(&self) -> KernelSummary {
        let KernelPlan { name, cell, line, range, status, target, planner, spaces, .. } = self;
        let (cell, line, range) = (*cell, *line, *range);
        KernelSummary { name: name.clone(), cell, line, range, status, target, planner, spaces: spaces.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpacePlan {
    /// `None` where it is not one number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    #[serde(flatten)]
    pub bounds: Option<Bounds>,
    pub capacity: Option<u64>,
    pub peak: u64,
    /// `None` where the compiler does not pack.
    #[serde(flatten)]
    pub packing: Option<SpacePacking>,
}

/// What of a memory is used at least and at most; `None` where nothing bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bounds {
    pub low: u64,
    pub high: Option<u64>,
}

/// What is known of placements by any planner; reserved bytes included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpacePacking {
    pub verdict: &'static str,
    /// Live at once.
    pub bound: u64,
    /// Height of the lowest placement known.
    pub best: u64,
    /// No placement is lower (proved).
    pub floor: u64,
    /// Of the planner `packed`: pairs of tiles that share memory although one is written by another pipe of the core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_pipe_reuse: Option<usize>,
    /// Stages of pipelines that share memory all the same, as `name of stage N`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relaxed: Vec<[String; 2]>,
    /// Only where no placement is known to fit.
    #[serde(flatten)]
    pub trouble: Option<TroubleView>,
}

/// Why a memory space does not fit, and what would help.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TroubleView {
    pub peak_at: PeakView,
    /// What is live at the peak, largest first.
    pub witness: Vec<WitnessView>,
    /// Bytes by which that exceeds the capacity.
    pub overshoot: u64,
    /// Other instants that exceed it.
    pub further_peaks: Vec<PeakView>,
    /// Changes to one tile that are enough by themselves.
    pub fixes: FixesView,
    /// Tiles that cannot be placed even without the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub irreducible: Vec<WitnessView>,
}

/// A statement at which many bytes are live.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeakView {
    pub line: usize,
    /// `tile.add`; `None` where it defines no tile.
    pub op: Option<&'static str>,
    pub bytes: u64,
}

/// Names of tiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FixesView {
    pub halve: Vec<String>,
    pub remove: Vec<String>,
    pub end_earlier: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WitnessView {
    pub name: String,
    pub bytes: u64,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TilePlan {
    pub name: String,
    /// As findings and maps call it: `x:load` of what the compiler makes for `x = …`.
    pub label: String,
    /// Which copy of a loop's body it belongs to, where the compiler copies one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyMark>,
    pub line: usize,
    pub space: Option<&'static str>,
    pub shape: Vec<u64>,
    pub dtype: &'static str,
    pub bytes: u64,
    /// Where the compiler may need less of them.
    #[serde(skip)]
    pub at_least: u64,
    pub buffer: Option<String>,
    pub address: Option<u64>,
    pub first_line: usize,
    pub last_line: usize,
    pub inserted: bool,
    pub kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanDiagnostic {
    pub code: &'static str,
    pub severity: &'static str,
    pub line: usize,
    pub message: String,
}

/// A storage alias spec. Sizes in bytes, the rest in bytes or columns; `None` is what is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpecView {
    pub name: String,
    pub line: usize,
    pub storage: Option<&'static str>,
    pub size: Option<u64>,
    pub extent: Option<u64>,
    pub allocations: Vec<AllocationView>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AllocationView {
    pub name: String,
    pub line: usize,
    pub num: Option<u64>,
    pub unit_size: Option<u64>,
    pub offset: Option<u64>,
    pub stride: Option<u64>,
    pub scale: Option<u64>,
    pub offset_slots: Option<u64>,
    pub new_num: Option<u64>,
    pub ranges: Vec<[u64; 2]>,
}

/// A kernel's memory under one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioView {
    /// Among all scenarios of the kernel, in the order of the text.
    #[serde(skip)]
    pub index: usize,
    /// The parameters that differ between the scenarios of the kernel.
    pub values: BTreeMap<String, String>,
    /// Of each memory of the device, by its name: bytes, or columns as they are requested; what is known, where not all is.
    #[serde(flatten)]
    pub takes: BTreeMap<&'static str, u64>,
    /// `fits`, `exceeds`, `refused` by a `static_assert` or the compiler, or `unknown`.
    pub verdict: &'static str,
    /// What is refused, and on which line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The plan and its errors are of this one.
    pub selected: bool,
    /// The same with its bounds.
    #[serde(skip)]
    pub(crate) usage: MemoryUsage,
}

impl ScenarioView {
    /// Of each memory, its name with its unit, and `98304`, `65536–98304` or `≥ 65536`; nothing where nothing is known.
    pub fn amounts(&self) -> Vec<(String, String)> {
        let of = |taken: &Taken| {
            let (name, unit) = (taken.space.name(), taken.space.unit());
            (format!("{name} ({unit})"), formatting::between(taken.amount))
        };
        self.usage.memories.iter().map(of).collect()
    }
}

/// What is said of a kernel here beside what all features know of it.
pub(crate) struct Details {
    pub(crate) tiles: Vec<TilePlan>,
    pub(crate) specs: Vec<SpecView>,
    pub(crate) scenarios: Vec<ScenarioView>,
    /// Scenarios that are not among them: there are too many.
    pub(crate) more_scenarios: usize,
    pub(crate) uncompared: Vec<String>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) assumes: Vec<String>,
    pub(crate) compiler: Option<String>,
}
