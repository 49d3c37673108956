//! Assignments: names that a kernel binds, and elements that it stores.

use tilefit_python::finding::{Node, Reason};
use tilefit_syntax::ast::{BinaryOp, Expr, ExprId, StmtId};

use super::Tracer;
use super::recording::joined;
use super::symbolic::Sum;
use super::value::{FrameId, Touch, Value, not_known, unknown};
use crate::program::{Kind, Region};

impl Tracer<'_> {
    /// `name: annotation`
    pub(super) fn declare(&mut self, frame: FrameId, target: ExprId, annotation: ExprId) {
        let ast = self.frame(frame).code.ast.clone();
        let Some(name) = ast.name(target) else { return };
        if !self.is_kernel(frame) {
            return;
        }
        let value = self.value(frame, annotation);
        self.learn_sizes(name, &value);
        let at = self.at(frame, target);
        if let Some(value) = self.parameter_of(name, &value, at) {
            self.set(frame, name, value);
        }
    }

    pub(super) fn assign(&mut self, frame: FrameId, target: ExprId, value: Value, stmt: StmtId) {
        let ast = self.frame(frame).code.ast.clone();
        match ast.expr(target) {
            Expr::Name(name) => {
                let value = match self.is_kernel(frame) {
                    true => self.bound(frame, name, value, Node::Stmt(stmt)),
                    false => value,
                };
                self.set(frame, name, value);
            }
            Expr::Tuple(targets) | Expr::List(targets) => self.unpack(frame, targets, value, stmt),
            Expr::Subscript { value: object, index } => {
                let container = self.value(frame, *object);
                match &container {
                    Value::Buffer(view) => {
                        let part = self.part(frame, target, &view.clone(), *index);
                        self.store_into(frame, &part, &value, stmt);
                    }
                    Value::Dict(_) | Value::List(_) => {
                        let key = self.value(frame, *index);
                        let changed = super::python::with_entry(&container, &key, value);
                        self.replace(frame, *object, changed);
                    }
                    Value::Unknown(it) if self.is_kernel(frame) => {
                        let reason = it.reason.clone();
                        self.note(reason);
                    }
                    _ => {}
                }
            }
            Expr::Starred(inner) => self.assign(frame, *inner, value, stmt),
            _ => {}
        }
    }

    /// Puts a changed list or dictionary where the old one is.
    pub(super) fn replace(&mut self, frame: FrameId, place: ExprId, value: Value) {
        let ast = self.frame(frame).code.ast.clone();
        match ast.expr(place) {
            Expr::Name(name) => {
                let home = self.local(frame, name).map(|(home, _)| home);
                if let Some(home) = home {
                    self.set_inner(home, name, value);
                }
            }
            Expr::Subscript { value: object, index } => {
                let container = self.value(frame, *object);
                let key = self.value(frame, *index);
                let changed = super::python::with_entry(&container, &key, value);
                self.replace(frame, *object, changed);
            }
            _ => {}
        }
    }

    fn unpack(&mut self, frame: FrameId, targets: &[ExprId], value: Value, stmt: StmtId) {
        let value = match value {
            Value::Launch(spec) => {
                self.out.start_launch(spec.clone());
                self.launch_variables(&spec)
            }
            value => value,
        };
        let ast = self.frame(frame).code.ast.clone();
        let starred = targets.iter().position(|&target| matches!(ast.expr(target), Expr::Starred(_)));
        let items = match &value {
            Value::Unknown(it) => Err(it.reason.clone()),
            value => self.iterated(value),
        };
        // One variable of a grid of one dimension.
        let items = match (items, &value) {
            (Err(_), Value::Expr(_)) if targets.len() == 1 => Ok(vec![value.clone()]),
            (items, _) => items,
        };
        for (i, &target) in targets.iter().enumerate() {
            let part = match (&items, starred) {
                (Err(reason), _) => not_known(reason.clone()),
                (Ok(items), None) if items.len() == targets.len() => items[i].clone(),
                (Ok(items), Some(star)) if items.len() + 1 >= targets.len() => {
                    let behind = targets.len() - 1 - star;
                    match i.cmp(&star) {
                        std::cmp::Ordering::Less => items[i].clone(),
                        std::cmp::Ordering::Equal => Value::list(items[star..items.len() - behind].to_vec()),
                        std::cmp::Ordering::Greater => items[items.len() - (targets.len() - i)].clone(),
                    }
                }
                _ => unknown("more names than values are unpacked, or fewer"),
            };
            self.assign(frame, target, part, stmt);
        }
    }

    /// What a name of a kernel is bound to: a number becomes a variable, a buffer takes the name.
    pub(super) fn bound(&mut self, frame: FrameId, name: &str, value: Value, node: Node) -> Value {
        let code = self.frame(frame).code.clone();
        let at = self.origin(&code, node);
        let old = match self.local(frame, name) {
            Some((_, Value::Buffer(view))) if view.is_variable => Some(view.clone()),
            _ => None,
        };
        if let Some(view) = old
            && !matches!(value, Value::Buffer(_))
            && let Some(expr) = self.expr(&value)
        {
            self.store(&view, &[], &expr, at);
            return Value::Buffer(view);
        }
        match value {
            Value::Buffer(view) => {
                if !view.is_alias
                    && let Some(buffer) = self.out.buffer_mut(view.id)
                {
                    buffer.name = name.into();
                }
                Value::Buffer(view)
            }
            Value::Launch(spec) => {
                self.out.start_launch(spec.clone());
                self.launch_variables(&spec)
            }
            // The variable of a thread, for the rest of the kernel.
            Value::Loop(spec) => {
                if !spec.is_binding {
                    self.note(Reason::new("a loop that is bound to a name"));
                }
                Value::Expr(super::value::Expr::variable(name, super::value::next_id()))
            }
            Value::Tensor(spec) if spec.is_output => {
                self.parameter_of(name, &Value::Tensor(spec), at).unwrap_or(Value::None)
            }
            Value::Expr(_) | Value::Element(_) | Value::Region(_) => {
                let Some(expr) = self.expr(&value) else { return value };
                if expr.is_variable {
                    return Value::Expr(expr);
                }
                let reads = joined([&expr.touches[..]]);
                if !self.out.is_launched() && reads.is_empty() {
                    return value;
                }
                if !reads.is_empty() {
                    let writes = Self::written_of(&reads);
                    self.op(Kind::Other("bind".into()), Self::read_of(&reads), writes, at);
                }
                if let Value::Region(_) = value {
                    return value;
                }
                let unknown = expr.sum.unknown().cloned();
                let mut variable = super::value::Expr::variable(name, 0);
                variable.sum = Sum::atom(super::value::next_id(), unknown);
                variable.part = expr.part.clone();
                Value::Expr(variable)
            }
            Value::Operation(op) => {
                // It is bound like a number, and nobody looks at it again.
                let buffers = op.reads.iter().chain(&op.writes).map(|region| region.buffer);
                let touches: Vec<Touch> = buffers.map(|buffer| Touch { buffer, reads: true, writes: false }).collect();
                self.other("bind", &joined([&touches[..]]), at);
                Value::None
            }
            value => value,
        }
    }

    pub(super) fn store_into(&mut self, frame: FrameId, place: &Value, value: &Value, stmt: StmtId) {
        let (Value::Element(part) | Value::Region(part)) = place else { return };
        let at = self.at_stmt(frame, stmt);
        match self.expr(value) {
            Some(expr) => self.store(&part.view, &part.touches, &expr, at),
            None => {
                let reason = match value {
                    Value::Unknown(it) => it.reason.clone(),
                    _ => Reason::new("a value is stored that is not followed"),
                };
                self.note(reason);
                let writes = vec![Region { buffer: part.view.id, extents: None, is_inside: None }];
                self.op(Kind::Store { is_copy: false }, Self::read_of(&part.touches), writes, at);
            }
        }
    }

    pub(super) fn augmented(&mut self, frame: FrameId, target: ExprId, op: BinaryOp, value: ExprId, stmt: StmtId) {
        let ast = self.frame(frame).code.ast.clone();
        if let Expr::Subscript { value: object, index } = ast.expr(target)
            && let Value::Buffer(view) = self.value(frame, *object)
        {
            let part = self.part(frame, target, &view, *index);
            let value = self.value(frame, value);
            let result = self.binary(op, part.clone(), value);
            return self.store_into(frame, &part, &result, stmt);
        }
        let old = self.value(frame, target);
        let value = self.value(frame, value);
        let result = self.binary(op, old, value);
        self.assign(frame, target, result, stmt);
    }
}
