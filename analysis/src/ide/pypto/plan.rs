//! The columns of `tilefit plan --format json` that are of PyPTO's plans.

use std::collections::BTreeMap;

use tilefit_pypto::coverage::Mark;
use tilefit_pypto::ir::Role;
use tilefit_pypto::memory::{Order, Plan, PlannedTile, SpaceUse, Trouble, Witness};
use tilefit_pypto::target::{COMPILER, Planner, Space, Target};

use super::names::Names;
use crate::confirm::{Asked, Question};
use crate::db::{self, Outcome};
use crate::ide::memory_map::CopyMark;
use crate::ide::plan_view::{Details, FixesView, PeakView, SpacePacking, TilePlan, TroubleView, WitnessView};
use crate::ide::{Context, PlacedUnit, formatting};

pub(super) fn details(context: &Context<'_>, placed: &PlacedUnit<'_>, outcome: &Outcome, plan: &Plan) -> Details {
    let names = Names::of(context, placed, outcome, plan);
    let tiles = plan.tiles.iter().enumerate();
    let tiles = tiles.map(|(nth, tile)| tile_plan(context, placed, plan, tile, names.copy(nth)));
    Details {
        tiles: tiles.collect(),
        specs: Vec::new(),
        scenarios: Vec::new(),
        more_scenarios: 0,
        uncompared: plan.uncompared.iter().map(Mark::to_string).collect(),
        marks: marks(outcome),
        assumes: [db::assumptions_of_unit(context.db, placed.unit).as_slice(), &plan.assumed].concat(),
        compiler: matches!(plan.planner, Planner::Sequential | Planner::DsaRp).then(|| COMPILER.named()),
    }
}

pub(super) fn packing(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan) -> Vec<SpacePacking> {
    plan.spaces.iter().map(|used| of_space(context, placed, plan, used)).collect()
}

fn of_space(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan, used: &SpaceUse) -> SpacePacking {
    SpacePacking {
        verdict: used.fit.name(),
        bound: used.peak,
        best: used.best,
        floor: used.lower_bound,
        cross_pipe_reuse: used.crossings.map(|crossings| crossings.remaining),
        relaxed: used.relaxed.iter().map(|pair| pair.tiles.clone().map(|tile| stage(&tile))).collect(),
        trouble: used.trouble.as_ref().map(|trouble| trouble_view(context, placed, plan, used, trouble)),
    }
}

fn marks(outcome: &Outcome) -> Vec<Mark> {
    match outcome {
        Outcome::Planned(planned) => planned.marks.clone(),
        Outcome::Printed(_) | Outcome::Failed(..) => Vec::new(),
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
        line: formatting::lines(context, placed, plan, at, at).0,
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

fn tile_plan(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    plan: &Plan,
    tile: &PlannedTile,
    copy: Option<CopyMark>,
) -> TilePlan {
    let (first_line, last_line) = formatting::lines(context, placed, plan, tile.first, tile.last);
    TilePlan {
        name: tile.name.clone(),
        label: tile.label.clone(),
        copy,
        line: context.line(placed.range(tile.origin).start),
        space: tile.space.map(Space::name),
        shape: tile.shape.clone(),
        dtype: tile.dtype.name(),
        bytes: tile.bytes,
        at_least: tile.bytes,
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

/// The compiler plans a program as a whole.
pub(super) fn question(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan) -> Result<Question, String> {
    let planner = match plan.planner {
        Planner::Sequential => "PYPTO",
        Planner::DsaRp => "DSA_RP",
        Planner::Auto | Planner::Packed => {
            return Err(
                "the plan is packed by tilefit's own planner; `planner = \"sequential\"` plans as the compiler"
                    .to_owned(),
            );
        }
    };
    let name = context.qualified_name(placed.unit, &plan.kernel);
    Ok(Question {
        ask: Asked::Pypto,
        kernel: name.split('.').next().unwrap_or_default().to_owned(),
        target: match plan.target {
            Target::Ascend910b => "910B",
            Target::Ascend950 => "950",
        }
        .to_owned(),
        planner: Some(planner.to_owned()),
        signature: BTreeMap::new(),
        constexprs: BTreeMap::new(),
        divisible: Vec::new(),
        options: BTreeMap::new(),
    })
}
