//! TLX kernels in the database: the scenarios of each function, the kernel under one of them, its memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Ast, Expr};

use crate::eval::Imports;
use crate::eval::{self, Argument, Constant, Scope};
use crate::ir::Reason;
use crate::tlx::language;
use crate::tlx::scenario::{self, Call, Scenario, ScenarioScope};
use crate::tlx::{self, front, kernel};
use crate::triton::tensor_memory::requested_columns;
use crate::work::{Failure, within};

use super::{Name, SourceFile, Unit, UnitScope, config, syntax, units};

/// What the module of a file imports of Triton.
#[salsa::tracked(returns(ref))]
pub(crate) fn imports(db: &dyn salsa::Database, file: SourceFile) -> Arc<Imports> {
    let mut imports = Imports::default();
    for &unit in units(db, file).iter().filter(|unit| unit.key(db).kind == BlockKind::Statements) {
        // The look at the text keeps files without Triton from being parsed.
        if unit.source(db).text.contains("triton") {
            imports.add(syntax(db, unit));
        }
    }
    Arc::new(imports)
}

/// The texts of the scenario comments of a unit. Other comments change nothing here.
#[salsa::tracked(returns(ref))]
fn comments<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<String>> {
    let text = &unit.source(db).text;
    if !text.contains("tilefit:") {
        return Arc::default();
    }
    Arc::new(scenario::comments(text))
}

/// The names of the `@triton.jit` functions of a file.
#[salsa::tracked(returns(ref))]
fn jit_functions<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Unit<'db>>> {
    let functions = units(db, file).iter().filter(|&&unit| is_jit(db, unit));
    let named = functions.map(|&unit| (unit.key(db).name().to_owned(), unit));
    Arc::new(named.collect())
}

#[salsa::tracked(returns(copy))]
fn is_jit<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    if unit.key(db).kind != BlockKind::Function {
        return false;
    }
    let ast = syntax(db, unit);
    scenario::function(ast).is_some_and(|function| scenario::is_jit(ast, imports(db, unit.file(db)), function))
}

/// Calls and launches of jit functions in a unit. Those of jit functions are evaluated under their scenarios elsewhere.
#[salsa::tracked(returns(ref))]
fn calls_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Call>> {
    let functions = jit_functions(db, unit.file(db));
    let scope = FunctionScope(UnitScope::new(db, unit));
    Arc::new(scenario::calls(syntax(db, unit), &scope, &|name| functions.contains_key(name)))
}

/// Where each jit function of a file is called or launched.
#[salsa::tracked(returns(ref))]
fn callers<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Vec<Unit<'db>>>> {
    let mut callers: BTreeMap<String, Vec<Unit<'db>>> = BTreeMap::new();
    for &unit in units(db, file) {
        for call in calls_in(db, unit).iter() {
            let units = callers.entry(call.callee.clone()).or_default();
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
    }
    Arc::new(callers)
}

#[salsa::tracked(returns(clone))]
fn callers_of<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Vec<Unit<'db>> {
    callers(db, file).get(name.text(db)).cloned().unwrap_or_default()
}

/// Values under which a jit function may be compiled: what its comments say, its autotune configurations, those of its callers.
/// Empty where nothing says anything.
#[salsa::tracked(returns(ref), cycle_result = no_scenarios)]
pub(crate) fn scenarios<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Scenario>> {
    let scope = UnitScope::new(db, unit);
    let configurations = scenario::configurations(syntax(db, unit), imports(db, unit.file(db)), &scope);
    let bases = match configurations {
        Some(Ok(scenarios)) => scenarios,
        Some(Err(_)) => Vec::new(),
        None => from_callers(db, unit),
    };
    let explicit = scenario::explicit(comments(db, unit), configured(db, unit));
    Arc::new(scenario::combine(&explicit, bases))
}

/// The scenarios that the configuration gives a kernel.
fn configured<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db [Scenario] {
    let configured = &config(db).tlx_scenarios;
    let name = unit.key(db).name();
    configured.get(name).or_else(|| configured.get("*")).map_or(&[], Vec::as_slice)
}

fn no_scenarios<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> Arc<Vec<Scenario>> {
    Arc::default()
}

