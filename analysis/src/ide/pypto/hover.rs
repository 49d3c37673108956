//! What is known of a name in a PyPTO kernel: a tile, a tensor that the kernel is given, a constant of the code around it.

use std::fmt::Write;

use tilefit_pypto::coverage::Mark;
use tilefit_pypto::ir::{Kernel, Why};
use tilefit_pypto::memory::{BufferId, Crossings, Plan, PlannedTile};
use tilefit_pypto::target::{COMPILER, Planner, Space};
use tilefit_python::eval::Constant;
use tilefit_python::finding::Status;
use tilefit_syntax::TextRange;

use crate::db::{self, Outcome};

use super::copies::Copies;
use super::inserted_tiles;
use crate::ide::language::Hover;
use crate::ide::{Context, PlacedUnit, formatting};

/// More things that were never compared are counted, not named.
const FEW: usize = 3;

pub(super) fn hover(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
    of_tile(context, placed, offset)
        .or_else(|| of_parameter(context, placed, offset))
        .or_else(|| of_constant(context, placed, offset))
}

fn of_tile(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
    let (range, name) = context.name_at(placed, offset)?;
    let here = context.plans(placed.unit).iter().filter_map(|outcome| {
        let plan = outcome.plan()?;
        // A sketch has no header to stand on.
        let inside = placed.range(plan.origin).touches(offset) || matches!(outcome, Outcome::Printed(_));
        Some((outcome, plan, tile_at(placed, outcome.kernel(), plan, name, range).filter(|_| inside)?))
    });
    let here: Vec<(&Outcome, &Plan, &PlannedTile)> = here.collect();
    let (outcome, plan, tile) = *here.first()?;
    Some(Hover { range, markdown: describe(context, placed, outcome, plan, tile) + &elsewhere(&here) })
}

/// The same name in the other kernels that are made of its scope, where it is another tile there.
fn elsewhere(here: &[(&Outcome, &Plan, &PlannedTile)]) -> String {
    let [first, others @ ..] = here else { return String::new() };
    let shown = |&(_, plan, tile): &(&Outcome, &Plan, &PlannedTile)| {
        let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        format!("[{shape}] {}: {}", tile.dtype, formatting::extent(&Copies::of(plan, tile).extent()))
    };
    let mut different: Vec<String> = Vec::new();
    for other in others {
        let other = shown(other);
        if other != shown(first) && !different.contains(&other) {
            different.push(other);
        }
    }
    if different.is_empty() {
        return String::new();
    }
    let kernels = others.len() + 1;
    format!("\nThis scope becomes {kernels} kernels; in the others, this tile is {}.\n", different.join(", or "))
}

/// A tensor whose shape is known from elsewhere than its annotation.
fn of_parameter(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
    let (range, name) = context.name_at(placed, offset)?;
    let is_param = |kernel: &Kernel| kernel.params.iter().any(|&param| kernel.var(param).name == name);
    if !db::kernels(context.db, placed.unit).iter().any(|lowered| is_param(lowered.kernel(context.db))) {
        return None;
    }
    let given = db::given_shapes(context.db, placed.unit).iter().find(|given| given.param == name)?;
    let (shape, dtype) = (&given.tensor.shape, given.tensor.dtype);
    let markdown =
        format!("```python\n{name}: pl.Tensor[{shape:?}, pl.{dtype}]\n```\n\nThe shape is that of {}.", given.origin);
    Some(Hover { range, markdown })
}

