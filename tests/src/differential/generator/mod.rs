//! Kernels of PyPTO made at random: mostly such as the compiler takes, deterministic for a seed.

mod author;
mod control;
mod cores;
mod forms;
mod operations;
mod products;
pub mod sizes;
mod slips;
mod tensor_program;
mod tile_kernel;
mod values;
mod vectors;

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype::*;

use self::author::{Author, SCALARS, Taste};
use self::operations::Level;
use self::values::{DYNAMIC_NAME, ScalarName, Tensor, ValueType};
use crate::random::Random;

/// Of 100 kernels so many have a change that the compiler may refuse.
const SLIPS: u64 = 8;

/// The text of one kernel of a run.
pub fn kernel(seed: u64, index: u64) -> String {
    let mut random = Random::new(seed, index);
    let text = match random.below(100) {
        0..=42 => tile_kernel::text(&mut random),
        43..=46 => cores::text(&mut random),
        47..=50 => cores::pair(&mut random),
        51..=62 => forms::text(&mut random),
        _ => tensor_program::text(&mut random),
    };
    let text = with_extents_of_run_time(text);
    if random.percent(SLIPS) { slips::slip(&text, &mut random) } else { text }
}

/// The text with the declaration of the extent that its tensors name.
fn with_extents_of_run_time(text: String) -> String {
    const FIRST: &str = "import pypto.language as pl\n";
    match text.contains(DYNAMIC_NAME) {
        true => text.replacen(FIRST, &format!("{FIRST}\n{DYNAMIC_NAME} = pl.dynamic(\"{DYNAMIC_NAME}\")\n"), 1),
        false => text,
    }
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
    let columns = if largest > 4096 && !random.percent(10) { &[32, 64] } else { columns };
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

/// Stores what is left, so that not everything is dead.
fn finish(author: &mut Author<'_>) {
    let last: Vec<_> = author.values.iter().rev().take(3).cloned().collect();
    let mut stored = author.tensors.iter().any(|tensor| tensor.is_output && !tensor.is_local);
    for value in last {
        let is_vector = value.kind.space == Space::Vec && value.kind.shape.len() == 2;
        if is_vector && (!stored || author.random.percent(50)) {
            author.store(&value);
            stored = true;
        }
    }
    if !stored {
        let value = author.load(&ValueType::vec(&[16, 64], Fp32));
        author.store(&value);
    }
}

fn names(outputs: &[&Tensor]) -> String {
    outputs.iter().map(|tensor| tensor.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn result_type(outputs: &[&Tensor]) -> String {
    let typed: Vec<String> = outputs.iter().map(|tensor| tensor.spelled()).collect();
    match &typed[..] {
        [one] => one.clone(),
        several => format!("tuple[{}]", several.join(", ")),
    }
}

#[cfg(test)]
mod tests;
