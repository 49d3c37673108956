//! Kernels of Triton, Gluon and TLX in the database: which functions are kernels, each under the scenario in force.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr, Stmt};

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::Compiler;
use tilefit_gpu::heuristics;
use tilefit_gpu::language::{self, Dtype};
use tilefit_gpu::possible::{Range, ranges};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::tlx::language::has_tlx;
use tilefit_gpu::tlx::mentions_tlx;
use tilefit_gpu::trace::{Dialect, language_path};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Finding, Note, Origin, Reason, Remedy};
use tilefit_python::work::{self, Limits};

use super::devices::device_of_others;
use super::gpu::{TracedKernel, traced};
use super::launches::launches_of;
use super::possible::{self, estimate, estimate_in_force};
use super::reexports::imports;
use super::scenario_tables::{MemoryUsage, SURVEYED_FOR_ONE, ScenarioTable, distinct, survey};
use super::scenarios::{callers, calls_in, is_jit, jit_functions, launch_values, scenarios};
use super::scope::UnitScope;
use super::tlx::TlxPart;
use super::{SourceFile, Unit, config, syntax, tlx, units};

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
fn is_refused_for_elements(kernel: &TracedKernel) -> bool {
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
    let mut scenario = heuristics::chosen(scenario, ast, imports(db, unit.file(db)), &UnitScope::new(db, unit));
    let arch = scenario.arch.unwrap_or_else(|| device_of_others(db, unit.file(db)).0);
    // A plan of TLX is for any of them.
    let compiler = scenario.compiler.or(Some(Compiler::V3_9).filter(|_| dialect != Dialect::Tlx));
    for (name, dtype) in elements {
        scenario = scenario.where_it_is(name, &dtype.constant(), "what is usual");
    }
    let mut kernel = traced(db, unit, &scenario, (arch, compiler), dialect, limits)?;
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

/// The least bytes and columns that a kernel takes whatever the options are that its plan assumes; `None` where that is not known.
#[salsa::tracked(returns(copy))]
pub(crate) fn triton_least<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<(u64, u64)> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    let usual = elements_of(&kernel.traced);
    let usage = |scenario: &Scenario| Some(usage(&laid_out(db, unit, kernel.dialect, scenario, &usual)?));
    least(&scenario, &kernel.traced, &usage)
}

/// Stages of which one more than one may overlap a loop, and more take no less.
const FEWEST_STAGES: [u32; 2] = [1, 2];

/// The least of a kernel over the options that its plan assumes under a scenario.
pub(super) fn least(
    scenario: &Scenario,
    traced: &TracedKernel,
    usage: &dyn Fn(&Scenario) -> Option<MemoryUsage>,
) -> Option<(u64, u64)> {
    let mut ways = vec![scenario.clone()];
    for assumed in &traced.assumed {
        let with = |set: fn(&mut Scenario, u32), values: &[u32]| -> Vec<Scenario> {
            let one = |way: &Scenario, value: u32| {
                let mut way = way.clone();
                set(&mut way, value);
                way
            };
            ways.iter().flat_map(|way| values.iter().map(move |&value| one(way, value))).collect()
        };
        ways = match assumed {
            Assumed::Device(..) => continue,
            Assumed::Warps(_) => with(|way, warps| way.num_warps = Some(warps), &[1, 2, 4, 8, 16, 32]),
            Assumed::Stages(_) => with(|way, stages| way.num_stages = Some(stages), &FEWEST_STAGES),
            Assumed::Number(..) | Assumed::Elements(..) => return None,
        };
    }
    if traced.steps.saturating_mul(ways.len() as u64) > possible::STEPS {
        return None;
    }
    let taken = ways.iter().map(|way| usage(way).map(|it| (it.smem.0, it.tmem.0)));
    taken.reduce(|one, other| {
        let (one, other) = (one?, other?);
        Some((one.0.min(other.0), one.1.min(other.1)))
    })?
}

/// Nothing where there are fewer than two scenarios.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_scenario_table<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<ScenarioTable> {
    let kernel = triton_kernel(db, unit).as_ref().filter(|kernel| kernel.scenarios > 1)?;
    let left = Cell::new(possible::STEPS);
    let relevant = relevant_params(db, unit, kernel.dialect);
    survey(db, unit, kernel.selected, relevant.as_ref(), &|scenario| {
        estimate(db, unit, kernel.dialect, scenario, &left)
    })
}

/// The parameters on which memory may depend; `None`: any of them.
pub(super) fn relevant_params<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
) -> Option<BTreeSet<String>> {
    (dialect == Dialect::Tlx).then(|| tlx::relevant_params(db, unit))
}

/// What nothing says of a kernel and any of its numbers rests on: those of the plan, and of the tables of what else there is.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_assumed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Assumed> {
    let Some(kernel) = triton_kernel(db, unit) else { return Vec::new() };
    let table = triton_scenario_table(db, unit).as_ref().filter(|table| table.fits.1 > 0);
    // What is possible is spoken of where no configuration is known.
    let possible = if table.is_none() { estimate_in_force(db, unit).as_ref() } else { None };
    let of_table = table.map(|table| &table.elements);
    let of_possible = possible.map(|estimate| &estimate.usage.elements);
    distinct([&kernel.traced.assumed].into_iter().chain(of_table).chain(of_possible))
}

