//! Where the names come from that a module imports.

use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId};

/// What the statements of a module import, as they say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bindings {
    /// By the name that is bound.
    pub names: BTreeMap<String, Bound>,
    /// The modules of which all names are taken, in text order.
    pub stars: Vec<Module>,
    /// Names that are one function whichever branch assigns them, unless the module defines one of that name as well.
    pub of_branches: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// `import a.b as name`
    Path(String),
    /// `from a.b import original as name`
    From { module: Module, original: String },
    /// `name = imported.member`, which counts where Triton has it.
    Member { of: Box<Bound>, member: String },
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

/// Where PyTorch's compiler and others look for functions that each vendor has in a library of its own.
const LIBDEVICE: &str = "triton.language.extra.libdevice";

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
                    let [target] = targets.as_slice() else { continue };
                    let Some(name) = ast.name(*target) else { continue };
                    match self.path(ast, *value) {
                        Some(path) if branch == Branch::Chosen || path.starts_with("triton.") => {
                            self.names.insert(name.to_owned(), Bound::Path(path));
                        }
                        _ => {
                            if let Some(member) = self.member(ast, *value) {
                                self.names.entry(name.to_owned()).or_insert(member);
                            }
                        }
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
                            self.add_same(ast, &[body, or_else]);
                        }
                    }
                }
                Stmt::With { body, .. } | Stmt::Other { body, .. } => self.add_body(ast, body, branch, has),
                _ => {}
            }
        }
    }

    /// Names that are, whichever branch runs, the same function of one or another of Triton's libraries.
    fn add_same(&mut self, ast: &Ast, branches: &[&[StmtId]]) {
        let mut assigned: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
        let mut bodies: Vec<&[StmtId]> = branches.to_vec();
        while let Some(body) = bodies.pop() {
            for &stmt in body {
                match ast.stmt(stmt) {
                    Stmt::Assign { targets, value: Some(value), .. } => {
                        for name in targets.iter().filter_map(|&target| ast.name(target)) {
                            assigned.entry(name).or_default().push(self.path(ast, *value));
                        }
                    }
                    other => bodies.extend(other.bodies()),
                }
            }
        }
        for (name, paths) in assigned {
            let paths: Option<Vec<String>> = paths.into_iter().collect();
            let paths = paths.filter(|all| all.iter().all(|path| path.starts_with("triton."))).unwrap_or_default();
            let last = |path: &String| path.rsplit('.').next().map(str::to_owned);
            let Some(first) = paths.first() else { continue };
            if paths.iter().all(|path| last(path) == last(first)) {
                let usual = paths.iter().find(|path| path.starts_with(LIBDEVICE)).unwrap_or(first);
                self.names.insert(name.to_owned(), Bound::Path(usual.clone()));
                self.of_branches.insert(name.to_owned());
            }
        }
    }

    /// `imported.member` of what another module of the workspace may pass on.
    fn member(&self, ast: &Ast, expr: ExprId) -> Option<Bound> {
        let Expr::Attribute { value, name } = ast.expr(expr) else { return None };
        let of = self.names.get(ast.name(*value)?)?;
        Some(Bound::Member { of: Box::new(of.clone()), member: name.clone() })
    }

    /// The path of the module that an expression refers to, which is imported before it.
    fn path(&self, ast: &Ast, expr: ExprId) -> Option<String> {
        let path = ast.dotted(expr)?;
        match self.names.get(path[0])? {
            Bound::Path(module) => Some([&[module.as_str()], &path[1..]].concat().join(".")),
            Bound::From { module, original } if module.level == 0 => {
                Some([&[module.name.as_str(), original], &path[1..]].concat().join("."))
            }
            Bound::From { .. } | Bound::Member { .. } => None,
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
