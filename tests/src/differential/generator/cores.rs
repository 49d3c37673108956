//! Kernels that an author writes for one core: a ring that the other core fills, flags and barriers between the statements.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype::{Bf16, Fp32};

use super::author::Author;
use super::operations::Level;
use super::values::{Value, ValueType, list, spelled};
use super::{finish, names, parameters_that_are_scalars, result_type, taste};
use crate::random::Random;

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

/// Two functions that are launched together: what one core makes, the other takes out of a ring.
pub(super) fn pair(random: &mut Random) -> String {
    let (rows, depth, columns) = (random.of(&[16, 32]), random.of(&[32, 64]), random.of(&[32, 64]));
    let (rounds, slots) = (random.of(&[1, 2, 4]), random.of(&[2, 4]));
    let to_vector = random.percent(60);
    let pushed = if to_vector { rows * columns * 4 } else { rows * depth * 2 };
    let mut taste = taste(random, Level::Tile);
    (taste.annotate, taste.reassign, taste.nest, taste.products) = (100, 0, 0, 0);
    let mut author = Author::new(random, Level::Tile, taste);
    author.scalars = parameters_that_are_scalars();
    author.depth = 2;
    let product = ValueType::vec(&[rows, columns], Fp32);
    let factor = ValueType::vec(&[rows, depth], Bf16);
    let (dir, ring) = if to_vector { (1, "c2v") } else { (2, "v2c") };
    let pipe =
        |core: &str| format!("pl.{core}_initialize_pipe(dir_mask={dir}, slot_size={pushed}, {ring}_consumer_buf=ring)");
    let (own, peer) = if to_vector { ("aiv", "vector") } else { ("aic", "cube") };
    let owner = format!(
        "        ring = pl.reserve_buffer(name=\"ring\", size={}, base=0)\n        {}",
        slots * pushed,
        pipe(own)
    );
    let other = if to_vector { "aic" } else { "aiv" };
    let guest =
        format!("        ring = pl.import_peer_buffer(name=\"ring\", peer_func=\"{peer}\")\n        {}", pipe(other));
    let (of_cube, of_vector) = if to_vector { (&guest, &owner) } else { (&owner, &guest) };
    // The vector cores' part has statements of its own.
    author.line(format!("for i in pl.range({rounds}):"));
    author.block(|author| {
        author.budget = 4;
        author.statements(2);
        if to_vector {
            author.line(format!("p: {} = pl.tpop_from_aic(split=0)", tile(&product)));
            let added = author.operand(&product);
            let sum = author.bind(format!("pl.add(p, {added})"), product.clone());
            author.line("pl.tfree_to_aic(p)");
            author.store(&sum);
        } else {
            let value = author.operand(&ValueType { dtype: Fp32, ..factor.clone() });
            let cast = author.bind(format!("pl.cast({value}, pl.BF16)"), factor.clone());
            author.line(format!("pl.tpush_to_aic({}, split=0)", cast.name));
        }
        author.statements(2);
    });
    finish(&mut author);
    let (parameters, outputs) = author.signature();
    let left = match to_vector {
        true => format!(
            "            a: {} = pl.load(a0, [0, 0], [{rows}, {depth}], target_memory=pl.Mem.Mat)\n",
            tile(&factor.clone().at(Space::Mat))
        ),
        false => format!("            a: {} = pl.tpop_from_aiv(split=0)\n", tile(&factor.clone().at(Space::Mat))),
    };
    let last = match to_vector {
        true => "            pl.tpush_to_aiv(c, split=0)\n",
        false => "            pl.tfree_to_aiv(a)\n            o0 = pl.store(c, [0, 0], o0)\n",
    };
    let right = ValueType::vec(&[depth, columns], Bf16);
    let cube = format!(
        "{of_cube}\n        b: {} = pl.load(b0, [0, 0], [{depth}, {columns}], target_memory=pl.Mem.Mat)\n        r: {} = pl.move(b, target_memory=pl.Mem.Right)\n        for i in pl.range({rounds}):\n{left}            l: {} = pl.move(a, target_memory=pl.Mem.Left)\n            c: {} = pl.matmul(l, r)\n{last}        return o0",
        tile(&right.clone().at(Space::Mat)),
        tile(&right.at(Space::Right)),
        tile(&factor.at(Space::Left)),
        tile(&product.at(Space::Acc))
    );
    format!(
        "import pypto.language as pl\n\n{}\n@pl.program\nclass Random:\n    @pl.function(type=pl.FunctionType.AIC)\n    def cube(self, a0: pl.Tensor[[{rows}, {depth}], pl.BF16], b0: pl.Tensor[[{depth}, {columns}], pl.BF16], o0: pl.Out[pl.Tensor[[{rows}, {columns}], pl.FP32]]) -> pl.Tensor[[{rows}, {columns}], pl.FP32]:\n{cube}\n\n    @pl.function(type=pl.FunctionType.AIV)\n    def vector(self, {}) -> {}:\n{of_vector}\n{}\n        return {}\n",
        author.declarations(),
        parameters.join(", "),
        result_type(&outputs),
        author.lines.join("\n"),
        names(&outputs)
    )
}

/// `pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]`
fn tile(kind: &ValueType) -> String {
    format!("pl.Tile[{}, {}, pl.Mem.{}]", list(&kind.shape), spelled(kind.dtype), kind.space.name())
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
