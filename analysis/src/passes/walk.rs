//! Walking, substituting and copying statements.

use rustc_hash::FxHashMap;

use crate::ir::{
    Call, Carry, For, If, Kernel, Operand, Scalar, ScalarBinary, ScalarUnary, Stmt, Type, Value, VarId, While,
};

/// Replaces every statement that holds no other by what `emit` makes of it, in program order.
pub(super) fn expand_leaves(body: Vec<Stmt>, emit: &mut impl FnMut(Stmt, &mut Vec<Stmt>)) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for stmt in body {
        match stmt {
            Stmt::For(inner) => out.push(Stmt::For(For { body: expand_leaves(inner.body, emit), ..inner })),
            Stmt::While(inner) => out.push(Stmt::While(While { body: expand_leaves(inner.body, emit), ..inner })),
            Stmt::If(inner) => out.push(Stmt::If(If {
                then: expand_leaves(inner.then, emit),
                otherwise: expand_leaves(inner.otherwise, emit),
                ..inner
            })),
            leaf => emit(leaf, &mut out),
        }
    }
    out
}

/// Visits every statement, outer statements before those inside of them.
pub(crate) fn visit<'a>(body: &'a [Stmt], see: &mut impl FnMut(&'a Stmt)) {
    for stmt in body {
        see(stmt);
        match stmt {
            Stmt::For(inner) => visit(&inner.body, see),
            Stmt::While(inner) => visit(&inner.body, see),
            Stmt::If(inner) => {
                visit(&inner.then, see);
                visit(&inner.otherwise, see);
            }
            _ => {}
        }
    }
}

/// The call that a statement makes at its top, if it makes one.
pub(crate) fn call_of(stmt: &Stmt) -> Option<&Call> {
    match stmt {
        Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => Some(call),
        _ => None,
    }
}

/// As [`call_of`], to change it.
pub(super) fn call_of_mut(stmt: &mut Stmt) -> Option<&mut Call> {
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

/// Visits the variables that a statement reads, those of nested statements included.
pub(crate) fn visit_uses(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    match stmt {
        Stmt::Let { value, .. } => value_uses(value, see),
        Stmt::Eval { call, .. } => call_uses(call, see),
        Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
            values.iter().for_each(|value| operand_uses(value, see))
        }
        Stmt::For(inner) => {
            visit_header_uses(stmt, see);
            inner.body.iter().for_each(|stmt| visit_uses(stmt, see));
        }
        Stmt::While(inner) => {
            visit_header_uses(stmt, see);
            inner.body.iter().for_each(|stmt| visit_uses(stmt, see));
        }
        Stmt::If(inner) => {
            visit_header_uses(stmt, see);
            inner.then.iter().chain(&inner.otherwise).for_each(|stmt| visit_uses(stmt, see));
        }
        Stmt::Break(_) | Stmt::Continue(_) => {}
    }
}

/// Visits the variables that a loop or branch reads before it enters its body.
pub(crate) fn visit_header_uses(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    match stmt {
        Stmt::For(inner) => {
            [&inner.start, &inner.stop, &inner.step].into_iter().for_each(|bound| scalar_uses(bound, see));
            inner.carries.iter().for_each(|carry| operand_uses(&carry.init, see));
        }
        Stmt::While(inner) => {
            scalar_uses(&inner.condition, see);
            inner.carries.iter().for_each(|carry| operand_uses(&carry.init, see));
        }
        Stmt::If(inner) => scalar_uses(&inner.condition, see),
        _ => {}
    }
}

