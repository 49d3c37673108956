//! Operands in the memory and the layout that their operation reads, and operations that are several instructions.

use expect_test::expect;

use super::check;

#[test]
fn operands_of_the_cube_move_where_it_needs_them_once() {
    check(
        "
x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
p = pl.matmul(x, y)
z = pl.matmul(x, x)
pl.store(p, [0, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[64, 64], FP16, Mat]
            y: Tile[[64, 64], FP16, Mat]
            x_Left: Tile[[64, 64], FP16, Left] = tile.move(x, target_memory=Left)
            y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
            p: Tile[[64, 64], FP32, Acc] = tile.matmul(x_Left, y_Right)
            x_Right: Tile[[64, 64], FP16, Right] = tile.move(x, target_memory=Right)
            z: Tile[[64, 64], FP32, Acc] = tile.matmul(x_Left, x_Right)
            tile.store(p, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn a_seed_follows_the_accumulator_that_a_loop_makes_of_it() {
    check(
        "
acc = pl.create_tile([64, 64], dtype=pl.FP32)
for k, (acc,) in pl.range(0, 512, 64, init_values=(acc,)):
    x = pl.load(b, [0, k], [64, 64], target_memory=pl.Mem.Mat)
    y = pl.load(b, [k, 0], [64, 64], target_memory=pl.Mem.Mat)
    p = pl.matmul_acc(acc, x, y)
    acc = pl.yield_(p)
out = pl.store(acc, [0, 0], out)",
        expect![[r#"
            AIC k
            acc: Tile[[64, 64], FP32, Acc] = tile.create([64, 64], dtype=FP32, target_memory=Acc)
            for k in range(0, 512, 64) (acc.2 = acc -> acc.3):
                x: Tile[[64, 64], FP16, Mat]
                y: Tile[[64, 64], FP16, Mat]
                x_Left: Tile[[64, 64], FP16, Left] = tile.move(x, target_memory=Left)
                y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
                p: Tile[[64, 64], FP32, Acc] = tile.matmul_acc(acc.2, x_Left, y_Right)
                yield p
            out.2: Out Tensor[[512, 512], FP32] = tile.store(acc.3, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn windows_that_vectors_cannot_address_become_copies() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
aligned = pl.slice(x, [64, 8], [0, 8])
odd = pl.slice(x, [64, 8], [0, 4])
row = pl.slice(x, [1, 64], [n, 0])
u = pl.add(aligned, odd)
v = pl.exp(odd)
w = pl.col_expand_mul(x, row)
out = pl.store(u, [0, 0], out)
out = pl.store(v, [0, 64], out)
out = pl.store(w, [64, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[64, 64], FP32, Vec]
            aligned: Tile[[64, 8], FP32, Vec] = tile.slice(x, [64, 8], [0, 8])
            odd_textract: Tile[[64, 8], FP32, Vec] = tile.extract(x, 0, 4, [64, 8], target_memory=Vec)
            u: Tile[[64, 8], FP32, Vec] = tile.add(aligned, odd_textract)
            odd_textract.2: Tile[[64, 8], FP32, Vec] = tile.extract(x, 0, 4, [64, 8], target_memory=Vec)
            v: Tile[[64, 8], FP32, Vec] = tile.exp(odd_textract.2)
            row_textract: Tile[[1, 64], FP32, Vec] = tile.extract(x, n, 0, [1, 64], target_memory=Vec)
            w: Tile[[64, 64], FP32, Vec] = tile.col_expand_mul(x, row_textract)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(u, [0, 0], out, atomic=0)
            out.3: Out Tensor[[512, 512], FP32] = tile.store(v, [0, 64], out.2, atomic=0)
            out.4: Out Tensor[[512, 512], FP32] = tile.store(w, [64, 0], out.3, atomic=0)
        "#]],
    );
}

#[test]
fn columns_are_rows_to_operations_that_want_rows() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
tmp = pl.create_tile([64, 64], dtype=pl.FP32)
m = pl.row_max(x, tmp)
e = pl.exp(m)
y = pl.row_expand_sub(x, e)
out = pl.store(y, [0, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[64, 64], FP32, Vec]
            tmp: Tile[[64, 64], FP32, Vec] = tile.create([64, 64], dtype=FP32, target_memory=Vec)
            m: Tile[[64, 1], FP32, Vec] = tile.row_max(x, tmp)
            e__rm_a0_tmp_v0: Tile[[1, 64], FP32, Vec] = tile.reshape(m, [1, 64])
            e__row_major_tmp_v1: Tile[[1, 64], FP32, Vec] = tile.exp(e__rm_a0_tmp_v0)
            e: Tile[[64, 1], FP32, Vec] = tile.reshape(e__row_major_tmp_v1, [64, 1])
            y: Tile[[64, 64], FP32, Vec] = tile.row_expand_sub(x, e)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(y, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn conversions_without_an_instruction_go_through_other_types() {
    check(
        "
x = pl.load(q, [0, 0], [32, 64])
h = pl.cast(x, pl.FP16)
i = pl.cast(h, pl.INT64)
f = pl.cast(x, pl.FP32)
out = pl.store(f, [0, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[32, 64], INT8, Vec]
            h: Tile[[32, 64], FP16, Vec] = tile.cast(x, target_type=FP16, mode=2)
            i: Tile[[32, 64], INT64, Vec] = tile.cast(h, target_type=INT64, mode=2)
            f: Tile[[32, 64], FP32, Vec] = tile.cast(x, target_type=FP32, mode=2)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(f, [0, 0], out, atomic=0)
            no-cast-path: no native cast path from FP16 to INT64 for arch a2a3; pto.tcvt does not support this conversion. Cast to FP32 first, then to INT64, if FP32 holds all values
            no-cast-path: no native cast path from INT8 to FP32 for arch a2a3; pto.tcvt does not support this conversion. Cast to FP16 first, then to FP32, if FP16 holds all values
        "#]],
    );
}

#[test]
fn a_sine_is_a_polynomial() {
    check(
        "x = pl.load(a, [0, 0], [8, 64])\ns = pl.sin(x)\nout = pl.store(s, [0, 0], out)",
        expect![[r#"
        AIV k
        x: Tile[[8, 64], FP32, Vec]
        s__pi_inv_x_tmp_v0: Tile[[8, 64], FP32, Vec] = tile.muls(x, 0.31830987334251404)
        s__k_i_tmp_v1: Tile[[8, 64], INT32, Vec] = tile.cast(s__pi_inv_x_tmp_v0, target_type=INT32, mode=2)
        s__k_f_tmp_v2: Tile[[8, 64], FP32, Vec] = tile.cast(s__k_i_tmp_v1, target_type=FP32, mode=0)
        s__k_pi_v2_tmp_v3: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, 3.140625)
        s__t0_tmp_v4: Tile[[8, 64], FP32, Vec] = tile.sub(x, s__k_pi_v2_tmp_v3)
        s__k_pi_c1_tmp_v5: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, 0.0009670257568359375)
        s__t1_tmp_v6: Tile[[8, 64], FP32, Vec] = tile.sub(s__t0_tmp_v4, s__k_pi_c1_tmp_v5)
        s__k_pi_c2_tmp_v7: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, 6.277114152908325e-7)
        s__t2_tmp_v8: Tile[[8, 64], FP32, Vec] = tile.sub(s__t1_tmp_v6, s__k_pi_c2_tmp_v7)
        s__k_pi_c3_tmp_v9: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, 1.2164491636212915e-10)
        s__t3_tmp_v10: Tile[[8, 64], FP32, Vec] = tile.sub(s__t2_tmp_v8, s__k_pi_c3_tmp_v9)
        s__k_pi_c4_tmp_v11: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, -1.0290622927356871e-13)
        s__t4_tmp_v12: Tile[[8, 64], FP32, Vec] = tile.sub(s__t3_tmp_v10, s__k_pi_c4_tmp_v11)
        s__half_k_tmp_v13: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, 0.5)
        s__floor_hk_i_tmp_v14: Tile[[8, 64], INT32, Vec] = tile.cast(s__half_k_tmp_v13, target_type=INT32, mode=3)
        s__floor_hk_f_tmp_v15: Tile[[8, 64], FP32, Vec] = tile.cast(s__floor_hk_i_tmp_v14, target_type=FP32, mode=0)
        s__floor_x4_tmp_v16: Tile[[8, 64], FP32, Vec] = tile.muls(s__floor_hk_f_tmp_v15, 4.0)
        s__neg2_k_tmp_v17: Tile[[8, 64], FP32, Vec] = tile.muls(s__k_f_tmp_v2, -2.0)
        s__sign_pre_tmp_v18: Tile[[8, 64], FP32, Vec] = tile.add(s__floor_x4_tmp_v16, s__neg2_k_tmp_v17)
        s__sign_tmp_v19: Tile[[8, 64], FP32, Vec] = tile.adds(s__sign_pre_tmp_v18, 1.0)
        s__t2sq_tmp_v20: Tile[[8, 64], FP32, Vec] = tile.mul(s__t4_tmp_v12, s__t4_tmp_v12)
        s__p_r0_tmp_v21: Tile[[8, 64], FP32, Vec] = tile.muls(s__t2sq_tmp_v20, 2.604926521598827e-6)
        s__p_r1_tmp_v22: Tile[[8, 64], FP32, Vec] = tile.adds(s__p_r0_tmp_v21, -0.0001980894448934123)
        s__p_t2_r1_tmp_v23: Tile[[8, 64], FP32, Vec] = tile.mul(s__p_r1_tmp_v22, s__t2sq_tmp_v20)
        s__p_r2_tmp_v24: Tile[[8, 64], FP32, Vec] = tile.adds(s__p_t2_r1_tmp_v23, 0.008333049714565277)
        s__p_t2_r2_tmp_v25: Tile[[8, 64], FP32, Vec] = tile.mul(s__p_r2_tmp_v24, s__t2sq_tmp_v20)
        s__p_r3_tmp_v26: Tile[[8, 64], FP32, Vec] = tile.adds(s__p_t2_r2_tmp_v25, -0.16666658222675323)
        s__p_t2_r3_tmp_v27: Tile[[8, 64], FP32, Vec] = tile.mul(s__p_r3_tmp_v26, s__t2sq_tmp_v20)
        s__p_one_tmp_v28: Tile[[8, 64], FP32, Vec] = tile.adds(s__p_t2_r3_tmp_v27, 1.0)
        s__t_p_tmp_v29: Tile[[8, 64], FP32, Vec] = tile.mul(s__t4_tmp_v12, s__p_one_tmp_v28)
        s: Tile[[8, 64], FP32, Vec] = tile.mul(s__sign_tmp_v19, s__t_p_tmp_v29)
        out.2: Out Tensor[[512, 512], FP32] = tile.store(s, [0, 0], out, atomic=0)
    "#]],
    );
}

#[test]
fn a_transposition_has_scratch_and_tiles_have_two_axes() {
    check(
        "x = pl.load(a, [0, 0], [64, 32])\nt = pl.transpose(x, 0, 1)\nout = pl.store(t, [0, 0], out)",
        expect![[r#"
        AIV k
        x: Tile[[64, 32], FP32, Vec]
        transpose_tmp: Tile[[64, 32], FP32, Vec] = tile.create([64, 32], dtype=FP32, target_memory=Vec)
        t: Tile[[32, 64], FP32, Vec] = tile.transpose(x, 0, 1, transpose_tmp)
        out.2: Out Tensor[[512, 512], FP32] = tile.store(t, [0, 0], out, atomic=0)
    "#]],
    );
}

#[test]
fn nothing_moves_for_a_statement_that_stands_alone() {
    check(
        "
x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
for i in pl.range(4):
    y = pl.abs(x)",
        expect![[r#"
            AIC k_aic
            for i in range(0, 4, 1):
            invalid-operand: `tile.abs` requires `x` in Vec, but it is in Mat, and the compiler adds no move for a statement that is alone in its loop or branch; write `pl.move(x, target_memory=pl.Mem.Vec)` before it
            AIV k_aiv
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            if (subblock_idx == 0):
                for i in range(0, 4, 1):
            else:
                for i.2 in range(0, 4, 1):
        "#]],
    );
}

/// The compiler may have dropped the statement.
#[test]
fn nothing_is_refused_for_a_move_in_a_kernel_that_is_modelled_in_part() {
    check(
        "
w = somewhere.value
x = pl.load(b, [0, w], [64, 64], target_memory=pl.Mem.Mat)
for i in pl.range(4):
    y = pl.abs(x)",
        expect![[r#"
            AIC k_aic
            for i in range(0, 4, 1):
            not modelled: `somewhere` is not defined in this file
            AIV k_aiv
            subblock_idx: Scalar[INDEX] = tile.get_subblock_idx()
            if (subblock_idx == 0):
                for i in range(0, 4, 1):
            else:
                for i.2 in range(0, 4, 1):
            not modelled: `somewhere` is not defined in this file
        "#]],
    );
}

#[test]
fn what_lies_in_boxes_has_no_other_view() {
    check(
        "
acc = pl.create_tile([64, 64], dtype=pl.FP32)
for k, (acc,) in pl.range(0, 512, 64, init_values=(acc,)):
    x = pl.load(b, [0, k], [64, 64], target_memory=pl.Mem.Mat)
    y = pl.load(b, [k, 0], [64, 64], target_memory=pl.Mem.Mat)
    p = pl.matmul_acc(acc, x, y)
    acc = pl.yield_(p)
z = pl.reinterpret_view(acc, pl.INT32)
out = pl.store(acc, [0, 0], out)",
        expect![[r#"
            AIC k
            acc: Tile[[64, 64], FP32, Acc] = tile.create([64, 64], dtype=FP32, target_memory=Acc)
            for k in range(0, 512, 64) (acc.2 = acc -> acc.3):
                x: Tile[[64, 64], FP16, Mat]
                y: Tile[[64, 64], FP16, Mat]
                x_Left: Tile[[64, 64], FP16, Left] = tile.move(x, target_memory=Left)
                y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
                p: Tile[[64, 64], FP32, Acc] = tile.matmul_acc(acc.2, x_Left, y_Right)
                yield p
            z: Tile[[64, 64], INT32, Acc] = tile.reinterpret_view(acc.3, dtype=INT32)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(acc.3, [0, 0], out, atomic=0)
            invalid-operand: `tile.reinterpret_view` requires a tile without boxes (slayout=none_box), but `acc` is in Acc, where rows are stored in boxes; view the tensor that it is loaded from or stored to instead
        "#]],
    );
}
