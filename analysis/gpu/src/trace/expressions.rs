//! Expressions: names, attributes, subscripts, and what is made of other values.

use std::rc::Rc;

use tilefit_python::eval::Constant;
use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::ast::{Ast, BoolOp, Clause, Expr, ExprId};

use super::super::program::{Effect, Kind};
use super::loops::{Rounds, unrolled};
use super::statements::same;
use super::value::{Class, Function, Registers, Tensor, Value, unknown};
use super::{DEEPEST_EXPRESSION, Definition, Dialect, Emitted, Frame, Home, Tracer, arguments, python};

impl Tracer<'_> {
    pub(super) fn value(&mut self, frame: &mut Frame, expr: ExprId) -> Value {
        work::spend(1);
        if self.nesting >= DEEPEST_EXPRESSION {
            return unknown("the expression is nested too deeply");
        }
        self.nesting += 1;
        let value = self.value_within(frame, expr);
        self.nesting -= 1;
        if let Value::Tensor(tensor) = &value {
            let elements = tensor.shape.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
            let registers = elements.saturating_mul(u64::from(tensor.dtype.bits)) / 32;
            self.program.registers.insert(tensor.id, registers);
        }
        value
    }

    fn value_within(&mut self, frame: &mut Frame, expr: ExprId) -> Value {
        let ast = frame.ast.clone();
        match ast.expr(expr) {
            Expr::Int(value) => {
                i64::try_from(*value).map_or_else(|_| unknown("an integer of more than 64 bits"), Value::Int)
            }
            Expr::Float(value) => Value::Float(value.get()),
            Expr::Str(value) => Value::str(value),
            Expr::Bool(value) => Value::Bool(*value),
            Expr::None => Value::None,
            Expr::Ellipsis => unknown("`...`"),
            Expr::Name(name) => self.name(frame, expr, name),
            Expr::Attribute { value, name } => self.attribute(frame, expr, *value, name),
            Expr::Call { func, args } => self.call(frame, expr, *func, args),
            Expr::Subscript { value, index } => self.subscript(frame, expr, *value, *index),
            Expr::Tuple(parts) => Value::tuple(self.parts(frame, parts)),
            Expr::List(parts) => Value::list(self.parts(frame, parts)),
            Expr::Dict(pairs) => {
                let pairs = pairs.iter().map(|&(key, value)| (self.value(frame, key), self.value(frame, value)));
                Value::dict(pairs.collect::<Vec<_>>())
            }
            Expr::Unary { op, operand } => {
                let operand = self.value(frame, *operand);
                self.unary(frame, expr, *op, &operand)
            }
            Expr::Binary { op, left, right } => {
                let values = [self.value(frame, *left), self.value(frame, *right)];
                let [left, right] = self.held(frame, [*left, *right], values);
                self.binary(frame, expr, *op, &left, &right)
            }
            Expr::Compare { left, rest } => {
                let mut written = *left;
                let mut left = self.value(frame, *left);
                let mut all = Value::Bool(true);
                for &(op, right_written) in rest {
                    let right = self.value(frame, right_written);
                    self.check_common_type(frame, expr, [&left, &right], Some([written, right_written]));
                    written = right_written;
                    let one = self.compared(frame, expr, op, &left, &right);
                    all = match (all.truth(), one.truth()) {
                        (Some(false), _) => all,
                        (Some(true), _) => one,
                        (None, Some(false)) => one,
                        (None, Some(true)) => all,
                        (None, None) => self.elementwise(frame, expr, "and", &[all, one], None),
                    };
                    left = right;
                }
                all
            }
            Expr::Bool2 { op, left, right } => {
                let left = self.value(frame, *left);
                match (op, left.truth()) {
                    (BoolOp::And, Some(false)) | (BoolOp::Or, Some(true)) => left,
                    (_, Some(_)) => self.value(frame, *right),
                    (_, None) => {
                        let right = self.value(frame, *right);
                        match (op, right.truth()) {
                            (BoolOp::And, Some(false)) | (BoolOp::Or, Some(true)) => right,
                            (_, Some(_)) => left,
                            _ => self.elementwise(frame, expr, "and", &[left, right], None),
                        }
                    }
                }
            }
            Expr::Ternary { then, condition, otherwise } => self.ternary(frame, expr, *then, *condition, *otherwise),
            Expr::Comprehension { element, clauses } => {
                let mut found = Vec::new();
                match self.comprehension(frame, clauses, &mut |tracer, frame| {
                    let value = tracer.value(frame, *element);
                    found.push(value);
                }) {
                    Ok(()) => Value::list(found),
                    Err(reason) => self.unknown_list(frame, *element, clauses, reason),
                }
            }
            Expr::DictComprehension { key, value, clauses } => {
                let mut found = Vec::new();
                match self.comprehension(frame, clauses, &mut |tracer, frame| {
                    let pair = (tracer.value(frame, *key), tracer.value(frame, *value));
                    found.push(pair);
                }) {
                    Ok(()) => Value::dict(found),
                    Err(reason) => Value::Unknown(reason),
                }
            }
            Expr::Joined(parts) => {
                let parts = self.parts(frame, parts);
                python::plain(parts.iter().map(python::text).collect::<String>())
            }
            Expr::Starred(inner) | Expr::Unpacked(inner) => self.value(frame, *inner),
            Expr::Slice { .. } => Value::None,
            Expr::Thunk(_) | Expr::Lambda(_) => unknown("tilefit does not run a lambda".to_owned()),
            Expr::Set(_) => unknown("tilefit does not run a set".to_owned()),
            Expr::Other(kind) => unknown(format!("tilefit does not run a {}", kind.replace('_', " "))),
            Expr::Error => unknown("the expression does not parse"),
        }
    }

    pub(super) fn parts(&mut self, frame: &mut Frame, parts: &[ExprId]) -> Vec<Value> {
        let ast = frame.ast.clone();
        let mut values = Vec::with_capacity(parts.len());
        for &part in parts {
            let value = self.value(frame, part);
            match (ast.expr(part), value.elements()) {
                (Expr::Starred(_), Some(elements)) => values.extend(elements.iter().cloned()),
                (Expr::Starred(_), None) => values.push(unknown("`*` of something else than a list")),
                _ => values.push(value),
            }
        }
        values
    }

    fn name(&mut self, frame: &mut Frame, at: ExprId, name: &str) -> Value {
        match frame.names.get(name) {
            Some(value) => {
                let value = value.clone();
                self.is_used(&value);
                value
            }
            None => {
                let value = self.global(frame.home, name);
                if matches!(&value, Value::Unknown(reason) if *reason == not_defined(name)) {
                    self.misses(frame, at, name);
                }
                value
            }
        }
    }

    /// What a name means outside of the functions that are followed.
    pub(super) fn global(&mut self, home: Home, name: &str) -> Value {
        // A scenario names layouts as Python shows them, whatever the file calls their module.
        if self.is_scenario && name.starts_with(char::is_uppercase) && name.ends_with("Layout") {
            return Value::Language(name.into());
        }
        let key = (home, Rc::from(name));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // What is defined in terms of itself is not known while it is looked up.
        self.known.insert(key.clone(), unknown(format!("`{name}` is defined in terms of itself")));
        let value = match self.environment.canonical(home, &[name]) {
            Some(path) => self.language_value(&path),
            None => match self.environment.definition(home, name) {
                Some(definition) => {
                    let is_expression = matches!(definition, Definition::Expression { .. });
                    match self.defined(name, definition) {
                        Value::Unknown(reason) if is_expression => {
                            let of_host = self.environment.constant(home, name);
                            let of_host = of_host.filter(|value| !matches!(value, Constant::Unknown(_)));
                            of_host.map_or(Value::Unknown(reason), |value| arguments::from_constant(&value))
                        }
                        value => value,
                    }
                }
                None => match python::builtin(name) {
                    Some(builtin) => Value::Python(builtin),
                    None => Value::Unknown(not_defined(name)),
                },
            },
        };
        self.known.insert(key, value.clone());
        value
    }

    pub(super) fn defined(&mut self, name: &str, definition: Definition) -> Value {
        match definition {
            Definition::Function { ast, key, home } => {
                Value::Function(Rc::new(Function { name: name.into(), ast, key, inner: None, names: None, home }))
            }
            Definition::Class { header, methods, home } => {
                Value::Class(Rc::new(Class { name: name.into(), header, methods, home }))
            }
            Definition::Expression { ast, expr, element, home } => {
                let mut frame = Frame::of_host(ast, home);
                let value = self.value(&mut frame, expr);
                match (element, value.elements()) {
                    (None, _) => value,
                    (Some(i), Some(elements)) => elements
                        .get(i)
                        .cloned()
                        .unwrap_or_else(|| unknown("more names are unpacked than there are values")),
                    (Some(_), None) => unknown(format!("`{name}` is a part of an unknown value")),
                }
            }
            Definition::Constant(constant) => arguments::from_constant(&constant),
            Definition::Module => Value::Module(name.into()),
        }
    }

    fn attribute(&mut self, frame: &mut Frame, expr: ExprId, base: ExprId, name: &str) -> Value {
        let ast = frame.ast.clone();
        if let Some(path) = ast.dotted(expr)
            && !frame.names.contains_key(path[0])
            && let Some(path) = self.environment.canonical(frame.home, &path)
        {
            return self.language_value(&path);
        }
        let value = self.value(frame, base);
        if let Value::Module(module) = &value {
            return self.of_module(frame.home, &module.clone(), name);
        }
        self.member(frame, expr, &value, name)
    }

    /// `module.name`
    fn of_module(&mut self, home: Home, module: &str, name: &str) -> Value {
        // No name has a dot in it.
        let key = (home, Rc::from(format!("{module}.{name}")));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.known.insert(key.clone(), unknown(format!("`{module}.{name}` is defined in terms of itself")));
        let value = match self.environment.member(home, module, name) {
            Some(definition) => self.defined(name, definition),
            None => unknown(format!("`{module}.{name}` is not known")),
        };
        self.known.insert(key, value.clone());
        value
    }

    fn subscript(&mut self, frame: &mut Frame, expr: ExprId, value: ExprId, index: ExprId) -> Value {
        let ast = frame.ast.clone();
        let value = self.value(frame, value);
        match &value {
            Value::Tensor(tensor) => {
                let indices = indices(&ast, index);
                self.check_index(frame, expr, &indices);
                let kept: Vec<bool> =
                    indices.iter().map(|&index| matches!(ast.expr(index), Expr::Slice { .. })).collect();
                self.indexed(frame, expr, tensor.clone(), &kept)
            }
            Value::Tuple(_) | Value::List(_) => {
                let elements = value.elements().unwrap_or_default();
                if let Expr::Slice { lower, upper, step } = ast.expr(index) {
                    let mut bound = |bound: &Option<ExprId>| match bound {
                        None => Some(None),
                        Some(bound) => self.value(frame, *bound).int().map(Some),
                    };
                    let (Some(lower), Some(upper), Some(step)) = (bound(lower), bound(upper), bound(step)) else {
                        return unknown("the bounds of a slice are not known");
                    };
                    return Value::list(python::slice(elements, lower, upper, step));
                }
                match self.value(frame, index) {
                    Value::Unknown(reason) => Value::Unknown(reason),
                    index => match index.int().and_then(|index| python::at(elements, index)) {
                        Some(element) => element.clone(),
                        None => unknown("an index that is not known, or that a list does not have"),
                    },
                }
            }
            Value::Dict(pairs) => {
                let key = self.value(frame, index);
                let found = pairs.iter().find(|(known, _)| known.equals(&key) == Some(true));
                found.map_or_else(|| unknown("a key that is not known"), |(_, value)| value.clone())
            }
            Value::Scalar(scalar)
                if self.launch.dialect.leaves_layouts()
                    && indices(&ast, index).iter().all(|&index| matches!(ast.expr(index), Expr::None)) =>
            {
                self.splat(frame, expr, *scalar, vec![1; indices(&ast, index).len()])
            }
            Value::Shared(_) | Value::TensorMemory(_) | Value::Opaque(_) | Value::Scalar(_) => {
                let index = self.value(frame, index);
                self.view_at(frame, expr, &value, &index)
            }
            // `fn[grid]`, and generic types.
            Value::Function(_) | Value::Class(_) | Value::Language(_) => value,
            Value::Unknown(reason) => Value::Unknown(reason.clone()),
            _ => unknown("an index into something that has none"),
        }
    }

    fn ternary(&mut self, frame: &mut Frame, at: ExprId, then: ExprId, condition: ExprId, otherwise: ExprId) -> Value {
        let condition = self.value(frame, condition);
        match condition.truth() {
            Some(true) => return self.value(frame, then),
            Some(false) => return self.value(frame, otherwise),
            None => {}
        }
        self.facts.branches += 1;
        let (one, two) = (self.value(frame, then), self.value(frame, otherwise));
        self.facts.branches -= 1;
        self.note_undecided(&condition);
        if let Value::Unknown(reason) = condition {
            return if same(&one, &two) { one } else { self.either(&one, &two, reason) };
        }
        self.selected(frame, at, &condition, &one, &two)
    }

    /// One of two values, as the kernel chooses.
    pub(super) fn selected(&mut self, frame: &Frame, at: ExprId, condition: &Value, one: &Value, two: &Value) -> Value {
        if same(one, two) {
            return one.clone();
        }
        let both = self.in_one_layout(frame, at, &[one.clone(), two.clone()]);
        let (one, two) = (self.computed(frame, at, &both[0], true), self.computed(frame, at, &both[1], true));
        let (mut of_one, mut of_two) = (Vec::new(), Vec::new());
        one.leaves(&mut of_one);
        two.leaves(&mut of_two);
        let is_into_other =
            matches!((&one, &two), (Value::BlockPointer(one), Value::BlockPointer(two)) if !one.is_into_same(two));
        if of_one.is_empty() || of_one.len() != of_two.len() || is_into_other {
            return unknown("two values of different kinds");
        }
        let chooses = self.operands(frame, at, std::slice::from_ref(condition));
        let mut ids = Vec::new();
        for ((first, of), (second, _)) in of_one.into_iter().zip(of_two) {
            let mut operands = vec![first, second];
            operands.extend(&chooses);
            let op = Emitted {
                name: "select",
                effect: Effect::None,
                operands: &operands,
                of,
                identity: 0,
                kind: Kind::View,
            };
            let id = self.emit(frame, at, op);
            self.is_one_of(id, &[first, second]);
            self.is_either(id, first, second);
            ids.push(id);
        }
        let chosen = match (&one, &two) {
            (Value::Tensor(of), Value::Tensor(Tensor { layout, .. })) if matches!(of.layout, Registers::Flexible) => {
                Value::Tensor(Tensor { layout: layout.clone(), ..of.clone() })
            }
            _ => one,
        };
        chosen.with_leaves(&mut ids.into_iter())
    }

    /// A list of unknown length. What an element allocates is seen, and known to be in part.
    fn unknown_list(&mut self, frame: &mut Frame, element: ExprId, clauses: &[Clause], reason: Reason) -> Value {
        if frame.is_host || self.launch.dialect != Dialect::Tlx {
            return Value::Unknown(reason);
        }
        let reason = reason.of("a list of buffers");
        for clause in clauses {
            if let Clause::For { target, .. } = clause {
                self.assign(frame, *target, Value::Unknown(reason.clone()), true);
            }
        }
        self.uncertain += 1;
        self.facts.branches += 1;
        self.value(frame, element);
        self.facts.branches -= 1;
        self.uncertain -= 1;
        Value::Unknown(reason)
    }

    fn comprehension(
        &mut self,
        frame: &mut Frame,
        clauses: &[Clause],
        each: &mut dyn FnMut(&mut Self, &mut Frame),
    ) -> Result<(), Reason> {
        let Some((clause, rest)) = clauses.split_first() else {
            each(self, frame);
            return Ok(());
        };
        match *clause {
            Clause::If(condition) => match self.value(frame, condition).truth() {
                Some(true) => self.comprehension(frame, rest, each),
                Some(false) => Ok(()),
                None => Err(Reason::new("a condition of a comprehension is not known")),
            },
            Clause::For { target, iter } => {
                let rounds = match self.iterated(frame, iter) {
                    Rounds::Range(bounds, _) => match bounds.each_ref().map(Value::int).into() {
                        (Some(from), Some(to), Some(by)) => unrolled(from, to, by),
                        _ => return Err(Reason::new("the bounds of a comprehension are not known")),
                    },
                    rounds => rounds,
                };
                match rounds {
                    Rounds::Unrolled(values) => {
                        for value in values {
                            self.assign(frame, target, value, true);
                            self.comprehension(frame, rest, each)?;
                        }
                        Ok(())
                    }
                    Rounds::Unknown(reason) => Err(reason),
                    Rounds::Range(..) => Err(Reason::new("the bounds of a comprehension are not known")),
                }
            }
        }
    }
}

fn not_defined(name: &str) -> Reason {
    Reason::new(format!("`{name}` is not defined"))
}

/// What stands between the brackets, axis by axis.
fn indices(ast: &Ast, index: ExprId) -> Vec<ExprId> {
    match ast.expr(index) {
        Expr::Tuple(indices) => indices.clone(),
        _ => vec![index],
    }
}
