//! Programs of many kernels: compiled by the system's compiler, run, and compared with plain references.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tilefit_pypto::codegen::{self, Options};
use tilefit_pypto::ir::{Kernel, Scalar, Type};
use tilefit_pypto::lower::Module;
use tilefit_pypto::memory::{self, Plan};
use tilefit_pypto::passes;
use tilefit_pypto::target::{Planner, Target};
use tilefit_python::element::Dtype;

use crate::generated_code::array::Array;
use crate::generated_code::library::{Source, namespace, unexplained};

pub(crate) type Inputs<'a> = &'a BTreeMap<String, Array>;

/// The kernels of a text as their authors wrote them.
pub(crate) fn written(text: &str) -> Vec<Kernel> {
    Module::new(text).kernels()
}

/// What is compiled of a kernel, with its plan: one kernel, or one for each core.
pub(crate) fn compiled(kernel: Kernel) -> Vec<(Kernel, Plan)> {
    compiled_for(kernel, Target::Ascend910b)
}

pub(crate) fn compiled_for(kernel: Kernel, target: Target) -> Vec<(Kernel, Plan)> {
    let with_plan = |kernel: Kernel| {
        let plan = memory::plan(&kernel, target, Planner::Auto);
        (kernel, plan)
    };
    passes::prepare(kernel, target.into(), Planner::Auto).into_iter().map(with_plan).collect()
}

/// The kernels of a text with their plans.
pub(crate) fn planned(text: &str) -> Vec<(Kernel, Plan)> {
    planned_for(text, Target::Ascend910b)
}

pub(crate) fn planned_for(text: &str, target: Target) -> Vec<(Kernel, Plan)> {
    written(text).into_iter().flat_map(|kernel| compiled_for(kernel, target)).collect()
}

/// The Python files of a folder of this crate, in order.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "py")).collect();
    files.sort();
    files
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// A kernel with its inputs.
pub(crate) struct Run<'a> {
    name: String,
    kernel: &'a Kernel,
    plan: &'a Plan,
    /// For each tensor `lo`, `hi`, `salt`; for each scalar `value`.
    rules: Json,
    tolerance: f64,
}

impl<'a> Run<'a> {
    /// Inputs from -2 to 2 and integers from 0 to 15, each tensor another; outputs and scalars are zero.
    pub(crate) fn new(name: &str, kernel: &'a Kernel, plan: &'a Plan) -> Run<'a> {
        let mut rules = json!({});
        for (salt, param) in kernel.params.iter().enumerate() {
            let var = kernel.var(*param);
            match &var.ty {
                Type::Tensor(tensor) if !tensor.is_output => {
                    let float = tensor.dtype.is_some_and(Dtype::is_float);
                    let (lo, hi) = if float { (-2, 2) } else { (0, 15) };
                    rules[&var.name] = json!({ "lo": lo, "hi": hi, "salt": salt });
                }
                _ => {}
            }
        }
        Run { name: name.to_string(), kernel, plan, rules, tolerance: 1e-5 }
    }

    pub(crate) fn with(mut self, rules: &Json) -> Run<'a> {
        if !rules.is_null() {
            self.rules = rules.clone();
        }
        self
    }

    /// Sets the rule of one parameter.
    pub(crate) fn given(mut self, param: &str, rule: Json) -> Run<'a> {
        self.rules[param] = rule;
        self
    }

    pub(crate) fn tolerance(mut self, tolerance: f64) -> Run<'a> {
        self.tolerance = tolerance;
        self
    }

    fn inputs(&self) -> BTreeMap<String, Array> {
        let mut inputs = BTreeMap::new();
        for param in &self.kernel.params {
            let var = self.kernel.var(*param);
            let rule = &self.rules[&var.name];
            if let Type::Tensor(tensor) = &var.ty {
                let (rows, cols) = extents(&tensor.shape);
                let dtype = tensor.dtype.unwrap();
                let value = |r: usize, c: usize| if rule.is_null() { 0.0 } else { element(rule, dtype, r * cols + c) };
                inputs.insert(var.name.clone(), Array::from(rows, cols, value));
            }
        }
        inputs
    }

    /// A block that fills the inputs, runs the kernel and prints the tensors in `outputs`.
    pub(crate) fn driver(&self, outputs: &[&str]) -> String {
        self.driver_of(&self.call(0), outputs)
    }

    fn call(&self, core: usize) -> String {
        format!("{}::run{}(args)", namespace(&self.name, core), pascal(&self.kernel.name))
    }

    fn driver_of(&self, call: &str, outputs: &[&str]) -> String {
        let name = &self.name;
        let mut text = String::from("    run([] {\n");
        let (mut args, mut prints) = (String::new(), String::new());
        for (slot, param) in self.kernel.params.iter().enumerate() {
            let var = self.kernel.var(*param);
            let rule = &self.rules[&var.name];
            let number = |key: &str| rule[key].as_f64().unwrap_or(0.0);
            match &var.ty {
                Type::Tensor(tensor) => {
                    let (rows, cols) = extents(&tensor.shape);
                    let ty = c_type(tensor.dtype.unwrap());
                    // Large inputs are made once for all kernels; what is printed belongs to its kernel.
                    let (count, shown) = (rows * cols, outputs.contains(&var.name.as_str()));
                    let _ = match (rule, shown) {
                        (Json::Null, _) => writeln!(text, "        auto v{slot} = tensor<{ty}>({count});"),
                        (_, shown) => writeln!(
                            text,
                            "        auto{} v{slot} = tensor<{ty}>({count}, {}, {}, {});",
                            if shown { "" } else { "&" },
                            number("lo"),
                            number("hi"),
                            number("salt"),
                        ),
                    };
                    let _ = writeln!(args, "        args[{slot}] = address(v{slot});");
                    if outputs.contains(&var.name.as_str()) {
                        let _ = writeln!(prints, "        print(\"{name} {}\", v{slot});", var.name);
                    }
                }
                Type::Scalar(dtype) => {
                    let _ = writeln!(text, "        {} v{slot} = {};", c_type(*dtype), number("value"));
                    let _ = writeln!(args, "        std::memcpy(&args[{slot}], &v{slot}, sizeof v{slot});");
                }
                _ => panic!("a parameter that is neither tensor nor scalar"),
            }
        }
        let given = codegen::program(self.kernel, self.plan).0.args.len();
        let _ = writeln!(text, "        int64_t args[{}] = {{}};", given.max(1));
        for slot in self.kernel.params.len()..given {
            let _ = writeln!(args, "        args[{slot}] = {UNKNOWN_EXTENT};");
        }
        text.push_str(&args);
        let _ = writeln!(text, "        {call};");
        text.push_str(&prints);
        let _ = writeln!(text, "    }}, \"{name}\");");
        text
    }
}

