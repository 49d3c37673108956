//! Scenarios in the database: the concrete values under which each function of `@triton.jit` and `@gluon.jit` may be compiled.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use tilefit_syntax::BlockKind;

use tilefit_gpu::device::Arch;
use tilefit_gpu::heuristics;
use tilefit_gpu::scenario::{self, Call, Scenario, ScenarioScope, Tuner, Tuning};
use tilefit_python::eval::{self, Constant, Scope};
use tilefit_python::finding::Reason;

use super::devices::{device_of_file, device_of_kernel, device_of_others};
use super::inductor::described;
use super::jit::{is_jit, jit_functions};
use super::launches::{Launch, launches_of, leading_to, names_of_imported};
use super::lists::Lists;
use super::recorded::{Recorded, recorded};
use super::reexports::imports;
use super::scope::UnitScope;
use super::tilelang_names::is_factory;
use super::{Name, SourceFile, Unit, config, syntax, units};

/// The texts of the scenario comments of a unit. Other comments change nothing here.
#[salsa::tracked(returns(ref))]
fn comments<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<String>> {
    let text = &unit.source(db).text;
    if !text.contains("tilefit:") {
        return Arc::default();
    }
    Arc::new(scenario::comments(text))
}

/// Calls and launches of jit functions in a unit. Those of jit functions are evaluated under their scenarios elsewhere.
#[salsa::tracked(returns(ref))]
pub(super) fn calls_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Call>> {
    let functions = jit_functions(db, unit.file(db));
    let scope = FunctionScope { around: UnitScope::new(db, unit), known: RefCell::default() };
    Arc::new(scenario::calls(syntax(db, unit), &scope, &|name| functions.contains_key(name)))
}

/// Where each jit function of a file is called or launched.
#[salsa::tracked(returns(ref))]
pub(super) fn callers<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<BTreeMap<String, Vec<Unit<'db>>>> {
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
pub(super) fn callers_of<'db>(db: &'db dyn salsa::Database, file: SourceFile, name: Name<'db>) -> Vec<Unit<'db>> {
    callers(db, file).get(name.text(db)).cloned().unwrap_or_default()
}

/// What tunes the kernel that a unit is, and the unit that says so.
pub(super) fn tuner<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<(Unit<'db>, Tuner<'db>)> {
    let at = tuned_in(db, unit)?;
    let (ast, imports) = (syntax(db, at), imports(db, at.file(db)));
    let tuner = if at == unit { Tuner::of(ast, imports) } else { Tuner::for_name(ast, imports, &named(db, at, unit)?) };
    Some((at, tuner?))
}

/// What the file of a unit calls a kernel, which may be of another file.
fn named<'db>(db: &'db dyn salsa::Database, at: Unit<'db>, kernel: Unit<'db>) -> Option<String> {
    let name = kernel.key(db).name().to_owned();
    let (here, there) = (at.file(db), kernel.file(db));
    if here == there { Some(name) } else { names_of_imported(db, here, there, &[name].into()).into_iter().next() }
}

#[salsa::tracked(returns(copy), cycle_result = nowhere)]
fn tuned_in<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Unit<'db>> {
    if Tuner::of(syntax(db, unit), imports(db, unit.file(db))).is_some() {
        return Some(unit);
    }
    let tunes = |&at: &Unit<'db>| {
        at.source(db).text.contains("autotune")
            && named(db, at, unit)
                .is_some_and(|name| Tuner::for_name(syntax(db, at), imports(db, at.file(db)), &name).is_some())
    };
    leading_to(db, unit.file(db), Name::new(db, unit.key(db).name().to_owned())).iter().map(|(at, _)| *at).find(tunes)
}

fn nowhere<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>) -> Option<Unit<'db>> {
    None
}

/// What tunes the kernel that a unit is, on its own device.
pub(super) fn tuning<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db Option<Tuning> {
    tuning_on(db, unit, device_of(db, unit))
}

