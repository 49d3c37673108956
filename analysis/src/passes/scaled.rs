//! Products with block scales exist on one target only.

use crate::diagnostics::Code;
use crate::ir::{Kernel, Rejection, visit};
use crate::target::Target;

const PRODUCTS: [&str; 3] = ["tile.matmul_mx", "tile.matmul_mx_acc", "tile.matmul_mx_bias"];

pub(super) fn check(kernel: &mut Kernel, target: Target) {
    if target == Target::Ascend950 {
        return;
    }
    let mut refused = None;
    visit::statements(&kernel.body, &mut |stmt| {
        let product = visit::call_of(stmt).filter(|call| PRODUCTS.contains(&call.op.op().name));
        refused = refused.or(product.map(|call| call.origin));
    });
    kernel.rejections.extend(refused.map(|at| {
        let message = "`tile.matmul_mx` is only supported on the Ascend950 ('a5') backend, but got 'a2a3'; set the target to ascend950, \
                       or convert the operands and use `pl.matmul`";
        Rejection { at, code: Code::UnsupportedTarget, message: message.to_owned(), related: Vec::new() }
    }));
}
