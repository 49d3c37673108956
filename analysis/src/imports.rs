//! Where a `from … import …` may lead: paths only, since the analysis reads no files.

use tilelens_syntax::BlockKind;
use tilelens_syntax::ast::Stmt;

use crate::db::{self, SourceFile};

/// Folders above a file that an absolute import is looked for in.
const FOLDERS_UP: usize = 8;

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
    folders.into_iter().flat_map(in_folder).collect()
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once(['/', '\\']).map(|(folder, _)| folder)
}

/// For each from-import at the top level of a file, the files that it may lead to, nearest first.
pub(crate) fn of_file(db: &dyn salsa::Database, file: SourceFile) -> Vec<Vec<String>> {
    let mut imports = Vec::new();
    for &unit in db::units(db, file) {
        if unit.key(db).kind != BlockKind::Statements {
            continue;
        }
        for (_, stmt) in db::syntax(db, unit).stmts() {
            if let Stmt::ImportFrom { level, module, .. } = stmt {
                imports.push(candidates(file.path(db), *level, module));
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
    }
}
