//! Expressions: constants, and the buffers, specs and groups in tuples, lists and comprehensions.

use tilefit_python::work;
use tilefit_syntax::ast::{BinaryOp, Clause, Expr, ExprId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::{self, Constant, Weighed};
use tilefit_python::finding::Reason;

use super::super::language::Dtype;
use super::{Frame, Front, MOST_ELEMENTS, PARTS_A_STEP, Value};

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
            Expr::Call { func, args } => match ast.name(*func) {
                // Triton takes these of Python for its own.
                Some("min" | "max") => args.iter().any(|arg| self.mentions_tensor(frame, arg.value)),
                _ => match self.canonical(frame, *func).as_deref() {
                    Some("tl.load" | "tl.program_id" | "tl.num_programs" | "tlx.thread_id") => true,
                    Some("tl.cdiv") => args.iter().any(|arg| self.mentions_tensor(frame, arg.value)),
                    _ => false,
                },
            },
            _ => false,
        }
    }

    /// An argument of the kernel that a number comes from, if it is not annotated as a constexpr. What is 1 is specialised to one.
    pub(super) fn argument_in<'a>(&self, frame: &Frame<'a>, expr: ExprId, value: &Value) -> Option<&'a str> {
        let name = frame.ast.name(expr).filter(|_| frame.call_site.is_none())?;
        let is_argument = self.kernel.params.iter().any(|param| param.name == name && !param.is_constexpr);
        let is_one = *value == Value::Constant(Constant::Int(1));
        (is_argument && !is_one).then_some(name)
    }

    /// The value of an expression, where it is one.
    pub(super) fn settled(&mut self, frame: &mut Frame<'_>, expr: ExprId) -> Value {
        match self.value(frame, expr) {
            Value::Either { reason, .. } => Value::Constant(Constant::Unknown(reason)),
            value => value,
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
            Expr::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), left, right } => {
                let (left, right) = (self.value(frame, *left), self.value(frame, *right));
                match (left, right) {
                    (Value::Sequence(left), Value::Sequence(right)) if *op == BinaryOp::Add => {
                        Value::sequence(left.into_iter().chain(right))
                    }
                    (pointer, offset) | (offset, pointer) if is_element(&pointer) && !is_element(&offset) => pointer,
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
            Value::Sequence(values) => {
                work::spend(value.weight() as u64 / PARTS_A_STEP);
                values.iter().for_each(|value| self.mark_used(value));
            }
            Value::Either { values, .. } => values.iter().for_each(|value| self.mark_used(value)),
            _ => {}
        }
    }

    pub(super) fn sequence(&mut self, frame: &mut Frame<'_>, expr: ExprId, elements: &[ExprId]) -> Value {
        let values: Vec<_> = elements.iter().map(|&element| self.value(frame, element)).collect();
        if values.iter().any(Value::holds_memory) {
            let sequence = Value::sequence(values);
            if let Some(reason) = sequence.reason() {
                self.note(self.at(frame, expr), reason.clone());
            }
            return sequence;
        }
        Value::Constant(self.evaluate(frame, expr))
    }

    pub(super) fn comprehension(&mut self, frame: &mut Frame<'_>, element: ExprId, clauses: &[Clause]) -> Value {
        let mut values = Vec::new();
        let outer = frame.names.clone();
        let complete = self.comprehend(frame, element, clauses, &mut values);
        frame.names = outer;
        match complete {
            Ok(()) => Value::sequence(values),
            Err(reason) => {
                // Followed once, so that what it allocates is seen, and known to be in part.
                let reason = reason.of("a list of buffers");
                for clause in clauses {
                    if let Clause::For { target, .. } = clause {
                        self.forget(frame, *target, "is the index of a list", false);
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
                    None => Err(Reason::new("a condition is unknown")),
                }
            }
            Clause::For { target, iter } => {
                let items = match self.evaluate(frame, *iter) {
                    Constant::List(items) | Constant::Tuple(items) => items,
                    Constant::Unknown(reason) => return Err(reason),
                    _ => return Err(Reason::new("iterates over a value that is not a list")),
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
                    _ => Reason::new("a condition is known at run time only"),
                };
                let then = self.uncertainly(reason.clone(), |front| front.value(frame, then));
                let otherwise = self.uncertainly(reason.clone(), |front| front.value(frame, otherwise));
                then.or(otherwise, &reason)
            }
        }
    }

    pub(super) fn subscript(&mut self, frame: &mut Frame<'_>, expr: ExprId, value: ExprId, index: ExprId) -> Value {
        let base = self.value(frame, value);
        match base {
            Value::Buffer { .. } => self.element_of(frame, expr, base, Some(index)),
            Value::Either { ref values, .. } if values.iter().all(|value| matches!(value, Value::Buffer { .. })) => {
                self.element_of(frame, expr, base, Some(index))
            }
            Value::Either { reason, .. } => {
                self.effects(frame, index);
                Value::Constant(Constant::Unknown(reason))
            }
            Value::Sequence(values) => match self.evaluate(frame, index) {
                Constant::Int(at) => {
                    let at = if at < 0 { at + values.len() as i64 } else { at };
                    let element = usize::try_from(at).ok().and_then(|at| values.get(at)).cloned();
                    element.unwrap_or_else(|| Value::unknown("the index is out of range"))
                }
                Constant::Unknown(reason) => Value::Constant(Constant::Unknown(reason)),
                _ => Value::unknown("indexes a list with a value that is not an integer"),
            },
            Value::Constant(_) => {
                self.effects(frame, index);
                Value::Constant(self.evaluate(frame, expr))
            }
            Value::Spec(_) | Value::Group(_) => {
                let message = format!("a {} cannot be indexed; index the buffers that use it", base.type_name());
                self.refuse(frame, expr, Code::Rejected, message);
                Value::unknown("indexes a value that is not a buffer")
            }
        }
    }
}

/// Whether a value has elements: a pointer or a descriptor, by its type.
pub(super) fn is_element(value: &Value) -> bool {
    matches!(value, Value::Constant(constant) if Dtype::from_constant(constant).is_some())
}
