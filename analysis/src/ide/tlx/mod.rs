//! TLX kernels in the editor: the same features as for tiles, over specs and buffers.

pub(super) mod actions;
mod hover;
mod names;
mod scenarios;

use std::collections::BTreeMap;

use serde::Serialize;
use tilefit_syntax::TextRange;

use crate::db::TlxKernel;
use crate::diagnostics::Code;
use crate::eval::Constant;
use crate::tlx::budgets::requested_columns;
use crate::tlx::language::Storage;
use crate::tlx::plan::PlacedBuffer;
use crate::tlx::{Backing, BufferId, SpecId};

pub(crate) use hover::hover;
pub(crate) use names::sharing;
pub use scenarios::ScenarioView;

use super::diagnostics::{Diagnostic, found, not_modelled};
use super::plan_view::{PlanDiagnostic, SpacePlan, TilePlan};
use super::{Context, InlayHint, KernelPlan, PlacedUnit, Symbol, SymbolKind, layout};

/// A spec in `tilefit plan --format json`. Sizes in bytes, the rest in bytes or columns; `None` is what is not known.
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

/// Everything that is wrong with a kernel or not known of it.
pub(crate) fn diagnostics(placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Vec<Diagnostic> {
    let (kernel, plan) = (&tlx.kernel, &tlx.plan);
    let findings = kernel.findings.iter().chain(&plan.findings).map(|finding| found(placed, finding));
    let notes = kernel.notes.iter().map(|note| not_modelled(placed, note));
    let mut diagnostics: Vec<_> = findings.chain(notes).collect();
    if let Some(condition) = kernel.contradiction {
        diagnostics.push(Diagnostic {
            range: placed.range(crate::ir::Origin::Expr(condition)),
            code: Code::NotModelled,
            severity: Code::NotModelled.severity(),
            message: "no known scenario satisfies this static_assert, so the sizes shown may never be compiled"
                .to_owned(),
            related: Vec::new(),
        });
    }
    diagnostics.extend(unknown_sizes(placed, tlx));
    diagnostics
}

/// Said once for all sizes that are not known.
fn unknown_sizes(placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Option<Diagnostic> {
    let (first, rest) = tlx.plan.unknown.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" ({} more)", rest.len()) };
    Some(Diagnostic {
        range: placed.range(tlx.kernel.name_origin),
        code: Code::NotModelled,
        severity: Code::NotModelled.severity(),
        message: format!("not modelled: some sizes are not known: {}{more}", first.0),
        related: Vec::new(),
    })
}

