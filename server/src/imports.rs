//! Files of the workspace that a kernel file imports constants from.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_syntax::Document;

use crate::disk;

/// Length of the longest chain of imports that is followed.
const AT_MOST: usize = 16;

/// The first candidate that exists: its path, and its text or why it is not read. Nothing outside of `root` is read.
pub(crate) fn read_first(candidates: &[String], root: &Path) -> Option<(String, Result<String, String>)> {
    let inside = candidates.iter().filter(|path| Path::new(path).starts_with(root));
    let read = |path: &String| match disk::read_within(root, Path::new(path)) {
        Err(error) if error.is_missing() => None,
        read => Some((path.clone(), read.map_err(|error| error.to_string()))),
    };
    inside.filter_map(read).next()
}

/// Hands in what files import, each from below its root, and what that imports in turn.
pub(crate) fn load(host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
    let mut sought = HashSet::new();
    for _ in 0..AT_MOST {
        let analysis = host.snapshot();
        let mut found = BTreeMap::new();
        for (file, root) in files {
            let unknown = analysis.unknown_imports(*file).unwrap_or_default().into_iter();
            let new = unknown.filter(|candidates| sought.insert((*root, candidates.clone())));
            found.extend(new.filter_map(|candidates| read_first(&candidates, root)));
        }
        drop(analysis);
        if found.is_empty() {
            return;
        }
        for (path, text) in found {
            let imported = host.file_id(&path);
            match text {
                Ok(text) => host.set_document(imported, Document::new(&text)),
                Err(reason) => host.set_unreadable(imported, reason),
            }
        }
    }
}
