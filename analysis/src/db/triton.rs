//! Kernels of Triton, Gluon and TLX in the database: which functions are kernels, each under the scenario in force.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, Stmt};

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::Compiler;
use tilefit_gpu::heuristics;
use tilefit_gpu::language::{self, Dtype};
use tilefit_gpu::plan::{MemoryPlan, Planned};
use tilefit_gpu::program::Program;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::tlx::language::has_tlx;
use tilefit_gpu::tlx::mentions_tlx;
use tilefit_gpu::trace::language_path;
use tilefit_python::finding::{Example, Finding, Note, Origin, Reason, Remedy};
use tilefit_python::work::{self, Limits};

use super::ascend;
use super::ascend_names::{backend_of, not_for};
use super::devices::device_of_others;
use super::dialect::Dialect;
use super::gpu::{TracedKernel, traced};
use super::jit::{is_jit, jit_functions};
use super::launches::launches_of;
use super::memory_usage::MemoryUsage;
use super::recorded::recorded;
use super::reexports::imports;
use super::scenarios::{callers, calls_in, device_of, launch_values, scenarios};
use super::scope::UnitScope;
use super::tilelang_names::{is_factory, is_for_metal};
use super::{SourceFile, Unit, config, syntax, tilelang, tlx, units};

/// A kernel under the scenario that is in force, and its memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TritonKernel {
    pub(crate) dialect: Dialect,
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) traced: TracedKernel,
    /// Scenarios there are, this one included.
    pub(crate) scenarios: usize,
    /// Which of them this one is.
    pub(crate) selected: usize,
    /// Why those before it are none that the compiler takes, by their numbers.
    pub(crate) refused: Vec<(usize, Finding)>,
}

/// The kernel that a unit is, under the first scenario that no `static_assert` refuses.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<TritonKernel>> {
    let dialect = triton_dialect(db, unit)?;
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let all = scenarios(db, unit);
    let first = all.first().cloned().unwrap_or_default();
    let mut traced = laid_out(db, unit, dialect, &first, &Elements::new())?;
    let (mut selected, mut refused, mut steps) = (0, Vec::new(), traced.steps);
    // A scenario that a `static_assert` refuses is never compiled: autotuning passes over it. If all are refused, the first one is shown with its error.
    if let Some(finding) = traced.failed_assert() {
        refused.push((0, finding.clone()));
        for (nth, scenario) in all.iter().enumerate().skip(1) {
            let usual = elements_of(&traced);
            let other = laid_out(db, unit, dialect, scenario, &usual);
            let Some(other) = other.filter(|_| steps < config(db).limits.steps) else {
                break;
            };
            steps += other.steps;
            match other.failed_assert() {
                Some(finding) => refused.push((nth, finding.clone())),
                None => {
                    (selected, traced) = (nth, other);
                    break;
                }
            }
        }
    }
    let at = ast.body.iter().find(|&&stmt| matches!(ast.stmt(stmt), Stmt::Function(_)))?;
    let name = ast.name(function.name).unwrap_or_default().to_owned();
    Some(Arc::new(TritonKernel {
        dialect,
        name,
        origin: Origin::Stmt(*at),
        traced,
        scenarios: all.len(),
        selected,
        refused,
    }))
}

/// Element types that nothing says and that are assumed, by the pointers that lead to them.
pub(super) type Elements = BTreeMap<String, Dtype>;

/// The kernel under a scenario. `usual`: what is assumed under another one, so that it need not be found out again.
pub(super) fn laid_out<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    usual: &Elements,
) -> Option<TracedKernel> {
    let limits = config(db).limits;
    let kernel = laid_out_within(db, unit, dialect, scenario, limits, usual)?;
    if is_refused_for_elements(&kernel) {
        return follow(db, unit, dialect, scenario, limits, &Elements::new());
    }
    Some(kernel)
}

/// Whether the compiler refuses a kernel, but with elements that are only assumed: it may take others.
pub(super) fn is_refused_for_elements(kernel: &TracedKernel) -> bool {
    kernel.refusal().is_some() && !elements_of(kernel).is_empty()
}

/// The same, as far as the limits allow, and with the elements that are usual where pointers have no type and operands of products are loaded through them.
pub(super) fn laid_out_within<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    limits: Limits,
    usual: &Elements,
) -> Option<TracedKernel> {
    let launched = launch_values(db, unit);
    let is_told = |name: &str| {
        [&scenario.values, &launched].iter().any(|it| it.contains_key(name)) || scenario.arguments.contains_key(name)
    };
    let mut elements: Elements =
        usual.iter().filter(|(name, _)| !is_told(name)).map(|(name, it)| (name.clone(), *it)).collect();
    let mut kernel = follow(db, unit, dialect, scenario, limits, &elements)?;
    // What has a type now may be multiplied with something else that has none.
    while kernel.usual.keys().any(|name| !elements.contains_key(name)) && elements.len() < MOST_ASSUMED {
        elements.extend(kernel.usual.clone());
        let Some(next) = follow(db, unit, dialect, scenario, limits, &elements).filter(|next| next.is_planned) else {
            break;
        };
        kernel = TracedKernel { steps: kernel.steps + next.steps, ..next };
    }
    Some(kernel)
}

