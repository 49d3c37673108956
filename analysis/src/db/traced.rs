//! Kernels of GPUs that are followed as their compiler does: what they see of the code around them, and what their memory comes to.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::BlockKey;
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, ExprId};

use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::{Arch, Compiler};
use tilefit_gpu::language;
use tilefit_gpu::layouts::{Hardware, Vendor};
use tilefit_gpu::overlap;
use tilefit_gpu::plan::{Planned, plan};
use tilefit_gpu::products::{self, Machine};
use tilefit_gpu::program::{Memory, Product, Program};
use tilefit_gpu::reorder::{self, LoopFacts};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::simplify::simplify;
use tilefit_gpu::trace::{Argument, Definition, Dialect, Environment, Home, Launch, OpenRounds, Trace, trace};
use tilefit_python::diagnostics::Code;
use tilefit_python::eval::{self, Binding, Scope};
use tilefit_python::finding::{Finding, Note, Origin, Reason};
use tilefit_python::work::{self, Limits, within};

use super::devices::device_of_others;
use super::passed_on::imports;
use super::scenarios::{has_defaults, launch_values, may_be_given_more};
use super::{Name, SourceFile, Unit, UnitScope, defined, module_called, module_file, statements_of, syntax};

/// What following a kernel comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TracedKernel {
    pub(crate) name_origin: Origin,
    pub(crate) program: Program,
    pub(crate) planned: Planned,
    /// The blocks of the functions of which sites speak; `None` for the kernel's own.
    pub(crate) functions: Vec<Option<BlockKey>>,
    pub(crate) notes: Vec<Note>,
    pub(crate) findings: Vec<Finding>,
    /// Parameters that are no numbers, and whose types nobody says, each with an example.
    pub(crate) untyped: BTreeMap<String, &'static str>,
    /// Those of them that an operand of a product is loaded through, with the element type that is usual there.
    pub(crate) usual: BTreeMap<String, language::Dtype>,
    /// Parameters without values that decide which statements the kernel has.
    pub(crate) undecided: BTreeSet<String>,
    pub(crate) arch: Arch,
    /// What nothing says and the plan rests on.
    pub(crate) assumed: Vec<Assumed>,
    /// `None`: it may be any.
    pub(crate) compiler: Option<Compiler>,
    /// False where a stage of tilefit failed on it.
    pub(crate) is_planned: bool,
    /// What it took to follow it.
    pub(crate) steps: u64,
}

impl TracedKernel {
    /// The `static_assert` that fails.
    pub(crate) fn failed_assert(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.code == Code::StaticAssert)
    }

    /// What the compiler refuses of the kernel.
    pub(crate) fn refusal(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.is_rejection())
    }

    /// The author, or the file, says which device it is; else it is assumed.
    pub(crate) fn is_device_told(&self) -> bool {
        !self.assumed.iter().any(|it| matches!(it, Assumed::Device(..)))
    }

    /// Options of the launch that are assumed.
    pub(crate) fn assumes_options(&self) -> bool {
        self.assumed.iter().any(|it| !matches!(it, Assumed::Device(..)))
    }
}

const LOADED_AGAIN: &str = "the compiler chooses the layouts of registers, and may load a buffer again in a loop that uses what was loaded before";

const FLATTENED: &str = "whether the compiler makes one loop of those with `flatten` is not modelled";
const IN_FRONT: &str =
    "whether what is the same in each round is brought to shared memory before a loop follows from the loads in it";
const RESULTS: &str = "how many results of `tl.dot` are in tensor memory at once is not modelled";

const ONLY_DEFAULTS: &str =
    "a `static_assert` fails with the defaults of the parameters, and no launch of the kernel is known";

