//! TLX kernels in the editor: the same features as for tiles, over specs and buffers.

pub(super) mod actions;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use tilelens_syntax::TextRange;
use tilelens_syntax::ast::Expr;

use crate::db::{self, Survey, TlxKernel};
use crate::diagnostics::Code;
use crate::ir::Reason;
use crate::tlx::budgets::requested_columns;
use crate::tlx::kernel::{Buffer, BufferKind, Known, Spec};
use crate::tlx::language::Storage;
use crate::tlx::plan::{MOST_RANGES, Place};
use crate::tlx::{Backing, BufferId, SpecId, advice};

use super::diagnostics::{Diagnostic, found, not_modelled};
use super::hover::Hover;
use super::plan_view::{PlanDiagnostic, SpacePlan, TilePlan};
use super::{CodeLens, Context, InlayHint, KernelPlan, LensCommand, PlacedUnit, Symbol, SymbolKind, layout};

/// A spec in `tilelens plan --format json`. Sizes in bytes, the rest in bytes or columns; `None` is what is not known.
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
        status: if plan.is_exact(kernel) { "exact" } else { "partial" },
        reasons: reasons.map(|reason| reason.0.clone()).collect(),
        target: plan.arch.name(),
        planner: plan.rules.name(),
        spaces,
        tiles: kernel.buffer_ids().filter_map(|id| tile(context, placed, tlx, id)).collect(),
        specs: kernel.spec_ids().map(|id| spec_view(context, placed, tlx, id)).collect(),
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
            ranges: place.into_iter().flat_map(Place::ranges).map(|(from, to)| [from, to]).collect(),
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

pub(crate) fn code_lens(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel) -> CodeLens {
    let range = placed.range(tlx.kernel.name_origin);
    let survey = match db::tlx_survey(context.db, placed.unit, context.settings) {
        Some(Survey { fits, known }) => format!(" · fits {fits} of {known} configurations"),
        None => String::new(),
    };
    CodeLens { range, title: title(tlx) + &survey, command: LensCommand::ShowMemoryMap }
}

/// `@64 +32 cols` behind a member of an overlap tree, `32 KiB` behind memory of its own.
pub(crate) fn inlay_hints(placed: &PlacedUnit<'_>, tlx: &TlxKernel, range: TextRange) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    let tooltip = format!("{} on {} by the rules of the {}", tlx.kernel.name, tlx.plan.arch, tlx.plan.rules.name());
    let mut add = |origin, label: Option<String>| {
        let offset = placed.range(origin).end;
        let in_range = offset >= range.start && offset <= range.end;
        if let Some(label) = label.filter(|_| in_range)
            && !hints.iter().any(|hint| hint.offset == offset)
        {
            hints.push(InlayHint { offset, label, tooltip: tooltip.clone() });
        }
    };
    for id in tlx.kernel.spec_ids() {
        let spec = tlx.kernel.spec(id);
        add(spec.name_at, spec_label(tlx, id));
    }
    for id in tlx.kernel.buffer_ids() {
        let buffer = tlx.kernel.buffer(id);
        add(buffer.name_at, tlx.plan.place(id).map(place_label));
    }
    hints
}

fn spec_label(tlx: &TlxKernel, id: SpecId) -> Option<String> {
    let extent = tlx.plan.spec(id)?.extent.as_ref().ok()?;
    Some(amount(*extent, *tlx.kernel.spec(id).storage.as_ref().ok()?))
}

fn place_label(place: &Place) -> String {
    let storage = place.sized.storage;
    match place.placement {
        Some(placement) => {
            let units = if storage == Storage::Tmem { "cols" } else { "B" };
            format!("@{} +{} {units}", placement.offset, place.sized.unit)
        }
        None => amount(place.sized.allocated(), storage),
    }
}

