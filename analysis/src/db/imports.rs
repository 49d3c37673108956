//! Where a `from … import …` may lead: paths only, since the analysis reads no files.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tilefit_gpu::tuned_configurations;
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt};

use super::{SourceFile, Unit, Workspace, syntax, units};
use crate::launch::RECORDS;

/// Folders above a file that an absolute import is looked for in.
const FOLDERS_UP: usize = 8;

/// Names of folders that a path and a module have in common before the one is taken to lie in the other's package.
const FOLDERS_ALIKE: usize = 2;

/// The files that `module` may be, nearest first, seen from the file at `path`. `level` counts the leading dots.
pub(crate) fn candidates(path: &str, level: u32, module: &str) -> Vec<String> {
    let folders = std::iter::successors(parent(path), |folder| parent(folder));
    let folders: Vec<&str> = match level {
        0 => folders.take(FOLDERS_UP).collect(),
        _ => folders.skip(level as usize - 1).take(1).collect(),
    };
    let module = module.replace('.', "/");
    let in_folder = |folder: &str| match module.as_str() {
        "" => vec![format!("{folder}/__init__.py")],
        _ => vec![format!("{folder}/{module}.py"), format!("{folder}/{module}/__init__.py")],
    };
    let mut all: Vec<String> = folders.into_iter().flat_map(in_folder).collect();
    if level == 0 {
        all.extend(within_package(path, &module).into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
    }
    all
}

/// A file in one of the folders above another one, nearest first.
pub(super) fn in_folders_above(path: &str, file: &str) -> Vec<String> {
    let folders = std::iter::successors(parent(path), |folder| parent(folder)).take(FOLDERS_UP);
    folders.map(|folder| format!("{folder}/{file}")).collect()
}

/// The files that a module may be whose package the file at `path` lies in itself, where the folder of the package hangs elsewhere than in the
/// program: `a.b.c.d` seen from `…/b/c/tests/t.py` is `…/b/c/d.py`.
fn within_package(path: &str, module: &str) -> Vec<String> {
    let parts: Vec<&str> = module.split('/').collect();
    let mut found = Vec::new();
    for folder in std::iter::successors(parent(path), |folder| parent(folder)).take(FOLDERS_UP) {
        for at in FOLDERS_ALIKE..parts.len() {
            let alike = format!("/{}", parts[at - FOLDERS_ALIKE..at].join("/"));
            if folder.ends_with(&alike) {
                let rest = parts[at..].join("/");
                found.extend([format!("{folder}/{rest}.py"), format!("{folder}/{rest}/__init__.py")]);
            }
        }
    }
    found
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once(['/', '\\']).map(|(folder, _)| folder)
}

/// The first candidate whose text is known.
pub(crate) fn known(db: &dyn salsa::Database, candidates: &[String]) -> Option<SourceFile> {
    let files = Workspace::try_get(db)?.files(db);
    candidates.iter().find_map(|path| files.get(path).copied())
}

/// As [`unknown`], of one file.
#[salsa::tracked(returns(ref))]
pub(crate) fn unknown_of(db: &dyn salsa::Database, file: SourceFile) -> Arc<Vec<Vec<String>>> {
    Arc::new(unknown(db, std::iter::once(file)))
}

/// The candidates of each import that some files, and the files that they lead to, need and that is not known.
pub(crate) fn unknown(db: &dyn salsa::Database, files: impl Iterator<Item = SourceFile>) -> Vec<Vec<String>> {
    let mut unknown = Vec::new();
    let mut reached: Vec<SourceFile> = files.collect();
    let mut seen: FxHashSet<SourceFile> = reached.iter().copied().collect();
    let mut next = 0;
    while let Some(&file) = reached.get(next) {
        next += 1;
        for candidates in of_file(db, file) {
            let Some(imported) = known(db, candidates) else {
                unknown.push(candidates.clone());
                continue;
            };
            if seen.insert(imported) {
                reached.push(imported);
            }
            // It may be known for another reason, while the import means a nearer one.
            let nearer = candidates.iter().take_while(|path| *path != imported.path(db));
            let nearer: Vec<String> = nearer.cloned().collect();
            if !nearer.is_empty() {
                unknown.push(nearer);
            }
        }
    }
    unknown
}

/// The known files that a file imports from.
#[salsa::tracked(returns(ref))]
pub(super) fn imported_by(db: &dyn salsa::Database, file: SourceFile) -> Vec<SourceFile> {
    of_file(db, file).iter().filter_map(|candidates| known(db, candidates)).collect()
}

/// The modules that a block imports by a text.
fn modules_by_name(ast: &Ast) -> impl Iterator<Item = &str> {
    ast.exprs().filter_map(|(_, expr)| {
        let Expr::Call { func, args } = expr else { return None };
        let (Some(&"import_module"), [path]) = (ast.dotted(*func)?.last(), args.as_slice()) else { return None };
        match ast.expr(path.value) {
            Expr::Str(path) => Some(path.as_str()),
            _ => None,
        }
    })
}

/// The tables that a file may take configurations from, each with where it may be.
fn tables_of_autotune(db: &dyn salsa::Database, file: SourceFile) -> Vec<Vec<String>> {
    if !units(db, file).iter().any(|&unit| takes_tuned(db, unit)) {
        return Vec::new();
    }
    tuned_configurations::files().map(|table| in_folders_above(file.path(db), &table)).collect()
}

#[salsa::tracked(returns(copy))]
fn takes_tuned<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    unit.source(db).text.contains(tuned_configurations::FUNCTION)
}

