//! Statements: assignments, branches and loops.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tilefit_python::finding::{Origin, Reason, Remedy};
use tilefit_python::work;
use tilefit_syntax::ast::{Ast, BinaryOp, Expr, ExprId, Stmt, StmtId};

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::program::{Block, Effect, Kind, Op, Type, ValueId};
use super::value::{Function, Registers, Scalar, Shared, Tensor, Value, unknown};
use super::{Emitted, Flow, Frame, RETURNED, Tracer, copied, identity};

/// Rounds of a loop that is unrolled.
const MOST_ROUNDS: i64 = 1024;

/// What a loop goes over.
pub(super) enum Rounds {
    /// Each value in turn, in a copy of the body of its own.
    Unrolled(Vec<Value>),
    /// From, to, by, and the stages that the author asks for.
    Range(Box<[Value; 3]>, Option<i64>),
    Unknown(Reason),
}

/// How often a loop repeats its body in a round, and what the index grows by from one to the next.
struct Copies {
    count: i64,
    by: Value,
}

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
            Stmt::Other { keyword: "assert" | "del" | "global" | "nonlocal", .. } | Stmt::Pass => Flow::Next,
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
                || matches!((&one, &two), (Value::Str(one), Value::Str(two)) if one != two);
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

    /// Whether a loop may load something ahead of the round that takes it.
    fn loads(&self, body: &Block) -> bool {
        let mut found = false;
        body.each(&mut |op| {
            work::spend(1);
            found |= op.results.first().is_some_and(|result| self.program.loads.contains_key(result));
        });
        found
    }

    fn for_(&mut self, frame: &mut Frame, target: ExprId, iter: ExprId, body: &[StmtId]) -> Flow {
        match self.rounds(frame, iter) {
            Rounds::Unrolled(values) => {
                for value in values {
                    self.assign(frame, target, value, true);
                    match self.body(frame, body) {
                        Flow::Return => return Flow::Return,
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                    }
                }
                Flow::Next
            }
            Rounds::Unknown(reason) => {
                self.note(frame, iter, reason);
                // One round is as good as any to see what is used.
                self.assign(frame, target, unknown("the rounds of the loop are not known"), true);
                self.uncertain += 1;
                self.body(frame, body);
                self.uncertain -= 1;
                Flow::Next
            }
            Rounds::Range(bounds, stages) => {
                let copies = std::mem::replace(&mut self.unrolls, 1).min(MOST_ROUNDS);
                if copies > 1 && self.launch.dialect.leaves_layouts() {
                    self.unrolled_loop(frame, target, iter, (*bounds, stages), copies, body);
                } else {
                    let once = Copies { count: 1, by: bounds[2].clone() };
                    self.counted_loop(frame, target, iter, (*bounds, stages, &once), body);
                }
                Flow::Next
            }
        }
    }

    /// A loop with several copies of its body, and behind it one for the rounds that are left, which is not pipelined
    /// (`lib/Dialect/Triton/Transforms/LoopUnroll.cpp`).
    fn unrolled_loop(
        &mut self,
        frame: &mut Frame,
        target: ExprId,
        at: ExprId,
        (bounds, stages): ([Value; 3], Option<i64>),
        copies: i64,
        body: &[StmtId],
    ) {
        let [from, to, by] = &bounds;
        let upper = match (from.int(), to.int(), by.int()) {
            (Some(from), Some(to), Some(by)) => {
                let even = rounds(from, to, by) / copies * copies;
                Value::Int(from.saturating_add(even.saturating_mul(by)))
            }
            _ => {
                let span = self.binary(frame, at, BinaryOp::Sub, to, from);
                let trips = self.binary(frame, at, BinaryOp::FloorDiv, &span, by);
                let left = self.binary(frame, at, BinaryOp::Mod, &trips, &Value::Int(copies));
                let even = self.binary(frame, at, BinaryOp::Sub, &trips, &left);
                let gone = self.binary(frame, at, BinaryOp::Mul, &even, by);
                self.binary(frame, at, BinaryOp::Add, from, &gone)
            }
        };
        let step = self.binary(frame, at, BinaryOp::Mul, by, &Value::Int(copies));
        let several = Copies { count: copies, by: by.clone() };
        let flattened = self.is_flattened;
        self.counted_loop(frame, target, at, ([from.clone(), upper.clone(), step], stages, &several), body);
        self.is_flattened = flattened;
        let once = Copies { count: 1, ..several };
        self.counted_loop(frame, target, at, ([upper, to.clone(), by.clone()], Some(1), &once), body);
    }

    /// A loop, or what is left of one that has a round or none.
    fn counted_loop(
        &mut self,
        frame: &mut Frame,
        target: ExprId,
        at: ExprId,
        (bounds, stages, copies): ([Value; 3], Option<i64>, &Copies),
        body: &[StmtId],
    ) {
        if let [Some(from), Some(to), Some(by)] = bounds.each_ref().map(Value::int) {
            let rounds = rounds(from, to, by);
            if rounds == 0 {
                return;
            }
            if rounds == 1 {
                self.copies_of_body(frame, target, at, (Value::Int(from), copies), body);
                return;
            }
        }
        self.loop_(frame, target, at, (bounds, stages, copies), body);
    }

    /// Follows so many copies of the body of a loop, the first for one value of the index, each further one for the next.
    fn copies_of_body(
        &mut self,
        frame: &mut Frame,
        target: ExprId,
        at: ExprId,
        (first, copies): (Value, &Copies),
        body: &[StmtId],
    ) {
        let mut value = first;
        for copy in 0..copies.count {
            work::spend(1);
            if copy > 0 {
                value = self.binary(frame, at, BinaryOp::Add, &value, &copies.by);
            }
            self.assign(frame, target, value.clone(), false);
            self.body(frame, body);
        }
    }

    fn loop_(
        &mut self,
        frame: &mut Frame,
        target: ExprId,
        at: ExprId,
        (bounds, stages, copies): ([Value; 3], Option<i64>, &Copies),
        body: &[StmtId],
    ) {
        // Loops of none and of one round have been taken care of.
        let known = match bounds.each_ref().map(Value::int) {
            [Some(from), Some(to), Some(by)] => u64::try_from(rounds(from, to, by)).ok(),
            _ => None,
        };
        let runs = std::mem::take(&mut self.runs) || known.is_some();
        let open_option = self.open_option.take();
        let index = bounds.iter().find_map(|bound| match bound {
            Value::Scalar(scalar) if scalar.dtype.bits == 64 => Some(scalar.dtype),
            _ => None,
        });
        let mut operands = self.operands(frame, at, &bounds);
        let count = operands.len();
        let (carried, starts) = self.carried(frame, at, body, Self::start_of_loop);
        operands.extend(starts);
        let before = copied(&frame.names);
        let carried_around = std::mem::replace(&mut self.carries, !carried.is_empty());
        let around = std::mem::replace(&mut self.is_overlapped, stages.is_some_and(|stages| stages > 1));
        self.open();
        let dtype = index.unwrap_or(Dtype::named("int32"));
        let index = self.new_value(Type::Scalar { bits: dtype.bits });
        if std::mem::take(&mut self.is_flattened) {
            self.program.flattened.insert(index);
        }
        if std::mem::take(&mut self.keeps_accumulators) {
            self.program.keeping_accumulators.insert(index);
        }
        if std::mem::take(&mut self.keeps_invariants) {
            self.program.keeping_invariants.insert(index);
        }
        self.note_index(index, [operands.first().copied(), operands.get(count.saturating_sub(1)).copied()]);
        let mut params = vec![index];
        let starts = operands[count..].to_vec();
        self.enter_round(frame, &carried, &mut params, &starts);
        let index = Value::Scalar(Scalar { id: index, dtype });
        frame.loops += 1;
        self.copies_of_body(frame, target, at, (index, copies), body);
        frame.loops -= 1;
        self.check_round(frame, body, &before);
        let yields = self.end_of_round(frame, at, &carried);
        for (&param, &next) in params[1..].iter().zip(&yields) {
            self.check_carried(param, next);
        }
        let mut body = self.close(frame, at, yields);
        if let Some(reason) = open_option
            && self.loads(&body)
        {
            self.note(frame, at, reason);
        }
        frame.names = before;
        let results = self.leave_loop(frame, &carried);
        for (&result, &param) in results.iter().zip(&params[1..]) {
            self.note_carried(result, param);
        }
        body.params = params;
        let op = Op {
            name: "for",
            at: self.site(frame, at),
            effect: Effect::None,
            operands,
            results,
            identity: 0,
            kind: Kind::For { bounds: count, runs, rounds: known, stages, body },
        };
        self.push(op);
        self.is_overlapped = around;
        self.carries = carried_around;
    }

    fn while_(&mut self, frame: &mut Frame, condition: ExprId, body: &[StmtId]) -> Flow {
        if frame.is_host {
            return self.host_while(frame, condition, body);
        }
        let (carried, operands) = self.carried(frame, condition, body, Self::start_of_while);
        let before = copied(&frame.names);
        self.open();
        let mut params = Vec::new();
        self.enter_round(frame, &carried, &mut params, &operands);
        let value = self.value(frame, condition);
        if let Value::Unknown(reason) = &value {
            let reason = reason.clone().of("the number of iterations is not known");
            self.note(frame, condition, reason);
        }
        let goes_on = self.operands(frame, condition, std::slice::from_ref(&value));
        let handed = params.clone();
        let mut head = self.close(frame, condition, goes_on.into_iter().chain(handed).collect());
        head.params = params.clone();
        self.open();
        if value.truth() != Some(false) {
            frame.loops += 1;
            self.body(frame, body);
            frame.loops -= 1;
            self.check_round(frame, body, &before);
        }
        let yields = self.end_of_round(frame, condition, &carried);
        for (&param, &next) in params.iter().zip(&yields) {
            self.check_carried(param, next);
        }
        let body = self.close(frame, condition, yields);
        frame.names = before;
        let results = self.leave_loop(frame, &carried);
        for (&result, &param) in results.iter().zip(&params) {
            self.note_carried(result, param);
        }
        let op = Op {
            name: "while",
            at: self.site(frame, condition),
            effect: Effect::None,
            operands,
            results,
            identity: 0,
            kind: Kind::While { condition: head, body },
        };
        self.push(op);
        Flow::Next
    }

    fn host_while(&mut self, frame: &mut Frame, condition: ExprId, body: &[StmtId]) -> Flow {
        for _ in 0..MOST_ROUNDS {
            match self.value(frame, condition).truth() {
                Some(true) => match self.body(frame, body) {
                    Flow::Return => return Flow::Return,
                    Flow::Break => return Flow::Next,
                    Flow::Next | Flow::Continue => {}
                },
                Some(false) => return Flow::Next,
                None => break,
            }
        }
        for name in assigned(&frame.ast, body).into_keys() {
            frame.names.insert(name, unknown("the number of iterations is not known"));
        }
        Flow::Next
    }

    /// The names that a body assigns and that are bound before it, with what they stand for in each round, and what they start with.
    fn carried(
        &mut self,
        frame: &mut Frame,
        at: ExprId,
        body: &[StmtId],
        start: fn(&mut Self, &Frame, ExprId, Value) -> Value,
    ) -> (Vec<(Rc<str>, Value)>, Vec<ValueId>) {
        let mut carried = Vec::new();
        let mut starts = Vec::new();
        for name in assigned(&frame.ast, body).into_keys() {
            let Some(value) = frame.names.get(&name).cloned() else { continue };
            let value = self.computed(frame, at, &value, true);
            let value = start(self, frame, at, value);
            let mut leaves = Vec::new();
            value.leaves(&mut leaves);
            if leaves.is_empty() {
                continue;
            }
            starts.extend(leaves.iter().map(|&(id, _)| id));
            carried.push((name, value));
        }
        (carried, starts)
    }

    /// What a loop carries has one layout in all rounds. The compiler chooses it, by what the rounds do where the loop starts with nothing that has one.
    fn start_of_loop(&mut self, frame: &Frame, at: ExprId, value: Value) -> Value {
        let Value::Tensor(tensor) = &value else { return value };
        match self.resolved(&tensor.layout) {
            Registers::Flexible => Value::Tensor(Tensor { layout: self.new_auto(), ..tensor.clone() }),
            Registers::Loaded(_) | Registers::Chosen(_) => {
                let choice = self.new_choice();
                Value::Tensor(self.as_chosen(frame, at, tensor, &choice))
            }
            _ => value,
        }
    }

    /// Gives what is carried parameters of its own. `starts`: what it starts with, where as much is known of all rounds.
    fn enter_round(
        &mut self,
        frame: &mut Frame,
        carried: &[(Rc<str>, Value)],
        params: &mut Vec<ValueId>,
        starts: &[ValueId],
    ) {
        let first = params.len();
        for (name, value) in carried {
            let mut leaves = Vec::new();
            value.leaves(&mut leaves);
            let ids: Vec<ValueId> = leaves.iter().map(|&(start, of)| self.carried_from(start, of)).collect();
            params.extend(ids.iter().copied());
            frame.names.insert(name.clone(), value.with_leaves(&mut ids.into_iter()));
        }
        for (&param, &start) in params[first..].iter().zip(starts) {
            self.note_carried(param, start);
        }
    }

    /// A tensor in the layout of another one, where the compiler chooses that.
    fn as_in(&mut self, frame: &Frame, at: ExprId, value: Value, other: &Value) -> Value {
        match (&value, other) {
            (Value::Tensor(tensor), Value::Tensor(other)) if self.launch.dialect.leaves_layouts() => {
                Value::Tensor(match self.carried_by_while(&other.layout) {
                    Some(auto) => self.end_of_while(frame, at, tensor, &other.layout, auto),
                    None => self.as_chosen(frame, at, tensor, &other.layout),
                })
            }
            _ => value,
        }
    }

    /// A name has one type in all rounds (`CodeGenerator._verify_loop_carried_variable`).
    fn check_round(&mut self, frame: &Frame, body: &[StmtId], before: &FxHashMap<Rc<str>, Value>) {
        if !self.may_be_refused(frame) {
            return;
        }
        for (name, at) in assigned(&frame.ast, body) {
            if let (Some(before), Some(behind)) = (before.get(&name), frame.names.get(&name)) {
                self.check_carried_type(frame, at, &name, [before, behind]);
            }
        }
    }

    /// What is handed to the next round.
    fn end_of_round(&mut self, frame: &mut Frame, at: ExprId, carried: &[(Rc<str>, Value)]) -> Vec<ValueId> {
        let mut yields = Vec::new();
        for (name, start) in carried {
            let end = frame.names.get(name).cloned().unwrap_or(Value::None);
            let end = self.computed(frame, at, &end, true);
            let end = self.as_in(frame, at, end, start);
            let (mut had, mut has) = (Vec::new(), Vec::new());
            start.leaves(&mut had);
            end.leaves(&mut has);
            if had.len() != has.len() {
                let reason = match end {
                    Value::Unknown(reason) => reason.of("what a loop carries is not known"),
                    _ => Reason::new(format!("`{name}` changes its type or layout in the loop")),
                };
                if had.iter().any(|(_, of)| matches!(of, Type::Shared { .. } | Type::TensorMemory)) {
                    self.note(frame, at, reason);
                }
                yields.extend(had.iter().map(|&(id, _)| id));
                continue;
            }
            yields.extend(has.iter().map(|&(id, _)| id));
        }
        yields
    }

    /// A value that a loop carries, or has carried, and that starts as another one.
    fn carried_from(&mut self, start: ValueId, of: Type) -> ValueId {
        let id = self.new_value(of);
        self.is_one_of(id, &[start]);
        id
    }

    /// Gives what a loop carried the values that it has afterwards.
    fn leave_loop(&mut self, frame: &mut Frame, carried: &[(Rc<str>, Value)]) -> Vec<ValueId> {
        let mut results = Vec::new();
        for (name, value) in carried {
            let mut leaves = Vec::new();
            value.leaves(&mut leaves);
            let ids: Vec<ValueId> = leaves.iter().map(|&(start, of)| self.carried_from(start, of)).collect();
            results.extend(ids.iter().copied());
            let value = match value.with_leaves(&mut ids.into_iter()) {
                Value::Tensor(tensor) => match self.carried_by_while(&tensor.layout) {
                    Some(auto) => {
                        self.leave_while(auto);
                        Value::Tensor(tensor)
                    }
                    None => Value::Tensor(Tensor { layout: self.anchored(&tensor.layout), ..tensor }),
                },
                value => value,
            };
            frame.names.insert(name.clone(), value);
        }
        results
    }

    /// A value as the kernel computes it: numbers become operations. `deep`: those in tuples and records too.
    pub(super) fn computed(&mut self, frame: &Frame, at: ExprId, value: &Value, deep: bool) -> Value {
        match value {
            Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                let dtype = self.number_type(value);
                let id = self.constant(frame, at, value);
                Value::Scalar(Scalar { id, dtype })
            }
            Value::Tuple(values) if deep => {
                let values: Vec<_> = values.iter().map(|value| self.computed(frame, at, value, deep)).collect();
                Value::tuple(values)
            }
            Value::Record(record) => {
                let mut fields = record.fields.to_vec();
                for (_, field) in &mut fields {
                    *field = self.computed(frame, at, field, deep);
                }
                Value::record(record.class.clone(), fields)
            }
            _ => value.clone(),
        }
    }

    pub(super) fn number_type(&self, value: &Value) -> Dtype {
        Dtype::named(match value {
            Value::Bool(_) => "int1",
            Value::Float(_) => "float32",
            Value::Int(value) if i32::try_from(*value).is_err() => "int64",
            _ => "int32",
        })
    }

    pub(super) fn constant(&mut self, frame: &Frame, at: ExprId, value: &Value) -> ValueId {
        let bits = self.number_type(value).bits;
        let number = match value {
            Value::Float(value) => value.to_bits(),
            Value::Bool(value) => u64::from(*value),
            _ => value.int().unwrap_or_default() as u64,
        };
        let op = Emitted {
            name: "constant",
            effect: Effect::None,
            operands: &[],
            of: Type::Scalar { bits },
            identity: identity((bits, number)),
            kind: Kind::Constant,
        };
        let id = self.emit(frame, at, op);
        self.note_axes(id, value.int().map(AxisInfo::constant));
        id
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

    fn rounds(&mut self, frame: &mut Frame, iter: ExprId) -> Rounds {
        let value = self.iterated(frame, iter);
        match value {
            Rounds::Range(bounds, _) if frame.is_host => match bounds.each_ref().map(Value::int).into() {
                (Some(from), Some(to), Some(by)) => unrolled(from, to, by),
                _ => Rounds::Unknown(Reason::new("the bounds of a loop are not known")),
            },
            rounds => rounds,
        }
    }
}

