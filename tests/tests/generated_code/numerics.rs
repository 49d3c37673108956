//! Kernels that are compiled, run, and compared with what the reference says of their statements.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use tilefit_pypto::codegen::{self, Options};
use tilefit_pypto::ir::{Kernel, Operand, Scalar, Stmt, TensorLayout, TensorType, Type, Value as Bound, VarId};
use tilefit_pypto::memory::Plan;
use tilefit_pypto::ops::{Category, OpId};
use tilefit_pypto::target::Target;
use tilefit_python::element::Dtype;
use tilefit_tests::reference::array::{Array, rounded};
use tilefit_tests::reference::{self, Conditioning, Number, Shared, Value};

use crate::generated_code::host::{c_type, pascal};
use crate::generated_code::library::{Source, namespace, unexplained};

/// What a kernel is given.
#[derive(Debug, Clone, Copy)]
struct Given {
    /// Floats lie between these; integers are from 0 to 15.
    range: (f64, f64),
    conditioning: Conditioning,
    /// Every scalar that is an integer.
    scalar: i64,
    /// So many rows of a large tensor exist.
    rows: usize,
}

impl Given {
    /// The more telling first: signed numbers where the kernel can take them, whole tensors only where it reaches that far.
    fn all() -> impl Iterator<Item = Given> {
        let numbers = [
            ((-2.0, 2.0), Conditioning::Strict),
            ((0.5, 1.5), Conditioning::Strict),
            ((-2.0, 2.0), Conditioning::Lenient),
        ];
        let bounds = [(16, 256), (1, 256), (16, 1024), (16, usize::MAX), (1, usize::MAX)];
        bounds.into_iter().flat_map(move |(scalar, rows)| {
            numbers.into_iter().map(move |(range, conditioning)| Given { range, conditioning, scalar, rows })
        })
    }
}

/// Elements of a large tensor.
const LARGE: usize = 1 << 20;
/// After so many elements a tensor repeats itself: a prime, so that no row is like another.
const PERIOD: usize = 65537;
/// Extents that the text does not know.
const UNKNOWN_EXTENT: usize = 64;
/// So many of them stand after the parameters at most.
const EXTENTS: usize = 8;
/// Elements of the parameter that queues between the cores go through, which has no extents. What it holds afterwards is their own affair.
const QUEUE_BUFFER: usize = 1 << 18;

/// Kernels of one program, with what they must leave in memory.
#[derive(Default)]
pub(crate) struct Program {
    source: Source,
    expected: BTreeMap<String, Vec<Expected>>,
}

/// What a kernel writes to one of its tensors.
struct Expected {
    slot: usize,
    dtype: Dtype,
    tolerance: f64,
    initial: Initial,
    /// Place in memory and value of each element, [undefined](reference::array::UNDEFINED) where it may be anything.
    written: BTreeMap<usize, f64>,
}

