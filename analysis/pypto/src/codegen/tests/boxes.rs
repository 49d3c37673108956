//! Loads into tiles that lie in boxes.

use expect_test::{Expect, expect};
use tilefit_python::element::Dtype;

use super::fixture::{Fixture, sizes, tile_type};
use crate::codegen::{Generated, Options, generate_as};
use crate::ir::{Operand, Role, Scalar};
use crate::target::Space;

/// Prints the wrapper and the load of a window that begins at `offset` in a tensor of three dimensions.
fn check(tensor: [u64; 3], window: [u64; 3], offset: i64, expected: Expect) {
    let mut f = Fixture::new("boxes");
    let x = f.tensor("x", &tensor, Dtype::Fp16);
    let shape = [window[0] * window[1], window[2]];
    let tile = f.tile("tile", tile_type(Space::Mat, &shape, Dtype::Fp16), Some(0), Role::Def);
    let offsets = Operand::List([offset, 0, 0].map(Scalar::Int).to_vec());
    f.kernel.body = vec![f.set(tile, "tile.load", vec![Operand::Var(x), offsets, sizes(&window)])];
    let Generated { text, findings, .. } = generate_as(&f.kernel, &f.plan, Options::default());
    let is_told =
        |line: &&str| ["Shape<", "Stride<", "TASSIGN(xGlobal", "TLOAD"].iter().any(|part| line.contains(part));
    let mut said: String = text.lines().filter(is_told).map(|line| format!("{}\n", line.trim())).collect();
    findings.iter().for_each(|finding| said.push_str(&format!("{}: {}\n", finding.code, finding.message)));
    expected.assert_eq(&said);
}

/// The instruction library fills such tiles from two dimensions.
#[test]
fn whole_pages_are_counted_with_the_rows() {
    check(
        [4, 32, 64],
        [2, 32, 64],
        1,
        expect![[r#"
        using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
        using xStrideDim5 = Stride<1, 1, 2048, 64, 1>;
        TASSIGN(xGlobal, x + 1 * 2048 + 0 * 64 + 0);
        TLOAD(tile, xGlobal);
    "#]],
    );
    check(
        [4, 32, 128],
        [2, 32, 64],
        0,
        expect![[r#"
        using xShapeDim5 = Shape<1, 1, 1, 64, 64>;
        using xStrideDim5 = Stride<1, 1, 4096, 128, 1>;
        TLOAD(tile, xGlobal);
    "#]],
    );
    check(
        [4, 32, 64],
        [1, 16, 64],
        3,
        expect![[r#"
        using xShapeDim5 = Shape<1, 1, 1, 16, 64>;
        using xStrideDim5 = Stride<1, 1, 2048, 64, 1>;
        TASSIGN(xGlobal, x + 3 * 2048 + 0 * 64 + 0);
        TLOAD(tile, xGlobal);
    "#]],
    );
}

#[test]
fn pages_with_a_gap_between_them_are_refused() {
    check(
        [4, 32, 64],
        [2, 16, 64],
        0,
        expect![[r#"
            using xShapeDim5 = Shape<1, 1, 2, 16, 64>;
            using xStrideDim5 = Stride<1, 1, 2048, 64, 1>;
            no-instruction: `tile` is stored in boxes, which the instruction library fills from two dimensions, but the window of `x` has 3, with gaps between its pages; load the pages one by one
        "#]],
    );
}
