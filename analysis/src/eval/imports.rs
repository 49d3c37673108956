//! Where the names come from that a module imports.

use std::collections::BTreeMap;

use tilefit_syntax::ast::{Ast, ImportedName, Stmt, StmtId};

/// The dotted path that each imported name stands for: `tl` → `triton.language`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imports(BTreeMap<String, String>);

impl Imports {
    /// Adds what the statements of a block import. `passed_on`: what a module passes on of what it imports itself, by the dots before its name and
    /// the name.
    pub fn add(&mut self, ast: &Ast, passed_on: &dyn Fn(u32, &str) -> Option<Imports>) {
        self.add_body(ast, &ast.body, passed_on);
    }

    fn add_body(&mut self, ast: &Ast, body: &[StmtId], passed_on: &dyn Fn(u32, &str) -> Option<Imports>) {
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
                Stmt::ImportFrom { level, module, names } => {
                    let theirs = passed_on(*level, module);
                    for name in names {
                        self.add_name(*level, module, name, theirs.as_ref());
                    }
                }
                Stmt::If { body, or_else, .. } => {
                    self.add_body(ast, body, passed_on);
                    self.add_body(ast, or_else, passed_on);
                }
                Stmt::With { body, .. } | Stmt::Other { body, .. } => self.add_body(ast, body, passed_on),
                _ => {}
            }
        }
    }

    fn add_name(&mut self, level: u32, module: &str, name: &ImportedName, theirs: Option<&Imports>) {
        match (theirs, name.name.as_str()) {
            (Some(Imports(theirs)), "*") => {
                for (name, path) in theirs {
                    self.0.entry(name.clone()).or_insert_with(|| path.clone());
                }
            }
            // Of a module that is not known, the usual names.
            (None, "*") => {
                for (name, path) in [("triton", "triton"), ("tl", "triton.language")] {
                    self.0.entry(name.to_owned()).or_insert_with(|| path.to_owned());
                }
            }
            (Some(theirs), original) if theirs.0.contains_key(original) => {
                let path = theirs.0[original].clone();
                self.bind(name.bound(), &path);
            }
            (_, original) => {
                let dots = ".".repeat(level as usize);
                self.bind(name.bound(), &format!("{dots}{module}.{original}"));
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
