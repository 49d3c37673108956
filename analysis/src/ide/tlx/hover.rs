//! What is known of a name in a kernel of TLX.

use std::fmt::Write;

use tilefit_gpu::tlx::kernel::{Buffer, BufferKind, Known, Spec};
use tilefit_gpu::tlx::placed::MOST_RANGES;
use tilefit_gpu::tlx::{Backing, BufferId, SpecId, advice};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Expr;

use crate::db::{self, TlxPart, TracedKernel};
use crate::ide::gpu::scenarios::display;
use crate::ide::language::Hover;
use crate::ide::{Context, PlacedUnit, gpu};

use super::names::{self, Named, What};

/// What is known of the spec, buffer or constant whose name is at `offset`.
pub(in crate::ide) fn hover(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    tlx: &TlxPart,
    offset: usize,
) -> Option<Hover> {
    let Named { range, name, what } = names::at(context, placed, tlx, offset)?;
    let markdown = match what {
        What::Buffer(id) => describe_buffer(context, placed, traced, tlx, id),
        What::Spec(id) => describe_spec(context, placed, traced, tlx, id),
        What::Other => describe_param(tlx, name)
            .or_else(|| describe_local(placed, tlx, name, range))
            .or_else(|| describe_module_constant(context, placed, name))?,
    };
    Some(Hover { range, markdown })
}

fn describe_param(tlx: &TlxPart, name: &str) -> Option<String> {
    let param = tlx.kernel.params.iter().find(|param| param.name == name)?;
    let value = match &param.value {
        Constant::Unknown(reason) => return Some(format!("`{name}` is unknown: {reason}")),
        value => display(value),
    };
    Some(format!("`{name} = {value}`, from {}", param.from.as_deref().unwrap_or("the text")))
}

fn describe_local(placed: &PlacedUnit<'_>, tlx: &TlxPart, name: &str, at: TextRange) -> Option<String> {
    let bound = tlx.kernel.locals.iter().filter(|local| local.name == name);
    let before = bound.clone().rfind(|local| placed.range(local.at).start <= at.start);
    match &before.or(bound.clone().next())?.value {
        Constant::Unknown(reason) => Some(format!("`{name}` is unknown: {reason}")),
        value => Some(format!("`{name} = {}`, from the assignment in the kernel", display(value))),
    }
}

fn describe_module_constant(context: &Context<'_>, placed: &PlacedUnit<'_>, name: &str) -> Option<String> {
    match db::module_constant(context.db, placed.unit, name)? {
        Constant::Unknown(_) | Constant::Dict(_) => None,
        value => Some(format!("`{name} = {}`, from the code around the kernel", display(&value))),
    }
}

fn unknown<T>(value: &Known<T>) -> Option<&Reason> {
    value.as_ref().err()
}

fn describe_buffer(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    tlx: &TlxPart,
    id: BufferId,
) -> String {
    let buffer = tlx.kernel.buffer(id);
    let mut text = String::new();
    let Some(place) = tlx.plan.place(id) else {
        let reasons = [unknown(&buffer.shape), unknown(&buffer.dtype), unknown(&buffer.num), unknown(&buffer.storage)];
        let written = written_size(context, placed, buffer).map_or(String::new(), |written| format!(", {written}"));
        let _ = writeln!(text, "`{}`: unknown size{written}", buffer.name);
        for reason in reasons.into_iter().flatten() {
            let _ = writeln!(text, "* {reason}");
        }
        return text;
    };
    let sized = &place.sized;
    let (storage, units) = (sized.storage, tlx.plan.units(sized.storage));
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
    if place.placement.is_none()
        && let Some(rows) = gpu::hover::place(context, placed, traced, buffer.name_at)
    {
        text.push_str(&rows);
    }
    let listed = place.ranges().take(8).enumerate();
    let ranges: Vec<_> = listed.map(|(i, (from, to))| format!("`[{i}]` {from}–{to}")).collect();
    let more = if sized.num.min(MOST_RANGES) > 8 { ", …" } else { "" };
    let _ = writeln!(text, "| {units} | {}{more} |", ranges.join(", "));
    let _ = writeln!(text, "| of the kernel | {} |", gpu::title(traced));
    if !buffer.certain {
        let _ = writeln!(text, "\nAllocated under an unknown condition.");
    }
    text
}

/// `NUM` buffers of `(BLOCK_M, HEAD_DIM)` of `tlx.dtype_of(desc)`: the size as its author writes it.
fn written_size(context: &Context<'_>, placed: &PlacedUnit<'_>, buffer: &Buffer) -> Option<String> {
    let Origin::Expr(at) = buffer.at else { return None };
    let Expr::Call { args, .. } = db::syntax(context.db, placed.unit).expr(at) else { return None };
    let text = |name: &str, position: usize| {
        let by_keyword = args.iter().find(|arg| arg.keyword.as_deref() == Some(name));
        let arg = by_keyword.or(args.get(position).filter(|arg| arg.keyword.is_none()))?;
        let range = placed.range(Origin::Expr(arg.value));
        Some(context.document().rope().get_byte_slice(range.start..range.end)?.to_string())
    };
    if buffer.kind != BufferKind::Data {
        return None;
    }
    Some(format!("`{}` buffers of `{}` of `{}`", text("num", 2)?, text("shape", 0)?, text("dtype", 1)?))
}

fn backing(tlx: &TlxPart, buffer: &Buffer) -> (&'static str, String) {
    match &buffer.backing {
        Backing::Own => ("memory", "its own".to_owned()),
        Backing::Spec(spec) => ("spec", format!("`{}`", tlx.kernel.spec(*spec).name)),
        Backing::Alias(base) => ("reuses", format!("`{}`", tlx.kernel.buffer(*base).name)),
        Backing::Unknown(reason) => ("reuses", format!("unknown: {reason}")),
    }
}

fn describe_spec(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    tlx: &TlxPart,
    id: SpecId,
) -> String {
    let spec: &Spec = tlx.kernel.spec(id);
    let mut text = String::new();
    let storage = spec.storage.as_ref().map_or("?", |storage| storage.name());
    let units = spec.storage.as_ref().map_or("bytes", |&storage| tlx.plan.units(storage));
    let _ = writeln!(text, "```python\n{}: storage_alias_spec in {storage}\n```\n\n| | |\n|---|---|", spec.name);
    let Some(plan) = tlx.plan.spec(id) else { return text };
    match &plan.size {
        Ok(size) => {
            let _ = writeln!(text, "| size | {} bytes |", size.bytes);
        }
        Err(reason) => {
            let _ = writeln!(text, "| size | unknown: {reason} |");
        }
    }
    if let Some(rows) = gpu::hover::place(context, placed, traced, spec.name_at) {
        text.push_str(&rows);
    }
    if let Ok(extent) = plan.extent {
        let wasted = advice::unused(&tlx.kernel, &tlx.plan, id, extent);
        let _ = writeln!(text, "| allocated in the end | {extent} {units} |\n| unused by buffers | {wasted} {units} |");
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
    let _ = writeln!(text, "| of the kernel | {} |", gpu::title(traced));
    text
}
