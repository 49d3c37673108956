//! The parameters that the memory of a kernel can depend on, as the text says: those that reach an allocation through names.

use std::collections::BTreeSet;

use tilefit_python::eval::Imports;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId};

use super::language;
use super::mentions::ALLOCATING;
use crate::scenario;

/// `helps` says which functions allocate, or are given memory.
pub fn relevant_params(ast: &Ast, imports: &Imports, helps: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut reached = Reached { ast, imports, helps, names: BTreeSet::new() };
    loop {
        let before = reached.names.len();
        reached.body(&ast.body);
        if reached.names.len() == before {
            break;
        }
    }
    let params = scenario::function(ast).map_or(&[][..], |function| &function.params);
    let params = params.iter().filter_map(|param| ast.name(param.name)).map(str::to_owned);
    params.filter(|name| reached.names.contains(name)).collect()
}

/// Calls that say how memory is laid out, how large tensors are, or which scenarios are refused.
const SAYING: [&str; 16] = [
    "tlx.reuse_group",
    "tlx.async_dot",
    "tlx.async_dot_scaled",
    "tlx.tmem_copy",
    "tlx.async_task",
    "tlx.local_slice",
    "tlx.local_reshape",
    "tlx.local_reinterpret",
    "tl.static_assert",
    "tl.make_tensor_descriptor",
    "tl.arange",
    "tl.zeros",
    "tl.full",
    "tl.reshape",
    "tl.range",
    "tl.static_range",
];

/// Calls that need no memory wherever they stand.
const PURE: [&str; 4] = ["tl.program_id", "tl.num_programs", "tl.cdiv", "tl.constexpr"];

struct Reached<'a> {
    ast: &'a Ast,
    imports: &'a Imports,
    helps: &'a dyn Fn(&str) -> bool,
    names: BTreeSet<String>,
}

impl Reached<'_> {
    /// True where something in the body matters.
    fn body(&mut self, body: &[StmtId]) -> bool {
        let mut matters = false;
        for &stmt in body {
            matters |= self.statement(stmt);
        }
        matters
    }

    fn statement(&mut self, stmt: StmtId) -> bool {
        let ast = self.ast;
        let statement = ast.stmt(stmt);
        if let Stmt::Function(function) = statement {
            return self.body(&function.body);
        }
        // Behind a `return` nothing is allocated.
        let mut matters = matches!(statement, Stmt::Return(_));
        for expr in statement.exprs() {
            matters |= self.calls(expr);
        }
        let inside: Vec<&[StmtId]> = statement.bodies().collect();
        for body in inside {
            matters |= self.body(body);
        }
        let targets: &[ExprId] = match statement {
            Stmt::Assign { targets, .. } => targets,
            Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => std::slice::from_ref(target),
            _ => &[],
        };
        matters |= targets.iter().any(|&target| self.is_reached(target));
        if matters {
            match statement {
                // What a statement of its own is given was added where it is called.
                Stmt::Expr(_) => {}
                _ => statement.exprs().into_iter().for_each(|expr| self.add(expr)),
            }
        }
        matters
    }

    /// Adds the arguments of calls that matter; true where there are any.
    fn calls(&mut self, expr: ExprId) -> bool {
        let ast = self.ast;
        let mut matters = false;
        if let Expr::Call { func, args } = ast.expr(expr) {
            let canonical = ast.dotted(*func).and_then(|path| language::canonical(self.imports, &path));
            let counts = match &canonical {
                Some(name) => ALLOCATING.contains(&name.as_str()) || SAYING.contains(&name.as_str()),
                None => match ast.expr(*func) {
                    Expr::Name(name) => (self.helps)(name),
                    Expr::Attribute { name, .. } => name == "set_buffer_overlap",
                    _ => true,
                },
            };
            if counts {
                args.iter().for_each(|arg| self.add(arg.value));
                matters = true;
            }
            // Whatever else is called may need memory where it stands, but not by what it is given.
            let is_member = matches!(ast.expr(*func), Expr::Attribute { .. });
            matters |= is_member && !canonical.is_some_and(|name| PURE.contains(&name.as_str()));
        }
        for part in ast.expr(expr).parts() {
            matters |= self.calls(part);
        }
        matters
    }

    fn add(&mut self, expr: ExprId) {
        if let Expr::Name(name) = self.ast.expr(expr) {
            self.names.insert(name.clone());
        }
        self.ast.expr(expr).parts().into_iter().for_each(|part| self.add(part));
    }

    fn is_reached(&self, target: ExprId) -> bool {
        let named = self.ast.name(target).is_some_and(|name| self.names.contains(name));
        named || self.ast.expr(target).parts().into_iter().any(|part| self.is_reached(part))
    }
}