pub(crate) fn kernel_plan(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> KernelPlan {
    let (kernel, plan) = (&tlx.kernel, &tlx.plan);
    let reasons = kernel.notes.iter().map(|note| &note.reason).chain(&plan.unknown);
    let mut spaces = BTreeMap::new();
    let mut space = |name, used, capacity| {
        spaces.insert(name, SpacePlan { used, capacity: Some(capacity), peak: used, packing: None })
    };
    space("smem", plan.smem.all, plan.arch.smem());
    if plan.arch.tmem() > 0 {
        space("tmem", requested_columns(plan.tmem.all), plan.arch.tmem());
    }
    let diagnostics = diagnostics(placed, tlx).into_iter().map(|diagnostic| PlanDiagnostic {
        code: diagnostic.code.name(),
        severity: diagnostic.severity.name(),
        line: context.line(diagnostic.range.start),
        message: diagnostic.message,
    });
    KernelPlan {
        name: context.qualified_name(placed.unit, &kernel.name),
        line: context.line(placed.range(kernel.name_origin).start),
        status: plan.status(kernel).name(),
        uncompared: Vec::new(),
        marks: Vec::new(),
        reasons: reasons.map(|reason| reason.0.clone()).collect(),
        assumes: Vec::new(),
        target: plan.arch.name(),
        planner: plan.rules.name(),
        compiler: None,
        spaces,
        tiles: kernel.buffer_ids().filter_map(|id| tile(context, placed, tlx, id)).collect(),
        specs: kernel.spec_ids().map(|id| spec_view(context, placed, tlx, id)).collect(),
        scenarios: scenarios::views(context, placed, tlx),
        diagnostics: diagnostics.collect(),
    }
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
        name: buffer.name.clone(),
        line,
        space: Some(place.sized.storage.name()),
        shape: [place.sized.num].into_iter().chain(place.sized.shape.iter().copied()).collect(),
        dtype: place.sized.dtype.name,
        bytes: place.sized.bytes().saturating_mul(place.sized.num),
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
    let mut parts = vec![format!("SMEM ≥ {}/{}", plan.smem.all, plan.arch.smem())];
    if plan.arch.tmem() > 0 && plan.tmem.all > 0 {
        parts.push(format!("TMEM {}/{}", requested_columns(plan.tmem.all), plan.arch.tmem()));
    }
    format!("{}{partly}", parts.join(" · "))
}

pub(crate) fn lens_title(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> String {
    let survey = match scenarios::survey(context, placed).map(|survey| survey.fits()) {
        Some((fits, known)) if known > 0 => format!(" · fits {fits} of {known} configurations"),
        _ => String::new(),
    };
    title(tlx) + &survey
}

/// `@64 +32 cols` after a member of an overlap tree, `32 KiB` after memory of its own.
pub(crate) fn inlay_hints(placed: &PlacedUnit<'_>, tlx: &TlxKernel, range: TextRange) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    let tooltip = format!("{} on {} by the rules of the {}", tlx.kernel.name, tlx.plan.arch, tlx.plan.rules.name());
    let mut add = |origin, label: Option<String>| {
        let offset = placed.range(origin).end;
        let in_range = offset >= range.start && offset <= range.end;
        if let Some(label) = label.filter(|_| in_range)
            && !hints.iter().any(|hint| hint.offset == offset)
        {
            hints.push(InlayHint { offset, label, tooltip: tooltip.clone(), in_front: false });
        }
    };
    for id in tlx.kernel.spec_ids() {
        let spec = tlx.kernel.spec(id);
        add(spec.name_at, spec_label(tlx, id));
    }
    for id in tlx.kernel.buffer_ids() {
        let buffer = tlx.kernel.buffer(id);
        add(buffer.name_at, tlx.plan.place(id).map(|place| place_label(tlx, place)));
    }
    hints
}

fn spec_label(tlx: &TlxKernel, id: SpecId) -> Option<String> {
    let extent = tlx.plan.spec(id)?.extent.as_ref().ok()?;
    Some(amount(tlx, *extent, *tlx.kernel.spec(id).storage.as_ref().ok()?))
}

fn place_label(tlx: &TlxKernel, place: &PlacedBuffer) -> String {
    let storage = place.sized.storage;
    match place.placement {
        Some(placement) => {
            let units = if tlx.plan.units(storage) == "columns" { "cols" } else { "B" };
            format!("@{} +{} {units}", placement.offset, place.sized.unit)
        }
        None => amount(tlx, place.sized.allocated(), storage),
    }
}

fn amount(tlx: &TlxKernel, units: u64, storage: Storage) -> String {
    match tlx.plan.units(storage) {
        "columns" => format!("{units} cols"),
        _ => layout::bytes(units),
    }
}

pub(crate) fn symbol(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> Symbol {
    let kernel = &tlx.kernel;
    let child = |name: &str, origin, detail: String| {
        let range = placed.range(origin);
        Symbol { name: name.to_owned(), detail, kind: SymbolKind::Tile, range, selection: range, children: vec![] }
    };
    let specs = kernel.spec_ids().map(|id| {
        let spec = kernel.spec(id);
        child(&spec.name, spec.name_at, spec_label(tlx, id).unwrap_or_else(|| "?".to_owned()))
    });
    let buffers = kernel.buffer_ids().map(|id| {
        let buffer = kernel.buffer(id);
        child(
            &buffer.name,
            buffer.name_at,
            tlx.plan.place(id).map_or_else(|| "?".to_owned(), |place| place_label(tlx, place)),
        )
    });
    let selection = placed.range(kernel.name_origin);
    let whole = placed.range(kernel.origin);
    let mut children: Vec<_> = specs.chain(buffers).collect();
    children.sort_by_key(|child| child.range);
    Symbol {
        name: context.qualified_name(placed.unit, &kernel.name),
        detail: format!("{} kernel", tlx.plan.arch),
        kind: SymbolKind::Kernel,
        range: TextRange::new(whole.start.min(selection.start), whole.end.max(selection.end)),
        selection,
        children,
    }
}

/// As Python writes it.
fn display(value: &Constant) -> String {
    match value {
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => value.get().to_string(),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Str(value) => format!("\"{value}\""),
        Constant::None => "None".to_owned(),
        Constant::Member(name) => name.clone(),
        Constant::List(values) | Constant::Tuple(values) => {
            format!("({})", values.iter().map(display).collect::<Vec<_>>().join(", "))
        }
        _ => "…".to_owned(),
    }
}
