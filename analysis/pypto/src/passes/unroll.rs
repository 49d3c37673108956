//! UnrollLoops: `pl.unroll` becomes one copy of its body for each iteration.

use tilefit_python::finding::{Note, Reason};

use super::iterations::note_copy;
use crate::ir::rewrite::{self, Substitution};
use crate::ir::{BodyCopy, For, Kernel, LoopKind, Operand, Part, Scalar, Stmt, fold};

/// Above this the compiler refuses the loop.
const MAX_ITERATIONS: i64 = 1024;

pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut unroll = Unroll { kernel, results: Substitution::default() };
    let body = unroll.body(body);
    kernel.body = body;
}

struct Unroll<'a> {
    kernel: &'a mut Kernel,
    /// What replaces the results of loops that are gone.
    results: Substitution,
}

impl Unroll<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        rewrite::expand(body, |stmt, out| self.stmt(stmt, out))
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        self.results.apply_to_reads(&mut stmt);
        match stmt {
            Stmt::For(inner) if inner.kind == LoopKind::Unroll => self.for_loop(inner, out),
            other => out.push(other.map_blocks(|block| self.body(block))),
        }
    }

    fn for_loop(&mut self, inner: For, out: &mut Vec<Stmt>) {
        let trips = inner.trip_count();
        let (Some(start), Some(step), Some(trips)) = (fold::constant(&inner.start), fold::constant(&inner.step), trips)
        else {
            return self.keep(inner, "bounds of `pl.unroll` that are not constant", out);
        };
        if trips > MAX_ITERATIONS {
            return self.keep(inner, "`pl.unroll` over this many iterations", out);
        }
        if let Err(reason) = rewrite::may_copy(&inner.body, trips) {
            return self.keep(inner, reason, out);
        }
        let mut values: Vec<Operand> = inner.carries.iter().map(|carry| carry.init.clone()).collect();
        for iteration in 0..trips {
            let index = start.saturating_add(iteration.saturating_mul(step));
            let mut substitution = Substitution::default();
            substitution.set(inner.index, Operand::Scalar(Scalar::Int(index)));
            for (carry, value) in inner.carries.iter().zip(&values) {
                substitution.set(carry.iter, value.clone());
            }
            let first = self.kernel.vars.len();
            let copy = rewrite::copy(self.kernel, &inner.body, &mut substitution);
            let of_body =
                BodyCopy { of: inner.origin, part: Part::Unrolled, nth: iteration as u32, count: trips as u32 };
            note_copy(self.kernel, first, &substitution, of_body);
            let mut copy = self.body(copy);
            if let Some(Stmt::Yield { values: yielded, .. }) = copy.last() {
                values = yielded.clone();
                copy.pop();
            }
            out.extend(copy);
        }
        for (carry, value) in inner.carries.iter().zip(values) {
            self.results.set(carry.result, value);
        }
    }

    fn keep(&mut self, inner: For, what: impl Into<Reason>, out: &mut Vec<Stmt>) {
        self.kernel.notes.push(Note { at: inner.origin, reason: what.into() });
        out.push(Stmt::For(For { body: self.body(inner.body), kind: LoopKind::Range, ..inner }));
    }
}
