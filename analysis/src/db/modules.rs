//! The modules that names at the top of a file lead to.

use tilefit_python::eval::{self, Binding};

use super::statements::statements_of;
use super::{Name, SourceFile, imports, syntax};

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
        let Some((level, module, original)) = import else { break };
        let Some(source) = module_file(db, file, level, Name::new(db, module)) else { break };
        (file, name) = (source, Name::new(db, original));
        found = Some((file, name));
    }
    found
}
