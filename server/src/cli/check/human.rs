//! Findings in their source, memories as bars, and a line that counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tilefit_analysis::ide::KernelSummary;
use tilefit_python::diagnostics::{Code, Severity};

use super::{Checked, Run, is_partial};
use crate::cli::columns::aligned;
use crate::cli::usage;
use crate::terminal::wrapped;

/// The findings of a file.
pub(super) fn findings(checked: &Checked) -> String {
    checked.findings.iter().map(|finding| finding.frame.as_str()).collect()
}

/// How full the memories of each kernel of a file are.
pub(super) fn bars(checked: &Checked) -> String {
    let mut text = String::new();
    for (kernel, others) in alike(&checked.kernels) {
        let said =
            checked.in_words.get(&(kernel.cell, kernel.line)).map_or("how much it takes is not known", String::as_str);
        let is_known = kernel.spaces.values().any(|space| space.used.or(space.bounds.map(|it| it.low)) > Some(0));
        let bars = match is_partial(kernel) && !is_known {
            true => format!("  {said}\n"),
            false => usage::bars(kernel),
        };
        let _ = write!(text, "{}{bars}", usage::heading(&checked.path, kernel, others));
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

/// How often each code was found, the most frequent first.
pub(super) fn statistics(run: &Run) -> String {
    let mut counts: BTreeMap<(Code, Severity), usize> = BTreeMap::new();
    for finding in run.findings() {
        *counts.entry((finding.code, finding.severity)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let width = counts.first().map_or(0, |(_, most)| most.to_string().len());
    let rows = counts.iter().map(|((code, severity), count)| {
        [format!("{count:>width$}"), severity.name().to_owned(), code.name().to_owned(), code.title().to_owned()]
    });
    aligned(&rows.collect::<Vec<_>>())
}

/// One line: what was checked, what was found, and what of it is not shown.
pub(super) fn summary(run: &Run, least: Severity, has_bars: bool, width: usize) -> String {
    let mut found: Vec<String> =
        (!run.failures.is_empty()).then(|| plural(run.failures.len(), "failure")).into_iter().collect();
    let mut hidden = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint] {
        let (count, name) = (run.count(severity), severity.name());
        match count {
            0 => {}
            _ if severity >= least => found.push(plural(count, name)),
            _ => hidden.push(plural(count, name)),
        }
    }
    // Nothing is known to be right of what has no size.
    let partial = run.partial();
    if partial > 0 {
        let have = if partial == 1 { "has" } else { "have" };
        found.push(format!("{partial} of {} {have} no single size", plural(run.kernels().count(), "kernel")));
    }
    if found.is_empty() {
        found.push(if least >= Severity::Error { "no errors" } else { "no errors or warnings" }.to_owned());
    }
    if run.known > 0 {
        found.push(format!("{} in the baseline", run.known));
    }
    let (kernels, files) = (plural(run.kernels().count(), "kernel"), plural(run.found, "file"));
    let mut text = format!("Checked {kernels} in {files}: {}.", found.join(", "));
    if !hidden.is_empty() {
        let _ = write!(text, " Not shown: {} (--severity hint shows them).", hidden.join(", "));
    }
    if partial > 0 && !has_bars {
        text.push_str(" `--usage` says what they lack.");
    }
    wrapped(&text, width, "") + "\n"
}

pub(super) fn plural(count: usize, noun: &str) -> String {
    let noun = if noun == "info" { "note" } else { noun };
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
