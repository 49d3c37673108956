//! InitMemRef: a view that a kernel assigns again, as the compiler does where it computes values again on one core, is a variable of its
//! own. What has memory of its own stays the variable that it was.

use rustc_hash::FxHashSet;

use crate::ir::rewrite::Substitution;
use crate::ir::{Kernel, KernelKind, Operand, Stmt, Value, Var, VarId};

pub(super) fn run(kernel: &mut Kernel) {
    if kernel.kind == KernelKind::InCore {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    let mut rename = Rename { kernel, defined: FxHashSet::default(), latest: Substitution::default() };
    rename.block(&mut body);
    kernel.body = body;
}

struct Rename<'k> {
    kernel: &'k mut Kernel,
    defined: FxHashSet<VarId>,
    latest: Substitution,
}

impl Rename<'_> {
    fn block(&mut self, block: &mut [Stmt]) {
        for stmt in block {
            self.latest.apply_to_reads(stmt);
            self.define(stmt);
            stmt.blocks_mut().for_each(|block| self.nested(block));
        }
    }

    /// After a loop or branch, the variable from before it is in the same memory.
    fn nested(&mut self, block: &mut [Stmt]) {
        let before = self.latest.clone();
        self.block(block);
        self.latest = before;
    }

    fn define(&mut self, stmt: &mut Stmt) {
        let Stmt::Let { var, value, .. } = stmt else { return };
        let is_again = !self.defined.insert(*var);
        if is_again && self.kernel.tile(*var).is_some() && shares_memory(value) {
            let copy: Var = self.kernel.var(*var).clone();
            let copy = self.kernel.add_var(copy);
            self.latest.set(*var, Operand::Var(copy));
            *var = copy;
        }
    }
}

/// The result lies in the memory of an operand.
fn shares_memory(value: &Value) -> bool {
    match value {
        Value::Call(call) => call.op.op().view_of.is_some() || call.op.op().reuses.is_some(),
        Value::Copy(_) => true,
        Value::Scalar(_) | Value::Element { .. } => false,
    }
}
