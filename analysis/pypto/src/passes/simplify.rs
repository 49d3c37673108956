//! Simplify: loops that run once or never, branches that are always or never taken, and results of branches that nothing
//! reads go away. Tiles that nothing reads stay.

mod facts;
mod form;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    For, If, Kernel, LoopKind, Operand, Rejection, Role, Scalar, ScalarBinary, Stmt, Type, Value, Var, VarId, While,
    fold, visit,
};
use facts::Facts;

pub(super) fn run(kernel: &mut Kernel) {
    note_repeated_casts(kernel);
    let body = std::mem::take(&mut kernel.body);
    let (body, flag) = folded(body, &mut kernel.vars, &[], &FxHashMap::default(), &mut Substitution::default());
    kernel.body = body;
    drop_unread_of_kernel(kernel);
    kernel.rejections.extend(flag.map(|(var, at)| refused_flag(kernel.var(var), at)));
}

/// The compiler knows expressions by where they lie in memory. The cast of a condition inside of another one with the same cast may
/// lie where that lay, and then it takes both for one.
fn note_repeated_casts(kernel: &mut Kernel) {
    let mut found = Vec::new();
    repeated_casts(&kernel.body, &Facts::new(&kernel.vars), &mut Vec::new(), &mut found);
    for ([one, other], at) in found {
        let [one, other] = [one, other].map(|var| &kernel.var(var).name);
        let what = format!(
            "a condition on `{one}` and `{other}`, which have different types, inside another condition on them"
        );
        kernel.notes.push(Note { at, reason: Reason::new(what) });
    }
}

fn repeated_casts(body: &[Stmt], facts: &Facts, around: &mut Vec<[VarId; 2]>, found: &mut Vec<([VarId; 2], Origin)>) {
    for stmt in body {
        match stmt {
            Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => repeated_casts(body, facts, around, found),
            Stmt::If(inner) => {
                let outside = around.len();
                let mut compared = Vec::new();
                facts.compared_through_casts(&inner.condition, &mut |pair| compared.push(pair));
                found.extend(compared.iter().filter(|pair| around.contains(pair)).map(|pair| (*pair, inner.origin)));
                around.extend(compared);
                repeated_casts(&inner.then, facts, around, found);
                repeated_casts(&inner.otherwise, facts, around, found);
                around.truncate(outside);
            }
            _ => {}
        }
    }
}

/// The first truth value that host code begins with.
pub(crate) fn flag_of_host(body: &[Stmt], vars: &[Var]) -> Option<Rejection> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Let { var, value: Value::Scalar(Scalar::Bool(_)), origin } => {
            let var = &vars[var.0 as usize];
            (var.ty == Type::Scalar(Dtype::Bool)).then(|| refused_flag(var, *origin))
        }
        _ => None,
    })
}

/// What stands around a scope of host code.
#[derive(Debug, Clone)]
pub(crate) enum Around {
    /// A branch, in which the condition holds or does not, and its statement.
    Branch(Scalar, bool, Origin),
    Loop {
        index: VarId,
        start: Scalar,
        stop: Scalar,
    },
}

/// Scopes of host code: the compiler simplifies them where they stand, before it makes kernels of them. So what only a branch that is
/// never taken reads is no parameter, and what only it writes does not leave the scope. Answers what results stand for that are gone.
pub(crate) fn scopes(
    host: &mut [Stmt],
    scopes: &mut [Vec<Stmt>],
    around: &[Vec<Around>],
    vars: &mut [Var],
) -> Substitution {
    let mut results = Substitution::default();
    let mut definitions: FxHashMap<VarId, Scalar> = FxHashMap::default();
    visit::statements(host, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Scalar(value), .. } = stmt {
            definitions.insert(*var, value.clone());
        }
    });
    for (scope, around) in scopes.iter_mut().zip(around) {
        // A flag outside of the scope's own loops is refused once the scope is a kernel.
        (*scope, _) = folded(std::mem::take(scope), vars, around, &definitions, &mut results);
    }
    if !results.is_empty() {
        results.apply(host);
        scopes.iter_mut().for_each(|scope| results.apply(scope));
    }
    results
}

/// The statements, and the first truth value that is constant outside of all loops and branches. `definitions` are of scalars that
/// stand outside of the body.
fn folded(
    body: Vec<Stmt>,
    vars: &mut [Var],
    around: &[Around],
    definitions: &FxHashMap<VarId, Scalar>,
    results: &mut Substitution,
) -> (Vec<Stmt>, Option<(VarId, Origin)>) {
    let (facts, renamed) = (Facts::new(vars), Vec::new());
    let mut fold = Fold { facts, results: std::mem::take(results), renamed, depth: 0, flag: None };
    for one in around {
        if let Around::Loop { index, start, stop } = one {
            fold.facts.index(*index, start, stop);
        }
    }
    if !definitions.is_empty() {
        fold.facts.define_all(asked(&body, around), definitions);
    }
    for one in around {
        if let Around::Branch(condition, holds, _) = one {
            fold.facts.assume(condition, *holds);
        }
    }
    let body = fold.body(body);
    let Fold { results: found, renamed, flag, .. } = fold;
    *results = found;
    for result in renamed {
        vars[result.0 as usize].role = Role::Def;
    }
    (body, flag)
}

