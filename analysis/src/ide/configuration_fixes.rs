//! Ways out for a configuration of `triton.autotune` that is too large: fewer stages, a smaller block, or none. Each is laid out before it is
//! offered.

use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId};

use crate::db::{self, Configurations};

use super::code_action::{CodeAction, Effect};
use super::configurations::{OnDevice, on_device};
use super::speculative::{self, Concerned, Edit};
use super::{Context, PlacedUnit, formatting};

/// Numbers of one configuration that are tried, and smaller values of each.
const MOST_NUMBERS: usize = 6;
const MOST_VALUES: usize = 8;

/// Extents of blocks are halved to this at least: `tl.dot` takes none that is smaller.
const SMALLEST_BLOCK: u64 = 16;

/// No compiler has more stages by default.
const DEFAULT_STAGES: u64 = 3;

pub(super) fn configuration_fixes(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    if !context.text_of(placed).contains("autotune") {
        return Vec::new();
    }
    let written = db::written_configurations(context.db, placed.unit);
    let at = |expr: ExprId| placed.spans.expr(expr).shifted(placed.start);
    let here = written.iter().position(|(expr, _)| at(*expr).intersects(range) || at(*expr).touches(range.start));
    let Some((nth, table)) = here.zip(db::configurations_of(context.db, placed.unit).as_ref()) else {
        return Vec::new();
    };
    let (config, rows) = &written[nth];
    let exceeds = |device| {
        let mut on = rows.iter().map(|&row| on_device(context, placed, table, &table.rows[row], device));
        !rows.is_empty() && on.all(|on| on.is_some_and(|on| on.verdict == "exceeds"))
    };
    let mut actions = Vec::new();
    let mut offer = |title: String, edit: Edit| {
        actions.push(CodeAction { title, effect: Effect::Improve(vec![edit]) });
    };
    if exceeds(0) {
        let ast = db::syntax(context.db, placed.unit);
        for number in numbers(ast, *config, &at).into_iter().take(MOST_NUMBERS) {
            if let Some((value, bytes, edit)) = fitting(context, placed, nth, &number) {
                let (device, bytes) = (table.devices[0], formatting::bytes(bytes));
                let way = if number.before.is_empty() { "Reduce" } else { "Set" };
                offer(format!("{way} `{}` to {value}, which fits {device} ({bytes})", number.name), edit);
            }
        }
    }
    if (0..table.devices.len()).all(exceeds) && written.len() > 1 {
        let edit = (with_its_comma(context, &written, nth, &at), String::new());
        if speculative::after(context, std::slice::from_ref(&edit), |context| {
            is_without(context, placed, &written, table)
        }) {
            offer(format!("Remove this configuration, which does not fit {}", names(table)), edit);
        }
    }
    actions
}

/// `sm_90 or sm_86`
fn names(table: &Configurations) -> String {
    table.devices.iter().map(|device| device.name()).collect::<Vec<_>>().join(" or ")
}

/// A number of a configuration, or where one may be written.
struct Number {
    name: String,
    /// The first that is tried is smaller.
    value: u64,
    range: TextRange,
    /// What is written before the number.
    before: &'static str,
}

/// The stages, then the values, the largest first.
fn numbers(ast: &Ast, config: ExprId, at: &dyn Fn(ExprId) -> TextRange) -> Vec<Number> {
    let Expr::Call { args, .. } = ast.expr(config) else { return Vec::new() };
    let stages = args.iter().find(|arg| arg.keyword.as_deref() == Some(STAGES));
    let stages = match stages.map(|arg| (integer(ast, arg.value), arg.value)) {
        Some((value, expr)) => {
            value.map(|value| Number { name: STAGES.to_owned(), value, range: at(expr), before: "" })
        }
        None => args.last().filter(|_| !args.iter().any(|arg| is_spread(ast, arg))).map(|last| Number {
            name: STAGES.to_owned(),
            value: DEFAULT_STAGES,
            range: TextRange::empty(at(last.value).end),
            before: ", num_stages=",
        }),
    };
    let is_values = |arg: &&Arg| arg.keyword.as_deref().is_none_or(|keyword| keyword == "kwargs");
    let values = args.iter().find(is_values).map(|arg| ast.expr(arg.value));
    let Some(Expr::Dict(pairs)) = values else { return stages.into_iter().collect() };
    let of_pair = |&(key, value): &(ExprId, ExprId)| match ast.expr(key) {
        Expr::Str(name) => {
            Some(Number { name: name.to_string(), value: integer(ast, value)?, range: at(value), before: "" })
        }
        _ => None,
    };
    let mut values: Vec<Number> = pairs.iter().filter_map(of_pair).filter(|it| it.value > SMALLEST_BLOCK).collect();
    values.sort_by_key(|number| std::cmp::Reverse(number.value));
    stages.into_iter().chain(values).collect()
}

