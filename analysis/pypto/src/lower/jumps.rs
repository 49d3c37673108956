//! `break` and `continue` out of kernels (the compiler's CtrlFlowTransform): what follows a `continue` becomes the other branch of
//! its `if`, and a loop with `break` becomes a `while` with a flag. Runs before SSA conversion, so that flag and counter are carried
//! as the author's own scalars are. What a loop carries with `init_values` becomes a result of each branch on the way.

use rustc_hash::FxHashSet;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::live_in::collect_assigned;
use super::pre_ssa::{ExplicitCarry, PreSsa, Statement};
use crate::ir::{LoopKind, Operand, Role, Scalar, ScalarBinary, ScalarUnary, Type, Value, Var, VarId, Why};

/// Rewrites the loops of a kernel. Branches that jump and have results of their own keep their jumps, with a note. Whether there
/// was a jump.
pub(super) fn structure(pre_ssa: &mut PreSsa, notes: &mut Vec<Note>) -> bool {
    let body = std::mem::take(&mut pre_ssa.body);
    let has_jumps = jumps(&body);
    let mut jumps = Jumps { vars: &mut pre_ssa.vars, notes, joined: FxHashSet::default() };
    pre_ssa.body = jumps.block(body);
    has_jumps
}

fn jumps(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break(_) | Statement::Continue(_) => true,
        Statement::For { body, .. } | Statement::While { body, .. } => jumps(body),
        Statement::If { then, otherwise, .. } => jumps(then) || otherwise.as_deref().is_some_and(jumps),
        _ => false,
    })
}

struct Jumps<'a> {
    vars: &'a mut Vec<Var>,
    notes: &'a mut Vec<Note>,
    /// Results of branches that are what a loop carries.
    joined: FxHashSet<VarId>,
}

/// Statements, and what they leave for the next iteration: one value for each `init_values`.
struct Part {
    body: Vec<Statement>,
    values: Vec<Operand>,
}

impl Part {
    /// A body without its `yield`.
    fn of(mut body: Vec<Statement>) -> Part {
        match body.pop() {
            Some(Statement::Yield { values, .. }) => Part { body, values },
            last => {
                body.extend(last);
                Part { body, values: Vec::new() }
            }
        }
    }

    fn yielding(mut self, origin: Origin) -> Vec<Statement> {
        if !self.values.is_empty() {
            self.body.push(Statement::Yield { values: self.values, origin });
        }
        self.body
    }
}

/// What a jump leaves: the flag that a `break` sets, and the names under which the loop carries values.
#[derive(Clone, Copy)]
struct Jump<'a> {
    flag: Option<VarId>,
    carried: &'a [VarId],
    /// What the body of the loop assigns.
    assigned: &'a FxHashSet<VarId>,
}

impl Jump<'_> {
    fn is(self, statement: &Statement) -> bool {
        match self.flag {
            Some(_) => matches!(statement, Statement::Break(_)),
            None => matches!(statement, Statement::Continue(_)),
        }
    }

    fn is_in(self, body: &[Statement]) -> bool {
        let found = found(body);
        if self.flag.is_some() { found.breaks } else { found.continues }
    }

    /// What is carried on when the jump comes after `before`: what has its value by then, else the value as it came. What a
    /// `break` would have to compute first is left as it came.
    fn values(self, values: &[Operand], before: &[Statement]) -> Vec<Operand> {
        self.set_in(values, &[before])
            .into_iter()
            .enumerate()
            .map(|(at, value)| match value.var() {
                None if self.flag.is_some() => self.as_it_came(at, value),
                _ => value,
            })
            .collect()
    }

    fn as_it_came(self, at: usize, value: Operand) -> Operand {
        self.carried.get(at).map_or(value, |carried| Operand::Var(*carried))
    }

    /// The values, where they have one after these statements; else as they came.
    fn set_in(self, values: &[Operand], before: &[&[Statement]]) -> Vec<Operand> {
        let is_set = |var: VarId| {
            self.carried.contains(&var) || !self.assigned.contains(&var) || before.iter().any(|list| sets(list, var))
        };
        let known = values.iter().enumerate().map(|(at, value)| match value.var() {
            Some(var) if !is_set(var) => self.as_it_came(at, value.clone()),
            _ => value.clone(),
        });
        known.collect()
    }
}

