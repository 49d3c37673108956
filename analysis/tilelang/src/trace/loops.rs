//! Loops: of the kernel, and of Python.

use std::rc::Rc;

use tilefit_python::finding::{Node, Origin, Reason};
use tilefit_syntax::ast::{BinaryOp, Expr as Syntax, ExprId, StmtId};

use super::expressions::size_value;
use super::recording::{empty_loop, joined};
use super::statements::Flow;
use super::value::{self, Args, Expr, FrameId, LoopKind, LoopSpec, Size, Touch, Value, not_known, unknown};
use super::{Tracer, What};
use crate::program::{Extent, Loop, Statement, WrittenPipeline};

fn has_stages(stages: &Size) -> bool {
    stages.known().is_some_and(|stages| stages > 0)
}

impl Tracer<'_> {
    /// `T.serial(…)`, `T.Pipelined(…)` and the like.
    pub(super) fn loop_spec(&mut self, name: &str, args: &Args) -> Value {
        if let Some(reason) = &args.open {
            return not_known(reason.clone());
        }
        let mut touches = Vec::new();
        for (value, _) in &args.positional {
            touches.extend(self.expr(value).iter().flat_map(|expr| expr.touches.to_vec()));
        }
        let spec = |kind, extents, start, step| {
            let touches = joined([&touches[..]]);
            Value::Loop(Rc::new(LoopSpec {
                kind,
                extents,
                start,
                step,
                touches,
                is_binding: name == "thread_binding",
                depth: 1,
            }))
        };
        let plain = (Value::Int(0), Value::Int(1));
        match name {
            "Parallel" | "parallel" | "grid" => {
                let extents = args.positional.iter().map(|(value, _)| self.size(value)).collect();
                let kind = if name == "grid" { LoopKind::Serial } else { LoopKind::Parallel };
                spec(kind, extents, plain.0, plain.1)
            }
            "Persistent" => self.persistent(args, touches),
            "thread_binding" => {
                let extent = args.positional.first().map_or_else(|| Size::number(1), |(value, _)| self.size(value));
                spec(LoopKind::Serial, vec![extent], plain.0, plain.1)
            }
            _ => {
                let first = args.get(0, "start").cloned().unwrap_or(Value::Int(0));
                let is_range = |value: &&Value| !matches!(value, Value::None);
                let (start, stop) = match args.get(1, "stop").filter(is_range) {
                    Some(stop) => (first, stop.clone()),
                    None => (Value::Int(0), first),
                };
                let takes_step = matches!(name, "serial" | "Serial" | "unroll" | "Unroll");
                let step = match takes_step.then(|| args.get(2, "step")).flatten().filter(is_range) {
                    Some(step) => step.clone(),
                    None => Value::Int(1),
                };
                let mut distance = self.binary(BinaryOp::Sub, stop, start.clone());
                match step.int() {
                    Some(1) => {}
                    Some(by) if by < 0 => {
                        let turned = self.binary(BinaryOp::Sub, Value::Int(0), distance);
                        let arguments = [turned, Value::Int(by.saturating_neg())].map(|value| (value, None)).to_vec();
                        distance = self.ceildiv(&Args { positional: arguments, ..Args::default() });
                    }
                    _ => {
                        let arguments = [distance, step.clone()].map(|value| (value, None)).to_vec();
                        distance = self.ceildiv(&Args { positional: arguments, ..Args::default() });
                    }
                }
                let extent = self.size(&distance);
                let kind = match name {
                    "vectorized" | "Vectorized" => LoopKind::Parallel,
                    "unroll" | "Unroll" => {
                        LoopKind::Unroll { is_explicit: args.keyword("explicit").and_then(Value::truth) == Some(true) }
                    }
                    "Pipelined" => self.pipelined(args),
                    _ => LoopKind::Serial,
                };
                spec(kind, vec![extent], start, step)
            }
        }
    }

    fn pipelined(&mut self, args: &Args) -> LoopKind {
        let stages = self.size(args.get(2, "num_stages").unwrap_or(&Value::Int(0)));
        let mut numbers = |index: usize, name: &str| {
            let list = args.get(index, name).filter(|list| !matches!(list, Value::None))?;
            if let Value::Unknown(it) = list {
                self.note(it.reason.clone().of("the order of a pipeline"));
            }
            let number = |value: &Value| value.int().and_then(|value| u64::try_from(value).ok());
            list.items()?.iter().map(number).collect::<Option<Vec<u64>>>().filter(|list| !list.is_empty())
        };
        let written = match (numbers(3, "order"), numbers(4, "stage")) {
            (None, None) => None,
            (order, stage) => {
                Some(WrittenPipeline { order: order.unwrap_or_default(), stage: stage.unwrap_or_default() })
            }
        };
        LoopKind::Pipelined { stages, written }
    }

    /// Waves of tiles of a domain, each wave as wide as the grid.
    fn persistent(&mut self, args: &Args, touches: Vec<Touch>) -> Value {
        let domain = match args.get(0, "domain").map(|domain| self.iterated(domain)) {
            Some(Ok(domain)) if !domain.is_empty() => domain,
            Some(Err(reason)) => return not_known(reason),
            _ => return unknown("`T.Persistent` of nothing"),
        };
        let wave = args.get(1, "wave_size").cloned().unwrap_or(Value::Int(1));
        let group = args.get(3, "group_size").cloned().unwrap_or(Value::Int(8));
        let stages = self.size(args.get(4, "num_stages").unwrap_or(&Value::Int(0)));
        let last = domain[domain.len() - 1].clone();
        let group = match (group.int(), last.int()) {
            (Some(group), Some(last)) => Value::Int(group.min(last).max(1)),
            _ => self.elementwise("min", &[group, last.clone()]),
        };
        let pair = |one: Value, two: Value| Args { positional: vec![(one, None), (two, None)], ..Args::default() };
        let mut padded = self.ceildiv(&pair(last, group.clone()));
        for extent in &domain[..domain.len() - 1] {
            padded = self.binary(BinaryOp::Mul, padded, extent.clone());
        }
        padded = self.binary(BinaryOp::Mul, padded, group);
        let waves = self.ceildiv(&pair(padded, wave));
        let waves = self.size(&waves);
        let is_padded = waves.known().is_some_and(|waves| waves >= 2);
        let extents = domain.iter().map(|value| self.size(value)).collect();
        let kind = LoopKind::Persistent { stages, waves, is_padded };
        let touches = joined([&touches[..]]);
        Value::Loop(Rc::new(LoopSpec {
            kind,
            extents,
            start: Value::Int(0),
            step: Value::Int(1),
            touches,
            is_binding: false,
            depth: 1,
        }))
    }

    pub(super) fn for_(&mut self, frame: FrameId, target: ExprId, iter: ExprId, body: &[StmtId], stmt: StmtId) -> Flow {
        let list = self.value(frame, iter);
        if self.is_kernel(frame) {
            match &list {
                Value::Loop(spec) => return self.loop_of_kernel(frame, target, &spec.clone(), body, stmt),
                Value::Range(start, stop, step) => {
                    let length = value::length_of_range(*start, *stop, *step);
                    let spec = LoopSpec {
                        kind: LoopKind::Serial,
                        extents: vec![Size::number(i64::try_from(length).unwrap_or(i64::MAX))],
                        start: Value::Int(*start),
                        step: Value::Int(*step),
                        touches: Vec::new(),
                        is_binding: false,
                        depth: 1,
                    };
                    return self.loop_of_kernel(frame, target, &Rc::new(spec), body, stmt);
                }
                _ => {}
            }
        }
        let items = match self.iterated(&list) {
            Ok(items) => items,
            Err(reason) => {
                let kernels = self.prims.len();
                self.uncertain += 1;
                self.assign(frame, target, not_known(reason.clone()), stmt);
                let flow = self.body(frame, body);
                self.uncertain -= 1;
                // A loop around what is no part of a kernel does not matter.
                if self.out.is_launched() || self.prims.len() > kernels {
                    self.note(reason.of("what a loop goes through is not known"));
                }
                return if let Flow::Raise(_) = flow { flow } else { Flow::Next };
            }
        };
        self.loops.push(false);
        let mut end = Flow::Next;
        for item in items {
            self.step();
            self.assign(frame, target, item, stmt);
            match self.body(frame, body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                flow => {
                    end = flow;
                    break;
                }
            }
        }
        self.loops.pop();
        end
    }

    fn loop_of_kernel(
        &mut self,
        frame: FrameId,
        target: ExprId,
        spec: &Rc<LoopSpec>,
        body: &[StmtId],
        stmt: StmtId,
    ) -> Flow {
        let at = self.at_stmt(frame, stmt);
        for size in &spec.extents {
            if let Some(reason) = size.sum.unknown() {
                let reason = reason.clone();
                self.needs(&reason);
            }
        }
        let variable = self.loop_variables(frame, target, spec);
        self.loops.push(true);
        let around = self.pipelined;
        self.pipelined = match &spec.kind {
            LoopKind::Pipelined { stages, written } if has_stages(stages) || written.is_some() => {
                let extent = spec.extents.first().and_then(Size::known);
                variable.map(|variable| (variable, extent.and_then(|extent| u64::try_from(extent).ok())))
            }
            LoopKind::Persistent { stages, .. } if has_stages(stages) => None,
            _ => around,
        };
        let mut flow = Flow::Next;
        match &spec.kind {
            LoopKind::Parallel => {
                self.nested(at, &spec.touches, |tracer| flow = tracer.body(frame, body));
            }
            LoopKind::Persistent { stages, waves, is_padded } => {
                self.persistent_loop(stages, waves, *is_padded, spec, at, |tracer| {
                    tracer.body(frame, body);
                });
            }
            _ => {
                let mut extents: Vec<Extent> = spec.extents.iter().map(Size::extent).collect();
                let inner = extents.pop().unwrap_or(Extent::Known(1));
                let mut made = empty_loop(inner, at);
                made.least = spec.extents.last().map_or(0, |extent| self.facts.least(&extent.sum));
                match &spec.kind {
                    LoopKind::Unroll { is_explicit } => made.is_explicitly_unrolled = *is_explicit,
                    LoopKind::Pipelined { stages, written } => {
                        made.stages = self.stages(stages);
                        made.written = written.clone();
                    }
                    _ => {}
                }
                self.grid(extents, made, spec, at, |tracer| flow = tracer.body(frame, body));
            }
        }
        self.pipelined = around;
        self.loops.pop();
        match flow {
            Flow::Return(value) => Flow::Return(value),
            _ => Flow::Next,
        }
    }

    /// Loops around a loop, outermost first.
    fn grid(&mut self, outer: Vec<Extent>, made: Loop, spec: &LoopSpec, at: Origin, run: impl FnOnce(&mut Self)) {
        if self.out.is_in_nest() {
            return self.looped(made, &spec.touches, run);
        }
        let mut inner = made;
        inner.body = self.body_of(run);
        for extent in outer.into_iter().rev() {
            let mut around = empty_loop(extent, at);
            around.body = vec![Statement::Loop(inner)];
            inner = around;
        }
        self.bounds(&spec.touches, at);
        self.emit(Statement::Loop(inner));
    }

    fn stages(&mut self, stages: &Size) -> u64 {
        match stages.known() {
            Some(stages) => u64::try_from(stages).unwrap_or(0),
            None => {
                let reason = stages.sum.unknown().cloned().unwrap_or_else(|| Reason::new("a number of the kernel"));
                self.note(reason.of("`num_stages` is not known"));
                0
            }
        }
    }

    fn persistent_loop(
        &mut self,
        stages: &Size,
        waves: &Size,
        is_padded: bool,
        spec: &LoopSpec,
        at: Origin,
        run: impl FnOnce(&mut Self),
    ) {
        let mut made = empty_loop(waves.extent(), at);
        made.stages = self.stages(stages);
        self.looped(made, &spec.touches, |tracer| {
            let inner = tracer.body_of(run);
            let guarded = tracer.body_of(|tracer| tracer.branch((&[], Vec::new()), inner, Vec::new(), at));
            match is_padded {
                true => tracer.branch((&[], Vec::new()), guarded, Vec::new(), at),
                false => guarded.into_iter().for_each(|statement| tracer.emit(statement)),
            }
        });
    }

    /// Names of the variables of a loop.
    /// Gives the key of the variable, if there is one.
    fn loop_variables(&mut self, frame: FrameId, target: ExprId, spec: &LoopSpec) -> Option<u64> {
        let ast = self.frame(frame).code.ast.clone();
        let count = spec.extents.len();
        let mut next = 0;
        let mut only = None;
        let mut variable = |tracer: &mut Self, name: &str| {
            let key = value::next_id();
            only = (count == 1).then_some(key);
            tracer.facts.counts(key, spec.extents.get(next).and_then(Size::known));
            next += 1;
            Value::Expr(Expr::variable(name, key))
        };
        match ast.expr(target) {
            Syntax::Name(name) if count == 1 => {
                let mut value = variable(self, name);
                let is_shifted = !matches!((&spec.start, &spec.step), (Value::Int(0), Value::Int(1)));
                if is_shifted && !matches!(spec.start, Value::Unknown(_)) {
                    let step = self.binary(BinaryOp::Mul, value.clone(), spec.step.clone());
                    let shifted = self.binary(BinaryOp::Add, spec.start.clone(), step);
                    if let (Value::Expr(shifted), Value::Expr(plain)) = (shifted, &value) {
                        // What the bounds touch is read before.
                        value = Value::Expr(Expr { sum: shifted.sum, ..plain.clone() });
                    }
                }
                self.set(frame, name, value);
            }
            Syntax::Name(name) => {
                let variables = (0..count).map(|i| variable(self, &format!("{name}_{i}"))).collect();
                self.set(frame, name, Value::list(variables));
            }
            Syntax::Tuple(targets) | Syntax::List(targets) => {
                if targets.len() != count {
                    let at = self.at(frame, target);
                    self.mistake(at, What::Variables { given: targets.len(), dimensions: count });
                }
                for &target in targets {
                    if let Some(name) = ast.name(target) {
                        let value = variable(self, name);
                        self.set(frame, name, value);
                    }
                }
            }
            _ => {}
        }
        only
    }

    pub(super) fn bind_variables(
        &mut self,
        frame: FrameId,
        target: ExprId,
        spec: &super::value::LaunchSpec,
        stmt: StmtId,
    ) {
        let ast = self.frame(frame).code.ast.clone();
        if let Some(targets) = ast.elements(target)
            && targets.len() != spec.blocks
        {
            let at = self.origin(&self.frame(frame).code.clone(), Node::Expr(target));
            self.mistake(at, What::Variables { given: targets.len(), dimensions: spec.blocks });
        }
        let variables = self.launch_variables(spec);
        match ast.expr(target) {
            Syntax::Tuple(targets) | Syntax::List(targets) => {
                let items = variables.items().map_or_else(|| vec![variables.clone()], <[Value]>::to_vec);
                for (i, &target) in targets.iter().enumerate() {
                    let value = items.get(i).cloned().unwrap_or_else(|| unknown("a variable that the grid has not"));
                    if let (Some(name), Value::Expr(expr)) = (ast.name(target), &value) {
                        let named = Expr { text: name.into(), ..expr.clone() };
                        self.set(frame, name, Value::Expr(named));
                    }
                }
            }
            Syntax::Name(name) => {
                let value = match variables {
                    Value::Expr(expr) => Value::Expr(Expr { text: name.as_str().into(), ..expr }),
                    many => many,
                };
                self.set(frame, name, value);
            }
            _ => self.assign(frame, target, variables, stmt),
        }
    }

    /// An extent as a value of its own.
    pub(super) fn extent_value(size: &Size) -> Value {
        size_value(size)
    }
}
