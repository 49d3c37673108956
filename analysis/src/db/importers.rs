//! Which files a file is read with: those that it imports from, and those that import it and may launch its kernels.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};
use tilefit_syntax::BlockKind;

use super::imports::imported_by;
use super::jit::has_kernels_of_gpus;
use super::{SourceFile, Workspace, units};

/// The known files that a file imports from, and that those do; and those that may launch its kernels.
#[salsa::tracked(returns(ref))]
pub(crate) fn imported(db: &dyn salsa::Database, file: SourceFile) -> Vec<SourceFile> {
    let mut reached = imported_by(db, file).clone();
    if launched_as(db, file).is_some() {
        reached.extend(importers(db, file));
    }
    let mut seen: FxHashSet<SourceFile> = reached.iter().copied().collect();
    let mut next = 0;
    while let Some(&file) = reached.get(next) {
        next += 1;
        for &imported in imported_by(db, file) {
            if seen.insert(imported) {
                reached.push(imported);
            }
        }
    }
    reached
}

/// The paths of what is [`imported`].
#[salsa::tracked(returns(ref))]
pub(crate) fn imported_paths(db: &dyn salsa::Database, file: SourceFile) -> Arc<Vec<String>> {
    Arc::new(imported(db, file).iter().map(|file| file.path(db).clone()).collect())
}

/// What the files that launch the kernels of a file may call it: the name of its module. `None` for files without kernels of GPUs.
pub(crate) fn launched_as(db: &dyn salsa::Database, file: SourceFile) -> Option<&str> {
    let path: &str = file.path(db);
    let module = path.rsplit(['/', '\\']).next()?.strip_suffix(".py")?;
    let is_name = module.chars().all(|c| c.is_alphanumeric() || c == '_') && module != "__init__";
    (is_name && has_kernels_of_gpus(db, file)).then_some(module)
}

/// The known files that import a file.
#[salsa::tracked(returns(ref))]
pub(super) fn importers(db: &dyn salsa::Database, file: SourceFile) -> Vec<SourceFile> {
    let Some(workspace) = Workspace::try_get(db) else { return Vec::new() };
    let Some(name) = named_in_imports(file.path(db)) else { return Vec::new() };
    let others = workspace.files(db).values().copied().filter(|other| *other != file);
    // What other files import is found out of those only that may import this one: the rest may be of any size.
    others.filter(|&other| mentions(db, other, name) && imported_by(db, other).contains(&file)).collect()
}

/// What every import of a file has in it: the name of the module.
fn named_in_imports(path: &str) -> Option<&str> {
    match path.rsplit(['/', '\\']).next()?.strip_suffix(".py")? {
        // Files of a package import it without a name.
        "__init__" => Some("import"),
        module => Some(module),
    }
}

/// Whether statements of a file have the words of a name in them, wherever; few say so of other words.
fn mentions(db: &dyn salsa::Database, file: SourceFile, name: &str) -> bool {
    let known = words(db, file);
    words_of(name).all(|word| known.binary_search(&word).is_ok())
}

/// The words in the statements of a file, as hashes in order.
#[salsa::tracked(returns(ref))]
fn words(db: &dyn salsa::Database, file: SourceFile) -> Vec<u32> {
    let statements = units(db, file).iter().filter(|unit| unit.key(db).kind == BlockKind::Statements);
    let mut words: Vec<u32> = statements.flat_map(|unit| words_of(&unit.source(db).text)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn words_of(text: &str) -> impl Iterator<Item = u32> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(|word| {
        let mut hasher = FxHasher::default();
        word.hash(&mut hasher);
        hasher.finish() as u32
    })
}
