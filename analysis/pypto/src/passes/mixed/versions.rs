//! Which variable each name of one core's part is. The repair leaves some that are assigned again and some that nothing defines, and the
//! compiler copies the part in program order (DeepClone) before it gives anything memory.

use rustc_hash::FxHashSet;
use tilefit_python::finding::{Note, Reason};

use super::repair::definitions;
use crate::ir::rewrite::Substitution;
use crate::ir::{Kernel, Operand, Role, Stmt, Value, Var, VarId, visit};
use crate::ops::OpId;

/// Replaces definitions of what comes out of a queue here, tells apart what is assigned again elsewhere, and marks what only the other
/// core makes. Returns false where it is not known what the compiler does: something that is not modelled may be what leaves it undefined.
pub(super) fn tell_apart(kernel: &mut Kernel, stands_for: &Substitution, body: &mut [Stmt]) -> bool {
    let all = definitions(&[], body);
    let defined: FxHashSet<VarId> = kernel.params.iter().copied().collect();
    let (visible, received, now) = (defined.clone(), Default::default(), Default::default());
    let mut versions = Versions { kernel, stands_for, all, defined, visible, received, now, is_known: true };
    versions.block(&[], body);
    versions.is_known
}

struct Versions<'k> {
    kernel: &'k mut Kernel,
    stands_for: &'k Substitution,
    /// Whatever is defined anywhere.
    all: FxHashSet<VarId>,
    /// What was defined so far, also in branches.
    defined: FxHashSet<VarId>,
    /// What was defined in the lists of statements that are open.
    visible: FxHashSet<VarId>,
    /// What came out of a queue so far.
    received: FxHashSet<VarId>,
    /// What replaces names that have several versions.
    now: Substitution,
    is_known: bool,
}

impl Versions<'_> {
    /// Leaves to what follows what it had before.
    fn block(&mut self, carried: &[VarId], body: &mut [Stmt]) {
        let outside = self.visible.clone();
        let mut again = Vec::new();
        carried.iter().for_each(|var| self.made(*var));
        for stmt in body {
            self.read(stmt);
            self.now.apply_to_reads(stmt);
            match stmt {
                Stmt::Let { var, value, .. } => *var = self.define(*var, value, &mut again),
                _ => {
                    let index = if let Stmt::For(inner) = stmt { Some(inner.index) } else { None };
                    let inside: Vec<VarId> = stmt.carries().iter().map(|carry| carry.iter).chain(index).collect();
                    stmt.blocks_mut().for_each(|block| self.block(&inside, block));
                    stmt.results().for_each(|result| self.made(result));
                }
            }
        }
        again.into_iter().rev().for_each(|(var, before)| self.now.set(var, Operand::Var(before)));
        self.visible = outside;
    }

    fn made(&mut self, var: VarId) {
        self.defined.insert(var);
        self.visible.insert(var);
    }

    fn read(&mut self, stmt: &Stmt) {
        let mut undefined: Vec<VarId> = Vec::new();
        let mut see = |var: VarId| undefined.extend(Some(var).filter(|var| !self.visible.contains(var)));
        match stmt {
            // The condition reads what the loop carries, too.
            Stmt::While(inner) => inner.carries.iter().filter_map(|carry| carry.init.var()).for_each(see),
            _ => visit::own_uses(stmt, &mut see),
        }
        undefined.into_iter().for_each(|var| self.leave_undefined(var));
    }

    /// To the compiler, what is read before it is defined is another variable, which nothing defines.
    fn leave_undefined(&mut self, var: VarId) {
        let is_in_a_branch = self.defined.contains(&var);
        self.is_known &= self.kernel.notes.is_empty() && self.kernel.var(var).role != Role::IterArg && !is_in_a_branch;
        if !self.all.contains(&var) {
            self.kernel.var_mut(var).role = Role::OtherCore;
        } else if self.now.var_of(var).is_none() {
            let foreign = Var { role: Role::OtherCore, ..self.kernel.var(var).clone() };
            self.now.set(var, Operand::Var(self.kernel.add_var(foreign)));
        }
    }

    fn define(&mut self, var: VarId, value: &Value, again: &mut Vec<(VarId, VarId)>) -> VarId {
        let var = self.stands_for.var_of(var).unwrap_or(var);
        let is_new = !self.defined.contains(&var);
        self.made(var);
        if is_received(value) {
            self.received.insert(var);
        } else if self.received.contains(&var) {
            let Var { name, origin, .. } = self.kernel.var(var);
            let reason = format!(
                "`{name}`, which comes from the other core and is assigned again before its slot of the queue is freed"
            );
            self.kernel.notes.push(Note { at: *origin, reason: Reason::new(reason) });
        }
        if is_new || !is_received(value) {
            if is_new && self.now.var_of(var).is_some() {
                self.now.set(var, Operand::Var(var));
            }
            return var;
        }
        let version = self.kernel.add_var(self.kernel.var(var).clone());
        again.push((var, self.now.var_of(var).unwrap_or(var)));
        self.now.set(var, Operand::Var(version));
        version
    }
}

fn is_received(value: &Value) -> bool {
    matches!(value, Value::Call(call) if matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV))
}
