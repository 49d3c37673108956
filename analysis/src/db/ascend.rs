//! Kernels of TileLang for Ascend NPUs in the database: their memory as that of any kernel.

use rustc_hash::FxHashMap;
use tilefit_gpu::device::{Arch, Space};
use tilefit_gpu::liveness::LiveRange;
use tilefit_gpu::plan::{self as gpu_plan, MemoryPlan, Planned, Total};
use tilefit_gpu::program::{self as gpu_program, Memory, Program};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::work::{self, Limits, within};
use tilefit_tilelang::ascend::{self, Backend};
use tilefit_tilelang::program::{self, BufferId, Launch};

use super::gpu::TracedKernel;
use super::surroundings::Surroundings;
use super::tilelang::{Converted, Followed, Sites, arguments, too_large};
use super::{Unit, syntax};

/// By whose rules a kernel for Ascend is planned.
fn planner(backend: Backend) -> &'static str {
    match backend {
        Backend::Fork => ascend::COMPILER,
        Backend::Own => tilefit_tilelang::COMPILER,
    }
}

/// The kernel that a unit is under a scenario.
pub(super) fn traced<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    (backend, arch): (Backend, Arch),
    limits: Limits,
) -> Option<TracedKernel> {
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let (name, arguments) = (function.name, arguments(ast, function, scenario));
    let around = Surroundings::new(db, unit, arch);
    let followed = within(limits, || {
        (Followed::with(ast, &around, &arguments, |launch| ascend::plan(launch, backend)), work::taken())
    });
    let kernel = match followed {
        Ok((Followed { traced, plans }, steps)) => {
            let kernel = Converted { ast, traced, plans, name };
            let shown = kernel.fullest(arch);
            let planned = shown.map(|nth| kernel.of_core(&kernel.traced.launches[nth], &kernel.plans[nth]));
            kernel.kernel(planned, Vec::new(), arch, steps)
        }
        Err(failure) => too_large(&failure, ast, name, arch, limits),
    };
    Some(TracedKernel { planner: Some(planner(backend)), ..kernel })
}

fn space(memory: program::Memory) -> Space {
    match memory {
        program::Memory::Ub => Space::Ub,
        program::Memory::L1 => Space::L1,
        program::Memory::L0a => Space::L0a,
        program::Memory::L0b => Space::L0b,
        program::Memory::L0c => Space::L0c,
    }
}

impl Converted<'_, ascend::Plan> {
    /// Of several launches the one that comes nearest to what there is of a memory.
    fn fullest(&self, arch: Arch) -> Option<usize> {
        let share =
            |total: &ascend::Total| total.low.saturating_mul(1 << 20) / arch.capacity(space(total.memory)).max(1);
        let fullest = |plan: &ascend::Plan| plan.totals.iter().map(share).max();
        (0..self.plans.len()).max_by_key(|&nth| (fullest(&self.plans[nth]), std::cmp::Reverse(nth)))
    }

    fn of_core(&self, launch: &Launch, plan: &ascend::Plan) -> (Program, Planned) {
        let mut program = Program { multiplies: true, ..Program::default() };
        let names = self.names();
        let mut ids: FxHashMap<BufferId, gpu_program::BufferId> = FxHashMap::default();
        let mut placed = Vec::new();
        let mut sites = Sites::default();
        for one in &plan.placed {
            let LiveRange { start, end } = sites.add(&one.live);
            let memory = Memory::OfCore { space: space(one.memory), bytes: one.bytes.1 };
            let added = self.added(launch.buffer(one.buffer), &names, memory, 1);
            let id = gpu_program::BufferId(program.buffers.len() as u32);
            ids.insert(one.buffer, id);
            program.buffers.push(added);
            placed.push(gpu_plan::Placed {
                what: gpu_plan::Occupant::Buffer(id),
                low: one.bytes.0,
                high: one.bytes.1,
                offset: one.offset,
                row: 0,
                live: LiveRange { start, end },
            });
        }
        let total =
            |it: &ascend::Total| (space(it.memory), Total { low: it.low, high: it.high, reasons: it.reasons.clone() });
        let totals = plan.totals.iter().map(total).collect();
        let limits = program::Memory::ALL.into_iter().filter(|_| plan.is_planned);
        let limits = limits.map(|memory| (space(memory), ascend::planned_limit(memory))).collect();
        let plan = MemoryPlan { totals, limits, placed };
        (program, Planned { plan, hidden: Vec::new(), sites: sites.sites(self.name) })
    }
}
