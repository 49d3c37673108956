//! LowerPipelineLoops: the body of `pl.pipeline(stage=F)` is copied F times, so that the stages can overlap; the iterations
//! that are left over follow the loop. Each copy's tiles say which stage they belong to.

use super::io_order::{Drain, Drains, is_product};
use super::walk::{self, Substitution};
use crate::ir::{
    Attr, Call, Carry, Dtype, For, If, Kernel, LoopKind, Note, Operand, Origin, PIPELINE_STAGES, PipelineStage, Reason,
    Role, Scalar, ScalarBinary, Stmt, Type, Value, Var, VarId, While,
};
use crate::target::Space;

/// The indices of copied loops join `drains`.
pub(super) fn run(kernel: &mut Kernel, drains: &mut Drains) {
    let body = std::mem::take(&mut kernel.body);
    let mut lower = Lower { kernel, next_group: 0, drains };
    let body = lower.body(body);
    kernel.body = body;
}

struct Lower<'a> {
    kernel: &'a mut Kernel,
    next_group: u32,
    drains: &'a mut Drains,
}

/// Copies of a loop body and what the last one hands on.
struct Copies {
    body: Vec<Stmt>,
    values: Vec<Operand>,
}

impl Lower<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            match stmt {
                Stmt::For(inner) => self.for_loop(inner, &mut out),
                Stmt::While(inner) => out.push(Stmt::While(While { body: self.body(inner.body), ..inner })),
                Stmt::If(inner) => {
                    let then = self.body(inner.then);
                    out.push(Stmt::If(If { then, otherwise: self.body(inner.otherwise), ..inner }));
                }
                leaf => out.push(leaf),
            }
        }
        out
    }

    fn for_loop(&mut self, mut inner: For, out: &mut Vec<Stmt>) {
        inner.body = self.body(inner.body);
        let LoopKind::Pipeline { stages } = inner.kind else {
            return out.push(Stmt::For(inner));
        };
        let stages = i64::from(stages);
        if stages <= 1 {
            return out.push(Stmt::For(inner));
        }
        let Some(step) = walk::constant(&inner.step).filter(|step| *step != 0) else {
            return self.keep(inner, "a pipeline with a step that is not constant", out);
        };
        if !walk::may_copy(self.kernel, &inner.body, stages) {
            return self.keep(inner, "a pipeline with this many copies of its body", out);
        }
        match (walk::constant(&inner.start), walk::trip_count(&inner.start, &inner.stop, &inner.step)) {
            (Some(start), Some(trips)) => self.with_known_trips(inner, stages, start, step, trips, out),
            _ if step > 0 => self.with_unknown_trips(inner, stages, step, out),
            _ => self.keep(inner, "a pipeline that counts down from a bound that is not constant", out),
        }
    }

    fn keep(&mut self, inner: For, what: &str, out: &mut Vec<Stmt>) {
        self.kernel.notes.push(Note { at: inner.origin, reason: Reason(what.into()) });
        out.push(Stmt::For(For { kind: LoopKind::Range, ..inner }));
    }

    fn with_known_trips(&mut self, inner: For, stages: i64, start: i64, step: i64, trips: i64, out: &mut Vec<Stmt>) {
        if trips == 0 {
            return out.push(Stmt::For(For { kind: LoopKind::Range, ..inner }));
        }
        let (main, rest) = (trips / stages, trips % stages);
        let rest_start = start.saturating_add(main.saturating_mul(stages).saturating_mul(step));
        let mut values: Vec<Operand> = inner.carries.iter().map(|carry| carry.init.clone()).collect();
        if main > 0 {
            let results = match rest {
                0 => inner.carries.iter().map(|carry| carry.result).collect(),
                _ => self.fresh_results(&inner, "_main"),
            };
            values = results.iter().copied().map(Operand::Var).collect();
            let main_loop = self.main_loop(&inner, stages, step, Scalar::Int(rest_start), results);
            out.push(Stmt::For(main_loop));
        }
        if rest > 0 {
            let copies = self.copies(&inner, rest, step, &Scalar::Int(rest_start), values);
            out.extend(copies.body);
            for (carry, value) in inner.carries.iter().zip(copies.values) {
                self.kernel.var_mut(carry.result).role = Role::Def;
                out.push(Stmt::Let { var: carry.result, value: as_value(value), origin: inner.origin });
            }
        }
    }

    /// The main loop, and a chain of branches on how many iterations are left.
    fn with_unknown_trips(&mut self, inner: For, stages: i64, step: i64, out: &mut Vec<Stmt>) {
        let origin = inner.origin;
        let int = |value: i64| Scalar::Int(value);
        let distance = walk::fold_binary(ScalarBinary::Sub, inner.stop.clone(), inner.start.clone());
        let trips = if step == 1 {
            distance
        } else {
            let rounded = walk::fold_binary(ScalarBinary::Add, distance, int(step - 1));
            walk::fold_binary(ScalarBinary::FloorDiv, rounded, int(step))
        };
        let main_trips = walk::fold_binary(ScalarBinary::FloorDiv, trips.clone(), int(stages));
        let covered = walk::fold_binary(ScalarBinary::Mul, main_trips.clone(), int(stages.saturating_mul(step)));
        let main_end = self.scalar("unroll_main_end", origin);
        let end = walk::fold_binary(ScalarBinary::Add, inner.start.clone(), covered);
        out.push(Stmt::Let { var: main_end, value: Value::Scalar(end), origin });

        let main_results = self.fresh_results(&inner, "_main");
        let main_values: Vec<Operand> = main_results.iter().copied().map(Operand::Var).collect();
        out.push(Stmt::For(self.main_loop(&inner, stages, step, Scalar::Var(main_end), main_results)));

        let rest = self.scalar("unroll_rem", origin);
        let left = if step == 1 {
            walk::fold_binary(ScalarBinary::Sub, inner.stop.clone(), Scalar::Var(main_end))
        } else {
            let done = walk::fold_binary(ScalarBinary::Mul, main_trips, int(stages));
            walk::fold_binary(ScalarBinary::Sub, trips, done)
        };
        out.push(Stmt::Let { var: rest, value: Value::Scalar(left), origin });

        let carries = !inner.carries.is_empty();
        let mut chain: Option<If> = None;
        for count in (1..stages).rev() {
            let copies = self.copies(&inner, count, step, &Scalar::Var(main_end), main_values.clone());
            let mut then = copies.body;
            if carries {
                then.push(Stmt::Yield { values: copies.values, origin });
            }
            let mut otherwise = Vec::new();
            let below = chain.take();
            let has_else = carries || below.is_some();
            let values = match &below {
                Some(below) => below.results.iter().copied().map(Operand::Var).collect(),
                None => main_values.clone(),
            };
            otherwise.extend(below.map(Stmt::If));
            if carries {
                otherwise.push(Stmt::Yield { values, origin });
            }
            let results = match count {
                1 => inner.carries.iter().map(|carry| carry.result).collect(),
                _ => self.fresh_results(&inner, &format!("_rem{count}")),
            };
            let condition = walk::fold_binary(ScalarBinary::Eq, Scalar::Var(rest), int(count));
            chain = Some(If { condition, then, otherwise, has_else, results, origin });
        }
        out.extend(chain.map(Stmt::If));
    }

    fn main_loop(&mut self, inner: &For, stages: i64, step: i64, stop: Scalar, results: Vec<VarId>) -> For {
        let index = self.fresh(inner.index);
        if let Some(drain) = self.drains.get(&inner.index).copied() {
            self.drains.insert(index, drain);
        }
        let iters: Vec<VarId> = inner.carries.iter().map(|carry| self.fresh(carry.iter)).collect();
        let values = iters.iter().copied().map(Operand::Var).collect();
        let copies = self.copies(inner, stages, step, &Scalar::Var(index), values);
        let mut body = copies.body;
        if !inner.carries.is_empty() {
            body.push(Stmt::Yield { values: copies.values, origin: inner.origin });
        }
        let carries = inner.carries.iter().zip(iters).zip(results);
        let carries = carries
            .map(|((carry, iter), result)| Carry { init: carry.init.clone(), iter, result, explicit: carry.explicit })
            .collect();
        For {
            kind: LoopKind::Pipeline { stages: 1 },
            index,
            start: inner.start.clone(),
            stop,
            step: Scalar::Int(stages.saturating_mul(step)),
            carries,
            body,
            origin: inner.origin,
        }
    }

    /// `count` copies of the body, each taking what the one before hands on: one group of stages.
    fn copies(&mut self, inner: &For, count: i64, step: i64, base: &Scalar, mut values: Vec<Operand>) -> Copies {
        let group = self.next_group;
        self.next_group += 1;
        let two_accumulators = self.drains.get(&inner.index) == Some(&Drain::InPairs);
        let mut body = Vec::with_capacity(inner.body.len());
        for stage in 0..count {
            let index = walk::fold_binary(ScalarBinary::Add, base.clone(), Scalar::Int(stage.saturating_mul(step)));
            let mut substitution = Substitution::default();
            substitution.set(inner.index, Operand::Scalar(index));
            for (carry, value) in inner.carries.iter().zip(&values) {
                substitution.set(carry.iter, value.clone());
            }
            let mut copy = walk::copy(self.kernel, &inner.body, &mut substitution);
            let copied: Vec<(VarId, Drain)> =
                self.drains.iter().filter_map(|(index, drain)| Some((substitution.var_of(*index)?, *drain))).collect();
            self.drains.extend(copied);
            if let Some(Stmt::Yield { values: yielded, .. }) = copy.last() {
                values = yielded.clone();
                copy.pop();
            }
            let stage = PipelineStage { group, stage: stage as u32 };
            tag(self.kernel, &mut copy, stage, two_accumulators);
            body.extend(copy);
        }
        Copies { body, values }
    }

    fn fresh(&mut self, var: VarId) -> VarId {
        let var = self.kernel.var(var).clone();
        self.kernel.add_var(var)
    }

    fn fresh_results(&mut self, inner: &For, suffix: &str) -> Vec<VarId> {
        let mut results = Vec::with_capacity(inner.carries.len());
        for carry in &inner.carries {
            let result = self.kernel.var(carry.result);
            let name = format!("{}{suffix}", result.name);
            let var = Var { name, inserted: true, ..result.clone() };
            results.push(self.kernel.add_var(var));
        }
        results
    }

    fn scalar(&mut self, name: &str, origin: Origin) -> VarId {
        let ty = Type::Scalar(Dtype::Index);
        self.kernel.add_var(Var { name: name.into(), ty, role: Role::Def, inserted: true, origin })
    }
}

