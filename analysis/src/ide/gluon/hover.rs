//! What is known of a name in a Gluon kernel.

use std::fmt::Write;

use tilefit_syntax::TextRange;

use crate::db::{GluonKernel, TracedKernel};
use crate::ide::formatting;
use crate::ide::hover::{Hover, name_at};
use crate::ide::{Context, PlacedUnit};
use crate::ir::Origin;
use crate::triton::plan::{Occupant, Placed};
use crate::triton::program::Buffer;

use crate::ide::traced::occupants::{is_tensor, occupied};
use crate::ide::traced::{map, tile, title};

/// What is known of the kernel or the buffer whose name is at `offset`.
pub(super) fn hover(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    gluon: &GluonKernel,
    offset: usize,
) -> Option<Hover> {
    let of_kernel = placed.range(gluon.traced.name_origin);
    if of_kernel.touches(offset) {
        return Some(Hover { range: of_kernel, markdown: describe_kernel(context, placed, gluon) });
    }
    let (range, name) = name_at(context, placed, offset)?;
    let at = bound(&gluon.traced, name)?;
    Some(Hover { range, markdown: describe(context, placed, gluon, at)? })
}

/// Where a buffer of that name is bound first.
fn bound(gluon: &TracedKernel, name: &str) -> Option<Origin> {
    gluon.program.buffers.iter().find(|buffer| &*buffer.name == name).and_then(|buffer| buffer.name_at)
}

/// The buffer that is bound there, and its places.
fn placed_at(gluon: &TracedKernel, at: Origin) -> impl Iterator<Item = (&Buffer, &Placed)> {
    gluon.planned.plan.placed.iter().filter_map(move |placed| {
        let Occupant::Buffer(id) = placed.what else { return None };
        let buffer = &gluon.program.buffers[id.0 as usize];
        (buffer.name_at == Some(at)).then_some((buffer, placed))
    })
}

fn describe_kernel(context: &Context<'_>, placed: &PlacedUnit<'_>, gluon: &GluonKernel) -> String {
    let (kernel, gluon) = (gluon, &gluon.traced);
    let plan = &gluon.planned.plan;
    let mut text = format!("`{}` on {}: {}\n\n", kernel.name, gluon.arch, title(gluon));
    let here: Vec<&Placed> = plan.placed.iter().filter(|it| !is_tensor(gluon, it)).collect();
    let (_, at) = map::peak(&here);
    let mut live: Vec<&&Placed> = here.iter().filter(|it| it.live.start <= at && at < it.live.end).collect();
    live.sort_by_key(|it| std::cmp::Reverse(it.low));
    if !live.is_empty() {
        text.push_str("| live at the peak | bytes | at |\n|---|---|---|\n");
    }
    for it in live.iter().take(16) {
        let at = it.offset.map_or("?".to_owned(), |offset| offset.to_string());
        let _ = writeln!(text, "| {} | {} | {at} |", occupied(context, placed, gluon, it).name, it.high);
    }
    for reason in &plan.shared.reasons {
        let _ = writeln!(text, "* not exact: {reason}");
    }
    text
}

/// What is known of the buffer that is bound at a place.
pub(super) fn describe(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    gluon: &GluonKernel,
    at: Origin,
) -> Option<String> {
    let gluon = &gluon.traced;
    let (buffer, place) = placed_at(gluon, at).next()?;
    let units = if is_tensor(gluon, place) { "columns" } else { "bytes" };
    let mut text = String::new();
    let shape = formatting::shape(&buffer.shape);
    let _ = writeln!(text, "```python\n{}: {shape} gl.{}\n```\n", buffer.name, buffer.dtype);
    let _ = writeln!(text, "| | |\n|---|---|\n| size | {} {units} |", place.high);
    match place.offset {
        Some(offset) => {
            let _ = writeln!(text, "| {units} | {offset}–{} |", offset + place.high);
        }
        None => {
            let _ = writeln!(text, "| {units} | not known |");
        }
    }
    let tile = tile(context, placed, gluon, place);
    let _ = writeln!(text, "| live | lines {}–{} |", tile.first_line, tile.last_line);
    let shared: Vec<String> = sharers(gluon, place).map(|it| occupied(context, placed, gluon, it).name).collect();
    if !shared.is_empty() {
        let _ = writeln!(text, "| shares memory with | {} |", shared.join(", "));
    }
    let _ = writeln!(text, "| of the kernel | {} |", title(gluon));
    Some(text)
}

/// What has some of the same addresses at another time.
fn sharers<'k>(gluon: &'k TracedKernel, of: &'k Placed) -> impl Iterator<Item = &'k Placed> {
    let overlap = move |other: &&Placed| {
        let (Some(one), Some(two)) = (of.offset, other.offset) else { return false };
        one < two + other.high && two < one + of.high
    };
    let others = gluon.planned.plan.placed.iter().filter(move |other| other.what != of.what);
    others.filter(move |other| is_tensor(gluon, other) == is_tensor(gluon, of)).filter(overlap)
}

/// Where what shares memory with a name is bound, itself included.
pub(super) fn sharing(placed: &PlacedUnit<'_>, gluon: &TracedKernel, name: &str) -> Vec<TextRange> {
    let Some(at) = bound(gluon, name) else { return Vec::new() };
    let mut found = vec![placed.range(at)];
    for (_, place) in placed_at(gluon, at) {
        for other in sharers(gluon, place) {
            if let Occupant::Buffer(id) = other.what
                && let Some(at) = gluon.program.buffers[id.0 as usize].name_at
            {
                found.push(placed.range(at));
            }
        }
    }
    found
}
