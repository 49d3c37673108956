//! What to ask Triton's compiler of a kernel, so that it plans what is planned here.

use std::collections::BTreeMap;

use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::device::Arch;
use tilefit_gpu::language::Dtype;
use tilefit_gpu::possible;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_gpu::shared_layout::Nvmma;
use tilefit_python::eval::Constant;
use tilefit_python::finding::Example;

use crate::confirm::{Asked, Question};

use super::dialect::Dialect;
use super::gpu::TracedKernel;
use super::needed::{constexprs_without_values, in_order, triton_needed};
use super::recorded::{Recorded, recorded, recorded_of};
use super::reexports::imports;
use super::scenarios::{launch_values, scenarios};
use super::scope::UnitScope;
use super::tilelang;
use super::tilelang_names::is_factory;
use super::tlx::TlxPart;
use super::triton::{TritonKernel, elements_of, laid_out, triton_kernel};
use super::{Unit, syntax};

/// What an argument of which nothing is said is taken for: most numbers that kernels are given fit into it.
const NUMBER: &str = "i32";

pub(crate) fn triton_question<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Result<Question, String> {
    let kernel = triton_kernel(db, unit).as_ref().ok_or(NOT_PLANNED)?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    question_of(db, unit, &scenario, (&kernel.traced, kernel.traced.arch), &triton_needed(db, unit).values)
}

/// What the author's own run has recorded of a kernel under the scenario in force.
pub(crate) fn triton_recorded<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<&'db Recorded> {
    if recorded(db, unit).is_empty() {
        return None;
    }
    let kernel = triton_kernel(db, unit).as_ref()?;
    recorded_of(db, unit, scenarios(db, unit).get(kernel.selected)?, kernel.traced.arch)
}

/// A question about a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Under {
    pub(crate) question: Question,
    /// What the configuration leaves open is given an example: what the compiler says of that it may say of no other.
    pub(crate) is_example: bool,
}

/// The same under another scenario, on a device.
pub(crate) fn question_under<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
) -> Option<Under> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    if kernel.dialect == Dialect::TileLang {
        let question = question_of(db, unit, scenario, (&kernel.traced, arch), &[]).ok()?;
        return Some(Under { question, is_example: false });
    }
    let whole = with_examples(db, unit, scenario, kernel)?;
    let traced = TracedKernel { untyped: BTreeMap::new(), ..kernel.traced.clone() };
    let question = question_of(db, unit, &whole, (&traced, arch), &[]).ok()?;
    Some(Under { question, is_example: whole != *scenario })
}

/// A scenario with an example of what it leaves open and the plan does not depend on. `None` where that is not known.
fn with_examples<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    kernel: &TritonKernel,
) -> Option<Scenario> {
    let (ast, imports) = (syntax(db, unit), imports(db, unit.file(db)));
    let launched = launch_values(db, unit);
    let mut whole = scenario.clone();
    let ranges = possible::ranges(ast, imports, &UnitScope::new(db, unit));
    for param in &scenario::function(ast)?.params {
        let Some(name) = ast.name(param.name) else { continue };
        let is_constexpr = param.annotation.is_some_and(|it| scenario::is_constexpr(ast, imports, it));
        let is_told = whole.value(name, true).is_some() || launched.contains_key(name) || param.default.is_some();
        if !is_constexpr || is_told {
            continue;
        }
        let of_host = scenario.possible.get(name).and_then(|choice| choice.as_ref()).filter(|choice| !choice.is_open());
        let of_host = of_host.map(|choice| choice.values().cloned().collect::<Vec<_>>());
        let values = of_host.or_else(|| Some(ranges.get(name)?.values())).unwrap_or_default();
        // One that is neither the least nor the greatest.
        let example = values.get(values.len() / 3).cloned().unwrap_or(Constant::Int(EXAMPLE));
        whole.possible.remove(name);
        whole.values.insert(name.to_owned(), (example, "an example".to_owned()));
    }
    if whole == *scenario && kernel.traced.untyped.is_empty() {
        return Some(whole);
    }
    let traced = laid_out(db, unit, kernel.dialect, &whole, &elements_of(&kernel.traced))?;
    whole = with_assumed_elements(&whole, &traced);
    for (name, example) in traced.untyped {
        let element = if example == Example::Indices { "i32" } else { "fp32" };
        let element = Dtype::from_name(element)?.constant();
        whole.values.entry(name).or_insert((element, "an example".to_owned()));
    }
    Some(whole)
}

