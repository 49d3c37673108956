//! Expressions: constants, and the buffers, specs and groups in tuples, lists and comprehensions.

use tilefit_syntax::ast::{BinaryOp, Clause, Expr, ExprId};

use crate::diagnostics::Code;
use crate::eval::{self, Constant};
use crate::finding::Reason;

use super::super::kernel::{BufferId, Index, IndexValue, Op};
use super::{Frame, Front, MOST_ELEMENTS, Value};

impl Front {
    /// True if the value of an expression comes from a number that was assigned without `tl.constexpr`.
    pub(super) fn mentions_tensor(&self, frame: &Frame<'_>, expr: ExprId) -> bool {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Name(name) => frame.names.get(name).is_some_and(|bound| bound.plain),
            Expr::Unary { operand, .. } => self.mentions_tensor(frame, *operand),
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => {
                self.mentions_tensor(frame, *left) || self.mentions_tensor(frame, *right)
            }
            Expr::Compare { left, rest } => {
                self.mentions_tensor(frame, *left) || rest.iter().any(|(_, right)| self.mentions_tensor(frame, *right))
            }
            _ => false,
        }
    }

    pub(super) fn value(&mut self, frame: &mut Frame<'_>, expr: ExprId) -> Value {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Name(name) => self.name(frame, name, expr),
            Expr::Call { func, args } => self.call(frame, expr, *func, args),
            Expr::Subscript { value, index } => self.subscript(frame, expr, *value, *index),
            Expr::Tuple(elements) | Expr::List(elements) => self.sequence(frame, expr, elements),
            Expr::Comprehension { element, clauses } => self.comprehension(frame, *element, clauses),
            Expr::Binary { op: BinaryOp::Add, left, right } => {
                let (left, right) = (self.value(frame, *left), self.value(frame, *right));
                match (left, right) {
                    (Value::Sequence(mut left), Value::Sequence(right)) => {
                        left.extend(right);
                        Value::Sequence(left)
                    }
                    _ => Value::Constant(self.evaluate(frame, expr)),
                }
            }
            Expr::Ternary { then, condition, otherwise } => self.ternary(frame, *then, *condition, *otherwise),
            Expr::Bool2 { left, right, .. } | Expr::Binary { left, right, .. } => {
                self.effects(frame, *left);
                self.effects(frame, *right);
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Compare { left, rest } => {
                self.effects(frame, *left);
                for (_, right) in rest {
                    self.effects(frame, *right);
                }
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Unary { operand, .. } => {
                self.effects(frame, *operand);
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Attribute { value, .. } => {
                if ast.dotted(expr).is_none() {
                    self.effects(frame, *value);
                }
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Starred(inner) => self.value(frame, *inner),
            _ => Value::Constant(self.evaluate(frame, expr)),
        }
    }

    /// Follows the calls and subscripts in an expression whose own value is evaluated elsewhere.
    pub(super) fn effects(&mut self, frame: &mut Frame<'_>, expr: ExprId) {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => {
                self.effects(frame, *left);
                self.effects(frame, *right);
            }
            Expr::Compare { left, rest } => {
                self.effects(frame, *left);
                for (_, right) in rest {
                    self.effects(frame, *right);
                }
            }
            Expr::Unary { operand, .. } => self.effects(frame, *operand),
            Expr::Attribute { value, .. } => self.effects(frame, *value),
            Expr::Name(_) | Expr::Call { .. } | Expr::Subscript { .. } | Expr::Tuple(_) | Expr::List(_) => {
                self.value(frame, expr);
            }
            _ => {}
        }
    }

    pub(super) fn name(&mut self, frame: &mut Frame<'_>, name: &str, expr: ExprId) -> Value {
        let Some(bound) = frame.names.get(name) else { return Value::Constant(self.evaluate(frame, expr)) };
        let value = bound.value.clone();
        self.mark_used(&value);
        value
    }

    pub(super) fn mark_used(&mut self, value: &Value) {
        match value {
            Value::Buffer { id, .. } => self.kernel.buffers[id.0 as usize].used = true,
            Value::Sequence(values) => values.iter().for_each(|value| self.mark_used(value)),
            _ => {}
        }
    }

    pub(super) fn sequence(&mut self, frame: &mut Frame<'_>, expr: ExprId, elements: &[ExprId]) -> Value {
        let values: Vec<_> = elements.iter().map(|&element| self.value(frame, element)).collect();
        if values.iter().any(Value::holds_memory) {
            return Value::Sequence(values);
        }
        Value::Constant(self.evaluate(frame, expr))
    }

    pub(super) fn comprehension(&mut self, frame: &mut Frame<'_>, element: ExprId, clauses: &[Clause]) -> Value {
        let mut values = Vec::new();
        let outer = frame.names.clone();
        let complete = self.comprehend(frame, element, clauses, &mut values);
        frame.names = outer;
        match complete {
            Ok(()) => Value::Sequence(values),
            Err(reason) => {
                // Followed once, so that what it allocates is seen, and known to be in part.
                let reason = reason.of("a list of buffers");
                for clause in clauses {
                    if let Clause::For { target, .. } = clause {
                        self.forget(frame, *target, "is the index of a list");
                    }
                }
                self.uncertainly(reason.clone(), |front| front.value(frame, element));
                Value::Constant(Constant::Unknown(reason))
            }
        }
    }

    pub(super) fn comprehend(
        &mut self,
        frame: &mut Frame<'_>,
        element: ExprId,
        clauses: &[Clause],
        values: &mut Vec<Value>,
    ) -> Result<(), Reason> {
        let Some((clause, inner)) = clauses.split_first() else {
            if values.len() == MOST_ELEMENTS {
                return Err(Reason::new(format!("more than {MOST_ELEMENTS} elements")));
            }
            values.push(self.value(frame, element));
            return Ok(());
        };
        match clause {
            Clause::If(condition) => {
                let condition = self.evaluate(frame, *condition);
                match eval::truth(&condition) {
                    Some(true) => self.comprehend(frame, element, inner, values),
                    Some(false) => Ok(()),
                    None => Err(Reason::new("a condition is not known")),
                }
            }
            Clause::For { target, iter } => {
                let items = match self.evaluate(frame, *iter) {
                    Constant::List(items) | Constant::Tuple(items) => items,
                    Constant::Unknown(reason) => return Err(reason),
                    _ => return Err(Reason::new("goes through no list")),
                };
                for item in items {
                    self.bind(frame, *target, Value::Constant(item), true);
                    self.comprehend(frame, element, inner, values)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn ternary(
        &mut self,
        frame: &mut Frame<'_>,
        then: ExprId,
        condition: ExprId,
        otherwise: ExprId,
    ) -> Value {
        self.effects(frame, condition);
        let value = self.evaluate(frame, condition);
        match eval::truth(&value).filter(|_| !self.mentions_tensor(frame, condition)) {
            Some(true) => self.value(frame, then),
            Some(false) => self.value(frame, otherwise),
            None => {
                let reason = match value {
                    Constant::Unknown(reason) => reason,
                    _ => Reason::new("a condition is decided at run time"),
                };
                let then = self.uncertainly(reason.clone(), |front| front.value(frame, then));
                let otherwise = self.uncertainly(reason.clone(), |front| front.value(frame, otherwise));
                if then == otherwise { then } else { Value::Constant(Constant::Unknown(reason)) }
            }
        }
    }

    pub(super) fn subscript(&mut self, frame: &mut Frame<'_>, expr: ExprId, value: ExprId, index: ExprId) -> Value {
        let base = self.value(frame, value);
        match base {
            Value::Buffer { id, view } => self.view(frame, expr, id, view, Some(index)),
            Value::Sequence(values) => match self.evaluate(frame, index) {
                Constant::Int(at) => {
                    let at = if at < 0 { at + values.len() as i64 } else { at };
                    let element = usize::try_from(at).ok().and_then(|at| values.get(at)).cloned();
                    element.unwrap_or_else(|| Value::unknown("the index is outside of the list"))
                }
                Constant::Unknown(reason) => Value::Constant(Constant::Unknown(reason)),
                _ => Value::unknown("indexes a list with something that is no integer"),
            },
            Value::Constant(_) => {
                self.effects(frame, index);
                Value::Constant(self.evaluate(frame, expr))
            }
            Value::Spec(_) | Value::Group(_) => {
                let message = format!("a {} cannot be indexed; index the buffers that use it", base.type_name());
                self.refuse(frame, expr, Code::Rejected, message);
                Value::unknown("indexes something that is no buffer")
            }
        }
    }

    pub(super) fn view(
        &mut self,
        frame: &mut Frame<'_>,
        at: ExprId,
        id: BufferId,
        view: bool,
        index: Option<ExprId>,
    ) -> Value {
        if let Some(index) = index {
            let value = self.value(frame, index);
            if !view {
                let index = match value {
                    Value::Constant(Constant::Int(index)) => IndexValue::Constant(index),
                    _ => IndexValue::Runtime(frame.call_site.is_none().then_some(index)),
                };
                let (at, certain) = (self.at(frame, at), self.uncertain.is_none());
                let name = self.naming.as_ref().map(|naming| naming.name.clone());
                self.kernel.ops.push(Op::Index(self.kernel.indices.len()));
                self.kernel.indices.push(Index { name, at, buffer: id, index, certain });
            }
        }
        Value::Buffer { id, view: true }
    }
}
