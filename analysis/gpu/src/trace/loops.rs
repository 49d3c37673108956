//! Loops: those that are unrolled while the kernel is compiled, those that go round in it, and what they carry.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::ast::{Ast, BinaryOp, Expr, ExprId, Stmt, StmtId};

use super::super::language::Dtype;
use super::super::program::{Block, Effect, Kind, Op, Type, ValueId};
use super::value::{Registers, Scalar, Tensor, Value, unknown};
use super::{Flow, Frame, NAMES_A_STEP, RETURNED, Tracer, copied};

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
    /// Whether a loop may load something ahead of the round that takes it.
    fn loads(&self, body: &Block) -> bool {
        let mut found = false;
        body.each(&mut |op| {
            work::spend(1);
            found |= op.results.first().is_some_and(|result| self.program.loads.contains_key(result));
        });
        found
    }

    pub(super) fn for_(&mut self, frame: &mut Frame, target: ExprId, iter: ExprId, body: &[StmtId]) -> Flow {
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
                work::spend(frame.names.len() as u64 / NAMES_A_STEP);
                let bound: FxHashSet<Rc<str>> = frame.names.keys().cloned().collect();
                self.copies_of_body(frame, target, at, (Value::Int(from), copies), body);
                // What a body binds first ends with it, however often it goes round.
                frame.names.retain(|name, _| bound.contains(name) || &**name == RETURNED);
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

    pub(super) fn while_(&mut self, frame: &mut Frame, condition: ExprId, body: &[StmtId]) -> Flow {
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

    /// The names that a body assigns and that are bound before it, with their values in each round and before the first.
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
    pub(super) fn as_in(&mut self, frame: &Frame, at: ExprId, value: Value, other: &Value) -> Value {
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

    pub(super) fn rounds(&mut self, frame: &mut Frame, iter: ExprId) -> Rounds {
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
