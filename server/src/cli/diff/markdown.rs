//! What changed, as a comment for a review.

use std::fmt::Write as _;

use tilefit_answers::markdown::{Dialect, without_links};

use super::Base;
use super::compared::{Compared, Difference, MemoryChange};
use super::text::{delta, percents, summary, verdict};
use crate::cli::usage::used;

/// Services refuse comments above 65,536 characters.
const MOST_ROWS: usize = 100;

pub(super) fn report(compared: &Compared, base: &Base) -> String {
    let mut page = format!("### Memory of kernels\n\n{}\n", text(&summary(compared, base)));
    let all = compared.alike();
    let rows: Vec<String> = all.iter().flat_map(|(difference, others)| rows(difference, *others)).collect();
    if !rows.is_empty() {
        page.push_str(
            "\n| kernel | memory | before | after | change | of capacity | |\n|---|---|---:|---:|---:|---:|---|\n",
        );
        rows.iter().take(MOST_ROWS).for_each(|row| page.push_str(row));
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(page, "\n{} more rows are left out.", rows.len() - MOST_ROWS);
    }
    let findings: Vec<String> = all.iter().flat_map(|(difference, _)| findings(difference)).collect();
    if !findings.is_empty() {
        page.push('\n');
        findings.iter().take(MOST_ROWS).for_each(|finding| page.push_str(finding));
    }
    if findings.len() > MOST_ROWS {
        let _ = writeln!(page, "\n{} more findings are left out.", findings.len() - MOST_ROWS);
    }
    without_links(&page, Dialect::Named)
}

fn rows(difference: &Difference, others: usize) -> Vec<String> {
    let kernel = difference.kernel();
    let others = if others > 0 { format!(" and {others} like it") } else { String::new() };
    let is = match (&difference.before, &difference.after) {
        (None, _) => ", new",
        (_, None) => ", gone",
        _ => "",
    };
    let name = format!("{}{others}{is} at {}", code(&kernel.name), code(&format!("{}:{}", kernel.file, kernel.line)));
    let memories = difference.memories();
    let row = |change: &MemoryChange<'_>| {
        let size = |space: Option<super::side::Space>| {
            space.map_or_else(String::new, |space| used(change.memory, space.used, space.bounds()))
        };
        let verdict = if change.no_longer_fits() { format!("⚠ **{}**", verdict(change)) } else { verdict(change) };
        let (memory, before, after) = (text(change.memory), size(change.before), size(change.after));
        format!("| {name} | {memory} | {before} | {after} | {} | {} | {verdict} |\n", delta(change), percents(change))
    };
    memories.iter().map(row).collect()
}

fn findings(difference: &Difference) -> Vec<String> {
    let kernel = difference.kernel();
    let said = |is: &str, it: &super::side::Finding| {
        let place = code(&format!("{}:{}", kernel.file, it.line));
        format!("* {is} {} at {place}: {}\n", code(&format!("{}[{}]", it.severity, it.code)), text(&it.message))
    };
    let new = difference.new_findings().into_iter().map(|it| said("New", it));
    let gone =
        difference.gone_findings().into_iter().filter(|_| difference.after.is_some()).map(|it| said("Gone:", it));
    new.chain(gone).collect()
}

/// A code span, which a table does not take apart.
fn code(text: &str) -> String {
    let plain: String = text.chars().map(|c| if matches!(c, '`' | '|') || c.is_control() { '·' } else { c }).collect();
    format!("`{plain}`")
}

/// A text in a line.
fn text(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect()
}