/// Of a number that only enters arithmetic.
const EXAMPLE: i64 = 128;

const NOT_PLANNED: &str = "tilefit has no plan for it";

/// The question of a kernel under a scenario; the error says what is missing, in words for the author. `needed`: parameters whose values the plan lacks.
fn question_of<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    (traced, arch): (&TracedKernel, Arch),
    needed: &[(String, String)],
) -> Result<Question, String> {
    if traced.tlx.as_ref().is_some_and(TlxPart::is_by_seed) {
        return Err("`tlx.rules` is \"seed\", and no compiler follows those rules".to_owned());
    }
    if arch.is_npu() {
        return Err("tilefit cannot ask a compiler for Ascend NPUs".to_owned());
    }
    if is_factory(db, unit) {
        lacks_nothing(needed)?;
        return tilelang_question(db, unit, scenario, arch);
    }
    let untyped = traced.untyped.iter().map(|(name, example)| (name.clone(), example.text().to_owned()));
    let mut missing = needed.to_vec();
    for (name, example) in untyped.chain(constexprs_without_values(db, unit, scenario)) {
        if !missing.iter().any(|(known, _)| *known == name) {
            missing.push((name, example));
        }
    }
    in_order(syntax(db, unit), &mut missing);
    let scenario = &with_assumed_elements(scenario, traced);
    lacks_nothing(&missing)?;
    let ast = syntax(db, unit);
    let imports = imports(db, unit.file(db));
    let function = scenario::function(ast).ok_or("there is no function")?;
    let is_gluon = scenario::is_gluon(ast, imports, function);
    let launched = launch_values(db, unit);
    let mut question = Question {
        ask: Asked::Triton,
        kernel: unit.key(db).name().to_owned(),
        target: target(arch),
        planner: None,
        signature: BTreeMap::new(),
        constexprs: BTreeMap::new(),
        divisible: Vec::new(),
        options: options(scenario),
    };
    for param in &function.params {
        let Some(name) = ast.name(param.name) else { continue };
        let is_constexpr = param.annotation.is_some_and(|it| scenario::is_constexpr(ast, imports, it));
        let value = scenario.value(name, is_constexpr).map(|(value, _)| value);
        let value = value.or_else(|| launched.get(name).map(|(value, _)| value.clone()));
        let argument = scenario.arguments.get(name).map(|(argument, _)| argument);
        let given = match (is_constexpr, argument, value) {
            // It has a default.
            (true, _, None) => continue,
            (true, _, Some(value)) => match python(&value) {
                Some(text) => Given::Constant(text),
                None => return Err(format!("the value of `{name}` cannot be written as Python")),
            },
            (false, Some(argument), _) => Given::Type(signature_of(argument, is_gluon), false),
            (false, None, None) => Given::Type(NUMBER.to_owned(), false),
            (false, None, Some(value)) => given(&value),
        };
        match given {
            Given::Constant(text) => _ = question.constexprs.insert(name.to_owned(), text),
            Given::Type(of, is_divisible) => {
                let is_address = of.starts_with('*') || of.starts_with("tensordesc");
                let is_divisible = match &scenario.divisible {
                    Some(told) => told.contains(name),
                    // Libraries align what they allocate.
                    None => is_address || is_divisible,
                };
                if is_divisible {
                    question.divisible.push(name.to_owned());
                }
                question.signature.insert(name.to_owned(), of);
            }
        }
    }
    Ok(question)
}

/// As the compilers name it.
fn target(arch: Arch) -> String {
    if arch.is_amd() { format!("hip:{arch}") } else { format!("cuda:{}", arch.capability()) }
}

/// The error says in words for the author which parameters lack values.
fn lacks_nothing(missing: &[(String, String)]) -> Result<(), String> {
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = missing.iter().map(|(name, _)| format!("`{name}`")).collect();
    let words: Vec<_> = missing.iter().map(|(name, example)| format!("{name}={example}")).collect();
    let comment = words.join(" ");
    let (have, them) = if names.len() == 1 { ("has no value", "it") } else { ("have no values", "them") };
    Err(format!("{} {have}; write {them}, for example `# tilefit: {comment}`", names.join(", ")))
}

