//! TLX kernels in the database: the kernel under one of its scenarios, its memory, and what all scenarios come to.

use std::collections::BTreeSet;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, ExprId, Stmt};

use tilefit_gpu::scenario::{self, Call, Scenario};
use tilefit_gpu::tensor_memory::requested_columns;
use tilefit_gpu::tlx::language;
use tilefit_gpu::tlx::{self, Kernel, params};
use tilefit_gpu::trace::Dialect;
use tilefit_python::eval::{Argument, Constant, Scope};
use tilefit_python::finding::{Note, Reason, Remedy};
use tilefit_python::work::{self, within};

use super::devices::device_of_others;
use super::gpu::{TracedKernel, traced};
use super::passed_on::imports;
use super::scenario_tables::{MemoryUsage, SURVEYED_FOR_ONE, ScenarioTable, survey};
use super::scenarios::{calls_in, is_jit, jit_functions, launch_values, scenarios};
use super::scope::UnitScope;
use super::triton::least;
use super::{Name, Unit, config, syntax};

/// A TLX kernel under the scenario that is in force, and its memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TlxKernel {
    pub(crate) kernel: Kernel,
    pub(crate) plan: tlx::Plan,
    /// As the compiler's allocators lay it out; `None` by the rules of the design document.
    pub(crate) traced: Option<TracedKernel>,
    /// Scenarios there are, this one included.
    pub(crate) scenarios: usize,
    /// Which of them this one is.
    pub(crate) selected: usize,
}

/// Nothing where there are fewer than two scenarios.
#[salsa::tracked(returns(ref))]
pub(crate) fn tlx_scenario_table<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<ScenarioTable> {
    let kernel = tlx_kernel(db, unit).as_ref().filter(|kernel| kernel.scenarios > 1)?;
    let relevant = relevant_params(db, unit);
    survey(db, unit, kernel.selected, Some(&relevant), &|scenario| tlx_usage(db, unit, scenario).map(Into::into))
}

/// The parameters on which memory may depend.
pub(super) fn relevant_params<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> BTreeSet<String> {
    let scope = UnitScope::new(db, unit);
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let helps = |name: &str| scope.function(name).is_some_and(|source| tlx::mentions_tlx(&source.ast, imports));
    tlx::relevant_params(ast, imports, &helps)
}

/// The kernel's memory under a scenario.
pub(super) fn tlx_usage<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
) -> Option<MemoryUsage> {
    let (traced, plan) = laid_out(db, unit, scenario)?;
    let columns = requested_columns(plan.tmem.all);
    let (smem, tmem) = match config(db).tlx_rules {
        tlx::Rules::Compiler => {
            work::spend(traced.steps / SURVEYED_FOR_ONE);
            let (shared, tensor) = (&traced.planned.plan.shared, &traced.planned.plan.tensor);
            ((shared.low, shared.high), (columns.min(tensor.low), tensor.high.map(|high| high.max(columns))))
        }
        tlx::Rules::Seed => {
            let known = |used| plan.is_exact(&traced.kernel).then_some(used);
            ((plan.smem.all, known(plan.smem.all)), (columns, known(columns)))
        }
    };
    let refusal = traced.failed_assert().map(|it| Note { at: it.at, reason: Reason::new(&it.message) });
    Some(MemoryUsage { refusal, ..MemoryUsage::on(plan.arch, smem, tmem, traced.failed_assert().is_some()) })
}

/// The least bytes and columns that a kernel takes whatever the options are that its plan assumes; `None` where that is not known.
#[salsa::tracked(returns(copy))]
pub(crate) fn tlx_least<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<(u64, u64)> {
    let kernel = tlx_kernel(db, unit).as_ref()?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    least(&scenario, kernel.traced.as_ref()?, &|scenario| tlx_usage(db, unit, scenario))
}

