//! Replacing statements, and copying them with other variables.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::{Call, Carry, For, If, Kernel, Operand, Scalar, Stmt, Type, Value, VarId, While, fold, visit};

impl Stmt {
    /// The statement with what `rewrite` makes of each block inside of it.
    pub(crate) fn map_blocks(mut self, mut rewrite: impl FnMut(Vec<Stmt>) -> Vec<Stmt>) -> Stmt {
        self.blocks_mut().for_each(|block| *block = rewrite(std::mem::take(block)));
        self
    }
}

/// Replaces every statement by what `emit` makes of it, which goes into those within it itself.
pub(crate) fn expand(body: Vec<Stmt>, mut emit: impl FnMut(Stmt, &mut Vec<Stmt>)) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    body.into_iter().for_each(|stmt| {
        work::spend(1);
        emit(stmt, &mut out);
    });
    out
}

/// Replaces every statement that holds no other by what `emit` makes of it, in program order.
pub(crate) fn expand_leaves(body: Vec<Stmt>, emit: &mut impl FnMut(Stmt, &mut Vec<Stmt>)) -> Vec<Stmt> {
    expand(body, |stmt, out| match stmt.is_compound() {
        true => out.push(stmt.map_blocks(|block| expand_leaves(block, emit))),
        false => emit(stmt, out),
    })
}

/// Replaces every loop by what `emit` makes of it, inner loops before those around them.
pub(crate) fn expand_loops(body: Vec<Stmt>, emit: &mut impl FnMut(For, &mut Vec<Stmt>)) -> Vec<Stmt> {
    expand(body, |stmt, out| match stmt.map_blocks(|block| expand_loops(block, emit)) {
        Stmt::For(inner) => emit(inner, out),
        other => out.push(other),
    })
}

/// What variables become in a copy of statements.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substitution {
    of: FxHashMap<VarId, Operand>,
    /// What is assigned again inside of a loop or branch is another variable there in the copy.
    apart: bool,
    /// Nothing is computed of what becomes known (`2 * 8`).
    unfolded: bool,
}

impl Substitution {
    pub(crate) fn unfolded() -> Substitution {
        Substitution { unfolded: true, ..Substitution::default() }
    }

    pub(crate) fn with_blocks_apart() -> Substitution {
        Substitution { apart: true, ..Substitution::default() }
    }

    pub(crate) fn set(&mut self, var: VarId, value: Operand) {
        self.of.insert(var, value);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The variable that replaces `var`, if one does.
    pub(crate) fn var_of(&self, var: VarId) -> Option<VarId> {
        self.of.get(&var).and_then(Operand::var)
    }

    /// Variables and what replaces them, in any order.
    pub(crate) fn vars(&self) -> impl Iterator<Item = (VarId, VarId)> + '_ {
        self.of.iter().filter_map(|(&var, operand)| Some((var, operand.var()?)))
    }

    pub(crate) fn operand(&self, operand: &Operand) -> Operand {
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

    pub(crate) fn scalar(&self, scalar: &Scalar) -> Scalar {
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
            Scalar::Unary(op, inner) => Some(fold::unary(*op, self.replaced(inner)?)),
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
                    false => fold::binary(*op, new_left, new_right),
                })
            }
            Scalar::Call(call) => {
                let new = self.call(call);
                (new != **call).then(|| Scalar::Call(new.into()))
            }
            _ => None,
        }
    }

    /// A variable that is only another name of one: a tile, a tensor, a tuple.
    fn var(&self, var: VarId) -> VarId {
        self.of.get(&var).and_then(Operand::var).unwrap_or(var)
    }

    pub(crate) fn call(&self, call: &Call) -> Call {
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
    pub(crate) fn apply_to_header(&self, inner: &mut For) {
        for bound in [&mut inner.start, &mut inner.stop, &mut inner.step] {
            *bound = self.scalar(bound);
        }
        inner.carries.iter_mut().for_each(|carry| carry.init = self.operand(&carry.init));
    }

    /// Applies the substitution to statements in place; definitions stay.
    pub(crate) fn apply(&self, body: &mut [Stmt]) {
        if self.is_empty() {
            return;
        }
        for stmt in body {
            work::spend(1);
            self.apply_to_reads(stmt);
            stmt.blocks_mut().for_each(|block| self.apply(block));
        }
    }

    /// Applies the substitution to what a statement reads itself, not to those within it.
    pub(crate) fn apply_to_reads(&self, stmt: &mut Stmt) {
        if self.is_empty() {
            return;
        }
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

/// Whether a kernel stays of a size that can be analysed with so many copies of one of its bodies, or why not.
pub(crate) fn may_copy(body: &[Stmt], copies: i64) -> Result<(), Reason> {
    let mut size: u64 = 0;
    visit::statements(body, &mut |_| size += 1);
    let copied = size.saturating_mul(u64::try_from(copies).unwrap_or(0));
    work::make_statements(copied).map_err(|work::TooManyStatements { made, most }| {
        Reason::new(format!(
            "this loop: the kernel would have {made} statements, too many to be analysed (the limit is {most}, setting `limits.statements`)"
        ))
    })
}

/// A copy of `body` with variables of its own for everything that it defines.
pub(crate) fn copy(kernel: &mut Kernel, body: &[Stmt], substitution: &mut Substitution) -> Vec<Stmt> {
    let copy = |stmt| {
        work::spend(1);
        copy_stmt(kernel, stmt, substitution)
    };
    body.iter().map(copy).collect()
}

/// The copy of a loop's body, or of one side of a branch.
fn copy_block(kernel: &mut Kernel, block: &[Stmt], substitution: &mut Substitution) -> Vec<Stmt> {
    let mut outside = Vec::new();
    if substitution.apart {
        block.iter().for_each(|stmt| {
            visit::definitions(stmt, &mut |var| {
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
