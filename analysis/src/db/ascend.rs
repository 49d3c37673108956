//! Kernels of TileLang for Ascend NPUs: which they are, and their memory as that of any kernel.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_gpu::device::{Arch, Space};
use tilefit_gpu::liveness::LiveRange;
use tilefit_gpu::plan::{self as gpu_plan, MemoryPlan, Planned, Total};
use tilefit_gpu::program::{self as gpu_program, Memory, Program};
use tilefit_python::eval::{Constant, Imports};
use tilefit_python::finding::Reason;
use tilefit_python::work::{self, Limits, within};
use tilefit_syntax::ast::{Ast, Expr, ExprId};
use tilefit_tilelang::ascend::{self, Backend};
use tilefit_tilelang::program::{BufferId, Launch};

use super::gpu::TracedKernel;
use super::reexports::imports;
use super::surroundings::Surroundings;
use super::tilelang::{Converted, Followed, Sites, too_large};
use super::tilelang_names::{full_path, is_factory};
use super::{SourceFile, Unit, config, syntax, units};

/// The compiler for Ascend that a kernel is written for, by the names that it or its file uses; `None`: it is for GPUs, or none of TileLang.
#[salsa::tracked(returns(copy))]
pub(super) fn backend_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Backend> {
    if !is_factory(db, unit) {
        return None;
    }
    named_in(db, unit).or_else(|| named_in_file(db, unit.file(db)))
}

/// The device of a kernel for Ascend. The fork is for the one that the setting `target` names.
pub(super) fn npu_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arch> {
    match backend_of(db, unit)? {
        Backend::Fork => Arch::from_name(config(db).target.name()),
        Backend::Own => Arch::from_name("ascend950"),
    }
}

#[salsa::tracked(returns(copy))]
fn named_in_file(db: &dyn salsa::Database, file: SourceFile) -> Option<Backend> {
    let imports = imports(db, file);
    let of_imports = || imports.modules().find_map(Backend::of_name);
    of_imports().or_else(|| units(db, file).iter().find_map(|&unit| named_in(db, unit)))
}

#[salsa::tracked(returns(copy))]
fn named_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Backend> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    ast.exprs().find_map(|(expr, _)| backend_at(ast, imports, expr))
}

fn backend_at(ast: &Ast, imports: &Imports, expr: ExprId) -> Option<Backend> {
    match ast.expr(expr) {
        Expr::Attribute { .. } | Expr::Name(_) => Backend::of_name(&full_path(imports, &ast.dotted(expr)?)?),
        Expr::Call { args, .. } => args.iter().find_map(|arg| match (arg.keyword.as_deref()?, ast.expr(arg.value)) {
            (ascend::KERNEL_OPTION, _) => Some(Backend::Fork),
            ("target", Expr::Str(name)) => Backend::of_target(name),
            _ => None,
        }),
        _ => None,
    }
}

/// Why a kernel for one kind of device has no plan on another.
pub(super) fn not_for(arch: Arch, is_for_npus: bool) -> Reason {
    Reason::new(match is_for_npus {
        true => format!("the kernel is for Ascend NPUs, and {arch} is a GPU"),
        false => format!("the kernel is for GPUs, and {arch} is an NPU"),
    })
}

/// By whose rules a kernel for Ascend is planned.
fn planner(backend: Backend) -> &'static str {
    match backend {
        Backend::Fork => ascend::COMPILER,
        Backend::Own => tilefit_tilelang::COMPILER,
    }
}

/// The kernel that a unit is, and the launch that is shown.
pub(super) fn traced(
    (ast, name): (&Arc<Ast>, ExprId),
    around: &Surroundings<'_>,
    arguments: &BTreeMap<String, Constant>,
    (backend, arch, limits): (Backend, Arch, Limits),
) -> TracedKernel {
    let followed = within(limits, || {
        (Followed::with(ast, around, arguments, |launch| ascend::plan(launch, backend)), work::taken())
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
    TracedKernel { planner: Some(planner(backend)), ..kernel }
}

fn space(memory: ascend::Memory) -> Space {
    match memory {
        ascend::Memory::Ub => Space::Ub,
        ascend::Memory::L1 => Space::L1,
        ascend::Memory::L0a => Space::L0a,
        ascend::Memory::L0b => Space::L0b,
        ascend::Memory::L0c => Space::L0c,
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
        let limits = ascend::Memory::ALL.into_iter().filter(|_| plan.is_planned);
        let limits = limits.map(|memory| (space(memory), memory.planned_limit())).collect();
        let plan = MemoryPlan { totals, limits, placed };
        (program, Planned { plan, hidden: Vec::new(), sites: sites.sites(self.name) })
    }
}