/// What leaves the innermost loop, or its iteration.
#[derive(Debug, Clone, Copy, Default)]
struct LoopExits {
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
                if kind == LoopKind::Range && found.breaks {
                    return self.counted_by_hand(index, bounds, carries, body, origin, out);
                }
                let body = if kind == LoopKind::Range && found.continues {
                    self.without_continue(Part::of(body), &carries, origin).yielding(origin)
                } else {
                    body
                };
                out.push(Statement::For { kind, index, bounds, carries, body, origin });
            }
            Statement::While { condition, carries, body, origin } => {
                let body = self.block(body);
                let found = found(&body);
                if !found.breaks && !found.continues {
                    return out.push(Statement::While { condition, carries, body, origin });
                }
                // `continue` first: its branches become the lists in which `break` is looked for.
                let part = self.without_continue(Part::of(body), &carries, origin);
                if !found.breaks {
                    let body = part.yielding(origin);
                    return out.push(Statement::While { condition, carries, body, origin });
                }
                let flag = self.flag(origin);
                out.push(set(flag, false, origin));
                let condition = and(condition, not(flag));
                let body = self.without_break(part, flag, &carries, origin).yielding(origin);
                out.push(Statement::While { condition, carries, body, origin });
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
        carries: Vec<ExplicitCarry>,
        body: Vec<Statement>,
        origin: Origin,
        out: &mut Vec<Statement>,
    ) {
        let ty = self.vars[index.0 as usize].ty.clone();
        // The body assigns it, which no loop index is; SSA conversion then carries it like any other scalar.
        self.vars[index.0 as usize].role = Role::Def;
        let flag = self.flag(origin);
        let count = |value: Scalar| Statement::Let { var: index, value: Value::Scalar(value), ty: ty.clone(), origin };
        out.push(count(start));
        out.push(set(flag, false, origin));
        let goes_down = matches!(step, Scalar::Int(step) if step < 0);
        let before_stop = if goes_down { ScalarBinary::Gt } else { ScalarBinary::Lt };
        let in_bounds = Scalar::Binary(before_stop, Box::new(Scalar::Var(index)), Box::new(stop));
        let part = self.without_continue(Part::of(body), &carries, origin);
        let mut part = self.without_break(part, flag, &carries, origin);
        self.read_before_counting(&mut part, index, &carries, origin);
        let next = Scalar::Binary(ScalarBinary::Add, Box::new(Scalar::Var(index)), Box::new(step));
        // A `break` leaves the counter where it is.
        part.body.push(only_if(not(flag), vec![count(next)], None, origin));
        let body = part.yielding(origin);
        out.push(Statement::While { condition: and(in_bounds, not(flag)), carries, body, origin });
    }

    /// Values that are computed for the next iteration, before the counter goes on.
    fn read_before_counting(&mut self, part: &mut Part, index: VarId, carries: &[ExplicitCarry], origin: Origin) {
        for (value, carry) in part.values.iter_mut().zip(carries) {
            let scalar = match value {
                Operand::Var(var) | Operand::Scalar(Scalar::Var(var)) if *var != index => continue,
                Operand::Var(var) => Scalar::Var(*var),
                Operand::Scalar(scalar) => scalar.clone(),
                Operand::List(_) | Operand::Unknown(_) => continue,
            };
            let ty = self.vars[carry.iter.0 as usize].ty.clone();
            let kept = self.made("yield__tmp_v0".to_owned(), ty.clone(), Role::Def, origin);
            part.body.push(Statement::Let { var: kept, value: Value::Scalar(scalar), ty, origin });
            *value = Operand::Var(kept);
        }
    }

    fn without_continue(&mut self, part: Part, carries: &[ExplicitCarry], origin: Origin) -> Part {
        self.without_jump(part, None, carries, origin)
    }

    fn without_break(&mut self, part: Part, flag: VarId, carries: &[ExplicitCarry], origin: Origin) -> Part {
        self.without_jump(part, Some(flag), carries, origin)
    }

    fn without_jump(&mut self, part: Part, flag: Option<VarId>, carries: &[ExplicitCarry], origin: Origin) -> Part {
        let carried: Vec<VarId> = carries.iter().map(|carry| carry.iter).collect();
        let mut assigned = FxHashSet::default();
        collect_assigned(&part.body, &mut assigned);
        self.without(part, Jump { flag, carried: &carried, assigned: &assigned }, origin)
    }

    /// A part without one kind of jump. As in the compiler, what stands before a jump at the end of a branch goes with it; one
    /// deeper inside of a branch ends that branch, and what follows is done while the flag is not set.
    fn without(&mut self, part: Part, jump: Jump, origin: Origin) -> Part {
        let Part { body, values } = part;
        let mut out = Vec::new();
        let mut rest = body.into_iter();
        while let Some(statement) = rest.next() {
            if jump.is(&statement) {
                let values = jump.values(&values, &out);
                out.extend(jump.flag.map(|flag| set(flag, true, origin)));
                return Part { body: out, values };
            }
            let Statement::If { condition, then, otherwise, results, origin } = statement else {
                out.push(statement);
                continue;
            };
            let otherwise_jumps = otherwise.as_deref().is_some_and(|body| jump.is_in(body));
            if !jump.is_in(&then) && !otherwise_jumps {
                out.push(Statement::If { condition, then, otherwise, results, origin });
                continue;
            }
            // What it yields would have to be divided over the branches of the jump.
            if !results.is_empty() {
                let reason = "`break` or `continue` in a branch that has results of its own".to_owned();
                self.notes.push(Note { at: origin, reason: Reason::new(reason) });
                out.push(Statement::If { condition, then, otherwise, results, origin });
                continue;
            }
            let ends = |body: &[Statement]| body.last().is_some_and(|last| jump.is(last));
            let (in_then, in_else) = (ends(&then), otherwise.as_deref().is_some_and(ends));
            if in_then || in_else {
                let escape = Part {
                    body: jump.flag.map(|flag| set(flag, true, origin)).into_iter().collect(),
                    values: jump.values(&values, &out),
                };
                // What follows is done only where there was no jump, so it moves into the other branch.
                let mut normal = if in_then { otherwise.unwrap_or_default() } else { then };
                normal.extend(rest);
                let of_normal = jump.set_in(&values, &[&out, &normal]);
                let normal = self.without(Part { body: normal, values: of_normal }, jump, origin);
                let branches = if in_then { [escape, normal] } else { [normal, escape] };
                let values = self.join(condition, branches, true, origin, &mut out);
                return Part { body: out, values };
            }
            let has_else = otherwise.is_some() || jump.flag.is_some() || !values.is_empty();
            let then = self.branch(then, &values, &out, jump, origin);
            let otherwise = self.branch(otherwise.unwrap_or_default(), &values, &out, jump, origin);
            let joined = self.join(condition, [then, otherwise], has_else, origin, &mut out);
            let after: Vec<Statement> = rest.collect();
            if after.is_empty() {
                return Part { body: out, values: joined };
            }
            // As in the compiler, what follows does not see values that it would make itself.
            let after = self.without(Part { body: after, values: joined.clone() }, jump, origin);
            let Some(flag) = jump.flag else {
                out.extend(after.body);
                return Part { body: out, values: after.values };
            };
            let as_they_are = Part { body: Vec::new(), values: joined };
            let values = self.join(not(flag), [after, as_they_are], true, origin, &mut out);
            return Part { body: out, values };
        }
        Part { body: out, values }
    }

    /// One branch of an `if` that jumps somewhere inside. What it hands on as the result of an `if` that another kind of jump
    /// made, it hands on by itself.
    fn branch(
        &mut self,
        mut body: Vec<Statement>,
        values: &[Operand],
        before: &[Statement],
        jump: Jump,
        origin: Origin,
    ) -> Part {
        let mut values = values.to_vec();
        while let Some(Statement::Let { var, value, .. }) = body.last() {
            let at = values.iter().position(|value| value.var() == Some(*var));
            let (Some(at), Some(handed_on)) = (at.filter(|_| self.joined.contains(var)), as_operand(value)) else {
                break;
            };
            values[at] = handed_on;
            body.pop();
        }
        if jump.is_in(&body) {
            return self.without(Part { body, values }, jump, origin);
        }
        let values = jump.set_in(&values, &[before, &body]);
        Part { body, values }
    }

    /// An `if`, after which each value is that of the branch which was taken.
    fn join(
        &mut self,
        condition: Scalar,
        [mut then, mut otherwise]: [Part; 2],
        has_else: bool,
        origin: Origin,
        out: &mut Vec<Statement>,
    ) -> Vec<Operand> {
        let mut joined = Vec::with_capacity(then.values.len());
        for (value, other) in then.values.into_iter().zip(otherwise.values) {
            if value == other {
                joined.push(value);
                continue;
            }
            let of = value.var().or_else(|| other.var()).map(|var| &self.vars[var.0 as usize]);
            let name = format!("{}__phi_v0", of.map_or("value", |var| &var.name));
            let ty = of.map_or(Type::Scalar(Dtype::Index), |var| var.ty.clone());
            let var = self.made(name, ty.clone(), Role::Def, origin);
            self.joined.insert(var);
            then.body.push(Statement::Let { var, value: as_value(value), ty: ty.clone(), origin });
            otherwise.body.push(Statement::Let { var, value: as_value(other), ty, origin });
            joined.push(Operand::Var(var));
        }
        out.push(only_if(condition, then.body, has_else.then_some(otherwise.body), origin));
        joined
    }

    fn made(&mut self, name: String, ty: Type, role: Role, origin: Origin) -> VarId {
        self.vars.push(Var { name, ty, role, inserted: Some(Why::Intermediate), origin });
        VarId(self.vars.len() as u32 - 1)
    }

    fn flag(&mut self, origin: Origin) -> VarId {
        self.made("break__tmp_v0".to_owned(), Type::Scalar(Dtype::Bool), Role::Def, origin)
    }
}