const STAGES: &str = "num_stages";

/// `**options`, which may have any.
fn is_spread(ast: &Ast, arg: &Arg) -> bool {
    matches!(ast.expr(arg.value), Expr::Starred(_) | Expr::Unpacked(_))
}

fn integer(ast: &Ast, expr: ExprId) -> Option<u64> {
    match ast.expr(expr) {
        Expr::Int(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

/// The largest smaller value with which the nth configuration fits on the kernel's device, the bytes that it takes then, and the edit.
fn fitting(context: &Context<'_>, placed: &PlacedUnit<'_>, nth: usize, number: &Number) -> Option<(u64, u64, Edit)> {
    let less = |&value: &u64| match number.name == STAGES {
        true => (value > 1).then(|| value - 1),
        false => (value.is_multiple_of(2) && value / 2 >= SMALLEST_BLOCK).then_some(value / 2),
    };
    std::iter::successors(Some(number.value), less).skip(1).take(MOST_VALUES).find_map(|value| {
        let edit = (number.range, format!("{}{value}", number.before));
        let bytes =
            speculative::after(context, std::slice::from_ref(&edit), |context| most(context, placed.start, nth))?;
        Some((value, bytes, edit))
    })
}

/// The bytes of the nth configuration of the kernel in a block, where it fits under each of its launches.
fn most(context: &Context<'_>, block: usize, nth: usize) -> Option<u64> {
    let placed = Concerned::Block(block).units(context).into_iter().next()?;
    let written = db::written_configurations(context.db, placed.unit);
    let table = db::configurations_of(context.db, placed.unit).as_ref()?;
    let (_, rows) = written.get(nth)?;
    let on = rows.iter().map(|&row| on_device(context, &placed, table, &table.rows[row], 0));
    let bytes = |on: Option<OnDevice>| on.filter(|on| on.verdict == "fits").and_then(|on| on.high);
    on.map(bytes).collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Whether the kernel has the other configurations, and they come to what they came to.
fn is_without(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    written: &[(ExprId, Vec<usize>)],
    before: &Configurations,
) -> bool {
    let Some(placed) = Concerned::Block(placed.start).units(context).into_iter().next() else { return false };
    let left = db::written_configurations(context.db, placed.unit);
    let fits = |table: &Configurations| {
        let cells = table.rows.iter().filter_map(|row| row.cells.first().and_then(Option::as_ref));
        cells.filter(|cell| cell.verdict.name() == "fits").count()
    };
    let table = db::configurations_of(context.db, placed.unit).as_ref();
    left.len() + 1 == written.len() && table.is_some_and(|table| fits(table) == fits(before))
}

/// A configuration of a list and the comma that belongs to it, with the line where it has one of its own.
fn with_its_comma(
    context: &Context<'_>,
    written: &[(ExprId, Vec<usize>)],
    nth: usize,
    at: &dyn Fn(ExprId) -> TextRange,
) -> TextRange {
    let own = at(written[nth].0);
    let neighbour = |nth: usize| written.get(nth).map(|(expr, _)| at(*expr));
    let text = context.document().text();
    match (neighbour(nth + 1), nth.checked_sub(1).and_then(neighbour)) {
        // Up to the next one, if nothing but white space and the comma is between.
        (Some(next), _) if is_separator(&text[own.end..next.start]) => TextRange::new(own.start, next.start),
        (None, Some(before)) if is_separator(&text[before.end..own.start]) => TextRange::new(before.end, own.end),
        _ => own,
    }
}

fn is_separator(text: &str) -> bool {
    text.trim() == ","
}
