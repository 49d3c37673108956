//! `break` and `continue` out of kernels (the compiler's CtrlFlowTransform): what follows a `continue` becomes the other branch of
//! its `if`, and a loop with `break` becomes a `while` with a flag. Runs before SSA conversion, so that flag and counter are carried
//! as the author's own scalars are.

use super::draft::{Draft, Statement};
use crate::ir::{
    Dtype, LoopKind, Note, Origin, Reason, Role, Scalar, ScalarBinary, ScalarUnary, Type, Value, Var, VarId,
};

/// Rewrites the loops of a kernel. Loops that carry values with `init_values` keep their jumps, with a note.
pub(super) fn structure(draft: &mut Draft, notes: &mut Vec<Note>) {
    let body = std::mem::take(&mut draft.body);
    let mut jumps = Jumps { vars: &mut draft.vars, notes };
    draft.body = jumps.block(body);
}

struct Jumps<'a> {
    vars: &'a mut Vec<Var>,
    notes: &'a mut Vec<Note>,
}

/// What leaves the innermost loop, or its iteration.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    breaks: bool,
    continues: bool,
}

impl Jumps<'_> {
    fn block(&mut self, body: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            self.statement(statement, &mut out);
        }
        out
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match statement {
            Statement::For { kind, index, bounds, carries, body, origin } => {
                let body = self.block(body);
                let found = found(&body);
                if (found.breaks || found.continues) && !carries.is_empty() {
                    self.not_modelled(origin);
                } else if kind == LoopKind::Range && found.breaks {
                    return self.counted_by_hand(index, bounds, body, found, origin, out);
                } else if kind == LoopKind::Range && found.continues {
                    let body = without_continue(body);
                    return out.push(Statement::For { kind, index, bounds, carries, body, origin });
                }
                out.push(Statement::For { kind, index, bounds, carries, body, origin });
            }
            Statement::While { condition, carries, body, origin } => {
                let body = self.block(body);
                let found = found(&body);
                if (found.breaks || found.continues) && !carries.is_empty() {
                    self.not_modelled(origin);
                    return out.push(Statement::While { condition, carries, body, origin });
                }
                let body = if found.continues { without_continue(body) } else { body };
                if !found.breaks {
                    return out.push(Statement::While { condition, carries, body, origin });
                }
                let flag = self.flag(origin);
                out.push(set(flag, false, origin));
                let condition = and(condition, not(flag));
                out.push(Statement::While { condition, carries, body: without_break(body, flag), origin });
            }
            Statement::If { condition, then, otherwise, results, origin } => {
                let then = self.block(then);
                let otherwise = otherwise.map(|otherwise| self.block(otherwise));
                out.push(Statement::If { condition, then, otherwise, results, origin });
            }
            leaf => out.push(leaf),
        }
    }

    /// `while i < stop and not broken`, with the author's index as the counter.
    fn counted_by_hand(
        &mut self,
        index: VarId,
        [start, stop, step]: [Scalar; 3],
        body: Vec<Statement>,
        found: Found,
        origin: Origin,
        out: &mut Vec<Statement>,
    ) {
        let ty = self.vars[index.0 as usize].ty.clone();
        self.vars[index.0 as usize].role = Role::Def;
        let flag = self.flag(origin);
        let count = |value: Scalar| Statement::Let { var: index, value: Value::Scalar(value), ty: ty.clone(), origin };
        out.push(count(start));
        out.push(set(flag, false, origin));
        let goes_down = matches!(step, Scalar::Int(step) if step < 0);
        let before_stop = if goes_down { ScalarBinary::Gt } else { ScalarBinary::Lt };
        let in_bounds = Scalar::Binary(before_stop, Box::new(Scalar::Var(index)), Box::new(stop));
        let body = if found.continues { without_continue(body) } else { body };
        let mut body = without_break(body, flag);
        let next = Scalar::Binary(ScalarBinary::Add, Box::new(Scalar::Var(index)), Box::new(step));
        body.push(only_if(not(flag), vec![count(next)], None, origin));
        out.push(Statement::While { condition: and(in_bounds, not(flag)), carries: Vec::new(), body, origin });
    }

    fn flag(&mut self, origin: Origin) -> VarId {
        let name = "break__tmp_v0".to_owned();
        self.vars.push(Var { name, ty: Type::Scalar(Dtype::Bool), role: Role::Def, inserted: true, origin });
        VarId(self.vars.len() as u32 - 1)
    }

    fn not_modelled(&mut self, at: Origin) {
        let reason = "`break` or `continue` in a loop that carries values with `init_values`".to_owned();
        self.notes.push(Note { at, reason: Reason(reason) });
    }
}

