//! Findings in their source, memories as bars, and a line that counts.

use std::fmt::Write as _;

use tilefit_analysis::diagnostics::Severity;
use tilefit_analysis::ide::KernelSummary;

use super::{Checked, Run};
use crate::cli::usage;

/// Empty for a file without kernels that nothing is wrong with.
pub(super) fn file(checked: &Checked) -> String {
    let mut text: String = checked.findings.iter().map(|finding| finding.frame.as_str()).collect();
    for (kernel, others) in alike(&checked.kernels) {
        let _ = write!(text, "{}{}", usage::heading(&checked.path, kernel, others), usage::bars(kernel));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Each kernel with the number of those at the same place that fill the memories as it does.
fn alike(kernels: &[KernelSummary]) -> Vec<(&KernelSummary, usize)> {
    let mut first: Vec<(&KernelSummary, usize)> = Vec::new();
    let same = |a: &KernelSummary, b: &KernelSummary| a.line == b.line && a.status == b.status && a.spaces == b.spaces;
    for kernel in kernels {
        match first.iter_mut().rev().find(|(known, _)| same(known, kernel)) {
            Some((_, others)) if !kernel.spaces.is_empty() => *others += 1,
            _ => first.push((kernel, 0)),
        }
    }
    first
}

pub(super) fn summary(run: &Run) -> String {
    let count = |status: &str| run.kernels().filter(|kernel| kernel.status == status).count();
    let predicted = match count("predicted") {
        0 => String::new(),
        predicted => format!(", {predicted} predicted"),
    };
    let mut text = format!(
        "{}, {} ({} exact{predicted}): {}, {}, {}",
        plural(run.found, "file"),
        plural(run.kernels().count(), "kernel"),
        count("exact"),
        plural(run.count(Severity::Error), "error"),
        plural(run.count(Severity::Warning), "warning"),
        plural(run.count(Severity::Hint), "hint"),
    );
    if run.known > 0 {
        let _ = write!(text, ", {} in the baseline", run.known);
    }
    if !run.failures.is_empty() {
        let _ = write!(text, ", {} that cannot be read", plural(run.failures.len(), "path"));
    }
    text.push('\n');
    text
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
