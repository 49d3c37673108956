//! Functions that a factory of the module makes: `part = _bind()`, where `_bind` defines a function under an `if` and returns it.

use std::sync::Arc;

use tilefit_python::eval::{self, Scope};
use tilefit_syntax::BlockSource;
use tilefit_syntax::ast::{self, Ast, Expr, Function, Stmt, StmtId};

use super::{Unit, units};

/// The syntax of a function with those inside of it, which are blocks of their own.
pub(super) fn whole(db: &dyn salsa::Database, header: Unit<'_>) -> Ast {
    let is_part = |unit: &Unit<'_>| std::iter::successors(Some(*unit), |unit| unit.parent(db)).any(|it| it == header);
    let parts = units(db, header.file(db)).iter().filter(|unit| is_part(unit));
    let text: String = parts.map(|unit| unit.source(db).text.as_str()).collect();
    let source: Arc<BlockSource> = BlockSource::of(&text);
    ast::parse(&source).0
}

/// An inner function, by its place among those of its name.
pub(super) struct Returned {
    pub(super) name: String,
    pub(super) place: usize,
}

/// What a function returns that does no more than to choose among the functions that it defines.
pub(super) fn returned(ast: &Ast, scope: &dyn Scope) -> Option<Returned> {
    let [only] = ast.body.as_slice() else { return None };
    let Stmt::Function(factory) = ast.stmt(*only) else { return None };
    if !factory.params.is_empty() || !factory.decorators.is_empty() {
        return None;
    }
    let mut running = Running { ast, scope, defined: Vec::new() };
    match running.statements(&factory.body) {
        Execution::Returned(stmt) => {
            let name = function_name(ast, stmt)?;
            let same = ast.stmts().filter(|(other, _)| function_name(ast, *other) == Some(name));
            let place = same.map(|(other, _)| other).position(|other| other == stmt)?;
            Some(Returned { name: name.to_owned(), place })
        }
        Execution::Goes | Execution::Unknown => None,
    }
}

fn function_name(ast: &Ast, stmt: StmtId) -> Option<&str> {
    match ast.stmt(stmt) {
        Stmt::Function(Function { name, .. }) => ast.name(*name),
        _ => None,
    }
}

enum Execution {
    /// To the next statement.
    Goes,
    Returned(StmtId),
    Unknown,
}

struct Running<'a> {
    ast: &'a Ast,
    scope: &'a dyn Scope,
    /// The functions that were defined so far, the last one of a name last.
    defined: Vec<StmtId>,
}

impl Running<'_> {
    fn statements(&mut self, body: &[StmtId]) -> Execution {
        for &stmt in body {
            match self.statement(stmt) {
                Execution::Goes => {}
                ended => return ended,
            }
        }
        Execution::Goes
    }

    fn statement(&mut self, stmt: StmtId) -> Execution {
        let ast = self.ast;
        match ast.stmt(stmt) {
            Stmt::Function(_) => {
                self.defined.push(stmt);
                Execution::Goes
            }
            Stmt::If { condition, body, or_else } => match eval::truth(&eval::evaluate(ast, *condition, self.scope)) {
                Some(true) => self.statements(body),
                Some(false) => self.statements(or_else),
                None => Execution::Unknown,
            },
            Stmt::Return(Some(value)) => {
                let named =
                    |stmt: &&StmtId| ast.name(*value).is_some() && function_name(ast, **stmt) == ast.name(*value);
                self.defined.iter().rfind(named).map_or(Execution::Unknown, |&stmt| Execution::Returned(stmt))
            }
            Stmt::Expr(text) if matches!(ast.expr(*text), Expr::Str(_)) => Execution::Goes,
            Stmt::Pass => Execution::Goes,
            _ => Execution::Unknown,
        }
    }
}
