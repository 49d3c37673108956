//! Simplify: loops that run once or never, branches that are always or never taken, and results of branches that nobody
//! reads go away. Tiles that nobody reads stay.

use rustc_hash::FxHashMap;

use super::walk::{self, Substitution};
use crate::ir::{
    Dtype, For, If, Kernel, LoopKind, Operand, Role, Scalar, ScalarBinary, ScalarUnary, Stmt, Type, Value, VarId, While,
};

pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut fold = Fold { kernel, results: Substitution::default(), ranges: FxHashMap::default(), renamed: Vec::new() };
    let mut body = fold.body(body);
    for result in fold.renamed {
        kernel.var_mut(result).role = Role::Def;
    }
    drop_unread_results(&mut body);
    kernel.body = body;
}

struct Fold<'a> {
    kernel: &'a Kernel,
    /// What the results of statements that are gone stand for.
    results: Substitution,
    /// Least and greatest value of scalars, where known.
    ranges: FxHashMap<VarId, Range>,
    /// Results of loops that never run: plain names for what went in.
    renamed: Vec<VarId>,
}

/// Least and greatest value; the extremes of `i64` mean that there is no bound.
type Range = (i64, i64);

const UNBOUNDED: Range = (i64::MIN, i64::MAX);

impl Fold<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            self.stmt(stmt, &mut out);
        }
        out
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::For(mut inner) => {
                self.results.apply_to_header(&mut inner);
                self.for_loop(inner, out);
            }
            Stmt::While(mut inner) => {
                inner.condition = self.results.scalar(&inner.condition);
                inner.carries.iter_mut().for_each(|carry| carry.init = self.results.operand(&carry.init));
                out.push(Stmt::While(While { body: self.body(inner.body), ..inner }));
            }
            Stmt::If(mut inner) => {
                inner.condition = self.results.scalar(&inner.condition);
                self.if_else(inner, out);
            }
            mut leaf => {
                self.results.apply(std::slice::from_mut(&mut leaf));
                if let Stmt::Let { var, value: Value::Scalar(scalar), .. } = &leaf
                    && let Some(range) = self.range(scalar)
                {
                    self.ranges.insert(*var, range);
                }
                out.push(leaf);
            }
        }
    }

    fn for_loop(&mut self, inner: For, out: &mut Vec<Stmt>) {
        let trips = walk::trip_count(&inner.start, &inner.stop, &inner.step);
        let forward = walk::constant(&inner.step).is_some_and(|step| step >= 1);
        match trips {
            Some(0) if forward && inner.kind == LoopKind::Range => {
                for carry in &inner.carries {
                    let value = match &carry.init {
                        Operand::Var(var) => Value::Copy(*var),
                        Operand::Scalar(scalar) => Value::Scalar(scalar.clone()),
                        Operand::List(_) | Operand::Unknown(_) => continue,
                    };
                    self.renamed.push(carry.result);
                    out.push(Stmt::Let { var: carry.result, value, origin: inner.origin });
                }
            }
            Some(1) if forward && inner.kind == LoopKind::Range => {
                self.results.set(inner.index, Operand::Scalar(inner.start.clone()));
                for carry in &inner.carries {
                    self.results.set(carry.iter, carry.init.clone());
                }
                let body = self.body(inner.body);
                let results: Vec<VarId> = inner.carries.iter().map(|carry| carry.result).collect();
                self.lift(body, &results, out);
            }
            _ => {
                if let Some(range) = index_range(&inner) {
                    self.ranges.insert(inner.index, range);
                }
                out.push(Stmt::For(For { body: self.body(inner.body), ..inner }));
            }
        }
    }

    fn if_else(&mut self, inner: If, out: &mut Vec<Stmt>) {
        match self.truth(&inner.condition) {
            Some(true) => {
                let body = self.body(inner.then);
                self.lift(body, &inner.results, out);
            }
            Some(false) => {
                let body = self.body(inner.otherwise);
                self.lift(body, &inner.results, out);
            }
            None => {
                let then = self.branch(inner.then, &inner.condition, true);
                let otherwise = self.branch(inner.otherwise, &inner.condition, false);
                out.push(Stmt::If(If { then, otherwise, ..inner }));
            }
        }
    }

    /// A branch, in which `condition` is known to be `holds`.
    fn branch(&mut self, body: Vec<Stmt>, condition: &Scalar, holds: bool) -> Vec<Stmt> {
        let before = self.ranges.clone();
        self.assume(condition, holds);
        let body = self.body(body);
        self.ranges = before;
        body
    }

    fn assume(&mut self, condition: &Scalar, holds: bool) {
        use ScalarBinary::*;
        match condition {
            Scalar::Unary(ScalarUnary::Not, inner) => self.assume(inner, !holds),
            Scalar::Binary(And, left, right) if holds => {
                self.assume(left, true);
                self.assume(right, true);
            }
            Scalar::Binary(Or, left, right) if !holds => {
                self.assume(left, false);
                self.assume(right, false);
            }
            Scalar::Binary(op, left, right) => {
                let op = if holds { Some(*op) } else { negation(*op) };
                let Some(op) = op else { return };
                self.narrow(left, op, right);
                if let Some(mirrored) = mirrored(op) {
                    self.narrow(right, mirrored, left);
                }
            }
            _ => {}
        }
    }

    /// Learns from `scalar op bound`.
    fn narrow(&mut self, scalar: &Scalar, op: ScalarBinary, bound: &Scalar) {
        let (Scalar::Var(var), Some((low, high))) = (without_casts(scalar), self.range(bound)) else { return };
        let (least, greatest) = self.range(&Scalar::Var(*var)).unwrap_or(UNBOUNDED);
        let narrowed = match op {
            ScalarBinary::Lt => (least, greatest.min(high.saturating_sub(1))),
            ScalarBinary::Le => (least, greatest.min(high)),
            ScalarBinary::Gt => (least.max(low.saturating_add(1)), greatest),
            ScalarBinary::Ge => (least.max(low), greatest),
            ScalarBinary::Eq => (least.max(low), greatest.min(high)),
            _ => return,
        };
        if narrowed.0 <= narrowed.1 {
            self.ranges.insert(*var, narrowed);
        }
    }

    /// Puts a body in the place of the statement that held it.
    fn lift(&mut self, mut body: Vec<Stmt>, results: &[VarId], out: &mut Vec<Stmt>) {
        if let Some(Stmt::Yield { values, .. }) = body.last() {
            for (result, value) in results.iter().zip(values) {
                self.results.set(*result, value.clone());
            }
            body.pop();
        }
        out.extend(body);
    }

    /// An index counts from zero.
    fn natural_range(&self, var: VarId) -> Option<Range> {
        match self.kernel.var(var).ty {
            Type::Scalar(Dtype::Index) => Some((0, i64::MAX)),
            Type::Scalar(dtype) if !dtype.is_float() => Some(UNBOUNDED),
            _ => None,
        }
    }

    fn truth(&self, condition: &Scalar) -> Option<bool> {
        use ScalarBinary::*;
        match condition {
            Scalar::Bool(value) => Some(*value),
            Scalar::Unary(ScalarUnary::Not, inner) => self.truth(inner).map(|value| !value),
            Scalar::Binary(And, left, right) => match (self.truth(left), self.truth(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Scalar::Binary(Or, left, right) => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Scalar::Binary(op, left, right) => compare(*op, self.range(left)?, self.range(right)?),
            _ => None,
        }
    }

    fn range(&self, scalar: &Scalar) -> Option<Range> {
        use ScalarBinary::*;
        match scalar {
            Scalar::Int(value) => Some((*value, *value)),
            Scalar::Cast(dtype, inner) if !dtype.is_float() => self.range(inner),
            Scalar::Var(var) => self.ranges.get(var).copied().or_else(|| self.natural_range(*var)),
            Scalar::Binary(op @ (Add | Sub | Mul), left, right) => {
                let (a, b) = (self.range(left)?, self.range(right)?);
                Some(match op {
                    Add => (add(a.0, b.0), add(a.1, b.1)),
                    Sub => (sub(a.0, b.1), sub(a.1, b.0)),
                    _ => {
                        let products = [
                            a.0.checked_mul(b.0)?,
                            a.0.checked_mul(b.1)?,
                            a.1.checked_mul(b.0)?,
                            a.1.checked_mul(b.1)?,
                        ];
                        (products.into_iter().min()?, products.into_iter().max()?)
                    }
                })
            }
            _ => None,
        }
    }
}

/// No bound stays no bound.
fn add(a: i64, b: i64) -> i64 {
    if is_no_bound(a) {
        a
    } else if is_no_bound(b) {
        b
    } else {
        a.saturating_add(b)
    }
}

fn sub(a: i64, b: i64) -> i64 {
    match (is_no_bound(a), b) {
        (true, _) => a,
        (_, i64::MIN) => i64::MAX,
        (_, i64::MAX) => i64::MIN,
        _ => a.saturating_sub(b),
    }
}

fn is_no_bound(value: i64) -> bool {
    matches!(value, i64::MIN | i64::MAX)
}

/// Casts between integers keep the value.
fn without_casts(mut scalar: &Scalar) -> &Scalar {
    while let Scalar::Cast(dtype, inner) = scalar {
        if dtype.is_float() {
            break;
        }
        scalar = inner;
    }
    scalar
}

/// What holds when `a op b` does not.
fn negation(op: ScalarBinary) -> Option<ScalarBinary> {
    use ScalarBinary::*;
    Some(match op {
        Lt => Ge,
        Le => Gt,
        Gt => Le,
        Ge => Lt,
        Ne => Eq,
        _ => return None,
    })
}

/// The operation of `b op a` that says the same as `a op b`.
fn mirrored(op: ScalarBinary) -> Option<ScalarBinary> {
    use ScalarBinary::*;
    Some(match op {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        Eq => Eq,
        _ => return None,
    })
}

/// The values that the index of a loop with constant bounds takes.
fn index_range(inner: &For) -> Option<Range> {
    let (start, stop) = (walk::constant(&inner.start)?, walk::constant(&inner.stop)?);
    (stop > start && walk::constant(&inner.step)? > 0).then(|| (start, stop - 1))
}

fn compare(op: ScalarBinary, (a, b): Range, (c, d): Range) -> Option<bool> {
    let decide = |always: bool, never: bool| match (always, never) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    match op {
        ScalarBinary::Lt => decide(b < c, a >= d),
        ScalarBinary::Le => decide(b <= c, a > d),
        ScalarBinary::Gt => decide(a > d, b <= c),
        ScalarBinary::Ge => decide(a >= d, b < c),
        ScalarBinary::Eq => decide(a == b && c == d && a == c, b < c || d < a),
        ScalarBinary::Ne => decide(b < c || d < a, a == b && c == d && a == c),
        _ => None,
    }
}

/// Drops results of branches that nobody reads, and with them what the branches yield for them.
fn drop_unread_results(body: &mut [Stmt]) {
    let mut reads: FxHashMap<VarId, usize> = FxHashMap::default();
    body.iter().for_each(|stmt| walk::visit_uses(stmt, &mut |var| *reads.entry(var).or_default() += 1));
    drop_unread(body, &mut reads);
}

/// From the end to the start: a result may lose its only reader on the way.
fn drop_unread(body: &mut [Stmt], reads: &mut FxHashMap<VarId, usize>) {
    for stmt in body.iter_mut().rev() {
        match stmt {
            Stmt::For(inner) => drop_unread(&mut inner.body, reads),
            Stmt::While(inner) => drop_unread(&mut inner.body, reads),
            Stmt::If(inner) => {
                let read: Vec<bool> =
                    inner.results.iter().map(|result| reads.get(result).is_some_and(|count| *count > 0)).collect();
                if read.contains(&false) {
                    keep_slots(&mut inner.results, &read);
                    for branch in [&mut inner.then, &mut inner.otherwise] {
                        drop_yielded(branch, &read, reads);
                    }
                }
                drop_unread(&mut inner.otherwise, reads);
                drop_unread(&mut inner.then, reads);
            }
            _ => {}
        }
    }
}

fn drop_yielded(branch: &mut Vec<Stmt>, read: &[bool], reads: &mut FxHashMap<VarId, usize>) {
    let Some(Stmt::Yield { values, .. }) = branch.last_mut() else { return };
    for (value, _) in values.iter().zip(read).filter(|(_, read)| !**read) {
        if let Some(count) = value.var().and_then(|var| reads.get_mut(&var)) {
            *count = count.saturating_sub(1);
        }
    }
    keep_slots(values, read);
    if values.is_empty() {
        branch.pop();
    }
}

fn keep_slots<T>(slots: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter().copied().chain(std::iter::repeat(true));
    slots.retain(|_| keep.next().unwrap_or(true));
}
