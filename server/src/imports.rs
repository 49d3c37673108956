//! Files of the workspace that a kernel file imports constants from.

use std::fs;
use std::path::Path;

use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_syntax::Document;

/// Length of the longest chain of imports that is followed.
const AT_MOST: usize = 16;

/// Path and text of the first candidate that exists. Nothing outside of `root` is read.
pub(crate) fn read_first(candidates: &[String], root: &Path) -> Option<(String, String)> {
    let mut inside = candidates.iter().filter(|path| Path::new(path).starts_with(root));
    inside.find_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)))
}

/// Hands in what `file` imports, and what that imports in turn.
pub(crate) fn load(host: &mut AnalysisHost, file: FileId, root: &Path) {
    for _ in 0..AT_MOST {
        let unknown = host.snapshot().unknown_imports(file).unwrap_or_default();
        let found: Vec<_> = unknown.iter().filter_map(|candidates| read_first(candidates, root)).collect();
        if found.is_empty() {
            return;
        }
        for (path, text) in found {
            let imported = host.file_id(&path);
            host.set_document(imported, Document::new(&text));
        }
    }
}