impl Program {
    pub(crate) fn of(target: Target) -> Program {
        Program { source: Source::of(target), ..Program::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.expected.len()
    }

    /// Adds a kernel, as its author wrote it and as it is compiled, for one core or for both. An error says why it cannot be
    /// compared.
    pub(crate) fn add(&mut self, name: &str, author: &Kernel, compiled: &[(Kernel, Plan)]) -> Result<(), String> {
        let mut texts = Vec::new();
        for (kernel, plan) in compiled {
            let generated = codegen::generate_as(kernel, plan, Options::default());
            if let Some(finding) = generated.findings.first() {
                return Err(finding.message.clone());
            }
            texts.push(generated.text);
        }
        let kernels: Vec<&Kernel> = compiled.iter().map(|(kernel, _)| kernel).collect();
        let mut why_not = Vec::new();
        for given in Given::all() {
            match expected(author, &kernels, given) {
                Ok(expected) => {
                    self.source.add(name, &texts, driver(name, &kernels, given));
                    self.expected.insert(name.to_owned(), expected);
                    return Ok(());
                }
                Err(why) => why_not.push(why),
            }
        }
        // Of whole tensors, which the last has.
        Err(format!("the reference: {}", why_not.last().map_or("", String::as_str)))
    }

    /// Compiles and runs; what is wrong, by kernel.
    pub(crate) fn run(self, program: &str) -> Vec<String> {
        let ran = self.source.run(program, MAIN);
        let mut got = Printed::read(&ran.output);
        let mut wrong = Vec::new();
        for (name, expected) in &self.expected {
            if let Some(error) = ran.refused.get(name) {
                wrong.push(format!("{name}: does not compile: {error}"));
                continue;
            }
            if let Some(failure) = got.failures.remove(name) {
                wrong.push(format!("{name}: {failure}"));
                continue;
            }
            let differs = expected.iter().find_map(|expected| {
                let (places, bytes) = got.tensors.remove(&(name.clone(), expected.slot)).unwrap_or_default();
                expected.compare(&places, bytes)
            });
            let surplus =
                got.tensors.keys().find(|(of, _)| of == name).map(|(_, slot)| format!("parameter {slot} is written"));
            wrong.extend(differs.or(surplus).map(|how| format!("{name}: {how}")));
        }
        unexplained(wrong)
    }
}

impl Expected {
    /// What is wrong with the elements that changed.
    fn compare(&self, places: &[usize], bytes: &[u8]) -> Option<String> {
        let got = Array::of_memory(self.dtype, &[places.len()], bytes).data;
        let got: BTreeMap<usize, f64> = places.iter().copied().zip(got).collect();
        let beside =
            got.keys().filter(|place| !self.written.contains_key(place)).map(|place| (*place, self.initial.at(*place)));
        let wanted: BTreeMap<usize, f64> =
            self.written.iter().map(|(place, want)| (*place, *want)).chain(beside).collect();
        let is_off = |(place, want): &(&usize, &f64)| {
            let got = got.get(place).copied().unwrap_or_else(|| self.initial.at(**place));
            let near = (got - **want).abs() <= self.tolerance * (1.0 + want.abs());
            !want.is_nan() && got != **want && !near
        };
        let off: Vec<(&usize, &f64)> = wanted.iter().filter(is_off).collect();
        let (place, want) = off.first()?;
        let (count, of) = (off.len(), wanted.len());
        let got = got.get(place).map_or("nothing".to_owned(), f64::to_string);
        Some(format!(
            "parameter {}: {count} of {of} elements are off, the first is {place}: {got} instead of {want}",
            self.slot
        ))
    }
}

/// What the kernel writes, by the reference.
fn expected(author: &Kernel, compiled: &[&Kernel], given: Given) -> Result<Vec<Expected>, String> {
    let inputs = author.params.iter().enumerate().map(|(slot, param)| input(author, *param, slot, given));
    let inputs: Vec<Value> = inputs.collect::<Result<_, _>>()?;
    let outcome = reference::run(author, inputs, given.conditioning)?;
    let mut left: BTreeMap<usize, &Shared> = BTreeMap::new();
    let arrays = outcome.params.iter().enumerate().filter_map(|(slot, value)| Some((slot, array_of(value)?)));
    left.extend(arrays);
    // A value that leaves the kernel is stored to a parameter that the compiler adds, also where it was a parameter; or to one
    // that the kernel reads.
    let places = compiled.iter().flat_map(|kernel| outcome.returned.iter().zip(returned_to(kernel)));
    for (value, place) in places {
        let (Some(place), Some(array)) = (place, array_of(value)) else { continue };
        let is_parameter = left.values().any(|param| Rc::ptr_eq(param, array));
        if place < author.params.len() && is_parameter {
            continue;
        }
        left.retain(|_, param| !Rc::ptr_eq(param, array));
        left.insert(place, array);
    }
    let precision = precision(author);
    let mut expected = Vec::new();
    for (slot, array) in left {
        let Type::Tensor(tensor) = &compiled[0].var(compiled[0].params[slot]).ty else {
            return Err("a result that is no tensor".to_owned());
        };
        let dtype = tensor.dtype.ok_or("a tensor without element type")?;
        let initial = Initial::new(dtype, slot, given);
        let array = array.borrow();
        let place = |(at, value): (usize, f64)| (in_memory(at, &array.shape, tensor.layout), rounded(dtype, value));
        let written: BTreeMap<usize, f64> = match slot >= author.params.len() {
            true => array.data.iter().copied().enumerate().map(place).collect(),
            false => initial.changes(&array, tensor.layout).map(place).collect(),
        };
        let tolerance = precision.max(unit(dtype));
        expected.push(Expected { slot, dtype, tolerance, initial, written });
    }
    match expected.iter().any(|expected| expected.written.values().any(|value| !value.is_nan())) {
        true => Ok(expected.into_iter().filter(|expected| !expected.written.is_empty()).collect()),
        false => Err("leaves nothing that is defined".to_owned()),
    }
}

/// How far results in an element type may be off, relative to one more than their size.
fn unit(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Bf16 => 2e-2,
        Dtype::Fp16 => 4e-3,
        dtype if dtype.is_float() => 3e-4,
        _ => 0.0,
    }
}

