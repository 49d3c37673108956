//! Expressions.

use std::rc::Rc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{BinaryOp, BoolOp, Clause, CompareOp, Expr, ExprId};

use super::recording::joined;
use super::symbolic::{self, shown};
use super::value::{Anonymous, FrameId, Part, Size, Touch, Value, View, not_known, unknown};
use super::{DEEPEST_NESTING, LONGEST, Tracer, What};

impl Tracer<'_> {
    pub(super) fn value(&mut self, frame: FrameId, expr: ExprId) -> Value {
        self.step();
        if self.nesting >= DEEPEST_NESTING {
            return unknown("the expression is nested too deeply");
        }
        self.nesting += 1;
        let value = self.value_within(frame, expr);
        self.nesting -= 1;
        value
    }

    fn value_within(&mut self, frame: FrameId, expr: ExprId) -> Value {
        let ast = self.frame(frame).code.ast.clone();
        match ast.expr(expr) {
            Expr::Int(value) => {
                i64::try_from(*value).map_or_else(|_| unknown(format!("{value} is too large")), Value::Int)
            }
            Expr::Float(value) => Value::Float(value.get()),
            Expr::Str(text) => Value::str(text),
            Expr::Bool(value) => Value::Bool(*value),
            Expr::None => Value::None,
            Expr::Ellipsis => unknown("`...`"),
            Expr::Name(name) => self.name(frame, expr, name),
            Expr::Attribute { value, name } => {
                let object = self.value(frame, *value);
                self.attribute(frame, expr, &object, name)
            }
            Expr::Call { func, args } => self.call_expr(frame, expr, *func, args),
            Expr::Subscript { value, index } => {
                let object = self.value(frame, *value);
                self.subscript(frame, expr, &object, *index)
            }
            Expr::Slice { .. } => unknown("a slice by itself"),
            Expr::Tuple(parts) | Expr::Set(parts) => {
                let items = self.elements(frame, parts);
                items.map_or_else(not_known, |items| self.long(items, false))
            }
            Expr::List(parts) => {
                let items = self.elements(frame, parts);
                items.map_or_else(not_known, |items| self.long(items, true))
            }
            Expr::Dict(pairs) => self.dictionary(frame, pairs),
            Expr::Unary { op, operand } => {
                let operand = self.value(frame, *operand);
                self.unary(*op, operand)
            }
            Expr::Binary { op, left, right } => {
                let (left, right) = (self.value(frame, *left), self.value(frame, *right));
                self.binary(*op, left, right)
            }
            Expr::Compare { left, rest } => self.comparison(frame, *left, rest),
            Expr::Bool2 { op, left, right } => {
                let left = self.value(frame, *left);
                self.both_or_one(frame, *op, left, *right)
            }
            Expr::Ternary { then, condition, otherwise } => {
                let condition = self.value(frame, *condition);
                match (condition.truth(), &condition) {
                    (Some(true), _) => self.value(frame, *then),
                    (Some(false), _) => self.value(frame, *otherwise),
                    (None, Value::Unknown(it)) => {
                        let (one, two) = (self.value(frame, *then), self.value(frame, *otherwise));
                        self.either(&it.reason, &one, &two)
                    }
                    _ => {
                        let (one, two) = (self.value(frame, *then), self.value(frame, *otherwise));
                        self.selected(&condition, &one, &two)
                    }
                }
            }
            Expr::Starred(_) | Expr::Unpacked(_) => unknown("an unpacked value by itself"),
            Expr::Comprehension { element, clauses } => {
                let mut items = Vec::new();
                match self.comprehension(frame, clauses, &mut |tracer, inner| {
                    let item = tracer.value(inner, *element);
                    items.push(item);
                    items.len() <= LONGEST
                }) {
                    Ok(()) => Value::list(items),
                    Err(reason) => not_known(reason),
                }
            }
            Expr::DictComprehension { key, value, clauses } => {
                let mut pairs = Vec::new();
                match self.comprehension(frame, clauses, &mut |tracer, inner| {
                    let (key, value) = (tracer.value(inner, *key), tracer.value(inner, *value));
                    super::python::put(&mut pairs, key, value);
                    pairs.len() <= LONGEST
                }) {
                    Ok(()) => Value::dict(pairs),
                    Err(reason) => not_known(reason),
                }
            }
            Expr::Joined(parts) => self.formatted(frame, parts),
            Expr::Thunk(body) => self.anonymous(frame, None, *body),
            Expr::Lambda(lambda) => self.anonymous(frame, Some(lambda.clone()), lambda.body),
            Expr::Other(kind) => unknown(format!("a {} is not followed", kind.replace('_', " "))),
            Expr::Error => unknown("the expression does not parse"),
        }
    }

    fn anonymous(
        &mut self,
        frame: FrameId,
        lambda: Option<std::sync::Arc<tilefit_syntax::ast::Lambda>>,
        body: ExprId,
    ) -> Value {
        self.capture(frame);
        let code = self.frame(frame).code.clone();
        Value::Lambda(Rc::new(Anonymous { lambda, body, code, frame }))
    }

    fn formatted(&mut self, frame: FrameId, parts: &[ExprId]) -> Value {
        let mut text = String::new();
        for &part in parts {
            let value = self.value(frame, part);
            match super::python::text(&value) {
                Some(part) if text.len() + part.len() <= LONGEST => text.push_str(&part),
                _ => return unknown("a text of values that are not known"),
            }
        }
        Value::str(&text)
    }

    /// Elements of a list, with those of unpacked lists.
    fn elements(&mut self, frame: FrameId, parts: &[ExprId]) -> Result<Vec<Value>, Reason> {
        let ast = self.frame(frame).code.ast.clone();
        let mut items = Vec::with_capacity(parts.len());
        for &part in parts {
            match ast.expr(part) {
                Expr::Starred(list) => {
                    let list = self.value(frame, *list);
                    items.extend(self.iterated(&list)?);
                }
                _ => items.push(self.value(frame, part)),
            }
        }
        Ok(items)
    }

    fn dictionary(&mut self, frame: FrameId, pairs: &[(ExprId, ExprId)]) -> Value {
        let ast = self.frame(frame).code.ast.clone();
        let mut made = Vec::new();
        for &(key, value) in pairs {
            if let Expr::Unpacked(mapping) = ast.expr(key) {
                match self.value(frame, *mapping) {
                    Value::Dict(pairs) => {
                        for (key, value) in pairs.items.iter() {
                            super::python::put(&mut made, key.clone(), value.clone());
                        }
                    }
                    Value::Unknown(it) => return Value::Unknown(it),
                    _ => return unknown("unpacks a value that is not a dictionary"),
                }
                continue;
            }
            let (key, value) = (self.value(frame, key), self.value(frame, value));
            super::python::put(&mut made, key, value);
        }
        Value::dict(made)
    }

    /// Runs what a comprehension says for each of its elements, while `each` wants more.
    fn comprehension(
        &mut self,
        frame: FrameId,
        clauses: &[Clause],
        each: &mut dyn FnMut(&mut Self, FrameId) -> bool,
    ) -> Result<(), Reason> {
        self.within(frame, |tracer, inner| tracer.clause(inner, clauses, each))
    }

    fn clause(
        &mut self,
        inner: FrameId,
        clauses: &[Clause],
        each: &mut dyn FnMut(&mut Self, FrameId) -> bool,
    ) -> Result<(), Reason> {
        let Some((first, rest)) = clauses.split_first() else {
            return if each(self, inner) { Ok(()) } else { Err(Reason::new("a list that is too long")) };
        };
        match first {
            Clause::If(condition) => {
                let condition = self.value(inner, *condition);
                match (condition.truth(), condition) {
                    (Some(true), _) => self.clause(inner, rest, each),
                    (Some(false), _) => Ok(()),
                    (None, Value::Unknown(it)) => Err(it.reason),
                    (None, _) => Err(Reason::new("a comprehension that the kernel filters")),
                }
            }
            Clause::For { target, iter } => {
                let list = self.value(inner, *iter);
                for item in self.iterated(&list)? {
                    self.step();
                    self.bind_inner(inner, *target, item);
                    self.clause(inner, rest, each)?;
                }
                Ok(())
            }
        }
    }

    /// Variables of a comprehension are its own.
    fn bind_inner(&mut self, inner: FrameId, target: ExprId, value: Value) {
        let ast = self.frame(inner).code.ast.clone();
        match ast.expr(target) {
            Expr::Name(name) => self.set_inner(inner, name, value),
            Expr::Tuple(parts) | Expr::List(parts) => {
                for (i, &part) in parts.iter().enumerate() {
                    let item = value.items().and_then(|items| items.get(i)).cloned();
                    let item = item.unwrap_or_else(|| unknown("an unpacked value that is not known"));
                    self.bind_inner(inner, part, item);
                }
            }
            _ => {}
        }
    }

    fn comparison(&mut self, frame: FrameId, left: ExprId, rest: &[(CompareOp, ExprId)]) -> Value {
        let mut left = self.value(frame, left);
        let mut all = Value::Bool(true);
        for (op, right) in rest {
            let right = self.value(frame, *right);
            let holds = self.compare(*op, &left, &right);
            all = self.and(all, holds);
            if all.truth() == Some(false) {
                return all;
            }
            left = right;
        }
        all
    }

    fn and(&mut self, one: Value, two: Value) -> Value {
        match (one.truth(), two.truth()) {
            (Some(true), _) => two,
            (Some(false), _) => one,
            (None, Some(true)) => one,
            _ => self.logical(BoolOp::And, one, two),
        }
    }

    fn logical(&mut self, op: BoolOp, one: Value, two: Value) -> Value {
        if let (Value::Unknown(it), _) = (&one, &two) {
            return not_known(it.reason.clone());
        }
        match (self.expr(&one), self.expr(&two)) {
            (Some(one), Some(two)) => {
                let name = if op == BoolOp::And { "and" } else { "or" };
                let text = format!("{} {name} {}", one.text, two.text);
                let made = self.operation(name, text, false, &[one.clone(), two.clone()]);
                self.facts.note_logical(op, &made, &one, &two);
                Value::Expr(made)
            }
            _ => unknown("a condition on values that are not known"),
        }
    }

    fn both_or_one(&mut self, frame: FrameId, op: BoolOp, left: Value, right: ExprId) -> Value {
        match (op, left.truth()) {
            (BoolOp::And, Some(false)) | (BoolOp::Or, Some(true)) => left,
            (_, Some(_)) => self.value(frame, right),
            (_, None) => {
                let right = self.value(frame, right);
                // What one side decides, the other does not change.
                match (op, right.truth(), &left) {
                    (BoolOp::And, Some(false), Value::Unknown(_)) => Value::Bool(false),
                    (BoolOp::Or, Some(true), Value::Unknown(_)) => Value::Bool(true),
                    (BoolOp::And, ..) => self.logical(op, left, right),
                    (BoolOp::Or, ..) => self.logical(op, left, right),
                }
            }
        }
    }

    pub(super) fn attribute(&mut self, frame: FrameId, expr: ExprId, object: &Value, name: &str) -> Value {
        match object {
            Value::Unknown(it) => not_known(it.reason.clone()),
            Value::Module(home, module) => match self.environment.member(*home, module, name) {
                Some(definition) => self.defined(*home, name, definition),
                None => match self.environment.canonical(*home, &[module, name]) {
                    Some(path) => self.of_library(&path),
                    None => unknown(format!("`{module}.{name}` is not known")),
                },
            },
            Value::Library(path) => self.member_of_library(frame, expr, path, name),
            Value::Buffer(view) => self.attribute_of_buffer(object, view, name),
            Value::Tensor(spec) => match name {
                "shape" => Value::tuple(spec.shape.iter().map(size_value).collect()),
                "dtype" => spec.dtype.clone().map_or(Value::None, Value::Dtype),
                _ => unknown(format!("`{name}` of a tensor is not followed")),
            },
            Value::Element(part) | Value::Region(part) => match name {
                "dtype" => Value::Dtype(part.view.dtype.clone()),
                "buffer" => Value::Buffer(part.view.clone()),
                _ => Value::Method(Rc::new((object.clone(), name.into()))),
            },
            Value::Dtype(dtype) => match name {
                "bits" => Value::Int((dtype.bits.min(1 << 20)) as i64),
                "bytes" | "itemsize" => Value::Int(dtype.bits.div_ceil(8).min(1 << 20) as i64),
                "name" | "value" | "__name__" => Value::str(&dtype.name),
                "lanes" => {
                    let lanes = dtype.name.rsplit_once('x').and_then(|(_, lanes)| lanes.parse().ok());
                    Value::Int(lanes.unwrap_or(1))
                }
                _ => Value::Method(Rc::new((object.clone(), name.into()))),
            },
            Value::Expr(inner) if name == "dtype" => match &inner.part {
                Some(part) => Value::Dtype(part.view.dtype.clone()),
                None => unknown("the type of a number of the kernel"),
            },
            Value::Function(_) | Value::PrimFunc(_) => unknown(format!("`{name}` of a function is not followed")),
            Value::Range(start, stop, step) => match name {
                "start" => Value::Int(*start),
                "stop" => Value::Int(*stop),
                "step" => Value::Int(*step),
                _ => unknown("a part of a range"),
            },
            _ => Value::Method(Rc::new((object.clone(), name.into()))),
        }
    }

    fn attribute_of_buffer(&mut self, object: &Value, view: &View, name: &str) -> Value {
        match name {
            "shape" => Value::tuple(view.shape.iter().map(size_value).collect()),
            "dtype" => Value::Dtype(view.dtype.clone()),
            "ndim" => Value::Int(view.shape.len() as i64),
            "name" => self.out.buffer(view.id).map_or(Value::None, |buffer| Value::str(&buffer.name)),
            "data" => {
                let touch = Touch { buffer: view.id, reads: true, writes: true };
                Value::Object("data".into(), [touch].into())
            }
            "strides" => {
                let mut strides = Vec::new();
                let mut stride = Value::Int(1);
                for size in view.shape.iter().rev() {
                    strides.push(stride.clone());
                    stride = self.binary(BinaryOp::Mul, stride, size_value(size));
                }
                strides.reverse();
                Value::tuple(strides)
            }
            _ => Value::Method(Rc::new((object.clone(), name.into()))),
        }
    }

    fn subscript(&mut self, frame: FrameId, expr: ExprId, object: &Value, index: ExprId) -> Value {
        match object {
            Value::Unknown(it) => {
                let reason = it.reason.clone();
                self.indices(frame, index);
                not_known(reason)
            }
            Value::Buffer(view) => self.part(frame, expr, &view.clone(), index),
            Value::Element(part) if part.sizes.is_empty() => self.part(frame, expr, &part.view.clone(), index),
            Value::Library(path) => {
                let path = path.clone();
                let index = self.value(frame, index);
                self.indexed_library(frame, expr, &path, &index)
            }
            Value::Tensor(_) => unknown("an element of a tensor that is not a parameter"),
            Value::Dict(pairs) => {
                let key = self.value(frame, index);
                super::python::entry(&pairs.items, &key)
            }
            Value::List(_) | Value::Tuple(_) | Value::Str(_) | Value::Range(..) => {
                let index = self.list_index(frame, index);
                super::python::indexed(object, &index)
            }
            _ => {
                self.indices(frame, index);
                unknown("an element of a value that is not followed")
            }
        }
    }

    /// An index of a list: a number, or the bounds of a slice as a tuple.
    fn list_index(&mut self, frame: FrameId, index: ExprId) -> super::python::Index {
        let ast = self.frame(frame).code.ast.clone();
        match ast.expr(index) {
            Expr::Slice { lower, upper, step } => {
                let mut bound = |bound: &Option<ExprId>| bound.map(|bound| self.value(frame, bound));
                super::python::Index::Slice(bound(lower), bound(upper), bound(step))
            }
            _ => super::python::Index::At(self.value(frame, index)),
        }
    }

    fn indices(&mut self, frame: FrameId, index: ExprId) -> Vec<Bound> {
        let ast = self.frame(frame).code.ast.clone();
        let parts = match ast.expr(index) {
            Expr::Tuple(parts) => parts.clone(),
            _ => vec![index],
        };
        let mut bounds = Vec::new();
        for part in parts {
            match ast.expr(part) {
                Expr::Slice { lower, upper, step } => {
                    let lower = lower.map(|lower| self.value(frame, lower));
                    let upper = upper.map(|upper| self.value(frame, upper));
                    let has_step = step.is_some();
                    bounds.push(Bound::Slice { lower, upper, has_step });
                }
                Expr::Starred(list) => {
                    let list = self.value(frame, *list);
                    match self.iterated(&list) {
                        Ok(items) => bounds.extend(items.into_iter().map(Bound::At)),
                        Err(reason) => bounds.push(Bound::At(not_known(reason))),
                    }
                }
                _ => match self.value(frame, part) {
                    Value::Tuple(items) | Value::List(items) => {
                        bounds.extend(items.items.iter().cloned().map(Bound::At));
                    }
                    value => bounds.push(Bound::At(value)),
                },
            }
        }
        bounds
    }

    /// `buffer[…]`: an element, or a region where there is a slice.
    pub(super) fn part(&mut self, frame: FrameId, expr: ExprId, view: &View, index: ExprId) -> Value {
        let bounds = self.indices(frame, index);
        // A shape that is not known stands as one extent that is not.
        let is_open = matches!(&view.shape[..], [only] if only.sum.unknown().is_some());
        if bounds.len() != view.shape.len() && !is_open {
            let name = self.out.buffer(view.id).map_or_else(String::new, |buffer| buffer.name.to_string());
            let (given, dimensions) = (bounds.len(), view.shape.len());
            let at = self.at(frame, expr);
            self.mistake(at, What::Indices { buffer: name, given, dimensions });
        }
        let (mut sizes, mut texts, mut touches) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_region = false;
        for (i, bound) in bounds.iter().enumerate() {
            let full = view.shape.get(i).cloned().unwrap_or_else(|| Size::number(1));
            match bound {
                Bound::At(value) => {
                    let index = self.expr(value);
                    sizes.push(Size::number(1));
                    touches.extend(index.iter().flat_map(|index| index.touches.iter().copied()));
                    texts.push(index.map_or_else(|| "?".into(), |index| index.text));
                }
                Bound::Slice { lower, upper, has_step } => {
                    is_region |= !has_step;
                    let lower = lower.clone().unwrap_or(Value::Int(0));
                    let upper = upper.clone().unwrap_or_else(|| size_value(&full));
                    for side in [&lower, &upper] {
                        touches.extend(self.expr(side).iter().flat_map(|side| side.touches.to_vec()));
                    }
                    let from = self.expr(&lower).map_or_else(|| "?".into(), |lower| lower.text);
                    let to = self.expr(&upper).map_or_else(|| "?".into(), |upper| upper.text);
                    texts.push(format!("{from}:{to}").into());
                    let width = self.binary(BinaryOp::Sub, upper, lower);
                    sizes.push(self.size(&width));
                }
            }
        }
        let text = shown(texts.iter().map(|text: &Rc<str>| &**text).collect::<Vec<_>>().join(", "));
        let touches = joined([&touches[..]]).into();
        let part = Rc::new(Part { view: view.clone(), sizes, touches, text });
        if is_region { Value::Region(part) } else { Value::Element(part) }
    }

    /// A number as an extent.
    pub(super) fn size(&self, value: &Value) -> Size {
        match self.expr(value) {
            Some(expr) => Size { sum: expr.sum, text: expr.text },
            None => {
                let reason = match value {
                    Value::Unknown(it) => it.reason.clone(),
                    _ => Reason::new("an extent that is not a number"),
                };
                Size { sum: symbolic::Sum::atom(super::value::next_id(), Some(reason)), text: "?".into() }
            }
        }
    }

    /// The extents of a shape, which may be one number.
    pub(super) fn shape(&self, value: &Value) -> Result<Vec<Size>, Reason> {
        match value {
            Value::Unknown(it) => Err(it.reason.clone()),
            Value::List(items) | Value::Tuple(items) => {
                // `[[M, N]]`, as in `T.Tensor[[M, N], …]`.
                Ok(items.items.iter().map(|item| self.size(item)).collect())
            }
            value => Ok(vec![self.size(value)]),
        }
    }
}

#[derive(Debug, Clone)]
enum Bound {
    At(Value),
    Slice { lower: Option<Value>, upper: Option<Value>, has_step: bool },
}

/// An extent as a number.
pub(super) fn size_value(size: &Size) -> Value {
    match (size.known(), size.sum.unknown()) {
        (Some(number), _) => Value::Int(number),
        _ => Value::Expr(super::value::Expr {
            sum: size.sum.clone(),
            text: size.text.clone(),
            rank: if size.text.contains(' ') { super::value::Rank::Other } else { super::value::Rank::Plain },
            touches: Rc::from([]),
            loaded: None,
            call: None,
            part: None,
            is_variable: false,
        }),
    }
}
