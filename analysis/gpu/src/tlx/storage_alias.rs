//! Storage alias lowering: each spec of a program gets the memory that its buffers take together.

use tilefit_python::finding::{Note, Reason};

use super::kernel::{Kernel, SpecId};
use super::plan::Plan;
use crate::program::{BufferId, Bytes, Memory, Program};

const MERGED: &str = "Triton 3.8 makes one storage alias spec of two that are equal, and Meta's fork keeps both; `# tilefit: triton=3.8` says which";

/// Where the memory of a spec is in the program. Equal specs may have one.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecMemory {
    pub spec: SpecId,
    pub buffer: BufferId,
    /// Some compilers take it for a spec above.
    pub may_be_merged: bool,
}

/// Returns what is not known of it.
pub fn lower(program: &mut Program, kernel: &Kernel, specs: &[SpecMemory], plan: &Plan) -> Vec<Note> {
    let mut unknown = Vec::new();
    for memory in specs {
        let Some(of) = plan.spec(memory.spec) else { continue };
        let extent = match &of.extent {
            Ok(extent) => *extent,
            Err(reason) => {
                let reason = reason.clone().of("the size of a buffer is not known");
                unknown.push(Note { at: kernel.spec(of.spec).at, reason });
                program.buffers[memory.buffer.0 as usize].shape.clear();
                continue;
            }
        };
        let buffer = &mut program.buffers[memory.buffer.0 as usize];
        let [had] = buffer.shape.as_mut_slice() else { continue };
        let extent = extent.max(*had);
        *had = extent;
        match &mut buffer.memory {
            Memory::Tensor { columns, .. } => *columns = extent,
            Memory::OfCore { .. } => {}
            Memory::Shared { size, fork, .. } => {
                // The fork rounds extents up.
                *fork = Bytes::Exactly(extent.checked_next_power_of_two().unwrap_or(extent).max(fork.high()));
                *size = match std::mem::replace(size, Bytes::Exactly(0)) {
                    _ if memory.may_be_merged => Bytes::Between(0, extent, Reason::new(MERGED)),
                    Bytes::Exactly(_) => Bytes::Exactly(extent),
                    Bytes::Between(_, _, reason) => Bytes::Between(0, extent, reason),
                };
            }
        }
    }
    unknown
}