/// The parameters that need values before all sizes of a kernel are known, each with an example.
pub(crate) fn tlx_needed_values<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<(String, String)> {
    let Some(tlx) = tlx_kernel(db, unit) else { return Vec::new() };
    let mut scenario = scenarios(db, unit).get(tlx.selected).cloned().unwrap_or_default();
    let mut needed: Vec<(String, String)> = Vec::new();
    let _ = within(config(db).limits, || {
        // A value may lead to sizes that need another one.
        while let Some((TracedKernel { kernel, .. }, plan)) = laid_out(db, unit, &scenario) {
            let reasons = plan.unknown.iter().chain(kernel.notes.iter().map(|note| &note.reason));
            let asked: BTreeSet<&str> = reasons.filter_map(Reason::remedy).map(Remedy::param).collect();
            let open = kernel.params.iter().filter(|param| matches!(param.value, Constant::Unknown(_)));
            let open: Vec<_> = open.filter(|param| asked.contains(param.name.as_str())).collect();
            if open.is_empty() {
                break;
            }
            for param in open {
                needed.push((param.name.clone(), param.example().to_owned()));
                let example = Scenario::parse(&format!("{}={}", param.name, param.example()));
                scenario = scenario.filled_from(&example);
            }
        }
    });
    let place = |name: &str| tlx.kernel.params.iter().position(|param| param.name == name);
    needed.sort_by_key(|(name, _)| place(name));
    needed
}

/// The TLX kernel that a unit is, under the first scenario that no `static_assert` refuses.
#[salsa::tracked(returns(ref))]
pub(crate) fn tlx_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<TlxKernel>> {
    if !is_kernel(db, unit) {
        return None;
    }
    let scenarios = scenarios(db, unit);
    let of_default = [Scenario::default()];
    let all = if scenarios.is_empty() { of_default.as_slice() } else { scenarios };
    let mut first = None;
    for (index, scenario) in all.iter().enumerate() {
        let (traced, plan) = laid_out(db, unit, scenario)?;
        let is_refused = traced.failed_assert().is_some();
        // A scenario that a `static_assert` refuses is never compiled. If all are refused, the first one is shown with its error.
        if first.is_none() || !is_refused {
            first = Some((index, traced, plan));
        }
        if !is_refused {
            break;
        }
    }
    let (selected, traced, mut plan) = first?;
    let kernel = traced.kernel.clone();
    let says_something = !kernel.buffers.is_empty() || !kernel.specs.is_empty() || !kernel.findings.is_empty();
    if !says_something && traced.findings.is_empty() && !has_tasks_or_scenario(db, unit) {
        return None;
    }
    let traced = (config(db).tlx_rules == tlx::Rules::Compiler).then_some(traced);
    if traced.as_ref().is_some_and(|traced| traced.planned.plan.shared.high.is_some()) {
        plan.count_layouts(&kernel);
    }
    Some(Arc::new(TlxKernel { kernel, plan, traced, scenarios: scenarios.len(), selected }))
}

/// The kernel under a scenario, as its compiler follows it, and the plan of its specs.
fn laid_out<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
) -> Option<(TracedKernel, tlx::Plan)> {
    let (ast, imports, config) = (syntax(db, unit), imports(db, unit.file(db)), config(db));
    let device = device_of_others(db, unit.file(db)).0;
    let (scope, launch) = (UnitScope::new(db, unit), launch_values(db, unit));
    let params = params(ast, scenario::function(ast)?, &scope, imports, scenario, &launch);
    let told = params.into_iter().filter_map(|param| Some((param.name, (param.value, param.from?))));
    let scenario = &Scenario { values: told.chain(scenario.values.clone()).collect(), ..scenario.clone() };
    let machine = (scenario.arch.unwrap_or(device), scenario.compiler);
    let traced = traced(db, unit, scenario, machine, Dialect::Tlx, config.limits)?;
    let plan = within(config.limits, || tlx::plan(&traced.kernel, device, config.tlx_rules));
    let plan = plan.unwrap_or_else(|_| tlx::plan(&traced.kernel, device, config.tlx_rules));
    Some((traced, plan))
}

