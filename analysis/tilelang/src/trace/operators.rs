//! Operators of Python on numbers of the host and of the kernel, texts and lists.

use std::rc::Rc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{BinaryOp, CompareOp, UnaryOp};

use super::recording::joined;
use super::symbolic::{self, Sum, shown};
use super::value::{Expr, Rank, Touch, Value, not_known, unknown};
use super::{LONGEST, Tracer};
use crate::program::BufferId;

impl Expr {
    pub(super) fn variable(text: &str, key: u64) -> Expr {
        Expr::opaque(Sum::atom(key, None), text.to_owned(), true, Rc::from([]))
    }

    pub(super) fn opaque(sum: Sum, text: String, is_plain: bool, touches: Rc<[Touch]>) -> Expr {
        let rank = if is_plain { Rank::Plain } else { Rank::Other };
        Expr { sum, text: shown(text), rank, touches, loaded: None, call: None, part: None, is_variable: is_plain }
    }

    /// The text, in brackets where it holds together more loosely than that.
    fn within(&self, rank: Rank) -> String {
        if self.rank <= rank { self.text.to_string() } else { format!("({})", self.text) }
    }
}

impl Tracer<'_> {
    /// A number of the kernel, where a value can be one.
    pub(super) fn expr(&self, value: &Value) -> Option<Expr> {
        let plain = |sum, text| Some(Expr::opaque(sum, text, true, Rc::from([])));
        match value {
            Value::Int(number) => plain(Sum::number(*number), number.to_string()),
            Value::Bool(value) => plain(Sum::number(i64::from(*value)), value.to_string()),
            Value::Float(number) => plain(Sum::atom(number.to_bits(), None), number.to_string()),
            Value::Expr(expr) => Some(expr.clone()),
            Value::Element(part) => Some(self.loaded(part)),
            Value::Region(part) => Some(self.loaded(part)),
            Value::Buffer(view) if view.is_variable => Some(self.variable_of(view.id)),
            Value::Unknown(unknown) => {
                plain(Sum::atom(unknown.id, Some(unknown.reason.clone())), "an unknown value".to_owned())
            }
            _ => None,
        }
    }

    fn loaded(&self, part: &Rc<super::value::Part>) -> Expr {
        let id = part.view.id;
        let touch = Touch { buffer: id, reads: true, writes: false };
        let touches = joined([&[touch][..], &part.touches]);
        let sizes: Vec<&Sum> = part.sizes.iter().map(|size| &size.sum).collect();
        let sum = Sum::atom(symbolic::key(&format!("load {} {} {}", id.0, self.stores, part.text), &sizes), None);
        let mut expr = Expr::opaque(sum, self.part_text(part), true, touches.into());
        expr.loaded = Some(id);
        expr.part = Some(part.clone());
        expr.is_variable = false;
        expr
    }

    fn variable_of(&self, id: BufferId) -> Expr {
        let touch = Touch { buffer: id, reads: true, writes: false };
        let name = self.out.buffer(id).map_or_else(String::new, |buffer| buffer.name.to_string());
        // It is the same until something is stored.
        let sum = Sum::atom(symbolic::key(&format!("variable {} {}", id.0, self.stores), &[]), None);
        let mut expr = Expr::opaque(sum, name, true, [touch].into());
        expr.loaded = Some(id);
        expr.is_variable = false;
        expr
    }

    pub(super) fn part_text(&self, part: &super::value::Part) -> String {
        let name = self.out.buffer(part.view.id).map_or("", |buffer| &buffer.name);
        format!("{name}[{}]", part.text)
    }

    fn is_of_kernel(value: &Value) -> bool {
        match value {
            Value::Expr(_) | Value::Element(_) | Value::Region(_) => true,
            Value::Buffer(view) => view.is_variable,
            _ => false,
        }
    }

    /// An operation of the kernel that sums do not express.
    pub(super) fn operation(&self, name: &str, text: String, is_plain: bool, operands: &[Expr]) -> Expr {
        let sums: Vec<&Sum> = operands.iter().map(|operand| &operand.sum).collect();
        let unknown = operands.iter().find_map(|operand| operand.sum.unknown()).cloned();
        let key = symbolic::key(name, &sums);
        self.facts.note_operands(key, &sums);
        let sum = Sum::atom(key, unknown);
        let touches = joined(operands.iter().map(|operand| &operand.touches[..]));
        Expr { is_variable: false, ..Expr::opaque(sum, text, is_plain, touches.into()) }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        self.step();
        if Self::is_of_kernel(&left) || Self::is_of_kernel(&right) {
            return match (self.expr(&left), self.expr(&right)) {
                (Some(left), Some(right)) => {
                    let made = self.binary_of_kernel(op, &left, &right);
                    if let Value::Expr(made) = &made {
                        self.facts.note_binary(op, made, &left, &right);
                    }
                    made
                }
                _ => unknown("an operator on a value that is not a number"),
            };
        }
        match (&left, &right) {
            (Value::Unknown(it), _) | (_, Value::Unknown(it)) => return not_known(it.reason.clone()),
            _ => {}
        }
        match (op, &left, &right) {
            (BinaryOp::Add, Value::Str(one), Value::Str(two)) => plain(format!("{one}{two}")),
            (BinaryOp::Mul, Value::Str(text), count) | (BinaryOp::Mul, count, Value::Str(text)) => match count.int() {
                Some(count) if count.max(0) as usize * text.len() <= LONGEST => {
                    plain(text.repeat(count.max(0) as usize))
                }
                _ => unknown("a text that is too long"),
            },
            (BinaryOp::Mod, Value::Str(_), _) => unknown("a text that is formatted"),
            (BinaryOp::Add, Value::List(one), Value::List(two)) => {
                self.long([&one.items[..], &two.items].concat(), true)
            }
            (BinaryOp::Add, Value::Tuple(one), Value::Tuple(two)) => {
                self.long([&one.items[..], &two.items].concat(), false)
            }
            (BinaryOp::Mul, list @ (Value::List(_) | Value::Tuple(_)), count)
            | (BinaryOp::Mul, count, list @ (Value::List(_) | Value::Tuple(_))) => {
                let items = list.items().unwrap_or_default();
                match count.int() {
                    Some(count) if (count.max(0) as usize).saturating_mul(items.len().max(1)) <= LONGEST => {
                        let repeated = std::iter::repeat_n(items, count.max(0) as usize).flatten().cloned().collect();
                        self.long(repeated, matches!(list, Value::List(_)))
                    }
                    _ => unknown("a list that is too long"),
                }
            }
            (BinaryOp::BitOr, Value::Dict(one), Value::Dict(two)) => {
                let mut pairs = one.items.to_vec();
                for (key, value) in two.items.iter() {
                    super::python::put(&mut pairs, key.clone(), value.clone());
                }
                Value::dict(pairs)
            }
            _ => {
                super::numbers::binary(op, &left, &right).unwrap_or_else(|| unknown("an operator that is not followed"))
            }
        }
    }

    pub(super) fn long(&mut self, items: Vec<Value>, is_list: bool) -> Value {
        tilefit_python::work::spend(items.len() as u64);
        match items.len() > LONGEST {
            true => unknown("a list that is too long"),
            false if is_list => Value::list(items),
            false => Value::tuple(items),
        }
    }

    pub(super) fn binary_of_kernel(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let sum = match op {
            BinaryOp::Add => left.sum.plus(&right.sum),
            BinaryOp::Sub => left.sum.minus(&right.sum),
            BinaryOp::Mul => left.sum.times(&right.sum),
            BinaryOp::FloorDiv => right.sum.as_number().and_then(|divisor| left.sum.divided(divisor)),
            BinaryOp::Mod => right.sum.as_number().and_then(|divisor| left.sum.remainder(divisor)),
            _ => None,
        };
        match (op, left.sum.as_number(), right.sum.as_number()) {
            (BinaryOp::Add, Some(0), _) | (BinaryOp::Mul, Some(1), _) if left.touches.is_empty() => {
                return plain_again(right);
            }
            (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) if right.touches.is_empty() => return plain_again(left),
            (BinaryOp::Mul | BinaryOp::FloorDiv, _, Some(1)) if right.touches.is_empty() => return plain_again(left),
            _ => {}
        }
        let (around, inside, rank) = match op {
            BinaryOp::Add | BinaryOp::Sub => (Rank::Sum, Rank::Product, Rank::Sum),
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod => {
                (Rank::Product, Rank::Plain, Rank::Product)
            }
            _ => (Rank::Plain, Rank::Plain, Rank::Other),
        };
        let text = format!("{} {} {}", left.within(around), symbol(op), right.within(inside));
        let mut made = self.operation(symbol(op), text, false, &[left.clone(), right.clone()]);
        made.rank = rank;
        if let Some(sum) = sum {
            if made.touches.is_empty()
                && let Some(number) = sum.as_number()
            {
                return Value::Int(number);
            }
            made.sum = sum;
        }
        Value::Expr(made)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: Value) -> Value {
        match (op, &operand) {
            (UnaryOp::Not, _) => match operand.truth() {
                Some(truth) => Value::Bool(!truth),
                None => match (self.expr(&operand), &operand) {
                    (_, Value::Unknown(it)) => not_known(it.reason.clone()),
                    (Some(expr), _) => {
                        let text = format!("not {}", expr.within(Rank::Plain));
                        let made = self.operation("not", text, false, std::slice::from_ref(&expr));
                        self.facts.note_not(&made, &expr);
                        Value::Expr(made)
                    }
                    _ => unknown("`not` of a value that is not followed"),
                },
            },
            (UnaryOp::Pos, _) => operand,
            (UnaryOp::Neg, _) if Self::is_of_kernel(&operand) => self.binary(BinaryOp::Sub, Value::Int(0), operand),
            (UnaryOp::Neg, Value::Float(number)) => Value::Float(-number),
            (UnaryOp::Neg, _) => self.binary(BinaryOp::Sub, Value::Int(0), operand),
            (UnaryOp::Invert, Value::Int(number)) => Value::Int(!number),
            (UnaryOp::Invert, Value::Unknown(it)) => not_known(it.reason.clone()),
            (UnaryOp::Invert, _) => match self.expr(&operand) {
                Some(expr) => {
                    let text = format!("~{}", expr.within(Rank::Plain));
                    Value::Expr(self.operation("invert", text, false, &[expr]))
                }
                None => unknown("`~` of a value that is not a number"),
            },
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Value {
        self.step();
        match op {
            CompareOp::Is | CompareOp::IsNot => {
                let same = match (left, right) {
                    (Value::Unknown(it), _) | (_, Value::Unknown(it)) => return not_known(it.reason.clone()),
                    (Value::None, Value::None) => true,
                    (Value::None, _) | (_, Value::None) => false,
                    _ => match super::python::equal(left, right) {
                        Some(same) => same,
                        None => return unknown("compares objects"),
                    },
                };
                return Value::Bool(same == (op == CompareOp::Is));
            }
            CompareOp::In | CompareOp::NotIn => {
                let found = match right {
                    Value::Unknown(it) => return not_known(it.reason.clone()),
                    Value::Str(text) => left.text().map(|part| text.contains(part)),
                    Value::Dict(pairs) => super::python::contains(pairs.items.iter().map(|(key, _)| key), left),
                    _ => right.items().and_then(|items| super::python::contains(items.iter(), left)),
                };
                return match (found, left) {
                    (Some(found), _) => Value::Bool(found == (op == CompareOp::In)),
                    (None, Value::Unknown(it)) => not_known(it.reason.clone()),
                    (None, _) => unknown("looks for a value that is not known"),
                };
            }
            _ => {}
        }
        if Self::is_of_kernel(left) || Self::is_of_kernel(right) {
            return match (self.expr(left), self.expr(right)) {
                (Some(one), Some(two)) => {
                    let text = format!("{} {} {}", one.within(Rank::Sum), comparison(op), two.within(Rank::Sum));
                    let made = self.operation(comparison(op), text, false, &[one.clone(), two.clone()]);
                    self.facts.note_comparison(op, &made, &one, &two);
                    Value::Expr(made)
                }
                _ => Value::Bool(op == CompareOp::Ne),
            };
        }
        if let (Value::Unknown(it), _) | (_, Value::Unknown(it)) = (left, right) {
            return not_known(it.reason.clone());
        }
        let holds = match op {
            CompareOp::Eq => super::python::equal(left, right),
            CompareOp::Ne => super::python::equal(left, right).map(|equal| !equal),
            _ => super::python::ordered(left, right).map(|order| match op {
                CompareOp::Lt => order.is_lt(),
                CompareOp::Le => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                _ => order.is_ge(),
            }),
        };
        match holds {
            Some(holds) => Value::Bool(holds),
            None => match super::python::reason_in(left).or_else(|| super::python::reason_in(right)) {
                Some(reason) => not_known(reason),
                None => unknown("compares unlike values"),
            },
        }
    }

    /// What a condition that the kernel computes chooses.
    pub(super) fn selected(&self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        let parts = [condition, then, otherwise].map(|value| self.expr(value));
        match parts {
            [Some(condition), Some(then), Some(otherwise)] => {
                let text = format!("T.if_then_else({}, {}, {})", condition.text, then.text, otherwise.text);
                Value::Expr(self.operation("select", text, true, &[condition, then, otherwise]))
            }
            _ => unknown("a choice of the kernel between values that are not numbers"),
        }
    }

    /// One of two values of the host, nobody knows which.
    pub(super) fn either(&self, reason: &Reason, one: &Value, two: &Value) -> Value {
        match super::python::equal(one, two) {
            Some(true) => one.clone(),
            _ => not_known(reason.clone()),
        }
    }
}

/// A number that an operation leaves what it is.
fn plain_again(expr: &Expr) -> Value {
    match expr.sum.as_number() {
        Some(number) if expr.touches.is_empty() => Value::Int(number),
        _ => Value::Expr(expr.clone()),
    }
}

fn plain(text: String) -> Value {
    if text.len() > LONGEST { unknown("a text that is too long") } else { Value::str(&text) }
}

pub(super) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::MatMul => "@",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "**",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
        CompareOp::Is => "is",
        CompareOp::IsNot => "is not",
        CompareOp::In => "in",
        CompareOp::NotIn => "not in",
    }
}
