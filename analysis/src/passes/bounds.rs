//! Windows that leave their source once loops are unrolled and constants are known: the compiler deduces types anew in its later
//! passes, and refuses there what it could not see when it read the kernel.

use rustc_hash::FxHashMap;

use super::walk;
use crate::diagnostics::Code;
use crate::ir::{Kernel, Rejection};
use crate::lower::{Problem, deduce};
use crate::ops::OpId;

pub(super) fn check(kernel: &mut Kernel) {
    let constants = FxHashMap::default();
    let mut refused = Vec::new();
    walk::visit(&kernel.body, &mut |stmt| {
        let Some(call) = walk::call_of(stmt).filter(|call| matches!(call.op, OpId::LOAD | OpId::STORE | OpId::SLICE))
        else {
            return;
        };
        if let Err(Problem::OutOfBounds(message)) = deduce(call, &kernel.vars, &constants) {
            refused.push(Rejection { at: call.origin, code: Code::InvalidOperand, message, related: Vec::new() });
        }
    });
    for rejection in refused {
        let is_said = |known: &Rejection| (known.at, known.code) == (rejection.at, rejection.code);
        if !kernel.rejections.iter().any(is_said) {
            kernel.rejections.push(rejection);
        }
    }
}
