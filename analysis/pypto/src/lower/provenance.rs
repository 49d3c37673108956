//! Provenance of tensors: what a function of a program passes to the kernels that it calls. Whether each tensor is one that it was given itself, so that
//! others may hold its memory too. Only names are followed; all else may be memory that it has made.

use rustc_hash::FxHashSet;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt};

use super::{Kind, kind};

/// What a call passes to another function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedArgs {
    pub callee: String,
    /// By a plain call of a function for the host. The compiler trusts no other.
    is_plain: bool,
    /// The keyword of each argument, and whether the caller may have made what it passes.
    args: Vec<(Option<String>, bool)>,
}

impl PassedArgs {
    /// Whether a parameter may get memory that the caller has made.
    pub fn may_be_made(&self, param: &str, position: usize) -> bool {
        let by_name = self.args.iter().find(|(keyword, _)| keyword.as_deref() == Some(param));
        let arg = by_name.or_else(|| self.args.get(position).filter(|(keyword, _)| keyword.is_none()));
        self.is_plain && arg.is_some_and(|(_, may_be_made)| *may_be_made)
    }
}

/// The calls of the functions of a block.
pub fn passed_args(ast: &Ast) -> Vec<PassedArgs> {
    let function = ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    });
    let Some(function) = function.filter(|function| !function.decorators.is_empty()) else { return Vec::new() };
    let given = match kind(ast, function) {
        Kind::Host => Some(given(ast, function)),
        Kind::Inline => Some(FxHashSet::default()),
        Kind::Kernel(_) | Kind::Python => None,
    };
    let mut calls = Vec::new();
    for (_, expr) in ast.exprs() {
        let Expr::Call { func, args } = expr else { continue };
        match (ast.dotted(*func).as_deref(), &given) {
            (Some(["self", callee] | [callee]), Some(given)) => {
                let passed = args.iter().map(|arg| (arg.keyword.clone(), !is_given(ast, given, arg.value)));
                calls.push(PassedArgs { callee: (*callee).to_owned(), is_plain: true, args: passed.collect() });
            }
            (Some(["self", callee] | [callee]), None) => calls.push(untrusted(callee)),
            (Some([.., "submit"]), _) => calls.extend(submitted(ast, args).map(untrusted)),
            _ => {}
        }
    }
    calls
}

fn untrusted(callee: &str) -> PassedArgs {
    PassedArgs { callee: callee.to_owned(), is_plain: false, args: Vec::new() }
}

fn submitted<'a>(ast: &'a Ast, args: &[Arg]) -> Option<&'a str> {
    ast.dotted(args.first()?.value)?.last().copied()
}

/// The names that are always bound to a parameter of the function, or to a part of it.
fn given<'a>(ast: &'a Ast, function: &Function) -> FxHashSet<&'a str> {
    let mut given: FxHashSet<&str> = function.params.iter().filter_map(|param| ast.name(param.name)).collect();
    let mut assigned: Vec<(&str, Option<ExprId>)> = Vec::new();
    for (_, stmt) in ast.stmts() {
        match stmt {
            Stmt::Assign { targets, value, .. } => {
                let alone = |target: ExprId| ast.name(target).and(*value);
                assigned.extend(
                    targets
                        .iter()
                        .flat_map(|&target| bound(ast, target).into_iter().map(move |name| (name, alone(target)))),
                );
            }
            Stmt::For { target, .. } | Stmt::AugAssign { target, .. } => {
                assigned.extend(bound(ast, *target).into_iter().map(|name| (name, None)));
            }
            Stmt::With { items, .. } => {
                let targets = items.iter().filter_map(|item| item.target);
                assigned.extend(targets.flat_map(|target| bound(ast, target)).map(|name| (name, None)));
            }
            _ => {}
        }
    }
    given.extend(assigned.iter().map(|(name, _)| *name));
    loop {
        let is_made = |value: &Option<ExprId>| !value.is_some_and(|value| is_given(ast, &given, value));
        let made: Vec<&str> = assigned
            .iter()
            .filter(|(name, value)| given.contains(name) && is_made(value))
            .map(|(name, _)| *name)
            .collect();
        if made.is_empty() {
            return given;
        }
        made.iter().for_each(|name| {
            given.remove(name);
        });
    }
}

/// The names in a target of an assignment.
fn bound(ast: &Ast, target: ExprId) -> Vec<&str> {
    match ast.elements(target) {
        Some(elements) => elements.iter().flat_map(|&element| bound(ast, element)).collect(),
        None => ast.name(target).into_iter().collect(),
    }
}

fn is_given(ast: &Ast, given: &FxHashSet<&str>, value: ExprId) -> bool {
    match ast.expr(value) {
        Expr::Name(name) => given.contains(name.as_str()),
        Expr::Subscript { value, .. } => is_given(ast, given, *value),
        Expr::Call { func, args } => {
            let path = ast.dotted(*func).unwrap_or_default();
            let is_part =
                matches!(path.as_slice(), ["pl", .., "slice" | "view" | "assemble" | "reshape" | "transpose"]);
            is_part && args.first().is_some_and(|arg| is_given(ast, given, arg.value))
        }
        _ => false,
    }
}
