//! What a module imports of Triton and TileLang, by itself or from modules that pass it on. Modules may import from each other in a circle, so that names are
//! followed one by one, each no more than once.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tilefit_syntax::BlockKind;

use tilefit_gpu::members;
use tilefit_python::eval::{Bindings, Bound, Imports, Module};

use super::modules::module_file;
use super::{Name, SourceFile, syntax, units};

/// Whether a file takes all names of a module that is not known.
#[salsa::tracked(returns(copy))]
pub(super) fn has_unknown_star(db: &dyn salsa::Database, file: SourceFile) -> bool {
    bindings(db, file).stars.iter().any(|module| file_of(db, file, module).is_none())
}

/// The path of each name that the module of a file imports.
#[salsa::tracked(returns(ref))]
pub(crate) fn imports(db: &dyn salsa::Database, file: SourceFile) -> Arc<Imports> {
    let own = bindings(db, file);
    let mut imports = Imports::default();
    for module in own.stars.iter().rev() {
        // All that authors take from there, also where the library itself is in the workspace.
        if module.name == "tilelang.autotuner" {
            imports.bind("autotune", "tilelang.autotune".to_owned());
            continue;
        }
        let Some(other) = file_of(db, file, module) else {
            imports.bind_usual_names();
            continue;
        };
        for name in names(db, other) {
            if let Some(path) = passed_on(db, other, name, &mut Seen::default()) {
                imports.bind(name, path);
            }
        }
    }
    for (name, bound) in &own.names {
        if let Some(path) = path_of(db, file, bound, &mut Seen::default()) {
            imports.bind(name, path);
        }
    }
    Arc::new(imports)
}

#[salsa::tracked(returns(ref))]
fn bindings(db: &dyn salsa::Database, file: SourceFile) -> Bindings {
    let mut bindings = Bindings::default();
    for &unit in units(db, file).iter().filter(|unit| unit.key(db).kind == BlockKind::Statements) {
        let text = &unit.source(db).text;
        // The look at the text keeps files without Triton or TileLang from being parsed.
        let may_rename = !bindings.names.is_empty() && text.contains("tl.");
        if may_rename || ["triton", "tilelang", "import *"].iter().any(|word| text.contains(word)) {
            bindings.add(syntax(db, unit), &members::has);
        }
    }
    if !bindings.of_branches.is_empty() {
        for &unit in units(db, file).iter().filter(|unit| unit.parent(db).is_none()) {
            if bindings.of_branches.contains(unit.key(db).name()) {
                bindings.names.remove(unit.key(db).name());
            }
        }
    }
    bindings
}

/// The names that were asked of modules on the way to one.
type Seen<'a> = FxHashSet<(SourceFile, &'a str)>;

/// `None` where it is nothing that is imported.
fn path_of<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    bound: &'db Bound,
    seen: &mut Seen<'db>,
) -> Option<String> {
    match bound {
        Bound::Path(path) => Some(path.clone()),
        Bound::From { module, original } => {
            let theirs = file_of(db, file, module).and_then(|other| passed_on(db, other, original, seen));
            Some(theirs.unwrap_or_else(|| format!("{}{}.{original}", ".".repeat(module.level as usize), module.name)))
        }
        Bound::Member { of, member } => {
            let of = path_of(db, file, of, seen)?;
            ["triton.", "tilelang."].iter().any(|module| of.starts_with(module)).then(|| format!("{of}.{member}"))
        }
    }
}

/// The path that a name refers to in a module; `None` where it imports nothing of that name.
fn passed_on<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: &'db str,
    seen: &mut Seen<'db>,
) -> Option<String> {
    if !seen.insert((file, name)) {
        return None;
    }
    let theirs = bindings(db, file);
    if let Some(bound) = theirs.names.get(name) {
        return path_of(db, file, bound, seen);
    }
    theirs.stars.iter().rev().find_map(|module| passed_on(db, file_of(db, file, module)?, name, seen))
}

/// The names that a star takes from a module.
fn names(db: &dyn salsa::Database, file: SourceFile) -> Vec<&str> {
    let mut reached = vec![file];
    let mut seen = FxHashSet::from_iter([file]);
    let mut names: Vec<&str> = Vec::new();
    let mut next = 0;
    while let Some(&file) = reached.get(next) {
        next += 1;
        let theirs = bindings(db, file);
        names.extend(theirs.names.keys().map(String::as_str));
        reached.extend(theirs.stars.iter().filter_map(|it| file_of(db, file, it)).filter(|it| seen.insert(*it)));
    }
    names
}

fn file_of(db: &dyn salsa::Database, from: SourceFile, module: &Module) -> Option<SourceFile> {
    module_file(db, from, module.level, Name::new(db, module.name.clone()))
}
