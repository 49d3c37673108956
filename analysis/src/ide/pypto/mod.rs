//! PyPTO kernels as the features see them, out of their plans.

mod actions;
#[cfg(test)]
mod constructs;
mod copies;
pub(super) mod diagnostics;
mod hints;
mod hover;
pub(super) mod inserted_tiles;
mod lens;
mod map;
mod names;
mod plan;
mod values;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use tilefit_pypto::ir::Role;
use tilefit_pypto::memory::{OpenSearch, Plan, PlannedTile};
use tilefit_pypto::target::Space;
use tilefit_pypto::vocabulary;
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;
use tilefit_syntax::TextRange;

use crate::confirm::Question;
use crate::db::{self, Dumped, Outcome, Recorded, Unit};
use crate::project::Config;

use super::code_action::CodeAction;
use super::diagnostic::Diagnostic;
use super::extent::{Extent, Site};
use super::language::{
    self, Amount, Described, Dialect, Hinted, Hover, KernelDeclaration, Language, LoweredIr, Memory, Placement, Values,
};
use super::memory_map::Drawing;
use super::plan_view::{Details, SpacePacking};
use super::{Context, PlacedUnit};

use copies::Copies;

pub(super) struct Pypto;

static DIALECT: Dialect = Dialect {
    is_decorator: |_, _, path| matches!(path, ["pl", "function" | "jit" | "inline", ..]),
    canonical: |_, _, path| (path.first() == Some(&"pl")).then(|| path.join(".")),
    words: vocabulary::PYPTO,
    root: Some(("pl", "pypto.language")),
    has_tiles: true,
};

impl Language for Pypto {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn claims(&self, _: &Context<'_>, _: Unit<'_>) -> bool {
        true
    }

    fn declared<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>> {
        let kernels = db::source_kernels(context.db, unit);
        let declared: Vec<_> =
            kernels.map(|kernel| KernelDeclaration { name: &kernel.name, at: kernel.name_origin }).collect();
        if !declared.is_empty() {
            return declared;
        }
        // Printed ones have a plan, which is only read.
        let plans = context.plans(unit).iter().filter_map(Outcome::plan);
        plans.map(|plan| KernelDeclaration { name: &plan.kernel, at: plan.name_origin }).collect()
    }

    fn kernels<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<language::View<'db>> {
        let outcomes = context.plans(unit).iter().enumerate();
        outcomes.map(|(nth, outcome)| View::of(Cow::Borrowed(outcome), Some(nth), context.config())).collect()
    }

    fn kernels_of<'db>(
        &self,
        context: &Context<'db>,
        unit: Unit<'db>,
        declared: Range<usize>,
    ) -> Vec<Vec<language::View<'db>>> {
        let view = |(nth, outcome)| View::of(Cow::Borrowed(outcome), Some(nth), context.config());
        let kernels = lens::outcomes(context, unit, declared).into_iter();
        kernels.map(|outcomes| outcomes.into_iter().map(view).collect()).collect()
    }

    fn kernels_under<'db>(
        &self,
        context: &Context<'db>,
        unit: Unit<'db>,
        config: &'db Config,
    ) -> Vec<language::View<'db>> {
        let outcomes = db::plans_under(context.db, unit, config).into_iter();
        outcomes.map(|outcome| View::of(Cow::Owned(outcome), None, config)).collect()
    }

    fn dumps<'db>(&self, context: &Context<'db>, unit: Unit<'db>, declared: Range<usize>) -> Vec<&'db Dumped<'db>> {
        lens::dumps(context, unit, declared)
    }

    fn generates_code(&self, context: &Context<'_>, unit: Unit<'_>) -> bool {
        !db::source_kernel_ids(context.db, unit).is_empty()
    }

    fn hover(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
        hover::hover(context, placed, offset)
    }

    fn sharing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Vec<TextRange>> {
        hover::sharing(context, placed, offset)
    }

    fn values<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Option<Values<'db>> {
        values::values(context, unit)
    }

    fn actions(
        &self,
        context: &Context<'_>,
        placed: &PlacedUnit<'_>,
        range: TextRange,
        said: &dyn Fn() -> Vec<Diagnostic>,
    ) -> Vec<CodeAction> {
        actions::actions(context, placed, range, said)
    }

    /// Its compiler goes on in C++.
    fn lowered_ir(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)> {
        None
    }

    #[cfg(test)]
    fn constructs(&self) -> Vec<super::tests::growth::Construct> {
        constructs::constructs()
    }
}

