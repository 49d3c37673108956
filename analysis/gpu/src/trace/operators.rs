//! Operators: on numbers that Python knows, and on what the kernel computes.

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Reason, Remedy};
use tilefit_syntax::ast::{BinaryOp, CompareOp, ExprId, UnaryOp};

use super::super::language::Dtype;
use super::super::program::{Effect, Kind, Type, ValueId};
use super::value::{Opaque, Registers, Scalar, Tensor, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity};

/// Operations on elements that take next to nothing (`lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp` weighs what is computed again).
const CHEAP: [&str; 23] = [
    "add", "sub", "mul", "and", "or", "xor", "shl", "shr", "not", "unary", "cast", "bitcast", "splat", "where", "eq",
    "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "abs",
];
/// Of `triton.language.random`: how many results each has, and whether they are floats. Most take a hundred operations on each element.
pub(super) const RANDOM: [(&str, usize, bool); 10] = [
    ("philox", 4, false),
    ("philox_impl", 4, false),
    ("randint", 1, false),
    ("randint4x", 4, false),
    ("rand", 1, true),
    ("rand4x", 4, true),
    ("randn", 1, true),
    ("randn4x", 4, true),
    ("uint_to_uniform_float", 1, true),
    ("pair_uniform_to_normal", 2, true),
];
/// What other operations, and loads from shared memory, take of that.
pub(super) const EXPENSIVE: u64 = 8;
/// What a conversion takes.
const CONVERSION: u64 = 32;

/// The longest list that is made.
pub(super) const LONGEST: usize = 4096;