/// Follows the kernel that a unit is under a scenario, as far as the limits allow. `specs`: what storage alias specs come to.
pub(super) fn traced<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    (arch, compiler): (Arch, Option<Compiler>),
    dialect: Dialect,
    specs: BTreeMap<ExprId, Result<u64, Reason>>,
    limits: Limits,
) -> Option<TracedKernel> {
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let launch = Launch { specs, ..launch(db, unit, scenario, arch, compiler, dialect) };
    let around = Around::new(db, unit);
    let name_origin = Origin::Expr(function.name);
    let stages = i64::from(scenario.num_stages.unwrap_or(if arch.is_amd() { 2 } else { 3 }));
    let machine = Machine { hardware: launch.hardware, warps: launch.warps, stages, flattens: false };
    let follow = |launch: &Launch| {
        let mut trace = trace(ast, &around, launch);
        trace.notes.extend(unheard_of(scenario).map(|reason| Note { at: name_origin, reason }));
        simplify(&mut trace.program);
        // In TLX an operand may be a buffer of the author's.
        let are_sure = dialect == Dialect::Triton && launch.ctas == 1 && trace.notes.is_empty();
        let are_sure = are_sure && !trace.program.is_guessed;
        let (mut flat, mut in_front) = (None, None);
        if dialect.leaves_layouts() {
            reorder::add_to(&mut trace.program, &|product| machine.adds(product));
            let is_kept = Cell::new(false);
            let keeps = |product: &Product, nth, looped| {
                let keeps = machine.keeps(product, nth, looped);
                is_kept.set(is_kept.get() || keeps);
                keeps
            };
            let is_in_tensor_memory = |product: &Product| machine.is_in_tensor_memory(product);
            let moves = |product: &Product| machine.moves(product);
            // Of `wgmma` it matters whether rounds overlap, which follows from loads that are looked at later.
            let is_open = |product: &Product| machine.keeps(product, 1, LoopFacts { writes: true, stages: None });
            let may_be_in_front = launch.hardware.capability == 90 && trace.program.products.values().any(is_open);
            let before = may_be_in_front.then(|| trace.program.clone());
            let is_open = reorder::hoist(&mut trace.program, &moves, &keeps, &is_in_tensor_memory);
            let are_sure = are_sure && !is_open;
            simplify(&mut trace.program);
            if let Some(mut before) = before.filter(|_| is_kept.get()) {
                reorder::hoist(&mut before, &moves, &|_, _, _| false, &is_in_tensor_memory);
                simplify(&mut before);
                in_front = Some(compiled(before, launch, &machine, are_sure));
            }
            if !trace.program.flattened.is_empty() {
                flat = Some(compiled(trace.program.clone(), launch, &Machine { flattens: true, ..machine }, are_sure));
            }
            trace.program = compiled(std::mem::take(&mut trace.program), launch, &machine, are_sure);
        }
        let unknown: Vec<Reason> = trace.notes.iter().map(|note| note.reason.clone()).collect();
        let again = if dialect.leaves_layouts() { reorder::loaded_again(&trace.program) } else { None };
        let by = |compiler| {
            let planned = plan(&trace.program, &unknown, compiler);
            let planned = match &flat {
                Some(flat) => planned.or(&plan(flat, &unknown, compiler), FLATTENED),
                None => planned,
            };
            let planned = match &in_front {
                Some(in_front) => planned.or(&plan(in_front, &unknown, compiler), IN_FRONT),
                None => planned,
            };
            match &again {
                Some(again) => planned.or(&plan(again, &unknown, compiler), LOADED_AGAIN),
                None => planned,
            }
        };
        let planned = match compiler {
            Some(compiler) => by(compiler),
            None => by(Compiler::V3_8).either(&by(Compiler::Fork)),
        };
        let planned = match products::columns_of_results(&trace.program, &machine) {
            Some(columns) => planned.with_tensor_memory(columns, RESULTS, are_sure),
            None => planned,
        };
        (trace, planned)
    };
    let followed = within(limits, || {
        let (mut trace, mut planned) = follow(&launch);
        if trace.open_loops > MOST_OPEN_LOOPS {
            trace.notes.push(Note { at: name_origin, reason: Reason::new(OPEN_LOOPS) });
            planned = plan(&trace.program, &[Reason::new(OPEN_LOOPS)], Compiler::V3_9);
        } else {
            for open_loops in ways_to_go_round(trace.open_loops) {
                let (other, theirs) = follow(&Launch { open_loops, ..launch.clone() });
                planned = planned.or(&theirs, OPEN_LOOPS);
                trace.untyped.extend(other.untyped);
                trace.usual.extend(other.usual);
                trace.undecided.extend(other.undecided);
                trace.numbers.extend(other.numbers);
                let is_new = |note: &Note| !trace.notes.iter().any(|known| known.reason == note.reason);
                let new: Vec<Note> = other.notes.into_iter().filter(is_new).collect();
                trace.notes.extend(new);
            }
        }
        (trace, planned, work::taken())
    });
    let (trace, planned, steps, is_planned) = match followed {
        Ok((trace, planned, steps)) => (trace, planned, steps, true),
        Err(failure) => {
            let finding = failure.finding(ast.name(function.name).unwrap_or_default(), name_origin);
            let (program, functions) = (Program::default(), vec![None]);
            let (untyped, usual, numbers, undecided) = Default::default();
            let trace = Trace {
                program,
                notes: Vec::new(),
                findings: vec![finding],
                functions,
                untyped,
                usual,
                numbers,
                undecided,
                open_loops: 0,
            };
            let too_large = [Reason::new("the kernel is too large to be analysed")];
            let planned = plan(&trace.program, &too_large, Compiler::V3_9);
            (trace, planned, limits.steps, false)
        }
    };
    // What the compiler does not read to its end takes nothing.
    let (trace, planned) = match trace.failed_assert() {
        Some(finding) => {
            let is_refused = !may_be_given_more(db, unit);
            let reason = Reason::new(if is_refused { &finding.message } else { ONLY_DEFAULTS });
            let planned = plan(&Program::default(), std::slice::from_ref(&reason), Compiler::V3_9);
            let mut trace = Trace { program: Program::default(), notes: Vec::new(), ..trace };
            if !is_refused {
                trace.findings.retain(|finding| finding.code != Code::StaticAssert);
                trace.notes.push(Note { at: name_origin, reason });
            }
            (trace, planned)
        }
        None => (trace, planned),
    };
    let assumed = assumed(db, unit, scenario, arch, &trace, (&launch, stages));
    Some(TracedKernel {
        name_origin,
        program: trace.program,
        planned,
        functions: trace.functions,
        notes: trace.notes,
        findings: trace.findings,
        untyped: trace.untyped,
        usual: trace.usual,
        undecided: trace.undecided,
        arch,
        assumed,
        compiler,
        is_planned,
        steps,
    })
}