/// The scenarios of the jit functions that call this one, through the arguments of the call.
fn from_callers<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Scenario> {
    let mut found: Vec<Scenario> = Vec::new();
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return found };
    let Some(name) = ast.name(function.name) else { return found };
    for caller in callers_of(db, unit.file(db), Name::new(db, name.to_owned())) {
        if caller == unit || !is_jit(db, caller) {
            continue;
        }
        let outer = UnitScope::new(db, caller);
        let caller_name = caller.key(db).path.clone();
        let launched = Scenario { values: launch_values(db, caller), arch: None };
        let scenarios = match scenarios(db, caller).as_slice() {
            [] => vec![launched],
            scenarios => scenarios.iter().map(|scenario| scenario.filled_from(&launched)).collect(),
        };
        for scenario in &scenarios {
            let scope = ScenarioScope { scenario, outer: &outer };
            let calls = scenario::calls(syntax(db, caller), &scope, &|callee| callee == name);
            for call in calls {
                let mut values = call.values(ast, function, &format!("`{caller_name}`"));
                for (parameter, (_, from)) in &mut values {
                    if let Some((_, origin)) = scenario.values.get(parameter) {
                        *from = format!("{origin} of `{caller_name}`");
                    }
                }
                let through = Scenario { values, arch: scenario.arch };
                let is_new = !through.values.is_empty() && !found.contains(&through);
                if is_new && found.len() < scenario::MOST_SCENARIOS {
                    found.push(through);
                }
            }
        }
    }
    found
}

/// Arguments on which all launches and calls agree, by parameter.
fn launch_values<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> BTreeMap<String, (Constant, String)> {
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return BTreeMap::new() };
    let Some(name) = ast.name(function.name) else { return BTreeMap::new() };
    let mut agreed: Option<BTreeMap<String, (Constant, String)>> = None;
    for caller in callers_of(db, unit.file(db), Name::new(db, name.to_owned())) {
        for call in calls_in(db, caller).iter().filter(|call| call.callee == name) {
            let values = call.values(ast, function, &format!("the launch in `{}`", caller.key(db).path));
            match &mut agreed {
                None => agreed = Some(values),
                Some(agreed) => {
                    agreed.retain(|name, (value, _)| values.get(name).is_some_and(|(other, _)| other == value))
                }
            }
        }
    }
    agreed.unwrap_or_default()
}

/// A TLX kernel under the scenario that is in force, and its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlxKernel {
    pub(crate) kernel: kernel::Kernel,
    pub(crate) plan: tlx::Plan,
    /// Scenarios there are, this one included.
    pub(crate) scenarios: usize,
    /// Which of them this one is.
    pub(crate) selected: usize,
}

/// What the scenarios of a kernel come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ScenarioTable {
    pub(crate) rows: Vec<ScenarioRow>,
    /// Scenarios after those that were looked at.
    pub(crate) more: usize,
    /// A function of the author's drops some of them before any is compiled.
    pub(crate) pruned: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScenarioRow {
    pub(crate) scenario: Scenario,
    pub(crate) verdict: Verdict,
    /// Bytes.
    pub(crate) smem: u64,
    /// Columns, as they are requested.
    pub(crate) tmem: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fits,
    Exceeds,
    /// A `static_assert` is not satisfied.
    Refused,
    /// Sizes are missing.
    Unknown,
}

impl ScenarioTable {
    /// How many fit, of those of known size that no `static_assert` refuses.
    pub(crate) fn fits(&self) -> (usize, usize) {
        let count = |verdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        let fits = count(Verdict::Fits);
        (fits, fits + count(Verdict::Exceeds))
    }
}

/// Scenarios that a table has rows for.
const MOST_ROWS: usize = 64;

/// Nothing where there are fewer than two scenarios.
#[salsa::tracked(returns(ref))]
pub(crate) fn tlx_scenario_table<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<ScenarioTable> {
    tlx_kernel(db, unit).as_ref().filter(|kernel| kernel.scenarios > 1)?;
    let launch = launch_values(db, unit);
    let scope = UnitScope::new(db, unit);
    let (ast, imports, config) = (syntax(db, unit), imports(db, unit.file(db)), config(db));
    let scenarios = scenarios(db, unit);
    let row = |scenario: &Scenario| {
        let kernel = front::read(ast, &scope, imports, scenario, &launch)?;
        let plan = tlx::plan(&kernel, config.tlx_arch, config.tlx_rules);
        let verdict = match plan.fits() {
            _ if kernel.contradiction.is_some() => Verdict::Refused,
            _ if !plan.is_exact(&kernel) => Verdict::Unknown,
            true => Verdict::Fits,
            false => Verdict::Exceeds,
        };
        let (smem, tmem) = (plan.smem.all, requested_columns(plan.tmem.all));
        Some(ScenarioRow { scenario: scenario.clone(), verdict, smem, tmem })
    };
    // One budget for all of them: a table is shown for one kernel.
    let rows = within(config.limits, || scenarios.iter().take(MOST_ROWS).map(row).collect::<Option<Vec<_>>>());
    let rows = rows.ok()??;
    let more = scenarios.len().saturating_sub(MOST_ROWS);
    Some(ScenarioTable { rows, more, pruned: is_pruned(db, unit) })
}