/// [`unit`] of the coarsest element type that the kernel computes in.
fn precision(kernel: &Kernel) -> f64 {
    let mut precision: f64 = 0.0;
    visit(&kernel.body, &mut |stmt| {
        if let Stmt::Let { var, value: Bound::Call(call), .. } = stmt
            && !matches!(call.op.op().category, Category::DataMovement | Category::View | Category::Layout)
        {
            let dtype = match &kernel.var(*var).ty {
                Type::Tile(tile) => Some(tile.dtype),
                Type::Tensor(tensor) => tensor.dtype,
                _ => None,
            };
            precision = precision.max(dtype.map_or(0.0, unit));
        }
    });
    precision
}

fn visit(body: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for stmt in body {
        f(stmt);
        match stmt {
            Stmt::For(inner) => visit(&inner.body, f),
            Stmt::While(inner) => visit(&inner.body, f),
            Stmt::If(inner) => [&inner.then, &inner.otherwise].into_iter().for_each(|body| visit(body, f)),
            _ => {}
        }
    }
}

/// For each returned value the parameter, after those of the author, that it is stored to.
fn returned_to(compiled: &Kernel) -> Vec<Option<usize>> {
    let Some(Stmt::Return { values, .. }) = compiled.body.last() else { return Vec::new() };
    // The tensor that a variable is a later state of.
    let mut earlier: BTreeMap<VarId, VarId> = BTreeMap::new();
    visit(&compiled.body, &mut |stmt| match stmt {
        Stmt::Let { var, value: Bound::Copy(source), .. } => drop(earlier.insert(*var, *source)),
        Stmt::Let { var, value: Bound::Call(call), .. } => {
            let target = match call.op {
                OpId::STORE | OpId::MSCATTER => call.args.get(2),
                OpId::TENSOR_WRITE => call.args.first(),
                _ => None,
            };
            earlier.extend(target.and_then(Operand::var).map(|target| (*var, target)));
        }
        Stmt::For(inner) => inner.carries.iter().for_each(|carry| {
            earlier.extend(carry.init.var().map(|init| (carry.iter, init)));
            earlier.insert(carry.result, carry.iter);
        }),
        Stmt::If(inner) => {
            if let Some(Stmt::Yield { values, .. }) = inner.then.last() {
                let pairs = inner.results.iter().zip(values);
                earlier.extend(pairs.filter_map(|(result, value)| Some((*result, value.var()?))));
            }
        }
        _ => {}
    });
    let place = |value: &Operand| {
        let mut var = value.var()?;
        while let Some(source) = earlier.get(&var) {
            var = *source;
        }
        compiled.params.iter().position(|param| *param == var)
    };
    values.iter().map(place).collect()
}

fn array_of(value: &Value) -> Option<&Shared> {
    match value {
        Value::Array(array) => Some(array),
        _ => None,
    }
}

fn extents(tensor: &TensorType, given: Given) -> Vec<usize> {
    let known = |extent: &Scalar| extent.as_int().map_or(UNKNOWN_EXTENT, |extent| extent as usize);
    let mut extents: Vec<usize> = tensor.shape.iter().map(known).collect();
    if tensor.layout == TensorLayout::Nd && extents.iter().product::<usize>() > LARGE {
        extents[0] = extents[0].min(given.rows);
    }
    extents
}

/// The value of a parameter: the same as the program makes.
fn input(kernel: &Kernel, param: VarId, slot: usize, given: Given) -> Result<Value, String> {
    let var = kernel.var(param);
    match &var.ty {
        Type::Tensor(tensor) => {
            let dtype = tensor.dtype.ok_or_else(|| format!("the element type of `{}`", var.name))?;
            let initial = Initial::new(dtype, slot, given);
            let mut array = Array::undefined(dtype, &extents(tensor, given));
            match tensor.layout {
                TensorLayout::Nd => initial.fill(&mut array.data),
                layout => {
                    let shape = array.shape.clone();
                    let elements = array.data.iter_mut().enumerate();
                    elements.for_each(|(at, value)| *value = initial.at(in_memory(at, &shape, layout)));
                }
            }
            Ok(Value::Array(Rc::new(RefCell::new(array))))
        }
        Type::Scalar(dtype) => Ok(Value::Number(scalar(*dtype, given))),
        _ => Err(format!("`{}` is neither tensor nor scalar", var.name)),
    }
}