/// The memory of a kernel that is laid out.
pub(super) fn usage(traced: &TracedKernel) -> MemoryUsage {
    work::spend(traced.steps / SURVEYED_FOR_ONE);
    let (shared, tensor) = (&traced.planned.plan.shared, &traced.planned.plan.tensor);
    let refusal = traced.refusal();
    let elements = traced.assumed.iter().filter(|it| matches!(it, Assumed::Elements(..))).cloned().collect();
    let usage = MemoryUsage::on(traced.arch, (shared.low, shared.high), (tensor.low, tensor.high), refusal.is_some());
    let usage = MemoryUsage { elements, ..usage };
    if let Some(Finding { at, message, .. }) = refusal {
        let refusal = Note { at: *at, reason: Reason::new(message) };
        return MemoryUsage { refusal: Some(refusal), ..usage };
    }
    let mut reasons = shared.reasons.iter().chain(&tensor.reasons).chain(traced.notes.iter().map(|note| &note.reason));
    MemoryUsage { reason: reasons.next().cloned().filter(|_| !usage.is_exact()), ..usage }
}

/// What a kernel lacks before its sizes have bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Needed {
    /// The parameters that need values, each with an example.
    pub(crate) values: Vec<(String, String)>,
    /// What no value would help with; `values` is empty then.
    pub(crate) obstacle: Option<Reason>,
}

/// What the kernel that a unit is lacks. A parameter that may be one of few is not asked for, but tried with each, as long as that is not too much.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_needed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Needed {
    let Some(kernel) = triton_kernel(db, unit) else { return Needed::default() };
    if asked_for(&kernel.traced).is_empty() && asked_for_sizes(&kernel.traced).is_empty() {
        return Needed { values: Vec::new(), obstacle: obstacle(&kernel.traced) };
    }
    let mut scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    let ranges = ranges(syntax(db, unit), imports(db, unit.file(db)), &UnitScope::new(db, unit));
    // Kernels of Gluon have layouts, which depend on all that the author gives.
    let is_tried = kernel.dialect.leaves_layouts();
    let is_few = |name: &str, example: Example| match ranges.get(name) {
        Some(range) => is_tried && matches!(range, Range::Flag | Range::Among(_) | Range::Element),
        None => is_tried && possible::of_elements(example).is_some(),
    };
    let left = Cell::new(possible::STEPS);
    let rest = |values: &[(String, String)], scenario: &Scenario| {
        let mut rest = constexprs_without_values(db, unit, scenario);
        rest.retain(|(name, _)| !values.iter().any(|(known, _)| known == name));
        rest
    };
    let mut values: Vec<(String, String)> = Vec::new();
    let mut with_values: Option<TracedKernel> = None;
    // A value may lead to sizes that need another one.
    while values.len() < MOST_NEEDED {
        let traced = with_values.as_ref().unwrap_or(&kernel.traced);
        let is_new = |name: &str| !values.iter().any(|(known, _)| known == name);
        let mut given: Vec<_> = asked_for_sizes(traced).into_iter().filter(|(name, _)| is_new(name)).collect();
        let others = asked_for(traced).into_iter().filter(|asked| is_new(&asked.0) && !given.contains(asked));
        let (others, mut few): (Vec<_>, Vec<_>) = others.partition(|(name, example)| !is_few(name, *example));
        given.extend(others);
        if given.is_empty() {
            let tried = if is_tried { estimate(db, unit, kernel.dialect, &scenario, &left) } else { None };
            if tried.as_ref().is_some_and(|estimate| estimate.usage.is_bounded()) {
                break;
            }
            let behind = tried.and_then(|estimate| asked_by(estimate.usage.reason.as_ref()?));
            match behind.filter(|(name, example)| is_new(name) && !is_few(name, *example)) {
                Some(behind) => given.push(behind),
                None => given = std::mem::take(&mut few),
            }
        }
        if given.is_empty() {
            // Where the author makes the buffers, values give at least those.
            if let Some(obstacle) = obstacle(traced).filter(|_| kernel.dialect == Dialect::Triton) {
                return Needed { values: Vec::new(), obstacle: Some(obstacle) };
            }
            values.extend(rest(&values, &scenario));
            break;
        }
        for (name, example) in given {
            let example = example_of(&name, ranges.get(&name), example.text());
            scenario = scenario.filled_from(&Scenario::parse(&format!("{name}={example}")));
            values.push((name, example));
        }
        // Values of which nothing says how large they are may make it too large to say more.
        let usual = elements_of(with_values.as_ref().unwrap_or(&kernel.traced));
        let Ok(tried) = possible::tried(db, unit, kernel.dialect, &scenario, &left, &usual) else {
            values.extend(few.into_iter().map(|(name, example)| (name, example.text().to_owned())));
            values.extend(rest(&values, &scenario));
            break;
        };
        let without = || laid_out(db, unit, kernel.dialect, &scenario, &Elements::new());
        let is_refused = is_refused_for_elements(&tried);
        with_values = Some(if is_refused { without().unwrap_or(tried) } else { tried });
    }
    in_order(syntax(db, unit), &mut values);
    Needed { values, obstacle: None }
}