impl Tracer<'_> {
    pub(super) fn binary(&mut self, frame: &Frame, at: ExprId, op: BinaryOp, left: &Value, right: &Value) -> Value {
        match (left, right) {
            // A number that the kernel computes is one whatever a number of the launch is.
            (Value::Scalar(scalar), Value::Unknown(reason)) | (Value::Unknown(reason), Value::Scalar(scalar))
                if matches!(reason.remedy(), Some(Remedy::Value { is_number: true, .. })) =>
            {
                let known =
                    [left, right].map(|value| if matches!(value, Value::Unknown(_)) { &Value::Int(1) } else { value });
                self.takes_numbers = true;
                self.combined(frame, at, op, identity(reason), &known.map(Value::clone))
            }
            (Value::Tensor(_), Value::Unknown(reason)) | (Value::Unknown(reason), Value::Tensor(_))
                if self.is_open_number(frame, reason) =>
            {
                let both = self.with_number(frame, at, reason, [left, right]);
                self.combined(frame, at, op, 0, &both)
            }
            // What may be a tensor and a number that has no value may be a tensor.
            (Value::Unknown(reason), Value::Unknown(other)) if self.is_open_number(frame, reason) => {
                Value::Unknown(other.clone())
            }
            (Value::Unknown(reason), _) | (_, Value::Unknown(reason)) => Value::Unknown(reason.clone()),
            (Value::Scalar(Scalar { dtype, .. }), _) | (_, Value::Scalar(Scalar { dtype, .. }))
                if dtype.is_pointer() && !matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                unknown("the compiler adds to a pointer, and computes nothing else from one")
            }
            (Value::Scalar(_) | Value::Tensor(_), _) | (_, Value::Scalar(_) | Value::Tensor(_)) => {
                self.combined(frame, at, op, 0, &[left.clone(), right.clone()])
            }
            _ => known(op, left, right).unwrap_or_else(|| unknown("an operator on something else than numbers")),
        }
    }

    /// The result of an operator on two values, at least one computed by the kernel. `which`: what else identifies the operation.
    fn combined(&mut self, frame: &Frame, at: ExprId, op: BinaryOp, which: u64, both: &[Value]) -> Value {
        self.check_operator(frame, at, op, both);
        // A quotient and a remainder make the integer one with a point.
        if let ([left, right], false) = (both, matches!(op, BinaryOp::Div | BinaryOp::Mod)) {
            self.check_common_type(frame, at, [left, right], None);
        }
        let dtype = self.arithmetic_type(both);
        let dtype = quotient_type(op, dtype).unwrap_or(dtype);
        if let Some(same) = unchanged(op, both, dtype) {
            return same.clone();
        }
        let result = self.each_as(frame, at, op_name(op), which, both, Some(dtype));
        if let (Value::Scalar(result), Some(number)) = (&result, self.folded(op, both)) {
            self.folded.insert(result.id, number);
        }
        if let (Value::Scalar(number), false) = (&result, self.of_branches.is_empty())
            && let Some(reason) = both.iter().find_map(|value| self.of_branch(value))
        {
            self.of_branches.insert(number.id, reason);
        }
        result
    }

    /// The number that the compiler finds an operation to give whatever is launched: `n % 1`, `n * 0`, `n % 1 + 2`.
    fn folded(&self, op: BinaryOp, both: &[Value]) -> Option<i64> {
        if self.launch.dialect != Dialect::Triton {
            return None;
        }
        if is_nothing(op, both) {
            return Some(0);
        }
        let [left, right] = both else { return None };
        if self.folded.is_empty() || !both.iter().all(|value| matches!(value, Value::Int(_) | Value::Scalar(_))) {
            return None;
        }
        match known(op, &self.without_folded(left.clone()), &self.without_folded(right.clone()))? {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// A value, or the number that the compiler finds it to be.
    pub(super) fn without_folded(&self, value: Value) -> Value {
        match &value {
            Value::Scalar(scalar) => self.folded.get(&scalar.id).map_or(value, |&number| Value::Int(number)),
            _ => value,
        }
    }

    /// Why it is not known which constant a number is, where a branch that is not known decides.
    fn of_branch(&self, number: &Value) -> Option<Reason> {
        match number {
            Value::Scalar(number) => self.of_branches.get(&number.id).cloned(),
            _ => None,
        }
    }

    /// What is not known because of the extents that are given for it.
    pub(super) fn without_extents<'v>(&self, extents: impl IntoIterator<Item = &'v Value>, what: &str) -> Value {
        let extents: Vec<&Value> = extents.into_iter().collect();
        let parts = extents.iter().flat_map(|value| value.elements().unwrap_or(std::slice::from_ref(*value)));
        match parts.into_iter().find_map(|part| self.of_branch(part)) {
            Some(reason) => Value::Unknown(reason.of(what)),
            None => unknown_for(extents, what),
        }
    }

    /// Whether something is a number without a value, which a tensor may be combined with whatever it is.
    fn is_open_number(&self, frame: &Frame, reason: &Reason) -> bool {
        let is_number = matches!(reason.remedy(), Some(Remedy::Value { is_number: true, .. }));
        is_number && !frame.is_host && self.launch.dialect == Dialect::Triton
    }

    /// Two operands; the unknown one is a number given at the launch.
    fn with_number(&mut self, frame: &Frame, at: ExprId, reason: &Reason, operands: [&Value; 2]) -> [Value; 2] {
        self.takes_numbers = true;
        let number = self.scalar(frame, at, "number", Dtype::named("int32"), &[]);
        if let Value::Scalar(scalar) = &number {
            self.numbers[scalar.id.0 as usize] = identity(("number", reason));
        }
        operands.map(|value| if matches!(value, Value::Unknown(_)) { number.clone() } else { value.clone() })
    }

    /// Of operands with a tensor among them, those that are not known are numbers that the launch gives, where they are numbers.
    /// `None` where all is known, as it mostly is.
    fn with_open_numbers(&mut self, frame: &Frame, at: ExprId, values: &[Value]) -> Option<Vec<Value>> {
        let has = |is: fn(&Value) -> bool| values.iter().any(is);
        if !has(|value| matches!(value, Value::Unknown(_))) || !has(|value| matches!(value, Value::Tensor(_))) {
            return None;
        }
        let number = |value: &Value| match value {
            Value::Unknown(reason) if self.is_open_number(frame, reason) => {
                let [number, _] = self.with_number(frame, at, reason, [value, value]);
                number
            }
            value => value.clone(),
        };
        Some(values.iter().map(number).collect())
    }

    pub(super) fn unary(&mut self, frame: &Frame, at: ExprId, op: UnaryOp, operand: &Value) -> Value {
        match (op, operand) {
            (_, Value::Unknown(reason)) => Value::Unknown(reason.clone()),
            (UnaryOp::Not, Value::Scalar(_) | Value::Tensor(_)) => {
                self.elementwise(frame, at, "not", std::slice::from_ref(operand), Some(Dtype::named("int1")))
            }
            (_, Value::Scalar(_) | Value::Tensor(_)) => {
                self.elementwise(frame, at, "unary", std::slice::from_ref(operand), None)
            }
            (UnaryOp::Not, value) => {
                value.truth().map_or_else(|| unknown("`not` of something"), |truth| Value::Bool(!truth))
            }
            (UnaryOp::Neg, Value::Float(value)) => Value::Float(-value),
            (UnaryOp::Pos, value) => value.clone(),
            (UnaryOp::Neg, value) => {
                value.int().and_then(i64::checked_neg).map_or_else(|| unknown("a negative of something"), Value::Int)
            }
            (UnaryOp::Invert, value) => {
                value.int().map_or_else(|| unknown("`~` of something"), |value| Value::Int(!value))
            }
        }
    }

    pub(super) fn compared(&mut self, frame: &Frame, at: ExprId, op: CompareOp, left: &Value, right: &Value) -> Value {
        match op {
            CompareOp::Is | CompareOp::IsNot => {
                let same = match (left, right) {
                    (Value::Unknown(reason), _) | (_, Value::Unknown(reason)) => return Value::Unknown(reason.clone()),
                    (Value::None, Value::None) => true,
                    (Value::None, _) | (_, Value::None) => false,
                    _ => left.equals(right).unwrap_or_default(),
                };
                return Value::Bool(same == (op == CompareOp::Is));
            }
            CompareOp::In | CompareOp::NotIn => {
                let found = match right {
                    Value::Dict(pairs) => pairs.iter().any(|(key, _)| key.equals(left) == Some(true)),
                    Value::Str(text) => matches!(left, Value::Str(part) if text.contains(&**part)),
                    _ => match right.elements() {
                        Some(elements) => elements.iter().any(|element| element.equals(left) == Some(true)),
                        None => return unknown("`in` of something else than a list"),
                    },
                };
                return Value::Bool(found == (op == CompareOp::In));
            }
            _ => {}
        }
        let open = match (left, right) {
            (Value::Tensor(_), Value::Unknown(reason)) | (Value::Unknown(reason), Value::Tensor(_)) => {
                Some(reason).filter(|reason| self.is_open_number(frame, reason))
            }
            _ => None,
        };
        if let Some(reason) = open {
            let [left, right] = self.with_number(frame, at, reason, [left, right]);
            return self.compared(frame, at, op, &left, &right);
        }
        match (left, right) {
            (Value::Unknown(reason), _) | (_, Value::Unknown(reason)) => Value::Unknown(reason.clone()),
            (Value::Scalar(_) | Value::Tensor(_), Value::None) | (Value::None, Value::Scalar(_) | Value::Tensor(_)) => {
                Value::Bool(op == CompareOp::Ne)
            }
            (Value::Scalar(_) | Value::Tensor(_), _) | (_, Value::Scalar(_) | Value::Tensor(_)) => {
                let name = match op {
                    CompareOp::Eq => "eq",
                    CompareOp::Ne => "ne",
                    CompareOp::Lt => "lt",
                    CompareOp::Le => "le",
                    CompareOp::Gt => "gt",
                    _ => "ge",
                };
                self.elementwise(frame, at, name, &[left.clone(), right.clone()], Some(Dtype::named("int1")))
            }
            _ => {
                let equal = left.equals(right).filter(|_| left.is_plain() && right.is_plain());
                let order = match (number(left), number(right)) {
                    (Some(left), Some(right)) => left.partial_cmp(&right),
                    _ => None,
                };
                let truth = match op {
                    CompareOp::Eq => equal,
                    CompareOp::Ne => equal.map(|equal| !equal),
                    CompareOp::Lt => order.map(|order| order.is_lt()),
                    CompareOp::Le => order.map(|order| order.is_le()),
                    CompareOp::Gt => order.map(|order| order.is_gt()),
                    _ => order.map(|order| order.is_ge()),
                };
                truth.map_or_else(|| unknown("a comparison of something else than numbers"), Value::Bool)
            }
        }
    }

    /// An operation on numbers or on each element of tensors, which have one shape and one layout then.
    pub(super) fn elementwise(
        &mut self,
        frame: &Frame,
        at: ExprId,
        name: &'static str,
        values: &[Value],
        dtype: Option<Dtype>,
    ) -> Value {
        self.each_as(frame, at, name, 0, values, dtype)
    }

    /// As `elementwise`, for a name shared by several operations; `which` tells them apart.
    pub(super) fn each_as(
        &mut self,
        frame: &Frame,
        at: ExprId,
        name: &'static str,
        which: u64,
        values: &[Value],
        dtype: Option<Dtype>,
    ) -> Value {
        let numbered = self.with_open_numbers(frame, at, values);
        let values = numbered.as_deref().unwrap_or(values);
        let values = &self.in_one_rank(frame, at, values);
        let multiplied = match values.as_slice() {
            [Value::Tensor(one), Value::Tensor(two)] if name == "mul" => Some([one.id, two.id]),
            _ => None,
        };
        let values = &self.in_one_layout(frame, at, values);
        let mut shape: Option<Vec<u64>> = None;
        let mut layout: Option<Registers> = None;
        for value in values {
            match value {
                Value::Tensor(tensor) => {
                    layout = Some(match &layout {
                        None => tensor.layout.clone(),
                        Some(before) => self.unify(before, &tensor.layout),
                    });
                    shape = Some(match &shape {
                        None => (*tensor.shape).clone(),
                        Some(shape) => match broadcast(shape, &tensor.shape) {
                            Some(shape) => shape,
                            None => {
                                if self.launch.dialect == Dialect::Triton {
                                    let two = &tensor.shape;
                                    let message = format!(
                                        "tensors of shape {shape:?} and {two:?} cannot be combined: along each dimension they must have the same extent, or one of them 1"
                                    );
                                    self.refuse(frame, at, Code::InvalidOperand, message);
                                }
                                return unknown("tensors of shapes that do not go together");
                            }
                        },
                    });
                }
                Value::Unknown(reason) => return Value::Unknown(reason.clone()),
                _ => {}
            }
        }
        if let Some(shape) = &shape {
            self.check_block(frame, at, shape);
        }
        let dtype = match dtype.unwrap_or_else(|| self.arithmetic_type(values)) {
            // Nothing else is done to pointers.
            Dtype::UNTYPED if !matches!(name, "add" | "sub" | "where") => Dtype::named("int32"),
            dtype => dtype,
        };
        let operands = self.operands(frame, at, values);
        // An integer less itself is zero, and what is left of it behind a division by 1.
        let is_zero = name == "sub" && !dtype.is_floating() && matches!(operands[..], [one, two] if one == two)
            || is_naught(name, values);
        let (name, operands) = if is_zero { ("splat", Vec::new()) } else { (name, operands) };
        let of = if shape.is_some() { Type::Tensor } else { dtype.scalar_type() };
        let identity = identity((which, dtype, &shape));
        let op = Emitted { name, effect: Effect::None, operands: &operands, of, identity, kind: Kind::Plain };
        let id = self.emit(frame, at, op);
        // Also where the elements take the type of what they are combined with.
        let is_wider = |value: &Value| matches!(value, Value::Tensor(tensor) if tensor.dtype.bits < dtype.bits);
        let is_widened = !dtype.is_pointer() && name != "where" && values.iter().any(is_wider);
        let is_stretched = |value: &Value| match (value, &shape) {
            (Value::Tensor(tensor), Some(shape)) => *tensor.shape != *shape,
            _ => false,
        };
        let counts = |(value, operand): &(&Value, &ValueId)| !(self.thin.contains(*operand) && is_stretched(value));
        let made_of: Vec<ValueId> = values.iter().zip(&operands).filter(counts).map(|(_, &operand)| operand).collect();
        if let Some(widest) = made_of.iter().filter_map(|operand| self.widest.get(operand)).max() {
            self.widest.insert(id, dtype.bits.max(*widest));
            if made_of.iter().all(|operand| self.thin.contains(operand) || !self.widest.contains_key(operand)) {
                self.thin.insert(id);
            }
        }
        if is_widened || operands.iter().any(|operand| self.widened.contains(operand)) {
            self.widened.insert(id);
        }
        let is_single = |(value, operand): (&Value, &ValueId)| match value {
            Value::Tensor(Tensor { dtype, .. }) | Value::Scalar(Scalar { dtype, .. }) => {
                *dtype == Dtype::named("float32") || self.single.contains(operand)
            }
            _ => false,
        };
        if dtype == Dtype::ANY && name != "cast" && values.iter().zip(&operands).any(is_single) {
            self.single.insert(id);
        }
        if let Some(factors) = multiplied {
            self.multiplied.insert(id, factors);
        }
        if !is_zero {
            self.note_elementwise(id, name, (values, &operands), shape.as_deref(), dtype);
        }
        if dtype == Dtype::UNTYPED
            && let Some(name) = operands.iter().find_map(|operand| self.of_untyped.get(operand)).cloned()
        {
            self.of_untyped.insert(id, name);
        }
        if dtype.is_pointer() && matches!(name, "add" | "sub") {
            self.note_offsets(values, &operands);
        }
        // A number that is loaded and added to an argument may count from where that leads to.
        if dtype == Dtype::ANY
            && name == "add"
            && let Some(name) =
                operands.iter().find_map(|it| self.of_untyped.get(it).or_else(|| self.counts_from.get(it))).cloned()
        {
            self.counts_from.insert(id, name);
        }
        if name != "cast"
            && dtype.bits == 32
            && !dtype.is_floating()
            && let Some(name) = operands.iter().find_map(|operand| self.number_of(*operand))
        {
            self.counted.insert(id, name);
        }
        let layout = layout.map(|layout| match layout {
            Registers::Flexible if self.launch.dialect.leaves_layouts() => {
                let weight = match name {
                    _ if CHEAP.contains(&name) => 1,
                    _ if RANDOM.iter().any(|(random, ..)| *random == name) => 2 * CONVERSION,
                    _ => EXPENSIVE,
                };
                self.still_flexible(id, &operands, dtype.bits, weight)
            }
            layout => layout,
        });
        match (shape, layout) {
            (Some(shape), Some(layout)) => Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout }),
            _ => Value::Scalar(Scalar { id, dtype }),
        }
    }

    /// Triton puts dimensions of one element before a tensor that has fewer.
    fn in_one_rank(&mut self, frame: &Frame, at: ExprId, values: &[Value]) -> Vec<Value> {
        let rank = |value: &Value| match value {
            Value::Tensor(tensor) => tensor.shape.len(),
            _ => 0,
        };
        let most = values.iter().map(rank).max().unwrap_or(0);
        let mut values = values.to_vec();
        for value in values.iter_mut().filter(|_| self.launch.dialect == Dialect::Triton) {
            while let Value::Tensor(tensor) = value
                && tensor.shape.len() < most
            {
                *value = Value::Tensor(self.expand_dims(frame, at, &tensor.clone(), 0));
            }
        }
        values
    }

    /// Bits of the widest elements that a tensor which may be converted on the way had there, or its own.
    pub(super) fn widest_of(&self, tensor: &Tensor) -> u32 {
        self.widest.get(&tensor.id).copied().unwrap_or(0).max(tensor.dtype.bits)
    }

    /// Floating-point numbers of 16 bits become others by way of 32, which is one and the same for all of them.
    pub(super) fn cast(&mut self, frame: &Frame, at: ExprId, value: &Value, dtype: Dtype) -> Value {
        self.check_float8(frame, at, dtype);
        let single = Dtype::named("float32");
        let name = match value {
            Value::Tensor(tensor) => self.program.assigned.get(&tensor.id).cloned(),
            _ => None,
        };
        let value = match value {
            Value::Tensor(Tensor { dtype: is, .. }) | Value::Scalar(Scalar { dtype: is, .. })
                if is.is_floating() && is.bits == 16 && dtype != single && !dtype.is_float8() =>
            {
                &self.elementwise(frame, at, "cast", std::slice::from_ref(value), Some(single))
            }
            _ => value,
        };
        let cast = self.elementwise(frame, at, "cast", std::slice::from_ref(value), Some(dtype));
        if let (Value::Tensor(Tensor { id, .. }), Dtype::ANY) = (&cast, dtype) {
            // What it is loaded through does not say what it is.
            self.led.remove(id);
        }
        if let (Value::Tensor(Tensor { id, .. }), Some(name)) = (&cast, name) {
            self.program.assigned.insert(*id, name);
        }
        cast
    }

    /// What has no layout of its own is computed again in each that it is needed in, unless that costs more than a conversion.
    fn still_flexible(&mut self, id: ValueId, operands: &[ValueId], bits: u32, weight: u64) -> Registers {
        let before: u64 = operands.iter().filter_map(|operand| self.costs.get(operand)).sum();
        let bits = u64::from(bits.max(8));
        let cost = before.saturating_add(weight * bits);
        self.costs.insert(id, cost);
        if cost > CONVERSION * bits { self.choice_for(id) } else { Registers::Flexible }
    }

    /// As `promoted`; an untyped number that short floating-point numbers are combined with is taken for one of 32 bits.
    fn arithmetic_type(&mut self, values: &[Value]) -> Dtype {
        let dtype = self.promoted(values);
        let is_short = dtype.is_floating() && dtype.bits == 16;
        let untyped = values.iter().find_map(|value| match value {
            Value::Scalar(scalar) if scalar.dtype == Dtype::UNTYPED => self.of_untyped.get(&scalar.id).cloned(),
            _ => None,
        });
        match untyped.filter(|_| is_short && self.launch.dialect == Dialect::Triton) {
            Some(name) => {
                self.floats.insert(name);
                Dtype::named("float32")
            }
            None => dtype,
        }
    }

    /// The element type of what an operation makes of some values. Numbers of Python's own take the type of the others.
    pub(super) fn promoted(&self, values: &[Value]) -> Dtype {
        let mut found: Option<Dtype> = None;
        for value in values {
            let dtype = match value {
                Value::Scalar(scalar) => scalar.dtype,
                Value::Tensor(tensor) => tensor.dtype,
                _ => continue,
            };
            found = Some(match found {
                None => dtype,
                Some(before) => wider(before, dtype),
            });
        }
        let floats = values.iter().filter(|value| matches!(value, Value::Float(_)));
        let of_float = floats.map(|value| self.number_type(value)).max_by_key(|dtype| dtype.bits);
        match found {
            Some(dtype) if !dtype.is_floating() && !dtype.is_pointer() && dtype != Dtype::ANY => {
                of_float.unwrap_or(dtype)
            }
            Some(dtype) => dtype,
            None => values.first().map_or(Dtype::named("int32"), |value| self.number_type(value)),
        }
    }
}

