//! The Python files of paths, as git sees them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::disk;
use crate::selection::Selection;

/// The files to look at in a fixed order, and what cannot be looked at. A file that is named is there whatever its name and the
/// selection.
pub(crate) fn find(paths: &[PathBuf], selection: &Arc<Selection>) -> (Vec<PathBuf>, Vec<String>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for path in paths {
        if let Err(error) = fs::metadata(path) {
            failures.push(format!("{}: {error}", path.display()));
            continue;
        }
        let entered = Arc::clone(selection);
        let enters = move |entry: &DirEntry| entry.depth() == 0 || !is_directory(entry) || entered.enters(entry.path());
        for entry in WalkBuilder::new(path).sort_by_file_path(Path::cmp).filter_entry(enters).build() {
            match entry {
                Err(error) => failures.push(error.to_string()),
                Ok(entry) if is_directory(&entry) => {}
                Ok(entry) if entry.depth() == 0 => files.push(entry.into_path()),
                Ok(entry) => {
                    let is_python = entry.path().extension().is_some_and(|it| it == "py");
                    if !is_python || !selection.selects(entry.path()) {
                        continue;
                    }
                    match disk::stay_within(path, entry.path()) {
                        Err(error) if entry.path_is_symlink() => {
                            failures.push(format!("{}: {error}", entry.path().display()))
                        }
                        _ => files.push(entry.into_path()),
                    }
                }
            }
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    (files, failures)
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}