/// The variables that decide what a body does.
fn asked(body: &[Stmt], around: &[Around]) -> Vec<VarId> {
    let mut asked: Vec<VarId> = Vec::new();
    for one in around {
        if let Around::Branch(condition, ..) = one {
            visit::scalar_uses(condition, &mut |var| asked.push(var));
        }
    }
    visit::statements(body, &mut |stmt| match stmt {
        Stmt::If(inner) => visit::scalar_uses(&inner.condition, &mut |var| asked.push(var)),
        Stmt::For(For { start, stop, step, .. }) => {
            [start, stop, step].into_iter().for_each(|bound| visit::scalar_uses(bound, &mut |var| asked.push(var)));
        }
        Stmt::Let { value: Value::Scalar(value), .. } => visit::scalar_uses(value, &mut |var| asked.push(var)),
        _ => {}
    });
    asked
}

struct Fold<'a> {
    facts: Facts<'a>,
    /// What replaces the results of statements that are gone.
    results: Substitution,
    /// Results of loops that never run: plain names for what went in.
    renamed: Vec<VarId>,
    /// Loops and branches around the statement.
    depth: u32,
    flag: Option<(VarId, Origin)>,
}

/// A truth value that is known where a kernel begins: the compiler would state that it equals that value, and compares no truth values.
fn refused_flag(var: &Var, at: Origin) -> Rejection {
    const REFUSED: &str = "Operator 'eq' does not accept bool dtype";
    let message = match var.inserted.is_some() {
        true => format!(
            "{REFUSED}: for a loop with `break` that is not in another loop or branch, the compiler adds a flag that is known to be \
             false at first; give the loop a bound instead, or skip the rest with an `if`"
        ),
        false => format!("{REFUSED}: `{}` is constant where it is assigned; use a number as the flag", var.name),
    };
    Rejection::new(at, Code::Rejected, message)
}

impl Fold<'_> {
    fn inner(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        self.depth += 1;
        let body = self.body(body);
        self.depth -= 1;
        body
    }

    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        rewrite::expand(body, |stmt, out| self.stmt(stmt, out))
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        self.results.apply_to_reads(&mut stmt);
        match stmt {
            Stmt::For(inner) => self.for_loop(inner, out),
            Stmt::While(inner) => out.push(Stmt::While(While { body: self.inner(inner.body), ..inner })),
            Stmt::If(inner) => self.if_else(inner, out),
            leaf => {
                if let Stmt::Let { var, value: Value::Scalar(scalar), origin } = &leaf {
                    if self.depth == 0 && self.facts.is_constant_flag(*var, scalar) {
                        self.flag.get_or_insert((*var, *origin));
                    }
                    self.facts.define(*var, scalar);
                }
                out.push(leaf);
            }
        }
    }

    fn for_loop(&mut self, inner: For, out: &mut Vec<Stmt>) {
        match self.few_trips(&inner) {
            Some(Trips::Never) => {
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
            Some(Trips::Once) => {
                self.results.set(inner.index, Operand::Scalar(inner.start.clone()));
                for carry in &inner.carries {
                    self.results.set(carry.iter, carry.init.clone());
                }
                let body = self.body(inner.body);
                let results: Vec<VarId> = inner.carries.iter().map(|carry| carry.result).collect();
                self.lift(body, &results, out);
            }
            None => {
                let outside = self.facts.mark();
                self.facts.index(inner.index, &inner.start, &inner.stop);
                out.push(Stmt::For(For { body: self.inner(inner.body), ..inner }));
                self.facts.back_to(outside);
            }
        }
    }

    /// Whether a loop is known to run once or not at all.
    fn few_trips(&self, inner: &For) -> Option<Trips> {
        let For { kind, start, stop, step, .. } = inner;
        let goes_forward = self.facts.proves(step, ScalarBinary::Ge, &Scalar::Int(1));
        if *kind != LoopKind::Range || !goes_forward {
            return None;
        }
        if self.facts.proves(stop, ScalarBinary::Le, start) {
            return Some(Trips::Never);
        }
        let second = fold::binary(ScalarBinary::Add, start.clone(), step.clone());
        let is_once =
            self.facts.proves(start, ScalarBinary::Lt, stop) && self.facts.proves(stop, ScalarBinary::Le, &second);
        is_once.then_some(Trips::Once)
    }

    fn if_else(&mut self, inner: If, out: &mut Vec<Stmt>) {
        let truth = self.facts.truth(&inner.condition);
        let If { condition, then, otherwise, .. } = inner;
        match truth {
            Some(holds) => {
                let taken = self.branch(if holds { then } else { otherwise }, &condition, holds);
                self.lift(taken, &inner.results, out);
            }
            None => {
                let then = self.branch(then, &condition, true);
                let otherwise = self.branch(otherwise, &condition, false);
                out.push(Stmt::If(If { condition, then, otherwise, ..inner }));
            }
        }
    }

    /// A branch, in which `condition` is known to be `holds`.
    fn branch(&mut self, body: Vec<Stmt>, condition: &Scalar, holds: bool) -> Vec<Stmt> {
        let outside = self.facts.mark();
        self.facts.assume(condition, holds);
        let body = self.inner(body);
        self.facts.back_to(outside);
        body
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
}

enum Trips {
    Never,
    Once,
}

/// Drops scalars that nothing reads, and results of branches, and with them what the branches yield for them.
fn drop_unread_of_kernel(kernel: &mut Kernel) {
    let mut reads = reads_of(&kernel.body);
    kernel.body.iter().for_each(|stmt| {
        visit::definitions(stmt, &mut |var| {
            type_uses(&kernel.vars[var.0 as usize].ty, &mut |read| *reads.entry(read).or_default() += 1);
        });
    });
    drop_unread_scalars(&mut kernel.body, &mut reads);
    drop_unread(&mut kernel.body, &mut reads);
    drop_unread_scalars(&mut kernel.body, &mut reads);
}

/// Visits the variables that a type mentions.
fn type_uses(ty: &Type, see: &mut impl FnMut(VarId)) {
    let Type::Tile(tile) = ty else { return };
    tile.view.valid_shape.iter().flatten().for_each(|extent| visit::scalar_uses(extent, see));
    tile.binding.iter().for_each(|binding| visit::scalar_uses(&binding.slot, see));
}

/// From the end to the start, since a scalar may be read for another one that nothing reads. What calls something stays.
fn drop_unread_scalars(body: &mut Vec<Stmt>, reads: &mut FxHashMap<VarId, usize>) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body).into_iter().rev() {
        if let Stmt::Let { var, value: Value::Scalar(scalar), .. } = &stmt
            && !is_read(*var, reads)
            && !calls(scalar)
        {
            visit::scalar_uses(scalar, &mut |var| read_once_less(var, reads));
            continue;
        }
        stmt.blocks_mut().rev().for_each(|block| drop_unread_scalars(block, reads));
        kept.push(stmt);
    }
    kept.reverse();
    *body = kept;
}

