//! Kernels of GPUs that are followed as their compiler does: what they see of the code around them, and the plan of their memory.

use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::BlockKey;

use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::{Arch, Compiler, Space};
use tilefit_gpu::language;
use tilefit_gpu::layouts::{Hardware, Vendor};
use tilefit_gpu::passes::{Compilation, compile};
use tilefit_gpu::plan::{Planned, Total, plan};
use tilefit_gpu::program::{Memory, Program};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::tlx::{self, Kernel, params};
use tilefit_gpu::trace::{self, Argument, Definition, Environment, Home, Launch, Trace};
use tilefit_python::diagnostics::Code;
use tilefit_python::eval::{self, Constant};
use tilefit_python::finding::{Example, Finding, Note, Origin, Reason};
use tilefit_python::work::{self, Limits, remembered, within};

use super::devices::device_of_others;
use super::dialect::Dialect;
use super::memory_usage::{Taken, leading};
use super::reexports::imports;
use super::scenarios::{has_defaults, launch_values, may_be_given_more};
use super::scope::UnitScope;
use super::surroundings::{Meant, Surroundings};
use super::tlx::TlxPart;
use super::{Unit, config, names, syntax};

/// The result of following a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TracedKernel {
    pub(crate) name_origin: Origin,
    pub(crate) program: Program,
    pub(crate) planned: Planned,
    /// The blocks of the functions of which sites speak; `None` for the kernel's own.
    pub(crate) functions: Vec<Option<BlockKey>>,
    pub(crate) notes: Vec<Note>,
    pub(crate) findings: Vec<Finding>,
    /// Untyped parameters that are no numbers, each with an example.
    pub(crate) untyped: BTreeMap<String, Example>,
    /// Those of them that an operand of a product is loaded through, with the element type that is usual there.
    pub(crate) usual: BTreeMap<String, language::Dtype>,
    /// Parameters without values that decide which statements the kernel has.
    pub(crate) undecided: BTreeSet<String>,
    /// It has block pointers, which Triton 3.9 has removed.
    pub(crate) has_block_pointers: bool,
    pub(crate) arch: Arch,
    /// What nothing says and the plan rests on.
    pub(crate) assumed: Vec<Assumed>,
    /// `None`: it may be any.
    pub(crate) compiler: Option<Compiler>,
    /// The compiler whose rules the plan follows, where that is none of Triton's.
    pub(crate) planner: Option<&'static str>,
    /// False where a stage of tilefit failed on it.
    pub(crate) is_planned: bool,
    /// What it took to follow it.
    pub(crate) steps: u64,
    /// What a kernel of TLX has more.
    pub(crate) tlx: Option<TlxPart>,
}

impl TracedKernel {
    /// One of which nothing else is to be said.
    pub(super) fn of(name_origin: Origin, program: Program, planned: Planned, arch: Arch) -> TracedKernel {
        TracedKernel {
            name_origin,
            program,
            planned,
            functions: vec![None],
            notes: Vec::new(),
            findings: Vec::new(),
            untyped: BTreeMap::new(),
            usual: BTreeMap::new(),
            undecided: BTreeSet::new(),
            has_block_pointers: false,
            arch,
            assumed: Vec::new(),
            compiler: None,
            planner: None,
            is_planned: true,
            steps: 0,
            tlx: None,
        }
    }

    /// Of a memory: what the device has, or what the compiler gives out of it.
    pub(crate) fn capacity(&self, space: Space) -> u64 {
        let limits = &self.planned.plan.limits;
        limits.iter().find(|(of, _)| *of == space).map_or_else(|| self.arch.capacity(space), |(_, limit)| *limit)
    }

    /// What it takes of each memory.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Taken> {
        let of = |(space, total): &(Space, Total)| Taken {
            space: *space,
            amount: (total.low, total.high),
            capacity: self.capacity(*space),
        };
        self.planned.plan.totals.iter().map(of)
    }

    /// The memory to speak of where there is room for one number.
    pub(crate) fn leading(&self) -> Space {
        leading(&self.taken().collect::<Vec<_>>())
    }

    /// The `static_assert` that fails.
    pub(crate) fn failed_assert(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.code == Code::StaticAssert)
    }

    /// What the compiler refuses of the kernel.
    pub(crate) fn refusal(&self) -> Option<&Finding> {
        self.all_findings().find(|finding| finding.is_rejection())
    }

    /// What is found in specs and buffers of TLX, then in the kernel.
    pub(crate) fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.tlx.iter().flat_map(TlxPart::findings).chain(&self.findings)
    }

    /// No spec and no buffer of TLX is unknown.
    pub(crate) fn is_whole(&self) -> bool {
        self.tlx.as_ref().is_none_or(TlxPart::is_exact)
    }

    /// The author, or the file, says which device it is; else it is assumed.
    pub(crate) fn is_device_told(&self) -> bool {
        !self.assumed.iter().any(|it| matches!(it, Assumed::Device(..)))
    }

    /// Options of the launch that are assumed.
    pub(crate) fn assumes_options(&self) -> bool {
        self.assumed.iter().any(Assumed::is_option)
    }
}