/// Kernels that are compiled as one program.
#[derive(Default)]
pub(crate) struct Batch {
    source: Source,
    expected: BTreeMap<(String, String), (Array, f64)>,
    pub(crate) cases: usize,
    /// What was wrong before anything ran.
    wrong: Vec<String>,
}

impl Batch {
    fn generated(&mut self, run: &Run) -> Option<String> {
        let generated = codegen::generate_as(run.kernel, run.plan, Options::default());
        if let Some(finding) = generated.findings.first() {
            self.wrong.push(format!("{}: {}", run.name, finding.message));
            return None;
        }
        self.cases += 1;
        Some(generated.text)
    }

    /// Adds a kernel that must compute what `reference` says of its inputs.
    pub(crate) fn add(&mut self, run: Run, reference: &dyn Fn(Inputs) -> Vec<(&'static str, Array)>) {
        let Some(text) = self.generated(&run) else { return };
        let outputs = reference(&run.inputs());
        let names: Vec<&str> = outputs.iter().map(|(output, _)| *output).collect();
        self.source.add(&run.name, &[text], run.driver(&names));
        for (output, array) in outputs {
            self.expected.insert((run.name.clone(), output.to_string()), (array, run.tolerance));
        }
    }

    /// Adds the two kernels of one that uses both cores; they run side by side.
    pub(crate) fn add_pair(
        &mut self,
        cube: Run,
        vector: Run,
        reference: &dyn Fn(Inputs) -> Vec<(&'static str, Array)>,
    ) {
        let (Some(first), Some(second)) = (self.generated(&cube), self.generated(&vector)) else { return };
        let outputs = reference(&cube.inputs());
        let names: Vec<&str> = outputs.iter().map(|(output, _)| *output).collect();
        let call = format!("host::cores([&] {{ {}; }}, [&] {{ {}; }})", cube.call(0), vector.call(1));
        self.source.add(&cube.name, &[first, second], cube.driver_of(&call, &names));
        for (output, array) in outputs {
            self.expected.insert((cube.name.clone(), output.to_string()), (array, cube.tolerance));
        }
    }

    /// Compiles, runs, and says what is wrong.
    pub(crate) fn run(mut self, name: &str) -> Vec<String> {
        let ran = std::mem::take(&mut self.source).run(name, MAIN);
        let mut wrong = std::mem::take(&mut self.wrong);
        for (name, error) in ran.refused {
            wrong.push(format!("{name}: does not compile: {error}"));
            self.expected.retain(|(of, _), _| *of != name);
        }
        let printed = String::from_utf8(ran.output).unwrap();
        for line in printed.lines() {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default().to_string();
            let key = (word(), word());
            let Some((want, tolerance)) = self.expected.remove(&key) else {
                wrong.push(line.chars().take(200).collect::<String>());
                continue;
            };
            let got: Vec<f64> = words.map(|word| word.parse().unwrap_or(f64::NAN)).collect();
            let error = |(got, want): (&f64, &f64)| (got - want).abs() / (1.0 + want.abs());
            let worst =
                got.iter().zip(&want.values).map(error).fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) });
            if got.len() != want.values.len() || worst.is_nan() || worst > tolerance {
                let (output, of) = (got.len(), want.values.len());
                wrong.push(format!("{} {}: off by {worst}, {output} of {of} elements", key.0, key.1));
            }
        }
        wrong.extend(self.expected.keys().map(|(name, output)| format!("{name} {output}: not printed")));
        unexplained(wrong)
    }

    /// Compiles and runs; everything must be right.
    pub(crate) fn check(self, name: &str) {
        let cases = self.cases;
        let wrong = self.run(name);
        println!("{name}: {cases} kernels ran");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Element k of an input, as the README of the recorded cases says; a float of eight bits is a whole number or, where it holds
/// no others, a power of two.
fn element(rule: &Json, dtype: Dtype, k: usize) -> f64 {
    let number = |key: &str| rule[key].as_f64().unwrap_or(0.0);
    let h = ((k * 7919 + 104_729 * number("salt") as usize) % 1009) as f64;
    let (lo, hi) = (number("lo"), number("hi"));
    let is_small = dtype.storage_bits() == 8;
    if dtype == Dtype::Fp8E8M0 {
        return (lo + h % (hi - lo + 1.0)).exp2();
    }
    if dtype.is_float() && !is_small { lo + (hi - lo) * h / 1008.0 } else { lo + h % (hi - lo + 1.0) }
}

/// Elements of the parameter that queues between the cores go through.
const QUEUE_BUFFER: usize = 1 << 18;

/// Extents that are known at run time only.
const UNKNOWN_EXTENT: usize = 64;

/// Rows and columns, all but the last dimension together.
fn extents(shape: &[Scalar]) -> (usize, usize) {
    if shape.is_empty() {
        return (1, QUEUE_BUFFER);
    }
    let all: Vec<usize> =
        shape.iter().map(|extent| extent.as_int().map_or(UNKNOWN_EXTENT, |extent| extent as usize)).collect();
    let cols = *all.last().unwrap();
    (all.iter().product::<usize>() / cols, cols)
}

pub(crate) fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Fp32 => "float",
        Dtype::Fp16 => "half",
        Dtype::Bf16 => "bfloat16",
        Dtype::Bool => "bool",
        Dtype::Int8 => "int8_t",
        Dtype::Int16 => "int16_t",
        Dtype::Int32 => "int32_t",
        Dtype::Int64 | Dtype::Index => "int64_t",
        Dtype::Uint8 => "uint8_t",
        Dtype::Uint16 => "uint16_t",
        Dtype::Uint32 => "uint32_t",
        Dtype::Uint64 => "uint64_t",
        Dtype::Fp8E4M3Fn => "float8_e4m3_t",
        Dtype::Fp8E5M2 => "float8_e5m2_t",
        Dtype::Fp8E8M0 => "float8_e8m0_t",
        other => panic!("no host type for {other}"),
    }
}