/// True for jit functions that may work on buffers of TLX.
#[salsa::tracked(returns(copy))]
pub(super) fn may_use_tlx<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    is_jit(db, unit) && (language::has_tlx(imports(db, unit.file(db))) || allocates(db, unit))
}

/// True for jit functions that take memory, themselves or through the functions that they call.
#[salsa::tracked(returns(copy), cycle_initial = does_not_allocate)]
fn allocates<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    if !is_jit(db, unit) {
        return false;
    }
    let through = |call: &Call| jit_functions(db, file).get(&call.callee).is_some_and(|&callee| allocates(db, callee));
    tlx::mentions_allocation(syntax(db, unit), imports(db, file))
        || calls_in(db, unit).iter().any(through)
        || calls_elsewhere(db, unit).next().is_some()
}

/// True for functions that have memory of their own to show. One that only calls a kernel is a launcher of it.
fn is_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let imports = imports(db, unit.file(db));
    let works_on_memory = || language::has_tlx(imports) && tlx::mentions_tlx(syntax(db, unit), imports);
    let is_kernel = allocates(db, unit) && (works_on_memory() || keeps_what_is_allocated(db, unit));
    is_kernel || has_tasks_or_scenario(db, unit)
}

/// True for functions of TLX without buffers of their own whose memory is asked for, or who hand arguments to tasks through it.
fn has_tasks_or_scenario<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let asks = || ["async_task", "# tilefit:"].iter().any(|word| unit.source(db).text.contains(word));
    is_jit(db, unit)
        && asks()
        && language::has_tlx(imports(db, unit.file(db)))
        && tlx::mentions_tlx(syntax(db, unit), imports(db, unit.file(db)))
}

/// True where a function takes what another one allocates for it.
fn keeps_what_is_allocated<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let ast = syntax(db, unit);
    let is_dropped = |call: ExprId| ast.stmts().any(|(_, stmt)| matches!(stmt, Stmt::Expr(expr) if *expr == call));
    let here = jit_functions(db, unit.file(db));
    let allocated_here = ast.exprs().filter(|(_, expr)| match expr {
        Expr::Call { func, .. } => {
            let callee = ast.name(*func).and_then(|name| here.get(name));
            callee.is_some_and(|&callee| callee != unit && allocates(db, callee))
        }
        _ => false,
    });
    let mut allocated = allocated_here.map(|(call, _)| call).chain(calls_elsewhere(db, unit));
    allocated.any(|call| !is_dropped(call))
}

/// The calls of functions of other files that take memory.
fn calls_elsewhere<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> impl Iterator<Item = ExprId> {
    let (ast, file) = (syntax(db, unit), unit.file(db));
    let callee = move |func: ExprId| match *ast.dotted(func)? {
        [name] => super::scope::imported(db, file, Name::new(db, name.to_owned()), None),
        [module, name] => {
            let source = super::scope::module_called(db, file, Name::new(db, module.to_owned()))?;
            super::scope::defined(db, source, name, BlockKind::Function)
        }
        _ => None,
    };
    ast.exprs().filter_map(move |(call, expr)| match expr {
        Expr::Call { func, .. } => callee(*func).filter(|&callee| allocates(db, callee)).map(|_| call),
        _ => None,
    })
}

fn does_not_allocate<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> bool {
    false
}

/// The value of a name around a function.
pub(crate) fn module_constant<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, name: &str) -> Option<Constant> {
    UnitScope::new(db, unit).constant(name)
}

pub(super) fn language_name(unit_scope: &UnitScope<'_>, path: &[&str]) -> Option<Constant> {
    let imports = imports(unit_scope.db, unit_scope.unit.file(unit_scope.db));
    language::name(&language::canonical(imports, path)?)
}

pub(super) fn language_call(
    unit_scope: &UnitScope<'_>,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
) -> Option<Constant> {
    let imports = imports(unit_scope.db, unit_scope.unit.file(unit_scope.db));
    language::call(&language::canonical(imports, path)?, arguments)
}