/// What nothing says of a kernel under a scenario, and its plan rests on.
fn assumed<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
    Trace { program, numbers, .. }: &Trace,
    (launch, stages): (&Launch, i64),
) -> Vec<Assumed> {
    let is_device_told =
        scenario.arch.is_some() || program.buffers.iter().any(|it| matches!(it.memory, Memory::Tensor { .. }));
    let device = if is_device_told { None } else { device_of_others(db, unit.file(db)).1 };
    // One that is planned for another device than that of the others was told so.
    let device = device.filter(|it| matches!(it, Assumed::Device(taken, _) if *taken == arch));
    let has_defaults = std::cell::LazyCell::new(|| has_defaults(db, unit));
    let is_open = |option: &str, value: Option<u32>| {
        value.is_none() && (scenario.possible.contains_key(option) || !*has_defaults)
    };
    // A layout of Gluon has the warps of the kernel, and the compiler refuses any other number.
    let follows_launch =
        || launch.dialect.leaves_layouts() || ["num_warps", "Auto"].iter().any(|it| unit.source(db).text.contains(it));
    let are_warps_open = is_open("num_warps", scenario.num_warps) && follows_launch();
    let warps = are_warps_open.then_some(Assumed::Warps(launch.warps));
    let is_staged = launch.dialect.leaves_layouts() && program.multiplies;
    let stages = (is_staged && is_open("num_stages", scenario.num_stages)).then_some(Assumed::Stages(stages));
    let numbers = numbers.iter().map(|(name, dtype)| Assumed::Number(name.clone(), dtype));
    device.into_iter().chain(warps).chain(stages).chain(numbers).collect()
}

