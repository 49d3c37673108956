//! Generated C++ compiles and computes the right numbers, on the host's own version of the instructions
//! (`tests/host_isa`): every kernel of `conformance/codegen` that says what it computes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tilelens_analysis::codegen::{self, Options};
use tilelens_analysis::eval::{self, Constant, FunctionSource, Scope};
use tilelens_analysis::ir::{Dtype, Kernel, Scalar, Type};
use tilelens_analysis::memory::{self, Plan};
use tilelens_analysis::target::{Planner, Target};
use tilelens_analysis::{lower, passes};
use tilelens_syntax::{BlockKind, Document, ast};

struct Module<'d>(&'d Document);

impl Scope for Module<'_> {
    fn constant(&self, name: &str) -> Option<Constant> {
        let statements = self.0.blocks().iter().filter(|block| block.key.kind == BlockKind::Statements);
        statements.map(|block| ast::parse(&block.source).0).find_map(|ast| eval::bound_value(&ast, name, self))
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let mut functions = self.0.blocks().iter().filter(|block| block.key.kind == BlockKind::Function);
        let found = functions.find(|block| block.key.path.rsplit('.').next() == Some(name))?;
        Some(FunctionSource { ast: ast::parse(&found.source).0.into() })
    }
}

fn planned(text: &str) -> Option<(Kernel, Plan)> {
    let document = Document::new(text);
    let functions = document.blocks().iter().filter(|block| block.key.kind == BlockKind::Function);
    let mut kernels = functions.flat_map(|block| lower::kernels(&ast::parse(&block.source).0, &Module(&document)));
    let kernel = passes::prepare(kernels.next()?, Target::Ascend910b).into_iter().next()?;
    let plan = memory::plan(&kernel, Target::Ascend910b, Planner::Auto);
    Some((kernel, plan))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

// ---- arrays, as much of NumPy as the expressions of the cases need

#[derive(Debug, Clone, PartialEq)]
struct Array {
    rows: usize,
    cols: usize,
    values: Vec<f64>,
}

impl Array {
    fn from(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Array {
        let values = (0..rows * cols).map(|at| f(at / cols, at % cols)).collect();
        Array { rows, cols, values }
    }

    /// With broadcasting of single rows and columns.
    fn at(&self, row: usize, col: usize) -> f64 {
        self.values[(if self.rows == 1 { 0 } else { row }) * self.cols + if self.cols == 1 { 0 } else { col }]
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Array {
        Array { values: self.values.iter().copied().map(f).collect(), ..*self }
    }

    fn zip(&self, other: &Array, f: impl Fn(f64, f64) -> f64) -> Array {
        let (rows, cols) = (self.rows.max(other.rows), self.cols.max(other.cols));
        Array::from(rows, cols, |r, c| f(self.at(r, c), other.at(r, c)))
    }

    fn add(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a + b)
    }

    fn sub(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a - b)
    }

    fn mul(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a * b)
    }

    fn div(&self, other: &Array) -> Array {
        self.zip(other, |a, b| a / b)
    }

    fn scale(&self, by: f64) -> Array {
        self.map(|a| a * by)
    }

    fn exp(&self) -> Array {
        self.map(f64::exp)
    }

    fn rows(&self, f: impl Fn(f64, f64) -> f64) -> Array {
        Array::from(self.rows, 1, |r, _| (1..self.cols).fold(self.at(r, 0), |sum, c| f(sum, self.at(r, c))))
    }

    fn row_sum(&self) -> Array {
        self.rows(|a, b| a + b)
    }

    fn row_max(&self) -> Array {
        self.rows(f64::max)
    }

    /// `a.reshape(n, height, width)`, folded over the first axis.
    fn blocks(&self, height: usize, f: impl Fn(f64, f64) -> f64) -> Array {
        let first = self.part(0, height, 0, self.cols);
        (1..self.rows / height).fold(first, |sum, n| sum.zip(&self.part(n * height, height, 0, self.cols), &f))
    }

    fn part(&self, row: usize, rows: usize, col: usize, cols: usize) -> Array {
        Array::from(rows, cols, |r, c| self.values[(row + r) * self.cols + col + c])
    }

    fn reshape(&self, rows: usize, cols: usize) -> Array {
        Array { rows, cols, values: self.values.clone() }
    }

    fn times(&self, other: &Array) -> Array {
        Array::from(self.rows, other.cols, |r, c| (0..self.cols).map(|k| self.at(r, k) * other.at(k, c)).sum())
    }

    fn below(&self, other: &Array) -> Array {
        Array {
            rows: self.rows + other.rows,
            cols: self.cols,
            values: [self.values.clone(), other.values.clone()].concat(),
        }
    }

    fn zeros(rows: usize, cols: usize) -> Array {
        Array::from(rows, cols, |_, _| 0.0)
    }
}

