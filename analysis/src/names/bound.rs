//! The names that a block binds, wherever in it.

use rustc_hash::FxHashSet;
use tilefit_syntax::ast::{Ast, Clause, Expr, ExprId, Function, Stmt};

/// The names that a block binds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bound {
    names: FxHashSet<String>,
    /// `from module import *`, each as its level and its module.
    pub(crate) stars: Vec<(u32, String)>,
    /// More names may be bound while the code runs.
    pub(crate) is_open: bool,
}

impl Bound {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn add(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    pub(crate) fn extend(&mut self, other: &Bound) {
        self.names.extend(other.names.iter().cloned());
        self.stars.extend(other.stars.iter().cloned());
        self.is_open |= other.is_open;
    }
}

/// Functions by which a module makes names as it runs.
const MAKERS: [&str; 5] = ["globals", "locals", "vars", "exec", "setattr"];

/// Inner functions and comprehensions count as part of the block: a name of theirs is at most taken for one of the block.
pub(crate) fn bound(ast: &Ast) -> Bound {
    let mut bound = Bound { names: ast.hidden.iter().cloned().collect(), ..Bound::default() };
    ast.stmts().for_each(|(_, stmt)| statement(ast, stmt, &mut bound));
    for (_, expr) in ast.exprs() {
        match expr {
            Expr::Comprehension { clauses, .. } | Expr::DictComprehension { clauses, .. } => {
                for clause in clauses {
                    if let Clause::For { target: bound_by, .. } = clause {
                        target(ast, *bound_by, &mut bound);
                    }
                }
            }
            Expr::Name(name) if MAKERS.contains(&name.as_str()) => bound.is_open = true,
            _ => {}
        }
    }
    bound.is_open |= bound.has("__getattr__") || ast.hidden.iter().any(|name| MAKERS.contains(&name.as_str()));
    bound
}

/// What a statement itself binds, without those in it.
pub(super) fn statement(ast: &Ast, stmt: &Stmt, bound: &mut Bound) {
    match stmt {
        Stmt::Function(Function { name, params, .. }) => {
            target(ast, *name, bound);
            params.iter().for_each(|param| target(ast, param.name, bound));
        }
        Stmt::Class { name, .. } => target(ast, *name, bound),
        Stmt::Assign { targets, .. } => targets.iter().for_each(|&each| target(ast, each, bound)),
        Stmt::For { target: variable, .. } => target(ast, *variable, bound),
        Stmt::With { items, .. } => items.iter().filter_map(|item| item.target).for_each(|it| target(ast, it, bound)),
        Stmt::Import(modules) => {
            for module in modules {
                let first = module.module.split('.').next().unwrap_or_default();
                bound.add(module.alias.as_deref().unwrap_or(first));
            }
        }
        Stmt::ImportFrom { level, module, names } => {
            for name in names {
                match name.bound() {
                    "*" => bound.stars.push((*level, module.clone())),
                    name => bound.add(name),
                }
            }
        }
        _ => {}
    }
}

fn target(ast: &Ast, expr: ExprId, bound: &mut Bound) {
    match ast.expr(expr) {
        Expr::Name(name) => bound.add(name),
        Expr::Tuple(elements) | Expr::List(elements) => elements.iter().for_each(|&each| target(ast, each, bound)),
        Expr::Starred(inner) => target(ast, *inner, bound),
        _ => {}
    }
}
