//! Which variables a piece of IR reads.

use crate::ir::{Call, Carry, Kernel, Operand, Role, Scalar, Stmt, Value, VarId};

/// Calls `read` for every variable named in the operands of `value`, in order and as often as it is named.
pub(super) fn of_value(value: &Value, read: &mut dyn FnMut(VarId)) {
    match value {
        Value::Call(call) => of_call(call, read),
        Value::Copy(var) => read(*var),
        Value::Scalar(scalar) => of_scalar(scalar, read),
        Value::Element { tuple, .. } => read(*tuple),
    }
}

pub(super) fn of_call(call: &Call, read: &mut dyn FnMut(VarId)) {
    for arg in &call.args {
        of_operand(arg, read);
    }
}

pub(super) fn of_operand(operand: &Operand, read: &mut dyn FnMut(VarId)) {
    match operand {
        Operand::Var(var) => read(*var),
        Operand::Scalar(scalar) => of_scalar(scalar, read),
        Operand::List(scalars) => scalars.iter().for_each(|scalar| of_scalar(scalar, read)),
        Operand::Unknown(_) => {}
    }
}

pub(super) fn of_scalar(scalar: &Scalar, read: &mut dyn FnMut(VarId)) {
    match scalar {
        Scalar::Var(var) => read(*var),
        Scalar::Unary(_, inner) | Scalar::Cast(_, inner) | Scalar::Const(_, inner) => of_scalar(inner, read),
        Scalar::Binary(_, left, right) => {
            of_scalar(left, read);
            of_scalar(right, read);
        }
        Scalar::Dim { tensor, .. } => read(*tensor),
        Scalar::Call(call) => of_call(call, read),
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) | Scalar::Dynamic(_) | Scalar::Unknown(_) => {}
    }
}

/// Follows carried names to the value that they have before the loop: to the compiler a read of the carried name is one of
/// that value too.
pub(super) struct Inits {
    /// By variable; of iteration arguments only, bound by a loop or stray.
    init: Vec<Option<VarId>>,
}

impl Inits {
    pub(super) fn of(kernel: &Kernel) -> Inits {
        let mut inits = Inits { init: vec![None; kernel.vars.len()] };
        inits.enter(&kernel.body);
        for stray in &kernel.strays {
            inits.init[stray.var.0 as usize] = Some(stray.first.var());
        }
        inits
    }

    fn enter(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::For(each) => {
                    self.carries(&each.carries);
                    self.enter(&each.body);
                }
                Stmt::While(each) => {
                    self.carries(&each.carries);
                    self.enter(&each.body);
                }
                Stmt::If(branch) => {
                    self.enter(&branch.then);
                    self.enter(&branch.otherwise);
                }
                _ => {}
            }
        }
    }

    fn carries(&mut self, carries: &[Carry]) {
        for carry in carries {
            if let Some(slot) = self.init.get_mut(carry.iter.0 as usize) {
                *slot = carry.init.var();
            }
        }
    }

    /// The variable itself, or the one that its loop, and the loops around it, began with.
    pub(super) fn resolve(&self, var: VarId) -> VarId {
        let mut var = var;
        // Each step leaves one loop, so a chain is never longer than the table.
        for _ in 0..self.init.len() {
            match self.init.get(var.0 as usize).copied().flatten() {
                Some(init) => var = init,
                None => break,
            }
        }
        var
    }
}

/// The operands of the `yield` that ends a block; empty where it has none.
pub(super) fn yielded(block: &[Stmt]) -> &[Operand] {
    match block.last() {
        Some(Stmt::Yield { values, .. }) => values,
        _ => &[],
    }
}

/// A yielded or initial value that is a variable of its own, not a name that a loop carries: only those does the compiler
/// compare and copy when it repairs carries.
pub(super) fn own_var(kernel: &Kernel, operand: Option<&Operand>) -> Option<VarId> {
    let var = operand?.var()?;
    (kernel.var(var).role != Role::IterArg).then_some(var)
}

/// Whether every variable that the kernel names exists; other code may then look variables up without asking.
pub(super) fn well_formed(kernel: &Kernel) -> bool {
    let known = |var: VarId| (var.0 as usize) < kernel.vars.len();
    let mut all = kernel.params.iter().all(|param| known(*param));
    names(&kernel.body, &mut |var| all &= known(var));
    all
}

fn names(block: &[Stmt], name: &mut dyn FnMut(VarId)) {
    for stmt in block {
        match stmt {
            Stmt::Let { var, value, .. } => {
                name(*var);
                of_value(value, name);
            }
            Stmt::Eval { call, .. } => of_call(call, name),
            Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                values.iter().for_each(|value| of_operand(value, name));
            }
            Stmt::For(each) => {
                carried(&each.carries, name);
                names(&each.body, name);
            }
            Stmt::While(each) => {
                carried(&each.carries, name);
                names(&each.body, name);
            }
            Stmt::If(branch) => {
                of_scalar(&branch.condition, name);
                names(&branch.then, name);
                names(&branch.otherwise, name);
                branch.results.iter().for_each(|result| name(*result));
            }
            Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }
}

fn carried(carries: &[Carry], name: &mut dyn FnMut(VarId)) {
    for carry in carries {
        of_operand(&carry.init, name);
        name(carry.iter);
        name(carry.result);
    }
}