fn found(body: &[Statement]) -> Found {
    body.iter().fold(Found::default(), |known, statement| {
        let more = match statement {
            Statement::Break(_) => Found { breaks: true, continues: false },
            Statement::Continue(_) => Found { breaks: false, continues: true },
            Statement::If { then, otherwise, .. } => {
                let (then, otherwise) = (found(then), found(otherwise.as_deref().unwrap_or_default()));
                Found { breaks: then.breaks || otherwise.breaks, continues: then.continues || otherwise.continues }
            }
            _ => Found::default(),
        };
        Found { breaks: known.breaks || more.breaks, continues: known.continues || more.continues }
    })
}

/// A body without `continue`. As in the compiler, what stands before a `continue` at the end of a branch goes with it, and one
/// deeper inside of a branch ends that branch only.
fn without_continue(body: Vec<Statement>) -> Vec<Statement> {
    let mut out = Vec::new();
    let mut rest = body.into_iter();
    while let Some(statement) = rest.next() {
        match statement {
            Statement::Continue(_) => return out,
            Statement::If { condition, then, otherwise, results, origin }
                if found(&then).continues || otherwise.as_deref().is_some_and(|body| found(body).continues) =>
            {
                let ends = |body: &[Statement]| matches!(body.last(), Some(Statement::Continue(_)));
                let (in_then, in_else) = (ends(&then), otherwise.as_deref().is_some_and(ends));
                if in_then || in_else {
                    let mut normal = if in_then { otherwise.unwrap_or_default() } else { then };
                    normal.extend(rest);
                    let normal = without_continue(normal);
                    let (then, otherwise) = if in_then { (Vec::new(), normal) } else { (normal, Vec::new()) };
                    out.push(only_if(condition, then, Some(otherwise), origin));
                    return out;
                }
                let otherwise = otherwise.map(without_continue);
                out.push(Statement::If { condition, then: without_continue(then), otherwise, results, origin });
            }
            other => out.push(other),
        }
    }
    out
}

/// A body that sets the flag instead of breaking, and does the rest only while it is not set. As in the compiler, what stands
/// before a `break` at the end of a branch goes with it.
fn without_break(body: Vec<Statement>, flag: VarId) -> Vec<Statement> {
    let mut out = Vec::new();
    let mut rest = body.into_iter();
    while let Some(statement) = rest.next() {
        match statement {
            Statement::Break(origin) => {
                out.push(set(flag, true, origin));
                return out;
            }
            Statement::If { condition, then, otherwise, origin, .. }
                if found(&then).breaks || otherwise.as_deref().is_some_and(|body| found(body).breaks) =>
            {
                let ends = |body: &[Statement]| matches!(body.last(), Some(Statement::Break(_)));
                let (in_then, in_else) = (ends(&then), otherwise.as_deref().is_some_and(ends));
                let escape = vec![set(flag, true, origin)];
                if in_then || in_else {
                    let mut normal = if in_then { otherwise.unwrap_or_default() } else { then };
                    normal.extend(rest);
                    let normal = without_break(normal, flag);
                    let (then, otherwise) = if in_then { (escape, normal) } else { (normal, escape) };
                    out.push(only_if(condition, then, Some(otherwise), origin));
                    return out;
                }
                let then = without_break(then, flag);
                let otherwise = without_break(otherwise.unwrap_or_default(), flag);
                out.push(only_if(condition, then, Some(otherwise), origin));
                let after = without_break(rest.collect(), flag);
                if !after.is_empty() {
                    out.push(only_if(not(flag), after, Some(Vec::new()), origin));
                }
                return out;
            }
            other => out.push(other),
        }
    }
    out
}

fn only_if(condition: Scalar, then: Vec<Statement>, otherwise: Option<Vec<Statement>>, origin: Origin) -> Statement {
    Statement::If { condition, then, otherwise, results: Vec::new(), origin }
}

fn set(flag: VarId, value: bool, origin: Origin) -> Statement {
    Statement::Let { var: flag, value: Value::Scalar(Scalar::Bool(value)), ty: Type::Scalar(Dtype::Bool), origin }
}

fn not(flag: VarId) -> Scalar {
    Scalar::Unary(ScalarUnary::Not, Box::new(Scalar::Var(flag)))
}

fn and(left: Scalar, right: Scalar) -> Scalar {
    Scalar::Binary(ScalarBinary::And, Box::new(left), Box::new(right))
}