fn amount(units: u64, storage: Storage) -> String {
    match storage {
        Storage::Tmem => format!("{units} cols"),
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
        child(&buffer.name, buffer.name_at, tlx.plan.place(id).map_or_else(|| "?".to_owned(), place_label))
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

/// What is known of the spec, buffer or parameter whose name is at `offset`.
pub(crate) fn hover(context: &Context<'_>, placed: &PlacedUnit<'_>, tlx: &TlxKernel, offset: usize) -> Option<Hover> {
    let ast = db::syntax(context.db, placed.unit);
    let (range, name) = ast.exprs().find_map(|(id, expr)| match expr {
        Expr::Name(name) => {
            let range = placed.spans.expr(id).shifted(placed.start);
            range.touches(offset).then_some((range, name.as_str()))
        }
        _ => None,
    })?;
    let kernel = &tlx.kernel;
    // Of several of one name: the last that is bound before, else the first.
    let latest = |candidates: Vec<(usize, TextRange)>| {
        let before = candidates.iter().rev().find(|(_, at)| at.start <= range.start);
        before.or(candidates.first()).map(|&(index, _)| index as u32)
    };
    let bound = |named: &str, at| (named == name).then(|| placed.range(at));
    let buffers = kernel.buffers.iter().enumerate();
    let buffers = buffers.filter_map(|(i, buffer)| Some((i, bound(&buffer.name, buffer.name_at)?))).collect();
    let specs = kernel.specs.iter().enumerate();
    let specs = specs.filter_map(|(i, spec)| Some((i, bound(&spec.name, spec.name_at)?))).collect();
    let markdown = match (latest(buffers), latest(specs)) {
        (Some(buffer), _) => describe_buffer(tlx, BufferId(buffer)),
        (None, Some(spec)) => describe_spec(tlx, SpecId(spec)),
        (None, None) => describe_param(tlx, name)?,
    };
    Some(Hover { range, markdown })
}

fn describe_param(tlx: &TlxKernel, name: &str) -> Option<String> {
    let param = tlx.kernel.params.iter().find(|param| param.name == name)?;
    let value = match &param.value {
        crate::eval::Constant::Unknown(reason) => return Some(format!("`{name}` is not known: {}", reason.0)),
        value => display(value),
    };
    Some(format!("`{name} = {value}`, from {}", param.from.as_deref().unwrap_or("the text")))
}

fn display(value: &crate::eval::Constant) -> String {
    use crate::eval::Constant;
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

fn unknown<T>(value: &Known<T>) -> Option<&Reason> {
    value.as_ref().err()
}

fn describe_buffer(tlx: &TlxKernel, id: BufferId) -> String {
    let buffer = tlx.kernel.buffer(id);
    let mut text = String::new();
    let Some(place) = tlx.plan.place(id) else {
        let reasons = [unknown(&buffer.shape), unknown(&buffer.dtype), unknown(&buffer.num), unknown(&buffer.storage)];
        let _ = writeln!(text, "`{}`: the size is not known", buffer.name);
        for reason in reasons.into_iter().flatten() {
            let _ = writeln!(text, "* {}", reason.0);
        }
        return text;
    };
    let sized = &place.sized;
    let (storage, units) = (sized.storage, sized.storage.units());
    let shape: Vec<_> = sized.shape.iter().map(u64::to_string).collect();
    let what = match buffer.kind {
        BufferKind::Data => "buffers",
        BufferKind::Barrier { .. } => "barriers",
        BufferKind::Response => "responses",
    };
    let _ = writeln!(
        text,
        "```python\n{}: {} {what} of ({}) tl.{}\n```\n",
        buffer.name,
        sized.num,
        shape.join(", "),
        sized.dtype
    );
    let _ = writeln!(text, "| | |\n|---|---|\n| storage | {storage} |\n| one buffer | {} {units} |", sized.unit);
    let _ = writeln!(text, "| {} | {} |", backing(tlx, buffer).0, backing(tlx, buffer).1);
    if let Some(placement) = place.placement {
        let _ = writeln!(text, "| offset, stride | {}, {} {units} |", placement.offset, placement.stride);
        let rewriting = place.rewriting;
        if !rewriting.is_identity() {
            let inner =
                if rewriting.group_size > 1 { format!(" + i % {}", rewriting.group_size) } else { String::new() };
            let slots = format!("{} · i + {}{inner}", rewriting.scale, rewriting.offset_slots);
            let _ = writeln!(text, "| slot of `{}[i]` | {slots} of {} |", buffer.name, rewriting.new_num);
        }
    }
    let listed = place.ranges().take(8).enumerate();
    let ranges: Vec<_> = listed.map(|(i, (from, to))| format!("`[{i}]` {from}–{to}")).collect();
    let more = if sized.num.min(MOST_RANGES) > 8 { ", …" } else { "" };
    let _ = writeln!(text, "| {units} | {}{more} |", ranges.join(", "));
    let _ = writeln!(text, "| of the kernel | {} |", title(tlx));
    if !buffer.certain {
        let _ = writeln!(text, "\nAllocated under a condition that is not known.");
    }
    text
}

fn backing(tlx: &TlxKernel, buffer: &Buffer) -> (&'static str, String) {
    match &buffer.backing {
        Backing::Own => ("memory", "its own".to_owned()),
        Backing::Spec(spec) => ("spec", format!("`{}`", tlx.kernel.spec(*spec).name)),
        Backing::Alias(base) => ("reuses", format!("`{}`", tlx.kernel.buffer(*base).name)),
        Backing::Unknown(reason) => ("reuses", format!("not known: {}", reason.0)),
    }
}

fn describe_spec(tlx: &TlxKernel, id: SpecId) -> String {
    let spec: &Spec = tlx.kernel.spec(id);
    let mut text = String::new();
    let storage = spec.storage.as_ref().map_or("?", |storage| storage.name());
    let units = spec.storage.as_ref().map_or("bytes", |storage| storage.units());
    let _ = writeln!(text, "```python\n{}: storage_alias_spec in {storage}\n```\n\n| | |\n|---|---|", spec.name);
    let Some(plan) = tlx.plan.spec(id) else { return text };
    match &plan.size {
        Ok(size) => {
            let _ = writeln!(text, "| size | {} bytes |", size.bytes);
        }
        Err(reason) => {
            let _ = writeln!(text, "| size | not known: {} |", reason.0);
        }
    }
    if let Ok(extent) = plan.extent {
        let wasted = advice::unused(&tlx.kernel, &tlx.plan, id, extent);
        let _ =
            writeln!(text, "| allocated in the end | {extent} {units} |\n| belongs to no buffer | {wasted} {units} |");
    }
    if let Some(stride) = plan.stride {
        let _ = writeln!(text, "| one buffer of all | {stride} {units} |");
    }
    for user in tlx.kernel.users(id) {
        let name = &tlx.kernel.buffer(user).name;
        let place = match tlx.plan.place(user) {
            Some(place) => format!("{} × {} {units}, from {}", place.sized.num, place.sized.unit, place.range(0).0),
            None => "not known".to_owned(),
        };
        let _ = writeln!(text, "| `{name}` | {place} |");
    }
    let _ = writeln!(text, "| of the kernel | {} |", title(tlx));
    text
}
