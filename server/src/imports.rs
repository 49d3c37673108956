//! Files of the workspace that a kernel file imports constants from, and those that launch its kernels.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use serde_json::value::RawValue;
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_gpu::tuned_configurations;
use tilefit_syntax::Document;

use crate::disk;
use crate::tree::{Tree, is_python};

/// Tables of a folder that are read.
const MOST_TABLES: usize = 1024;

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
    let paths = Imports::new(tree).launchers(path, module, root).into_iter();
    paths.filter_map(|path| Some((path.clone(), read(tree, &path, root)?.ok()?))).collect()
}

/// The first candidate that exists: its path, and its text or why it is not read. Nothing outside of `root` is read.
pub(crate) fn read_first(
    tree: &dyn Tree,
    candidates: &[String],
    root: &Path,
) -> Option<(String, Result<String, String>)> {
    candidates.iter().find_map(|path| Some((path.clone(), read(tree, path, root)?)))
}

/// `None`: there is no such file within `root`.
fn read(tree: &dyn Tree, path: &str, root: &Path) -> Option<Result<String, String>> {
    if !Path::new(path).starts_with(root) {
        return None;
    }
    if let Some(folder) = path.strip_suffix(tuned_configurations::TABLES) {
        return tables(tree, Path::new(folder), root);
    }
    match tree.read_within(root, Path::new(path)) {
        Err(error) if error.is_missing() => None,
        read => Some(read.map_err(|error| error.to_string())),
    }
}

/// The JSON files of a folder as one object, by their names. One that is not JSON is `null` there. `None`: there are none.
fn tables(tree: &dyn Tree, folder: &Path, root: &Path) -> Option<Result<String, String>> {
    // What lies above is listed for nobody.
    if folder.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let is_table = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let files: Vec<PathBuf> = tree.entries(folder).into_iter().filter(is_table).collect();
    if files.len() > MOST_TABLES {
        return Some(Err(format!("there are more than {MOST_TABLES} tables in {}", folder.display())));
    }
    let mut all: BTreeMap<String, Box<RawValue>> = BTreeMap::new();
    let mut bytes = 0;
    for path in files {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
        let text = tree.read_within(root, &path).unwrap_or_default();
        bytes += text.len() as u64;
        if bytes > disk::MOST_BYTES {
            return Some(Err(format!("the tables of {} are larger than {} bytes", folder.display(), disk::MOST_BYTES)));
        }
        let table = RawValue::from_string(text).or_else(|_| RawValue::from_string("null".to_owned()));
        all.insert(name.to_owned(), table.ok()?);
    }
    (!all.is_empty()).then(|| serde_json::to_string(&all).map_err(|error| error.to_string()))
}

/// What files import, and what stands near them. Each folder is listed once, and each file read, cut into blocks and parsed once, whichever
/// databases it goes to.
pub(crate) struct Imports<'t> {
    tree: &'t dyn Tree,
    /// By root and path; `None`: there is no such file.
    documents: HashMap<(PathBuf, String), Option<Result<Document, String>>>,
    folders: HashMap<PathBuf, Rc<[PathBuf]>>,
    /// The words of the imports of files near others; `None`: it cannot be read.
    words: HashMap<PathBuf, Option<HashSet<String>>>,
}

impl<'t> Imports<'t> {
    pub(crate) fn new(tree: &'t dyn Tree) -> Self {
        Imports { tree, documents: HashMap::new(), folders: HashMap::new(), words: HashMap::new() }
    }

    pub(crate) fn tree(&self) -> &'t dyn Tree {
        self.tree
    }

    /// Hands in what files import, each from below its root, what that imports in turn, and what launches their kernels.
    pub(crate) fn load(&mut self, host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
        self.load_imports(host, files);
        let analysis = host.snapshot();
        let launched = files.iter().filter_map(|&(file, root)| {
            let module = analysis.launched_as(file).ok()??;
            Some((analysis.path(file).to_owned(), module, root))
        });
        let launched: Vec<_> = launched.collect();
        let mut known: HashSet<String> = analysis.files().into_iter().map(|it| analysis.path(it).to_owned()).collect();
        drop(analysis);
        for (path, module, root) in launched {
            for path in self.launchers(Path::new(&path), &module, root) {
                if let Some(Ok(document)) = self.document(&path, root)
                    && known.insert(path.clone())
                {
                    let launcher = host.file_id(&path);
                    host.set_document_at_rest(launcher, document);
                }
            }
        }
    }

    fn load_imports(&mut self, host: &mut AnalysisHost, files: &[(FileId, &Path)]) {
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
                let first = |candidates: Vec<String>| {
                    candidates.into_iter().find_map(|path| Some((self.document(&path, root)?, path)))
                };
                found.extend(new.filter_map(first).map(|(document, path)| (path, document)));
            }
            drop(analysis);
            if found.is_empty() {
                return;
            }
            for (path, document) in found {
                let imported = host.file_id(&path);
                match document {
                    Ok(document) => host.set_document_at_rest(imported, document),
                    Err(reason) => host.set_unreadable(imported, reason),
                }
            }
        }
    }

    /// As [`read`].
    fn document(&mut self, path: &str, root: &Path) -> Option<Result<Document, String>> {
        let document = || Some(read(self.tree, path, root)?.map(|text| Document::new(&text)));
        self.documents.entry((root.to_owned(), path.to_owned())).or_insert_with(document).clone()
    }

    fn launchers(&mut self, path: &Path, module: &str, root: &Path) -> Vec<String> {
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
                if self.imports(other, module, root) {
                    found.push(other.to_string_lossy().into_owned());
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
