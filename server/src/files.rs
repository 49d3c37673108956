//! The Python files and notebooks of paths, as git sees them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::disk;
use crate::selection::Selects;
use crate::tree::is_source;

/// The files to look at in a fixed order, and what cannot be looked at. A file that is named is there whatever its name and the
/// selection.
pub(crate) fn find<S: Selects>(paths: &[PathBuf], selection: &Arc<S>) -> (Vec<PathBuf>, Vec<String>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for path in paths {
        if let Err(error) = fs::metadata(path) {
            failures.push(format!("{}: {}", path.display(), disk::why(&error)));
            continue;
        }
        let before = (files.len(), failures.len());
        let mut is_left_out = false;
        let entered = Arc::clone(selection);
        let enters = move |entry: &DirEntry| entry.depth() == 0 || !is_directory(entry) || entered.enters(entry.path());
        for entry in WalkBuilder::new(path).sort_by_file_path(Path::cmp).filter_entry(enters).build() {
            match entry {
                Err(error) => failures.push(disk::why(&error)),
                Ok(entry) if is_directory(&entry) => {}
                Ok(entry) if entry.depth() == 0 => files.push(entry.into_path()),
                Ok(entry) if !is_source(entry.path()) => {}
                Ok(entry) if !selection.selects(entry.path()) => is_left_out = true,
                Ok(entry) => match disk::stay_within(path, entry.path()) {
                    Err(error) if entry.path_is_symlink() => {
                        failures.push(format!("{}: {error}", entry.path().display()))
                    }
                    _ => files.push(entry.into_path()),
                },
            }
        }
        if before == (files.len(), failures.len()) {
            let why = if is_left_out { ": the settings `include` and `exclude` leave none" } else { "" };
            failures.push(format!("no Python files found under `{}`{why}", path.display()));
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    (files, failures)
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}
