//! Kernels of Triton, Gluon and TLX in the editor: the same features as for tiles, over buffers of shared and of tensor memory.

#[cfg(test)]
mod constructs;
mod hover;
mod possible;

use std::ops::Range;

use tilefit_gpu::device::Compiler;
use tilefit_gpu::vocabulary;
use tilefit_pypto::memory::OpenSearch;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Finding;
use tilefit_python::finding::Status;
use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::TextRange;

use crate::confirm::Question;
use crate::db::{self, Dumped, Recorded, ScenarioTable, Taken, TracedKernel, TritonKernel, Unit};
use crate::project::Config;

use super::code_action::CodeAction;
use super::diagnostic::{Diagnostic, found, not_modelled};
use super::gpu::actions::{missing_values, scenario_comment};
use super::gpu::{self, comments, lens, map, placements, scenarios, tile, too_much};
use super::language::{
    self, Described, Dialect, Hinted, Hover, KernelDeclaration, KernelView, Language, LoweredIr, Memory, Missing,
    Placement, Value, ValueKind, Values,
};
use super::machine_code;
use super::memory_map::Drawing;
use super::plan_view::{Details, SpacePacking};
use super::unknown_names::suggested_names;
use super::{Context, PlacedUnit, formatting, tlx};

/// A language of jit functions whose kernels are followed, and known by nothing else.
pub(super) struct TritonLike {
    of: db::Dialect,
    names: &'static Dialect,
}

pub(super) static GLUON: TritonLike = TritonLike {
    of: db::Dialect::Gluon,
    names: &Dialect {
        is_decorator: db::is_gluon_decorator,
        canonical: db::gluon_name,
        words: vocabulary::GLUON,
        root: None,
        has_tiles: false,
    },
};

/// Without TLX: the compiler chooses layouts, and makes the buffers.
pub(super) static TRITON: TritonLike = TritonLike {
    of: db::Dialect::Triton,
    names: &Dialect {
        is_decorator: db::is_triton_decorator,
        canonical: db::triton_name,
        words: &[],
        root: None,
        has_tiles: false,
    },
};

/// Beside what every kernel has there are storage alias specs, and the buffers in them.
pub(super) static TLX: TritonLike = TritonLike {
    of: db::Dialect::Tlx,
    names: &Dialect {
        is_decorator: db::is_tlx_decorator,
        canonical: db::tlx_name,
        words: vocabulary::TLX,
        root: None,
        has_tiles: false,
    },
};

pub(super) static TILELANG: TritonLike = TritonLike {
    of: db::Dialect::TileLang,
    names: &Dialect {
        is_decorator: db::is_tilelang_decorator,
        canonical: db::tilelang_name,
        words: &tilefit_tilelang::vocabulary::WORDS,
        root: None,
        has_tiles: false,
    },
};

