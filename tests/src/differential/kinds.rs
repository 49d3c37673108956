//! Differences of one kind are shown once: their reasons differ in names and numbers only.

use std::collections::{BTreeMap, BTreeSet};

use tilefit_pypto::coverage::Mark;

use super::judge::{Configuration, Kind, Verdict};

/// What differences of one kind have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    pub kind: Kind,
    pub words: String,
}

impl Signature {
    pub fn of(verdict: &Verdict) -> Signature {
        Signature { kind: verdict.kind, words: words(&verdict.because) }
    }
}

/// A name for the folder of a small kernel: its operations and the heads of its blocks.
pub fn slug(kind: Kind, text: &str) -> String {
    let mut words = vec![kind.name().to_owned()];
    for line in text.lines().filter(|line| line.starts_with(' ')) {
        let line = line.trim_start();
        let head = ["if ", "while ", "for "].into_iter().find(|head| line.starts_with(head));
        let called = line.match_indices("pl.").filter_map(|(at, _)| {
            let name = line[at + 3..].split('(').next()?;
            let is_call = line[at + 3 + name.len()..].starts_with('(');
            (is_call && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')).then_some(name)
        });
        let words_of_line = head.map(str::trim).into_iter().chain(called);
        for word in words_of_line.filter(|word| !matches!(*word, "function" | "at")) {
            let word = word.replace('.', "_");
            if words.last() != Some(&word) && words.len() < 9 {
                words.push(word);
            }
        }
    }
    words.join("-")
}

/// A reason without numbers, quoted names and lists.
fn words(because: &str) -> String {
    let mut words = String::new();
    let mut quoted = false;
    let mut depth = 0usize;
    for c in because.chars().take(200) {
        match c {
            '\'' | '`' => quoted = !quoted,
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if quoted || depth > 0 => {}
            c if c.is_ascii_digit() => {}
            c => words.push(c),
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Counts of verdicts by configuration.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    verdicts: BTreeMap<(Configuration, Kind), usize>,
    refused: BTreeMap<Configuration, usize>,
    /// How many kernels with equal plans, and with other ones, use something.
    marks: BTreeMap<(Configuration, Mark), [usize; 2]>,
}

impl Tally {
    pub fn add(&mut self, configuration: Configuration, verdict: &Verdict) {
        *self.verdicts.entry((configuration, verdict.kind)).or_default() += 1;
        *self.refused.entry(configuration).or_default() += usize::from(verdict.refused);
        for mark in BTreeSet::from_iter(&verdict.marks) {
            let [equal, other] = self.marks.entry((configuration, *mark)).or_default();
            if verdict.kind.is_difference() { *other += 1 } else { *equal += 1 }
        }
    }

    /// What counts as compared: several kernels that use it have the compiler's plan, and none has another one. Whether it is to
    /// blame where a plan differs is not known.
    pub fn compared(&self) -> impl Iterator<Item = (Configuration, Mark)> {
        const SEVERAL: usize = 3;
        let counts = self.marks.iter().filter(|(_, [equal, other])| *equal >= SEVERAL && *other == 0);
        counts.map(|(key, _)| *key)
    }

    pub fn count(&self, configuration: Configuration, kind: Kind) -> usize {
        self.verdicts.get(&(configuration, kind)).copied().unwrap_or(0)
    }

    /// A line a configuration: counts, and rates of the kernels that could be compared.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for configuration in Configuration::ALL {
            let total: usize = Kind::ALL.iter().map(|&kind| self.count(configuration, kind)).sum();
            let compared = total - self.count(configuration, Kind::NoAnswer);
            if total == 0 {
                continue;
            }
            let part = |&kind: &Kind| {
                let count = self.count(configuration, kind);
                let rate = 100.0 * count as f64 / compared.max(1) as f64;
                match kind {
                    Kind::NoAnswer => format!("{} {count}", kind.name()),
                    _ => format!("{} {count} ({rate:.1} %)", kind.name()),
                }
            };
            let parts: Vec<String> = Kind::ALL.iter().map(part).collect();
            let refused = self.refused.get(&configuration).copied().unwrap_or(0);
            lines.push_str(&format!(
                "{configuration:11} {}; the compiler refuses {refused} of {total}\n",
                parts.join(", ")
            ));
        }
        lines
    }
}
