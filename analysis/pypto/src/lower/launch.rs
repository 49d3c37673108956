//! Which functions of a program are launched together, on the cores of one cluster: those that a `Group` function calls, or a
//! `with pl.cluster():` (the compiler's OutlineClusterScopes makes the former of the latter).

use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId, WithItem};

use super::{Kind, kind};

/// The names of each group, as often as they are called. A group that calls in a loop or branch is left out.
pub fn launched_together(ast: &Ast) -> Vec<Vec<String>> {
    let mut groups = Vec::new();
    for &stmt in &ast.body {
        let Stmt::Function(function) = ast.stmt(stmt) else { continue };
        if function.decorators.iter().any(|&decorator| is_group(ast, decorator)) {
            groups.extend(called(ast, &function.body));
        } else if kind(ast, function) == Kind::Host {
            clusters(ast, &function.body, &mut groups);
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// `@pl.function(type=pl.FunctionType.Group)`
fn is_group(ast: &Ast, decorator: ExprId) -> bool {
    let Expr::Call { func, args } = ast.expr(decorator) else { return false };
    let ty = args.iter().find(|arg| arg.keyword.as_deref() == Some("type")).and_then(|arg| ast.dotted(arg.value));
    ast.dotted(*func).as_deref() == Some(&["pl", "function"]) && ty.is_some_and(|path| path.last() == Some(&"Group"))
}

fn is_cluster(ast: &Ast, item: &WithItem) -> bool {
    match ast.expr(item.context) {
        Expr::Call { func, .. } => ast.dotted(*func).as_deref() == Some(&["pl", "cluster"]),
        _ => false,
    }
}

fn clusters(ast: &Ast, body: &[StmtId], groups: &mut Vec<Vec<String>>) {
    for &stmt in body {
        match ast.stmt(stmt) {
            Stmt::With { items, body } => {
                if items.iter().any(|item| is_cluster(ast, item)) {
                    groups.extend(called(ast, body))
                } else {
                    clusters(ast, body, groups)
                }
            }
            Stmt::For { body, or_else, .. } | Stmt::While { body, or_else, .. } | Stmt::If { body, or_else, .. } => {
                clusters(ast, body, groups);
                clusters(ast, or_else, groups);
            }
            _ => {}
        }
    }
}

/// The functions of the program that the statements of a list call, `self.name(…)`; `None` if it does more than call.
fn called(ast: &Ast, body: &[StmtId]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for &stmt in body {
        let value = match ast.stmt(stmt) {
            Stmt::Assign { value, .. } | Stmt::Return(value) => *value,
            Stmt::Expr(value) => Some(*value),
            Stmt::With { body, .. } => {
                names.extend(called(ast, body)?);
                None
            }
            Stmt::Pass => None,
            _ => return None,
        };
        if let Some(Expr::Call { func, .. }) = value.map(|value| ast.expr(value))
            && let Some(["self", name]) = ast.dotted(*func).as_deref()
        {
            names.push((*name).to_owned());
        }
    }
    Some(names)
}

/// The kernels that each `Group` function or cluster calls, in whatever loop or branch.
pub fn members(ast: &Ast) -> Vec<Vec<String>> {
    fn clusters(ast: &Ast, body: &[StmtId], groups: &mut Vec<Vec<String>>) {
        for &stmt in body {
            if let Stmt::With { items, body } = ast.stmt(stmt)
                && items.iter().any(|item| is_cluster(ast, item))
            {
                groups.push(members_in(ast, body));
            } else {
                ast.stmt(stmt).bodies().for_each(|body| clusters(ast, body, groups));
            }
        }
    }
    let mut groups = Vec::new();
    for &stmt in &ast.body {
        let Stmt::Function(function) = ast.stmt(stmt) else { continue };
        if function.decorators.iter().any(|&decorator| is_group(ast, decorator)) {
            groups.push(members_in(ast, &function.body));
        } else {
            clusters(ast, &function.body, &mut groups);
        }
    }
    groups
}

fn members_in(ast: &Ast, body: &[StmtId]) -> Vec<String> {
    let mut names = Vec::new();
    for &stmt in body {
        let value = match ast.stmt(stmt) {
            Stmt::Assign { value, .. } | Stmt::Return(value) => *value,
            Stmt::Expr(value) => Some(*value),
            _ => None,
        };
        if let Some(Expr::Call { func, .. }) = value.map(|value| ast.expr(value))
            && let Some(["self", name]) = ast.dotted(*func).as_deref()
        {
            names.push((*name).to_owned());
        }
        names.extend(ast.stmt(stmt).bodies().flat_map(|body| members_in(ast, body)));
    }
    names
}

/// The functions of the program that a function names, `self.name`, as often as it does.
pub fn named(ast: &Ast) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, expr) in ast.exprs() {
        if let Expr::Attribute { value, name } = expr
            && ast.name(*value) == Some("self")
        {
            names.push(name.clone());
        }
    }
    names.sort();
    names
}