impl Language for TritonLike {
    fn dialect(&self) -> &'static Dialect {
        self.names
    }

    fn claims(&self, context: &Context<'_>, unit: Unit<'_>) -> bool {
        db::triton_dialect(context.db, unit) == Some(self.of)
    }

    fn declared<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>> {
        let jit = kernel(context, unit).into_iter();
        jit.map(|jit| KernelDeclaration { name: &jit.name, at: jit.traced.name_origin }).collect()
    }

    fn kernels<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<language::View<'db>> {
        kernel(context, unit).into_iter().map(|jit| Box::new(View(jit)) as language::View<'db>).collect()
    }

    fn kernels_of<'db>(
        &self,
        context: &Context<'db>,
        unit: Unit<'db>,
        declared: Range<usize>,
    ) -> Vec<Vec<language::View<'db>>> {
        let kernels = self.kernels(context, unit).into_iter();
        kernels.skip(declared.start).take(declared.len()).map(|kernel| vec![kernel]).collect()
    }

    /// The targets and planners of other settings are PyPTO's.
    fn kernels_under<'db>(&self, context: &Context<'db>, unit: Unit<'db>, _: &'db Config) -> Vec<language::View<'db>> {
        self.kernels(context, unit)
    }

    fn dumps<'db>(&self, _: &Context<'db>, _: Unit<'db>, _: Range<usize>) -> Vec<&'db Dumped<'db>> {
        Vec::new()
    }

    fn generates_code(&self, _: &Context<'_>, _: Unit<'_>) -> bool {
        false
    }

    fn hover(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
        hover::hover(context, placed, kernel(context, placed.unit)?, offset)
    }

    fn sharing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Vec<TextRange>> {
        let jit = kernel(context, placed.unit)?;
        if let Some(tlx) = &jit.traced.tlx {
            return Some(tlx::sharing(context, placed, tlx, offset));
        }
        let at = |placement: &Placement<'_>| placed.range(placement.at).touches(offset);
        let found = placements(&jit.traced).find(at)?;
        Some(hover::sharing(placed, &jit.traced, found.name))
    }

    fn values<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Option<Values<'db>> {
        let jit = kernel(context, unit)?;
        Some(Box::new(|name| {
            if let Some(tlx) = &jit.traced.tlx {
                return Some(Value { kind: ValueKind::Other, detail: tlx::described(tlx, name)? });
            }
            let buffer = jit.traced.program.buffers.iter().find(|buffer| &*buffer.name == name)?;
            let shape = formatting::shape(&buffer.shape);
            Some(Value { kind: ValueKind::Other, detail: format!("{shape} {}", buffer.dtype) })
        }))
    }

    fn actions(
        &self,
        context: &Context<'_>,
        placed: &PlacedUnit<'_>,
        range: TextRange,
        said: &dyn Fn() -> Vec<Diagnostic>,
    ) -> Vec<CodeAction> {
        let jit = kernel(context, placed.unit);
        let comment = jit.and_then(|jit| {
            let name = placed.range(jit.traced.name_origin);
            if !name.intersects(range) && !name.touches(range.start) {
                return None;
            }
            let fixes = unknown_sizes(placed, &jit.traced)?;
            Some(scenario_comment(missing(context, placed, jit)?, fixes))
        });
        let tlx = jit.and_then(|jit| jit.traced.tlx.as_ref());
        let mut all = tlx.map_or_else(Vec::new, |tlx| tlx::actions(context, placed, tlx, range));
        all.extend(comment);
        all.extend(comments::actions(context, placed, range));
        all.extend(suggested_names(context, placed, range, said));
        all
    }

    fn lowered_ir(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)> {
        Some(tlx::lowered_ir(context, placed, kernel(context, placed.unit)?.traced.tlx.as_ref()?))
    }

    #[cfg(test)]
    fn constructs(&self) -> Vec<super::tests::growth::Construct> {
        match self.of {
            db::Dialect::Gluon => constructs::gluon(),
            db::Dialect::Tlx => tlx::constructs(),
            db::Dialect::TileLang => constructs::tilelang(),
            db::Dialect::Triton => constructs::triton(),
        }
    }
}

/// The kernel that a unit is.
fn kernel<'db>(context: &Context<'db>, unit: Unit<'db>) -> Option<&'db TritonKernel> {
    db::triton_kernel(context.db, unit).as_deref()
}

fn missing(context: &Context<'_>, placed: &PlacedUnit<'_>, jit: &TritonKernel) -> Option<Missing> {
    missing_values(context, placed, jit.origin, &db::triton_needed(context.db, placed.unit).values)
}

/// Bytes of which a lens does not say that a kernel takes at least those.
const LEAST_SAID: u64 = 1024;

/// A kernel under the scenario in force.
struct View<'db>(&'db TritonKernel);