/// What an operator leaves as it is: an integer times 1, or a pointer plus 0. The compiler takes such operations out before it looks for equal ones.
fn unchanged(op: BinaryOp, both: &[Value], dtype: Dtype) -> Option<&Value> {
    let (one, number, is_left) = match both {
        [one, Value::Int(number)] => (one, *number, false),
        [Value::Int(number), one] => (one, *number, true),
        _ => return None,
    };
    let (Value::Tensor(Tensor { dtype: is, .. }) | Value::Scalar(Scalar { dtype: is, .. })) = one else { return None };
    let is_neutral = match op {
        BinaryOp::Mul => number == 1,
        BinaryOp::FloorDiv => number == 1 && !is_left,
        BinaryOp::Add => number == 0,
        BinaryOp::Sub => number == 0 && !is_left,
        _ => false,
    };
    let is_whole = !is.is_floating() && *is == dtype && ![Dtype::ANY, Dtype::UNTYPED].contains(is);
    (is_neutral && is_whole).then_some(one)
}

/// Whether a number is 0, whatever the launch gives: `n * 0`, `n % 1`.
fn is_nothing(op: BinaryOp, both: &[Value]) -> bool {
    matches!(both.first(), Some(Value::Scalar(_) | Value::Int(_))) && is_naught(op_name(op), both)
}