const ONLY_DEFAULTS: &str =
    "a `static_assert` fails with the defaults of the parameters, and no launch of the kernel is known";

/// Follows the kernel that a unit is under a scenario, as far as the limits allow.
pub(super) fn traced<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    (arch, compiler): (Arch, Option<Compiler>),
    dialect: Dialect,
    limits: Limits,
) -> Option<TracedKernel> {
    let traced_as = dialect.traced_as()?;
    let ast = syntax(db, unit);
    let function = scenario::function(ast)?;
    let launch = launch(db, unit, scenario, arch, compiler, traced_as)?;
    let around = Surroundings::new(db, unit, arch);
    let name_origin = Origin::Expr(function.name);
    let stages = i64::from(scenario.num_stages.unwrap_or(if arch.is_amd() { 2 } else { 3 }));
    let doubts: Vec<Reason> = unheard_of(scenario).collect();
    let compilation =
        Compilation { launch, stages, compiler, arch, rules: config(db).tlx_rules, doubts: &doubts, name_origin };
    let mut said = None;
    let followed = within(limits, || {
        let (trace, planned) = compile(ast, &around, &compilation, &mut said);
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
                has_block_pointers: false,
                open_loops: 0,
                kernel: compilation.launch.kernel.clone(),
                specs: Vec::new(),
            };
            let too_large = [Reason::new("the kernel is too large to be analysed")];
            let planned = plan(&trace.program, &too_large, compiler.unwrap_or(Compiler::V3_9));
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
    let assumed = assumed(db, unit, scenario, arch, &trace, (&compilation.launch, stages));
    let mut tlx = (dialect == Dialect::Tlx).then(|| {
        let nothing = || {
            let kernel = compilation.launch.kernel.clone();
            let plan = tlx::plan(&kernel, arch, compilation.rules);
            (kernel, plan)
        };
        let (kernel, plan) = said.unwrap_or_else(nothing);
        TlxPart { kernel, plan }
    });
    let (trace, planned, assumed) = match &mut tlx {
        Some(tlx) if tlx.is_by_seed() => {
            let device = assumed.into_iter().filter(|it| matches!(it, Assumed::Device(..)));
            (Trace { program: Program::default(), notes: Vec::new(), ..trace }, tlx.planned(), device.collect())
        }
        Some(tlx) => (trace, tlx.completed(planned), assumed),
        None => (trace, planned, assumed),
    };
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
        has_block_pointers: trace.has_block_pointers,
        arch,
        assumed,
        compiler,
        planner: None,
        is_planned,
        steps,
        tlx,
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
    let rest = scenario.rest_of.clone().map(Assumed::Launch);
    device.into_iter().chain(warps).chain(stages).chain(numbers).chain(rest).collect()
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

/// What the scenario says of the launch, over what the file says.
fn launch<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
    compiler: Option<Compiler>,
    dialect: trace::Dialect,
) -> Option<Launch> {
    let ast = syntax(db, unit);
    let imports = imports(db, unit.file(db));
    let function = scenario::function(ast)?;
    let mut kernel = Kernel::empty(ast)?;
    if dialect == trace::Dialect::Tlx {
        let scope = UnitScope::on(db, unit, Some(arch));
        kernel.params = params(ast, function, &scope, imports, scenario, &launch_values(db, unit));
        kernel.arch = scenario.arch;
        kernel.notes = remembered(|| names::notes(db, unit));
    }
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
        kernel,
        merges_specs: compiler.map(|compiler| compiler != Compiler::Fork),
        divisible: scenario.divisible.clone(),
        open_loops: Vec::new(),
    };
    let constexprs: Vec<&str> = function
        .params
        .iter()
        .filter(|param| param.annotation.is_some_and(|annotation| scenario::is_constexpr(ast, imports, annotation)))
        .filter_map(|param| ast.name(param.name))
        .collect();
    let is_constexpr = |name: &str| constexprs.contains(&name);
    // A parameter with a default has that; of others a `static_assert` may say what they are.
    let mut asserted = scenario::asserted(ast, function, &UnitScope::on(db, unit, Some(arch)), imports);
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
    Some(launch)
}

impl Environment for Surroundings<'_> {
    fn definition(&self, home: Home, name: &str) -> Option<Definition> {
        self.meaning(home.0, name).map(definition)
    }

    fn constant(&self, home: Home, name: &str) -> Option<Constant> {
        self.value(home.0, name)
    }

    fn member(&self, home: Home, module: &str, name: &str) -> Option<Definition> {
        self.of_module(home.0, module, name).map(definition)
    }

    fn canonical(&self, home: Home, path: &[&str]) -> Option<String> {
        language::canonical(self.imports(home.0)?, path)
    }
}

fn definition(meant: Meant) -> Definition {
    match meant {
        Meant::Function { ast, key, home } => Definition::Function { ast, key: Some(key), home: Home(home) },
        Meant::Class { header, methods, home } => Definition::Class { header, methods, home: Home(home) },
        Meant::Expression { ast, expr, element, home } => {
            Definition::Expression { ast, expr, element, home: Home(home) }
        }
        Meant::Constant(constant) => Definition::Constant(constant),
        Meant::Module => Definition::Module,
    }
}