/// Pointers whose types are assumed at most, one after the other.
const MOST_ASSUMED: usize = 8;

/// The kernel under a scenario, with these elements.
fn follow<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    limits: Limits,
    elements: &Elements,
) -> Option<TracedKernel> {
    let ast = syntax(db, unit);
    let scenario = scenario.clone().with_options_as_values(scenario::function(ast)?, ast);
    let arch = scenario.arch.unwrap_or_else(|| device_of_others(db, unit.file(db)).0);
    let backend = backend_of(db, unit);
    let is_for_metal = || dialect == Dialect::TileLang && is_for_metal(db, unit.file(db));
    let elsewhere = match arch.is_npu() != backend.is_some() {
        true => Some(not_for(arch, backend.is_some())),
        false => is_for_metal().then(|| Reason::new("the kernel is for Metal, whose memory is not modelled")),
    };
    if let Some(reason) = elsewhere {
        let name = Origin::Expr(scenario::function(ast)?.name);
        let plan = MemoryPlan::unknown(arch, std::slice::from_ref(&reason));
        let planned = Planned { plan, hidden: Vec::new(), sites: Vec::new() };
        let planner = (dialect == Dialect::TileLang).then_some(tilefit_tilelang::COMPILER);
        let kernel = TracedKernel::of(name, Program::default(), planned, arch);
        return Some(TracedKernel { notes: vec![Note { at: name, reason }], planner, ..kernel });
    }
    if let Some(backend) = backend {
        return ascend::traced(db, unit, &scenario, (backend, arch), limits);
    }
    if dialect == Dialect::TileLang {
        return tilelang::traced(db, unit, &scenario, arch, limits);
    }
    let scope = UnitScope::on(db, unit, Some(arch));
    let mut scenario = heuristics::chosen(scenario, ast, imports(db, unit.file(db)), &scope);
    // A plan of TLX is for any of them.
    let is_open = scenario.compiler.is_none() && dialect == Dialect::Triton;
    // Who has block pointers has a compiler that takes them. Helpers may have them, too.
    let is_older = is_open && unit.source(db).text.contains("make_block_ptr");
    let usual = if is_older { Compiler::V3_8 } else { Compiler::V3_9 };
    let compiler = scenario.compiler.or(Some(usual).filter(|_| dialect != Dialect::Tlx));
    for (name, dtype) in elements {
        scenario = scenario.where_it_is(name, &dtype.constant(), "what is usual");
    }
    let mut kernel = traced(db, unit, &scenario, (arch, compiler), dialect, limits)?;
    if is_open && kernel.has_block_pointers != is_older {
        let other = if is_older { Compiler::V3_9 } else { Compiler::V3_8 };
        kernel = traced(db, unit, &scenario, (arch, Some(other)), dialect, limits)?;
    }
    if is_open && kernel.has_block_pointers {
        kernel.assumed.push(Assumed::Compiler(Compiler::V3_8));
    }
    kernel.assumed.extend(elements.iter().map(|(name, dtype)| Assumed::Elements(name.clone(), *dtype)));
    Some(kernel)
}

/// The element types that a plan assumes.
pub(super) fn elements_of(kernel: &TracedKernel) -> Elements {
    let element = |it: &Assumed| match it {
        Assumed::Elements(name, dtype) => Some((name.clone(), *dtype)),
        _ => None,
    };
    kernel.assumed.iter().filter_map(element).collect()
}

/// The parameters on which memory may depend; `None`: any of them.
pub(super) fn relevant_params<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
) -> Option<BTreeSet<String>> {
    (dialect == Dialect::Tlx).then(|| tlx::relevant_params(db, unit))
}

/// A survey may take this many times the steps of one kernel.
const SURVEYED_FOR_ONE: u64 = 4;

/// The memory of a kernel that is laid out.
pub(super) fn usage(traced: &TracedKernel) -> MemoryUsage {
    work::spend(traced.steps / SURVEYED_FOR_ONE);
    let plan = &traced.planned.plan;
    let refusal = traced.refusal();
    let elements =
        traced.assumed.iter().filter(|it| matches!(it, Assumed::Elements(..) | Assumed::Launch(_))).cloned().collect();
    let usage = MemoryUsage::of(traced.taken().collect(), refusal.is_some());
    let usage = MemoryUsage { elements, ..usage };
    if let Some(Finding { at, message, .. }) = refusal {
        let refusal = Note { at: *at, reason: Reason::new(message) };
        return MemoryUsage { refusal: Some(refusal), ..usage };
    }
    let mut reasons = plan.reasons().chain(traced.notes.iter().map(|note| &note.reason));
    MemoryUsage { reason: reasons.next().cloned().filter(|_| !usage.is_exact()), ..usage }
}

/// The parameters whose values a kernel lacks, in the order in which they are met.
pub(super) fn asked_for(traced: &TracedKernel) -> Vec<(String, Example)> {
    let plan = &traced.planned.plan;
    asked_by_any(traced.notes.iter().map(|note| &note.reason).chain(plan.reasons()))
}

