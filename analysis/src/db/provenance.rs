//! Provenance of tensors: which memory the functions of a program give to kernels that an author wrote.

use std::sync::Arc;

use tilefit_pypto::ir::{Kernel, KernelKind, Stmt, Storage, Type, visit};
use tilefit_pypto::lower::{self, PassedArgs};
use tilefit_pypto::ops::OpId;
use tilefit_syntax::BlockKind;

use super::kinds::kind;
use super::{Unit, may_hold_kernels, syntax, units};

#[salsa::tracked(returns(ref))]
fn passed_args<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<PassedArgs>> {
    if unit.key(db).kind != BlockKind::Function || !may_hold_kernels(db, unit) {
        return Arc::default();
    }
    Arc::new(lower::passed_args(syntax(db, unit)))
}

/// The calls of the function of a unit, by the functions beside it.
#[salsa::tracked(returns(ref))]
fn callers<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<PassedArgs>> {
    let own = unit.key(db).name();
    let beside = units(db, unit.file(db)).iter().filter(|other| other.parent(db) == unit.parent(db));
    let calls = beside.flat_map(|other| passed_args(db, *other).iter());
    Arc::new(calls.filter(|call| call.callee == own).cloned().collect())
}

/// Adds to a kernel that repeats products of tensors whether each of them may be memory that every caller has made: the
/// compiler loads such an operand before the loop, and tilefit does not follow which memory it is.
pub(super) fn add_provenance<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, kernel: &mut Kernel) {
    if kernel.kind != KernelKind::InCore || kind(db, unit) != lower::Kind::Kernel(KernelKind::InCore) {
        return;
    }
    // Asking for the callers makes the kernel depend on the text of every function beside it.
    if !repeats_products(&kernel.body, false) {
        return;
    }
    let callers = callers(db, unit);
    let params = kernel.params.iter().enumerate().map(|(position, &param)| {
        let var = kernel.var(param);
        let is_read = matches!(&var.ty, Type::Tensor(tensor) if !tensor.is_output);
        let may_be_made =
            is_read && !callers.is_empty() && callers.iter().all(|call| call.may_be_made(&var.name, position));
        (param, if may_be_made { Storage::Unclear } else { Storage::Given(param) })
    });
    kernel.provenance = params.collect();
}

fn repeats_products(body: &[Stmt], in_loop: bool) -> bool {
    let mut found = false;
    visit::statements(body, &mut |stmt| {
        found |= match stmt {
            Stmt::For(inner) if !in_loop => repeats_products(&inner.body, true),
            _ => {
                let is_product = |op| matches!(op, OpId::TENSOR_MATMUL | OpId::TENSOR_MATMUL_ACC);
                in_loop && visit::call_of(stmt).is_some_and(|call| is_product(call.op))
            }
        };
    });
    found
}
