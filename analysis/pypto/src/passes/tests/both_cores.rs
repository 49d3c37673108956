//! Kernels for the cube and the vector units.

use expect_test::expect;

use super::{check, check_on};
use crate::target::Target;

#[test]
fn a_kernel_for_both_cores_becomes_two() {
    check(
        "
x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
c = pl.matmul(x, y)
v = pl.move(c, target_memory=pl.Mem.Vec)
unused = pl.neg(v)
e = pl.exp(v)
out = pl.store(e, [0, 0], out)",
        expect![[r#"
            AIC k_aic
            x: Tile[[64, 64], FP16, Mat]
            y: Tile[[64, 64], FP16, Mat]
            x_Left: Tile[[64, 64], FP16, Left] = tile.move(x, target_memory=Left)
            y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc] = tile.matmul(x_Left, y_Right)
            tile.tpush_to_aiv(c, split=0)
            AIV k_aiv
            system.reserve_buffer(name="k_c2v_slot_buffer", size=32768)
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            if (subblock_idx == 0):
                v: Tile[[64, 64], FP32, Vec, blayout=col_major, slayout=row_major] = tile.tpop_from_aic(split=0)
                e__rm_a0_tmp_v0: Tile[[64, 64], FP32, Vec] = tile.move(v, target_memory=Vec, blayout=row_major, slayout=none_box)
                e__row_major_tmp_v1: Tile[[64, 64], FP32, Vec] = tile.exp(e__rm_a0_tmp_v0)
                e: Tile[[64, 64], FP32, Vec, blayout=col_major, slayout=row_major] = tile.move(e__row_major_tmp_v1, target_memory=Vec, blayout=col_major, slayout=row_major)
                out.2: Out Tensor[[512, 512], FP32] = tile.store(e, [0, 0], out, atomic=0)
            else:
                v.2: Tile[[64, 64], FP32, Vec, valid=[0, 0], blayout=col_major, slayout=row_major] = tile.tpop_from_aic(split=0)
                e__rm_a0_tmp_v0.2: Tile[[64, 64], FP32, Vec, valid=[0, 0]] = tile.move(v.2, target_memory=Vec, blayout=row_major, slayout=none_box)
                e__row_major_tmp_v1.2: Tile[[64, 64], FP32, Vec, valid=[0, 0]] = tile.exp(e__rm_a0_tmp_v0.2)
                e.2: Tile[[64, 64], FP32, Vec, valid=[0, 0], blayout=col_major, slayout=row_major] = tile.move(e__row_major_tmp_v1.2, target_memory=Vec, blayout=col_major, slayout=row_major)
                out.3: Out Tensor[[512, 512], FP32] = out
        "#]],
    );
}

#[test]
fn both_cores_on_950() {
    check_on(
        Target::Ascend950,
        "
x = pl.load(b, [0, 0], [64, 64])
w = pl.exp(x)
l = pl.move(w, target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
c = pl.matmul(l, y)
out = pl.store(c, [0, 0], out)",
        expect![[r#"
            AIC k_aic
            system.reserve_buffer(name="k_v2c_slot_buffer", size=16384)
            l: Tile[[64, 64], FP16, Mat] = tile.tpop_from_aiv(split=0)
            y: Tile[[64, 64], FP16, Mat]
            l_Left: Tile[[64, 64], FP16, Left] = tile.move(l, target_memory=Left)
            y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc] = tile.matmul(l_Left, y_Right)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(c, [0, 0], out, atomic=0)
            AIV k_aiv
            x: Tile[[64, 64], FP16, Vec]
            w: Tile[[64, 64], FP16, Vec] = tile.exp(x)
            w_nz: Tile[[64, 64], FP16, Vec, blayout=col_major, slayout=row_major] = tile.move(w, target_memory=Vec, blayout=col_major, slayout=row_major)
            tile.tpush_to_aic(w_nz, split=0)
        "#]],
    );
}

#[test]
fn a_loop_for_both_cores_runs_on_both() {
    check_on(
        Target::Ascend950,
        "
x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
total = pl.load(a, [0, 0], [64, 64])
kept = pl.load(a, [0, 64], [64, 64])
for i in pl.range(0, 4):
    y = pl.load(b, [i * 64, 0], [64, 64], target_memory=pl.Mem.Mat)
    c = pl.matmul(x, y)
    v = pl.move(c, target_memory=pl.Mem.Vec)
    total = pl.add(total, v)
    if i > 1:
        out = pl.store(total, [i * 64, 0], out)
    x = y
out = pl.store(total, [0, 0], out)",
        expect![[r#"
            AIC k_aic
            x: Tile[[64, 64], FP16, Mat]
            for i in range(0, 4, 1) (x.2 = x -> x.3):
                y: Tile[[64, 64], FP16, Mat]
                y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
                c: Tile[[64, 64], FP32, Acc] = tile.matmul(x.2, y_Right)
                tile.tpush_to_aiv(c, split=0)
                x.4: Tile[[64, 64], FP16, Mat] = y
                yield x.4
            AIV k_aiv
            system.reserve_buffer(name="k_c2v_slot_buffer", size=32768)
            total: Tile[[64, 64], FP32, Vec]
            for i in range(0, 4, 1) (out.2 = out -> out.3, total.2 = total -> total.3):
                v: Tile[[64, 64], FP32, Vec, blayout=col_major, slayout=row_major] = tile.tpop_from_aic(split=0)
                total__rm_a1_tmp_v0: Tile[[64, 64], FP32, Vec] = tile.move(v, target_memory=Vec, blayout=row_major, slayout=none_box)
                total.4: Tile[[64, 64], FP32, Vec] = tile.add(total.2, total__rm_a1_tmp_v0)
                if (i > 1) -> out.5:
                    out.4: Out Tensor[[512, 512], FP32] = tile.store(total.4, [(i * 64), 0], out.2, atomic=0)
                    yield out.4
                else:
                    yield out.2
                yield out.5, total.4
            out.6: Out Tensor[[512, 512], FP32] = tile.store(total.3, [0, 0], out.3, atomic=0)
        "#]],
    );
}