/// The same on any device.
#[salsa::tracked(returns(ref), cycle_result = not_tuned)]
fn tuning_on<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Arch) -> Option<Tuning> {
    let guessed = Cell::new(false);
    let (at, tuner) = tuner(db, unit)?;
    let scope = Lists { around: UnitScope::on(db, at, Some(device)), guessed: &guessed, links: 0 };
    let kernel = syntax(db, unit);
    scenario::tuning((kernel, scenario::function(kernel)?), (syntax(db, at), tuner), &scope, &guessed)
}

fn not_tuned<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>, _: Arch) -> Option<Tuning> {
    None
}

/// Values under which a jit function may be compiled: what its comments say, its autotune configurations with its launches, those of its callers.
/// Empty where nothing says anything.
pub(super) fn scenarios<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db Arc<Vec<Scenario>> {
    scenarios_on(db, unit, device_of(db, unit))
}

/// The device that a kernel is compiled for: a comment speaks first, then what the kernel's own instructions say, then the file.
#[salsa::tracked(returns(copy))]
pub(super) fn device_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arch {
    let explicit = || scenario::explicit(comments(db, unit), configured(db, unit)).iter().find_map(|it| it.arch);
    let of_file = || device_of_file(db, unit.file(db)).unwrap_or_else(|| device_of_others(db, unit.file(db)).0);
    let recorded = || recorded_scenarios(db, unit).first().and_then(|it| it.arch);
    explicit().or_else(|| device_of_kernel(db, unit)).or_else(recorded).unwrap_or_else(of_file)
}

/// The same where the host code runs with another device.
#[salsa::tracked(returns(ref), cycle_result = no_scenarios)]
pub(super) fn scenarios_on<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Arch) -> Arc<Vec<Scenario>> {
    let scope = UnitScope::on(db, unit, Some(device));
    let tuned_by = tuning_on(db, unit, device).as_ref();
    let (tuned, bare) = launched_scenarios(db, unit, device);
    let all: Vec<&Scenario> = tuned.iter().chain(bare).collect();
    let recorded = recorded_scenarios(db, unit);
    let (tuned, bare) = match tuner(db, unit) {
        Some((_, tuner)) if tuner.is_renamed => (&[][..], all.as_slice()),
        _ => (tuned.as_slice(), &all[tuned.len()..]),
    };
    let bases = match tuned_by.map(|tuning| (&tuning.configurations, tuning.is_pruned)) {
        Some((Ok(configurations), is_pruned)) => {
            let tuned_names: BTreeSet<&String> = configurations.iter().flat_map(|it| it.values.keys()).collect();
            let tuned = completed(db, (unit, device), tuned, &all, &tuned_names);
            let recorded: Vec<Scenario> = recorded.iter().map(|it| it.clone().without(&tuned_names)).collect();
            let tuned = scenario::with_recorded(tuned, &recorded);
            let is_whole = |bare: &Scenario| {
                configurations.iter().all(|it| it.values.keys().all(|name| bare.values.contains_key(name)))
            };
            // TileLang does not tune a kernel that is given all that would be tuned.
            let is_given = is_factory(db, unit);
            let bare: Vec<Scenario> = match is_given {
                true => tuned.iter().filter(|it| is_whole(it)).cloned().collect(),
                false => bare.iter().filter(|it| is_whole(it)).map(|&it| it.clone()).collect(),
            };
            let tuned = scenario::product(configurations, &tuned);
            // What is launched past the tuning is compiled, and a configuration may be dropped before.
            match is_pruned || is_given {
                true => bare.into_iter().chain(tuned).take(scenario::MOST_SCENARIOS).collect(),
                false => tuned.into_iter().chain(bare).collect(),
            }
        }
        Some((Err(_), _)) | None => {
            let mut bases = from_callers(db, unit, device);
            let launches: Vec<Scenario> = all.iter().map(|&launch| launch.clone()).collect();
            let completed = completed(db, (unit, device), &launches, &all, &BTreeSet::new());
            bases.extend(scenario::with_recorded(completed, &recorded));
            scenario::without_parts(bases)
        }
    };
    let ast = syntax(db, unit);
    let as_values = |scenario: Scenario| match scenario::function(ast) {
        Some(kernel) => scenario.with_options_as_values(kernel, ast),
        None => scenario,
    };
    let explicit = scenario::explicit(comments(db, unit), configured(db, unit));
    let explicit: Vec<Scenario> = explicit.into_iter().map(as_values).collect();
    // A comment speaks first, then a launch, then the kernel's instructions, then what the file says of all of its kernels.
    let arch = device_of_kernel(db, unit).or_else(|| device_of_file(db, unit.file(db)));
    let around = Scenario { arch, compiler: config(db).triton, ..Scenario::default() };
    let agreed = Scenario { values: agreed_on(db, unit, device), ..around.clone() };
    let mut combined = scenario::combine(&explicit, bases);
    if combined.is_empty() && around != Scenario::default() {
        combined.push(around);
    }
    let imports = imports(db, unit.file(db));
    let filled = combined.into_iter().map(|scenario| scenario.filled_from(&agreed));
    Arc::new(filled.map(|scenario| heuristics::chosen(scenario, ast, imports, &scope)).collect())
}