pub(crate) fn pascal(name: &str) -> String {
    name.split('_').filter(|part| !part.is_empty()).map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

pub(crate) const MAIN: &str = r#"
#include <cstdio>

template <typename T> std::vector<T> tensor(size_t count)
{
    return std::vector<T>(count, T(0));
}

template <typename T> std::vector<T>& tensor(size_t count, double lo, double hi, int salt)
{
    static std::map<std::tuple<size_t, double, double, int>, std::vector<T>> made;
    auto& values = made[{count, lo, hi, salt}];
    if (!values.empty()) return values;
    for (size_t k = 0; k < count; ++k) {
        int h = (k * 7919 + 104729 * salt) % 1009;
        double whole = lo + h % int(hi - lo + 1);
        if constexpr (std::is_same_v<T, float8_e8m0_t>) values.push_back(T(float(std::exp2(whole))));
        else if constexpr (std::is_integral_v<T>) values.push_back(T(whole));
        else if constexpr (sizeof(T) == 1) values.push_back(T(float(whole)));
        else values.push_back(T(float(lo + (hi - lo) * h / 1008)));
    }
    return values;
}

template <typename T> int64_t address(std::vector<T>& values)
{
    host::tensors()[reinterpret_cast<const char*>(values.data())] = values.size() * sizeof(T);
    return reinterpret_cast<int64_t>(values.data());
}

template <typename T> void print(const char* name, const std::vector<T>& values)
{
    std::printf("%s", name);
    for (auto value : values) std::printf(" %.9g", double(float(value)));
    std::printf("\n");
}

template <typename F> void run(F f, const char* name)
{
    host::tensors().clear();
    std::string wrong = host::attempt(f);
    if (!wrong.empty()) std::printf("%s failed: %s\n", name, wrong.c_str());
}
"#;