type Inputs<'a> = &'a BTreeMap<String, Array>;
type Reference = fn(Inputs) -> Vec<(&'static str, Array)>;

fn out(array: Array) -> Vec<(&'static str, Array)> {
    vec![("out", array)]
}

/// What the cases compute; the expressions of their `semantics` by hand.
const REFERENCES: &[(&str, Reference)] = &[
    ("001", |i| out(i["a"].add(&i["b"]))),
    ("002", |i| out(i["a"].sub(&i["b"]).mul(&i["b"]).div(&i["a"]).add(&i["b"]))),
    ("003", |i| out(i["a"].map(|a| -a.abs().sqrt().exp()))),
    ("004", |i| out(i["a"].map(|a| 1.0 / a.sqrt() + 1.0 / a + a.ln().max(0.0)))),
    ("005", |i| out(i["a"].map(|a| ((a + 1.5) * 2.0 - 0.25) / 4.0))),
    ("006", |i| out(i["a"].zip(&i["lo"], f64::max).zip(&i["hi"], f64::min))),
    ("007", |i| vec![("out1", i["a"].add(&i["b"])), ("out2", i["a"].add(&i["b"]).mul(&i["c"]))]),
    ("008", |i| vec![("out1", i["a"].exp().scale(2.0)), ("out2", i["b"].map(|b| b.abs() + 1.0))]),
    ("009", |i| out(i["a"].map(|a| 2.0 * a * a))),
    ("010", |i| out(i["a"].add(&i["b"]).map(|x| (x * 0.5).exp()))),
    ("011", |i| {
        let quarter = |row, col| i["a"].part(row, 64, col, 64);
        out(quarter(0, 0).add(&quarter(0, 64)).sub(&quarter(64, 0).add(&quarter(64, 64))))
    }),
    ("013", |i| out(i["a"].add(&i["b"]).mul(&i["b"]))),
    ("014", |i| out(i["a"].sub(&i["b"]).mul(&i["b"]).zip(&i["a"], f64::max))),
    ("015", |i| out(i["a"].add(&i["b"]))),
    ("016", |i| out(i["a"].clone())),
    ("017", |i| vec![("out1", i["a"].clone()), ("out2", i["a"].exp())]),
    ("018", |i| out(i["a"].row_sum())),
    ("019", |i| vec![("out1", i["a"].row_sum()), ("out2", i["a"].row_max()), ("out3", i["a"].rows(f64::min))]),
    ("021", |i| {
        let e = i["a"].sub(&i["a"].row_max()).exp();
        out(e.div(&e.row_sum()))
    }),
    ("022", |i| {
        let a = &i["a"];
        let norm = a.mul(a).row_sum().map(|s| (s / a.cols as f64 + 1e-5).sqrt());
        out(a.div(&norm).mul(&i["w"]))
    }),
    ("023", |i| out(i["a"].add(&i["v"]).mul(&i["v"]).sub(&i["v"]).div(&i["v"]))),
    ("024", |i| out(i["a"].mul(&i["v"]).sub(&i["v"]).div(&i["v"]))),
    ("025", |i| out(i["a"].zip(&i["v"], |_, v| v * 2.0))),
    ("026", |i| out(i["a"].map(|a| a + 2.5))),
    ("027", |i| out(i["a"].map(|_| 5.0))),
    ("028", |i| {
        let a = &i["a"];
        vec![
            ("o1", a.map(f64::round_ties_even)),
            ("o2", a.map(f64::round)),
            ("o3", a.map(f64::floor)),
            ("o4", a.map(f64::ceil)),
            ("o5", a.map(f64::trunc)),
        ]
    }),
    ("029", |i| out(i["a"].exp())),
    ("031", |i| out(i["a"].add(&i["b"]))),
    ("032", |i| out(i["a"].map(|a| (a + 1.0) * 2.0).reshape(64, 32))),
    ("033", |i| out(i["a"].part(16, 32, 32, 32).map(|a| (a + 1.0) * 2.0))),
    ("034", |i| {
        let (a, b) = (i["a"].exp(), &i["b"]);
        out(Array::from(a.rows, a.cols + b.cols, |r, c| if c < a.cols { a.at(r, c) } else { b.at(r, c - a.cols) }))
    }),
    ("036", |i| out(i["a"].times(&i["b"]))),
    ("037", |i| out(i["a"].times(&i["b"]))),
    ("038", |i| out(i["a"].times(&i["b"]))),
    ("039", |i| out(i["a"].times(&i["b"]))),
    ("040", |i| out(i["a"].times(&i["b"]))),
    ("042", |i| {
        let b = |col| i["b"].part(0, i["b"].rows, col, 64);
        vec![("o1", i["a"].times(&b(0))), ("o2", i["a"].times(&b(64)))]
    }),
    ("043", |i| out(i["a"].times(&i["b"]))),
    ("044", |i| out(i["a"].exp())),
    ("045", |i| out(i["a"].blocks(64, |a, b| a + b))),
    ("046", |i| vec![("o1", i["a"].blocks(64, |a, b| a + b)), ("o2", i["a"].blocks(64, f64::max))]),
    ("047", |i| {
        let (a, b) = (&i["a"], &i["b"]);
        vec![("o1", a.zip(b, |a, b| a + 2.0 * b)), ("o2", a.zip(b, |a, b| 2.0 * a + 3.0 * b))]
    }),
    ("048", |i| out(Array::from(256, 64, |r, c| i["a"].at(r, c) * i["w"].at(r % 64, c)))),
    ("049", |i| {
        let v = &i["v"];
        out(Array::from(i["a"].rows, i["a"].cols, |r, c| i["a"].at(r, c) + v.at(r, c % v.cols).exp()))
    }),
    ("050", |i| out(Array::from(128, 64, |r, c| (0..4).map(|n| i["a"].values[(r * 4 + n) * 64 + c]).sum()))),
    ("051", |i| vec![("out", i["a"].map(|a| a * 2.0 + 1.0)), ("mid", i["a"].scale(2.0))]),
    ("052", |i| out(Array::from(256, 64, |r, c| if r < 192 { -i["a"].at(r, c) } else { 0.0 }))),
    ("053", |i| vec![("o1", i["a"].exp()), ("o2", i["b"].map(f64::abs))]),
    ("054", |i| out(i["a"].exp())),
    ("055", |i| out(i["a"].part(64, 128, 0, 64).map(|a| a + 1.0).below(&Array::zeros(128, 64)))),
    ("056", |i| out(i["a"].map(|a| a / 8.0 + 1.75))),
    ("057", |i| out(i["a"].scale(-1.0))),
    ("058", |i| out(i["a"].map(|a| (a * 2.0).exp() + a))),
    ("059", |i| out(i["a"].map(|a| a + 1.0))),
    ("060", |i| out(i["b"].exp())),
    ("061", |i| out(i["a"].blocks(64, |a, b| a + b))),
    ("062", |i| out(i["a"].part(0, 192, 0, 64).blocks(64, |a, b| a + b))),
    ("063", |i| out(i["a"].map(f64::abs))),
    ("065", |i| vec![("o1", i["a"].exp()), ("o2", i["c"].sub(&i["b"]))]),
    ("066", |i| vec![("o1", i["a"].exp()), ("o2", i["a"].scale(-1.0)), ("o3", i["a"].map(f64::abs))]),
    ("067", |i| vec![("out", i["a"].map(|a| a * 2.0 + 1.0)), ("mid", i["a"].scale(2.0))]),
    ("068", |i| vec![("a", i["a"].exp())]),
    ("069", |i| out(i["b"].exp())),
    ("070", |i| out(i["a"].blocks(32, |a, b| a + b))),
    ("071", |i| out(i["a"].blocks(32, |a, b| a + b))),
    ("073", |i| out(i["a"].exp())),
    ("074", |i| out(i["a"].exp().add(&i["b"].exp()))),
    ("075", |i| out(i["a"].map(|a| a * (a + a.exp())))),
    ("076", |i| out(i["a"].map(|a| a * 1.5 - 0.25))),
    ("077", |i| out(i["a"].part(128, 64, 0, 64).sub(&i["a"].part(64, 64, 64, 64)))),
    ("078", |i| out(i["a"].part(0, 64, 0, 64).add(&i["a"].part(192, 64, 0, 64)))),
    ("079", |i| {
        let s = &i["s"];
        vec![("om", s.row_max()), ("ol", s.sub(&s.row_max()).exp().row_sum())]
    }),
    ("080", |i| out(i["a"].row_sum().map(|s| s * 0.5 + 1.0))),
    ("081", |i| out(i["a"].times(&i["b"]))),
    ("083", |i| {
        let sum = i["a"].add(&i["b"]);
        vec![("o1", sum.clone()), ("o2", sum.mul(&i["a"])), ("o3", sum.mul(&i["a"]).sub(&sum))]
    }),
    ("084", |i| out(i["a"].exp())),
    ("087", |i| out(i["a"].exp())),
    ("088", |i| out(i["a"].add(&i["b"]).mul(&i["c"]))),
];

// ---- the program that runs them

/// Element k of an input, as the README of the cases says.
fn element(rule: &Json, dtype: Dtype, k: usize) -> f64 {
    let number = |key: &str| rule[key].as_f64().unwrap_or(0.0);
    let h = ((k * 7919 + 104_729 * number("salt") as usize) % 1009) as f64;
    let (lo, hi) = (number("lo"), number("hi"));
    if dtype.is_float() { lo + (hi - lo) * h / 1008.0 } else { lo + h % (hi - lo + 1.0) }
}

fn extents(shape: &[Scalar]) -> (usize, usize) {
    let all: Vec<usize> = shape.iter().map(|extent| extent.as_int().unwrap() as usize).collect();
    let cols = *all.last().unwrap();
    (all.iter().product::<usize>() / cols, cols)
}

fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Fp32 => "float",
        Dtype::Fp16 => "half",
        Dtype::Bf16 => "bfloat16",
        Dtype::Int32 => "int32_t",
        Dtype::Int64 | Dtype::Index => "int64_t",
        other => panic!("no host type for {other}"),
    }
}

