//! What is known of the tile under the cursor.

use std::fmt::Write;

use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Expr;

use crate::coverage::Mark;
use crate::db::{self, Outcome};
use crate::eval::Constant;
use crate::ir::{Dtype, Kernel, Why};
use crate::memory::{Crossings, Plan, PlannedTile, Status};
use crate::target::{COMPILER, Planner, Space};

use super::completion::{self, documentation};
use super::place::Place;
use super::{Context, PlacedUnit, layout, made, tlx};

/// More things that were never compared are counted, not named.
const FEW: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// Bytes.
    pub range: TextRange,
    pub markdown: String,
}

pub(crate) fn hover(context: &Context<'_>, offset: usize) -> Option<Hover> {
    of_tile(context, offset)
        .or_else(|| of_parameter(context, offset))
        .or_else(|| of_constant(context, offset))
        .or_else(|| of_word(context, offset))
}

/// Of the language: an operation, a type, an element type, a memory space.
fn of_word(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let place = Place::at(context, offset)?;
    let rest = &place.text[place.cursor.word.end..];
    let end = offset + rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
    let place = Place::at(context, end)?;
    let path = place.canonical(&place.cursor.path)?;
    let operation = documentation(&path).map(|text| text + &of_statement(context, offset));
    let markdown = operation.or_else(|| constant(context, &place, &path))?;
    Some(Hover { range: place.word(), markdown })
}

/// What the compiler makes of the statement around the name of an operation.
fn of_statement(context: &Context<'_>, offset: usize) -> String {
    let found = context.units_in(TextRange::empty(offset)).find_map(|placed| {
        let made = context.plans(placed.unit).iter().filter_map(|outcome| {
            let plan = outcome.plan()?;
            let around = plan.statements.iter().filter(|&&at| placed.range(at).touches(offset) && at != plan.origin);
            let statement = around.min_by_key(|&&at| placed.range(at).len())?;
            Some(made::of_statement(outcome.kernel(), plan, *statement))
        });
        made.into_iter().find(|made| !made.is_empty())
    });
    found.unwrap_or_default()
}

/// `pl.FP32`, `pl.Mem.Vec`
fn constant(context: &Context<'_>, place: &Place<'_>, path: &str) -> Option<String> {
    if let Some(space) = path.strip_prefix("pl.Mem.").or_else(|| path.strip_prefix("pl.MemorySpace.")) {
        let space = Space::from_name(space)?;
        return Some(format!("memory space {space}: {}", completion::free(context, place.unit, space)));
    }
    let dtype = Dtype::ALL.iter().find(|dtype| path.strip_prefix("pl.") == Some(dtype.name()))?;
    Some(format!("element type {dtype}: {}", completion::element(*dtype)))
}

fn of_tile(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    if let Some(kernel) = context.tlx(placed.unit) {
        return tlx::hover(context, &placed, kernel, offset);
    }
    let (range, name) = name_at(context, &placed, offset)?;
    let here = context.plans(placed.unit).iter().filter_map(|outcome| {
        let plan = outcome.plan()?;
        // A sketch has no header to stand on.
        let inside = placed.range(plan.origin).touches(offset) || matches!(outcome, Outcome::Printed(_));
        Some((outcome, plan, tile_at(&placed, outcome.kernel(), plan, &name, range).filter(|_| inside)?))
    });
    let here: Vec<(&Outcome, &Plan, &PlannedTile)> = here.collect();
    let (outcome, plan, tile) = *here.first()?;
    Some(Hover { range, markdown: describe(context, &placed, outcome, plan, tile) + &elsewhere(tile, &here[1..]) })
}

/// The same name in the other kernels that are made of its scope, where it is another tile there.
fn elsewhere(tile: &PlannedTile, others: &[(&Outcome, &Plan, &PlannedTile)]) -> String {
    let shown = |tile: &PlannedTile| {
        let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        format!("[{shape}] {}: {}", tile.dtype, layout::place(tile))
    };
    let mut different: Vec<String> = Vec::new();
    for (.., other) in others {
        let other = shown(other);
        if other != shown(tile) && !different.contains(&other) {
            different.push(other);
        }
    }
    if different.is_empty() {
        return String::new();
    }
    let kernels = others.len() + 1;
    format!("\n{kernels} kernels are made of this scope; in others this tile is {}.\n", different.join(", or "))
}