/// The same of an operation on numbers or elements.
fn is_naught(name: &str, both: &[Value]) -> bool {
    let is_whole = |value: &Value| match value {
        Value::Scalar(Scalar { dtype, .. }) | Value::Tensor(Tensor { dtype, .. }) => {
            !dtype.is_floating() && !dtype.is_pointer() && ![Dtype::ANY, Dtype::UNTYPED].contains(dtype)
        }
        _ => false,
    };
    match (name, both) {
        ("mul" | "and", [one, Value::Int(0)] | [Value::Int(0), one]) => is_whole(one),
        ("mod", [one, Value::Int(1)]) => is_whole(one),
        _ => false,
    }
}

/// The type of a quotient or a remainder, where it is another one than that of the dividend (`computation_type_impl` and `truediv` in
/// `triton/language/semantic.py`): neither is there for numbers of less than 32 bits, and `/` is not there for whole ones.
fn quotient_type(op: BinaryOp, dtype: Dtype) -> Option<Dtype> {
    let is_short = dtype.is_floating() && dtype.bits < 32;
    let is_whole = !dtype.is_floating() && !dtype.is_pointer() && ![Dtype::ANY, Dtype::UNTYPED].contains(&dtype);
    let is_other = match op {
        BinaryOp::Div => is_short || is_whole,
        BinaryOp::Mod => is_short,
        _ => false,
    };
    is_other.then(|| Dtype::named("float32"))
}

