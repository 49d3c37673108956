//! The plans of a file in the form of `tilefit plan --format json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::coverage::Mark;
use crate::db::{self, Dumped, Outcome};
use crate::ir::Role;
use crate::memory::{Order, Plan, PlannedTile, SpaceUse, Status, Trouble, Witness};
use crate::target::{COMPILER, Planner, Space};

use super::diagnostics::{configured, differing, of_kernel};
use super::tlx::{self, ScenarioView, SpecView};
use super::{Context, PlacedUnit, layout};

/// One kernel; lines count from 1, sizes and addresses are bytes, `None` is what is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelPlan {
    pub name: String,
    pub line: usize,
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
    /// Storage alias specs of TLX kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<SpecView>,
    /// What a TLX kernel comes to under each of its scenarios, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioView>,
    pub diagnostics: Vec<PlanDiagnostic>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpacePlan {
    pub used: u64,
    pub capacity: Option<u64>,
    pub peak: u64,
    /// Not known of TLX kernels, whose compiler does not pack.
    #[serde(flatten)]
    pub packing: Option<SpacePacking>,
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
    pub line: usize,
    pub space: Option<&'static str>,
    pub shape: Vec<u64>,
    pub dtype: &'static str,
    pub bytes: u64,
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

pub(crate) fn plans(context: &Context<'_>) -> Vec<KernelPlan> {
    let mut plans = Vec::new();
    for placed in context.units() {
        let dumped = context.dumped(placed.unit);
        for (index, outcome) in context.plans(placed.unit).iter().enumerate() {
            let dumped = dumped.get(index).and_then(Option::as_ref);
            plans.push(kernel_plan(context, &placed, outcome, dumped));
        }
        plans.extend(context.tlx(placed.unit).map(|tlx| tlx::kernel_plan(context, &placed, tlx)));
    }
    plans
}

fn kernel_plan(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    outcome: &Outcome,
    dumped: Option<&Dumped<'_>>,
) -> KernelPlan {
    let failed;
    let (plan, status) = match outcome {
        Outcome::Planned(planned) => (&planned.plan, planned.plan.status),
        Outcome::Printed(plan) => (&**plan, plan.status),
        Outcome::Failed(kernel) => {
            failed = Plan::empty(kernel, context.config().target, context.config().planner);
            (&failed, Status::NotModelled)
        }
    };
    let space = |used: &SpaceUse| {
        let packing = SpacePacking {
            verdict: used.fit.name(),
            bound: used.peak,
            best: used.best,
            floor: used.lower_bound,
            cross_pipe_reuse: used.crossings.map(|crossings| crossings.remaining),
            relaxed: used.relaxed.iter().map(|pair| pair.tiles.clone().map(|tile| stage(&tile))).collect(),
            trouble: used.trouble.as_ref().map(|trouble| trouble_view(context, placed, plan, used, trouble)),
        };
        let SpaceUse { used: bytes, capacity, peak, .. } = *used;
        (used.space.name(), SpacePlan { used: bytes, capacity, peak, packing: Some(packing) })
    };
    let mut diagnostics = of_kernel(placed, outcome);
    diagnostics.extend(dumped.and_then(|dumped| differing(placed, dumped)));
    diagnostics.retain_mut(|diagnostic| configured(context, diagnostic));
    let diagnostics = diagnostics.into_iter().map(|diagnostic| PlanDiagnostic {
        code: diagnostic.code.name(),
        severity: diagnostic.severity.name(),
        line: context.line(diagnostic.range.start),
        message: diagnostic.message,
    });
    KernelPlan {
        name: context.qualified_name(placed.unit, &plan.kernel),
        line: context.line(placed.range(plan.name_origin).start),
        status: status.name(),
        uncompared: plan.uncompared.iter().map(Mark::to_string).collect(),
        marks: marks(outcome),
        reasons: plan.notes.iter().map(|note| note.reason.0.clone()).collect(),
        assumes: db::assumptions_of_unit(context.db, placed.unit).as_ref().clone(),
        target: plan.target.name(),
        planner: plan.planner.name(),
        compiler: matches!(plan.planner, Planner::Sequential | Planner::DsaRp).then(|| COMPILER.named()),
        spaces: plan.spaces.iter().map(space).collect(),
        tiles: plan.tiles.iter().map(|tile| tile_plan(context, placed, plan, tile)).collect(),
        specs: Vec::new(),
        scenarios: Vec::new(),
        diagnostics: diagnostics.collect(),
    }
}

fn marks(outcome: &Outcome) -> Vec<Mark> {
    match outcome {
        Outcome::Planned(planned) => planned.marks.clone(),
        Outcome::Printed(_) | Outcome::Failed(_) => Vec::new(),
    }
}

fn stage((name, stage): &(String, i64)) -> String {
    format!("{name} of stage {stage}")
}

fn trouble_view(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    plan: &Plan,
    used: &SpaceUse,
    trouble: &Trouble,
) -> TroubleView {
    let witness = |tile: &Witness| WitnessView {
        name: tile.name.clone(),
        bytes: tile.bytes,
        line: context.line(placed.range(tile.at).start),
    };
    let peak = |at: Order, bytes: u64| PeakView {
        line: layout::lines(context, placed, plan, at, at).0,
        op: plan.tiles.iter().find(|tile| tile.first == at && !tile.op.is_empty()).map(|tile| tile.op),
        bytes,
    };
    let Trouble { halve, remove, end_earlier, .. } = trouble.clone();
    TroubleView {
        peak_at: peak(trouble.at, used.peak),
        witness: trouble.live.iter().map(witness).collect(),
        overshoot: trouble.overshoot,
        further_peaks: trouble.further.iter().map(|(at, bytes)| peak(*at, *bytes)).collect(),
        fixes: FixesView { halve, remove, end_earlier },
        irreducible: trouble.core.iter().flat_map(|(tiles, _)| tiles).map(witness).collect(),
    }
}

fn tile_plan(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile) -> TilePlan {
    let (first_line, last_line) = layout::lines(context, placed, plan, tile.first, tile.last);
    TilePlan {
        name: tile.name.clone(),
        line: context.line(placed.range(tile.origin).start),
        space: tile.space.map(Space::name),
        shape: tile.shape.clone(),
        dtype: tile.dtype.name(),
        bytes: tile.bytes,
        buffer: tile.buffer.map(|buffer| plan.buffer(buffer).name.clone()),
        address: tile.address,
        first_line,
        last_line,
        inserted: tile.inserted.is_some(),
        kind: match tile.role {
            Role::Param | Role::Def | Role::LoopIndex | Role::OtherCore => "def",
            Role::IterArg => "iter_arg",
            Role::LoopResult => "loop_result",
            Role::IfResult => "if_result",
        },
    }
}
