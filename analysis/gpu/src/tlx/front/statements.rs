//! Statements: the values of names after each, and which branches are followed.

use std::collections::BTreeSet;

use tilefit_python::work;
use tilefit_syntax::ast::{Ast, BinaryOp, Expr, ExprId, Stmt, StmtId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::{self, Constant};
use tilefit_python::finding::{Origin, Reason};

use super::super::kernel::Local;
use super::expressions::is_element;
use super::{Bound, Frame, Front, Naming, STEPS_A_STATEMENT, Value};

impl Front {
    pub(super) fn body(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        for &stmt in body {
            if frame.done {
                return;
            }
            work::spend(STEPS_A_STATEMENT);
            self.statement(frame, stmt);
        }
    }

    pub(super) fn statement(&mut self, frame: &mut Frame<'_>, stmt: StmtId) {
        let ast = frame.ast;
        match ast.stmt(stmt) {
            Stmt::Assign { targets, annotation, value: Some(value) } => {
                self.assign(frame, targets, *annotation, *value);
            }
            Stmt::AugAssign { target, op, value } => {
                self.value(frame, *value);
                let of_target = ast.name(*target).and_then(|name| frame.names.get_mut(name));
                match of_target.filter(|bound| moves(*op) && may_move(&bound.value)) {
                    Some(bound) => bound.plain = true,
                    None => self.forget(frame, *target, "changes at run time", true),
                }
            }
            Stmt::Expr(expr) => {
                self.value(frame, *expr);
            }
            Stmt::If { condition, body, or_else } => self.branch(frame, *condition, body, or_else),
            Stmt::For { target, iter, body, or_else } => {
                self.value(frame, *iter);
                let counts = self.counts_at_run_time(frame, *iter);
                self.forget(frame, *target, "is the index of a loop", counts);
                self.repeat(frame, body);
                self.body(frame, or_else);
            }
            Stmt::While { condition, body, or_else } => {
                self.forget_assigned(frame, body);
                self.value(frame, *condition);
                self.repeat(frame, body);
                self.body(frame, or_else);
            }
            Stmt::With { items, body } => {
                for item in items {
                    self.value(frame, item.context);
                    if let Some(target) = item.target {
                        self.forget(frame, target, "is bound by `with`", false);
                    }
                }
                self.body(frame, body);
            }
            Stmt::Return(value) => {
                let value = value.map(|value| self.value(frame, value));
                if self.uncertain.is_none() {
                    frame.returned = value;
                    frame.done = true;
                } else {
                    frame.returned = Some(Value::unknown("a helper returns under an unknown condition"));
                }
            }
            Stmt::Other { body, .. } => {
                let reason = Reason::new("a `try` or `match` is not followed");
                self.uncertainly(reason, |front| front.body(frame, body));
            }
            Stmt::Assign { .. }
            | Stmt::Function(_)
            | Stmt::Class { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Pass
            | Stmt::Import(_)
            | Stmt::ImportFrom { .. }
            | Stmt::Error => {}
        }
    }

    pub(super) fn uncertainly<T>(&mut self, reason: Reason, follow: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.uncertain.clone();
        self.uncertain = outer.clone().or(Some(reason));
        let result = follow(self);
        self.uncertain = outer;
        result
    }

    pub(super) fn branch(&mut self, frame: &mut Frame<'_>, condition: ExprId, body: &[StmtId], or_else: &[StmtId]) {
        let value = self.value(frame, condition);
        let known = match &value {
            Value::Constant(constant) if !self.mentions_tensor(frame, condition) => eval::truth(constant),
            _ => None,
        };
        match known {
            Some(true) => return self.body(frame, body),
            Some(false) => return self.body(frame, or_else),
            None => {}
        }
        let reason = match value.reason() {
            Some(reason) => reason.clone(),
            None => Reason::new("a condition is known at run time only"),
        };
        let before = frame.names.clone();
        self.uncertainly(reason.clone(), |front| front.body(frame, body));
        let then = std::mem::replace(&mut frame.names, before);
        self.uncertainly(reason.clone(), |front| front.body(frame, or_else));
        for (name, bound) in then {
            match frame.names.get_mut(&name) {
                None => {
                    frame.names.insert(name, bound);
                }
                Some(other) if *other == bound => {}
                Some(other) => {
                    let reason = reason.clone().of(&format!("`{name}` depends on a condition"));
                    let otherwise = std::mem::replace(&mut other.value, Value::unknown(reason.clone()));
                    other.value = bound.value.or(otherwise, &reason);
                    other.plain &= bound.plain;
                }
            }
        }
    }

    /// A loop is followed once, with everything unknown that it changes.
    pub(super) fn repeat(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        self.forget_assigned(frame, body);
        self.body(frame, body);
        self.forget_assigned(frame, body);
    }

    /// Whether the target of a loop over this is a tensor.
    fn counts_at_run_time(&self, frame: &Frame<'_>, iter: ExprId) -> bool {
        let Expr::Call { func, .. } = frame.ast.expr(iter) else { return false };
        frame.ast.name(*func) == Some("range") || self.canonical(frame, *func).as_deref() == Some("tl.range")
    }

    pub(super) fn forget_assigned(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        let (mut names, mut moved) = (BTreeSet::new(), BTreeSet::new());
        assigned(frame.ast, body, &mut names, &mut moved);
        let is_moved = |name: &str| frame.names.get(name).is_some_and(|bound| may_move(&bound.value));
        moved.retain(|name| !is_moved(name));
        names.extend(moved);
        for name in names {
            // A name that is first bound inside has its value there in every round.
            if let Some(bound) = frame.names.get_mut(name) {
                bound.value = Value::unknown(format!("`{name}` changes in a loop"));
            }
        }
    }

    pub(super) fn forget(&mut self, frame: &mut Frame<'_>, target: ExprId, why: &str, plain: bool) {
        let ast = frame.ast;
        if let Some(name) = ast.name(target) {
            let value = Value::unknown(format!("`{name}` {why}"));
            frame.names.insert(name.to_owned(), Bound { value, plain });
        }
        for &element in ast.elements(target).unwrap_or_default() {
            self.forget(frame, element, why, plain);
        }
    }

    pub(super) fn assign(
        &mut self,
        frame: &mut Frame<'_>,
        targets: &[ExprId],
        annotation: Option<ExprId>,
        value: ExprId,
    ) {
        let ast = frame.ast;
        let named = targets.first().and_then(|&target| Some((target, ast.name(target)?)));
        let outer = self.naming.take();
        if let Some((target, name)) = named {
            self.naming = Some(Naming { name: name.to_owned(), at: self.at(frame, target), count: 0 });
        }
        let bound = self.value(frame, value);
        self.naming = outer;
        let is_constexpr = annotation.is_some_and(|at| self.canonical(frame, at).as_deref() == Some("tl.constexpr"));
        for &target in targets {
            self.bind(frame, target, bound.clone(), is_constexpr);
        }
    }

    pub(super) fn bind(&mut self, frame: &mut Frame<'_>, target: ExprId, value: Value, is_constexpr: bool) {
        let ast = frame.ast;
        match ast.expr(target) {
            Expr::Name(name) => {
                let is_number =
                    matches!(value, Value::Constant(Constant::Int(_) | Constant::Bool(_) | Constant::Float(_)));
                let plain = !is_constexpr && (is_number || value.reason().is_some() && !value.holds_memory());
                if let (Value::Constant(constant), None) = (&value, frame.call_site)
                    && (is_constexpr || is_number)
                {
                    let local = Local { name: name.clone(), at: Origin::Expr(target), value: constant.clone() };
                    self.kernel.locals.push(local);
                }
                frame.names.insert(name.clone(), Bound { value, plain });
            }
            Expr::Tuple(elements) | Expr::List(elements) => {
                let values = match value {
                    Value::Sequence(values) => values.into(),
                    Value::Constant(Constant::Tuple(values) | Constant::List(values)) => {
                        values.into_iter().map(Value::Constant).collect()
                    }
                    Value::Constant(Constant::Unknown(reason)) => {
                        vec![Value::Constant(Constant::Unknown(reason)); elements.len()]
                    }
                    _ => Vec::new(),
                };
                for (i, &element) in elements.iter().enumerate() {
                    let value = values
                        .get(i)
                        .cloned()
                        .unwrap_or_else(|| Value::unknown("is unpacked from a value that is not a tuple"));
                    self.bind(frame, element, value, is_constexpr);
                }
            }
            Expr::Attribute { value: base, name } => {
                let base = self.value(frame, *base);
                if matches!(base, Value::Spec(_)) && (name == "storage" || name == "buffer_size_bytes") {
                    let message = format!(
                        "AttributeError: `{name}` of a storage_alias_spec cannot be changed; give it to the constructor"
                    );
                    self.refuse(frame, target, Code::Rejected, message);
                }
            }
            _ => {
                self.value(frame, target);
            }
        }
    }
}

/// The names that statements assign; apart from them those that are only moved on by an offset.
fn assigned<'a>(ast: &'a Ast, body: &[StmtId], names: &mut BTreeSet<&'a str>, moved: &mut BTreeSet<&'a str>) {
    for &stmt in body {
        match ast.stmt(stmt) {
            Stmt::Assign { targets, value: Some(value), .. } => {
                let is_moved = |target: ExprId| match ast.expr(*value) {
                    Expr::Binary { op, left, .. } => {
                        moves(*op) && ast.name(target).is_some() && ast.name(*left) == ast.name(target)
                    }
                    _ => false,
                };
                for &target in targets {
                    targets_of(ast, target, if is_moved(target) { moved } else { names });
                }
            }
            Stmt::AugAssign { target, op, .. } => targets_of(ast, *target, if moves(*op) { moved } else { names }),
            Stmt::For { target, .. } => targets_of(ast, *target, names),
            _ => {}
        }
        ast.stmt(stmt).bodies().for_each(|body| assigned(ast, body, names, moved));
    }
}

/// Whether what is known of a value stays true when it is moved on: the type of a pointer's elements, or why that is not known.
fn may_move(value: &Value) -> bool {
    is_element(value) || matches!(value, Value::Constant(Constant::Unknown(_)))
}

/// Whether an operation on a pointer gives another one to elements of the same type.
fn moves(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub)
}

fn targets_of<'a>(ast: &'a Ast, target: ExprId, names: &mut BTreeSet<&'a str>) {
    if let Some(name) = ast.name(target) {
        names.insert(name);
    }
    for &element in ast.elements(target).unwrap_or_default() {
        targets_of(ast, element, names);
    }
}
