//! Files of the workspace that a kernel file imports constants from, and those that launch its kernels.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_syntax::Document;

use crate::tree::{Tree, is_python};

/// Length of the longest chain of imports that is followed.
const AT_MOST: usize = 16;

/// Folders above that of a kernel file whose files may launch its kernels.
const FOLDERS_UP: usize = 2;
/// Files that are looked into for one kernel file, the nearest first.
const MOST_LOOKED_INTO: usize = 512;
/// Files that are taken to launch the kernels of one file.
const MOST_LAUNCHERS: usize = 16;

/// The Python files near the one at `path` whose text imports a module of that name: their paths and texts. Nothing outside of `root` is read.
pub(crate) fn launchers(tree: &dyn Tree, path: &Path, module: &str, root: &Path) -> Vec<(String, String)> {
    let folders = path.ancestors().skip(1).take(FOLDERS_UP + 1).take_while(|folder| folder.starts_with(root));
    let mut seen = HashSet::from([path.to_owned()]);
    let mut found = Vec::new();
    for folder in folders {
        for other in tree.source_files(folder).filter(|path| is_python(path)) {
            if !seen.insert(other.clone()) {
                continue;
            }
            if seen.len() > MOST_LOOKED_INTO || found.len() == MOST_LAUNCHERS {
                return found;
            }
            let Ok(text) = tree.read_within(root, &other) else { continue };
            if imports_module(&text, module) {
                found.push((other.to_string_lossy().into_owned(), text));
            }
        }
    }
    found
}

/// Whether a line that imports something names the module; where from, the analysis finds out.
fn imports_module(text: &str, module: &str) -> bool {
    let is_word = |word: &str| word == module;
    let names = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(is_word);
    text.lines().any(|line| line.contains(module) && line.contains("import") && names(line))
}

/// The first candidate that exists: its path, and its text or why it is not read. Nothing outside of `root` is read.
pub(crate) fn read_first(
    tree: &dyn Tree,
    candidates: &[String],
    root: &Path,
) -> Option<(String, Result<String, String>)> {
    let inside = candidates.iter().filter(|path| Path::new(path).starts_with(root));
    let read = |path: &String| match tree.read_within(root, Path::new(path)) {
        Err(error) if error.is_missing() => None,
        read => Some((path.clone(), read.map_err(|error| error.to_string()))),
    };
    inside.filter_map(read).next()
}

/// Hands in what files import, each from below its root, what that imports in turn, and what launches their kernels.
pub(crate) fn load(tree: &dyn Tree, host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
    load_imports(tree, host, files);
    for &(file, root) in files {
        let analysis = host.snapshot();
        let Ok(Some(module)) = analysis.launched_as(file) else { continue };
        let path = analysis.path(file).to_owned();
        let known: HashSet<String> = analysis.files().into_iter().map(|file| analysis.path(file).to_owned()).collect();
        drop(analysis);
        for (path, text) in launchers(tree, Path::new(&path), &module, root) {
            if !known.contains(&path) {
                let launcher = host.file_id(&path);
                host.set_document(launcher, Document::new(&text));
            }
        }
    }
}

fn load_imports(tree: &dyn Tree, host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
    let mut sought = HashSet::new();
    for _ in 0..AT_MOST {
        let analysis = host.snapshot();
        let mut found = BTreeMap::new();
        for (file, root) in files {
            let unknown = analysis.unknown_imports(*file).unwrap_or_default().into_iter();
            let new = unknown.filter(|candidates| sought.insert((*root, candidates.clone())));
            found.extend(new.filter_map(|candidates| read_first(tree, &candidates, root)));
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