fn is_read(var: VarId, reads: &FxHashMap<VarId, usize>) -> bool {
    reads.get(&var).is_some_and(|count| *count > 0)
}

fn read_once_less(var: VarId, reads: &mut FxHashMap<VarId, usize>) {
    if let Some(count) = reads.get_mut(&var) {
        *count = count.saturating_sub(1);
    }
}

/// Whether a scalar calls something: an extent that is known at run time only is a call, too.
fn calls(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Call(_) | Scalar::Dim { .. } | Scalar::Unknown(_) => true,
        Scalar::Unary(_, inner) | Scalar::Cast(_, inner) | Scalar::Const(_, inner) => calls(inner),
        Scalar::Binary(_, left, right) => calls(left) || calls(right),
        Scalar::Var(_) | Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) => false,
    }
}

/// The same for host code and the scopes that stand in it; what is `also_read` counts as read.
pub(crate) fn drop_unread_of_host(host: &mut [Stmt], scopes: &mut [Vec<Stmt>], also_read: &FxHashSet<VarId>) {
    let mut reads = reads_of(host.iter().chain(scopes.iter().flatten()));
    for var in also_read {
        *reads.entry(*var).or_default() += 1;
    }
    loop {
        let mut dropped = drop_unread(host, &mut reads);
        for scope in scopes.iter_mut().rev() {
            dropped |= drop_unread(scope, &mut reads);
        }
        if !dropped {
            return;
        }
    }
}

fn reads_of<'a>(body: impl IntoIterator<Item = &'a Stmt>) -> FxHashMap<VarId, usize> {
    let mut reads: FxHashMap<VarId, usize> = FxHashMap::default();
    body.into_iter().for_each(|stmt| visit::uses(stmt, &mut |var| *reads.entry(var).or_default() += 1));
    reads
}

/// From the end to the start: a result may lose its only reader on the way. Whether there was one to drop.
fn drop_unread(body: &mut [Stmt], reads: &mut FxHashMap<VarId, usize>) -> bool {
    let mut dropped = false;
    for stmt in body.iter_mut().rev() {
        if let Stmt::If(inner) = stmt {
            let read: Vec<bool> = inner.results.iter().map(|result| is_read(*result, reads)).collect();
            if read.contains(&false) {
                dropped = true;
                keep_slots(&mut inner.results, &read);
                for branch in [&mut inner.then, &mut inner.otherwise] {
                    drop_yielded(branch, &read, reads);
                }
            }
        }
        for block in stmt.blocks_mut().rev() {
            dropped |= drop_unread(block, reads);
        }
    }
    dropped
}

fn drop_yielded(branch: &mut Vec<Stmt>, read: &[bool], reads: &mut FxHashMap<VarId, usize>) {
    let Some(Stmt::Yield { values, .. }) = branch.last_mut() else { return };
    for (value, _) in values.iter().zip(read).filter(|(_, read)| !**read) {
        value.var().into_iter().for_each(|var| read_once_less(var, reads));
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
