//! What the compiler refuses in its later passes, where it deduces types anew: windows that leave their source once loops are unrolled
//! and constants are known, and tiles without elements.

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;

use crate::ir::{Kernel, Rejection, visit};
use crate::ops::OpId;
use crate::typing::{Problem, deduce};

pub(super) fn check(kernel: &mut Kernel) {
    refuse(kernel, &[OpId::LOAD, OpId::STORE, OpId::SLICE], |problem| match problem {
        Problem::OutOfBounds(message) => Some(message),
        _ => None,
    });
}

/// Refuses the tiles without elements that are still there when all others that nothing needs are gone.
pub(super) fn check_extents(kernel: &mut Kernel) {
    refuse(kernel, &[OpId::LOAD], |problem| match problem {
        Problem::Empty(message) => Some(message),
        _ => None,
    });
    let Kernel { notes, rejections, .. } = kernel;
    notes.retain(|note| !rejections.iter().any(|rejection| rejection.at == note.at));
}

fn refuse(kernel: &mut Kernel, ops: &[OpId], refused: impl Fn(Problem) -> Option<String>) {
    let constants = FxHashMap::default();
    let mut found = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt).filter(|call| ops.contains(&call.op)) else { return };
        let problem = deduce(call, &kernel.vars, &constants).err();
        if let Some(message) = problem.and_then(&refused) {
            found.push(Rejection::new(call.origin, Code::InvalidOperand, message));
        }
    });
    for rejection in found {
        let is_said = |known: &Rejection| (known.at, known.code) == (rejection.at, rejection.code);
        if !kernel.rejections.iter().any(is_said) {
            kernel.rejections.push(rejection);
        }
    }
}