/// Loops that are followed in each way that they may go round.
const MOST_OPEN_LOOPS: usize = 3;

const OPEN_LOOPS: &str = "the number of iterations of a loop depends on a value that is unknown";

/// All ways for so many loops to go round, other than several times each.
fn ways_to_go_round(loops: usize) -> Vec<Vec<OpenRounds>> {
    let mut ways: Vec<Vec<OpenRounds>> = vec![Vec::new()];
    for _ in 0..loops {
        let each = [OpenRounds::Several, OpenRounds::Once, OpenRounds::Never];
        ways = ways.iter().flat_map(|way| each.map(|rounds| [way.as_slice(), &[rounds]].concat())).collect();
    }
    ways.split_off(1)
}

/// Warps that a block can have: 1,024 threads.
fn are_warps(count: &u32) -> bool {
    count.is_power_of_two() && *count <= 32
}

/// Blocks that a cluster can have.
fn are_ctas(count: &u32) -> bool {
    count.is_power_of_two() && *count <= 16
}

/// Options with which no device runs a kernel.
fn unheard_of(scenario: &Scenario) -> impl Iterator<Item = Reason> {
    let warps = scenario.num_warps.filter(|count| !are_warps(count));
    let warps = warps
        .map(|count| Reason::new(format!("`num_warps={count}` is invalid: it must be a power of two, at most 32")));
    let ctas = scenario.num_ctas.filter(|count| !are_ctas(count));
    let ctas =
        ctas.map(|count| Reason::new(format!("`num_ctas={count}` is invalid: it must be a power of two, at most 16")));
    warps.into_iter().chain(ctas)
}

/// A program after what the compiler does to it where it chooses layouts.
fn compiled(mut program: Program, launch: &Launch, machine: &Machine, is_sure: bool) -> Program {
    let is_amd = machine.hardware.vendor == Vendor::Amd;
    let is_tlx = launch.dialect == Dialect::Tlx && !is_amd;
    if !(is_tlx && program.products.is_empty()) {
        products::stage(&mut program, machine, is_sure);
    }
    if is_tlx {
        overlap::overlap(&mut program, machine.stages, machine.flattens);
    }
    reorder::lower(&mut program);
    if !is_amd && machine.hardware.capability >= 100 {
        reorder::take_warps(&mut program, launch.warps);
    }
    if !is_amd {
        reorder::reorder(&mut program, machine.stages);
        overlap::wait_for_products(&mut program);
    }
    program
}