/// A name of the code around a kernel, with its value and what that rests on.
fn of_constant(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Hover> {
    let (range, name) = context.name_at(placed, offset)?;
    let value = match db::module_constant(context.db, placed.unit, name)? {
        value @ (Constant::Int(_) | Constant::Float(_) | Constant::Bool(_) | Constant::Str(_) | Constant::Dtype(_)) => {
            value
        }
        _ => return None,
    };
    let mut markdown = format!("```python\n{name} = {}\n```", value.shown());
    for (index, assumed) in db::assumptions_of_name(context.db, placed.unit, name).iter().enumerate() {
        let _ = write!(markdown, "{}{assumed}", if index == 0 { "\n\nThe value holds where " } else { ", and " });
    }
    Some(Hover { range, markdown })
}

/// Where the tiles are defined that share memory with the one at a byte offset, itself included; `None` without a tile there.
pub(super) fn sharing(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<Vec<TextRange>> {
    let (range, name) = context.name_at(placed, offset)?;
    context.plans(placed.unit).iter().find_map(|outcome| {
        let plan = outcome.plan()?;
        let buffer = tile_at(placed, outcome.kernel(), plan, name, range)?.buffer?;
        let members = plan.tiles.iter().filter(|tile| tile.buffer == Some(buffer) && tile.inserted.is_none());
        Some(members.map(|tile| placed.range(tile.origin)).collect())
    })
}

/// The definition that a name refers to: the one there, else the last before it, else (in a loop) the first after it.
fn tile_at<'p>(
    placed: &PlacedUnit<'_>,
    kernel: Option<&Kernel>,
    plan: &'p Plan,
    name: &str,
    at: TextRange,
) -> Option<&'p PlannedTile> {
    let defined = |tile: &PlannedTile| placed.range(tile.origin).start;
    let is_named = |tile: &&PlannedTile| {
        tile.name == name && tile.inserted.is_none() && inserted_tiles::is_defined(kernel, plan, tile)
    };
    let tiles = plan.tiles.iter().filter(is_named);
    let mut before: Option<&PlannedTile> = None;
    let mut behind: Option<&PlannedTile> = None;
    for tile in tiles {
        if defined(tile) == at.start {
            return Some(tile);
        }
        // On the right side of its own assignment a name still refers to the definition before.
        if defined(tile) < at.start && !is_on_line_of(placed, plan, tile, at) {
            before = Some(tile);
        } else {
            behind = behind.or(Some(tile));
        }
    }
    before.or(behind).or_else(|| loaded_whole(plan, name))
}

/// The load of a parameter that an operation reads whole.
fn loaded_whole<'p>(plan: &'p Plan, name: &str) -> Option<&'p PlannedTile> {
    let is_load = |tile: &&PlannedTile| tile.inserted == Some(Why::WholeParameter) && tile.name == name;
    plan.tiles.iter().find(is_load)
}

fn is_on_line_of(placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile, at: TextRange) -> bool {
    let statement = plan.statements.get(tile.first.0 as usize).map(|&origin| placed.range(origin));
    statement.is_some_and(|statement| statement.start <= at.start && at.end <= statement.end)
}

pub(super) fn describe(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    outcome: &Outcome,
    plan: &Plan,
    tile: &PlannedTile,
) -> String {
    let mut text = String::new();
    let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "```python\n{}: pl.Tile[[{shape}], pl.{}]\n```\n", tile.name, tile.dtype);
    let space = tile.space.map_or("not known", Space::name);
    let _ = writeln!(text, "| | |\n|---|---|\n| memory space | {space} |");
    let copies = Copies::of(plan, tile);
    let _ = write!(text, "{}", address(&copies, tile));
    let each = if copies.count() > 1 { " each" } else { "" };
    let _ = writeln!(text, "| size | {} bytes ({}){each} |", tile.bytes, formatting::bytes(tile.bytes));
    let lines = copies.all().map(|tile| formatting::lines(context, placed, plan, tile.first, tile.last));
    let (first, last) = lines.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default();
    let _ = writeln!(text, "| live range | lines {first} – {last} |");
    let _ = write!(text, "{}", group(plan, &copies));
    let in_space = tile.space.and_then(|space| plan.space(space));
    if let Some((space, capacity)) = in_space.and_then(|space| Some((space, space.capacity?))) {
        let _ = writeln!(text, "| {} in use | {} |", space.space, formatting::usage(space.used, capacity));
    }
    if let Some(crossings) = in_space.and_then(|space| space.crossings).filter(|crossings| crossings.total > 0) {
        let Crossings { remaining, total } = crossings;
        let _ = writeln!(text, "| reuse across pipes | {remaining} of {total} pairs of tiles share memory |");
    }
    let _ = writeln!(text, "| planner, target | {}, {} |", plan.planner, plan.target);
    let _ = write!(text, "{}", who_says_so(plan));
    if let Some(&statement) = plan.statements.get(tile.first.0 as usize) {
        text.push_str(&inserted_tiles::of_statement(outcome.kernel(), plan, statement));
    }
    for note in plan.notes.iter().take(1) {
        let _ = writeln!(text, "\nThe kernel is only partly modelled ({}), so addresses may differ.", note.reason);
    }
    text
}