#[salsa::tracked(returns(copy))]
fn may_be_jit<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    unit.key(db).kind == BlockKind::Function && unit.source(db).text.contains("jit")
}

/// The folders of tables that a file reads: those of `os.path.join(os.path.dirname(__file__), "configs", name)`.
fn folders_of_tables(db: &dyn salsa::Database, file: SourceFile) -> Vec<Vec<String>> {
    if !units(db, file).iter().any(|&unit| reads_tables(db, unit)) {
        return Vec::new();
    }
    let folders = units(db, file).iter().flat_map(|&unit| folders_beside(db, unit).iter());
    folders.map(|folder| vec![format!("{folder}/{}", tuned_configurations::TABLES)]).collect()
}

#[salsa::tracked(returns(copy))]
fn reads_tables<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    unit.source(db).text.contains(tuned_configurations::READING)
}

#[salsa::tracked(returns(ref))]
fn folders_beside<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<String> {
    if !unit.source(db).text.contains("__file__") {
        return Vec::new();
    }
    let (ast, path) = (syntax(db, unit), unit.file(db).path(db));
    let folder = |expr: &Expr| {
        let Expr::Call { func, args } = expr else { return None };
        let ([.., "join"], Some((first, rest))) = (ast.dotted(*func)?.as_slice(), args.split_first()) else {
            return None;
        };
        let mut folder = of_this_file(ast, first.value, path)?.to_owned();
        for part in rest {
            match ast.expr(part.value) {
                Expr::Str(part) if !part.ends_with(".json") => folder = format!("{folder}/{part}"),
                _ => break,
            }
        }
        Some(folder)
    };
    ast.exprs().filter_map(|(_, expr)| folder(expr)).collect()
}

/// `os.path.dirname(os.path.realpath(__file__))`
fn of_this_file<'p>(ast: &Ast, expr: ExprId, path: &'p str) -> Option<&'p str> {
    match ast.expr(expr) {
        Expr::Name(name) if name == "__file__" => Some(path),
        Expr::Call { func, args } => {
            let of = of_this_file(ast, args.first()?.value, path)?;
            if let Some(&"dirname") = ast.dotted(*func)?.last() { parent(of) } else { Some(of) }
        }
        _ => None,
    }
}

/// The candidates of each import at the top level of a file, and of what else it reads.
#[salsa::tracked(returns(ref))]
fn of_file(db: &dyn salsa::Database, file: SourceFile) -> Vec<Vec<String>> {
    let mut imports = tables_of_autotune(db, file);
    // What its kernels were launched with.
    if units(db, file).iter().any(|&unit| may_be_jit(db, unit)) {
        imports.push(in_folders_above(file.path(db), RECORDS));
    }
    let folders = folders_of_tables(db, file);
    // What reads tables asks in its functions whether there are others.
    let within = !folders.is_empty();
    imports.extend(folders);
    let statements = units(db, file).iter().filter(|unit| within || unit.key(db).kind == BlockKind::Statements);
    for &unit in statements.filter(|unit| unit.source(db).text.contains("import")) {
        // `importlib.import_module("…")`
        imports.extend(modules_by_name(syntax(db, unit)).map(|module| candidates(file.path(db), 0, module)));
        for (_, stmt) in syntax(db, unit).stmts() {
            match stmt {
                Stmt::ImportFrom { level, module, .. } => imports.push(candidates(file.path(db), *level, module)),
                // Packages (`import pypto.language as pl`) are libraries.
                Stmt::Import(modules) => {
                    let modules = modules.iter().filter(|import| !import.module.contains('.'));
                    imports.extend(modules.map(|import| candidates(file.path(db), 0, &import.module)));
                }
                _ => {}
            }
        }
    }
    imports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_modules() {
        assert_eq!(candidates("/w/p/k.py", 1, "a.b"), ["/w/p/a/b.py", "/w/p/a/b/__init__.py"]);
        assert_eq!(candidates("/w/p/k.py", 2, ""), ["/w/__init__.py"]);
        assert_eq!(
            candidates("/w/p/k.py", 0, "c"),
            ["/w/p/c.py", "/w/p/c/__init__.py", "/w/c.py", "/w/c/__init__.py", "/c.py", "/c/__init__.py"]
        );
        assert!(candidates("untitled:1", 0, "c").is_empty());
        let of_package = candidates("/w/third_party/tlx/tutorials/testing/t.py", 0, "triton.tlx.tutorials.gemm");
        assert!(of_package.contains(&"/w/third_party/tlx/tutorials/gemm.py".to_owned()));
        assert!(!of_package.contains(&"/w/third_party/tlx/tutorials/testing/gemm.py".to_owned()));
    }
}