/// The type in which numbers of two types are combined (`computation_type_impl` in `triton/language/semantic.py`).
fn wider(one: Dtype, two: Dtype) -> Dtype {
    if one.is_pointer() || two.is_pointer() {
        return if one.is_pointer() { one } else { two };
    }
    if one == Dtype::ANY || two == Dtype::ANY {
        return Dtype::ANY;
    }
    if !one.is_floating() && !two.is_floating() && (one == Dtype::UNTYPED || two == Dtype::UNTYPED) {
        return Dtype::UNTYPED;
    }
    let is = |name: &str| one.name == name || two.name == name;
    let is_float8 = one.is_float8() && two.is_float8();
    match (one.is_floating(), two.is_floating()) {
        _ if one == two => one,
        (false, false) if two.bits > one.bits => two,
        (false, false) => one,
        (true, false) if two == Dtype::UNTYPED => one,
        (false, true) if one == Dtype::UNTYPED => two,
        _ if is("float64") => Dtype::named("float64"),
        _ if is("float32") => Dtype::named("float32"),
        _ if is("float16") || is_float8 => Dtype::named("float16"),
        // It meets whatever else there is in `float32`.
        _ if is("bfloat16") => Dtype::named("float32"),
        (true, _) => one,
        (false, _) => two,
    }
}