/// The rounds of a range; 0 for one that nothing is in.
pub(super) fn rounds(from: i64, to: i64, by: i64) -> i64 {
    let span = |from: i64, to: i64, by: i64| to.saturating_sub(from).saturating_add(by - 1).max(0) / by;
    match by {
        1.. => span(from, to, by),
        ..=-1 => span(to, from, by.saturating_neg()),
        0 => 0,
    }
}

pub(super) fn unrolled(from: i64, to: i64, by: i64) -> Rounds {
    let count = rounds(from, to, by);
    if count > MOST_ROUNDS {
        return Rounds::Unknown(Reason::new(format!("a loop of {count} rounds is not unrolled")));
    }
    work::spend(count as u64);
    Rounds::Unrolled((0..count).map(|i| Value::Int(from.saturating_add(i.saturating_mul(by)))).collect())
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

/// The names that statements assign, in order, and the last one that does.
fn assigned(ast: &Ast, body: &[StmtId]) -> BTreeMap<Rc<str>, StmtId> {
    fn targets(ast: &Ast, at: StmtId, target: ExprId, found: &mut BTreeMap<Rc<str>, StmtId>) {
        match ast.expr(target) {
            Expr::Name(name) => {
                found.insert(name.as_str().into(), at);
            }
            Expr::Tuple(parts) | Expr::List(parts) => parts.iter().for_each(|&part| targets(ast, at, part, found)),
            Expr::Starred(inner) => targets(ast, at, *inner, found),
            // An object is another one once a part of it is assigned.
            Expr::Attribute { value, .. } => targets(ast, at, *value, found),
            _ => {}
        }
    }
    fn visit(ast: &Ast, body: &[StmtId], found: &mut BTreeMap<Rc<str>, StmtId>) {
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Assign { targets: all, .. } => all.iter().for_each(|&target| targets(ast, stmt, target, found)),
                Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => targets(ast, stmt, *target, found),
                _ => {}
            }
            for inner in ast.stmt(stmt).bodies() {
                visit(ast, inner, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(ast, body, &mut found);
    found
}

/// A number, or what may be one: where it is assigned without `tl.constexpr`, it is a tensor.
fn is_number(value: &Value) -> bool {
    matches!(
        value,
        Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Scalar(_) | Value::Tensor(_) | Value::Unknown(_)
    )
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
        (Value::Shared(Shared { shape: one, .. }), Value::Shared(Shared { shape: two, .. })) => one == two,
        _ if !of_one.is_empty() => std::mem::discriminant(one) == std::mem::discriminant(two),
        _ => std::mem::discriminant(one) == std::mem::discriminant(two) && one.equals(two).unwrap_or(true),
    }
}

/// What the operators of [`Stmt::AugAssign`] and [`Expr::Binary`] are called in a program.
pub(super) fn op_name(op: BinaryOp) -> &'static str {
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