/// Whether a variable has a value after these statements, however they run.
fn sets(body: &[Statement], var: VarId) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Let { var: set, .. } => *set == var,
        Statement::If { then, otherwise: Some(otherwise), .. } => sets(then, var) && sets(otherwise, var),
        _ => false,
    })
}

fn found(body: &[Statement]) -> LoopExits {
    // Not into loops: a jump is of the innermost loop, and inner ones are rewritten before outer ones.
    body.iter().fold(LoopExits::default(), |known, statement| {
        let more = match statement {
            Statement::Break(_) => LoopExits { breaks: true, continues: false },
            Statement::Continue(_) => LoopExits { breaks: false, continues: true },
            Statement::If { then, otherwise, .. } => {
                let (then, otherwise) = (found(then), found(otherwise.as_deref().unwrap_or_default()));
                LoopExits { breaks: then.breaks || otherwise.breaks, continues: then.continues || otherwise.continues }
            }
            _ => LoopExits::default(),
        };
        LoopExits { breaks: known.breaks || more.breaks, continues: known.continues || more.continues }
    })
}

fn as_operand(value: &Value) -> Option<Operand> {
    match value {
        Value::Copy(var) => Some(Operand::Var(*var)),
        Value::Scalar(scalar) => Some(Operand::Scalar(scalar.clone())),
        _ => None,
    }
}

fn as_value(operand: Operand) -> Value {
    match operand {
        Operand::Var(var) => Value::Copy(var),
        Operand::Scalar(scalar) => Value::Scalar(scalar),
        Operand::Unknown(reason) => Value::Scalar(Scalar::Unknown(reason)),
        Operand::List(_) => Value::Scalar(Scalar::Unknown(Reason::new("a loop-carried list"))),
    }
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
