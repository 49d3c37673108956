//! Writes the statements of one kernel: which names there are, and what is said of them.

use std::collections::BTreeSet;

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype;

use super::operations::Level;
use super::sizes;
use super::values::{DYNAMIC, ScalarName, Tensor, Value, ValueType, list, spelled};
use crate::random::Random;

/// What a kernel is made of mostly.
#[derive(Debug, Clone)]
pub(super) struct Taste {
    pub dtypes: Vec<Dtype>,
    /// Rows and columns that its values have.
    pub rows: Vec<u64>,
    pub columns: Vec<u64>,
    /// Chances in 100.
    pub reassign: u64,
    pub annotate: u64,
    pub nest: u64,
    pub control: u64,
    pub products: u64,
}

pub(super) struct Author<'r> {
    pub random: &'r mut Random,
    pub level: Level,
    pub taste: Taste,
    pub lines: Vec<String>,
    pub depth: usize,
    /// What a statement may read, the innermost blocks' last.
    pub values: Vec<Value>,
    pub scalars: Vec<ScalarName>,
    pub tensors: Vec<Tensor>,
    /// Statements that are left to write.
    pub budget: usize,
    /// Blocks around the statement that are loops whose carries are explicit, or that yield.
    pub strict: usize,
    /// Branches around the statement that yield: what is assigned again in them is yielded too, or it is refused.
    pub pure: usize,
    /// Extents are written by the names of an imported file.
    pub named: bool,
    /// Declared buffers: name, slots, and what is bound to them.
    pub buffers: Vec<(String, u64, ValueType)>,
    /// Lines of the module before the kernel.
    pub module: Vec<String>,
    /// Parameters that are no plain tensors, with their types.
    written: Vec<String>,
    /// Of 100 tensors so many have rows that are known at run time only.
    pub dynamic: u64,
    fresh: usize,
}

