//! What statements hold: the statements inside of them, the variables that they read, those that they define.

use tilefit_python::finding::Origin;
use tilefit_python::work;

use super::{Call, Carry, For, If, Operand, Scalar, Stmt, Value, VarId, While};

impl Stmt {
    /// Whether it is a loop or a branch, which hold other statements.
    pub(crate) fn is_compound(&self) -> bool {
        matches!(self, Stmt::For(_) | Stmt::While(_) | Stmt::If(_))
    }

    pub fn origin(&self) -> Origin {
        match self {
            Stmt::Let { origin, .. }
            | Stmt::Eval { origin, .. }
            | Stmt::For(For { origin, .. })
            | Stmt::While(While { origin, .. })
            | Stmt::If(If { origin, .. })
            | Stmt::Yield { origin, .. }
            | Stmt::Return { origin, .. }
            | Stmt::Break(origin)
            | Stmt::Continue(origin) => *origin,
        }
    }

    /// The blocks inside of a statement: the body of a loop, both sides of a branch.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &[Stmt]> {
        let [first, second] = match self {
            Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => [Some(body), None],
            Stmt::If(branch) => [Some(&branch.then), Some(&branch.otherwise)],
            _ => [None, None],
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }

    /// As [`Stmt::blocks`], to change them.
    pub fn blocks_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Vec<Stmt>> {
        let [first, second] = match self {
            Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => [Some(body), None],
            Stmt::If(branch) => [Some(&mut branch.then), Some(&mut branch.otherwise)],
            _ => [None, None],
        };
        first.into_iter().chain(second)
    }

    /// The values that a loop hands from one iteration to the next.
    pub fn carries(&self) -> &[Carry] {
        match self {
            Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) => carries,
            _ => &[],
        }
    }

    /// The variables that a statement defines for those after it.
    pub(crate) fn results(&self) -> impl Iterator<Item = VarId> {
        let (own, chosen): (Option<VarId>, &[VarId]) = match self {
            Stmt::Let { var, .. } => (Some(*var), &[]),
            Stmt::If(inner) => (None, &inner.results),
            _ => (None, &[]),
        };
        own.into_iter().chain(chosen.iter().copied()).chain(self.carries().iter().map(|carry| carry.result))
    }

    /// As [`Stmt::carries`], to change them.
    pub(crate) fn carries_mut(&mut self) -> &mut [Carry] {
        match self {
            Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) => carries,
            _ => &mut [],
        }
    }
}

impl If {
    /// The variables that the two sides hand on as one of the results.
    pub(crate) fn choices(&self, slot: usize) -> [Option<VarId>; 2] {
        [&self.then, &self.otherwise].map(|side| yielded(side).get(slot)?.var())
    }
}

/// Visits every statement, outer statements before those inside of them.
pub fn statements<'a>(body: &'a [Stmt], see: &mut impl FnMut(&'a Stmt)) {
    for stmt in body {
        work::spend(1);
        see(stmt);
        stmt.blocks().for_each(|block| statements(block, see));
    }
}

/// The call that a statement makes at its top, if it makes one.
pub fn call_of(stmt: &Stmt) -> Option<&Call> {
    match stmt {
        Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => Some(call),
        _ => None,
    }
}

/// As [`call_of`], to change it.
pub(crate) fn call_of_mut(stmt: &mut Stmt) -> Option<&mut Call> {
    match stmt {
        Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => Some(call),
        _ => None,
    }
}

/// The values that a body hands on at its end.
pub(crate) fn yielded(body: &[Stmt]) -> &[Operand] {
    match body.last() {
        Some(Stmt::Yield { values, .. }) => values,
        _ => &[],
    }
}

/// Visits the variables that a statement reads, those of nested statements included, as often as they are named.
pub fn uses(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    work::spend(1);
    own_uses(stmt, see);
    stmt.blocks().flatten().for_each(|stmt| uses(stmt, see));
}

/// As [`uses`], without those of nested statements.
pub fn own_uses(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    match stmt {
        Stmt::Let { value, .. } => value_uses(value, see),
        Stmt::Eval { call, .. } => call_uses(call, see),
        Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
            values.iter().for_each(|value| operand_uses(value, see))
        }
        _ => header_uses(stmt, see),
    }
}

/// Visits the variables that a loop or branch reads before it enters its body.
pub(crate) fn header_uses(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    match stmt {
        Stmt::For(inner) => {
            [&inner.start, &inner.stop, &inner.step].into_iter().for_each(|bound| scalar_uses(bound, see));
        }
        Stmt::While(While { condition, .. }) | Stmt::If(If { condition, .. }) => scalar_uses(condition, see),
        _ => {}
    }
    stmt.carries().iter().for_each(|carry| operand_uses(&carry.init, see));
}

/// Visits the variables that a statement defines, those of nested statements included.
pub(crate) fn definitions(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    work::spend(1);
    match stmt {
        Stmt::Let { var, .. } => see(*var),
        Stmt::For(inner) => see(inner.index),
        Stmt::If(inner) => inner.results.iter().copied().for_each(&mut *see),
        _ => {}
    }
    for carry in stmt.carries() {
        [carry.iter, carry.result].into_iter().for_each(&mut *see);
    }
    stmt.blocks().flatten().for_each(|stmt| definitions(stmt, see));
}

pub(crate) fn value_uses(value: &Value, see: &mut impl FnMut(VarId)) {
    match value {
        Value::Call(call) => call_uses(call, see),
        Value::Copy(var) | Value::Element { tuple: var, .. } => see(*var),
        Value::Scalar(scalar) => scalar_uses(scalar, see),
    }
}

pub(crate) fn call_uses(call: &Call, see: &mut impl FnMut(VarId)) {
    call.args.iter().for_each(|arg| operand_uses(arg, see));
}

pub(crate) fn operand_uses(operand: &Operand, see: &mut impl FnMut(VarId)) {
    match operand {
        Operand::Var(var) => see(*var),
        Operand::Scalar(scalar) => scalar_uses(scalar, see),
        Operand::List(list) => list.iter().for_each(|scalar| scalar_uses(scalar, see)),
        Operand::Unknown(_) => {}
    }
}

pub fn scalar_uses(scalar: &Scalar, see: &mut impl FnMut(VarId)) {
    match scalar {
        Scalar::Var(var) | Scalar::Dim { tensor: var, .. } => see(*var),
        Scalar::Unary(_, inner) | Scalar::Cast(_, inner) | Scalar::Const(_, inner) => scalar_uses(inner, see),
        Scalar::Binary(_, left, right) => {
            scalar_uses(left, see);
            scalar_uses(right, see);
        }
        Scalar::Call(call) => call_uses(call, see),
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) | Scalar::Unknown(_) => {}
    }
}