/// What the scenario says of the launch, over what the file says.
fn launch<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
    compiler: Option<Compiler>,
    dialect: Dialect,
) -> Launch {
    let hardware = Hardware {
        vendor: if arch.is_amd() { Vendor::Amd } else { Vendor::Nvidia },
        capability: arch.capability(),
        compiler: compiler.unwrap_or(Compiler::V3_8),
    };
    let mut launch = Launch {
        hardware,
        warps: u64::from(scenario.num_warps.filter(are_warps).unwrap_or(4)),
        ctas: u64::from(scenario.num_ctas.filter(are_ctas).unwrap_or(1)),
        arguments: BTreeMap::new(),
        dialect,
        is_compiler_told: scenario.compiler.is_some(),
        specs: BTreeMap::new(),
        merges_specs: compiler.map(|compiler| compiler != Compiler::Fork),
        divisible: scenario.divisible.clone(),
        open_loops: Vec::new(),
    };
    let ast = syntax(db, unit);
    let Some(function) = scenario::function(ast) else { return launch };
    let imports = imports(db, unit.file(db));
    let constexprs: Vec<&str> = function
        .params
        .iter()
        .filter(|param| param.annotation.is_some_and(|annotation| scenario::is_constexpr(ast, imports, annotation)))
        .filter_map(|param| ast.name(param.name))
        .collect();
    let is_constexpr = |name: &str| constexprs.contains(&name);
    // A parameter with a default has that; of others a `static_assert` may say what they are.
    let mut asserted = scenario::asserted(ast, function, &UnitScope::new(db, unit), imports);
    let has_default = |name: &str| {
        let mut params = function.params.iter();
        params.any(|param| ast.name(param.name) == Some(name) && param.default.is_some())
    };
    asserted.retain(|name, _| constexprs.contains(&name.as_str()) && !has_default(name));
    let told = launch_values(db, unit).into_iter().chain(scenario.values.clone());
    for (name, (value, _)) in asserted.into_iter().chain(told) {
        let argument = match (&value, is_constexpr(&name)) {
            (eval::Constant::Unknown(_), _) => continue,
            // The author says that it is a multiple of 16, whatever some launch gives.
            (eval::Constant::Int(1), false) if scenario.divisible.as_ref().is_some_and(|it| it.contains(&name)) => {
                continue;
            }
            (eval::Constant::Str(text), true) => Argument::Python(text.clone()),
            // The compiler makes a kernel of its own for arguments that are 1.
            (_, true) | (eval::Constant::Int(1), _) => Argument::Constant(value),
            (_, false) => match language::Dtype::from_constant(&value) {
                Some(dtype) => Argument::Pointer(dtype),
                None if matches!(value, eval::Constant::Float(_)) => {
                    Argument::Scalar(language::Dtype::named("float32"))
                }
                // An integer that is given at the launch is one of the kernel, of as many bits as it takes.
                None => continue,
            },
        };
        launch.arguments.insert(name, argument);
    }
    for (name, (argument, _)) in &scenario.arguments {
        let dtype = |name: &str| language::Dtype::from_name(name);
        let argument =
            match argument {
                ArgumentType::Pointer { element } => dtype(element).map(Argument::Pointer),
                ArgumentType::Scalar { dtype: text } if is_constexpr(name) => Some(Argument::Python(text.clone())),
                ArgumentType::Scalar { dtype: name } => dtype(name).map(Argument::Scalar),
                ArgumentType::Descriptor { element, block, layout } => dtype(element)
                    .map(|element| Argument::Descriptor { element, block: block.clone(), layout: layout.clone() }),
            };
        if let Some(argument) = argument {
            launch.arguments.insert(name.clone(), argument);
        }
    }
    launch
}

/// What the functions that are followed see, each from its own place.
struct Around<'db> {
    scopes: RefCell<Vec<UnitScope<'db>>>,
}

impl<'db> Around<'db> {
    fn new(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Self {
        Around { scopes: RefCell::new(vec![UnitScope::new(db, unit)]) }
    }

    fn scope(&self, home: Home) -> Option<UnitScope<'db>> {
        self.scopes.borrow().get(home.0 as usize).copied()
    }

    fn home(&self, scope: UnitScope<'db>) -> Home {
        let mut scopes = self.scopes.borrow_mut();
        let known = scopes.iter().position(|known| known.unit == scope.unit);
        let at = known.unwrap_or_else(|| {
            scopes.push(scope);
            scopes.len() - 1
        });
        Home(at as u32)
    }

    fn function(&self, scope: UnitScope<'db>, unit: Unit<'db>) -> Definition {
        let db = scope.db;
        let home = self.home(UnitScope { unit, ..scope });
        Definition::Function { ast: syntax(db, unit).clone(), key: Some(unit.key(db).clone()), home }
    }

