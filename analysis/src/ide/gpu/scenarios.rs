//! The scenarios of a kernel in a table: which values, how much memory, whether it fits.

use std::collections::BTreeMap;
use std::fmt::Write;

use tilefit_gpu::device::Space;
use tilefit_python::eval::Constant;
use tilefit_python::finding::Note;

use crate::db::{ScenarioRow, ScenarioTable};
use crate::ide::plan_view::ScenarioView;
use crate::ide::{Context, PlacedUnit, formatting};

/// Lines of the table in a hover.
const MOST_LINES: usize = 24;

/// Empty where there are fewer than two scenarios.
pub(in crate::ide) fn views(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    table: Option<&ScenarioTable>,
    selected: usize,
) -> Vec<ScenarioView> {
    let Some(table) = table else { return Vec::new() };
    let differing = differing(&table.rows);
    let view = |row: &ScenarioRow| {
        let value = |name: &&String| {
            let value = row.scenario.values.get(*name).map_or_else(|| "?".to_owned(), |(value, _)| display(value));
            ((*name).clone(), value)
        };
        let mut values: BTreeMap<_, _> = differing.iter().map(value).collect();
        values.extend(row.scenario.arch.map(|arch| ("arch".to_owned(), arch.to_string())));
        let usage = row.usage.clone();
        let verdict = usage.verdict.name();
        let takes = usage.memories.iter().map(|taken| (taken.space.name(), taken.amount.0)).collect();
        let refusal = usage.refusal.as_ref().map(|note| refused(context, placed, note));
        ScenarioView { index: row.index, values, takes, verdict, refusal, selected: row.index == selected, usage }
    };
    table.rows.iter().map(view).collect()
}

/// `line 8: a `static_assert` fails, so the compiler refuses the kernel`
pub(in crate::ide) fn refused(context: &Context<'_>, placed: &PlacedUnit<'_>, note: &Note) -> String {
    format!("line {}: {}", context.line(placed.range(note.at).start), note.reason)
}

/// The parameters that do not have the same value everywhere.
fn differing(rows: &[ScenarioRow]) -> Vec<&String> {
    let mut names: Vec<&String> = rows.iter().flat_map(|row| row.scenario.values.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let value = |row: &ScenarioRow| row.scenario.values.get(*name).map(|(value, _)| value.clone());
        let first = rows.first().and_then(value);
        rows.iter().any(|row| value(row) != first)
    });
    names
}

/// A table of the scenarios, the one in force in bold.
pub(in crate::ide) fn markdown(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    table: Option<&ScenarioTable>,
    selected: usize,
) -> String {
    let mut text = String::new();
    let views = views(context, placed, table, selected);
    let (Some(table), Some(first)) = (table, views.first()) else { return text };
    let names: Vec<&String> = first.values.keys().collect();
    let heads: String = names.iter().map(|name| format!(" {name} |")).collect();
    let rules = "---|".repeat(names.len());
    let (fits, known) = table.fits;
    let all = table.rows.len() + table.more - table.refused;
    let first = if table.is_cut { "the first " } else { "" };
    let refusals = match table.refused {
        0 => String::new(),
        refused => format!(" The compiler refuses {refused}."),
    };
    let _ = match known {
        0 if table.refused == table.rows.len() + table.more => {
            writeln!(text, "\nThe compiler refuses every configuration.\n")
        }
        0 => writeln!(text, "\nThe memory of no configuration is known.{refusals}\n"),
        known if known == all => writeln!(text, "\n{fits} of {first}{all} configurations fit.{refusals}\n"),
        known => writeln!(text, "\n{fits} of {first}{known} configurations that are known fit.{refusals}\n"),
    };
    // A memory that no configuration takes anything of has no column, unless it is shared memory.
    let is_shown =
        |space: Space| space == Space::Shared || table.rows.iter().any(|row| row.usage.amount(space) != (0, Some(0)));
    let all_memories = table.rows.first().into_iter().flat_map(|row| &row.usage.memories).map(|taken| taken.space);
    let spaces: Vec<Space> = all_memories.filter(|space| is_shown(*space)).collect();
    let head: String = spaces.iter().map(|space| format!(" {} |", space.name().to_uppercase())).collect();
    let _ = writeln!(text, "| |{heads}{head} |\n|---|{rules}{}---|", "---|".repeat(spaces.len()));
    for (row, view) in table.rows.iter().zip(&views).take(MOST_LINES) {
        let values: String =
            names.iter().map(|name| format!(" {} |", view.values.get(*name).map_or("?", String::as_str))).collect();
        let number = row.index + 1;
        let number = if view.selected { format!("**{number}**") } else { number.to_string() };
        let _ = match &view.refusal {
            Some(refusal) => {
                writeln!(text, "| {number} |{values}{} refused: {refusal} |", " |".repeat(spaces.len()))
            }
            None => {
                let amounts =
                    spaces.iter().map(|&space| format!(" {} |", formatting::between(row.usage.amount(space))));
                writeln!(text, "| {number} |{values}{} {} |", amounts.collect::<String>(), view.verdict)
            }
        };
    }
    let more = views.len().saturating_sub(MOST_LINES) + table.more;
    if more > 0 {
        let _ = writeln!(text, "\nand {more} more; `tilefit plan` lists them.");
    }
    if table.pruned {
        text.push_str("\nThe decorator that tunes the kernel may drop some before they are compiled.\n");
    }
    let _ = writeln!(
        text,
        "\nThe plan and its errors are of the one in bold. A comment `# tilefit: NAME=value` selects another."
    );
    text
}

/// ` · fits 3 of 8 configurations · 1 refused`; nothing where none is known.
pub(in crate::ide) fn fitting(table: Option<&ScenarioTable>) -> String {
    let Some(ScenarioTable { fits: (fits, known), refused, is_cut, .. }) = table else { return String::new() };
    let first = if *is_cut { "the first " } else { "" };
    let fits = match known {
        0 => String::new(),
        known => format!(" · fits {fits} of {first}{known} configurations"),
    };
    match refused {
        0 => fits,
        refused => format!("{fits} · {refused} refused"),
    }
}

/// As Python writes it.
pub(in crate::ide) fn display(value: &Constant) -> String {
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
