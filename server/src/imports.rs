//! Files of the workspace that a kernel file imports constants from, and those that launch its kernels.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
    Nearby::new(tree).launchers(path, module, root)
}

/// What stands near some files: each folder is listed once, and each file read once for the words of its imports.
struct Nearby<'t> {
    tree: &'t dyn Tree,
    folders: HashMap<PathBuf, Rc<[PathBuf]>>,
    /// `None`: it cannot be read.
    words: HashMap<PathBuf, Option<HashSet<String>>>,
}

impl<'t> Nearby<'t> {
    fn new(tree: &'t dyn Tree) -> Self {
        Nearby { tree, folders: HashMap::new(), words: HashMap::new() }
    }

    fn launchers(&mut self, path: &Path, module: &str, root: &Path) -> Vec<(String, String)> {
        let folders = path.ancestors().skip(1).take(FOLDERS_UP + 1).take_while(|folder| folder.starts_with(root));
        let mut seen = HashSet::from([path.to_owned()]);
        let mut found = Vec::new();
        for folder in folders {
            for other in self.python_files(folder).iter() {
                if !seen.insert(other.clone()) {
                    continue;
                }
                if seen.len() > MOST_LOOKED_INTO || found.len() == MOST_LAUNCHERS {
                    return found;
                }
                if self.imports(other, module, root)
                    && let Ok(text) = self.tree.read_within(root, other)
                {
                    found.push((other.to_string_lossy().into_owned(), text));
                }
            }
        }
        found
    }

    /// As many as may be met before there are enough, where those of a nearer folder are among them.
    fn python_files(&mut self, folder: &Path) -> Rc<[PathBuf]> {
        let files = || self.tree.source_files(folder).filter(|path| is_python(path));
        let list = || files().take(2 * MOST_LOOKED_INTO + 1).collect();
        self.folders.entry(folder.to_owned()).or_insert_with(list).clone()
    }

    /// Whether a line that imports something names the module; where from, the analysis finds out.
    fn imports(&mut self, path: &Path, module: &str, root: &Path) -> bool {
        if !self.words.contains_key(path) {
            let text = self.tree.read_within(root, path).ok();
            self.words.insert(path.to_owned(), text.map(|text| words_of_imports(&text)));
        }
        self.words[path].as_ref().is_some_and(|words| words.contains(module))
    }
}

fn words_of_imports(text: &str) -> HashSet<String> {
    let imports = text.lines().filter(|line| line.contains("import"));
    let words = imports.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    words.map(str::to_owned).collect()
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
pub(crate) fn load<'f>(tree: &dyn Tree, host: &mut AnalysisHost, files: &[(FileId, &'f Path)]) {
    load_imports(tree, host, files);
    let analysis = host.snapshot();
    let launched = |&(file, root): &(FileId, &'f Path)| {
        let module = analysis.launched_as(file).ok()??;
        Some((analysis.path(file).to_owned(), module, root))
    };
    let launched: Vec<_> = files.iter().filter_map(launched).collect();
    let mut known: HashSet<String> = analysis.files().into_iter().map(|it| analysis.path(it).to_owned()).collect();
    drop(analysis);
    let mut nearby = Nearby::new(tree);
    for (path, module, root) in launched {
        for (path, text) in nearby.launchers(Path::new(&path), &module, root) {
            if known.insert(path.clone()) {
                let launcher = host.file_id(&path);
                host.set_document(launcher, Document::new(&text));
            }
        }
    }
}

fn load_imports(tree: &dyn Tree, host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
    let mut by_root: BTreeMap<&Path, Vec<FileId>> = BTreeMap::new();
    for &(file, root) in files {
        by_root.entry(root).or_default().push(file);
    }
    let mut sought = HashSet::new();
    for _ in 0..AT_MOST {
        let analysis = host.snapshot();
        let mut found = BTreeMap::new();
        for (root, files) in &by_root {
            let unknown = analysis.unknown_imports_of(files).unwrap_or_default().into_iter();
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
