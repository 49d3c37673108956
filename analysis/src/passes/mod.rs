//! The compiler's passes between author source and memory planning: each makes tiles explicit that the author did not
//! write (moves, scratch, copies) or chooses their space and layout (`reference/memory.md` §5, §6).

mod backend_layouts;
mod batches;
mod cast;
mod composite;
mod flatten;
mod io_order;
mod iterations;
mod l0_tile;
mod layout;
mod matmul_l0;
mod matmul_parts;
mod mixed;
mod pages;
mod pipeline;
mod resident_operands;
mod simplify;
mod skew;
mod spaces;
mod split;
pub(crate) mod tensor_to_tile;
mod tile_slice;
mod two_accumulators;
mod unroll;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use crate::ir::Kernel;
use crate::target::{Machine, Planner};
pub(crate) use mixed::{Transferred, transfers_of};

/// Runs the passes in the compiler's order. A kernel that uses both cores becomes two.
pub fn prepare(mut kernel: Kernel, machine: Machine, planner: Planner) -> Vec<Kernel> {
    let target = machine.target;
    unroll::run(&mut kernel);
    simplify::run(&mut kernel);
    tensor_to_tile::run(&mut kernel, target);
    spaces::declare(&mut kernel);
    composite::run(&mut kernel);
    flatten::run(&mut kernel, target);
    cast::run(&mut kernel, target);
    let mut drains = matmul_l0::run(&mut kernel, machine, planner);
    cast::note_folded(&mut kernel);
    tile_slice::run(&mut kernel);
    spaces::infer(&mut kernel);
    resident_operands::run(&mut kernel, machine);
    backend_layouts::run(&mut kernel);
    let mut kernels = mixed::run(kernel, target);
    for kernel in &mut kernels {
        skew::run(kernel, &mut drains);
        pipeline::run(kernel, &mut drains);
        io_order::run(kernel, &drains);
    }
    kernels
}
