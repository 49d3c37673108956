//! The modules that names at the top of a file lead to.

use tilefit_python::eval::{self, Binding};
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::Stmt;

use super::statements::{defined, statements_of};
use super::{Name, SourceFile, Unit, imports, syntax, units};

/// Files that hand a name on to each other.
pub(super) const LONGEST_WAY: u32 = 4;

/// The file of the workspace that an import in `file` leads to.
#[salsa::tracked(returns(copy))]
pub(super) fn module_file<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    level: u32,
    module: Name<'db>,
) -> Option<SourceFile> {
    imports::known(db, &imports::candidates(file.path(db), level, module.text(db)))
}

/// The file of the module that a name at the top of a file refers to.
#[salsa::tracked(returns(copy))]
pub(super) fn module_called<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
) -> Option<SourceFile> {
    let text = name.text(db);
    let statements = statements_of(db, file, None).iter();
    let mut files = statements.filter_map(|&unit| match eval::binding(syntax(db, unit), text) {
        Binding::None => None,
        // `import a.b` binds `a`, of which only `b` is said.
        Binding::ImportModule(path) if path.starts_with(&format!("{text}.")) => Some(None),
        Binding::ImportModule(path) => Some(module_file(db, file, 0, Name::new(db, path))),
        Binding::Import { level, module, original } => {
            let module = if module.is_empty() { original } else { format!("{module}.{original}") };
            Some(module_file(db, file, level, Name::new(db, module)))
        }
        _ => Some(None),
    });
    files.next().flatten().filter(|_| files.next().is_none())
}

/// The module that `import module as name` at the top of a file binds.
#[salsa::tracked(returns(clone))]
pub(super) fn module_of_name<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Option<String> {
    let statements = statements_of(db, file, None).iter();
    let mut bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
    bindings.find_map(|binding| match binding {
        Binding::ImportModule(path) => Some(path),
        _ => None,
    })
}

/// The files of the modules that a file takes all names of, the last first: of two that have a name it has that of the later.
#[salsa::tracked(returns(ref))]
fn stars(db: &dyn salsa::Database, file: SourceFile) -> Vec<SourceFile> {
    let statements = statements_of(db, file, None).iter().rev();
    let with_star = statements.filter(|unit| unit.source(db).text.contains("import *"));
    let mut found = Vec::new();
    for &unit in with_star {
        let mut here: Vec<SourceFile> = Vec::new();
        for (_, stmt) in syntax(db, unit).stmts() {
            let Stmt::ImportFrom { level, module, names } = stmt else { continue };
            if names.iter().any(|name| name.name == "*") {
                here.extend(module_file(db, file, *level, Name::new(db, module.clone())));
            }
        }
        found.extend(here.into_iter().rev());
    }
    found
}

/// The file from which a star brings a name that a file does not bind itself.
#[salsa::tracked(returns(copy))]
pub(super) fn star_of<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Option<SourceFile> {
    let text = name.text(db);
    if text.starts_with('_') || stars(db, file).is_empty() || binds(db, file, text) {
        return None;
    }
    let mut reached: Vec<SourceFile> = stars(db, file).clone();
    let mut next = 0;
    while let Some(&source) = reached.get(next) {
        if binds(db, source, text) {
            return Some(source);
        }
        next += 1;
        let further = stars(db, source).iter().filter(|it| !reached.contains(it)).copied().collect::<Vec<_>>();
        reached.splice(next..next, further);
    }
    None
}

/// Whether the top of a file binds a name, other than by a star.
fn binds(db: &dyn salsa::Database, file: SourceFile, name: &str) -> bool {
    let definitions = [BlockKind::Function, BlockKind::FunctionHeader, BlockKind::ClassHeader];
    definitions.iter().any(|&kind| defined(db, file, name, kind).is_some())
        || statements_of(db, file, None).iter().any(|&unit| eval::binding(syntax(db, unit), name) != Binding::None)
}

/// The file that a name of a module is imported from, and its name there.
#[salsa::tracked(returns(clone))]
pub(super) fn imported_from<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
) -> Option<(SourceFile, Name<'db>)> {
    let (mut file, mut name) = (file, name);
    let mut found = None;
    for _ in 0..LONGEST_WAY {
        let statements = statements_of(db, file, None).iter();
        let mut bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
        let import = bindings.find_map(|binding| match binding {
            Binding::Import { level, module, original } => Some((level, module, original)),
            _ => None,
        });
        let import = import.or_else(|| imported_by_functions(db, file, name));
        let source = match import {
            Some((level, module, original)) => {
                let source = module_file(db, file, level, Name::new(db, module));
                source.map(|source| (source, Name::new(db, original)))
            }
            None => star_of(db, file, name).map(|source| (source, name)),
        };
        let Some(source) = source else { break };
        (file, name) = source;
        found = Some((file, name));
    }
    found
}

/// What the functions of a file import under a name, where it is the same in each that does.
#[salsa::tracked(returns(clone))]
fn imported_by_functions<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
) -> Option<(u32, String, String)> {
    let within = units(db, file).iter().filter(|unit| !is_of_module(db, **unit));
    let importing = within.filter(|unit| unit.source(db).text.contains("import"));
    let mut found = None;
    for (_, stmt) in importing.flat_map(|&unit| syntax(db, unit).stmts()) {
        let Stmt::ImportFrom { level, module, names } = stmt else { continue };
        let Some(bound) = names.iter().find(|imported| imported.bound() == name.text(db)) else { continue };
        let import = (*level, module.clone(), bound.name.clone());
        if found.get_or_insert_with(|| import.clone()) != &import {
            return None;
        }
    }
    found
}

/// Whether a unit is of the statements of a module.
fn is_of_module<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    unit.key(db).kind == BlockKind::Statements && unit.parent(db).is_none()
}