/// Scalars that stay within the tensors.
fn scalar(dtype: Dtype, given: Given) -> Number {
    if dtype.is_float() { Number::Float(0.5) } else { Number::Int(given.scalar) }
}

/// A number for each place of each tensor (SplitMix64).
fn random(tensor: u64, place: u64) -> u64 {
    let mut x = (tensor << 40).wrapping_add(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn element(dtype: Dtype, (low, high): (f64, f64), random: u64) -> f64 {
    let float = || low + (high - low) * ((random >> 11) as f64 / (1u64 << 53) as f64);
    match dtype {
        dtype if dtype.is_float() => rounded(dtype, f64::from(float() as f32)),
        Dtype::Bool => (random % 2) as f64,
        _ => (random % 16) as f64,
    }
}

/// What a tensor holds before the run.
struct Initial(Vec<f64>);

impl Initial {
    fn new(dtype: Dtype, slot: usize, given: Given) -> Initial {
        Initial((0..PERIOD as u64).map(|at| element(dtype, given.range, random(slot as u64, at))).collect())
    }

    fn at(&self, place: usize) -> f64 {
        self.0[place % PERIOD]
    }

    fn fill(&self, memory: &mut [f64]) {
        memory.chunks_mut(PERIOD).for_each(|part| part.copy_from_slice(&self.0[..part.len()]));
    }

    /// The elements that are others than before: place in the order of the axes, and value.
    fn changes<'a>(&'a self, array: &'a Array, layout: TensorLayout) -> impl Iterator<Item = (usize, f64)> + 'a {
        let parts = array.data.chunks(PERIOD).enumerate();
        let changed = parts.filter(move |(_, part)| layout != TensorLayout::Nd || **part != self.0[..part.len()]);
        let elements =
            changed.flat_map(|(of, part)| part.iter().enumerate().map(move |(at, value)| (of * PERIOD + at, *value)));
        elements.filter(move |(at, value)| *value != self.at(in_memory(*at, &array.shape, layout)))
    }
}

/// Where the element lies that is at this place in the order of the axes: in DN layout the last two axes are exchanged.
fn in_memory(at: usize, shape: &[usize], layout: TensorLayout) -> usize {
    match (layout, shape) {
        (TensorLayout::Dn, [.., rows, columns]) => {
            let (page, within) = (at / (rows * columns), at % (rows * columns));
            page * rows * columns + within % columns * rows + within / columns
        }
        _ => at,
    }
}

/// A block that fills the tensors, runs the kernel and prints what it changes.
fn driver(name: &str, kernels: &[&Kernel], given: Given) -> String {
    let kernel = kernels[0];
    let (low, high) = given.range;
    let mut text = String::from("    run([] {\n");
    let (mut args, mut after) = (String::new(), String::new());
    for (slot, param) in kernel.params.iter().enumerate() {
        match &kernel.var(*param).ty {
            Type::Tensor(tensor) => {
                let dtype = tensor.dtype.expect("a tensor that the reference knows");
                let is_queue = tensor.shape.is_empty();
                let elements = extents(tensor, given).iter().product();
                let (ty, count) = (c_type(dtype), if is_queue { QUEUE_BUFFER } else { elements });
                let made = match dtype.is_float() {
                    true => format!("tensor<{ty}>({count}, {slot}, {low:?}, {high:?})"),
                    false => format!("tensor<{ty}>({count}, {slot})"),
                };
                let _ = writeln!(text, "        auto v{slot} = {made};");
                let _ = writeln!(args, "        args[{slot}] = address(v{slot});");
                if !is_queue {
                    let _ = writeln!(after, "        print(\"{name}\", {slot}, v{slot}, {made});");
                }
            }
            Type::Scalar(dtype) => {
                let _ = writeln!(text, "        {} v{slot} = {};", c_type(*dtype), scalar(*dtype, given).as_f64());
                let _ = writeln!(args, "        std::memcpy(&args[{slot}], &v{slot}, sizeof v{slot});");
            }
            _ => unreachable!("a parameter that is neither tensor nor scalar"),
        }
    }
    let (slots, behind) = (kernel.params.len(), kernel.params.len() + EXTENTS);
    let _ = writeln!(text, "        int64_t args[{behind}] = {{}};");
    let _ = writeln!(text, "        std::fill(args + {slots}, args + {behind}, {UNKNOWN_EXTENT});");
    let run = |core: usize| format!("{}::run{}(args);", namespace(name, core), pascal(&kernels[core].name));
    let call = match kernels.len() {
        1 => run(0),
        _ => format!("host::cores([&] {{ {} }}, [&] {{ {} }});", run(0), run(1)),
    };
    let _ = writeln!(text, "{args}        {call}");
    let _ = writeln!(text, "{after}    }}, \"{name}\");");
    text
}

const MAIN: &str = r#"
#include <cstdio>

inline uint64_t random_at(uint64_t tensor, uint64_t place)
{
    uint64_t x = ((tensor << 40) + place + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Arrays, not vectors: a vector of bool has no elements to point at.
template <typename T> struct Tensor {
    std::unique_ptr<T[]> data;
    size_t count;
};

template <typename T> Tensor<T> tensor(size_t count, uint64_t slot, double low = 0, double high = 0)
{
    Tensor<T> values = {std::make_unique<T[]>(count), count};
    for (size_t k = 0; k < count; ++k) {
        if (k >= 65537) {
            values.data[k] = values.data[k - 65537];
            continue;
        }
        uint64_t x = random_at(slot, k);
        if constexpr (std::is_same_v<T, bool>) values.data[k] = x % 2;
        else if constexpr (std::is_integral_v<T>) values.data[k] = T(x % 16);
        else values.data[k] = T(float(low + (high - low) * (double(x >> 11) / double(uint64_t(1) << 53))));
    }
    return values;
}

template <typename T> int64_t address(Tensor<T>& values)
{
    host::tensors()[reinterpret_cast<const char*>(values.data.get())] = values.count * sizeof(T);
    return reinterpret_cast<int64_t>(values.data.get());
}

// The places of the elements that changed, and what they are.
template <typename T> void print(const char* name, int slot, const Tensor<T>& after, const Tensor<T>& before)
{
    std::vector<uint32_t> places;
    std::string bytes;
    for (size_t k = 0; k < after.count; ++k) {
        if (std::memcmp(&after.data[k], &before.data[k], sizeof(T)) == 0) continue;
        places.push_back(uint32_t(k));
        bytes.append(reinterpret_cast<const char*>(&after.data[k]), sizeof(T));
    }
    if (places.empty()) return;
    std::printf("%s %d %zu %zu\n", name, slot, places.size() * 4, bytes.size());
    std::fwrite(places.data(), 4, places.size(), stdout);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

template <typename F> void run(F f, const char* name)
{
    host::tensors().clear();
    std::string wrong = host::attempt(f);
    if (!wrong.empty()) std::printf("%s failed 0 %zu\n%s", name, wrong.size(), wrong.c_str());
}
"#;

/// Places of elements, and the bytes of the elements.
type Changed<'a> = (Vec<usize>, &'a [u8]);

/// What a program printed: `name slot m n`, then places in m bytes and elements in n; or `name failed 0 n` and why.
#[derive(Default)]
struct Printed<'a> {
    tensors: BTreeMap<(String, usize), Changed<'a>>,
    failures: BTreeMap<String, String>,
}

impl Printed<'_> {
    fn read(mut bytes: &[u8]) -> Printed<'_> {
        let mut printed = Printed::default();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let words: Vec<&str> = head.split(' ').collect();
            let [name, slot, places, elements] = words[..] else { panic!("not a header: {head}") };
            let [places, elements] = [places, elements].map(|count| count.parse().expect("a count of bytes"));
            let (places, rest) = bytes[end + 1..].split_at(places);
            let (elements, rest) = rest.split_at(elements);
            bytes = rest;
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte));
            match slot.parse() {
                Ok(slot) => {
                    let places = places.chunks(4).map(word).collect();
                    printed.tensors.insert((name.to_owned(), slot), (places, elements));
                }
                Err(_) => {
                    printed.failures.insert(name.to_owned(), String::from_utf8_lossy(elements).into_owned());
                }
            }
        }
        printed
    }
}
