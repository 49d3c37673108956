//! The compiler's passes between author source and memory planning: each makes tiles explicit that the author did not
//! write (moves, scratch, copies) or chooses their space and layout (`docs/reference/memory.md`, "Passes before planning").

mod backend_layouts;
mod barriers;
mod batches;
mod bound_views;
mod bounds;
mod cast;
mod composite;
mod flatten;
mod given;
mod io_order;
mod iterations;
mod l0_tile;
mod layout;
mod matmul_l0;
mod matmul_parts;
mod mixed;
mod mixed_stores;
mod pages;
mod pipeline;
mod queues;
mod reassigned_views;
mod resident_operands;
mod scaled;
pub(crate) mod simplify;
mod skew;
mod spaces;
mod split_k;
pub(crate) mod strays;
pub(crate) mod tensor_to_tile;
mod tile_slice;
mod two_accumulators;
mod unroll;

#[cfg(test)]
mod tests;

use crate::coverage::{Pass, Watch};
use crate::ir::Kernel;
use crate::memory::check_reservations;
use crate::target::{Machine, Planner};
pub use mixed::{Transferred, transfers_of};

/// Runs the passes in the compiler's order. A kernel that uses both cores becomes two.
pub fn prepare(kernel: Kernel, machine: Machine, planner: Planner) -> Vec<Kernel> {
    prepare_watched(kernel, machine, planner).into_iter().map(|(kernel, _)| kernel).collect()
}

/// [`prepare`], and for each kernel the passes that changed it.
pub fn prepare_watched(kernel: Kernel, machine: Machine, planner: Planner) -> Vec<(Kernel, Vec<Pass>)> {
    let target = machine.target;
    let mut watched = Watched::new(kernel);
    watched.run(Pass::Unroll, unroll::run);
    watched.run(Pass::Simplify, simplify::run);
    bounds::check(&mut watched.kernel);
    watched.run(Pass::TensorToTile, |kernel| tensor_to_tile::run(kernel, target));
    mixed_stores::check(&mut watched.kernel);
    watched.run(Pass::DeclareSpaces, spaces::declare);
    mixed::check_regions(&mut watched.kernel);
    queues::check(&mut watched.kernel);
    watched.run(Pass::Composite, composite::run);
    watched.run(Pass::Flatten, |kernel| flatten::run(kernel, target));
    watched.run(Pass::Cast, |kernel| cast::run(kernel, target));
    let mut drains = watched.run(Pass::MatmulL0, |kernel| matmul_l0::run(kernel, machine, planner));
    cast::note_folded(&mut watched.kernel);
    scaled::check(&mut watched.kernel, target);
    watched.run(Pass::TileSlice, tile_slice::run);
    watched.run(Pass::InferSpaces, spaces::infer);
    watched.run(Pass::ResidentOperands, |kernel| resident_operands::run(kernel, machine));
    watched.run(Pass::BackendLayouts, backend_layouts::run);
    bound_views::check(&mut watched.kernel);
    let finish = |mut watched: Watched| {
        watched.run(Pass::Skew, |kernel| skew::run(kernel, &mut drains));
        watched.run(Pass::Pipeline, |kernel| pipeline::run(kernel, &mut drains));
        watched.run(Pass::IoOrder, |kernel| io_order::run(kernel, &drains));
        reassigned_views::run(&mut watched.kernel);
        bounds::check_extents(&mut watched.kernel);
        check_reservations(&mut watched.kernel);
        (watched.kernel, watched.watch.fired)
    };
    let mut parts = watched.divide(|kernel| mixed::run(kernel, target));
    barriers::check(&mut parts.iter_mut().map(|part| &mut part.kernel).collect::<Vec<_>>(), target);
    parts.into_iter().map(finish).collect()
}

/// A kernel on its way through the passes, and which of them changed it.
struct Watched {
    kernel: Kernel,
    watch: Watch,
}

impl Watched {
    fn new(kernel: Kernel) -> Watched {
        Watched { watch: Watch::of(&kernel), kernel }
    }

    fn run<T>(&mut self, pass: Pass, run: impl FnOnce(&mut Kernel) -> T) -> T {
        let result = run(&mut self.kernel);
        self.watch.ran(pass, &self.kernel);
        result
    }

    fn divide(self, divide: impl FnOnce(Kernel) -> Vec<Kernel>) -> Vec<Watched> {
        let watch = self.watch;
        let part = |kernel: Kernel| {
            let mut watch = watch.clone();
            watch.ran(Pass::Mixed, &kernel);
            Watched { kernel, watch }
        };
        divide(self.kernel).into_iter().map(part).collect()
    }
}
