//! Products with block scales exist on one target only.

use tilefit_python::diagnostics::Code;

use crate::ir::{Kernel, Rejection, visit};
use crate::ops::OpId;
use crate::target::Target;

const PRODUCTS: [OpId; 3] = [OpId::MATMUL_MX, OpId::MATMUL_MX_ACC, OpId::MATMUL_MX_BIAS];

pub(super) fn check(kernel: &mut Kernel, target: Target) {
    if target == Target::Ascend950 {
        return;
    }
    let mut refused = None;
    visit::statements(&kernel.body, &mut |stmt| {
        let product = visit::call_of(stmt).filter(|call| PRODUCTS.contains(&call.op));
        refused = refused.or(product.map(|call| call.origin));
    });
    kernel.rejections.extend(refused.map(|at| {
        let message = "`tile.matmul_mx` is only supported on the Ascend950 ('a5') backend, but got 'a2a3'; set the target to ascend950, \
                       or convert the operands and use `pl.matmul`";
        Rejection::new(at, Code::UnsupportedTarget, message)
    }));
}