pub(super) fn asked_by_any<'a>(reasons: impl Iterator<Item = &'a Reason>) -> Vec<(String, Example)> {
    let mut found: Vec<(String, Example)> = Vec::new();
    for asked in reasons.filter_map(asked_by) {
        if !found.iter().any(|(name, _)| *name == asked.0) {
            found.push(asked);
        }
    }
    found
}

/// The parameter that a reason asks for, with an example.
pub(super) fn asked_by(reason: &Reason) -> Option<(String, Example)> {
    match reason.remedy() {
        Some(Remedy::Value { param, example, .. }) => Some((param.clone(), *example)),
        _ => None,
    }
}

/// The language of which a function is a kernel: one that has memory of TLX, is launched, or that no other jit function of its file calls.
#[salsa::tracked(returns(copy))]
pub(crate) fn triton_dialect<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Dialect> {
    let file = unit.file(db);
    if is_factory(db, unit) {
        return Some(Dialect::TileLang);
    }
    if unit.key(db).kind != BlockKind::Function || !is_jit(db, unit) {
        return None;
    }
    if tlx::is_kernel(db, unit) {
        return Some(Dialect::Tlx);
    }
    let ast = syntax(db, unit);
    let imports = imports(db, file);
    let is_gluon = scenario::is_gluon(ast, imports, scenario::function(ast)?);
    // What calls a kernel of TLX is a part of it.
    let is_of_tlx = || mentions_tlx(ast, imports) || has_tlx(imports) && works_with_tlx(db, unit);
    if !is_gluon && is_of_tlx() {
        return None;
    }
    let is_method = unit.parent(db).is_some_and(|parent| parent.key(db).kind == BlockKind::ClassHeader);
    let is_called = || {
        let callers = callers(db, file).get(unit.key(db).name());
        callers.is_some_and(|callers| callers.iter().any(|&caller| caller != unit && is_jit(db, caller)))
    };
    let is_launched = || !launches_of(db, unit, Some(device_of(db, unit))).is_empty();
    // A task is handed to `gl.warp_specialize` by its name, and what combines elements to `tl.reduce`; nothing launches them.
    let is_handed_on = || named_by_kernels(db, file).contains(unit.key(db).name()) && !is_launched();
    // What gives something back is a helper, of whichever file.
    let is_helper = || !is_gluon && (gives_something(ast) || has_tlx(imports)) && !is_launched();
    let has_comment = unit.source(db).text.contains("tilefit:");
    let is_kernel = has_comment
        || !recorded(db, unit).is_empty()
        || (!is_method && !is_called() && !is_handed_on() && !is_helper());
    is_kernel.then_some(if is_gluon { Dialect::Gluon } else { Dialect::Triton })
}

/// Whether a function, or one that it calls, uses anything of TLX. Of functions of other files it is taken that they do.
#[salsa::tracked(returns(copy), cycle_initial = uses_none)]
fn works_with_tlx<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    let here = jit_functions(db, file);
    mentions_tlx(syntax(db, unit), imports(db, file))
        || calls_in(db, unit).iter().any(|call| match here.get(&call.callee) {
            Some(&callee) => callee != unit && works_with_tlx(db, callee),
            None => true,
        })
}

fn uses_none<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> bool {
    false
}

/// Whether a function returns anything, as no kernel does.
fn gives_something(ast: &Ast) -> bool {
    ast.stmts().any(|(_, stmt)| matches!(stmt, Stmt::Return(Some(_))))
}

/// The jit functions that other ones name.
#[salsa::tracked(returns(ref))]
fn named_by_kernels(db: &dyn salsa::Database, file: SourceFile) -> Arc<BTreeSet<String>> {
    let functions = jit_functions(db, file);
    let mut named = BTreeSet::new();
    for &unit in units(db, file).iter().filter(|&&unit| is_jit(db, unit)) {
        let own = unit.key(db).name();
        let names = syntax(db, unit).exprs().filter_map(|(_, expr)| match expr {
            Expr::Name(name) if name != own && functions.contains_key(name) => Some(name.clone()),
            _ => None,
        });
        named.extend(names);
    }
    Arc::new(named)
}

/// Whether a decorator makes a kernel of Gluon of a function.
pub(crate) fn is_gluon_decorator(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> bool {
    language::canonical(imports(db, file), path).as_deref() == Some("gluon.jit")
}

/// Whether a decorator makes a kernel of Triton of a function.
pub(crate) fn is_triton_decorator(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> bool {
    language::canonical(imports(db, file), path).as_deref() == Some("triton.jit")
}

/// A dotted name of Triton's under the usual names of its modules.
pub(crate) fn triton_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<String> {
    language::canonical(imports(db, file), path).filter(|full| full == "tl" || full.starts_with("tl."))
}

/// A dotted name of Gluon's by its path in the language: `gl.mbarrier.init`.
pub(crate) fn gluon_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<String> {
    let full = language::canonical(imports(db, file), path)?;
    match full.split_once('.') {
        None if full == "gl" => Some(full),
        Some(("gl", inner)) => Some(format!("gl.{}", language_path(inner))),
        _ => None,
    }
}