/// A block that fills the inputs, runs the kernel and prints the tensors in `outputs`.
fn driver(name: &str, kernel: &Kernel, inputs: &Json, outputs: &[&str]) -> String {
    let mut text = String::from("    run([] {\n");
    let mut args = String::new();
    let mut prints = String::new();
    for (slot, param) in kernel.params.iter().enumerate() {
        let var = kernel.var(*param);
        let rule = &inputs[&var.name];
        match &var.ty {
            Type::Tensor(tensor) => {
                let (rows, cols) = extents(&tensor.shape);
                let ty = c_type(tensor.dtype.unwrap());
                let number = |key: &str| rule[key].as_f64().unwrap_or(0.0);
                let fill = if rule.is_null() {
                    String::new()
                } else {
                    format!(", {}, {}, {}", number("lo"), number("hi"), number("salt"))
                };
                let _ = writeln!(text, "        auto v{slot} = tensor<{ty}>({}{fill});", rows * cols);
                let _ = writeln!(args, "        args[{slot}] = address(v{slot});");
                if outputs.contains(&var.name.as_str()) {
                    let _ = writeln!(prints, "        print(\"{name} {}\", v{slot});", var.name);
                }
            }
            Type::Scalar(dtype) => {
                let value = rule["value"].as_f64().unwrap_or(0.0);
                let _ = writeln!(text, "        {} v{slot} = {value};", c_type(*dtype));
                let _ = writeln!(args, "        std::memcpy(&args[{slot}], &v{slot}, sizeof v{slot});");
            }
            _ => panic!("a parameter that is neither tensor nor scalar"),
        }
    }
    let _ = writeln!(text, "        int64_t args[{}] = {{}};", kernel.params.len());
    text.push_str(&args);
    let _ = writeln!(text, "        case_{name}::run{}(args);", pascal(&kernel.name));
    text.push_str(&prints);
    let _ = writeln!(text, "    }}, \"{name}\");");
    text
}