/// Visits the variables that a statement defines, those of nested statements included.
pub(crate) fn visit_definitions(stmt: &Stmt, see: &mut impl FnMut(VarId)) {
    match stmt {
        Stmt::Let { var, .. } => see(*var),
        Stmt::For(inner) => {
            see(inner.index);
            inner.carries.iter().for_each(|carry| [carry.iter, carry.result].into_iter().for_each(&mut *see));
            inner.body.iter().for_each(|stmt| visit_definitions(stmt, see));
        }
        Stmt::While(inner) => {
            inner.carries.iter().for_each(|carry| [carry.iter, carry.result].into_iter().for_each(&mut *see));
            inner.body.iter().for_each(|stmt| visit_definitions(stmt, see));
        }
        Stmt::If(inner) => {
            inner.results.iter().copied().for_each(&mut *see);
            inner.then.iter().chain(&inner.otherwise).for_each(|stmt| visit_definitions(stmt, see));
        }
        _ => {}
    }
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

pub(crate) fn scalar_uses(scalar: &Scalar, see: &mut impl FnMut(VarId)) {
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

/// What variables stand for in a copy of statements.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substitution {
    of: FxHashMap<VarId, Operand>,
    /// What is assigned again inside of a loop or branch is another variable there in the copy.
    apart: bool,
    /// Nothing is computed of what becomes known (`2 * 8`).
    unfolded: bool,
}

impl Substitution {
    pub(super) fn unfolded() -> Substitution {
        Substitution { unfolded: true, ..Substitution::default() }
    }

    pub(super) fn with_blocks_apart() -> Substitution {
        Substitution { apart: true, ..Substitution::default() }
    }

    pub(super) fn set(&mut self, var: VarId, value: Operand) {
        self.of.insert(var, value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The variable that `var` stands for, if it stands for one.
    pub(crate) fn var_of(&self, var: VarId) -> Option<VarId> {
        self.of.get(&var).and_then(Operand::var)
    }

    pub(super) fn operand(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Var(var) => self.of.get(var).cloned().unwrap_or(Operand::Var(*var)),
            Operand::Scalar(scalar) => match scalar {
                Scalar::Var(var) if self.of.contains_key(var) => self.of[var].clone(),
                _ => Operand::Scalar(self.scalar(scalar)),
            },
            Operand::List(list) => Operand::List(list.iter().map(|scalar| self.scalar(scalar)).collect()),
            Operand::Unknown(reason) => Operand::Unknown(reason.clone()),
        }
    }

    pub(super) fn scalar(&self, scalar: &Scalar) -> Scalar {
        self.replaced(scalar).unwrap_or_else(|| scalar.clone())
    }

    /// `None` where nothing in it is replaced: it stays as it is written.
    fn replaced(&self, scalar: &Scalar) -> Option<Scalar> {
        match scalar {
            Scalar::Var(var) => match self.of.get(var)? {
                Operand::Scalar(value) => Some(value.clone()),
                Operand::Var(value) => Some(Scalar::Var(*value)),
                Operand::Unknown(reason) => Some(Scalar::Unknown(reason.clone())),
                Operand::List(_) => None,
            },
            Scalar::Dim { tensor, axis } => Some(Scalar::Dim { tensor: self.var_of(*tensor)?, axis: *axis }),
            Scalar::Unary(op, inner) => Some(fold_unary(*op, self.replaced(inner)?)),
            Scalar::Cast(dtype, inner) => Some(Scalar::Cast(*dtype, self.replaced(inner)?.into())),
            Scalar::Binary(op, left, right) => {
                let (new_left, new_right) = (self.replaced(left), self.replaced(right));
                if new_left.is_none() && new_right.is_none() {
                    return None;
                }
                let new_left = new_left.unwrap_or_else(|| left.as_ref().clone());
                let new_right = new_right.unwrap_or_else(|| right.as_ref().clone());
                Some(match self.unfolded {
                    true => Scalar::Binary(*op, new_left.into(), new_right.into()),
                    false => fold_binary(*op, new_left, new_right),
                })
            }
            Scalar::Call(call) => {
                let new = self.call(call);
                (new != **call).then(|| Scalar::Call(new.into()))
            }
            _ => None,
        }
    }

    /// A variable that can only stand for another one: a tile, a tensor, a tuple.
    fn var(&self, var: VarId) -> VarId {
        self.of.get(&var).and_then(Operand::var).unwrap_or(var)
    }

    pub(super) fn call(&self, call: &Call) -> Call {
        Call { args: call.args.iter().map(|arg| self.operand(arg)).collect(), ..call.clone() }
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Call(call) => Value::Call(self.call(call)),
            Value::Scalar(scalar) => Value::Scalar(self.scalar(scalar)),
            Value::Copy(var) => match self.of.get(var) {
                Some(Operand::Scalar(scalar)) => Value::Scalar(scalar.clone()),
                _ => Value::Copy(self.var(*var)),
            },
            Value::Element { tuple, index } => Value::Element { tuple: self.var(*tuple), index: *index },
        }
    }

    fn ty(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        if let Type::Tile(tile) = &mut ty {
            if let Some(valid) = &mut tile.view.valid_shape {
                valid.iter_mut().for_each(|extent| *extent = self.scalar(extent));
            }
            if let Some(binding) = &mut tile.binding {
                binding.slot = self.scalar(&binding.slot);
            }
        }
        ty
    }

    /// Applies the substitution to what a loop reads before its first iteration.
    pub(super) fn apply_to_header(&self, inner: &mut For) {
        for bound in [&mut inner.start, &mut inner.stop, &mut inner.step] {
            *bound = self.scalar(bound);
        }
        inner.carries.iter_mut().for_each(|carry| carry.init = self.operand(&carry.init));
    }

    /// Applies the substitution to statements in place; definitions stay.
    pub(super) fn apply(&self, body: &mut [Stmt]) {
        if self.is_empty() {
            return;
        }
        for stmt in body {
            self.apply_to_reads(stmt);
            match stmt {
                Stmt::For(For { body, .. }) | Stmt::While(While { body, .. }) => self.apply(body),
                Stmt::If(inner) => {
                    self.apply(&mut inner.then);
                    self.apply(&mut inner.otherwise);
                }
                _ => {}
            }
        }
    }

    /// Applies the substitution to what a statement reads itself, not to those within it.
    pub(super) fn apply_to_reads(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Let { value, .. } => *value = self.value(value),
            Stmt::Eval { call, .. } => *call = self.call(call),
            Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                values.iter_mut().for_each(|value| *value = self.operand(value))
            }
            Stmt::For(inner) => self.apply_to_header(inner),
            Stmt::While(inner) => {
                inner.condition = self.scalar(&inner.condition);
                inner.carries.iter_mut().for_each(|carry| carry.init = self.operand(&carry.init));
            }
            Stmt::If(inner) => inner.condition = self.scalar(&inner.condition),
            Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }
}

