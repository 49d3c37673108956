//! PyPTO kernels as the features see them, out of their plans.

mod hints;
mod hover;

use std::borrow::Cow;

use tilefit_syntax::TextRange;

use crate::db::{self, Outcome, Unit};
use crate::ir::{Origin, Role};
use crate::memory::{Plan, PlannedTile};
use crate::target::Space;

use super::language::{self, Extent, Hinted, Language, Placement, Site, Standing};
use super::{Context, HintDetails, Hover, PlacedUnit};

pub(super) struct Pypto;

impl Language for Pypto {
    fn claims(&self, _: &Context<'_>, _: Unit<'_>) -> bool {
        true
    }

    fn standing<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<Standing<'db>> {
        let kernels = db::standing_kernels(context.db, unit);
        let standing: Vec<_> = kernels.map(|kernel| Standing { name: &kernel.name, at: kernel.name_origin }).collect();
        if !standing.is_empty() {
            return standing;
        }
        // Printed ones have a plan, which is only read.
        let plans = context.plans(unit).iter().filter_map(Outcome::plan);
        plans.map(|plan| Standing { name: &plan.kernel, at: plan.name_origin }).collect()
    }

    fn kernels<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<language::View<'db>> {
        let outcomes = context.plans(unit).iter();
        outcomes.map(|outcome| View::new(context, outcome) as Box<dyn language::KernelView>).collect()
    }

    fn hover(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
        hover::hover(context, placed, offset)
    }

    fn sharing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Vec<TextRange>> {
        hover::sharing(context, placed, offset)
    }

    fn hint_details(
        &self,
        context: &Context<'_>,
        placed: &PlacedUnit<'_>,
        offset: usize,
        label: &str,
    ) -> Option<HintDetails> {
        hints::details(context, placed, offset, label)
    }
}

/// What the compiler makes of a kernel.
struct View<'db> {
    outcome: &'db Outcome,
    /// Empty where a stage failed.
    plan: Cow<'db, Plan>,
}

impl<'db> View<'db> {
    fn new(context: &Context<'db>, outcome: &'db Outcome) -> Box<View<'db>> {
        let plan = match outcome {
            Outcome::Planned(planned) => Cow::Borrowed(&planned.plan),
            Outcome::Printed(plan) => Cow::Borrowed(&**plan),
            Outcome::Failed(kernel) => {
                Cow::Owned(Plan::empty(kernel, context.config().target, context.config().planner))
            }
        };
        Box::new(View { outcome, plan })
    }
}

impl language::KernelView for View<'_> {
    fn name(&self) -> &str {
        &self.plan.kernel
    }

    fn name_origin(&self) -> Origin {
        self.plan.name_origin
    }

    fn origin(&self) -> Origin {
        self.plan.origin
    }

    fn target(&self) -> &'static str {
        self.plan.target.name()
    }

    fn is_planned(&self) -> bool {
        !matches!(self.outcome, Outcome::Failed(_))
    }

    fn outline(&self, _: &PlacedUnit<'_>) -> Vec<Placement<'_>> {
        let tiles = self.plan.tiles.iter().filter(|tile| tile.inserted.is_none() && tile.role == Role::Def);
        tiles.map(placement).collect()
    }

    fn hinted(&self) -> Vec<Hinted<'_>> {
        let tiles = hints::of_tiles(self.outcome, &self.plan).into_iter();
        tiles.map(|hinted| Hinted { placement: placement(hinted.tile), is_unnamed: hinted.is_unnamed }).collect()
    }

    fn laid_out_by(&self) -> String {
        format!("{} under planner {} on {}", self.plan.kernel, self.plan.planner, self.plan.target)
    }
}

fn placement(tile: &PlannedTile) -> Placement<'_> {
    Placement { name: &tile.name, at: tile.origin, extent: Some(extent(tile)) }
}

pub(super) fn extent(tile: &PlannedTile) -> Extent {
    let site =
        Site::Memory { space: tile.space.map(Space::name), address: tile.address, at_run_time: tile.dynamic_offset };
    Extent { site, size: tile.bytes, unit: "bytes" }
}