pub(super) fn broadcast(one: &[u64], two: &[u64]) -> Option<Vec<u64>> {
    if one.len() != two.len() {
        return None;
    }
    let each = |(&one, &two): (&u64, &u64)| match (one, two) {
        (1, other) | (other, 1) => Some(other),
        (one, two) => (one == two).then_some(one),
    };
    one.iter().zip(two).map(each).collect()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        _ => value.int().map(|value| value as f64),
    }
}

/// Python's own operators.
fn known(op: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
    match (op, left, right) {
        (BinaryOp::Add, Value::List(one), Value::List(two)) if one.len() + two.len() <= LONGEST => {
            return Some(Value::list(one.iter().chain(two.iter()).cloned().collect::<Vec<_>>()));
        }
        (BinaryOp::Add, Value::Tuple(one), Value::Tuple(two)) if one.len() + two.len() <= LONGEST => {
            return Some(Value::tuple(one.iter().chain(two.iter()).cloned().collect::<Vec<_>>()));
        }
        // A shape is a tuple in some versions and a list in others.
        (BinaryOp::Add, Value::List(one), Value::Tuple(two)) | (BinaryOp::Add, Value::Tuple(one), Value::List(two))
            if one.len() + two.len() <= LONGEST =>
        {
            return Some(Value::list(one.iter().chain(two.iter()).cloned().collect::<Vec<_>>()));
        }
        (BinaryOp::Mul, Value::List(values) | Value::Tuple(values), times)
        | (BinaryOp::Mul, times, Value::List(values) | Value::Tuple(values)) => {
            let times = usize::try_from(times.int()?).unwrap_or(0);
            if values.len().saturating_mul(times) > LONGEST {
                return None;
            }
            let repeated: Vec<Value> = (0..times).flat_map(|_| values.iter().cloned()).collect();
            return Some(Value::list(repeated));
        }
        (BinaryOp::Add, Value::Str(one), Value::Str(two)) if one.len() + two.len() <= LONGEST => {
            return Some(Value::str(&format!("{one}{two}")));
        }
        _ => {}
    }
    if let (Some(one), Some(two)) = (left.int(), right.int()) {
        let int = |value: Option<i64>| value.map(Value::Int);
        return match op {
            BinaryOp::Add => int(one.checked_add(two)),
            BinaryOp::Sub => int(one.checked_sub(two)),
            BinaryOp::Mul => int(one.checked_mul(two)),
            BinaryOp::FloorDiv => int(tilefit_python::eval::floor_div(one, two)),
            BinaryOp::Mod => int(tilefit_python::eval::floor_div(one, two)?
                .checked_mul(two)
                .and_then(|whole| one.checked_sub(whole))),
            BinaryOp::Pow => match u32::try_from(two) {
                Ok(power) => int(one.checked_pow(power)),
                Err(_) => Some(Value::Float((one as f64).powf(two as f64))),
            },
            BinaryOp::Shl => int(u32::try_from(two).ok().filter(|&by| by < 63).and_then(|by| one.checked_mul(1 << by))),
            BinaryOp::Shr => int(u32::try_from(two).ok().map(|by| one >> by.min(63))),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let bits = match op {
                    BinaryOp::BitAnd => one & two,
                    BinaryOp::BitOr => one | two,
                    _ => one ^ two,
                };
                let are_truths = matches!((left, right), (Value::Bool(_), Value::Bool(_)));
                Some(if are_truths { Value::Bool(bits != 0) } else { Value::Int(bits) })
            }
            BinaryOp::Div => (two != 0).then(|| Value::Float(one as f64 / two as f64)),
            BinaryOp::MatMul => None,
        };
    }
    let (one, two) = (number(left)?, number(right)?);
    Some(Value::Float(match op {
        BinaryOp::Add => one + two,
        BinaryOp::Sub => one - two,
        BinaryOp::Mul => one * two,
        BinaryOp::Div if two != 0.0 => one / two,
        BinaryOp::FloorDiv if two != 0.0 => (one / two).floor(),
        BinaryOp::Pow => one.powf(two),
        _ => return None,
    }))
}

