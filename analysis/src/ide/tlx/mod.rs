//! TLX kernels in the editor: the same features as for tiles, over specs and buffers.

mod actions;
#[cfg(test)]
mod constructs;
mod hover;
mod lowered;
mod map;
mod names;

use std::ops::Range;

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::plan::{Occupant, Placed};
use tilefit_gpu::tensor_memory::requested_columns;
use tilefit_gpu::tlx::language::{canonical, has_tlx};
use tilefit_gpu::tlx::plan::PlacedBuffer;
use tilefit_gpu::tlx::{Backing, BufferId, SpecId};
use tilefit_gpu::vocabulary;
use tilefit_pypto::memory::OpenSearch;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;
use tilefit_syntax::TextRange;

use crate::confirm::Question;
use crate::db::{self, Dumped, ScenarioTable, TlxKernel, TracedKernel, Unit};
use crate::project::Config;

use super::code_actions::suggested_names;
use super::cursor_context::Dialect;
use super::diagnostics::{Diagnostic, found, not_modelled};
use super::gpu::actions::missing_values;
use super::gpu::lens::{self, InForce};
use super::gpu::{self, comments, scenarios};
use super::language::{
    self, Amount, Described, Extent, Hinted, KernelDeclaration, KernelView, Language, Memory, Missing, Placement, Site,
    Value, ValueKind, Values,
};
use super::memory_map::Drawing;
use super::plan_view::{AllocationView, Details, SpacePacking, SpecView, TilePlan};
use super::{CodeAction, Context, Hover, LoweredIr, PlacedUnit};

pub(super) struct Tlx;

static DIALECT: Dialect = Dialect {
    is_decorator: |db, file, path| {
        let imports = db::triton_imports(db, file);
        has_tlx(imports) && canonical(imports, path).as_deref() == Some("triton.jit")
    },
    canonical: |db, file, path| canonical(db::triton_imports(db, file), path),
    words: vocabulary::TLX,
    root: None,
    has_tiles: false,
};

impl Language for Tlx {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn claims(&self, context: &Context<'_>, unit: Unit<'_>) -> bool {
        kernel(context, unit).is_some()
    }

    fn declared<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>> {
        let tlx = kernel(context, unit).into_iter();
        tlx.map(|tlx| KernelDeclaration { name: &tlx.kernel.name, at: tlx.kernel.name_origin }).collect()
    }

    fn kernels<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Vec<language::View<'db>> {
        kernel(context, unit).into_iter().map(|tlx| Box::new(View(tlx)) as language::View<'db>).collect()
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
        Some(names::sharing(context, placed, kernel(context, placed.unit)?, offset))
    }

    fn values<'db>(&self, context: &Context<'db>, unit: Unit<'db>) -> Option<Values<'db>> {
        let tlx = kernel(context, unit)?;
        Some(Box::new(|name| {
            let detail = names::described(tlx, name)?;
            Some(Value { kind: ValueKind::Other, detail })
        }))
    }

    fn actions(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
        let tlx = kernel(context, placed.unit);
        let mut all = tlx.map_or_else(Vec::new, |tlx| actions::actions(context, placed, tlx, range));
        all.extend(comments::actions(context, placed, range));
        all.extend(suggested_names(context, placed, range));
        all
    }

    fn lowered_ir(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<(TextRange, LoweredIr)> {
        Some(lowered::lowered_ir(context, placed, kernel(context, placed.unit)?))
    }

    #[cfg(test)]
    fn constructs(&self) -> Vec<super::tests::growth::Construct> {
        constructs::constructs()
    }
}

/// The kernel that a unit is.
fn kernel<'db>(context: &Context<'db>, unit: Unit<'db>) -> Option<&'db TlxKernel> {
    db::tlx_kernel(context.db, unit).as_deref()
}

/// A kernel under the scenario in force.
struct View<'db>(&'db TlxKernel);

