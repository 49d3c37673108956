//! What there is to say of a soak.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::Options;
use super::findings::Finding;
use super::timings::{Place, Timings};
use crate::process;
use crate::typing::Kind;

/// Rows of the curve.
const ROWS: usize = 25;

/// Findings of one kind whose texts are written.
const WRITTEN: usize = 10;

pub(super) struct Sample {
    pub(super) after: Duration,
    pub(super) edits: usize,
    /// Resident memory.
    pub(super) mib: f64,
}

pub struct Report {
    seed: u64,
    found_in: PathBuf,
    sources: usize,
    took: Duration,
    pub(super) edits: BTreeMap<Kind, usize>,
    pub(super) opened: usize,
    pub(super) settings: usize,
    pub(super) timings: Timings,
    pub(super) samples: Vec<Sample>,
    /// Texts of which a fresh server was asked too.
    pub(super) compared: usize,
    fuzzed: BTreeMap<&'static str, u64>,
    /// What was found, and the files that show it.
    findings: Vec<(&'static str, String, Vec<String>)>,
}

impl Report {
    pub(super) fn new(options: &Options, sources: usize) -> Report {
        Report {
            seed: options.seed,
            found_in: options.found.clone(),
            sources,
            took: Duration::ZERO,
            edits: BTreeMap::new(),
            opened: 0,
            settings: 0,
            timings: Timings::default(),
            samples: Vec::new(),
            compared: 0,
            fuzzed: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn took(&mut self, time: Duration) {
        self.took = time;
    }

    /// The number of one more input, from 0.
    pub(super) fn fuzzed(&mut self, target: &'static str) -> u64 {
        let count = self.fuzzed.entry(target).or_default();
        *count += 1;
        *count - 1
    }

    pub(super) fn found(&mut self, mut finding: Finding) {
        let known = self.findings.iter().filter(|(kind, ..)| *kind == finding.kind).count();
        if known >= WRITTEN {
            finding.texts.clear();
        }
        let number = self.findings.len() + 1;
        let texts = finding.write(&self.found_in.join(format!("found-{number}")));
        eprintln!("{}: {}", finding.kind, finding.what);
        self.findings.push((finding.kind, finding.what, texts));
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    pub fn edits(&self) -> usize {
        self.edits.values().sum()
    }

    pub fn answers(&self) -> usize {
        self.timings.count()
    }

    pub fn comparisons(&self) -> usize {
        self.compared
    }

    /// In Markdown. Writes the texts of the slowest answers beside those of the findings.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Soak\n\n{:.1} minutes, seed {}, {} texts; {} {}, {} cores, load {}.\n\n",
            self.took.as_secs_f64() / 60.0,
            self.seed,
            self.sources,
            std::env::consts::OS,
            std::env::consts::ARCH,
            std::thread::available_parallelism().map_or(0, usize::from),
            process::load(),
        );
        let kinds: BTreeMap<&str, usize> = self.findings.iter().fold(BTreeMap::new(), |mut kinds, (kind, ..)| {
            *kinds.entry(*kind).or_default() += 1;
            kinds
        });
        let wrong: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
        let wrong = if wrong.is_empty() { "nothing".to_owned() } else { wrong.join(", ") };
        let _ = writeln!(
            text,
            "Wrong: **{wrong}**, among {} texts of which a fresh server was asked too.\n",
            self.compared
        );
        for (kind, what, texts) in &self.findings {
            let _ = writeln!(text, "* {kind}: {}{}", what.replace('\n', " "), listed(texts));
        }
        self.table_of_edits(&mut text);
        self.table_of_answers(&mut text);
        self.curve(&mut text);
        let fuzzed: Vec<String> = self.fuzzed.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(text, "\n## Inputs of fuzz targets\n\n{}", fuzzed.join(", "));
        text
    }

    fn table_of_edits(&self, text: &mut String) {
        let _ = writeln!(text, "\n## Edits\n\n| edit | times |\n|---|---|");
        for (kind, count) in &self.edits {
            let _ = writeln!(text, "| {} | {count} |", kind.name());
        }
        let _ = writeln!(
            text,
            "| all | {} |\n\n{} documents were opened, settings changed {} times.",
            self.edits(),
            self.opened,
            self.settings
        );
    }

    fn table_of_answers(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n## Answers\n\nMilliseconds, from the question or the edit to the answer; several may wait at a time.\n\n| asked | times | cancelled | p50 | p95 | p99 | slowest | where |\n|---|---|---|---|---|---|---|---|"
        );
        for (what, timing) in &self.timings.0 {
            let [p50, p95, p99] = timing.percentiles([50, 95, 99]);
            let (slowest, place) = timing
                .slowest()
                .map_or((f32::NAN, String::new()), |(slowest, place)| (*slowest, self.written(what, place)));
            let _ = writeln!(
                text,
                "| {what} | {} | {} | {p50:.1} | {p95:.1} | {p99:.1} | {slowest:.1} | {place} |",
                timing.count(),
                timing.cancelled
            );
        }
    }

    /// Where something was slow, and the file that has the text.
    fn written(&self, what: &str, place: &Place) -> String {
        let name = format!("slow-{}.py", what.replace(['/', ' ', '\''], "-"));
        let finding =
            Finding { kind: "slow", what: String::new(), texts: vec![(name, place.text.as_bytes().to_vec())] };
        let texts = finding.write(&self.found_in);
        let Place { name, line, column, settings, .. } = place;
        format!("{name}:{}:{} as it was then, settings `{settings}`{}", line + 1, column + 1, listed(&texts))
    }

    fn curve(&self, text: &mut String) {
        let _ = writeln!(text, "\n## Resident memory\n\n| minutes | edits | MiB |\n|---|---|---|");
        let step = self.samples.len().div_ceil(ROWS).max(1);
        let last = self.samples.len().saturating_sub(1);
        for (at, Sample { after, edits, mib }) in self.samples.iter().enumerate() {
            if at % step == 0 || at == last {
                let _ = writeln!(text, "| {:.1} | {edits} | {mib:.1} |", after.as_secs_f64() / 60.0);
            }
        }
        let most = self.samples.iter().map(|sample| sample.mib).fold(f64::NAN, f64::max);
        let _ = writeln!(text, "\nAt most {most:.1} MiB.");
    }
}

fn listed(texts: &[String]) -> String {
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
}
