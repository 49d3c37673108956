//! Kernels of PyPTO that nobody chose: mostly such as the compiler takes, deterministic for a seed.

mod author;
mod control;
mod operations;
mod products;
mod slips;
mod values;
mod vectors;

use std::fmt::Write as _;

use tilelens_analysis::ir::Dtype::*;
use tilelens_analysis::target::Space;

use self::author::{Author, SCALARS, Taste};
use self::operations::Level;
use self::values::{ScalarName, Tensor, list, spelled};
use super::random::Random;

/// Of 100 kernels so many have a change that the compiler may refuse.
const SLIPS: u64 = 8;

/// The text of one kernel of a run.
pub fn kernel(seed: u64, index: u64) -> String {
    let mut random = Random::new(seed, index);
    let level = if random.percent(55) { Level::Tile } else { Level::Tensor };
    let text = match level {
        Level::Tile => tile_kernel(&mut random),
        Level::Tensor => tensor_program(&mut random),
    };
    if random.percent(SLIPS) { slips::slip(&text, &mut random) } else { text }
}

fn taste(random: &mut Random, level: Level) -> Taste {
    let dtypes = random.of(&[
        &[Fp32][..],
        &[Fp32],
        &[Fp32, Bf16],
        &[Fp32, Fp16],
        &[Fp16],
        &[Fp32, Int32],
        &[Int32],
        &[Int16, Fp16],
        &[Bf16, Fp32],
        &[Fp32, Int8],
    ]);
    let rows = random.of(&[&[16][..], &[16, 32], &[8, 16], &[1, 16], &[64], &[32, 64], &[1], &[4, 100], &[128]]);
    let columns = random.of(&[&[64][..], &[32, 64], &[128], &[64, 128], &[256], &[8, 16], &[33, 48], &[512]]);
    let largest = rows.iter().max().copied().unwrap_or(1) * columns.iter().max().copied().unwrap_or(1);
    // Some kernels overflow.
    let columns = if largest > 8192 && !random.percent(10) { &[32, 64] } else { columns };
    Taste {
        dtypes: dtypes.to_vec(),
        rows: rows.to_vec(),
        columns: columns.to_vec(),
        reassign: random.of(&[0, 10, 10, 30]),
        annotate: random.of(&[0, 0, 8, 25]),
        nest: random.of(&[0, 8, 25]),
        control: random.of(&[0, 10, 20]),
        products: match level {
            Level::Tile => random.of(&[0, 0, 0, 3, 40]),
            Level::Tensor => random.of(&[0, 0, 3, 15, 40]),
        },
    }
}

fn parameters_that_are_scalars() -> Vec<ScalarName> {
    SCALARS.iter().map(|&(name, dtype)| ScalarName { name: name.to_owned(), dtype, end: None }).collect()
}

/// An InCore function on tiles.
fn tile_kernel(random: &mut Random) -> String {
    let taste = taste(random, Level::Tile);
    let budget = random.of(&[4, 8, 12, 20, 30]);
    let mut author = Author::new(random, Level::Tile, taste);
    author.scalars = parameters_that_are_scalars();
    author.budget = budget;
    author.depth = 2;
    author.statements(budget);
    finish(&mut author);
    let (parameters, outputs) = author.signature();
    let declared = author.buffers.iter().map(|(name, slots, _)| match slots {
        1 => format!("{name} = pl.MemRef()\n"),
        slots => format!("{name} = pl.MemRef(slots={slots})\n"),
    });
    let declared: String = declared.collect();
    let mut text = format!("import pypto.language as pl\n\n{declared}\n@pl.program\nclass Random:\n");
    let _ = write!(
        text,
        "    @pl.function(type=pl.FunctionType.InCore)\n    def kernel(self, {}) -> {}:\n{}\n        return {}\n",
        parameters.join(", "),
        result_type(&outputs),
        author.lines.join("\n"),
        names(&outputs)
    );
    text
}

/// Stores what is left, so that not everything is dead.
fn finish(author: &mut Author<'_>) {
    let last: Vec<_> = author.values.iter().rev().take(3).cloned().collect();
    let mut stored = author.tensors.iter().any(|tensor| tensor.is_output);
    for value in last {
        let is_vector = value.kind.space == Space::Vec && value.kind.shape.len() == 2;
        if is_vector && (!stored || author.random.percent(50)) {
            author.store(&value);
            stored = true;
        }
    }
    if !stored {
        let kind = values::ValueType::vec(&[16, 64], Fp32);
        let value = author.load(&kind);
        author.store(&value);
    }
}

fn names(outputs: &[&Tensor]) -> String {
    outputs.iter().map(|tensor| tensor.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn result_type(outputs: &[&Tensor]) -> String {
    let typed: Vec<String> =
        outputs.iter().map(|tensor| format!("pl.Tensor[{}, {}]", list(&tensor.shape), spelled(tensor.dtype))).collect();
    match &typed[..] {
        [one] => one.clone(),
        several => format!("tuple[{}]", several.join(", ")),
    }
}

/// A function on tensors, with scopes.
fn tensor_program(random: &mut Random) -> String {
    let taste = taste(random, Level::Tensor);
    let is_jit = random.percent(50);
    let scopes = random.of(&[1, 1, 1, 2, 3]);
    let mut author = Author::new(random, Level::Tensor, taste);
    author.scalars = parameters_that_are_scalars();
    author.depth = if is_jit { 1 } else { 2 };
    for _ in 0..scopes {
        author.budget = author.random.of(&[3, 6, 10, 16]);
        scope(&mut author);
    }
    let (parameters, outputs) = author.signature();
    let (result, body) = (result_type(&outputs), author.lines.join("\n"));
    let returned = names(&outputs);
    if is_jit {
        return format!(
            "import pypto.language as pl\n\n\n@pl.jit\ndef entry({}):\n{body}\n    return {returned}\n",
            parameters.join(", ")
        );
    }
    format!(
        "import pypto.language as pl\n\n\n@pl.program\nclass Random:\n    @pl.function\n    def main(self, {}) -> {result}:\n{body}\n        return {returned}\n",
        parameters.join(", ")
    )
}

/// One scope that the compiler makes a kernel of, with host code around it.
fn scope(author: &mut Author<'_>) {
    let around = author.random.below(10);
    let before = author.scalars.len();
    match around {
        0 => {
            let index = author.fresh("b");
            let rounds = author.random.of(&[2, 4]);
            author.line(format!("for {index} in pl.range({rounds}):"));
            author.scalars.push(ScalarName { name: index, dtype: Index, end: Some(rounds) });
            author.depth += 1;
        }
        1 => {
            author.line("if n > 1:");
            author.depth += 1;
        }
        _ => {}
    }
    let name = author.fresh("scope");
    if author.random.percent(20) {
        let index = author.fresh("b");
        let blocks = author.random.of(&[2, 4, 8]);
        author.line(format!("for {index} in pl.spmd({blocks}, name_hint=\"{name}\"):"));
        author.scalars.push(ScalarName { name: index, dtype: Index, end: Some(blocks) });
    } else {
        let split = match author.random.below(12) {
            0 => ", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]",
            1 => ", optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]",
            _ => "",
        };
        author.line(format!("with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"{name}\"{split}):"));
    }
    author.block(|author| {
        let budget = author.budget;
        author.statements(budget);
        finish(author);
    });
    if around < 2 {
        author.depth -= 1;
    }
    author.scalars.truncate(before);
}

#[cfg(test)]
mod tests;