/// Why a kernel has no bounds, where no value of a parameter would give it some.
fn obstacle(traced: &TracedKernel) -> Option<Reason> {
    let plan = &traced.planned.plan;
    let is_bounded = plan.shared.high.is_some() && plan.tensor.high.is_some();
    let mut reasons = traced.notes.iter().map(|note| &note.reason).filter(|reason| reason.remedy().is_none());
    reasons.next().filter(|_| !is_bounded).cloned()
}

/// In the order of a kernel's parameters.
pub(super) fn in_order(ast: &Ast, values: &mut [(String, String)]) {
    let params = scenario::function(ast).map_or(&[][..], |function| function.params.as_slice());
    values.sort_by_key(|(name, _)| params.iter().position(|param| ast.name(param.name) == Some(name.as_str())));
}

/// The constexpr parameters that have no value, each with an example.
pub(super) fn constexprs_without_values<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
) -> Vec<(String, String)> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let (ranges, launched) = (ranges(ast, imports, &UnitScope::new(db, unit)), launch_values(db, unit));
    let params = scenario::function(ast).map_or(&[][..], |function| function.params.as_slice());
    let mut found = Vec::new();
    for param in params.iter().filter(|param| param.default.is_none()) {
        let Some(name) = ast.name(param.name) else { continue };
        let is_constexpr = param.annotation.is_some_and(|it| scenario::is_constexpr(ast, imports, it));
        if is_constexpr && scenario.value(name, true).is_none() && !launched.contains_key(name) {
            found.push((name.to_owned(), example_of(name, ranges.get(name), "128")));
        }
    }
    found
}

/// A value that a parameter may have.
fn example_of(name: &str, range: Option<&Range>, of_any: &str) -> String {
    match (name, range) {
        ("num_warps", _) => "4".to_owned(),
        ("num_stages", _) => "3".to_owned(),
        (_, Some(Range::Flag)) => "True".to_owned(),
        (_, Some(Range::Element)) => "bf16".to_owned(),
        (_, Some(Range::Among(values))) => values.first().map_or_else(|| of_any.to_owned(), written),
        _ => of_any.to_owned(),
    }
}

/// As a scenario comment takes it.
fn written(value: &Constant) -> String {
    match value {
        Constant::Int(value) => value.to_string(),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Str(text) => format!("\"{text}\""),
        _ => "None".to_owned(),
    }
}

/// Parameters that are asked for at once.
const MOST_NEEDED: usize = 64;

/// The parameters whose values a kernel lacks, in the order in which they are met.
pub(super) fn asked_for(traced: &TracedKernel) -> Vec<(String, Example)> {
    let plan = &traced.planned.plan;
    asked_by_any(traced.notes.iter().map(|note| &note.reason).chain(&plan.shared.reasons).chain(&plan.tensor.reasons))
}

/// Those that sizes of specs and buffers of TLX depend on. Their author reads these beside them, and not only what all come to.
fn asked_for_sizes(traced: &TracedKernel) -> Vec<(String, Example)> {
    asked_by_any(traced.tlx.iter().flat_map(TlxPart::unknown))
}

fn asked_by_any<'a>(reasons: impl Iterator<Item = &'a Reason>) -> Vec<(String, Example)> {
    let mut found: Vec<(String, Example)> = Vec::new();
    for asked in reasons.filter_map(asked_by) {
        if !found.iter().any(|(name, _)| *name == asked.0) {
            found.push(asked);
        }
    }
    found
}

/// The parameter that a reason asks for, with an example.
fn asked_by(reason: &Reason) -> Option<(String, Example)> {
    match reason.remedy() {
        Some(Remedy::Value { param, example, .. }) => Some((param.clone(), *example)),
        _ => None,
    }
}

/// The language of which a function is a kernel: one that has memory of TLX, is launched, or that no other jit function of its file calls.
#[salsa::tracked(returns(copy))]
pub(crate) fn triton_dialect<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Dialect> {
    let file = unit.file(db);
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
    let is_launched = || !launches_of(db, unit).is_empty();
    // A task is handed to `gl.warp_specialize` by its name, and what combines elements to `tl.reduce`; nothing launches them.
    let is_handed_on = || named_by_kernels(db, file).contains(unit.key(db).name()) && !is_launched();
    // What gives something back is a helper, of whichever file.
    let is_helper = || !is_gluon && (gives_something(ast) || has_tlx(imports)) && !is_launched();
    let has_comment = unit.source(db).text.contains("tilefit:");
    let is_kernel = has_comment || (!is_method && !is_called() && !is_handed_on() && !is_helper());
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
