//! Python trees to kernel IR.
//!
//! [`body`] and [`expression`] read a kernel as the compiler's parser does, [`call`] and [`deduce`] by the operation
//! table, and [`ssa`] brings the result into SSA form.

mod annotation;
mod body;
mod call;
mod deduce;
mod draft;
mod expression;
mod scalar;
mod ssa;
#[cfg(test)]
mod tests;

use tilelens_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt};

use crate::eval::Scope;
use crate::ir::{Kernel, KernelKind, Origin};

/// What a function is to the compiler, by its decorators (`reference/language.md` §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel(KernelKind),
    /// Host or unspecified code, which may contain regions that the compiler outlines as kernels.
    Host,
    /// Put in place of its calls.
    Inline,
    /// Not PyPTO.
    Python,
}

/// The kernels of a function block: the function itself if it is one, or the scopes inside of it that the compiler outlines.
pub fn kernels(ast: &Ast, scope: &dyn Scope) -> Vec<Kernel> {
    let functions = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some((stmt, function)),
        _ => None,
    });
    let mut kernels = Vec::new();
    for (stmt, function) in functions {
        match kind(ast, function) {
            Kind::Kernel(kind) => kernels.push(kernel(ast, scope, Origin::Stmt(stmt), function, kind)),
            Kind::Host | Kind::Inline | Kind::Python => {}
        }
    }
    kernels
}

fn kernel(ast: &Ast, scope: &dyn Scope, origin: Origin, function: &Function, kind: KernelKind) -> Kernel {
    let mut lowering = body::Lowering::new(ast, scope);
    lowering.function(function);
    let (draft, state) = lowering.finish();
    let converted = ssa::convert(draft);
    let mut notes = state.notes;
    notes.extend(converted.notes);
    Kernel {
        name: ast.name(function.name).unwrap_or_default().to_owned(),
        kind,
        origin,
        name_origin: Origin::Expr(function.name),
        params: converted.params,
        vars: converted.vars,
        body: converted.body,
        allocations: state.allocations,
        notes,
        rejections: state.rejections,
    }
}

/// What a function is; cheap for plain Python, which has no decorator of `pl`.
pub(crate) fn kind(ast: &Ast, function: &Function) -> Kind {
    function
        .decorators
        .iter()
        .map(|&decorator| decorated(ast, decorator))
        .find(|kind| *kind != Kind::Python)
        .unwrap_or(Kind::Python)
}

fn decorated(ast: &Ast, decorator: ExprId) -> Kind {
    let (path, args): (_, &[Arg]) = match ast.expr(decorator) {
        Expr::Call { func, args } => (ast.dotted(*func), args),
        _ => (ast.dotted(decorator), &[]),
    };
    match path.as_deref() {
        Some(["pl", "function"]) => function_type(ast, args),
        Some(["pl", "jit", "incore"]) => Kind::Kernel(KernelKind::InCore),
        Some(["pl", "inline"] | ["pl", "jit", "inline"]) => Kind::Inline,
        Some(["pl", "jit"] | ["pl", "jit", "opaque" | "host"]) => Kind::Host,
        _ => Kind::Python,
    }
}

fn function_type(ast: &Ast, args: &[Arg]) -> Kind {
    let named = |name| args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value);
    if named("external_source").is_some() {
        return Kind::Python;
    }
    let path = named("type").and_then(|ty| ast.dotted(ty));
    match path.as_deref().and_then(|path| path.last().copied()) {
        Some("InCore") => Kind::Kernel(KernelKind::InCore),
        Some("AIC") => Kind::Kernel(KernelKind::Aic),
        Some("AIV") => Kind::Kernel(KernelKind::Aiv),
        Some("Inline") => Kind::Inline,
        Some("Opaque" | "Orchestration" | "Graph") | None => Kind::Host,
        Some(_) => Kind::Python,
    }
}
