//! Kernels that an author writes for one core: a ring that the other core fills, flags and barriers between the statements.

use tilelens_analysis::ir::Dtype::{Bf16, Fp32};
use tilelens_analysis::target::Space;

use super::author::Author;
use super::operations::Level;
use super::values::{Value, ValueType, list, spelled};
use super::{finish, names, parameters_that_are_scalars, result_type, taste};
use crate::differential::random::Random;

/// A function of type AIV or AIC.
pub(super) fn text(random: &mut Random) -> String {
    let mut taste = taste(random, Level::Tile);
    // Tiles of these functions say where they are.
    (taste.annotate, taste.reassign, taste.nest) = (100, 0, 0);
    taste.products = 0;
    let is_vector = random.percent(70);
    let mut author = Author::new(random, Level::Tile, taste);
    author.scalars = parameters_that_are_scalars();
    author.depth = 2;
    if is_vector {
        vector(&mut author)
    } else {
        cube(&mut author)
    }
    let (parameters, outputs) = author.signature();
    let (kind, declared) = (if is_vector { "AIV" } else { "AIC" }, author.declarations());
    format!(
        "import pypto.language as pl\n\n{declared}\n@pl.program\nclass Random:\n    @pl.function(type=pl.FunctionType.{kind})\n    def kernel(self, {}) -> {}:\n{}\n        return {}\n",
        parameters.join(", "),
        result_type(&outputs),
        author.lines.join("\n"),
        names(&outputs)
    )
}

fn vector(author: &mut Author<'_>) {
    let kind = ValueType::vec(&author.extents(), Fp32);
    let slot = kind.bytes();
    let has_ring = author.random.percent(60);
    if has_ring {
        let slots = author.random.of(&[2, 4]);
        author.line(format!("ring = pl.reserve_buffer(name=\"ring\", size={}, base=0)", slots * slot));
        author.line(format!("pl.aiv_initialize_pipe(dir_mask=1, slot_size={slot}, c2v_consumer_buf=ring)"));
    }
    author.budget = 8;
    author.statements(4);
    if has_ring {
        let name = author.fresh("p");
        author.line(format!(
            "{name}: pl.Tile[{}, {}, pl.Mem.Vec] = pl.tpop_from_aic(split=0)",
            list(&kind.shape),
            spelled(kind.dtype)
        ));
        let popped = author.operand(&kind);
        let sum = author.bind(format!("pl.add({name}, {popped})"), kind);
        author.line(format!("pl.tfree_to_aic({name})"));
        author.store(&sum);
    }
    if author.random.percent(30) {
        let which = author.random.below(3);
        author.line(barrier(which));
    }
    author.statements(4);
    finish(author);
}

fn barrier(which: usize) -> &'static str {
    ["pl.system.bar_v()", "pl.system.bar_m()", "pl.system.bar_all()"][which]
}

fn cube(author: &mut Author<'_>) {
    let (rows, depth, columns) =
        (author.random.of(&[16, 32]), author.random.of(&[32, 64]), author.random.of(&[32, 64]));
    let left = ValueType::vec(&[rows, depth], Bf16).at(Space::Mat);
    let right = ValueType::vec(&[depth, columns], Bf16).at(Space::Mat);
    for _ in 0..author.random.within(1, 3) {
        let (a, b) = (author.operand(&left), author.operand(&right));
        let a = author.bind(format!("pl.move({a}, target_memory=pl.Mem.Left)"), left.clone().at(Space::Left)).name;
        let b = author.bind(format!("pl.move({b}, target_memory=pl.Mem.Right)"), right.clone().at(Space::Right)).name;
        let kind = ValueType::vec(&[rows, columns], Fp32).at(Space::Acc);
        let result = author.bind(format!("pl.matmul({a}, {b})"), kind.clone());
        author.store(&Value { name: result.name, kind });
    }
}
