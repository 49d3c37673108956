//! Loops and branches.

use tilefit_python::element::Dtype;

use super::author::Author;
use super::values::{ScalarName, Value, ValueType};

impl Author<'_> {
    /// Writes statements until the budget is spent.
    pub(super) fn statements(&mut self, at_most: usize) {
        for _ in 0..at_most {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        if self.depth < 6 && self.random.percent(self.taste.control) {
            return self.control();
        }
        if self.random.percent(self.taste.products) {
            return self.product();
        }
        self.operation();
    }

    fn control(&mut self) {
        match self.random.below(12) {
            0..=3 => self.plain_loop(),
            4..=5 => self.carrying_loop(),
            6 => self.while_loop(),
            7..=8 if self.strict == 0 => self.branch_with_result(),
            7..=9 => self.branch_that_yields(),
            _ => self.branch(),
        }
    }

    /// Rounds and the head of a loop, after the `in`.
    fn rounds(&mut self) -> (u64, String) {
        let rounds = self.random.of(&[2, 2, 3, 4, 4, 8]);
        let bounds = match self.random.below(6) {
            0 => rounds.to_string(),
            1 => format!("0, {rounds}, 1"),
            _ => format!("0, {rounds}"),
        };
        let head = match self.random.below(16) {
            0..=8 => format!("pl.range({bounds}"),
            9..=11 => format!("pl.pipeline({bounds}, stage={}", self.random.of(&[1, 2, 2, 2, 3, 4])),
            12 => format!("pl.parallel({bounds}"),
            13 => {
                let rounds = self.random.of(&[1, 2, 3]);
                return (rounds, format!("pl.unroll({rounds}"));
            }
            14 => {
                let end = self.scalar_of(Dtype::Int64).unwrap_or_else(|| rounds.to_string());
                format!("pl.range(0, {end}")
            }
            _ => {
                let end = self.scalar_of(Dtype::Index).unwrap_or_else(|| rounds.to_string());
                format!("pl.pipeline(0, {end}, stage=2")
            }
        };
        (rounds, head)
    }

    fn index(&mut self, rounds: u64) -> String {
        let name = self.fresh("i");
        self.scalars.push(ScalarName { name: name.clone(), dtype: Dtype::Index, end: Some(rounds) });
        name
    }

    fn body(&mut self) {
        let count = self.random.within(1, 6) as usize;
        self.statements(count);
    }

    fn plain_loop(&mut self) {
        let (rounds, head) = self.rounds();
        // A block that yields may assign no name of the outside again.
        let carried = if self.strict == 0 && self.random.percent(50) { self.seed() } else { None };
        let before = self.scalars.len();
        let index = self.index(rounds);
        self.line(format!("for {index} in {head}):"));
        self.block(|author| {
            author.body();
            if let Some(value) = carried {
                author.step(&value);
            }
        });
        self.scalars.truncate(before);
    }

    /// A value that a loop may carry.
    fn seed(&mut self) -> Option<Value> {
        let found = self.some(Dtype::ALL, |kind| kind.is_plain() && kind.dtype.storage_bits() > 8);
        found.filter(|value| !self.tensors.iter().any(|tensor| tensor.name == value.name))
    }

    /// Assigns a name anew.
    fn step(&mut self, value: &Value) {
        let text = self.combined(value);
        self.line(format!("{} = {text}", value.name));
    }

    pub(super) fn combined(&mut self, value: &Value) -> String {
        let other = self.operand(&value.kind);
        let op = self.random.of(&["add", "sub", "mul", "maximum", "minimum"]);
        match self.random.below(6) {
            0 => format!("pl.abs({})", value.name),
            1 if self.combines(value.kind.dtype) => {
                format!("pl.{op}({}, {})", value.name, self.literal(value.kind.dtype))
            }
            1 => format!("pl.{op}({}, {})", value.name, self.typed_literal(value.kind.dtype)),
            2 => format!("pl.{op}({other}, {})", value.name),
            _ => format!("pl.{op}({}, {other})", value.name),
        }
    }

    fn carrying_loop(&mut self) {
        let count = self.random.of(&[1, 1, 1, 2]);
        let mut seeds: Vec<Value> = Vec::new();
        for _ in 0..count {
            let kind = ValueType::vec(&self.extents(), self.taste.dtypes[0]);
            let seed = self.seed().filter(|seed| !seeds.contains(seed));
            seeds.push(seed.unwrap_or_else(|| Value { name: self.make(&kind), kind }));
        }
        let (rounds, head) = loop {
            let made = self.rounds();
            if !made.1.contains("unroll") {
                break made;
            }
        };
        let before = self.scalars.len();
        let index = self.index(rounds);
        let carried: Vec<Value> =
            seeds.iter().map(|seed| Value { name: self.fresh("c"), kind: seed.kind.clone() }).collect();
        let results: Vec<Value> =
            seeds.iter().map(|seed| Value { name: self.fresh("y"), kind: seed.kind.clone() }).collect();
        let names = |values: &[Value]| values.iter().map(|value| value.name.clone()).collect::<Vec<_>>().join(", ");
        let comma = if seeds.len() == 1 { "," } else { "" };
        self.line(format!(
            "for {index}, ({}{comma}) in {head}, init_values=({}{comma})):",
            names(&carried),
            names(&seeds)
        ));
        self.strict += 1;
        self.block(|author| {
            author.values.extend(carried.iter().cloned());
            author.body();
            let next: Vec<String> = carried
                .iter()
                .map(|value| {
                    let text = author.combined(value);
                    let name = author.fresh("t");
                    author.line(format!("{name} = {text}"));
                    name
                })
                .collect();
            author.line(format!("{} = pl.yield_({})", names(&results), next.join(", ")));
        });
        self.strict -= 1;
        self.scalars.truncate(before);
        self.values.extend(results);
    }

    fn while_loop(&mut self) {
        let Some(end) = self.scalar_of(Dtype::Int64) else { return self.plain_loop() };
        let name = self.fresh("k");
        self.line(format!("{name} = pl.const(0, pl.INT64)"));
        self.line(format!("while {name} < {end}:"));
        let before = self.scalars.len();
        self.scalars.push(ScalarName { name: name.clone(), dtype: Dtype::Int64, end: None });
        self.block(|author| {
            author.body();
            author.line(format!("{name} = {name} + 1"));
        });
        self.scalars.truncate(before);
    }

    fn condition(&mut self) -> String {
        let names: Vec<String> =
            self.scalars.iter().filter(|one| !one.dtype.is_float()).map(|one| one.name.clone()).collect();
        let one = names[self.random.below(names.len())].clone();
        let other = names[self.random.below(names.len())].clone();
        let number = self.random.within(0, 3);
        let compared = self.random.of(&["<", ">", "==", "!=", "<=", ">="]);
        match self.random.below(12) {
            0 => format!("{one} % 2 == 0"),
            1 => format!("{one} {compared} {other}"),
            2 => format!("{one} {compared} {number} and {other} > 0"),
            3 => format!("{number} {compared} {one}"),
            4 => format!("not {one} {compared} {number}"),
            5 => format!("{one} + 1 {compared} {number}"),
            _ => format!("{one} {compared} {number}"),
        }
    }

    fn branch(&mut self) {
        let text = self.condition();
        self.line(format!("if {text}:"));
        self.block(Self::body);
        if self.random.percent(20) {
            let text = self.condition();
            self.line(format!("elif {text}:"));
            self.block(Self::body);
        }
        if self.random.percent(40) {
            self.line("else:");
            self.block(Self::body);
        }
    }

    /// Both branches assign a name, which is read after them.
    fn branch_with_result(&mut self) {
        let seed = self.plain(&[Dtype::Fp32, Dtype::Fp16, Dtype::Int32, Dtype::Bf16]);
        let result = Value { name: self.fresh("y"), kind: seed.kind.clone() };
        let text = self.condition();
        self.line(format!("if {text}:"));
        for is_last in [false, true] {
            self.block(|author| {
                author.body();
                let text = author.combined(&seed);
                author.line(format!("{} = {text}", result.name));
            });
            if !is_last {
                self.line("else:");
            }
        }
        self.values.push(result);
    }

    fn branch_that_yields(&mut self) {
        let seed = self.plain(&[Dtype::Fp32, Dtype::Fp16, Dtype::Int32, Dtype::Bf16]);
        let result = Value { name: self.fresh("y"), kind: seed.kind.clone() };
        let text = self.condition();
        self.line(format!("if {text}:"));
        self.strict += 1;
        self.pure += 1;
        for is_last in [false, true] {
            self.block(|author| {
                author.body();
                let text = author.combined(&seed);
                let name = author.fresh("t");
                author.line(format!("{name} = {text}"));
                author.line(format!("{} = pl.yield_({name})", result.name));
            });
            if !is_last {
                self.line("else:");
            }
        }
        self.strict -= 1;
        self.pure -= 1;
        self.values.push(result);
    }
}
