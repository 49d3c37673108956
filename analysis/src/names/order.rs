//! Which names a function reads before every statement that binds them: the compiler goes through the text once.

use rustc_hash::FxHashSet;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function, Stmt, StmtId};

use super::bound::{Bound, statement};

/// How the compiler of a language goes through loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loops {
    /// Each once.
    RunOnce,
    /// All but those over a `range` once for each round, with conditions decided anew: what the round before bound is there.
    MayUnroll,
}

/// The reads of names that only statements further down bind, among the names that the statements of the function itself bind.
pub(super) fn read_early(ast: &Ast, loops: Loops) -> Vec<(ExprId, &str)> {
    let [only] = ast.body.as_slice() else { return Vec::new() };
    let Stmt::Function(Function { body, params, .. }) = ast.stmt(*only) else { return Vec::new() };
    let mut walk = Walk { ast, bound: Bound::default(), early: Vec::new(), elsewhere: elsewhere(ast), loops };
    params.iter().filter_map(|param| ast.name(param.name)).for_each(|name| walk.bound.add(name));
    walk.body(body);
    let Walk { bound, mut early, .. } = walk;
    // Names that are never bound are reported otherwise.
    early.retain(|(_, name)| bound.has(name));
    early
}

/// Names that are bound where the order of statements says nothing: in functions, comprehensions and what the view does not look into.
fn elsewhere(ast: &Ast) -> FxHashSet<&str> {
    let mut names: FxHashSet<&str> = ast.hidden.iter().map(String::as_str).collect();
    for (_, expr) in ast.exprs() {
        if matches!(expr, Expr::Comprehension { .. } | Expr::DictComprehension { .. }) {
            let mut parts = expr.parts();
            while let Some(part) = parts.pop() {
                names.extend(ast.name(part));
                parts.extend(ast.expr(part).parts());
            }
        }
    }
    names
}

struct Walk<'a> {
    ast: &'a Ast,
    /// So far.
    bound: Bound,
    early: Vec<(ExprId, &'a str)>,
    elsewhere: FxHashSet<&'a str>,
    loops: Loops,
}

impl<'a> Walk<'a> {
    fn body(&mut self, body: &'a [StmtId]) {
        for stmt in body.iter().map(|stmt| self.ast.stmt(*stmt)) {
            self.reads(stmt);
            statement(self.ast, stmt, &mut self.bound);
            if self.may_unroll(stmt) {
                stmt.bodies().for_each(|body| self.bind_all(body));
            }
            stmt.bodies().for_each(|body| self.body(body));
        }
    }

    fn may_unroll(&self, stmt: &Stmt) -> bool {
        let is_loop = match stmt {
            Stmt::For { iter, .. } => match self.ast.expr(*iter) {
                Expr::Call { func, .. } => {
                    self.ast.dotted(*func).is_none_or(|path| path.last().is_none_or(|name| *name != "range"))
                }
                _ => true,
            },
            Stmt::While { .. } => true,
            _ => false,
        };
        is_loop && self.loops == Loops::MayUnroll
    }

    fn bind_all(&mut self, body: &'a [StmtId]) {
        for stmt in body.iter().map(|stmt| self.ast.stmt(*stmt)) {
            statement(self.ast, stmt, &mut self.bound);
            stmt.bodies().for_each(|body| self.bind_all(body));
        }
    }

    fn reads(&mut self, stmt: &'a Stmt) {
        let mut open: Vec<ExprId> = match stmt {
            Stmt::Assign { value, .. } => value.iter().copied().collect(),
            Stmt::For { iter, .. } => vec![*iter],
            Stmt::With { items, .. } => items.iter().map(|item| item.context).collect(),
            _ => stmt.exprs(),
        };
        while let Some(expr) = open.pop() {
            match self.ast.name(expr) {
                Some(name) if !self.bound.has(name) && !self.elsewhere.contains(name) => self.early.push((expr, name)),
                _ => open.extend(self.ast.expr(expr).parts()),
            }
        }
    }
}