/// True where the configurations of a kernel, or of one that calls it, are pruned.
fn is_pruned<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    let imports = imports(db, file);
    let name = unit.key(db).name();
    let callers = callers_of(db, file, Name::new(db, name.to_owned()));
    callers.into_iter().chain([unit]).any(|unit| scenario::is_pruned(syntax(db, unit), imports))
}

/// The TLX kernel that a unit is, under the first scenario that no `static_assert` refuses.
#[salsa::tracked(returns(ref))]
pub(crate) fn tlx_kernel<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<TlxKernel>> {
    let imports = imports(db, unit.file(db));
    // A function that only calls a kernel is a launcher of it, and has nothing of its own to show.
    if !language::has_tlx(imports) || !allocates(db, unit) || !front::mentions_tlx(syntax(db, unit), imports) {
        return None;
    }
    let launch = launch_values(db, unit);
    let scope = UnitScope::new(db, unit);
    let ast = syntax(db, unit);
    let scenarios = scenarios(db, unit);
    let config = config(db);
    let read = |scenario: &Scenario| {
        let read = within(config.limits, || front::read(ast, &scope, imports, scenario, &launch));
        read.unwrap_or_else(|failure| failed(ast, failure))
    };
    let mut first = None;
    for (index, scenario) in scenarios.iter().enumerate() {
        let kernel = read(scenario)?;
        // A scenario that a `static_assert` refuses is never compiled. If all are refused, the first one is shown with its error.
        if kernel.contradiction.is_none() {
            first = Some((index, kernel));
            break;
        }
        first = first.or(Some((index, kernel)));
    }
    let (selected, kernel) = match first {
        Some(first) => first,
        None => (0, read(&Scenario::default())?),
    };
    let (kernel, plan) = match within(config.limits, || tlx::plan(&kernel, config.tlx_arch, config.tlx_rules)) {
        Ok(plan) => (kernel, plan),
        Err(failure) => {
            let kernel = failed(ast, failure)?;
            let plan = tlx::plan(&kernel, config.tlx_arch, config.tlx_rules);
            (kernel, plan)
        }
    };
    Some(Arc::new(TlxKernel { kernel, plan, scenarios: scenarios.len(), selected }))
}

/// A kernel for which a stage has no result.
fn failed(ast: &Ast, failure: Failure) -> Option<kernel::Kernel> {
    let kernel = kernel::Kernel::empty(ast)?;
    let finding = failure.finding(&kernel.name, kernel.name_origin);
    Some(kernel::Kernel { findings: vec![finding], ..kernel })
}

/// True for jit functions that take memory, themselves or through the functions that they call.
#[salsa::tracked(returns(copy), cycle_initial = does_not_allocate)]
fn allocates<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let file = unit.file(db);
    if !is_jit(db, unit) {
        return false;
    }
    let through = |call: &Call| jit_functions(db, file).get(&call.callee).is_some_and(|&callee| allocates(db, callee));
    front::mentions_allocation(syntax(db, unit), imports(db, file))
        || calls_in(db, unit).iter().any(through)
        || allocates_elsewhere(db, unit)
}

/// True where a function calls one of another file that takes memory.
fn allocates_elsewhere<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let ast = syntax(db, unit);
    let mut calls = ast.exprs().filter_map(|(_, expr)| match expr {
        Expr::Call { func, .. } => ast.name(*func),
        _ => None,
    });
    calls.any(|name| {
        let callee = super::imported(db, unit.file(db), Name::new(db, name.to_owned()), None);
        callee.is_some_and(|callee| allocates(db, callee))
    })
}

fn does_not_allocate<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> bool {
    false
}

/// What the body of a function sees: its own names, then those around it.
struct FunctionScope<'db>(UnitScope<'db>);

impl Scope for FunctionScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.0)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let UnitScope { db, unit, .. } = self.0;
        let of_function = (unit.key(db).kind == BlockKind::Function)
            .then(|| eval::bound_value(syntax(db, unit), name, &Locals { around: &self.0, without: name }));
        of_function.flatten().or_else(|| self.0.constant(name))
    }
}

/// The names of a function while one of them is evaluated, which is one local assignment deep.
struct Locals<'a, 'db> {
    around: &'a UnitScope<'db>,
    without: &'a str,
}

impl Scope for Locals<'_, '_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(self.around)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if name == self.without {
            return Some(Constant::Unknown(Reason::new(format!("`{name}` is defined in terms of itself"))));
        }
        let ast = syntax(self.around.db, self.around.unit);
        eval::bound_value(ast, name, self.around).or_else(|| self.around.constant(name))
    }
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