/// What to call a factory of TileLang with.
fn tilelang_question<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
) -> Result<Question, String> {
    let function = scenario::function(syntax(db, unit)).ok_or("there is no function")?;
    let mut constexprs = BTreeMap::new();
    for name in function.params.iter().filter_map(|param| syntax(db, unit).name(param.name)) {
        let Some((value, _)) = scenario.values.get(name) else { continue };
        let text =
            tilelang::python(value).ok_or_else(|| format!("the value of `{name}` cannot be written as Python"))?;
        constexprs.insert(name.to_owned(), text);
    }
    Ok(Question {
        ask: Asked::Tilelang,
        kernel: unit.key(db).name().to_owned(),
        target: target(arch),
        planner: None,
        signature: BTreeMap::new(),
        constexprs,
        divisible: Vec::new(),
        options: BTreeMap::new(),
    })
}

/// A scenario with the element types that a plan assumes.
fn with_assumed_elements(scenario: &Scenario, traced: &TracedKernel) -> Scenario {
    let mut scenario = scenario.clone();
    for (name, dtype) in elements_of(traced) {
        scenario = scenario.where_it_is(&name, &dtype.constant(), "what is usual");
    }
    scenario
}

/// What a parameter is given.
enum Given {
    /// A value that the kernel is compiled for, as Python.
    Constant(String),
    /// A type, and whether it is known to be a multiple of 16.
    Type(String, bool),
}

/// How the launcher sees an argument that is no constexpr.
fn given(value: &Constant) -> Given {
    match value {
        Constant::Int(1) | Constant::None => Given::Constant(python(value).unwrap_or_default()),
        Constant::Int(number) => {
            let fits = i32::try_from(*number).is_ok();
            Given::Type(if fits { "i32" } else { "i64" }.to_owned(), number % 16 == 0)
        }
        Constant::Bool(_) => Given::Type("i1".to_owned(), false),
        Constant::Float(_) => Given::Type("fp32".to_owned(), false),
        value => match Dtype::from_constant(value) {
            Some(element) => Given::Type(format!("*{}", element.short()), false),
            None => Given::Type(NUMBER.to_owned(), false),
        },
    }
}

fn options(scenario: &Scenario) -> BTreeMap<String, u32> {
    let told = [
        ("num_warps", scenario.num_warps),
        ("num_ctas", scenario.num_ctas),
        ("num_stages", scenario.num_stages),
        ("maxnreg", scenario.maxnreg),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// In Gluon the layout of a descriptor is a part of its type.
fn signature_of(argument: &ArgumentType, is_gluon: bool) -> String {
    let short = |name: &str| Dtype::from_name(name).map_or(name.to_owned(), |dtype| dtype.short().to_owned());
    match argument {
        ArgumentType::Pointer { element } => format!("*{}", short(element)),
        ArgumentType::Scalar { dtype } => short(dtype),
        ArgumentType::Descriptor { element, block, layout } => {
            let extents: Vec<_> = block.iter().map(u64::to_string).collect();
            let layout = match (layout, Dtype::from_name(element)) {
                (Some(layout), _) => format!(",{layout}"),
                (None, Some(element)) if is_gluon => format!(",{}", default_layout(block, element)),
                (None, _) => String::new(),
            };
            format!("tensordesc<{}[{}]{layout}>", short(element), extents.join(", "))
        }
    }
}

fn default_layout(block: &[u64], element: Dtype) -> String {
    let bits = u64::from(element.bits.max(8));
    let swizzle = Nvmma::default_swizzle(block, bits, false, false, &Vec::new());
    format!(
        "NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth={bits}, rank={}, transposed=False, fp4_padded=False, cga_layout=[])",
        block.len()
    )
}

/// A value as Python text; `None` for what has none.
fn python(value: &Constant) -> Option<String> {
    let all = |values: &[Constant]| values.iter().map(python).collect::<Option<Vec<_>>>();
    Some(match value {
        Constant::Int(number) => number.to_string(),
        Constant::Float(number) => format!("{:?}", number.get()),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::None => "None".to_owned(),
        // Layouts and types are texts too.
        Constant::Str(text) => text.clone(),
        Constant::Member(name) => name.clone(),
        Constant::List(values) => format!("[{}]", all(values)?.join(", ")),
        Constant::Tuple(values) if values.len() == 1 => format!("({},)", python(&values[0])?),
        Constant::Tuple(values) => format!("({})", all(values)?.join(", ")),
        _ => return None,
    })
}