impl KernelView for View<'_> {
    fn name(&self) -> &str {
        &self.0.kernel.name
    }

    fn name_origin(&self) -> Origin {
        self.0.kernel.name_origin
    }

    fn origin(&self) -> Origin {
        self.0.kernel.origin
    }

    fn target(&self) -> &'static str {
        self.0.plan.arch.name()
    }

    fn is_target_assumed(&self) -> bool {
        self.0.traced.as_ref().is_some_and(|traced| !traced.is_device_told())
    }

    fn planner(&self) -> &'static str {
        self.0.plan.rules.name()
    }

    fn status(&self) -> Status {
        let status = self.0.plan.status(&self.0.kernel);
        let status = match (&self.0.traced, status) {
            // The buffers are known: how far the rest is decides.
            (Some(_), Status::Exact | Status::Partial) => {
                let both = |is: fn(Amount) -> bool| memories(self.0).iter().all(|memory| is(memory.used));
                match () {
                    () if status == Status::Exact && both(|used| used.exactly().is_some()) => Status::Exact,
                    () if both(|used| used.high().is_some()) && status == Status::Exact => Status::Bounded,
                    () => Status::Partial,
                }
            }
            _ => status,
        };
        if status == Status::Exact && !assumed(self.0).is_empty() { Status::Predicted } else { status }
    }

    fn reasons(&self) -> Vec<String> {
        let notes = self.0.kernel.notes.iter().map(|note| &note.reason);
        let mut reasons: Vec<String> = notes.chain(&self.0.plan.unknown).map(|reason| reason.to_string()).collect();
        let traced = self.0.traced.iter().flat_map(|traced| &traced.planned.plan.shared.reasons);
        for reason in traced.map(|reason| reason.to_string()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    fn is_planned(&self) -> bool {
        true
    }

    fn memories(&self) -> Vec<Memory> {
        memories(self.0)
    }

    fn fill(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> String {
        fill(context, placed, self.0)
    }

    fn missing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<Missing> {
        missing(context, placed, self.0)
    }

    fn drawing(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Drawing {
        match placed_by_allocator(self.0) {
            Some(traced) => gpu::map::drawing(context, placed, traced),
            None => map::drawing(context, placed, self.0),
        }
    }

    fn packing(&self, _: &Context<'_>, _: &PlacedUnit<'_>) -> Vec<SpacePacking> {
        Vec::new()
    }

    fn details(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Details {
        details(context, placed, self.0)
    }

    fn diagnostics(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Diagnostic> {
        let mut all = diagnostics(placed, self.0);
        if let Some(traced) = &self.0.traced {
            // The allocator knows better than a sum of buffers.
            all.retain(|it| it.code != Code::CapacityExceeded);
            all.extend(traced.findings.iter().map(|finding| found(placed, finding)));
            let least = || db::tlx_least(context.db, placed.unit);
            all.extend(gpu::too_much(context, placed, traced, &least));
        }
        all.extend(comments::diagnostics(context, placed));
        all
    }

    fn question(&self, context: &Context<'_>, placed: &PlacedUnit<'_>) -> Result<Question, String> {
        db::tlx_question(context.db, placed.unit)
    }

    fn open(&self) -> &[OpenSearch] {
        &[]
    }

    fn outline(&self, placed: &PlacedUnit<'_>) -> Vec<Placement<'_>> {
        let mut placements: Vec<_> = placements(self.0).collect();
        placements.sort_by_key(|placement| placed.range(placement.at));
        placements
    }

    fn hinted(&self) -> Vec<Hinted<'_>> {
        placements(self.0).map(|placement| Hinted { placement, is_unnamed: false }).collect()
    }

    fn described(&self, context: &Context<'_>, placed: &PlacedUnit<'_>, nth: usize) -> Option<Described> {
        let offset = placed.range(placements(self.0).nth(nth)?.at).end;
        let Hover { markdown, .. } = hover::hover(context, placed, self.0, offset)?;
        Some(Described { markdown, before: None })
    }

    fn laid_out_by(&self) -> String {
        let (kernel, plan) = (&self.0.kernel, &self.0.plan);
        format!("{} on {} by the rules of the {}", kernel.name, plan.arch, plan.rules.name())
    }
}

/// What shared memory takes as the allocator gives it out; columns of tensor memory by that and by the rules for specs, where they differ.
fn memories(tlx: &TlxKernel) -> Vec<Memory> {
    let plan = &tlx.plan;
    let memory = |name, used: Amount, capacity| Memory { name, used, peak: used.low(), capacity: Some(capacity) };
    let smem = match &tlx.traced {
        Some(traced) => Amount::Between(traced.planned.plan.shared.low, traced.planned.plan.shared.high),
        None => Amount::Exactly(plan.smem.all),
    };
    let mut memories = vec![memory("smem", smem, plan.arch.smem())];
    if plan.arch.tmem() > 0 {
        let columns = requested_columns(plan.tmem.all);
        let tmem = match &tlx.traced {
            Some(traced) => {
                let traced = &traced.planned.plan.tensor;
                Amount::Between(columns.min(traced.low), traced.high.map(|high| high.max(columns)))
            }
            None => Amount::Exactly(columns),
        };
        memories.push(memory("tmem", tmem, plan.arch.tmem()));
    }
    memories
}

/// The kernel as the allocator lays it out, where that gives addresses, or bounds.
fn placed_by_allocator(tlx: &TlxKernel) -> Option<&TracedKernel> {
    let has_places = |traced: &TracedKernel| traced.planned.plan.placed.iter().any(|it| it.offset.is_some());
    tlx.traced.as_ref().filter(|traced| traced.planned.plan.shared.high.is_some() || has_places(traced))
}

/// Specs, then buffers.
fn placements(tlx: &TlxKernel) -> impl Iterator<Item = Placement<'_>> {
    let specs = tlx.kernel.spec_ids().map(|id| of_spec(tlx, id));
    specs.chain(tlx.kernel.buffer_ids().map(|id| of_buffer(tlx, id)))
}

/// Everything that is wrong with a kernel or not known of it.
fn diagnostics(placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Vec<Diagnostic> {
    let (kernel, plan) = (&tlx.kernel, &tlx.plan);
    let findings = kernel.findings.iter().chain(&plan.findings).map(|finding| found(placed, finding));
    let notes = kernel.notes.iter().map(|note| not_modelled(placed, note));
    let mut diagnostics: Vec<_> = findings.chain(notes).collect();
    diagnostics.extend(unknown_sizes(placed, tlx));
    diagnostics
}

/// Said once for all sizes that are not known.
fn unknown_sizes(placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Option<Diagnostic> {
    let (first, rest) = tlx.plan.unknown.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" ({} more unknown)", rest.len()) };
    Some(Diagnostic {
        range: placed.range(tlx.kernel.name_origin),
        code: Code::NotModelled,
        severity: Code::NotModelled.severity(),
        message: format!("some sizes are unknown: {first}{more}"),
        related: Vec::new(),
        elsewhere: None,
    })
}

fn details(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Details {
    let kernel = &tlx.kernel;
    let mut tiles: Vec<TilePlan> = kernel.buffer_ids().filter_map(|id| tile(context, placed, tlx, id)).collect();
    if let Some(traced) = &tlx.traced {
        tiles = kernel.buffer_ids().filter_map(|id| unplaced(context, placed, tlx, traced, id)).collect();
        tiles.extend(traced.planned.plan.placed.iter().map(|it| gpu::tile(context, placed, traced, it)));
    }
    Details {
        tiles,
        specs: kernel.spec_ids().map(|id| spec_view(context, placed, tlx, id)).collect(),
        scenarios: scenarios::views(context, placed, table(context, placed), tlx.selected),
        more_scenarios: table(context, placed).map_or(0, |table| table.more),
        uncompared: Vec::new(),
        marks: Vec::new(),
        assumes: gpu::assumes(assumed(tlx)),
        compiler: None,
    }
}

/// A buffer to which the allocator gives nothing: it lies within a spec or another buffer, or is unused.
fn unplaced(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    tlx: &TlxKernel,
    traced: &TracedKernel,
    id: BufferId,
) -> Option<TilePlan> {
    let buffer = tlx.kernel.buffer(id);
    let tile = tile(context, placed, tlx, id)?;
    if !matches!(buffer.backing, Backing::Own) {
        return Some(TilePlan { kind: "view", ..tile });
    }
    let is_placed = |it: &Placed| match it.what {
        Occupant::Buffer(id) => traced.program.buffers[id.0 as usize].at.call == buffer.at,
        _ => false,
    };
    let is_known = traced.planned.plan.shared.high.is_some();
    let kind = if is_known { "unused" } else { "def" };
    (!traced.planned.plan.placed.iter().any(is_placed)).then_some(TilePlan { kind, ..tile })
}

fn tile(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel, id: BufferId) -> Option<TilePlan> {
    let buffer = tlx.kernel.buffer(id);
    let place = tlx.plan.place(id)?;
    let line = context.line(placed.range(buffer.at).start);
    let backing = match buffer.backing {
        Backing::Spec(spec) => Some(tlx.kernel.spec(spec).name.clone()),
        Backing::Alias(base) => Some(tlx.kernel.buffer(base).name.clone()),
        Backing::Own | Backing::Unknown(_) => None,
    };
    Some(TilePlan {
        copy: None,
        name: buffer.name.clone(),
        label: buffer.name.clone(),
        line,
        space: Some(place.sized.storage.name()),
        shape: [place.sized.num].into_iter().chain(place.sized.shape.iter().copied()).collect(),
        dtype: place.sized.dtype.name,
        bytes: place.sized.bytes().saturating_mul(place.sized.num),
        at_least: place.sized.bytes().saturating_mul(place.sized.num),
        buffer: backing,
        address: place.placement.map(|placement| placement.offset),
        first_line: line,
        last_line: line,
        inserted: false,
        kind: "def",
    })
}

fn spec_view(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel, id: SpecId) -> SpecView {
    let spec = tlx.kernel.spec(id);
    let plan = tlx.plan.spec(id);
    let allocation = |user: BufferId| {
        let buffer = tlx.kernel.buffer(user);
        let place = tlx.plan.place(user);
        let placement = place.and_then(|place| place.placement);
        let rewriting = place.map(|place| place.rewriting);
        AllocationView {
            name: buffer.name.clone(),
            line: context.line(placed.range(buffer.at).start),
            num: place.map(|place| place.sized.num),
            unit_size: place.map(|place| place.sized.unit),
            offset: placement.map(|placement| placement.offset),
            stride: placement.map(|placement| placement.stride),
            scale: placement.and(rewriting).map(|rewriting| rewriting.scale),
            offset_slots: placement.and(rewriting).map(|rewriting| rewriting.offset_slots),
            new_num: rewriting.map(|rewriting| rewriting.new_num),
            ranges: place.into_iter().flat_map(PlacedBuffer::ranges).map(|(from, to)| [from, to]).collect(),
        }
    };
    SpecView {
        name: spec.name.clone(),
        line: context.line(placed.range(spec.at).start),
        storage: spec.storage.as_ref().ok().map(|storage| storage.name()),
        size: plan.and_then(|plan| plan.size.as_ref().ok()).map(|size| size.bytes),
        extent: plan.and_then(|plan| plan.extent.as_ref().ok()).copied(),
        allocations: tlx.kernel.users(id).map(allocation).collect(),
    }
}

/// `SMEM ≥ 229376/232448 · TMEM 512/512`
fn title(tlx: &TlxKernel) -> String {
    let plan = &tlx.plan;
    let partly = if plan.is_exact(&tlx.kernel) { "" } else { " · partly known" };
    let (smem, low) = match &tlx.traced {
        Some(traced) => (gpu::amount(&traced.planned.plan.shared), traced.planned.plan.shared.low),
        None => (format!("≥ {}", plan.smem.all), plan.smem.all),
    };
    let mut parts = vec![gpu::part("SMEM", &smem, low, plan.arch.smem(), "bytes")];
    if plan.arch.tmem() > 0 && plan.tmem.all > 0 {
        let columns = requested_columns(plan.tmem.all);
        parts.push(gpu::part("TMEM", &columns.to_string(), columns, plan.arch.tmem(), "columns"));
    }
    format!("{}{partly}", parts.join(" · "))
}

/// What nothing says and the plan rests on.
fn assumed(tlx: &TlxKernel) -> &[Assumed] {
    tlx.traced.as_ref().map_or(&[], |traced| &traced.assumed)
}

fn table<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>) -> Option<&'db ScenarioTable> {
    db::tlx_scenario_table(context.db, placed.unit).as_ref()
}

fn missing(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Option<Missing> {
    missing_values(context, placed, tlx.kernel.origin, &db::tlx_needed_values(context.db, placed.unit))
}

/// With what the scenarios come to.
fn fill(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> String {
    let partly = if tlx.plan.is_exact(&tlx.kernel) { "" } else { " · partly known" };
    // A sum of buffers is the least that there is.
    let high = |used: Amount| tlx.traced.as_ref().and_then(|_| used.high());
    let total = |nth: usize| memories(tlx).get(nth).map_or((0, Some(0)), |it| (it.used.low(), high(it.used)));
    let in_force = InForce { arch: tlx.plan.arch, assumed: assumed(tlx), smem: total(0), tmem: total(1) };
    lens::line(&in_force, table(context, placed)).map_or_else(String::new, |line| line + partly)
}

fn of_spec(tlx: &TlxKernel, id: SpecId) -> Placement<'_> {
    let spec = tlx.kernel.spec(id);
    let extent = || {
        if let Some(extent) = tlx.traced.as_ref().and_then(|traced| gpu::extent(traced, spec.name_at)) {
            return Some(extent);
        }
        let size = *tlx.plan.spec(id)?.extent.as_ref().ok()?;
        let unit = tlx.plan.units(*spec.storage.as_ref().ok()?);
        Some(Extent { site: Site::Allocation, size, unit, times: 1 })
    };
    Placement { name: &spec.name, at: spec.name_at, extent: extent() }
}

fn of_buffer(tlx: &TlxKernel, id: BufferId) -> Placement<'_> {
    let buffer = tlx.kernel.buffer(id);
    let extent = tlx.plan.place(id).map(|place| {
        let (site, size) = match place.placement {
            Some(placement) => (Site::Within { offset: placement.offset }, place.sized.unit),
            None => (Site::Allocation, place.sized.allocated()),
        };
        let of_its_own = || gpu::extent(tlx.traced.as_ref()?, buffer.name_at);
        if place.placement.is_none()
            && let Some(extent) = of_its_own()
        {
            return extent;
        }
        Extent { site, size, unit: tlx.plan.units(place.sized.storage), times: 1 }
    });
    Placement { name: &buffer.name, at: buffer.name_at, extent }
}