impl<'r> Author<'r> {
    pub(super) fn new(random: &'r mut Random, level: Level, taste: Taste) -> Author<'r> {
        Author {
            random,
            level,
            taste,
            lines: Vec::new(),
            depth: 0,
            values: Vec::new(),
            scalars: Vec::new(),
            tensors: Vec::new(),
            budget: 0,
            strict: 0,
            pure: 0,
            named: false,
            buffers: Vec::new(),
            module: Vec::new(),
            written: Vec::new(),
            dynamic: 0,
            fresh: 0,
        }
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let text = if self.named { sizes::named(text.as_ref()) } else { text.as_ref().to_owned() };
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    pub(super) fn fresh(&mut self, start: &str) -> String {
        self.fresh += 1;
        format!("{start}{}", self.fresh)
    }

    /// Writes a block's statements; what they bind is gone after it.
    pub(super) fn block<T>(&mut self, statements: impl FnOnce(&mut Self) -> T) -> T {
        let (values, scalars, before) = (self.values.len(), self.scalars.len(), self.lines.len());
        self.depth += 1;
        let made = statements(self);
        if self.lines.len() == before {
            self.line("pass");
        }
        self.depth -= 1;
        self.values.truncate(values);
        self.scalars.truncate(scalars);
        made
    }

    pub(super) fn dtype(&mut self, of: &[Dtype]) -> Dtype {
        let liked: Vec<Dtype> = self.taste.dtypes.iter().copied().filter(|dtype| of.contains(dtype)).collect();
        if liked.is_empty() { self.random.of(of) } else { self.random.of(&liked) }
    }

    pub(super) fn extents(&mut self) -> [u64; 2] {
        [self.random.of(&self.taste.rows.clone()), self.random.of(&self.taste.columns.clone())]
    }

    /// Operands of a typed result that no statement of this level names in another way.
    pub(super) fn combines(&self, dtype: Dtype) -> bool {
        self.level == Level::Tile || dtype == Dtype::Fp32
    }

    /// A literal of an element type, as authors write it.
    pub(super) fn literal(&mut self, dtype: Dtype) -> String {
        if dtype.is_float() {
            let floats = self.scalar_of(Dtype::Fp32);
            match floats {
                Some(name) if self.random.percent(15) => name,
                _ => self.random.of(&["0.5", "2.0", "-1.0", "0.125", "1e-6", "3.0"]).to_owned(),
            }
        } else {
            self.random.of(&["1", "2", "4", "7"]).to_owned()
        }
    }

    /// A literal that says its type, where the default is another one.
    pub(super) fn typed_literal(&mut self, dtype: Dtype) -> String {
        if dtype == Dtype::Fp32 {
            return self.literal(dtype);
        }
        let number =
            if dtype.is_float() { self.random.of(&["0.5", "2.0", "1.0"]) } else { self.random.of(&["1", "2", "3"]) };
        format!("pl.const({number}, {})", spelled(dtype))
    }

    pub(super) fn scalar_of(&mut self, dtype: Dtype) -> Option<String> {
        let names: Vec<String> =
            self.scalars.iter().filter(|one| one.dtype == dtype).map(|one| one.name.clone()).collect();
        (!names.is_empty()).then(|| names[self.random.below(names.len())].clone())
    }

    /// Binds a name to an expression.
    pub(super) fn bind(&mut self, expression: String, kind: ValueType) -> Value {
        let again = self.reassigned(&kind);
        let name = again.clone().unwrap_or_else(|| self.fresh("t"));
        let annotation = if again.is_none() { self.annotation(&expression, &kind) } else { String::new() };
        self.line(format!("{name}{annotation} = {expression}"));
        let value = Value { name, kind };
        if again.is_none() {
            self.values.push(value.clone());
        }
        value
    }

    /// A name of the same type that the statement may take again.
    fn reassigned(&mut self, kind: &ValueType) -> Option<String> {
        if self.strict > 0 || !self.random.percent(self.taste.reassign) || !kind.is_plain() {
            return None;
        }
        let names: Vec<&String> =
            self.values.iter().filter(|value| value.kind == *kind).map(|value| &value.name).collect();
        (!names.is_empty()).then(|| names[self.random.below(names.len())].clone())
    }

    fn annotation(&mut self, expression: &str, kind: &ValueType) -> String {
        if self.level == Level::Tensor || kind.is_special || !self.random.percent(self.taste.annotate) {
            return String::new();
        }
        let (shape, dtype) = (list(&kind.shape), spelled(kind.dtype));
        let space = format!("pl.Mem.{}", kind.space.name());
        if kind.valid.is_some() {
            return String::new();
        }
        // What lies in its operand's buffer has none of its own.
        const VIEWS: &[&str] =
            &["reshape", "reinterpret", "slice", "assemble", "scatter", "set_validshape", "_acc", "inplace", "["];
        let is_view = VIEWS.iter().any(|word| expression.split('(').next().is_some_and(|call| call.contains(word)));
        match self.random.below(4) {
            0 => format!(": pl.Tile[{shape}, {dtype}]"),
            3 if is_view && !self.random.percent(5) => format!(": pl.Tile[{shape}, {dtype}]"),
            1 | 2 => format!(": pl.Tile[{shape}, {dtype}, {space}]"),
            _ => match self.buffer_for(kind) {
                Some(buffer) => format!(": pl.Tile[{shape}, {dtype}, {buffer}, {space}]"),
                None => format!(": pl.Tile[{shape}, {dtype}, {space}]"),
            },
        }
    }

    /// The declarations of buffers, a line each.
    pub(super) fn declarations(&self) -> String {
        let declared = self.buffers.iter().map(|(name, slots, _)| match slots {
            1 => format!("{name} = pl.MemRef()\n"),
            slots => format!("{name} = pl.MemRef(slots={slots})\n"),
        });
        declared.chain(self.module.iter().map(|line| format!("{line}\n"))).collect()
    }

    /// A parameter that statements name but do not read as they read tensors.
    pub(super) fn parameter(&mut self, of_type: &str) -> String {
        let name = format!("z{}", self.written.len());
        self.written.push(format!("{name}: {of_type}"));
        name
    }

    /// A declared buffer for a value, with its slot.
    fn buffer_for(&mut self, kind: &ValueType) -> Option<String> {
        let fitting: Vec<(String, u64)> =
            self.buffers.iter().filter(|one| one.2 == *kind).map(|one| (one.0.clone(), one.1)).collect();
        let (name, slots) = if fitting.is_empty() || !self.random.percent(5) {
            if self.buffers.len() > 2 {
                return None;
            }
            let (name, slots) = (format!("BUFFER_{}", self.buffers.len()), self.random.of(&[1, 1, 2, 4]));
            self.buffers.push((name.clone(), slots, kind.clone()));
            (name, slots)
        } else {
            fitting[self.random.below(fitting.len())].clone()
        };
        let index = self.scalars.iter().rev().find(|one| one.end.is_some()).map(|one| one.name.clone());
        Some(match (slots, index) {
            (1, _) => name,
            (slots, Some(index)) => format!("{name}[{index} % {slots}]"),
            (slots, None) => format!("{name}[{}]", self.random.within(0, slots - 1)),
        })
    }

    /// A value of exactly this type: one that there is, or a new one.
    pub(super) fn operand(&mut self, kind: &ValueType) -> String {
        let names: Vec<String> =
            self.values.iter().filter(|value| value.kind == *kind).map(|value| value.name.clone()).collect();
        if names.is_empty() || self.random.percent(20) {
            return self.make(kind);
        }
        let name = names[self.near_the_end(names.len())].clone();
        if kind.is_plain() && self.random.percent(self.taste.nest) {
            return self.nested(&name, kind);
        }
        name
    }

    /// An expression instead of a name.
    fn nested(&mut self, name: &str, kind: &ValueType) -> String {
        let literal = if self.combines(kind.dtype) { self.literal(kind.dtype) } else { self.typed_literal(kind.dtype) };
        match self.random.below(4) {
            0 => format!("pl.add({name}, {name})"),
            1 => format!("pl.mul({name}, {literal})"),
            2 => format!("pl.maximum({name}, {literal})"),
            _ => format!("pl.abs({name})"),
        }
    }

    fn near_the_end(&mut self, count: usize) -> usize {
        let back = self.random.below(count).min(self.random.below(count));
        count - 1 - back
    }

    /// Some value of one of the types of elements that passes a test.
    pub(super) fn some(&mut self, dtypes: &[Dtype], test: impl Fn(&ValueType) -> bool) -> Option<Value> {
        let found: Vec<Value> = self
            .values
            .iter()
            .filter(|value| dtypes.contains(&value.kind.dtype) && test(&value.kind))
            .cloned()
            .collect();
        (!found.is_empty()).then(|| found[self.near_the_end(found.len())].clone())
    }

    /// A plain value of two axes, loaded where there is none.
    pub(super) fn plain(&mut self, dtypes: &[Dtype]) -> Value {
        if !self.random.percent(15) {
            let found = self.some(dtypes, |kind| kind.is_plain() && kind.shape[1] > 1);
            if let Some(found) = found {
                return found;
            }
        }
        let dtype = self.dtype(dtypes);
        let kind = ValueType::vec(&self.extents(), dtype);
        Value { name: self.make(&kind), kind }
    }

    /// Writes the statement that makes a value of this type, and answers its name.
    pub(super) fn make(&mut self, kind: &ValueType) -> String {
        let literal = self.literal(kind.dtype);
        // A column that is filled is row-major, which few operations take.
        let is_filled = kind.shape.last() != Some(&1) || self.random.percent(5);
        if kind.is_plain()
            && is_filled
            && self.random.percent(8)
            && literal.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            let (shape, dtype) = (list(&kind.shape), spelled(kind.dtype));
            let tile = if self.level == Level::Tile { "tile." } else { "" };
            return self.bind(format!("pl.{tile}full({shape}, dtype={dtype}, value={literal})"), kind.clone()).name;
        }
        self.load(kind).name
    }

    /// Reads a window of global memory.
    pub(super) fn load(&mut self, kind: &ValueType) -> Value {
        if kind.is_plain() && kind.shape[0] > 1 && kind.shape[1] > 1 && self.random.percent(4) {
            return self.page(kind);
        }
        match self.level {
            Level::Tile => self.load_tile(kind),
            Level::Tensor => self.window(kind),
        }
    }

    /// A page of a tensor of three axes.
    fn page(&mut self, kind: &ValueType) -> Value {
        let (rows, columns) = (kind.shape[0], kind.shape[1]);
        let tensor = self.input(kind.dtype, &[1, rows, columns]);
        let offsets = self.offsets(&tensor.shape, &[1, rows, columns]);
        match self.level {
            Level::Tensor => {
                let text = format!("{}[{}, {}]", tensor.name, offsets[0], ranges(&offsets[1..], &kind.shape));
                self.bind(text, ValueType { is_special: true, ..kind.clone() })
            }
            Level::Tile => {
                let page = ValueType { shape: vec![1, rows, columns], ..kind.clone() };
                let text = format!("pl.load({}, {}, {})", tensor.name, list(&offsets), list(&page.shape));
                let page = self.bind(text, page);
                let text = format!("pl.reshape({}, {})", page.name, list(&kind.shape));
                self.bind(text, kind.clone())
            }
        }
    }

    pub(super) fn load_tile(&mut self, kind: &ValueType) -> Value {
        let tensor = self.input(kind.dtype, &kind.shape);
        let offsets = self.offsets(&tensor.shape, &kind.shape);
        let mut text = format!("pl.load({}, {}, {}", tensor.name, list(&offsets), list(&kind.shape));
        if let Some(valid) = &kind.valid {
            text.push_str(&format!(", valid_shape={}", list(valid)));
        }
        if kind.space == Space::Mat || self.random.percent(8) {
            text.push_str(&format!(", target_memory=pl.Mem.{}", kind.space.name()));
        }
        text.push(')');
        self.bind(text, kind.clone())
    }

    pub(super) fn window(&mut self, kind: &ValueType) -> Value {
        if kind.valid.is_none() && kind.shape.len() == 2 && self.random.percent(25) {
            return self.whole(kind);
        }
        let tensor = self.input(kind.dtype, &kind.shape);
        let offsets = self.offsets(&tensor.shape, &kind.shape);
        let text = match &kind.valid {
            Some(valid) => format!(
                "pl.slice({}, {}, {}, valid_shape={})",
                tensor.name,
                list(&kind.shape),
                list(&offsets),
                list(valid)
            ),
            None if self.random.percent(25) => {
                format!("pl.slice({}, {}, {})", tensor.name, list(&kind.shape), list(&offsets))
            }
            None => format!("{}[{}]", tensor.name, ranges(&offsets, &kind.shape)),
        };
        self.bind(text, kind.clone())
    }

    /// A parameter that is read by its name alone.
    fn whole(&mut self, kind: &ValueType) -> Value {
        let is_it = |tensor: &&Tensor| !tensor.is_output && tensor.shape == kind.shape && tensor.dtype == kind.dtype;
        let name = match self.tensors.iter().find(is_it) {
            Some(tensor) => tensor.name.clone(),
            None => self.declare(&kind.shape, kind.dtype, false),
        };
        Value { name, kind: kind.clone() }
    }

    /// An input that windows of this shape lie in.
    pub(super) fn input(&mut self, dtype: Dtype, shape: &[u64]) -> Tensor {
        self.tensor(dtype, shape, false)
    }

    pub(super) fn tensor(&mut self, dtype: Dtype, shape: &[u64], is_output: bool) -> Tensor {
        let holds = |tensor: &&Tensor| {
            tensor.dtype == dtype
                && tensor.is_output == is_output
                && tensor.shape.len() == shape.len()
                && tensor.shape.iter().zip(shape).all(|(whole, part)| whole >= part)
        };
        let found: Vec<Tensor> = self.tensors.iter().filter(holds).cloned().collect();
        if !found.is_empty() && !self.random.percent(10) {
            return found[self.random.below(found.len())].clone();
        }
        let mut extents: Vec<u64> = match self.level {
            Level::Tile if self.random.percent(70) => shape.iter().map(|_| 4096).collect(),
            _ => shape.iter().map(|extent| extent * self.random.of(&[1, 2, 4, 8])).collect(),
        };
        if extents.len() == 2 && extents[0] > 1 && self.random.percent(self.dynamic) {
            extents[0] = DYNAMIC;
        }
        let name = self.declare(&extents, dtype, is_output);
        Tensor { name, shape: extents, dtype, is_output, is_local: false }
    }

    pub(super) fn declare(&mut self, shape: &[u64], dtype: Dtype, is_output: bool) -> String {
        let name = format!("{}{}", if is_output { "o" } else { "x" }, self.tensors.len());
        self.tensors.push(Tensor { name: name.clone(), shape: shape.to_vec(), dtype, is_output, is_local: false });
        name
    }

    /// Where a window of `part` begins within `whole`, mostly by the index of a loop.
    pub(super) fn offsets(&mut self, whole: &[u64], part: &[u64]) -> Vec<String> {
        let mut indices: Vec<ScalarName> = self.scalars.iter().filter(|one| one.end.is_some()).cloned().collect();
        let mut offsets = Vec::new();
        for (&whole, &part) in whole.iter().zip(part) {
            let steps = whole / part.max(1);
            let found = indices.iter().rposition(|one| one.end.is_some_and(|end| end <= steps) && steps > 1);
            offsets.push(match found {
                Some(at) if self.random.percent(60) => {
                    let index = indices.remove(at);
                    if part == 1 { index.name } else { format!("{} * {part}", index.name) }
                }
                _ => (self.random.within(0, steps.clamp(1, 4) - 1) * part).to_string(),
            });
        }
        offsets
    }

    /// Writes a value to global memory.
    pub(super) fn store(&mut self, value: &Value) {
        if self.pure > 0 && self.level == Level::Tensor && !self.random.percent(5) {
            return;
        }
        let tensor = self.tensor(value.kind.dtype, &value.kind.shape, true);
        let offsets = self.offsets(&tensor.shape, &value.kind.shape);
        let (name, out) = (&value.name, &tensor.name);
        let text = match self.level {
            Level::Tile if self.pure > 0 => format!("pl.store({name}, {}, {out})", list(&offsets)),
            Level::Tile => format!("{out} = pl.store({name}, {}, {out})", list(&offsets)),
            Level::Tensor if self.random.percent(25) => {
                format!("{out} = pl.assemble({out}, {name}, {})", list(&offsets))
            }
            Level::Tensor => format!("{out}[{}] = {name}", ranges(&offsets, &value.kind.shape)),
        };
        self.line(text);
    }

    /// The parameters, outputs last, and the names of the outputs.
    pub(super) fn signature(&self) -> (Vec<String>, Vec<&Tensor>) {
        let typed = |tensor: &Tensor| tensor.spelled();
        let own = || self.tensors.iter().filter(|tensor| !tensor.is_local);
        let outputs: Vec<&Tensor> = own().filter(|tensor| tensor.is_output).collect();
        let inputs = own().filter(|tensor| !tensor.is_output);
        let mut parameters = self.written.clone();
        parameters.extend(inputs.map(|tensor| format!("{}: {}", tensor.name, typed(tensor))));
        let used: BTreeSet<&str> = ["n", "m", "q", "alpha"].into_iter().filter(|name| self.mentions(name)).collect();
        for (name, dtype) in SCALARS {
            if used.contains(name) {
                parameters.push(format!("{name}: pl.Scalar[{}]", spelled(*dtype)));
            }
        }
        parameters.extend(outputs.iter().map(|tensor| format!("{}: pl.Out[{}]", tensor.name, typed(tensor))));
        (parameters, outputs)
    }

    fn mentions(&self, name: &str) -> bool {
        let is_word = |line: &String| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        self.lines.iter().any(is_word)
    }
}

/// Scalar parameters that a kernel may name.
pub(super) const SCALARS: &[(&str, Dtype)] =
    &[("n", Dtype::Int64), ("m", Dtype::Index), ("q", Dtype::Int32), ("alpha", Dtype::Fp32)];

/// `0:16, i * 64:i * 64 + 64`
pub(super) fn ranges(offsets: &[String], shape: &[u64]) -> String {
    let range = |(offset, extent): (&String, &u64)| match offset.parse::<u64>() {
        Ok(offset) => format!("{offset}:{}", offset + extent),
        Err(_) => format!("{offset}:{offset} + {extent}"),
    };
    offsets.iter().zip(shape).map(range).collect::<Vec<_>>().join(", ")
}