/// Operands of operations that are not looked into.
pub(super) fn ids(values: &[Value]) -> Vec<ValueId> {
    let mut leaves = Vec::new();
    values.iter().for_each(|value| value.leaves(&mut leaves));
    leaves.into_iter().map(|(id, _)| id).collect()
}

/// What is not known because of one of some values, or of a part of one, is not known for that value's reason.
pub(super) fn unknown_for<'v>(values: impl IntoIterator<Item = &'v Value>, what: &str) -> Value {
    let part = |value: &Value| match value {
        Value::Unknown(reason) => Some(reason.clone()),
        value => first_unknown(value.elements().unwrap_or_default()),
    };
    let of_tensor = |reason: Reason| {
        let remedy = match reason.remedy() {
            // A tensor is no number, whatever number it depends on.
            Some(Remedy::Value { param, example, .. }) => {
                Some(Remedy::Value { param: param.clone(), example: *example, is_number: false })
            }
            remedy => remedy.cloned(),
        };
        Value::Unknown(reason.of(what).with_remedy(remedy))
    };
    values.into_iter().find_map(part).map_or_else(|| unknown(what), of_tensor)
}

pub(super) fn first_unknown(values: &[Value]) -> Option<Reason> {
    values.iter().find_map(|value| match value {
        Value::Unknown(reason) | Value::Opaque(Opaque { reason: Some(reason), .. }) => Some(reason.clone()),
        _ => None,
    })
}

/// What the operators of [`Stmt::AugAssign`] and [`Expr::Binary`] are called in a program.
fn op_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::MatMul => "dot",
        BinaryOp::Div => "div",
        BinaryOp::FloorDiv => "floordiv",
        BinaryOp::Mod => "mod",
        BinaryOp::Pow => "pow",
        BinaryOp::Shl => "shl",
        BinaryOp::Shr => "shr",
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "xor",
    }
}
