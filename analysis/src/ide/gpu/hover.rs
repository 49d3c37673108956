//! What hovers tell of memory in kernels of GPUs: rows and tables in Markdown.

use std::fmt::Write;

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::Space;
use tilefit_gpu::plan::Placed;
use tilefit_python::finding::{Origin, Reason};

use crate::db::TracedKernel;
use crate::ide::extent::{Extent, Site};
use crate::ide::{Context, PlacedUnit};

use super::occupants::{occupied, space};
use super::{extent, map, placed_at, tile};

/// What takes the memory where most of it is taken, and why that is not one number: shared memory, or each of an NPU.
pub(in crate::ide) fn occupancy(context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel) -> String {
    let spaces = traced.taken().map(|taken| taken.space).filter(|space| *space != Space::Tensor);
    let tables: Vec<String> = spaces.map(|of| live_at_peak(context, placed, traced, of)).collect();
    let mut text = tables.concat();
    // Those of tensor memory are in the title alone.
    let totals = traced.planned.plan.totals.iter().filter(|(space, _)| *space != Space::Tensor);
    let mut reasons: Vec<&Reason> = Vec::new();
    for reason in totals.flat_map(|(_, total)| &total.reasons) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if !reasons.is_empty() {
        text.push('\n');
    }
    for reason in reasons {
        let _ = writeln!(text, "* not exact: {reason}");
    }
    text
}

fn live_at_peak(context: &Context<'_>, placed: &PlacedUnit<'_>, traced: &TracedKernel, of: Space) -> String {
    const MOST: usize = 16;
    let plan = &traced.planned.plan;
    let here: Vec<&Placed> = plan.placed.iter().filter(|it| space(traced, it) == of).collect();
    let (_, at) = map::peak(&here);
    let mut live: Vec<&&Placed> = here.iter().filter(|it| it.live.start <= at && at < it.live.end).collect();
    live.sort_by_key(|it| std::cmp::Reverse(it.low));
    let mut text = String::new();
    if !live.is_empty() {
        let which = if of == Space::Shared { String::new() } else { format!(" of {}", of.words()) };
        let _ = writeln!(text, "| live at the peak{which} | bytes | at |\n|---|---|---|");
    }
    for it in live.iter().take(MOST) {
        let at = it.offset.map_or("?".to_owned(), |offset| offset.to_string());
        let bytes = if it.low == it.high { it.high.to_string() } else { format!("{}–{}", it.low, it.high) };
        let _ = writeln!(text, "| {} | {bytes} | {at} |", occupied(context, placed, traced, it).name);
    }
    if let Some(more @ 1..) = live.len().checked_sub(MOST) {
        let _ = writeln!(text, "| {more} more | | |");
    }
    if of != Space::Shared && !live.is_empty() {
        text.push('\n');
    }
    text
}

/// What nothing says and numbers rest on, a line each.
pub(in crate::ide) fn assumptions(assumed: &[Assumed]) -> String {
    assumed.iter().map(|assumed| format!("* assumed: {assumed}\n")).collect()
}

/// Rows of a table: where the buffer lies that is bound at a place, how long it lives, and what shares its memory.
pub(in crate::ide) fn place(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    traced: &TracedKernel,
    at: Origin,
) -> Option<String> {
    let Extent { site, size, unit, .. } = extent(traced, at)?;
    let mut text = format!("| size | {size} {unit} |\n");
    let Some((_, place)) = placed_at(traced, at).next() else {
        let word = match site {
            Site::Unused => "| unused | nothing reads or writes it, so the compiler leaves it out |\n".to_owned(),
            _ => format!("| {unit} | not known |\n"),
        };
        return Some(text + &word);
    };
    let range = place.offset.map_or("not known".to_owned(), |offset| format!("{offset}–{}", offset + place.high));
    let _ = writeln!(text, "| {unit} | {range} |");
    let tile = tile(context, placed, traced, place);
    let _ = writeln!(text, "| live | lines {}–{} |", tile.first_line, tile.last_line);
    let shared: Vec<String> = sharers(traced, place).map(|it| occupied(context, placed, traced, it).name).collect();
    if !shared.is_empty() {
        let _ = writeln!(text, "| shares memory with | {} |", shared.join(", "));
    }
    Some(text)
}

/// What has some of the same addresses at another time.
pub(in crate::ide) fn sharers<'k>(traced: &'k TracedKernel, of: &'k Placed) -> impl Iterator<Item = &'k Placed> {
    let overlap = move |other: &&Placed| {
        let (Some(one), Some(two)) = (of.offset, other.offset) else { return false };
        one < two + other.high && two < one + of.high
    };
    let others = traced.planned.plan.placed.iter().filter(move |other| other.what != of.what);
    others.filter(move |other| space(traced, other) == space(traced, of)).filter(overlap)
}