/// Beyond this many variables bodies are not copied: no kernel that is compiled comes near.
const MOST_VARIABLES: u64 = 1 << 15;

/// Whether a kernel stays of a size that can be planned with so many copies of one of its bodies.
pub(super) fn may_copy(kernel: &Kernel, body: &[Stmt], copies: i64) -> bool {
    let mut size: u64 = 0;
    visit(body, &mut |_| size += 1);
    let more = size.saturating_mul(u64::try_from(copies).unwrap_or(0));
    (kernel.vars.len() as u64).saturating_add(more) <= MOST_VARIABLES
}

/// A copy of `body` with variables of its own for everything that it defines.
pub(super) fn copy(kernel: &mut Kernel, body: &[Stmt], substitution: &mut Substitution) -> Vec<Stmt> {
    body.iter().map(|stmt| copy_stmt(kernel, stmt, substitution)).collect()
}

/// The copy of a loop's body, or of one side of a branch.
fn copy_block(kernel: &mut Kernel, block: &[Stmt], substitution: &mut Substitution) -> Vec<Stmt> {
    let mut outside = Vec::new();
    if substitution.apart {
        block.iter().for_each(|stmt| {
            visit_definitions(stmt, &mut |var| {
                outside.extend(substitution.of.get(&var).map(|copy| (var, copy.clone())))
            })
        });
    }
    let copied = copy(kernel, block, substitution);
    substitution.of.extend(outside);
    copied
}

fn copy_stmt(kernel: &mut Kernel, stmt: &Stmt, substitution: &mut Substitution) -> Stmt {
    match stmt {
        Stmt::Let { var, value, origin } => {
            let value = substitution.value(value);
            let again = substitution.var_of(*var).filter(|_| !substitution.apart);
            let var = again.unwrap_or_else(|| copy_var(kernel, *var, substitution));
            Stmt::Let { var, value, origin: *origin }
        }
        Stmt::For(inner) => {
            let bounds = [&inner.start, &inner.stop, &inner.step].map(|bound| substitution.scalar(bound));
            let inits: Vec<_> = inner.carries.iter().map(|carry| substitution.operand(&carry.init)).collect();
            let index = copy_var(kernel, inner.index, substitution);
            let iters: Vec<_> = inner.carries.iter().map(|carry| copy_var(kernel, carry.iter, substitution)).collect();
            let body = copy_block(kernel, &inner.body, substitution);
            let carries = copy_carries(kernel, &inner.carries, inits, iters, substitution);
            let [start, stop, step] = bounds;
            Stmt::For(For { kind: inner.kind, index, start, stop, step, carries, body, origin: inner.origin })
        }
        Stmt::While(inner) => {
            let inits: Vec<_> = inner.carries.iter().map(|carry| substitution.operand(&carry.init)).collect();
            let iters: Vec<_> = inner.carries.iter().map(|carry| copy_var(kernel, carry.iter, substitution)).collect();
            let condition = substitution.scalar(&inner.condition);
            let body = copy_block(kernel, &inner.body, substitution);
            let carries = copy_carries(kernel, &inner.carries, inits, iters, substitution);
            Stmt::While(While { condition, carries, body, origin: inner.origin })
        }
        Stmt::If(inner) => {
            let condition = substitution.scalar(&inner.condition);
            let then = copy_block(kernel, &inner.then, substitution);
            let otherwise = copy_block(kernel, &inner.otherwise, substitution);
            let results = inner.results.iter().map(|result| copy_var(kernel, *result, substitution)).collect();
            Stmt::If(If { condition, then, otherwise, has_else: inner.has_else, results, origin: inner.origin })
        }
        leaf => {
            let mut leaf = leaf.clone();
            substitution.apply(std::slice::from_mut(&mut leaf));
            leaf
        }
    }
}