/// Whether something says what a kernel is launched with, so that the compiler's defaults are what it takes where that leaves out an option.
pub(super) fn has_defaults<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let launches = launches_of(db, unit, Some(device_of(db, unit)));
    let is_whole =
        |launch: &Launch| launch.call.arguments.iter().all(|(name, _)| name.as_deref() != Some(eval::UNKNOWN_KEYWORDS));
    !launches.is_empty() && launches.iter().all(is_whole) && !heuristics::may_choose_options(ast, imports)
}

/// Whether nothing says how a kernel is launched, so that whoever does may give something else than the defaults of its parameters.
pub(super) fn may_be_given_more<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let function = scenario::function(syntax(db, unit));
    function.is_some_and(|function| function.params.iter().any(|param| param.default.is_some()))
        && scenarios(db, unit).iter().all(|it| it.values.is_empty() && it.arguments.is_empty())
        && !has_defaults(db, unit)
}

/// Launches in functions whose arguments others give, completed by what those launch; all others as they are.
fn completed<'db>(
    db: &'db dyn salsa::Database,
    (unit, device): (Unit<'db>, Arch),
    launches: &[Scenario],
    all: &[&Scenario],
    tuned: &BTreeSet<&String>,
) -> Vec<Scenario> {
    // Where nothing of a kind is launched by a test or a program, what is launched was seen in functions that others call.
    let is_called =
        |is_bare: bool| launches_of(db, unit, Some(device)).iter().any(|it| it.is_called && it.is_bare == is_bare);
    match is_called(false) || is_called(true) {
        true => scenario::completed(launches, all, tuned),
        false => launches.to_vec(),
    }
}

/// What launches say of a kernel: those that its decorators see, and those past them. One that says less than another is left out.
#[salsa::tracked(returns(ref))]
fn launched_scenarios<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    device: Arch,
) -> (Vec<Scenario>, Vec<Scenario>) {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let Some(function) = scenario::function(ast) else { return Default::default() };
    let is_factory = is_factory(db, unit);
    let of = |is_bare: bool| {
        let launches = launches_of(db, unit, Some(device)).iter().filter(|launch| launch.is_bare == is_bare);
        let scenarios = launches.map(|launch| {
            let from = match launch.place.as_str() {
                "" => "the launch in this file".to_owned(),
                place => format!("the launch in `{place}`"),
            };
            let said = match is_factory {
                true => launch.call.made(ast, function, &from),
                false => launch.call.launched(ast, imports, function, &from),
            };
            Scenario { arch: launch.arch, ..said }
        });
        let all: Vec<Scenario> = scenarios.collect();
        let says_nothing = all.first().map(|_| Scenario::default());
        match scenario::without_parts(all) {
            // Others may say what is launched there.
            none if none.is_empty() => says_nothing.into_iter().collect(),
            some => some,
        }
    };
    (of(false), of(true))
}

