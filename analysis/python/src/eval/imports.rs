//! Where the names come from that a module imports.

use std::collections::BTreeMap;

use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId};

/// What the statements of a module import, as they say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bindings {
    /// By the name that is bound.
    pub names: BTreeMap<String, Bound>,
    /// The modules of which all names are taken, in text order.
    pub stars: Vec<Module>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// `import a.b as name`
    Path(String),
    /// `from a.b import original as name`
    From { module: Module, original: String },
}

/// A module as an import names it: with so many dots in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub level: u32,
    pub name: String,
}

/// Whether a module has a member; `None` where that is not known.
type Has<'a> = &'a dyn Fn(&str, &str) -> Option<bool>;

/// When statements run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Always,
    /// Triton has what the condition asks for, or has it not: a name that is assigned here has this value, whatever it is assigned in the other branch.
    Chosen,
    Perhaps,
}

impl Bindings {
    /// Adds what the statements of a block import. `has`: whether a module has a member, where that is known.
    pub fn add(&mut self, ast: &Ast, has: Has<'_>) {
        self.add_body(ast, &ast.body, Branch::Always, has);
    }

    fn add_body(&mut self, ast: &Ast, body: &[StmtId], branch: Branch, has: Has<'_>) {
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Import(modules) => {
                    for module in modules {
                        let root = module.module.split('.').next().unwrap_or_default();
                        let (name, path) = match &module.alias {
                            Some(alias) => (alias.as_str(), module.module.as_str()),
                            None => (root, root),
                        };
                        self.names.insert(name.to_owned(), Bound::Path(path.to_owned()));
                    }
                }
                Stmt::ImportFrom { level, module, names } => {
                    let module = Module { level: *level, name: module.clone() };
                    for name in names {
                        if name.name == "*" {
                            self.stars.push(module.clone());
                        } else {
                            let bound = Bound::From { module: module.clone(), original: name.name.clone() };
                            self.names.insert(name.bound().to_owned(), bound);
                        }
                    }
                }
                Stmt::Assign { targets, value: Some(value), .. } if branch != Branch::Perhaps => {
                    if let (Some(path), [target]) = (self.path(ast, *value), targets.as_slice())
                        && let Some(name) = ast.name(*target)
                        && (branch == Branch::Chosen || path.starts_with("triton."))
                    {
                        self.names.insert(name.to_owned(), Bound::Path(path));
                    }
                }
                Stmt::If { condition, body, or_else } => {
                    let is_there = (branch != Branch::Perhaps).then(|| self.is_there(ast, *condition, has)).flatten();
                    match is_there {
                        Some(true) => self.add_body(ast, body, Branch::Chosen, has),
                        Some(false) => self.add_body(ast, or_else, Branch::Chosen, has),
                        None => {
                            self.add_body(ast, body, Branch::Perhaps, has);
                            self.add_body(ast, or_else, Branch::Perhaps, has);
                        }
                    }
                }
                Stmt::With { body, .. } | Stmt::Other { body, .. } => self.add_body(ast, body, branch, has),
                _ => {}
            }
        }
    }

    /// The path of the module that an expression refers to, which is imported before it.
    fn path(&self, ast: &Ast, expr: ExprId) -> Option<String> {
        let path = ast.dotted(expr)?;
        match self.names.get(path[0])? {
            Bound::Path(module) => Some([&[module.as_str()], &path[1..]].concat().join(".")),
            Bound::From { module, original } if module.level == 0 => {
                Some([&[module.name.as_str(), original], &path[1..]].concat().join("."))
            }
            Bound::From { .. } => None,
        }
    }

    /// The value of `hasattr(triton.language, "dot")`; `None` of another condition, and of members that only other versions have.
    fn is_there(&self, ast: &Ast, condition: ExprId, has: Has<'_>) -> Option<bool> {
        let Expr::Call { func, args } = ast.expr(condition) else { return None };
        let ([object, member], Some("hasattr")) = (args.as_slice(), ast.name(*func)) else { return None };
        let Expr::Str(member) = ast.expr(member.value) else { return None };
        has(&self.path(ast, object.value)?, member)
    }
}

/// The dotted path of each imported name: `tl` → `triton.language`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imports(BTreeMap<String, String>);

/// What modules mostly call Triton's.
const USUAL_NAMES: [(&str, &str); 2] = [("triton", "triton"), ("tl", "triton.language")];

impl Imports {
    pub fn bind(&mut self, name: &str, path: String) {
        self.0.insert(name.to_owned(), path);
    }

    /// What a star brings of a module that is not known.
    pub fn bind_usual_names(&mut self) {
        for (name, path) in USUAL_NAMES {
            self.0.entry(name.to_owned()).or_insert_with(|| path.to_owned());
        }
    }

    /// The path that a name refers to.
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