/// What the compiler makes of a kernel.
struct View<'db> {
    outcome: Cow<'db, Outcome>,
    /// Of the plans of its unit; `None` under other settings, which no dump is of.
    nth: Option<usize>,
    config: &'db Config,
    /// Instead of a plan, where a stage failed.
    empty: OnceCell<Plan>,
}

impl<'db> View<'db> {
    fn of(outcome: Cow<'db, Outcome>, nth: Option<usize>, config: &'db Config) -> language::View<'db> {
        Box::new(View { outcome, nth, config, empty: OnceCell::new() })
    }

    fn plan(&self) -> &Plan {
        match &*self.outcome {
            Outcome::Planned(planned) => &planned.plan,
            Outcome::Printed(plan) => plan,
            Outcome::Failed(kernel, _) => {
                self.empty.get_or_init(|| Plan::empty(kernel, self.config.target, self.config.planner))
            }
        }
    }
}

impl language::KernelView for View<'_> {
    fn name(&self) -> &str {
        &self.plan().kernel
    }

    fn name_origin(&self) -> Origin {
        self.plan().name_origin
    }

    fn origin(&self) -> Origin {
        self.plan().origin
    }

    fn target(&self) -> &'static str {
        self.plan().target.name()
    }

    /// Kernels name none: the settings do, or it is the default of the language.
    fn is_target_assumed(&self) -> bool {
        false
    }

    fn planner(&self) -> &'static str {
        self.plan().planner.name()
    }

    fn status(&self) -> Status {
        match *self.outcome {
            Outcome::Planned(_) | Outcome::Printed(_) => self.plan().status,
            Outcome::Failed(..) => Status::NotModelled,
        }
    }

    fn reasons(&self) -> Vec<String> {
        diagnostics::unmodelled(self.plan()).map(|note| note.reason.to_string()).collect()
    }

    fn is_planned(&self) -> bool {
        !matches!(*self.outcome, Outcome::Failed(..))
    }

    fn memories(&self) -> Vec<Memory> {
        let spaces = self.plan().spaces.iter();
        spaces
            .map(|space| Memory {
                name: space.space.name(),
                used: Amount::Exactly(space.used),
                peak: space.peak,
                capacity: space.capacity,
            })
            .collect()
    }

    fn fill(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> String {
        lens::fill(self.plan())
    }

    fn drawing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Drawing {
        map::drawing(context, placed, &self.outcome, self.plan())
    }

    fn packing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<SpacePacking> {
        plan::packing(context, placed, self.plan())
    }

    fn details(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Details {
        plan::details(context, placed, &self.outcome, self.plan())
    }

    fn diagnostics(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
        let dumped = || context.dumped(placed.unit).get(self.nth?)?.as_ref();
        let mut all = diagnostics::of_kernel(context, placed, &self.outcome);
        all.extend(dumped().and_then(|dumped| diagnostics::differing(placed, dumped)));
        all
    }

    fn question(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Result<Question, String> {
        plan::question(context, placed, self.plan())
    }

    fn recorded<'db>(&self, _: &Context<'db>, _: &PlacedUnit<'db>) -> Option<&'db Recorded> {
        None
    }

    fn open(&self) -> &[OpenSearch] {
        &self.plan().open
    }

    fn outline(&self, _: &PlacedUnit<'_>) -> Vec<Placement<'_>> {
        let tiles = self.plan().tiles.iter().filter(|tile| tile.inserted.is_none() && tile.role == Role::Def);
        copies::grouped(tiles).iter().map(Copies::placement).collect()
    }

    fn hinted(&self) -> Vec<Hinted<'_>> {
        let tiles = hints::of_tiles(&self.outcome, self.plan()).into_iter();
        tiles.map(|hinted| Hinted { placement: hinted.copies.placement(), is_unnamed: hinted.is_unnamed }).collect()
    }

    fn described(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, nth: usize) -> Option<Described> {
        hints::described(context, placed, &self.outcome, self.plan(), nth)
    }

    fn laid_out_by(&self) -> String {
        let plan = self.plan();
        format!("{} under planner {} on {}", plan.kernel, plan.planner, plan.target)
    }
}

pub(super) fn extent(tile: &PlannedTile) -> Extent {
    let site =
        Site::Memory { space: tile.space.map(Space::name), address: tile.address, at_run_time: tile.dynamic_offset };
    Extent { site, size: tile.bytes, unit: "bytes", times: 1 }
}
