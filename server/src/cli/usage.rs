//! How full the memories of a kernel are, as text.

use std::fmt::Write as _;

use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use tilefit_analysis::ide::plan_view::{Bounds, SpacePlan};
use tilefit_analysis::ide::{KernelSummary, bytes};
use tilefit_python::finding::{Status, rounded};

use crate::notebook::in_cell;
use crate::terminal::plain;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const FITS: Style = AnsiColor::Green.on_default();
const FULL: Style = AnsiColor::Yellow.on_default();
pub(super) const OVER: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);

/// A bar is this many characters wide when the memory is full.
const CELLS: u64 = 20;

/// Letters of a capacity, and of how much of it is taken.
const OF_AND_PERCENT: usize = 13;

/// One line: where the kernel is, how many others are like it, and what it was planned for.
pub(super) fn heading(path: &str, kernel: &KernelSummary, others: usize) -> String {
    let status = match kernel.status {
        "exact" => String::new(),
        other => format!(", {other}"),
    };
    let KernelSummary { line, target, planner, .. } = kernel;
    let path = in_cell(path, kernel.cell);
    let (path, name) = (plain(&path), plain(&kernel.name));
    let others = match others {
        0 => String::new(),
        others => format!(" and {others} like it"),
    };
    format!("{path}:{line}: {BOLD}{name}{BOLD:#}{others} ({target}, {planner}{status})\n")
}

/// One line for each memory space that the kernel uses.
pub(super) fn bars(kernel: &KernelSummary) -> String {
    kernel.spaces.iter().fold(String::new(), |mut text, (name, space)| {
        let _ = writeln!(text, "  {name:10} {}", bar(name, space, is_least(kernel)));
        text
    })
}

/// Whether the numbers of a kernel are the least that it takes: not all of it is known.
pub(super) fn is_least(kernel: &KernelSummary) -> bool {
    kernel.status == Status::Partial.name()
}

fn bar(memory: &str, space: &SpacePlan, is_least: bool) -> String {
    let least = if is_least && space.used.is_some() { "≥ " } else { "" };
    let used = format!("{least}{}", used(memory, space.used, space.bounds));
    let Some(capacity) = space.capacity.filter(|&capacity| capacity > 0) else {
        return format!("{used}, no limit known");
    };
    let of = amount(memory, capacity);
    // What is not bounded is as full as it is at least.
    let (least, most) = match (space.used, space.bounds) {
        (Some(used), _) => (least, used),
        (None, Some(Bounds { high: Some(high), .. })) => (least, high),
        (None, Some(Bounds { low, high: None })) if low > 0 => ("≥ ", low),
        (None, _) => return format!("not known, of {of}"),
    };
    // Only a full memory looks full, only an empty one empty.
    let filled = match most {
        0 => 0,
        used if used >= capacity => CELLS,
        used => (used.saturating_mul(CELLS) / capacity).max(1),
    };
    let of_most = percent(most, capacity);
    let style = match of_most {
        0..90 => FITS,
        90..=100 => FULL,
        _ => OVER,
    };
    let (filled, free) = (filled as usize, (CELLS - filled) as usize);
    let cells = format!("{style}{}{style:#}{}", "█".repeat(filled), "░".repeat(free));
    let over = match space.used {
        Some(used) if used > capacity && memory == TENSOR_MEMORY => {
            format!(", {} over", amount(memory, used - capacity))
        }
        Some(used) if used > capacity => format!(", {} over", rounded(used - capacity)),
        _ => String::new(),
    };
    let of_least = space.bounds.filter(|_| space.used.is_none()).map_or(of_most, |it| percent(it.low, capacity));
    let percent = if of_least < of_most { format!("{of_least}–{of_most}") } else { format!("{least}{of_most}") };
    // Under each other also where it takes more letters than most.
    let width = OF_AND_PERCENT.saturating_sub(of.chars().count()).max(4);
    format!("{cells} {used:>9} of {of} {percent:>width$} %{over}")
}

/// Of a capacity, rounded up: what is full to the last byte is 100 %, what is over it is more.
pub(super) fn percent(used: u64, capacity: u64) -> u64 {
    used.saturating_mul(100).div_ceil(capacity)
}

/// `128 KiB`, `131136 B`, `96 KiB–128 KiB`, `≥ 96 KiB`; of tensor memory numbers alone.
pub(super) fn used(memory: &str, used: Option<u64>, bounds: Option<Bounds>) -> String {
    match (used, bounds) {
        (Some(used), _) => number(memory, used),
        (None, Some(Bounds { low, high: Some(high) })) => format!("{}–{}", number(memory, low), number(memory, high)),
        (None, Some(Bounds { low, high: None })) => format!("≥ {}", number(memory, low)),
        (None, None) => "?".to_owned(),
    }
}

/// What of a memory, in its unit.
pub(super) fn amount(memory: &str, amount: u64) -> String {
    let number = number(memory, amount);
    if memory == TENSOR_MEMORY { number + " columns" } else { number }
}

fn number(memory: &str, amount: u64) -> String {
    if memory == TENSOR_MEMORY { amount.to_string() } else { bytes(amount) }
}

/// That of a GPU is counted in columns, all other memory in bytes.
const TENSOR_MEMORY: &str = "tmem";

#[cfg(test)]
mod tests {
    use super::*;

    fn space(used: Option<u64>, bounds: Option<Bounds>) -> SpacePlan {
        SpacePlan { used, bounds, capacity: Some(188_416), peak: 0, packing: None }
    }

    /// Nothing that may be more is drawn as one number.
    #[test]
    fn what_is_not_one_number_is_not_drawn_as_one() {
        let drawn = |used, bounds, is_least| {
            let line = bar("Vec", &space(used, bounds), is_least);
            line[line.find("\u{1b}[0m").map_or(0, |at| at + 4)..].trim_start_matches(['░', ' ']).to_owned()
        };
        assert!(drawn(Some(131_072), None, false).ends_with("128 KiB of 184 KiB     70 %"));
        assert!(drawn(Some(131_072), None, true).ends_with("≥ 128 KiB of 184 KiB   ≥ 70 %"));
        let bounds = Some(Bounds { low: 32_768, high: Some(131_072) });
        assert!(drawn(None, bounds, false).ends_with(" 18–70 %"));
        assert!(drawn(None, Some(Bounds { low: 32_768, high: None }), false).ends_with("≥ 32 KiB of 184 KiB   ≥ 18 %"));
        assert!(drawn(None, Some(Bounds { low: 0, high: None }), false).ends_with("not known, of 184 KiB"));
    }
}
