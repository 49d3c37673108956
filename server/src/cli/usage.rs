//! How full the memories of a kernel are, as text.

use std::fmt::Write as _;

use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use tilelens_analysis::ide::KernelPlan;
use tilelens_analysis::ide::plan_view::SpacePlan;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const FITS: Style = AnsiColor::Green.on_default();
const FULL: Style = AnsiColor::Yellow.on_default();
const OVER: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);

/// A bar is this many characters wide when the memory is full.
const CELLS: u64 = 20;

/// One line: the kernel and what it was planned for.
pub(super) fn heading(kernel: &KernelPlan) -> String {
    let status = match kernel.status {
        "exact" => String::new(),
        other => format!(", {other}"),
    };
    format!("{BOLD}{}{BOLD:#} line {} ({}, {}{status})\n", kernel.name, kernel.line, kernel.target, kernel.planner)
}

/// One line for each memory space that the kernel uses.
pub(super) fn bars(kernel: &KernelPlan) -> String {
    kernel.spaces.iter().fold(String::new(), |mut text, (name, space)| {
        let _ = writeln!(text, "  {name:10} {}", bar(space));
        text
    })
}

fn bar(space: &SpacePlan) -> String {
    let Some(capacity) = space.capacity.filter(|&capacity| capacity > 0) else {
        return format!("{} bytes, no limit known", space.used);
    };
    // Rounded up: what is used never looks free, what is over never looks full.
    let filled = (space.used.saturating_mul(CELLS)).div_ceil(capacity);
    let percent = (space.used.saturating_mul(100)).div_ceil(capacity);
    let style = match percent {
        0..90 => FITS,
        90..=100 => FULL,
        _ => OVER,
    };
    let (filled, free) = (filled.min(CELLS) as usize, CELLS.saturating_sub(filled) as usize);
    let cells = format!("{style}{}{style:#}{}", "█".repeat(filled), "░".repeat(free));
    format!("{cells} {:>8} / {capacity:<8} {percent:>4} %", space.used)
}
