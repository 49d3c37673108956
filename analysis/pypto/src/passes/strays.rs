//! What the compiler's DeepClone does to names that a loop carries: a copy of statements inside of that loop reads a variable of its
//! own, which no loop binds.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::rewrite::Substitution;
use crate::ir::{FirstValue, For, Kernel, Operand, Role, Stmt, Stray, Type, Var, VarId, While, visit};

/// The strays of a copy, before what they stand for is copied.
pub(super) struct Open {
    strays: Vec<Stray>,
    /// What the loops in the copied statements begin with.
    inits: FxHashMap<VarId, VarId>,
}

/// Lets the copy of `statements` read strays for what loops around them carry.
pub(super) fn open(kernel: &mut Kernel, statements: &[Stmt], copies: &mut Substitution) -> Open {
    let mut bound = FxHashSet::default();
    for stmt in statements {
        visit::definitions(stmt, &mut |var| bound.extend([var]));
    }
    let mut carried = Vec::new();
    for stmt in statements {
        visit::uses(stmt, &mut |var| {
            let Var { role, ty, .. } = kernel.var(var);
            let is_carried = *role == Role::IterArg && !matches!(ty, Type::Scalar(_));
            if is_carried && copies.var_of(var).is_none() && bound.insert(var) {
                carried.push(var);
            }
        });
    }
    let mut stray = |carried: VarId| {
        let known = kernel.strays.iter().find(|stray| stray.var == carried);
        let (first, means) = known.map_or((FirstValue::OfCarry(carried), carried), |stray| (stray.first, stray.means));
        Stray { var: kernel.add_var(kernel.var(carried).clone()), first, means }
    };
    let read: Vec<(VarId, Stray)> = carried.into_iter().map(|carried| (carried, stray(carried))).collect();
    for (carried, stray) in &read {
        copies.set(*carried, Operand::Var(stray.var));
    }
    Open { strays: read.into_iter().map(|(_, stray)| stray).collect(), inits: inits(statements) }
}

fn inits(statements: &[Stmt]) -> FxHashMap<VarId, VarId> {
    let mut inits = FxHashMap::default();
    visit::statements(statements, &mut |stmt| {
        let (Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. })) = stmt else { return };
        inits.extend(carries.iter().filter_map(|carry| Some((carry.iter, carry.init.var()?))));
    });
    inits
}

impl Open {
    /// Says what the strays stand for in a copy of the body of `inner`, in which `copies` were made.
    pub(super) fn close(self, kernel: &mut Kernel, inner: &For, copies: &Substitution) {
        let own: FxHashSet<VarId> = self.strays.iter().map(|stray| stray.var).collect();
        let copied = |var: VarId| copies.var_of(var).filter(|copy| !own.contains(copy)).unwrap_or(var);
        for Stray { var, first, means } in self.strays {
            let first = match first {
                FirstValue::OfCarry(iter) => first_value(kernel, iter, inner, &self.inits, &copied),
                FirstValue::Value(value) => FirstValue::Value(copied(value)),
            };
            kernel.strays.push(Stray { var, first, means: copied(means) });
        }
    }
}

/// What the loop that carries `iter` begins with, in a copy of the body of `inner`. A stray of what another loop carries stays one.
fn first_value(
    kernel: &Kernel,
    iter: VarId,
    inner: &For,
    inits: &FxHashMap<VarId, VarId>,
    copied: &impl Fn(VarId) -> VarId,
) -> FirstValue {
    let is_carried = |var: VarId| kernel.var(var).role == Role::IterArg;
    let mut iter = iter;
    while let Some(init) = inits.get(&iter).copied().filter(|init| is_carried(*init)) {
        iter = init;
    }
    match inner.carries.iter().find(|carry| carry.iter == iter).map(|carry| carry.init.var()) {
        Some(Some(init)) if is_carried(init) => FirstValue::OfCarry(init),
        Some(init) => FirstValue::Value(init.unwrap_or(iter)),
        None => FirstValue::OfCarry(copied(iter)),
    }
}

/// The kernel as its author means it: strays are what the loops carry.
pub(crate) fn bound(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let mut meant = Substitution::default();
    for stray in std::mem::take(&mut kernel.strays) {
        meant.set(stray.var, Operand::Var(stray.means));
    }
    meant.apply(&mut kernel.body);
    kernel
}
