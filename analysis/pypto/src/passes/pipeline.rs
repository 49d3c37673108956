//! LowerPipelineLoops: the body of `pl.pipeline(stage=F)` is copied F times, so that the stages can overlap; the iterations
//! that are left over follow the loop. Each copy's tiles say which stage they belong to.

use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::io_order::{Drain, Drains};
use super::iterations::{Stage, Staging, Tagged, as_value};
use crate::ir::{
    Carry, For, If, Kernel, LoopKind, Operand, Part, Role, Scalar, ScalarBinary, Stmt, Type, Value, Var, VarId, Why,
    fold, rewrite,
};

/// The indices of copied loops join `drains`.
pub(super) fn run(kernel: &mut Kernel, drains: &mut Drains) {
    let body = std::mem::take(&mut kernel.body);
    let mut lower = Lower { staging: Staging::new(kernel, 0, drains) };
    let body = rewrite::expand_loops(body, &mut |inner, out| lower.for_loop(inner, out));
    kernel.body = body;
}

struct Lower<'a> {
    staging: Staging<'a>,
}

/// Copies of a loop body and what the last one hands on.
struct Copies {
    body: Vec<Stmt>,
    values: Vec<Operand>,
}

impl Lower<'_> {
    fn for_loop(&mut self, inner: For, out: &mut Vec<Stmt>) {
        let LoopKind::Pipeline { stages, .. } = inner.kind else {
            return out.push(Stmt::For(inner));
        };
        let stages = i64::from(stages);
        if stages <= 1 {
            return out.push(Stmt::For(inner));
        }
        let Some(step) = fold::constant(&inner.step).filter(|step| *step != 0) else {
            return self.keep(inner, "a pipeline with a step that is not constant", out);
        };
        if let Err(reason) = rewrite::may_copy(&inner.body, stages) {
            return self.keep(inner, reason, out);
        }
        match (fold::constant(&inner.start), inner.trip_count()) {
            (Some(start), Some(trips)) => self.with_known_trips(inner, stages, start, step, trips, out),
            _ if step > 0 => self.with_unknown_trips(inner, stages, step, out),
            _ => self.keep(inner, "a pipeline that counts down from a bound that is not constant", out),
        }
    }

    fn keep(&mut self, inner: For, what: impl Into<Reason>, out: &mut Vec<Stmt>) {
        self.staging.kernel.notes.push(Note { at: inner.origin, reason: what.into() });
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
            let part = if main > 0 { Part::Rest } else { Part::Stage };
            let copies = self.copies(&inner, (part, rest), step, &Scalar::Int(rest_start), values);
            out.extend(copies.body);
            for (carry, value) in inner.carries.iter().zip(copies.values) {
                self.staging.kernel.var_mut(carry.result).role = Role::Def;
                out.push(Stmt::Let { var: carry.result, value: as_value(value), origin: inner.origin });
            }
        }
    }

    /// The main loop, and a chain of branches on how many iterations are left.
    fn with_unknown_trips(&mut self, inner: For, stages: i64, step: i64, out: &mut Vec<Stmt>) {
        let origin = inner.origin;
        let int = |value: i64| Scalar::Int(value);
        let distance = fold::binary(ScalarBinary::Sub, inner.stop.clone(), inner.start.clone());
        let trips = if step == 1 {
            distance
        } else {
            let rounded = fold::binary(ScalarBinary::Add, distance, int(step - 1));
            fold::binary(ScalarBinary::FloorDiv, rounded, int(step))
        };
        let main_trips = fold::binary(ScalarBinary::FloorDiv, trips.clone(), int(stages));
        let covered = fold::binary(ScalarBinary::Mul, main_trips.clone(), int(stages.saturating_mul(step)));
        let main_end = self.scalar("unroll_main_end", origin);
        let end = fold::binary(ScalarBinary::Add, inner.start.clone(), covered);
        out.push(Stmt::Let { var: main_end, value: Value::Scalar(end), origin });

        let main_results = self.fresh_results(&inner, "_main");
        let main_values: Vec<Operand> = main_results.iter().copied().map(Operand::Var).collect();
        out.push(Stmt::For(self.main_loop(&inner, stages, step, Scalar::Var(main_end), main_results)));

        let rest = self.scalar("unroll_rem", origin);
        let left = if step == 1 {
            fold::binary(ScalarBinary::Sub, inner.stop.clone(), Scalar::Var(main_end))
        } else {
            let done = fold::binary(ScalarBinary::Mul, main_trips, int(stages));
            fold::binary(ScalarBinary::Sub, trips, done)
        };
        out.push(Stmt::Let { var: rest, value: Value::Scalar(left), origin });

        let carries = !inner.carries.is_empty();
        let mut chain: Option<If> = None;
        for count in (1..stages).rev() {
            let copies = self.copies(&inner, (Part::Rest, count), step, &Scalar::Var(main_end), main_values.clone());
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
            let condition = fold::binary(ScalarBinary::Eq, Scalar::Var(rest), int(count));
            chain = Some(If { condition, then, otherwise, has_else, results, origin });
        }
        out.extend(chain.map(Stmt::If));
    }

    fn main_loop(&mut self, inner: &For, stages: i64, step: i64, stop: Scalar, results: Vec<VarId>) -> For {
        let index = self.staging.fresh(inner.index);
        if let Some(drain) = self.staging.drains.get(&inner.index).copied() {
            self.staging.drains.insert(index, drain);
        }
        let iters: Vec<VarId> = inner.carries.iter().map(|carry| self.staging.fresh(carry.iter)).collect();
        let values = iters.iter().copied().map(Operand::Var).collect();
        let copies = self.copies(inner, (Part::Stage, stages), step, &Scalar::Var(index), values);
        let mut body = copies.body;
        if !inner.carries.is_empty() {
            body.push(Stmt::Yield { values: copies.values, origin: inner.origin });
        }
        let carries = inner.carries.iter().zip(iters).zip(results);
        let carries = carries
            .map(|((carry, iter), result)| Carry { init: carry.init.clone(), iter, result, explicit: carry.explicit })
            .collect();
        For {
            kind: LoopKind::Pipeline { stages: 1, asked: None },
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
    fn copies(
        &mut self,
        inner: &For,
        (part, count): (Part, i64),
        step: i64,
        base: &Scalar,
        mut values: Vec<Operand>,
    ) -> Copies {
        let group = self.staging.group(inner.kind.asked_stages());
        let tagged = match self.staging.drains.get(&inner.index) {
            Some(Drain::InPairs) => Tagged::All,
            _ => Tagged::AllButAccumulators,
        };
        let mut body = Vec::with_capacity(inner.body.len());
        for nth in 0..count {
            let index = fold::binary(ScalarBinary::Add, base.clone(), Scalar::Int(nth.saturating_mul(step)));
            let stage = Stage { group, nth, count, part };
            let copy = self.staging.stage(inner, &inner.body, index, &values, stage, tagged);
            body.extend(copy.body);
            values = copy.values;
        }
        Copies { body, values }
    }

    fn fresh_results(&mut self, inner: &For, suffix: &str) -> Vec<VarId> {
        inner.carries.iter().map(|carry| self.staging.named(carry.result, suffix)).collect()
    }

    fn scalar(&mut self, name: &str, origin: Origin) -> VarId {
        let ty = Type::Scalar(Dtype::Index);
        self.staging.kernel.add_var(Var {
            name: name.into(),
            ty,
            role: Role::Def,
            inserted: Some(Why::Intermediate),
            origin,
        })
    }
}
