//! Where the names come from that a module imports.

use std::collections::BTreeMap;

use tilefit_syntax::ast::{Ast, Stmt, StmtId};

/// The dotted path that each imported name stands for: `tl` → `triton.language`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imports(BTreeMap<String, String>);

impl Imports {
    /// Adds what the statements of a block import.
    pub fn add(&mut self, ast: &Ast) {
        self.add_body(ast, &ast.body);
    }

    fn add_body(&mut self, ast: &Ast, body: &[StmtId]) {
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Import(modules) => {
                    for module in modules {
                        match &module.alias {
                            Some(alias) => self.bind(alias, &module.module),
                            None => {
                                let root = module.module.split('.').next().unwrap_or_default();
                                self.bind(root, root);
                            }
                        }
                    }
                }
                Stmt::ImportFrom { level: 0, module, names } => {
                    for name in names {
                        self.bind(name.bound(), &format!("{module}.{}", name.name));
                    }
                }
                Stmt::If { body, or_else, .. } => {
                    self.add_body(ast, body);
                    self.add_body(ast, or_else);
                }
                Stmt::With { body, .. } | Stmt::Other { body, .. } => self.add_body(ast, body),
                _ => {}
            }
        }
    }

    fn bind(&mut self, name: &str, path: &str) {
        self.0.insert(name.to_owned(), path.to_owned());
    }

    /// The path that a name stands for.
    pub fn module_of(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The name under which a path is known: `tlx` for `triton.language.extra.tlx`.
    pub fn name_of(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(_, imported)| *imported == path).map(|(name, _)| name.as_str())
    }

    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}