fn pascal(name: &str) -> String {
    name.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

const MAIN: &str = r#"
#include <cstdio>

template <typename T> std::vector<T> tensor(size_t count)
{
    return std::vector<T>(count, T(0));
}

template <typename T> std::vector<T> tensor(size_t count, double lo, double hi, int salt)
{
    std::vector<T> values;
    for (size_t k = 0; k < count; ++k) {
        int h = (k * 7919 + 104729 * salt) % 1009;
        values.push_back(std::is_integral_v<T> ? T(lo + h % int(hi - lo + 1)) : T(float(lo + (hi - lo) * h / 1008)));
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
    host::flags().clear();
    host::tensors().clear();
    try {
        f();
        for (auto& [flag, count] : host::flags()) host::require(count == 0, "a flag that nobody waited for");
    } catch (const std::exception& error) {
        std::printf("%s failed: %s\n", name, error.what());
    }
}
"#;

/// Compiles and runs a program with the host's instructions; its output.
fn compile_and_run(name: &str, source: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let (cpp, binary) = (folder.join("kernels.cpp"), folder.join("kernels"));
    std::fs::write(&cpp, source).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_string());
    let compiled = Command::new(compiler)
        .args(["-std=c++20", "-O1", "-Wno-attributes", "-I"])
        .arg(root().join("host_isa"))
        .args([&cpp, Path::new("-o"), &binary].map(|arg| arg as &Path))
        .output()
        .expect("a C++20 compiler is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&binary).output().unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

/// The first case with two tiles that live together at one address.
fn clash(functions: &mut String, drivers: &mut String) {
    let file = root().join("conformance/codegen/001_add_two_tiles.py");
    let (kernel, mut plan) = planned(&std::fs::read_to_string(file).unwrap()).unwrap();
    let address = plan.tiles[0].address;
    plan.tiles[1].address = address;
    let text = codegen::generate(&kernel, &plan).text;
    let _ = writeln!(functions, "namespace case_clash {{\n{text}}}");
    let inputs = serde_json::json!({ "a": { "lo": -2, "hi": 2, "salt": 0 }, "b": { "lo": -2, "hi": 2, "salt": 1 } });
    drivers.push_str(&driver("clash", &kernel, &inputs, &["out"]));
}

#[test]
fn kernels_compute_what_they_say() {
    let (mut functions, mut drivers) = (String::new(), String::new());
    let mut expected: BTreeMap<(String, String), (Array, f64)> = BTreeMap::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("conformance/codegen")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "json")) {
        let name = file.file_name().unwrap().to_string_lossy()[..3].to_string();
        let Some((_, reference)) = REFERENCES.iter().find(|(of, _)| *of == name) else { continue };
        let json: Json = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let (kernel, plan) = planned(&std::fs::read_to_string(file.with_extension("py")).unwrap()).unwrap();
        let generated = codegen::generate_as(&kernel, &plan, Options { prelude: cases == 0, ..Options::default() });
        assert!(generated.findings.is_empty(), "{name}: {:?}", generated.findings);
        if cases == 0 {
            let (prelude, function) = generated.text.split_once("__aicore__ __attribute__").unwrap();
            let _ = writeln!(functions, "{prelude}\nnamespace case_{name} {{\n__aicore__ __attribute__{function}}}");
        } else {
            let _ = writeln!(functions, "namespace case_{name} {{\n{}}}", generated.text);
        }
        cases += 1;
        let rules = &json["semantics"]["inputs"];
        let mut inputs = BTreeMap::new();
        for param in &kernel.params {
            let var = kernel.var(*param);
            if let Type::Tensor(tensor) = &var.ty {
                let (rows, cols) = extents(&tensor.shape);
                let dtype = tensor.dtype.unwrap();
                let rule = &rules[&var.name];
                let value = |r: usize, c: usize| if rule.is_null() { 0.0 } else { element(rule, dtype, r * cols + c) };
                inputs.insert(var.name.clone(), Array::from(rows, cols, value));
            }
        }
        let tolerance = json["semantics"]["tolerance"].as_f64().unwrap();
        let outputs = reference(&inputs);
        let names: Vec<&str> = outputs.iter().map(|(output, _)| *output).collect();
        drivers.push_str(&driver(&name, &kernel, rules, &names));
        for (output, array) in outputs {
            expected.insert((name.clone(), output.to_string()), (array, tolerance));
        }
    }
    clash(&mut functions, &mut drivers);
    let source = format!("{functions}\n{MAIN}\nint main()\n{{\n{drivers}}}\n");
    let printed = compile_and_run("conformance", &source);
    let (mut wrong, mut clashed) = (Vec::new(), false);
    for line in printed.lines() {
        let mut words = line.split(' ');
        let key = (words.next().unwrap().to_string(), words.next().unwrap().to_string());
        if key.0 == "clash" {
            // b lies on a: the sum is twice b.
            let is_sum = words.enumerate().all(|(k, word)| {
                let of = |salt| element(&serde_json::json!({ "lo": -2, "hi": 2, "salt": salt }), Dtype::Fp32, k);
                (word.parse::<f64>().unwrap() - of(0) - of(1)).abs() < 1e-5
            });
            assert!(!is_sum, "two live tiles at one address must spoil the result");
            clashed = true;
            continue;
        }
        let Some((want, tolerance)) = expected.remove(&key) else {
            wrong.push(line.chars().take(200).collect::<String>());
            continue;
        };
        let got: Vec<f64> = words.map(|word| word.parse().unwrap_or(f64::NAN)).collect();
        let error = |(got, want): (&f64, &f64)| (got - want).abs() / (1.0 + want.abs());
        let worst =
            got.iter().zip(&want.values).map(error).fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) });
        if got.len() != want.values.len() || worst.is_nan() || worst > tolerance {
            wrong.push(format!("{} {}: off by {worst}, {} of {} elements", key.0, key.1, got.len(), want.values.len()));
        }
    }
    wrong.extend(expected.keys().map(|(name, output)| format!("{name} {output}: not printed")));
    println!("{cases} kernels ran");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(clashed, "the kernel with the wrong plan ran");
    assert!(cases >= 70, "{cases} kernels");
}
