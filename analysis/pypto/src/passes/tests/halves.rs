//! Kernels whose tiles the two vector units share.

use expect_test::{Expect, expect};

use super::{check_kernels, kernels_declared};
use crate::target::{Planner, Target};

fn check(target: Target, mode: &str, body: &str, expect: Expect) {
    let attrs = format!("type=pl.FunctionType.InCore, attrs={{\"split\": pl.SplitMode.{mode}}}");
    check_kernels(&kernels_declared(&attrs, body, target, Planner::Sequential), expect);
}

/// The first body of the tests: both operands of a product are made by the vector units.
const TO_THE_CUBE: &str = "
x = pl.load(b, [0, 0], [64, 64])
w = pl.exp(x)
l = pl.move(w, target_memory=pl.Mem.Left)
m = pl.move(x, target_memory=pl.Mem.Mat)
r = pl.move(m, target_memory=pl.Mem.Right)
c = pl.matmul(l, r)
v = pl.move(c, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
out = pl.store(v, [0, 0], out)";

#[test]
fn the_cube_takes_two_halves_as_one_tile() {
    check(
        Target::Ascend910b,
        "UP_DOWN",
        TO_THE_CUBE,
        expect![[r#"
        AIC k_aic
        system.reserve_buffer(name="k_v2c_slot_buffer", size=32768)
        l_mat: Tile[[64, 64], FP16, Mat] = tile.tpop_from_aiv(split=1)
        l: Tile[[64, 64], FP16, Left] = tile.move(l_mat, target_memory=Left)
        m_mat: Tile[[64, 64], FP16, Mat] = tile.tpop_from_aiv(split=1)
        m: Tile[[64, 64], FP16, Mat] = tile.move(m_mat, target_memory=Mat)
        r: Tile[[64, 64], FP16, Right] = tile.move(m, target_memory=Right)
        c: Tile[[64, 64], FP32, Acc] = tile.matmul(l, r)
        tile.tpush_to_aiv(c, split=1)
        AIV k_aiv
        system.reserve_buffer(name="k_c2v_slot_buffer", size=32768)
        subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
        x: Tile[[32, 64], FP16, Vec]
        w: Tile[[32, 64], FP16, Vec] = tile.exp(x)
        tile.tpush_to_aic(w, split=1)
        tile.tpush_to_aic(x, split=1)
        v: Tile[[32, 64], FP32, Vec] = tile.tpop_from_aic(split=1)
        out.2: Out Tensor[[512, 512], FP32] = tile.store(v, [(subblock_idx * 32), 0], out, atomic=0)
    "#]],
    );
}

#[test]
fn each_unit_packs_its_half_on_950() {
    check(
        Target::Ascend950,
        "LEFT_RIGHT",
        TO_THE_CUBE,
        expect![[r#"
            AIC k_aic
            system.reserve_buffer(name="k_v2c_slot_buffer", size=32768)
            l_mat: Tile[[64, 64], FP16, Mat] = tile.tpop_from_aiv(split=2)
            l: Tile[[64, 64], FP16, Left] = tile.move(l_mat, target_memory=Left)
            m_mat: Tile[[64, 64], FP16, Mat] = tile.tpop_from_aiv(split=2)
            m: Tile[[64, 64], FP16, Mat] = tile.move(m_mat, target_memory=Mat)
            r: Tile[[64, 64], FP16, Right] = tile.move(m, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc] = tile.matmul(l, r)
            tile.tpush_to_aiv(c, split=2)
            AIV k_aiv
            system.reserve_buffer(name="k_c2v_slot_buffer", size=32768)
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            x: Tile[[64, 32], FP16, Vec]
            w: Tile[[64, 32], FP16, Vec] = tile.exp(x)
            w_nz: Tile[[64, 32], FP16, Vec, blayout=col_major, slayout=row_major] = tile.move(w, target_memory=Vec, blayout=col_major, slayout=row_major)
            tile.tpush_to_aic(w_nz, split=2)
            x_nz: Tile[[64, 32], FP16, Vec, blayout=col_major, slayout=row_major] = tile.move(x, target_memory=Vec, blayout=col_major, slayout=row_major)
            tile.tpush_to_aic(x_nz, split=2)
            v: Tile[[64, 32], FP32, Vec] = tile.tpop_from_aic(split=2)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(v, [0, (subblock_idx * 32)], out, atomic=0)
        "#]],
    );
}

#[test]
fn valid_rows_of_a_product_are_shared_evenly() {
    check(
        Target::Ascend910b,
        "UP_DOWN",
        "
x = pl.load(b, [0, 0], [64, 64], valid_shape=[40, 64], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
c = pl.matmul(x, y)
v = pl.move(c, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
w = pl.exp(v)
out = pl.store(w, [0, 0], out)",
        expect![[r#"
            AIC k_aic
            x: Tile[[64, 64], FP16, Mat, valid=[40, 64]]
            y: Tile[[64, 64], FP16, Mat]
            x_Left: Tile[[64, 64], FP16, Left, valid=[40, 64]] = tile.move(x, target_memory=Left)
            y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc, valid=[40, 64]] = tile.matmul(x_Left, y_Right)
            tile.tpush_to_aiv(c, split=1, lane_stride=20)
            AIV k_aiv
            system.reserve_buffer(name="k_c2v_slot_buffer", size=32768)
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            v: Tile[[32, 64], FP32, Vec, valid=[min((max(40, (subblock_idx * 20)) - (subblock_idx * 20)), 20), 64]] = tile.tpop_from_aic(split=1, lane_stride=20)
            w: Tile[[32, 64], FP32, Vec, valid=[min((max(40, (subblock_idx * 20)) - (subblock_idx * 20)), 20), 64]] = tile.exp(v)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(w, [(subblock_idx * 20), 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn valid_rows_of_loads_end_where_they_end() {
    check(
        Target::Ascend910b,
        "UP_DOWN",
        "
x = pl.load(b, [0, 0], [64, 64], valid_shape=[40, 64])
l = pl.move(x, target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
c = pl.matmul(l, y)
out = pl.store(c, [0, 0], out)",
        expect![[r#"
            AIC k_aic
            system.reserve_buffer(name="k_v2c_slot_buffer", size=16384)
            l_mat: Tile[[64, 64], FP16, Mat, valid=[40, 64]] = tile.tpop_from_aiv(split=1)
            l: Tile[[64, 64], FP16, Mat, valid=[40, 64]] = tile.move(l_mat, target_memory=Mat)
            y: Tile[[64, 64], FP16, Mat]
            l_Left: Tile[[64, 64], FP16, Left, valid=[40, 64]] = tile.move(l, target_memory=Left)
            y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc, valid=[40, 64]] = tile.matmul(l_Left, y_Right)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(c, [0, 0], out, atomic=0)
            AIV k_aiv
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            x: Tile[[32, 64], FP16, Vec, valid=[min((max(40, (subblock_idx * 32)) - (subblock_idx * 32)), 32), 64]]
            tile.tpush_to_aic(x, split=1)
        "#]],
    );
}
