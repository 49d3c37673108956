//! Which files the settings `include` and `exclude` leave to be looked at.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tilefit_analysis::project::Config;

use crate::tree;

/// Says which files are looked at.
pub(crate) trait Selects: Send + Sync + 'static {
    /// Whether a file is to be looked at.
    fn selects(&self, file: &Path) -> bool;

    /// Whether there may be selected files in a directory.
    fn enters(&self, directory: &Path) -> bool;
}

/// Patterns that count from the folder of the settings. Without a root everything is selected.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    root: PathBuf,
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
}

impl Selection {
    /// What `config` selects below `root`, and what is wrong with its patterns, in words for the user.
    pub(crate) fn new(root: Option<&Path>, config: &Config) -> (Selection, Vec<String>) {
        let mut problems = Vec::new();
        let Some(root) = root else { return (Selection::default(), problems) };
        let include = patterns(root, "include", &config.include, &mut problems);
        let exclude = patterns(root, "exclude", &config.exclude, &mut problems);
        (Selection { root: root.to_owned(), include, exclude }, problems)
    }

    /// Whether nothing is to be shown of a document, by the name that the analysis knows it by. One without a file cannot be excluded.
    pub(crate) fn excludes(&self, path: &str) -> bool {
        let path = Path::new(path);
        path.is_absolute() && !self.selects(path)
    }

    fn below_root(&self, path: &Path) -> Option<PathBuf> {
        tree::absolute(path).strip_prefix(&self.root).ok().map(Path::to_owned)
    }
}

impl Selects for Selection {
    /// A file outside of the folder always is.
    fn selects(&self, file: &Path) -> bool {
        self.below_root(file).is_none_or(|file| {
            let matches = |patterns: &Gitignore| patterns.matched_path_or_any_parents(&file, false).is_ignore();
            self.include.as_ref().is_none_or(matches) && !self.exclude.as_ref().is_some_and(matches)
        })
    }

    fn enters(&self, directory: &Path) -> bool {
        let excluded = |patterns: &Gitignore| {
            let below = self.below_root(directory).filter(|below| !below.as_os_str().is_empty());
            below.is_some_and(|below| patterns.matched_path_or_any_parents(below, true).is_ignore())
        };
        !self.exclude.as_ref().is_some_and(excluded)
    }
}

fn patterns(root: &Path, key: &str, lines: &[String], problems: &mut Vec<String>) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(root);
    for line in lines {
        if let Err(error) = builder.add_line(None, line) {
            problems.push(format!("tilefit settings: `{key}`: {error}"));
        }
    }
    let built = builder.build();
    if let Err(error) = &built {
        problems.push(format!("tilefit settings: `{key}`: {error}"));
    }
    built.ok().filter(|patterns| !patterns.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(include: &[&str], exclude: &[&str], selected: &[&str], not: &[&str]) {
        let all = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let config = Config { include: all(include), exclude: all(exclude), ..Config::default() };
        let (selection, problems) = Selection::new(Some(Path::new("/work")), &config);
        assert_eq!(problems, Vec::<String>::new());
        for path in selected {
            assert!(selection.selects(Path::new(path)), "{path}");
        }
        for path in not {
            assert!(!selection.selects(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn patterns_are_those_of_gitignore() {
        check(&[], &[], &["/work/a.py", "/elsewhere/a.py", "untitled:1"], &[]);
        check(&[], &["old/", "/top.py"], &["/work/a.py", "/work/sub/top.py"], &["/work/top.py", "/work/x/old/y/a.py"]);
        check(&["kernels/", "*_k.py"], &[], &["/work/kernels/a.py", "/work/b_k.py", "/a.py"], &["/work/a.py"]);
        check(&["kernels/"], &["*_old.py"], &["/work/kernels/a.py"], &["/work/kernels/a_old.py", "/work/b.py"]);
        check(&[], &["*", "!keep.py"], &["/work/keep.py"], &["/work/a.py"]);
    }

    #[test]
    fn a_directory_is_entered_unless_it_is_excluded() {
        let config = Config { include: vec!["a.py".into()], exclude: vec!["old/".into()], ..Config::default() };
        let (selection, _) = Selection::new(Some(Path::new("/work")), &config);
        assert!(selection.enters(Path::new("/work")));
        assert!(selection.enters(Path::new("/work/kernels")));
        assert!(!selection.enters(Path::new("/work/kernels/old")));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_told() {
        let config = Config { exclude: vec!["a{b".into()], ..Config::default() };
        let (selection, problems) = Selection::new(Some(Path::new("/work")), &config);
        assert!(problems[0].starts_with("tilefit settings: `exclude`: "), "{problems:?}");
        assert!(selection.selects(Path::new("/work/a.py")));
    }
}