    fn class(&self, scope: UnitScope<'db>, header: Unit<'db>) -> Definition {
        let db = scope.db;
        let methods = super::units(db, header.file(db)).iter().filter(|unit| unit.parent(db) == Some(header));
        let methods = methods.filter(|unit| unit.key(db).kind == BlockKind::Function);
        let methods = methods.map(|&unit| (syntax(db, unit).clone(), Some(unit.key(db).clone()))).collect();
        let home = self.home(UnitScope { unit: header, ..scope });
        Definition::Class { header: syntax(db, header).clone(), methods, home }
    }

    /// The file of a module, imported or by `importlib.import_module("…")`.
    fn module(&self, scope: UnitScope<'db>, name: &str) -> Option<SourceFile> {
        let (db, file) = (scope.db, scope.unit.file(scope.db));
        if let Some(module) = module_called(db, file, Name::new(db, name.to_owned())) {
            return Some(module);
        }
        let mut calls = statements_of(db, file, None).iter().filter_map(|&unit| {
            let ast = syntax(db, unit);
            let Binding::Once(expr) = eval::binding(ast, name) else { return None };
            let Expr::Call { func, args } = ast.expr(expr) else { return None };
            let (Some(&"import_module"), [path]) = (ast.dotted(*func)?.last(), args.as_slice()) else { return None };
            match ast.expr(path.value) {
                Expr::Str(path) => Some(path.clone()),
                _ => None,
            }
        });
        module_file(db, file, 0, Name::new(db, calls.next()?))
    }

    /// What the one statement of a scope that binds a name gives it.
    fn bound(&self, scope: UnitScope<'db>, file: SourceFile, of: Option<Unit<'db>>, name: &str) -> Option<Definition> {
        let db = scope.db;
        let mut found: Option<(Unit<'db>, ExprId, Option<usize>)> = None;
        for &unit in statements_of(db, file, of) {
            let bound = match eval::binding(syntax(db, unit), name) {
                Binding::None => continue,
                Binding::Once(expr) => (unit, expr, None),
                Binding::Element(expr, element) => (unit, expr, Some(element)),
                _ => return None,
            };
            if found.replace(bound).is_some() {
                return None;
            }
        }
        let (unit, expr, element) = found?;
        let home = self.home(UnitScope { unit, ..scope });
        Some(Definition::Expression { ast: syntax(db, unit).clone(), expr, element, home })
    }
}

impl Environment for Around<'_> {
    fn definition(&self, home: Home, name: &str) -> Option<Definition> {
        let scope = self.scope(home)?;
        let (db, file) = (scope.db, scope.unit.file(scope.db));
        // A function may call itself.
        let own = scope.unit.key(db);
        let is_own = own.kind == BlockKind::Function && scope.unit.parent(db).is_none() && own.name() == name;
        if let Some(unit) = scope.function_unit(name).or(is_own.then_some(scope.unit)) {
            return Some(self.function(scope, unit));
        }
        if let Some((_, header)) = scope.class_source(name) {
            return Some(self.class(scope, header));
        }
        if self.module(scope, name).is_some() {
            return Some(Definition::Module);
        }
        let mut around = scope.around();
        loop {
            if let Some(found) = self.bound(scope, file, around, name) {
                return Some(found);
            }
            match around {
                Some(unit) => around = unit.parent(db),
                None => break,
            }
        }
        scope.constant(name).map(Definition::Constant)
    }

    fn member(&self, home: Home, module: &str, name: &str) -> Option<Definition> {
        let scope = self.scope(home)?;
        let db = scope.db;
        let file = self.module(scope, module)?;
        if let Some(unit) = defined(db, file, name, BlockKind::Function) {
            return Some(self.function(scope, unit));
        }
        if let Some(header) = defined(db, file, name, BlockKind::ClassHeader) {
            return Some(self.class(scope, header));
        }
        self.bound(scope, file, None, name)
    }

    fn canonical(&self, home: Home, path: &[&str]) -> Option<String> {
        let scope = self.scope(home)?;
        language::canonical(imports(scope.db, scope.unit.file(scope.db)), path)
    }
}
