//! Statements: assignments and branches.

use std::collections::BTreeSet;
use std::rc::Rc;

use tilefit_python::finding::{Origin, Reason, Remedy};
use tilefit_python::work;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId};

use super::super::language::Dtype;
use super::super::program::{Block, Effect, Kind, Op, Type, ValueId};
use super::numbers::is_number;
use super::value::{Function, Registers, Scalar, Shared, Tensor, Value, unknown};
use super::{Flow, Frame, RETURNED, Tracer, copied};

impl Tracer<'_> {
    pub(super) fn body(&mut self, frame: &mut Frame, body: &[StmtId]) -> Flow {
        for &stmt in body {
            work::spend(4);
            if self.is_ended {
                return Flow::Return;
            }
            let flow = self.statement(frame, stmt);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    pub(super) fn statement(&mut self, frame: &mut Frame, stmt: StmtId) -> Flow {
        let ast = frame.ast.clone();
        match ast.stmt(stmt) {
            Stmt::Assign { targets, annotation, value: Some(value) } => {
                self.named = targets.first().and_then(|&target| named(frame, target));
                let is_constexpr = annotation.and_then(|annotation| ast.dotted(annotation));
                let is_constexpr = is_constexpr.is_some_and(|path| path.last() == Some(&"constexpr"));
                self.constexprs += u32::from(is_constexpr);
                let is_renamed = matches!(ast.expr(*value), Expr::Name(_));
                let around = self.names_allocations();
                let value = self.value(frame, *value);
                self.go_on_naming(around);
                self.constexprs -= u32::from(is_constexpr);
                self.named = None;
                if let (Value::Tensor(tensor), Some((name, at)), false) =
                    (&value, targets.first().and_then(|&target| named(frame, target)), is_renamed)
                {
                    self.program.assigned.insert(tensor.id, (name.as_ref().into(), at));
                }
                for &target in targets {
                    self.binds(frame, target, &value, is_constexpr);
                    self.assign(frame, target, value.clone(), is_constexpr);
                }
                Flow::Next
            }
            Stmt::AugAssign { target, op, value } => {
                let before = self.value(frame, *target);
                let with = self.value(frame, *value);
                let [before, with] = self.held(frame, [*target, *value], [before, with]);
                let value = self.binary(frame, *value, *op, &before, &with);
                self.assign(frame, *target, value, false);
                Flow::Next
            }
            Stmt::Expr(expr) => {
                self.value(frame, *expr);
                Flow::Next
            }
            Stmt::If { condition, body, or_else } => self.if_(frame, *condition, body, or_else),
            Stmt::For { target, iter, body, .. } => self.for_(frame, *target, *iter, body),
            Stmt::While { condition, body, .. } => self.while_(frame, *condition, body),
            Stmt::With { items, body } => {
                if let Some(flow) = self.async_tasks(frame, items, body) {
                    return flow;
                }
                for item in items {
                    self.value(frame, item.context);
                }
                self.body(frame, body)
            }
            Stmt::Return(value) => {
                let value = value.map_or(Value::None, |value| self.value(frame, value));
                frame.names.insert(RETURNED.into(), value);
                Flow::Return
            }
            Stmt::Break => {
                self.refuse_statement(frame, stmt, "break");
                Flow::Break
            }
            Stmt::Continue => {
                self.refuse_statement(frame, stmt, "continue");
                Flow::Continue
            }
            Stmt::Function(function) => {
                if let Some(name) = ast.name(function.name) {
                    let function = Function {
                        name: name.into(),
                        ast: ast.clone(),
                        key: None,
                        inner: Some(stmt),
                        names: Some(Rc::new(copied(&frame.names))),
                        home: frame.home,
                    };
                    frame.names.insert(name.into(), Value::Function(Rc::new(function)));
                }
                Flow::Next
            }
            Stmt::Assert(_) | Stmt::Pass => Flow::Next,
            Stmt::Other { keyword: "del" | "global" | "nonlocal", .. } => Flow::Next,
            Stmt::Assign { .. } | Stmt::Import(_) | Stmt::ImportFrom { .. } | Stmt::Class { .. } => Flow::Next,
            Stmt::Other { keyword, body } => {
                let at = first_expr(&ast, body);
                if let Some(at) = at {
                    self.note(frame, at, Reason::new(format!("tilefit does not look into `{keyword}`")));
                }
                Flow::Next
            }
            Stmt::Error => Flow::Next,
        }
    }

    /// `is_constexpr`: a number stays one while the kernel is compiled.
    pub(super) fn assign(&mut self, frame: &mut Frame, target: ExprId, value: Value, is_constexpr: bool) {
        let ast = frame.ast.clone();
        match ast.expr(target) {
            Expr::Name(name) => {
                let name: Rc<str> = name.as_str().into();
                match !is_constexpr && is_number(&value) {
                    true => frame.plain.insert(name.clone()),
                    false => frame.plain.remove(&name),
                };
                frame.names.insert(name, value);
            }
            Expr::Tuple(targets) | Expr::List(targets) => {
                let parts = value.elements().map(<[Value]>::to_vec);
                let starred = targets.iter().position(|&target| matches!(ast.expr(target), Expr::Starred(_)));
                for (i, &target) in targets.iter().enumerate() {
                    let part = match (&parts, starred) {
                        (Some(parts), None) if parts.len() == targets.len() => parts[i].clone(),
                        (Some(_), None) => unknown("more names are unpacked than there are values"),
                        _ => match &value {
                            Value::Unknown(reason) => Value::Unknown(reason.clone()),
                            _ => unknown("the unpacked value is not a tuple"),
                        },
                    };
                    self.assign(frame, target, part, is_constexpr);
                }
            }
            Expr::Attribute { value: object, name } => {
                let of = self.value(frame, *object);
                self.keeps_attribute(frame, target, &of, name);
                if let (Some(base), Value::Record(record)) = (ast.name(*object), of) {
                    let mut fields = record.fields.to_vec();
                    match fields.iter_mut().find(|(field, _)| **field == **name) {
                        Some((_, field)) => *field = value,
                        None => fields.push((name.as_str().into(), value)),
                    }
                    frame.names.insert(base.into(), Value::record(record.class.clone(), fields));
                }
            }
            Expr::Subscript { value: object, .. } if matches!(self.value(frame, *object), Value::Tensor(_)) => {
                let message =
                    || "the elements of a tensor cannot be assigned; `tl.where` makes a tensor with others".to_owned();
                self.demand(frame, target, false, message);
            }
            _ => {}
        }
    }

    fn if_(&mut self, frame: &mut Frame, condition: ExprId, body: &[StmtId], or_else: &[StmtId]) -> Flow {
        let value = self.value(frame, condition);
        match value.truth() {
            Some(true) => self.body(frame, body),
            Some(false) => self.body(frame, or_else),
            None => {
                self.check_branch(frame, condition, &value, [body, or_else]);
                self.branch(frame, condition, &value, body, or_else)
            }
        }
    }

    /// Follows both sides of a condition that the kernel computes, or that is not known.
    fn branch(
        &mut self,
        frame: &mut Frame,
        at: ExprId,
        condition: &Value,
        body: &[StmtId],
        or_else: &[StmtId],
    ) -> Flow {
        let is_unknown = matches!(condition, Value::Unknown(_));
        self.note_undecided(condition);
        let operands = self.operands(frame, at, std::slice::from_ref(condition));
        let before = copied(&frame.names);
        self.uncertain += u32::from(is_unknown);
        self.facts.branches += 1;
        self.open();
        let first = self.body(frame, body);
        let then_names = std::mem::replace(&mut frame.names, before);
        self.open();
        let second = self.body(frame, or_else);
        self.uncertain -= u32::from(is_unknown);
        self.facts.branches -= 1;
        let otherwise_block = self.blocks.pop().unwrap_or_default();
        let otherwise_names = std::mem::take(&mut frame.names);
        // What a side that leaves the function says of names says nothing of what comes after.
        let leaves = |flow: Flow| flow != Flow::Next;
        let mut merged = Vec::new();
        let (mut yields_then, mut yields_otherwise) = (Vec::new(), Vec::new());
        let names: BTreeSet<Rc<str>> = then_names.keys().chain(otherwise_names.keys()).cloned().collect();
        for name in names {
            let is_returned = &*name == RETURNED;
            let (one, two) = (then_names.get(&name), otherwise_names.get(&name));
            let value = match (one, two) {
                (Some(one), Some(two)) if same(one, two) => one.clone(),
                (Some(one), Some(two)) if is_returned || leaves(first) == leaves(second) => {
                    merged.push((name.clone(), one.clone(), two.clone()));
                    continue;
                }
                (Some(_), Some(two)) if leaves(first) => two.clone(),
                (Some(one), Some(_)) => one.clone(),
                (Some(one), None) => one.clone(),
                (None, Some(two)) => two.clone(),
                (None, None) => continue,
            };
            frame.names.insert(name, value);
        }
        // The block of the first side is open still; numbers become operations where they differ.
        let mut made = Vec::new();
        for (name, one, two) in merged {
            let are_known = one.int().is_some() && two.int().is_some();
            let one = self.computed(frame, at, &one, false);
            let one = self.merged(frame, at, one, &two);
            let start = yields_then.len();
            let mut leaves_one = Vec::new();
            one.leaves(&mut leaves_one);
            yields_then.extend(leaves_one.iter().map(|&(id, _)| id));
            made.push((name, one, two, start, leaves_one, are_known));
        }
        let then_block_ops = self.blocks.pop().unwrap_or_default();
        self.blocks.push(otherwise_block);
        let mut results = Vec::new();
        for (name, one, two, start, leaves_one, are_known) in made {
            let two = self.computed(frame, at, &two, false);
            let two = self.as_in(frame, at, two, &one);
            if matches!((&one, &two), (Value::Opaque(_), Value::Opaque(_))) {
                let reason = Reason::new(format!("`{name}` differs between the branches of an `if`"));
                let either = self.either(&one, &two, reason);
                frame.names.insert(name, either);
                continue;
            }
            let mut leaves_two = Vec::new();
            two.leaves(&mut leaves_two);
            let is_other = leaves_one.len() != leaves_two.len()
                || std::mem::discriminant(&one) != std::mem::discriminant(&two)
                || is_unknown && shape(&one) != shape(&two)
                || matches!((&one, &two), (Value::Str(one), Value::Str(two)) if one != two)
                || matches!((&one, &two), (Value::BlockPointer(one), Value::BlockPointer(two)) if !one.is_into_same(two));
            if is_other {
                yields_then.truncate(start.min(yields_then.len()));
                yields_then.resize(yields_otherwise.len(), ValueId(0));
                let differs = format!("`{name}` differs between the branches of an `if`");
                let reason = match condition {
                    // Who knows which branch is taken knows what it is.
                    Value::Unknown(reason) => reason.clone().of(&differs),
                    _ => Reason::new(differs),
                };
                frame.names.insert(name.clone(), Value::Unknown(reason));
                continue;
            }
            let one = if is_unknown { of_either(one, &two) } else { one };
            yields_otherwise.extend(leaves_two.iter().map(|&(id, _)| id));
            let ids: Vec<ValueId> = leaves_one.iter().map(|&(_, of)| self.new_value(of)).collect();
            for ((&id, &(one, _)), &(two, _)) in ids.iter().zip(&leaves_one).zip(&leaves_two) {
                self.is_one_of(id, &[one, two]);
                self.is_either(id, one, two);
            }
            results.extend(ids.iter().copied());
            if are_known {
                self.depends_on(&name, &ids, condition);
            }
            let chosen = || match condition {
                Value::Unknown(reason) if are_known => {
                    Some(reason.clone().of(&format!("`{name}` differs between the branches of an `if`")))
                }
                _ => None,
            };
            for ((&id, (one, _)), (two, _)) in ids.iter().zip(&leaves_one).zip(&leaves_two) {
                let before = [one, two].into_iter().find_map(|of| self.of_branches.get(of).cloned());
                if let Some(reason) = before.or_else(chosen) {
                    self.of_branches.insert(id, reason);
                }
            }
            frame.names.insert(name, one.with_leaves(&mut ids.into_iter()));
        }
        let otherwise = self.close(frame, at, yields_otherwise.clone());
        self.blocks.push(then_block_ops);
        yields_then.truncate(yields_otherwise.len());
        let then = self.close(frame, at, yields_then);
        if let Value::Unknown(reason) = condition
            && (self.touches_memory(&then) || self.touches_memory(&otherwise))
        {
            let reason = reason.clone().of("which branch is taken is not known");
            self.note(frame, at, reason);
        }
        let op = Op {
            name: "if",
            at: self.site(frame, at),
            effect: Effect::None,
            operands,
            results,
            identity: 0,
            kind: Kind::If { then, otherwise },
        };
        self.push(op);
        match (first, second) {
            (Flow::Return, Flow::Return) => Flow::Return,
            _ => Flow::Next,
        }
    }

    /// Takes note of the parameter that a condition depends on, where it has no value.
    pub(super) fn note_undecided(&mut self, condition: &Value) {
        if let Value::Unknown(reason) = condition
            && let Some(Remedy::Value { param, .. }) = reason.remedy()
        {
            self.undecided.insert(param.clone());
        }
    }

    /// What one side of a branch makes of a name, in the layout that it has after the branch.
    fn merged(&mut self, frame: &Frame, at: ExprId, one: Value, two: &Value) -> Value {
        let (Value::Tensor(first), Value::Tensor(second)) = (&one, two) else { return one };
        if !self.launch.dialect.leaves_layouts() {
            return one;
        }
        match (self.resolved(&first.layout), self.resolved(&second.layout)) {
            (Registers::Flexible, layout) => Value::Tensor(Tensor { layout, ..first.clone() }),
            (_, Registers::Flexible) => one,
            (first, second) if first == second => one,
            // What a `while` carries is in the layout that is computed for it.
            (_, second) if self.carried_by_while(&second).is_some() => one,
            (of_first, second) if self.carried_by_while(&of_first).is_some() => {
                Value::Tensor(self.between(frame, at, first, &second))
            }
            _ => {
                let choice = self.new_choice();
                Value::Tensor(self.as_chosen(frame, at, first, &choice))
            }
        }
    }

    /// Whether anything in a block makes memory, uses it, or needs some for itself.
    fn touches_memory(&self, block: &Block) -> bool {
        let mut touches = false;
        let is_memory =
            |value: &ValueId| matches!(self.program.types[value.0 as usize], Type::Shared { .. } | Type::TensorMemory);
        block.each(&mut |op| {
            work::spend(1);
            let kind = matches!(op.kind, Kind::Allocation(_) | Kind::Scratch(_) | Kind::Specialize { .. });
            touches |= kind || op.operands.iter().any(is_memory);
        });
        touches
    }

    /// Results of the kernel that values are, those that are known as constants.
    pub(super) fn operands(&mut self, frame: &Frame, at: ExprId, values: &[Value]) -> Vec<ValueId> {
        let mut operands = Vec::new();
        for value in values {
            match value {
                Value::Int(_) | Value::Bool(_) | Value::Float(_) => operands.push(self.constant(frame, at, value)),
                _ => {
                    let mut leaves = Vec::new();
                    value.leaves(&mut leaves);
                    operands.extend(leaves.into_iter().map(|(id, _)| id));
                }
            }
        }
        operands
    }
}

fn first_expr(ast: &Ast, body: &[StmtId]) -> Option<ExprId> {
    ast.exprs_in(body).into_iter().min()
}

/// The name that a target gives what is assigned to it, and where that is, for the kernel's own text.
fn named(frame: &Frame, target: ExprId) -> Option<(Rc<str>, Option<Origin>)> {
    let name = match frame.ast.expr(target) {
        Expr::Name(name) => name.as_str(),
        Expr::Attribute { name, .. } => name.as_str(),
        _ => return None,
    };
    Some((name.into(), frame.call.is_none().then_some(Origin::Expr(target))))
}

fn shape(value: &Value) -> Option<&[u64]> {
    match value {
        Value::Tensor(tensor) => Some(&tensor.shape),
        _ => None,
    }
}

/// What is one of two values. Elements that are of one type or another are of any, and lie wherever.
fn of_either(one: Value, two: &Value) -> Value {
    match (one, two) {
        (Value::Tensor(one), Value::Tensor(two)) if one.dtype != two.dtype => {
            Value::Tensor(Tensor { dtype: Dtype::ANY, layout: Registers::Flexible, ..one })
        }
        (Value::Scalar(one), Value::Scalar(two)) if one.dtype != two.dtype => {
            Value::Scalar(Scalar { dtype: Dtype::ANY, ..one })
        }
        (Value::Dtype(one), Value::Dtype(two)) if one != *two => Value::Dtype(Dtype::ANY),
        (one, _) => one,
    }
}

/// Whether two values are the same, and not merely alike.
pub(super) fn same(one: &Value, two: &Value) -> bool {
    let (mut of_one, mut of_two) = (Vec::new(), Vec::new());
    one.leaves(&mut of_one);
    two.leaves(&mut of_two);
    if of_one != of_two {
        return false;
    }
    match (one, two) {
        (Value::Unknown(one), Value::Unknown(two)) => one == two,
        (Value::Unknown(_), _) | (_, Value::Unknown(_)) => false,
        (Value::Opaque(one), Value::Opaque(two)) => one.id == two.id,
        (Value::BlockPointer(one), Value::BlockPointer(two)) => one.is_into_same(two),
        (Value::Shared(Shared { shape: one, .. }), Value::Shared(Shared { shape: two, .. })) => one == two,
        _ if !of_one.is_empty() => std::mem::discriminant(one) == std::mem::discriminant(two),
        _ => std::mem::discriminant(one) == std::mem::discriminant(two) && one.equals(two).unwrap_or(true),
    }
}
