//! Names that a loop carries, and the values that they begin with.

use crate::ir::{Carry, Kernel, Operand, Role, Stmt, VarId, visit};

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
        visit::statements(block, &mut |stmt| self.carries(stmt.carries()));
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

/// A yielded or initial value that is a variable of its own, not a name that a loop carries: only those does the compiler
/// compare and copy when it repairs carries.
pub(super) fn own_var(kernel: &Kernel, operand: Option<&Operand>) -> Option<VarId> {
    let var = operand?.var()?;
    (kernel.var(var).role != Role::IterArg).then_some(var)
}

/// Whether every variable that the kernel names exists; other code may then look variables up without asking.
pub(super) fn well_formed(kernel: &Kernel) -> bool {
    let mut all = true;
    let mut see = |var: VarId| all &= (var.0 as usize) < kernel.vars.len();
    kernel.params.iter().copied().for_each(&mut see);
    for stmt in &kernel.body {
        visit::uses(stmt, &mut see);
        visit::definitions(stmt, &mut see);
    }
    all
}