fn copy_carries(
    kernel: &mut Kernel,
    carries: &[Carry],
    inits: Vec<Operand>,
    iters: Vec<VarId>,
    substitution: &mut Substitution,
) -> Vec<Carry> {
    let mut copies = Vec::with_capacity(carries.len());
    for ((carry, init), iter) in carries.iter().zip(inits).zip(iters) {
        let result = copy_var(kernel, carry.result, substitution);
        copies.push(Carry { init, iter, result, explicit: carry.explicit });
    }
    copies
}

fn copy_var(kernel: &mut Kernel, var: VarId, substitution: &mut Substitution) -> VarId {
    let mut copied = kernel.var(var).clone();
    copied.ty = substitution.ty(&copied.ty);
    let copy = kernel.add_var(copied);
    substitution.set(var, Operand::Var(copy));
    copy
}

/// `left op right`, computed where both are constants.
pub(super) fn fold_binary(op: ScalarBinary, left: Scalar, right: Scalar) -> Scalar {
    let folded = match (left.as_int(), right.as_int()) {
        (Some(a), Some(b)) => fold_ints(op, a, b),
        (Some(0), None) if op == ScalarBinary::Add => return right,
        (None, Some(0)) if matches!(op, ScalarBinary::Add | ScalarBinary::Sub) => return left,
        _ => None,
    };
    folded.unwrap_or_else(|| Scalar::Binary(op, Box::new(left), Box::new(right)))
}

fn fold_ints(op: ScalarBinary, a: i64, b: i64) -> Option<Scalar> {
    Some(match op {
        ScalarBinary::Add => Scalar::Int(a.checked_add(b)?),
        ScalarBinary::Sub => Scalar::Int(a.checked_sub(b)?),
        ScalarBinary::Mul => Scalar::Int(a.checked_mul(b)?),
        ScalarBinary::FloorDiv => Scalar::Int(floor_div(a, b)?),
        ScalarBinary::FloorMod => Scalar::Int(a.checked_sub(floor_div(a, b)?.checked_mul(b)?)?),
        ScalarBinary::Min => Scalar::Int(a.min(b)),
        ScalarBinary::Max => Scalar::Int(a.max(b)),
        ScalarBinary::Eq => Scalar::Bool(a == b),
        ScalarBinary::Ne => Scalar::Bool(a != b),
        ScalarBinary::Lt => Scalar::Bool(a < b),
        ScalarBinary::Le => Scalar::Bool(a <= b),
        ScalarBinary::Gt => Scalar::Bool(a > b),
        ScalarBinary::Ge => Scalar::Bool(a >= b),
        ScalarBinary::Div | ScalarBinary::Shl | ScalarBinary::Shr | ScalarBinary::And | ScalarBinary::Or => {
            return None;
        }
    })
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn fold_unary(op: ScalarUnary, inner: Scalar) -> Scalar {
    match (op, inner.as_int(), &inner) {
        (ScalarUnary::Neg, Some(value), _) if value != i64::MIN => Scalar::Int(-value),
        (ScalarUnary::Not, _, Scalar::Bool(value)) => Scalar::Bool(!value),
        _ => Scalar::Unary(op, Box::new(inner)),
    }
}

/// How often a loop with constant bounds runs.
pub(crate) fn trip_count(start: &Scalar, stop: &Scalar, step: &Scalar) -> Option<i64> {
    let (start, stop, step) = (constant(start)?, constant(stop)?, constant(step)?);
    let (from, to, by) = match step {
        1.. => (start, stop, step),
        0 => return None,
        _ => (stop, start, step.checked_neg()?),
    };
    let distance = to.checked_sub(from)?;
    Some(if distance <= 0 { 0 } else { distance.checked_add(by - 1)? / by })
}

/// The value of a scalar that is a constant, or the negation of one.
pub(super) fn constant(scalar: &Scalar) -> Option<i64> {
    match scalar {
        Scalar::Unary(ScalarUnary::Neg, inner) => inner.as_int()?.checked_neg(),
        _ => scalar.as_int(),
    }
}