pub(super) fn as_value(operand: Operand) -> Value {
    match operand {
        Operand::Var(var) => Value::Copy(var),
        Operand::Scalar(scalar) => Value::Scalar(scalar),
        Operand::List(_) => Value::Scalar(Scalar::Unknown(Reason("a list as a carried value".into()))),
        Operand::Unknown(reason) => Value::Scalar(Scalar::Unknown(reason)),
    }
}

/// Writes the stage into every call that makes a tile. The one cube unit finishes an accumulator before it starts the next,
/// so that accumulators of several stages can share memory, unless one is to be drained while the next one is made.
pub(super) fn tag(kernel: &Kernel, body: &mut [Stmt], stage: PipelineStage, two_accumulators: bool) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } => {
                let Some(tile) = kernel.tile(*var) else { continue };
                if is_product(call) && tile.space == Some(Space::Acc) && !two_accumulators {
                    continue;
                }
                append_stage(call, stage);
            }
            Stmt::For(inner) => tag(kernel, &mut inner.body, stage, two_accumulators),
            Stmt::While(inner) => tag(kernel, &mut inner.body, stage, two_accumulators),
            Stmt::If(inner) => {
                tag(kernel, &mut inner.then, stage, two_accumulators);
                tag(kernel, &mut inner.otherwise, stage, two_accumulators);
            }
            _ => {}
        }
    }
}

fn append_stage(call: &mut Call, stage: PipelineStage) {
    for (name, attr) in &mut call.attrs {
        if let (&mut PIPELINE_STAGES, Attr::Stages(stages)) = (name, attr) {
            return stages.push(stage);
        }
    }
    call.attrs.push((PIPELINE_STAGES, Attr::Stages(vec![stage])));
}