/// What the author's own runs have launched, and what Inductor says of a kernel that it has written, on the device of the settings where they name one.
fn recorded_scenarios<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Scenario> {
    let is_named = config(db).is_gpu_named;
    // What several devices have run is one launch; the device is that of the one which ran most.
    let arch = recorded(db, unit).first().map(|it| it.arch).filter(|_| !is_named);
    let on_device = |it: &Recorded| Scenario { arch, ..it.scenario.clone() };
    let described = described(db, unit).clone().map(|it| Scenario { arch: it.arch.filter(|_| !is_named), ..it });
    recorded(db, unit).iter().map(on_device).chain(described).collect()
}

/// The scenarios that the configuration gives a kernel.
fn configured<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> &'db [Scenario] {
    let configured = &config(db).tlx_scenarios;
    let name = unit.key(db).name();
    configured.get(name).or_else(|| configured.get("*")).map_or(&[], Vec::as_slice)
}

fn no_scenarios<'db>(_: &'db dyn salsa::Database, _: salsa::Id, _: Unit<'db>, _: Arch) -> Arc<Vec<Scenario>> {
    Arc::default()
}

/// The scenarios of the jit functions that call this one, through the arguments of the call.
fn from_callers<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Arch) -> Vec<Scenario> {
    let mut found: Vec<Scenario> = Vec::new();
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return found };
    let Some(name) = ast.name(function.name) else { return found };
    for caller in callers_of(db, unit.file(db), Name::new(db, name.to_owned())) {
        if caller == unit || !is_jit(db, caller) {
            continue;
        }
        let outer = UnitScope::on(db, caller, Some(device));
        let caller_name = caller.key(db).path.clone();
        let nothing = [Scenario::default()];
        let scenarios = match scenarios_on(db, caller, device).as_slice() {
            [] => &nothing,
            scenarios => scenarios,
        };
        for scenario in scenarios {
            let scope = ScenarioScope { scenario, outer: &outer };
            let calls = scenario::calls(syntax(db, caller), &scope, &|callee| callee == name);
            for call in calls {
                let mut values = call.values(ast, function, &format!("`{caller_name}`"));
                for (parameter, (_, from)) in &mut values {
                    if let Some((_, origin)) = scenario.values.get(parameter) {
                        *from = format!("{origin} of `{caller_name}`");
                    }
                }
                let through = Scenario { values, ..scenario.of_callee() };
                let is_new = !through.values.is_empty() && !found.contains(&through);
                if is_new && found.len() < scenario::MOST_SCENARIOS {
                    found.push(through);
                }
            }
        }
    }
    found
}

/// Arguments on which all launches agree, by parameter.
pub(super) fn launch_values<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
) -> BTreeMap<String, (Constant, String)> {
    agreed_on(db, unit, device_of(db, unit))
}

fn agreed_on<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Arch) -> BTreeMap<String, (Constant, String)> {
    let (tuned, bare) = launched_scenarios(db, unit, device);
    let mut agreed: Option<BTreeMap<String, (Constant, String)>> = None;
    for Scenario { values, .. } in tuned.iter().chain(bare) {
        match &mut agreed {
            None => agreed = Some(values.clone()),
            Some(agreed) => agreed.retain(|name, (value, _)| values.get(name).is_some_and(|(other, _)| other == value)),
        }
    }
    agreed.unwrap_or_default()
}

/// True where the configurations of a kernel, or of one that calls it, are pruned.
pub(super) fn is_pruned<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> bool {
    let callers = callers_of(db, unit.file(db), Name::new(db, unit.key(db).name().to_owned()));
    callers.into_iter().chain([unit]).any(|unit| tuning(db, unit).as_ref().is_some_and(|tuning| tuning.is_pruned))
}

/// What the body of a function sees: its own names, then those around it.
struct FunctionScope<'db> {
    around: UnitScope<'db>,
    /// Names that were asked for: a function may launch many kernels with them.
    known: RefCell<FxHashMap<String, Option<Constant>>>,
}

impl Scope for FunctionScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(&self.around)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let UnitScope { db, unit, .. } = self.around;
        let of_function = (unit.key(db).kind == BlockKind::Function)
            .then(|| eval::bound_value(syntax(db, unit), name, &Locals { around: &self.around, without: name }));
        let value = of_function.flatten().or_else(|| self.around.constant(name));
        self.known.borrow_mut().insert(name.to_owned(), value.clone());
        value
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