/// A tensor whose shape is known from elsewhere than its annotation.
fn of_parameter(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    if !db::may_hold_kernels(context.db, placed.unit) || context.tlx(placed.unit).is_some() {
        return None;
    }
    let (range, name) = name_at(context, &placed, offset)?;
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
fn of_constant(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    if !db::may_hold_kernels(context.db, placed.unit) || context.tlx(placed.unit).is_some() {
        return None;
    }
    let (range, name) = name_at(context, &placed, offset)?;
    let value = match db::module_constant(context.db, placed.unit, &name)? {
        value @ (Constant::Int(_) | Constant::Float(_) | Constant::Bool(_) | Constant::Str(_) | Constant::Dtype(_)) => {
            value
        }
        _ => return None,
    };
    let mut markdown = format!("```python\n{name} = {}\n```", value.shown());
    for (index, assumed) in db::assumptions_of_name(context.db, placed.unit, &name).iter().enumerate() {
        let _ = write!(markdown, "{}{assumed}", if index == 0 { "\n\nThe value holds where " } else { ", and " });
    }
    Some(Hover { range, markdown })
}

/// Where the tiles are defined that share memory with the one at a byte offset, itself included.
pub(super) fn sharing(context: &Context<'_>, offset: usize) -> Vec<TextRange> {
    let found = context.units_in(TextRange::empty(offset)).find_map(|placed| {
        if let Some(kernel) = context.tlx(placed.unit) {
            return Some(tlx::sharing(context, &placed, kernel, offset));
        }
        let (range, name) = name_at(context, &placed, offset)?;
        context.plans(placed.unit).iter().find_map(|outcome| {
            let plan = outcome.plan()?;
            let buffer = tile_at(&placed, outcome.kernel(), plan, &name, range)?.buffer?;
            let members = plan.tiles.iter().filter(|tile| tile.buffer == Some(buffer) && tile.inserted.is_none());
            Some(members.map(|tile| placed.range(tile.origin)).collect())
        })
    });
    found.unwrap_or_default()
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

/// The definition that a name stands for: the one there, else the last before it, else (in a loop) the first after it.
fn tile_at<'p>(
    placed: &PlacedUnit<'_>,
    kernel: Option<&Kernel>,
    plan: &'p Plan,
    name: &str,
    at: TextRange,
) -> Option<&'p PlannedTile> {
    let defined = |tile: &PlannedTile| placed.range(tile.origin).start;
    let is_named =
        |tile: &&PlannedTile| tile.name == name && tile.inserted.is_none() && made::is_defined(kernel, plan, tile);
    let tiles = plan.tiles.iter().filter(is_named);
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
    if let Some(address) = tile.address {
        let place = match tile.dynamic_offset {
            true => format!("in the buffer at `{address:#x}`, offset chosen at run time"),
            false => format!("`{address:#x}` – `{:#x}`", address.saturating_add(tile.bytes)),
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
    if let Some(crossings) = in_space.and_then(|space| space.crossings).filter(|crossings| crossings.total > 0) {
        let Crossings { remaining, total } = crossings;
        let _ = writeln!(text, "| reuse across pipes | {remaining} of {total} pairs of tiles share memory |");
    }
    let _ = writeln!(text, "| planner, target | {}, {} |", plan.planner, plan.target);
    let _ = write!(text, "{}", who_says_so(plan));
    if let Some(&statement) = plan.statements.get(tile.first.0 as usize) {
        text.push_str(&made::of_statement(outcome.kernel(), plan, statement));
    }
    for note in plan.notes.iter().take(1) {
        let _ = writeln!(text, "\nThe kernel is modelled in part ({}), so addresses may differ.", note.reason.0);
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
            format!(
                "| compiler | predicted for {compiler}; never compared with it: {}{more} |\n",
                uncompared.join(", ")
            )
        }
        (_, status) => format!("| compiler | {} for {compiler} |\n", status.name()),
    }
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

#[cfg(test)]
mod tests {
    use tilefit_syntax::Document;

    use crate::AnalysisHost;

    /// The first lines of the hover at `$0` in a kernel.
    fn at(line: &str) -> Vec<String> {
        let text = format!(
            "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 64], pl.FP32]):\n    x = pl.load(a, [0, 0], [64, 64])\n    {line}\n"
        );
        let offset = text.find("$0").expect("a cursor");
        let mut host = AnalysisHost::new();
        let file = host.file_id("kernels.py");
        host.set_document(file, Document::new(&text.replacen("$0", "", 1)));
        let hover = host.snapshot().hover(file, offset).expect("no edit");
        hover.map_or_else(Vec::new, |hover| hover.markdown.lines().take(5).map(str::to_owned).collect())
    }

    #[test]
    fn words_of_the_language() {
        assert_eq!(at("y = pl.tile.e$0xp(x)")[..2], ["```python", "pl.tile.exp(tile) -> Tile"]);
        assert_eq!(at("y = pl.e$0xp(x")[4], "`tile.exp`, element by element.");
        assert_eq!(at("y = pl.cast(x, pl.FP1$06)"), ["element type FP16: 2 B an element"]);
        assert_eq!(at("y = pl.move(x, pl.Mem.M$0at)"), ["memory space Mat: 480 KiB of 512 KiB free"]);
        assert_eq!(at("for i in pl.ra$0nge(4):")[1], "pl.range(*bounds, init_values=None)");
        assert!(at("y = pl.no_su$0ch(x)").is_empty());
        assert!(at("y = 1  # pl.e$0xp").is_empty());
    }
}
