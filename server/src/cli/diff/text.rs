//! What changed, for people at a terminal.

use std::fmt::Write as _;

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

use super::Base;
use super::compared::{Compared, Difference, MemoryChange};
use super::side::Space;
use crate::cli::columns::aligned;
use crate::cli::usage::{OVER, amount, percent, used};
use crate::notebook::in_cell;
use crate::terminal::{plain, wrapped};

const BOLD: Style = Style::new().effects(Effects::BOLD);
const BETTER: Style = AnsiColor::Green.on_default();

pub(super) fn report(compared: &Compared, base: &Base, width: usize) -> String {
    let mut text = String::new();
    for (difference, others) in compared.alike() {
        text.push_str(&one(difference, others, width));
    }
    text + &wrapped(&plain(&summary(compared, base)), width, "") + "\n"
}

fn one(difference: &Difference, others: usize, width: usize) -> String {
    let kernel = difference.kernel();
    let others = if others > 0 { format!(" and {others} like it") } else { String::new() };
    let is = match (&difference.before, &difference.after) {
        (None, _) => " is new",
        (_, None) => " is gone",
        _ => "",
    };
    let file = in_cell(&kernel.file, kernel.cell);
    let (file, name) = (plain(&file), plain(&kernel.name));
    let mut text = format!("{file}:{}: {BOLD}{name}{BOLD:#}{others}{is}\n", kernel.line);
    let memories = difference.memories();
    let rows: Vec<_> = memories.iter().map(row).collect();
    for (line, memory) in aligned(&rows).lines().zip(&memories) {
        let style = match memory {
            it if it.no_longer_fits() => OVER,
            it if it.fits_again() => BETTER,
            _ => Style::new(),
        };
        let _ = writeln!(text, "{style}{}{style:#}", plain(line));
    }
    for (what, before, after) in difference.terms() {
        let _ = writeln!(text, "  {what}: {} → {}", plain(before), plain(after));
    }
    let (new, gone) = (difference.new_findings(), difference.gone_findings());
    for (is, findings) in [("new", new), ("gone", if difference.after.is_some() { gone } else { Vec::new() })] {
        for finding in findings {
            let said =
                format!("  {is}: {}[{}]: line {}: {}", finding.severity, finding.code, finding.line, finding.message);
            let _ = writeln!(text, "{}", wrapped(&plain(&said), width, "    "));
        }
    }
    text.push('\n');
    text
}

/// Memory, change, percent, from and to, verdict.
fn row(change: &MemoryChange<'_>) -> [String; 5] {
    let verdict = verdict(change);
    [change.memory.to_owned(), delta(change), percents(change), sizes(change), verdict]
}

/// `+16 KiB`; nothing where one of both is not one number, or is not there.
pub(in crate::cli) fn delta(change: &MemoryChange<'_>) -> String {
    let exactly = |space: Option<Space>| space.map_or(Some(0), |space| space.used);
    match (exactly(change.before), exactly(change.after)) {
        (Some(before), Some(after)) if after > before => format!("+{}", amount(change.memory, after - before)),
        (Some(before), Some(after)) if after < before => format!("-{}", amount(change.memory, before - after)),
        _ => String::new(),
    }
}

/// `92 → 101 %`
pub(in crate::cli) fn percents(change: &MemoryChange<'_>) -> String {
    let of = |space: Space| {
        let capacity = space.capacity.filter(|&capacity| capacity > 0)?;
        Some(space.most().map_or_else(|| "?".to_owned(), |most| percent(most, capacity).to_string()))
    };
    match (change.before.map(of), change.after.map(of)) {
        (Some(Some(before)), Some(Some(after))) => format!("{before} → {after} %"),
        (None, Some(Some(only))) | (Some(Some(only)), None) => format!("{only} %"),
        _ => String::new(),
    }
}

/// `168 KiB → 186 KiB of 184 KiB`
pub(in crate::cli) fn sizes(change: &MemoryChange<'_>) -> String {
    let of = |space: &Space| used(change.memory, space.used, space.bounds());
    let sides: Vec<String> = change.before.iter().chain(&change.after).map(of).collect();
    let capacity = |space: Option<Space>| space.and_then(|space| space.capacity).filter(|&capacity| capacity > 0);
    let capacity = match (capacity(change.before), capacity(change.after)) {
        (Some(before), Some(after)) if before != after => {
            format!(" of {} → {}", amount(change.memory, before), amount(change.memory, after))
        }
        (_, Some(only)) | (Some(only), None) => format!(" of {}", amount(change.memory, only)),
        (None, None) => String::new(),
    };
    format!("{}{capacity}", sides.join(" → "))
}

pub(in crate::cli) fn verdict(change: &MemoryChange<'_>) -> String {
    let (is_new, after) = (change.before.is_none(), change.after);
    if change.no_longer_fits() {
        let over = after.and_then(|it| Some(it.used.or(it.low)?.saturating_sub(it.capacity?))).unwrap_or_default();
        let over = amount(change.memory, over);
        return if is_new { format!("does not fit, {over} over") } else { format!("no longer fits, {over} over") };
    }
    match after {
        Some(_) if change.fits_again() => "fits now".to_owned(),
        Some(after) if after.is_over() => "still does not fit".to_owned(),
        _ => String::new(),
    }
}

/// One sentence.
pub(super) fn summary(compared: &Compared, base: &Base) -> String {
    let count = |is: fn(&Difference) -> bool| compared.differences.iter().filter(|it| is(it)).count();
    let counts = [
        (count(|it| it.before.is_some() && it.after.is_some()), "changed"),
        (count(|it| it.before.is_none()), "new"),
        (count(|it| it.after.is_none()), "gone"),
        (compared.unchanged, "unchanged"),
    ];
    let said: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let base = base.words();
    let kernels =
        if said.is_empty() { "no kernels on either side".to_owned() } else { format!("kernels: {}", said.join(", ")) };
    match compared.no_longer_fits() {
        0 => format!("Compared with {base}: {kernels}."),
        1 => format!("Compared with {base}: {kernels}. 1 kernel newly does not fit."),
        over => format!("Compared with {base}: {kernels}. {over} kernels newly do not fit."),
    }
}
