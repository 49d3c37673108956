//! `FILE[:KERNEL]` and `--kernel PATTERN`: some kernels of a file.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use tilefit_python::spelling::did_you_mean;

/// Kernels by their names.
#[derive(clap::Args, Clone, Default)]
pub(super) struct Kernels {
    /// Only kernels of this name, in which `*` and `?` stand for any letters; may be given several times
    #[arg(long = "kernel", value_name = "PATTERN", value_parser = Pattern::of)]
    patterns: Vec<Pattern>,
}

/// A name with wildcards.
#[derive(Clone)]
struct Pattern {
    text: String,
    /// `None` where the text is no pattern: then it is a name.
    glob: Option<GlobMatcher>,
}

impl Pattern {
    fn of(text: &str) -> Result<Pattern, std::convert::Infallible> {
        Ok(Pattern { text: text.to_owned(), glob: Glob::new(text).ok().map(|glob| glob.compile_matcher()) })
    }

    /// `kernel` names `Program.kernel` too.
    fn names(&self, full: &str) -> bool {
        endings(full).any(|name| name == self.text || self.glob.as_ref().is_some_and(|glob| glob.is_match(name)))
    }
}

/// `Program.kernel`, `kernel`
fn endings(full: &str) -> impl Iterator<Item = &str> {
    std::iter::once(full).chain(full.match_indices('.').map(|(at, _)| &full[at + 1..]))
}

impl Kernels {
    /// Those of one name or pattern.
    pub(super) fn named(pattern: &str) -> Kernels {
        let Ok(pattern) = Pattern::of(pattern);
        Kernels { patterns: vec![pattern] }
    }

    pub(super) fn are_all(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(super) fn include(&self, name: &str) -> bool {
        self.are_all() || self.patterns.iter().any(|pattern| pattern.names(name))
    }

    /// For a name or pattern that none of the names is meant by: a sentence for the user.
    pub(super) fn unmatched(&self, names: &[&str]) -> Option<String> {
        let is_matched = |pattern: &&Pattern| names.iter().any(|name| pattern.names(name));
        let pattern = self.patterns.iter().find(|pattern| !is_matched(pattern))?;
        let meant = did_you_mean(&pattern.text, names.iter().flat_map(|name| endings(name)));
        let (shown, others) = names.split_at(names.len().min(MOST_NAMES));
        let listed = match (meant.as_str(), others.len()) {
            ("", 0) if shown.is_empty() => String::new(),
            ("", 0) => format!("; there are {}", shown.join(", ")),
            ("", others) => format!("; there are {} and {others} more", shown.join(", ")),
            _ => String::new(),
        };
        Some(format!("no kernel `{}`{meant}{listed}", pattern.text))
    }
}

/// More would hide what is wrong.
const MOST_NAMES: usize = 12;

pub(super) struct Which {
    pub(super) path: PathBuf,
    kernels: Kernels,
}

impl Which {
    /// A file may have a colon in its name; what exists counts.
    pub(super) fn of(what: &str) -> Which {
        match what.rsplit_once(':') {
            Some((path, kernel)) if !Path::new(what).exists() && !path.is_empty() => {
                let Ok(pattern) = Pattern::of(kernel);
                Which { path: path.into(), kernels: Kernels { patterns: vec![pattern] } }
            }
            _ => Which { path: what.into(), kernels: Kernels::default() },
        }
    }

    pub(super) fn in_file(path: &Path, kernels: Kernels) -> Which {
        Which { path: path.to_owned(), kernels }
    }

    /// Those that the option names, too.
    pub(super) fn and(mut self, kernels: &Kernels) -> Which {
        self.kernels.patterns.extend(kernels.patterns.iter().cloned());
        self
    }

    pub(super) fn includes(&self, name: &str) -> bool {
        self.kernels.include(name)
    }

    /// Those of `all` that are meant. The error is a sentence for the user.
    pub(super) fn among<'t, T>(&self, all: &'t [T], name: impl Fn(&T) -> &str) -> Result<Vec<&'t T>, String> {
        let names: Vec<_> = all.iter().map(&name).collect();
        match self.kernels.unmatched(&names) {
            Some(_) if names.is_empty() => Err(no_kernels(&self.path)),
            Some(unmatched) => Err(format!("{}: {unmatched}", self.path.display())),
            None => Ok(all.iter().filter(|item| self.kernels.include(name(item))).collect()),
        }
    }
}

/// What commands that show kernels say of a file that has none.
pub(super) fn no_kernels(path: &Path) -> String {
    format!("{}: there are no kernels in this file", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, named: &[&str], others: &[&str]) {
        let Ok(pattern) = Pattern::of(pattern);
        assert!(named.iter().all(|name| pattern.names(name)), "{}", pattern.text);
        assert!(!others.iter().any(|name| pattern.names(name)), "{}", pattern.text);
    }

    #[test]
    fn a_pattern_names_a_kernel_with_or_without_its_program() {
        check("gate", &["gate", "Gate.gate", "a.b.gate"], &["ate", "gates", "Gate.gates"]);
        check("Gate.*", &["Gate.gate", "x.Gate.gate"], &["gate", "Gates.gate"]);
        check("*_aic", &["P.moe_aic", "moe_aic"], &["moe_aiv"]);
        check("k?", &["k1", "P.k2"], &["k", "k12"]);
        check("a[", &["P.a["], &["a"]);
    }

    #[test]
    fn what_matches_nothing_is_told_with_what_there_is() {
        let unmatched = |pattern: &str, names: &[&str]| {
            let Ok(pattern) = Pattern::of(pattern);
            Kernels { patterns: vec![pattern] }.unmatched(names)
        };
        assert_eq!(unmatched("gate", &["P.gate"]), None);
        assert_eq!(unmatched("gatr", &["P.gate"]).as_deref(), Some("no kernel `gatr`; did you mean `gate`?"));
        let others = unmatched("softmax", &["P.gate", "P.norm"]);
        assert_eq!(others.as_deref(), Some("no kernel `softmax`; there are P.gate, P.norm"));
    }
}
