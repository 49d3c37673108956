//! Statements.

use std::rc::Rc;

use tilefit_python::finding::{Example, Reason};
use tilefit_syntax::ast::{ExprId, Stmt, StmtId, WithItem};

use super::recording::empty_loop;
use super::value::{FrameId, Value, unknown};
use super::{DEEPEST_NESTING, LONGEST, Tracer, What};
use crate::program::{Extent, Kind, Statement};

/// How a list of statements ends.
#[derive(Debug, Clone)]
pub(super) enum Flow {
    Next,
    Return(Value),
    Break,
    Continue,
    /// An exception.
    Raise(Reason),
}

impl Tracer<'_> {
    pub(super) fn body(&mut self, frame: FrameId, body: &[StmtId]) -> Flow {
        if self.nesting >= DEEPEST_NESTING {
            self.note(Reason::new("statements are nested too deeply"));
            return Flow::Next;
        }
        self.nesting += 1;
        let mut flow = Flow::Next;
        for &stmt in body {
            flow = self.statement(frame, stmt);
            if !matches!(flow, Flow::Next) {
                break;
            }
        }
        self.nesting -= 1;
        flow
    }

    fn statement(&mut self, frame: FrameId, stmt: StmtId) -> Flow {
        self.step();
        let ast = self.frame(frame).code.ast.clone();
        match ast.stmt(stmt) {
            Stmt::Function(function) => {
                let code = self.frame(frame).code.clone();
                let value = self.function(frame, &code, stmt);
                if let Some(name) = ast.name(function.name) {
                    self.set(frame, name, value);
                }
            }
            Stmt::Class { name, .. } => {
                if let Some(name) = ast.name(*name) {
                    self.set(frame, name, unknown(format!("the class `{name}` is not followed")));
                }
            }
            Stmt::Assign { targets, annotation, value: None } => {
                if let (Some(annotation), [target]) = (annotation, targets.as_slice()) {
                    self.declare(frame, *target, *annotation);
                }
            }
            Stmt::Assign { targets, value: Some(value), .. } => {
                let value = self.value(frame, *value);
                for &target in targets {
                    self.assign(frame, target, value.clone(), stmt);
                }
            }
            Stmt::AugAssign { target, op, value } => self.augmented(frame, *target, *op, *value, stmt),
            Stmt::Expr(expr) => {
                let value = self.value(frame, *expr);
                self.evaluated(frame, value, *expr);
            }
            Stmt::For { target, iter, body, or_else } => {
                let flow = self.for_(frame, *target, *iter, body, stmt);
                return match flow {
                    Flow::Next if !or_else.is_empty() => self.body(frame, or_else),
                    flow => flow,
                };
            }
            Stmt::While { condition, body, .. } => return self.while_(frame, *condition, body, stmt),
            Stmt::If { condition, body, or_else } => return self.if_(frame, *condition, body, or_else, stmt),
            Stmt::With { items, body } => return self.with(frame, items, body, stmt),
            Stmt::Return(value) => {
                return Flow::Return(value.map_or(Value::None, |value| {
                    let value = self.value(frame, value);
                    self.loaded_variable(value)
                }));
            }
            Stmt::Break | Stmt::Continue => {
                let is_break = matches!(ast.stmt(stmt), Stmt::Break);
                if self.is_kernel(frame) && self.loops.last() == Some(&true) {
                    let at = self.at_stmt(frame, stmt);
                    self.other(if is_break { "tirx.break_loop" } else { "tirx.continue_loop" }, &[], at);
                }
                return if is_break { Flow::Break } else { Flow::Continue };
            }
            Stmt::Pass => {}
            Stmt::Import(modules) => {
                for module in modules {
                    let (name, path) = match &module.alias {
                        Some(alias) => (alias.as_str(), module.module.as_str()),
                        None => {
                            let first = module.module.split('.').next().unwrap_or_default();
                            (first, first)
                        }
                    };
                    let value = self.of_library(&super::library::normal(path));
                    self.set(frame, name, value);
                }
            }
            Stmt::ImportFrom { level, module, names } => {
                for imported in names {
                    let path = super::library::normal(&format!("{module}.{}", imported.name));
                    let value = match level {
                        0 => self.of_library(&path),
                        _ => unknown(format!("`{}` is imported inside a function", imported.name)),
                    };
                    self.set(frame, imported.bound(), value);
                }
            }
            Stmt::Assert(condition) => return self.assert(frame, *condition, stmt),
            Stmt::Other { keyword, body } => return self.other_statement(frame, keyword, body),
            Stmt::Error => self.note(Reason::new("a statement that does not parse")),
        }
        Flow::Next
    }

    fn assert(&mut self, frame: FrameId, condition: ExprId, stmt: StmtId) -> Flow {
        let value = self.value(frame, condition);
        // Behind a primitive function that was written, an `assert` is about what was made of it, as in a test.
        if value.truth() == Some(false) && self.prims.is_empty() {
            let at = self.at_stmt(frame, stmt);
            self.mistake(at, What::Assertion);
            if self.uncertain == 0 {
                return Flow::Raise(Reason::new("an `assert` fails"));
            }
        }
        Flow::Next
    }

    fn other_statement(&mut self, frame: FrameId, keyword: &str, body: &[StmtId]) -> Flow {
        match keyword {
            "raise" => return Flow::Raise(Reason::new("the function raises an exception")),
            "try" => {
                let flow = self.body(frame, body);
                return if matches!(flow, Flow::Raise(_)) { Flow::Next } else { flow };
            }
            "global" | "nonlocal" | "del" | "type" => {}
            _ => {
                self.note(Reason::new(format!("`{keyword}` is not followed")));
                return self.body(frame, body);
            }
        }
        Flow::Next
    }

    /// A variable of the kernel that is returned is its value.
    fn loaded_variable(&mut self, value: Value) -> Value {
        match &value {
            Value::Buffer(view) if view.is_variable => self.expr(&value).map_or(value, Value::Expr),
            _ => value,
        }
    }

    /// An expression as a statement.
    fn evaluated(&mut self, frame: FrameId, value: Value, expr: ExprId) {
        if !self.is_kernel(frame) {
            // A function of Python computes the statement and forgets it.
            if let Value::Operation(_) = value
                && self.out.is_launched()
            {
                let at = self.at(frame, expr);
                self.mistake(at, What::Lost);
            }
            return;
        }
        match value {
            Value::Expr(_) | Value::Operation(_) => {
                let at = self.at(frame, expr);
                self.emit_value(&value, at);
            }
            Value::Launch(spec) if self.is_kernel(frame) => self.start_launch(spec),
            Value::Unknown(it) if self.is_kernel(frame) => {
                self.note(it.reason);
            }
            _ => {}
        }
    }

    /// A value that stands as a statement of a kernel.
    pub(super) fn emit_value(&mut self, value: &Value, at: tilefit_python::finding::Origin) {
        match value {
            Value::Operation(op) => {
                if let Kind::Store { .. } = op.kind {
                    self.stores += 1;
                }
                self.emit(Statement::Op((**op).clone()));
            }
            Value::Expr(inner) => {
                if let Some(call) = &inner.call {
                    self.other(call, &inner.touches, at);
                }
            }
            _ => {}
        }
    }

    fn if_(&mut self, frame: FrameId, condition: ExprId, body: &[StmtId], or_else: &[StmtId], stmt: StmtId) -> Flow {
        let value = self.value(frame, condition);
        match (value.truth(), &value) {
            (Some(true), _) => self.body(frame, body),
            (Some(false), _) => self.body(frame, or_else),
            (None, Value::Unknown(it)) => {
                let mut reason = it.reason.clone();
                if self.frame(frame).code.ast.name(condition).is_some() {
                    reason = self.needs_as(reason, Example::Truth);
                }
                self.either_branch(frame, &reason, body, or_else, stmt)
            }
            (None, _) => match self.decided(&value) {
                Some(true) => self.body(frame, body),
                Some(false) => self.body(frame, or_else),
                None => self.branch_of_kernel(frame, &value, body, or_else, stmt),
            },
        }
    }

    fn branch_of_kernel(
        &mut self,
        frame: FrameId,
        condition: &Value,
        body: &[StmtId],
        or_else: &[StmtId],
        stmt: StmtId,
    ) -> Flow {
        let at = self.at_stmt(frame, stmt);
        let condition = self.expr(condition);
        let touches = condition.as_ref().map_or_else(Vec::new, |condition| condition.touches.to_vec());
        let touches = touches.as_slice();
        if self.out.is_in_nest() {
            self.branch((touches, Vec::new()), Vec::new(), Vec::new(), at);
        }
        let in_rounds = condition.as_ref().map_or_else(Vec::new, |condition| self.decided_in_rounds(condition));
        let (mut first, mut second) = (Flow::Next, Flow::Next);
        let then = self
            .under(condition.as_ref(), true, |tracer| tracer.body_of_branch(|tracer| first = tracer.body(frame, body)));
        let otherwise = self.under(condition.as_ref(), false, |tracer| {
            tracer.body_of_branch(|tracer| second = tracer.body(frame, or_else))
        });
        if !self.out.is_in_nest() {
            self.branch((touches, in_rounds), then, otherwise, at);
        }
        match (first, second) {
            (Flow::Return(value), _) | (_, Flow::Return(value)) => Flow::Return(value),
            _ => Flow::Next,
        }
    }

    /// Both sides of a condition that the host knows and tilefit does not.
    fn either_branch(
        &mut self,
        frame: FrameId,
        reason: &Reason,
        body: &[StmtId],
        or_else: &[StmtId],
        stmt: StmtId,
    ) -> Flow {
        let why = reason.clone().of("which branch is taken is not known");
        let before = self.frame(frame).names.clone();
        tilefit_python::work::spend(before.len() as u64);
        self.uncertain += 1;
        let (mut first, mut second) = (Flow::Next, Flow::Next);
        let then = self.body_of_branch(|tracer| first = tracer.body(frame, body));
        let then_names = std::mem::replace(&mut self.frames[frame.0 as usize].names, before);
        let otherwise = self.body_of_branch(|tracer| second = tracer.body(frame, or_else));
        self.uncertain -= 1;
        let ends = |flow: &Flow| !matches!(flow, Flow::Next);
        match (ends(&first), ends(&second)) {
            // What is behind an exception does not matter.
            (true, false) if matches!(first, Flow::Raise(_)) => {}
            (false, true) if matches!(second, Flow::Raise(_)) => self.frames[frame.0 as usize].names = then_names,
            _ => self.merge(frame, then_names, &why),
        }
        let is_silent = then.is_empty() && otherwise.is_empty();
        if !is_silent {
            self.note(why.clone());
            let at = self.at_stmt(frame, stmt);
            self.branch((&[], Vec::new()), then, otherwise, at);
        } else if self.out.is_in_nest() {
            self.note(why.clone());
        }
        match (first, second) {
            (Flow::Return(one), Flow::Return(two)) => Flow::Return(self.either(&why, &one, &two)),
            (Flow::Return(value), Flow::Raise(_)) | (Flow::Raise(_), Flow::Return(value)) => Flow::Return(value),
            (Flow::Raise(reason), Flow::Raise(_)) => Flow::Raise(reason),
            (Flow::Return(value), _) | (_, Flow::Return(value)) => {
                // The rest runs in the other case; what is returned is one of two.
                let returned = self.either(&why, &value, &unknown("another value"));
                self.frames[frame.0 as usize].returned = Some(returned);
                Flow::Next
            }
            _ => Flow::Next,
        }
    }

    fn merge(&mut self, frame: FrameId, then: rustc_hash::FxHashMap<Rc<str>, Value>, why: &Reason) {
        for (name, one) in then {
            let merged = match self.frame(frame).names.get(&name) {
                Some(two) => self.either(why, &one, &two.clone()),
                // A name that only one side has is used only there, or the program fails.
                None => one,
            };
            self.frames[frame.0 as usize].names.insert(name, merged);
        }
    }

    fn while_(&mut self, frame: FrameId, condition: ExprId, body: &[StmtId], stmt: StmtId) -> Flow {
        for _ in 0..LONGEST {
            let value = self.value(frame, condition);
            match (value.truth(), &value) {
                (Some(false), _) => return Flow::Next,
                (Some(true), _) if !self.is_kernel(frame) => match self.body(frame, body) {
                    Flow::Next | Flow::Continue => {}
                    Flow::Break => return Flow::Next,
                    flow => return flow,
                },
                (Some(true), _) => {
                    self.note(Reason::new("a `while` of the kernel that never ends"));
                    return Flow::Next;
                }
                (None, Value::Unknown(it)) => {
                    let reason = it.reason.clone().of("how often a `while` goes round is not known");
                    self.note(reason.clone());
                    self.body(frame, body);
                    return Flow::Next;
                }
                (None, _) => {
                    let at = self.at_stmt(frame, stmt);
                    let touches = self.expr(&value).map_or_else(Vec::new, |value| value.touches.to_vec());
                    let mut made = empty_loop(Extent::Symbolic("while".into()), at);
                    made.body = self.body_of(|tracer| {
                        // The condition is read in each round.
                        let touches = tracer.shared_among(&touches);
                        if !touches.is_empty() {
                            tracer.other("bind", &touches, at);
                        }
                        tracer.loops.push(true);
                        tracer.body(frame, body);
                        tracer.loops.pop();
                    });
                    self.emit(Statement::Loop(made));
                    return Flow::Next;
                }
            }
        }
        self.note(Reason::new("a `while` that goes round too often"));
        Flow::Next
    }

    fn with(&mut self, frame: FrameId, items: &[WithItem], body: &[StmtId], stmt: StmtId) -> Flow {
        let Some((first, rest)) = items.split_first() else { return self.body(frame, body) };
        let context = self.value(frame, first.context);
        match context {
            Value::Launch(spec) => {
                self.start_launch(spec.clone());
                if let Some(target) = first.target {
                    self.bind_variables(frame, target, &spec, stmt);
                }
                let flow = self.with(frame, rest, body, stmt);
                self.out.end_launch();
                match flow {
                    Flow::Return(value) => Flow::Return(value),
                    _ => Flow::Next,
                }
            }
            Value::Guard(threads) => {
                let at = self.at(frame, first.context);
                let mut flow = Flow::Next;
                let then = self.under(None, true, |tracer| {
                    tracer.facts.assume_some_threads(threads);
                    tracer.body_of_branch(|tracer| flow = tracer.with(frame, rest, body, stmt))
                });
                self.branch((&[], Vec::new()), then, Vec::new(), at);
                flow
            }
            Value::Unknown(it) => {
                if self.is_kernel(frame) {
                    self.note(it.reason.of("a `with` is not followed"));
                }
                if let Some(target) = first.target {
                    self.assign(frame, target, unknown("what a `with` gives"), stmt);
                }
                self.with(frame, rest, body, stmt)
            }
            context => {
                if let Some(target) = first.target {
                    self.assign(frame, target, context, stmt);
                }
                self.with(frame, rest, body, stmt)
            }
        }
    }
}
