//! What is known of the tile under the cursor.

use std::fmt::Write;

use tilelens_syntax::TextRange;
use tilelens_syntax::ast::Expr;

use crate::db::{self, Outcome};
use crate::ir::Role;
use crate::memory::{Plan, PlannedTile};
use crate::target::Space;

use super::{Context, PlacedUnit, layout, tlx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// Bytes.
    pub range: TextRange,
    pub markdown: String,
}

pub(crate) fn hover(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    if let Some(kernel) = context.tlx(placed.unit) {
        return tlx::hover(context, &placed, kernel, offset);
    }
    let (range, name) = name_at(context, &placed, offset)?;
    for outcome in context.plans(placed.unit) {
        let Some(plan) = outcome.plan() else { continue };
        // A sketch has no header to stand on.
        let inside = placed.range(plan.origin).touches(offset) || matches!(outcome, Outcome::Printed(_));
        if let Some(tile) = tile_at(&placed, plan, &name, range).filter(|_| inside) {
            return Some(Hover { range, markdown: describe(context, &placed, plan, tile) });
        }
    }
    None
}

/// The name expression around a byte offset.
fn name_at(context: &Context<'_>, placed: &PlacedUnit<'_>, offset: usize) -> Option<(TextRange, String)> {
    let ast = db::syntax(context.db, placed.unit);
    ast.exprs().find_map(|(id, expr)| match expr {
        Expr::Name(name) => {
            let range = placed.spans.expr(id).shifted(placed.start);
            range.touches(offset).then(|| (range, name.clone()))
        }
        _ => None,
    })
}

/// The definition that a name stands for: the one there, else the last before it, else (in a loop) the first behind it.
fn tile_at<'p>(placed: &PlacedUnit<'_>, plan: &'p Plan, name: &str, at: TextRange) -> Option<&'p PlannedTile> {
    let defined = |tile: &PlannedTile| placed.range(tile.origin).start;
    let tiles = plan.tiles.iter().filter(|tile| tile.name == name && !tile.inserted && tile.role == Role::Def);
    let mut before: Option<&PlannedTile> = None;
    let mut behind: Option<&PlannedTile> = None;
    for tile in tiles {
        if defined(tile) == at.start {
            return Some(tile);
        }
        // On the right side of its own assignment a name still stands for the definition before.
        if defined(tile) < at.start && !is_on_line_of(placed, plan, tile, at) {
            before = Some(tile);
        } else {
            behind = behind.or(Some(tile));
        }
    }
    before.or(behind)
}

fn is_on_line_of(placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile, at: TextRange) -> bool {
    let statement = plan.statements.get(tile.first.0 as usize).map(|&origin| placed.range(origin));
    statement.is_some_and(|statement| statement.start <= at.start && at.end <= statement.end)
}

fn describe(context: &Context<'_>, placed: &PlacedUnit<'_>, plan: &Plan, tile: &PlannedTile) -> String {
    let mut text = String::new();
    let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "```python\n{}: pl.Tile[[{shape}], pl.{}]\n```\n", tile.name, tile.dtype);
    let space = tile.space.map_or("not known", Space::name);
    let _ = writeln!(text, "| | |\n|---|---|\n| memory space | {space} |");
    if let Some(address) = tile.address {
        let place = match tile.dynamic_offset {
            true => format!("in the buffer at `{address:#x}`, offset chosen at run time"),
            false => format!("`{address:#x}` – `{:#x}`", address + tile.bytes),
        };
        let _ = writeln!(text, "| address | {place} |");
    }
    let _ = writeln!(text, "| size | {} bytes ({}) |", tile.bytes, layout::bytes(tile.bytes));
    let (first, last) = layout::lines(context, placed, plan, tile.first, tile.last);
    let _ = writeln!(text, "| lives | lines {first} – {last} |");
    let _ = write!(text, "{}", group(plan, tile));
    let in_space = tile.space.and_then(|space| plan.space(space));
    if let Some((space, capacity)) = in_space.and_then(|space| Some((space, space.capacity?))) {
        let _ = writeln!(text, "| {} in use | {} |", space.space, layout::usage(space.used, capacity));
    }
    let _ = writeln!(text, "| planner, target | {}, {} |", plan.planner, plan.target);
    for note in plan.notes.iter().take(1) {
        let _ = writeln!(text, "\nThe kernel is modelled in part ({}), so addresses may differ.", note.reason.0);
    }
    text
}

/// The reuse group, and who else lives in it.
fn group(plan: &Plan, tile: &PlannedTile) -> String {
    let Some(id) = tile.buffer else { return String::new() };
    let buffer = plan.buffer(id);
    let mut others: Vec<&str> = Vec::new();
    for other in plan.tiles.iter().filter(|other| other.buffer == Some(id) && other.name != tile.name) {
        if !others.contains(&other.name.as_str()) {
            others.push(&other.name);
        }
    }
    let kind = if buffer.declared { "declared allocation" } else { "reuse group" };
    let shared = match others.as_slice() {
        [] => "nobody else".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    format!("| {kind} | `{}`, {} bytes, shared with {shared} |\n", buffer.name, buffer.size)
}