impl KernelView for View<'_> {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn name_origin(&self) -> Origin {
        self.0.traced.name_origin
    }

    fn origin(&self) -> Origin {
        self.0.origin
    }

    fn target(&self) -> &'static str {
        self.0.traced.arch.name()
    }

    fn is_target_assumed(&self) -> bool {
        !self.0.traced.is_device_told()
    }

    fn planner(&self) -> &'static str {
        planner(self.0)
    }

    fn status(&self) -> Status {
        gpu::status(&self.0.traced)
    }

    fn reasons(&self) -> Vec<String> {
        let of_tlx = self.0.traced.tlx.iter().flat_map(|tlx| tlx.unknown());
        let mut reasons: Vec<String> = Vec::new();
        for reason in of_tlx.chain(self.0.traced.planned.plan.reasons()).map(Reason::to_string) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    fn is_planned(&self) -> bool {
        self.0.traced.is_planned
    }

    fn memories(&self) -> Vec<Memory> {
        gpu::memories(&self.0.traced)
    }

    fn fill(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> String {
        let (traced, table) = (&self.0.traced, table(context, placed));
        if let Some(Finding { at, .. }) = traced.failed_assert() {
            let line = context.line(placed.range(*at).start);
            return format!("refused: the `static_assert` on line {line} fails{}", scenarios::fitting(table));
        }
        let in_force = gpu::in_force(traced, db::triton_assumed(context.db, placed.unit));
        let is_asked = !context.file.answers(context.db).is_empty();
        let question = is_asked.then(|| self.question(context, placed).ok()).flatten();
        let are_blocks_known = question.is_some_and(|question| machine_code::are_blocks_known(context, &question));
        let in_force = lens::InForce { are_blocks_known, ..in_force };
        // The compiler gives no memory to what threads compute each for itself.
        let is_nothing = |(_, high): (u64, Option<u64>)| high == Some(0);
        let are_nothing = |all: &[Taken]| all.iter().all(|taken| is_nothing(taken.amount));
        let none_in_all = table.is_none_or(|table| !table.memories.is_empty() && are_nothing(&table.memories));
        if self.0.dialect == db::Dialect::Triton && are_nothing(&in_force.memories) && none_in_all {
            return String::new();
        }
        // Next to nothing is known, and that is said better by what stands in the way.
        let is_open = |(low, high): (u64, Option<u64>)| high.is_none() && low < LEAST_SAID;
        if table.is_none()
            && in_force.memories.iter().all(|it| is_open(it.amount) || is_nothing(it.amount))
            && self.obstacle(context, placed).is_some()
        {
            return String::new();
        }
        lens::line(&in_force, table).or_else(|| possible::fitting(context, placed.unit, &in_force)).unwrap_or_default()
    }

    fn missing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<Missing> {
        missing(context, placed, self.0)
    }

    fn is_sampled(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> bool {
        possible::is_sampled(context, placed.unit) && self.missing(context, placed).is_some()
    }

    fn obstacle(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<String> {
        db::triton_needed(context.db, placed.unit).obstacle.as_ref().map(Reason::to_string)
    }

    /// Most that do not multiply take next to nothing.
    fn may_matter(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> bool {
        let multiplies = self.0.traced.program.multiplies || context.text_of(placed).contains("dot(");
        multiplies || self.0.dialect != db::Dialect::Triton
    }

    fn drawing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Drawing {
        match tlx::placed_by_specs(&self.0.traced) {
            Some(tlx) => tlx::drawing(context, placed, tlx),
            None => map::drawing(context, placed, &self.0.traced),
        }
    }

    fn packing(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> Vec<SpacePacking> {
        Vec::new()
    }

    fn details(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Details {
        let traced = &self.0.traced;
        let of_tlx = traced.tlx.as_ref();
        let mut tiles = of_tlx.map_or_else(Vec::new, |tlx| tlx::tiles(context, placed, traced, tlx));
        tiles.extend(traced.planned.plan.placed.iter().map(|it| tile(context, placed, traced, it)));
        Details {
            tiles,
            specs: of_tlx.map_or_else(Vec::new, |tlx| tlx::specs(context, placed, tlx)),
            scenarios: scenarios::views(context, placed, table(context, placed), self.0.selected),
            more_scenarios: table(context, placed).map_or(0, |table| table.more),
            uncompared: Vec::new(),
            marks: Vec::new(),
            assumes: gpu::assumes(db::triton_assumed(context.db, placed.unit)),
            compiler: None,
        }
    }

    fn diagnostics(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
        let traced = &self.0.traced;
        let mut all: Vec<Diagnostic> = traced.all_findings().map(|finding| found(placed, finding)).collect();
        if traced.failed_assert().is_none() {
            all.extend(self.0.refused.first().map(|(nth, finding)| passed_over(placed, *nth, self.0, finding)));
        }
        let notes = traced.tlx.as_ref().map_or(&traced.notes, |tlx| &tlx.kernel.notes);
        let unknown = notes.iter().map(|note| not_modelled(placed, note)).chain(unknown_sizes(placed, traced));
        let least = || db::triton_least(context.db, placed.unit);
        let exceeds = too_much(context, placed, traced, &least);
        match self.0.dialect {
            // Its authors chose none of what follows from that, so that they are told once, where it may matter, and on no device that is assumed.
            db::Dialect::Triton => {
                all.extend(unknown.take(usize::from(traced.program.multiplies)));
                all.extend(exceeds.into_iter().filter(|it| it.code != Code::MayNotFit || traced.is_device_told()));
                all.extend(possible::too_wide(context, placed, self.0));
            }
            // What is not followed of a kernel that is refused is said by the refusal, and else once.
            db::Dialect::TileLang => {
                all.extend(unknown.take(usize::from(traced.refusal().is_none())));
                all.extend(exceeds);
            }
            _ => all.extend(unknown.chain(exceeds)),
        }
        all.extend(comments::diagnostics(context, placed));
        all
    }

    fn question(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Result<Question, String> {
        db::triton_question(context.db, placed.unit)
    }

    fn recorded<'db>(&self, context: &Context<'db>, placed: &PlacedUnit<'db>) -> Option<&'db Recorded> {
        db::triton_recorded(context.db, placed.unit)
    }

    fn open(&self) -> &[OpenSearch] {
        &[]
    }

    fn outline(&self, placed: &PlacedUnit<'_>) -> Vec<Placement<'_>> {
        let mut all = named(&self.0.traced);
        all.sort_by_key(|placement| placed.range(placement.at));
        all
    }

    fn hinted(&self) -> Vec<Hinted<'_>> {
        let all = named(&self.0.traced).into_iter();
        all.map(|placement| Hinted { placement, is_unnamed: false }).collect()
    }

    fn described(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, nth: usize) -> Option<Described> {
        let at = named(&self.0.traced).get(nth)?.at;
        let markdown = hover::describe(context, placed, self.0, at)?;
        Some(Described { markdown, before: None })
    }

    fn laid_out_by(&self) -> String {
        format!("{} on {} by {}", self.0.name, self.0.traced.arch, self.planner())
    }
}

/// What has a name in the kernel's own text: of TLX the specs, then the buffers.
fn named(traced: &TracedKernel) -> Vec<Placement<'_>> {
    match &traced.tlx {
        Some(tlx) => tlx::placements(traced, tlx).collect(),
        None => placements(traced).collect(),
    }
}

fn table<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>) -> Option<&'db ScenarioTable> {
    db::triton_scenario_table(context.db, placed.unit).as_ref()
}

/// Autotuning passes over configurations that a `static_assert` refuses: a word about the first of them, at the assertion.
fn passed_over(placed: &PlacedUnit<'_>, nth: usize, jit: &TritonKernel, finding: &Finding) -> Diagnostic {
    let others = match jit.refused.len() {
        1 => String::new(),
        refused => format!(" (and {} more)", refused - 1),
    };
    Diagnostic {
        severity: Severity::Hint,
        message: format!(
            "this `static_assert` fails for configuration {} of {}{others}, which is never compiled; the memory shown is of configuration {}",
            nth + 1,
            jit.scenarios,
            jit.selected + 1
        ),
        ..found(placed, finding)
    }
}

/// Said once for all sizes that a value is missing for.
fn unknown_sizes(placed: &PlacedUnit<'_>, traced: &TracedKernel) -> Option<Diagnostic> {
    let plan = &traced.planned.plan;
    let of_plan = plan.reasons().filter(|reason| reason.remedy().is_some());
    let all: Vec<&Reason> = match &traced.tlx {
        Some(tlx) => tlx.plan.unknown.iter().collect(),
        None => of_plan.collect(),
    };
    let mut lacking: Vec<&Reason> = Vec::new();
    for reason in all {
        if !lacking.contains(&reason) {
            lacking.push(reason);
        }
    }
    let (first, rest) = lacking.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" ({} more unknown)", rest.len()) };
    Some(Diagnostic {
        range: placed.range(traced.name_origin),
        code: Code::NotModelled,
        severity: Code::NotModelled.severity(),
        message: format!("some sizes are unknown: {first}{more}"),
        related: Vec::new(),
        elsewhere: None,
    })
}

/// By whose rules memory is given out.
fn planner(kernel: &TritonKernel) -> &'static str {
    let traced = &kernel.traced;
    if let Some(planner) = traced.planner {
        return planner;
    }
    match (&traced.tlx, traced.compiler) {
        (Some(tlx), _) => tlx.plan.rules.name(),
        (None, Some(Compiler::Earlier)) => "triton before 3.7",
        (None, Some(Compiler::V3_8)) => "triton 3.8",
        (None, Some(Compiler::V3_9)) => "triton 3.9",
        (None, Some(Compiler::Fork)) => "triton fork",
        (None, None) => "triton",
    }
}