/// The compiler that a plan is for, and how sure it is. Plans of planners that are not the compiler's are tilefit's own.
fn who_says_so(plan: &Plan) -> String {
    let compiler = COMPILER.named();
    match (plan.planner, plan.status) {
        (Planner::Packed | Planner::Auto, _) | (_, Status::NotModelled) => String::new(),
        (_, Status::Predicted) => {
            let uncompared: Vec<String> = plan.uncompared.iter().take(FEW).map(Mark::to_string).collect();
            let more = plan.uncompared.len().saturating_sub(FEW);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let mut why = plan.assumed.clone();
            if !uncompared.is_empty() {
                why.insert(0, format!("never compared with it: {}{more}", uncompared.join(", ")));
            }
            format!("| compiler | predicted for {compiler}; {} |\n", why.join("; "))
        }
        (_, status) => format!("| compiler | {} for {compiler} |\n", status.name()),
    }
}

/// Where a tile lies, with all of its copies.
fn address(copies: &Copies<'_>, tile: &PlannedTile) -> String {
    let Some(address) = tile.address else { return String::new() };
    let at_run_time = if tile.dynamic_offset { "; the offset in the buffer is chosen at run time" } else { "" };
    if let Some(places) = copies.places() {
        return format!("| address | {}{at_run_time} |\n", formatting::copies(&places));
    }
    let place = match tile.dynamic_offset {
        true => format!("in the buffer at `{address:#x}`, offset chosen at run time"),
        false => format!("`{address:#x}` – `{:#x}`", address.saturating_add(tile.bytes)),
    };
    let all = match copies.count() {
        1 => String::new(),
        count => format!(", the same for {count} copies"),
    };
    format!("| address | {place}{all} |\n")
}

/// The reuse groups, and who else lives in them.
fn group(plan: &Plan, copies: &Copies<'_>) -> String {
    let mut ids: Vec<BufferId> = copies.all().filter_map(|tile| tile.buffer).collect();
    ids.sort_unstable();
    ids.dedup();
    let Some(&first) = ids.first() else { return String::new() };
    let mut others: Vec<&str> = Vec::new();
    let is_inside = |other: &&PlannedTile| other.buffer.is_some_and(|buffer| ids.binary_search(&buffer).is_ok());
    for other in plan.tiles.iter().filter(is_inside).filter(|other| other.label != copies.first.label) {
        if !others.contains(&other.label.as_str()) {
            others.push(&other.label);
        }
    }
    let names: Vec<String> = ids.iter().take(FEW).map(|&id| format!("`{}`", plan.buffer(id).name)).collect();
    let more = ids.len().saturating_sub(FEW);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let size = match ids.as_slice() {
        [_] => format!("{} bytes", plan.buffer(first).size),
        _ => format!("{} bytes together", ids.iter().map(|&id| plan.buffer(id).size).sum::<u64>()),
    };
    let kind = match (plan.buffer(first).declared, ids.len()) {
        (true, _) => "declared allocation",
        (false, 1) => "reuse group",
        (false, _) => "reuse groups",
    };
    let shared = match others.as_slice() {
        [] => "no other tile".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    format!("| {kind} | {}{more}, {size}, shared with {shared} |\n", names.join(", "))
}
