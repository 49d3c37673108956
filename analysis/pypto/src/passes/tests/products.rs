//! Matrix products that are larger than the memories of their operands.

use expect_test::expect;

use super::check;

#[test]
fn products_too_deep_for_the_operand_memories_run_in_blocks() {
    check(
        "
x = pl.load(b, [0, 0], [128, 512], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [512, 128], target_memory=pl.Mem.Mat)
c = pl.matmul(x, y)
out = pl.store(c, [0, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[128, 512], FP16, Mat]
            y: Tile[[512, 128], FP16, Mat]
            c_l0_init: Tile[[128, 128], FP32, Acc] = tile.create([128, 128], dtype=FP32, target_memory=Acc)
            for c_l0_ko.2 in range(0, 512, 256) (c_l0_c.2 = c_l0_init -> c):
                c_l0_a.2: Tile[[128, 128], FP16, Left, blayout=row_major] = tile.extract(x, 0, c_l0_ko.2, [128, 128], target_memory=Left, pipeline_membership=0:0)
                c_l0_b.2: Tile[[128, 128], FP16, Right] = tile.extract(y, c_l0_ko.2, 0, [128, 128], target_memory=Right, pipeline_membership=0:0)
                c_l0_a.3: Tile[[128, 128], FP16, Left, blayout=row_major] = tile.extract(x, 0, (c_l0_ko.2 + 128), [128, 128], target_memory=Left, pipeline_membership=0:1)
                c_l0_b.3: Tile[[128, 128], FP16, Right] = tile.extract(y, (c_l0_ko.2 + 128), 0, [128, 128], target_memory=Right, pipeline_membership=0:1)
                if (c_l0_ko.2 == 0) -> c_l0_c_phi.2:
                    c_l0_c_first.2: Tile[[128, 128], FP32, Acc] = tile.matmul(c_l0_a.2, c_l0_b.2)
                    yield c_l0_c_first.2
                else:
                    c_l0_c_acc.2: Tile[[128, 128], FP32, Acc] = tile.matmul_acc(c_l0_c.2, c_l0_a.2, c_l0_b.2)
                    yield c_l0_c_acc.2
                if ((c_l0_ko.2 + 128) == 0) -> c_l0_c_phi.3:
                    c_l0_c_first.3: Tile[[128, 128], FP32, Acc] = tile.matmul(c_l0_a.3, c_l0_b.3)
                    yield c_l0_c_first.3
                else:
                    c_l0_c_acc.3: Tile[[128, 128], FP32, Acc] = tile.matmul_acc(c_l0_c_phi.2, c_l0_a.3, c_l0_b.3)
                    yield c_l0_c_acc.3
                yield c_l0_c_phi.3
            out.2: Out Tensor[[512, 512], FP32] = tile.store(c, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn operands_that_never_fit_and_products_that_stay_whole() {
    check(
        "
x = pl.load(a, [0, 0], [128, 256], target_memory=pl.Mem.Mat)
y = pl.load(a, [0, 0], [256, 32], target_memory=pl.Mem.Mat)
l = pl.move(x, target_memory=pl.Mem.Left)
r = pl.move(y, target_memory=pl.Mem.Right)
c = pl.matmul(l, r)
w = pl.load(b, [0, 0], [256, 64], target_memory=pl.Mem.Mat)
z = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
d = pl.matmul(w, z)
out = pl.store(c, [0, 0], out)
out = pl.store(d, [0, 0], out)
out = pl.store(d, [256, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[128, 256], FP32, Mat]
            y: Tile[[256, 32], FP32, Mat]
            l: Tile[[128, 256], FP32, Left] = tile.move(x, target_memory=Left)
            r: Tile[[256, 32], FP32, Right] = tile.move(y, target_memory=Right)
            c: Tile[[128, 32], FP32, Acc] = tile.matmul(l, r)
            w: Tile[[256, 64], FP16, Mat]
            z: Tile[[64, 512], FP16, Mat]
            w_Left: Tile[[256, 64], FP16, Left] = tile.move(w, target_memory=Left)
            z_Right: Tile[[64, 512], FP16, Right] = tile.move(z, target_memory=Right)
            d: Tile[[256, 512], FP32, Acc] = tile.matmul(w_Left, z_Right)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(c, [0, 0], out, atomic=0)
            out.3: Out Tensor[[512, 512], FP32] = tile.store(d, [0, 0], out.2, atomic=0)
            out.4: Out Tensor[[512, 512], FP32] = tile.store(d, [256, 0], out.3, atomic=0)
            operand-too-large: tile.matmul left operand 'l' is already resident in Left (L0A) with physical shape [128, 256] and dtype FP32, requiring 131072 bytes, but ascend910b provides 65536 bytes; keep the operand in Mat and pass it directly to tile.matmul: the compiler then chooses tiles that fit; or extract a smaller Left tile
        "#]],
    );
}

#[test]
fn products_that_are_not_modelled_take_no_memory() {
    check(
        "
x = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [512, 64], target_memory=pl.Mem.Mat)
d = pl.matmul(y, x)
e = pl.cast(d, pl.FP16, mode=\"rint\")
z = pl.matmul(e, pl.load(b, [0, 0], [512, 16], target_memory=pl.Mem.Mat))
out = pl.store(z, [0, 0], out)
c = pl.create_tile([512, 512], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for i in pl.range(2):
    c = pl.matmul_acc(c, y, x)",
        expect![[r#"
            InCore k
            x: Tile[[64, 512], FP16, Mat]
            y: Tile[[512, 64], FP16, Mat]
            d: ? = <`tile.matmul` of [512, 64] x [64, 512], which the compiler computes in parts>
            e: ? = tile.cast(d, target_type=FP16, mode=1)
            t__tmp_v0: Tile[[512, 16], FP16, Mat]
            z_l0_init: Tile[[512, 16], FP32, Acc] = tile.create([512, 16], dtype=FP32, target_memory=Acc)
            z_l0_lmat: Tile[[512, 512], FP16, Mat] = tile.move(e, target_memory=Mat)
            for z_l0_ko.2 in range(0, 512, 64) (z_l0_c.2 = z_l0_init -> z):
                z_l0_a.2: Tile[[512, 32], FP16, Left, blayout=row_major] = tile.extract(z_l0_lmat, 0, z_l0_ko.2, [512, 32], target_memory=Left, pipeline_membership=0:0)
                z_l0_b.2: Tile[[32, 16], FP16, Right] = tile.extract(t__tmp_v0, z_l0_ko.2, 0, [32, 16], target_memory=Right, pipeline_membership=0:0)
                z_l0_a.3: Tile[[512, 32], FP16, Left, blayout=row_major] = tile.extract(z_l0_lmat, 0, (z_l0_ko.2 + 32), [512, 32], target_memory=Left, pipeline_membership=0:1)
                z_l0_b.3: Tile[[32, 16], FP16, Right] = tile.extract(t__tmp_v0, (z_l0_ko.2 + 32), 0, [32, 16], target_memory=Right, pipeline_membership=0:1)
                if (z_l0_ko.2 == 0) -> z_l0_c_phi.2:
                    z_l0_c_first.2: Tile[[512, 16], FP32, Acc] = tile.matmul(z_l0_a.2, z_l0_b.2)
                    yield z_l0_c_first.2
                else:
                    z_l0_c_acc.2: Tile[[512, 16], FP32, Acc] = tile.matmul_acc(z_l0_c.2, z_l0_a.2, z_l0_b.2)
                    yield z_l0_c_acc.2
                if ((z_l0_ko.2 + 32) == 0) -> z_l0_c_phi.3:
                    z_l0_c_first.3: Tile[[512, 16], FP32, Acc] = tile.matmul(z_l0_a.3, z_l0_b.3)
                    yield z_l0_c_first.3
                else:
                    z_l0_c_acc.3: Tile[[512, 16], FP32, Acc] = tile.matmul_acc(z_l0_c_phi.2, z_l0_a.3, z_l0_b.3)
                    yield z_l0_c_acc.3
                yield z_l0_c_phi.3
            out.2: Out Tensor[[512, 512], FP32] = tile.store(z, [0, 0], out, atomic=0)
            c: Tile[[512, 512], FP32, Acc] = tile.create([512, 512], dtype=FP32, target_memory=Acc)
            for i in range(0, 2, 1) (c.2 = c -> c.3):
                y_Left: Tile[[512, 64], FP16, Left] = tile.move(y, target_memory=Left)
                x_Right: Tile[[64, 512], FP16, Right] = tile.move(x, target_memory=Right)
                c.4: Tile[[512, 512], FP32, Acc] = tile.matmul_acc(c.2, y_Left, x_Right)
                yield c.4
            not modelled: `tile.matmul` of [512, 64] x [64, 512], which the compiler computes in parts
            not modelled: a cast right after a product, because the compiler may fuse it into the store of the product
            not modelled: a value produced on one core and read on the other without an explicit move
        "#]],
    );
}

#[test]
fn each_tile_of_a_grid_loads_its_part_of_a_bias() {
    check(
        "
x = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [272, 64], target_memory=pl.Mem.Mat)
z = pl.load(a, [7, 0], [1, 512], target_memory=pl.Mem.Mat)
d = pl.matmul_bias(y, x, z)
out = pl.store(d, [0, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[64, 512], FP16, Mat]
            y: Tile[[272, 64], FP16, Mat]
            for d_o in range(0, 512, 256) (d_oc = out -> d_orv):
                d_b: Tile[[64, 256], FP16, Right] = tile.extract(x, 0, d_o, [64, 256], target_memory=Right)
                d_bias_mat: Tile[[1, 256], FP32, Mat, blayout=row_major, slayout=none_box]
                d_bias: Tile[[1, 256], FP32, Bias] = tile.move(d_bias_mat, target_memory=Bias)
                for d_i.2 in range(0, 192, 192) (d_ic.2 = d_oc -> d_irv):
                    d_a.2: Tile[[96, 64], FP16, Left, blayout=row_major] = tile.extract(y, d_i.2, 0, [96, 64], target_memory=Left, pipeline_membership=0:0)
                    d_a.3: Tile[[96, 64], FP16, Left, blayout=row_major] = tile.extract(y, (d_i.2 + 96), 0, [96, 64], target_memory=Left, pipeline_membership=0:1)
                    d_c.2: Tile[[96, 256], FP32, Acc] = tile.matmul_bias(d_a.2, d_b, d_bias)
                    out_t0.2: Out Tensor[[512, 512], FP32] = tile.store(d_c.2, [d_i.2, d_o], d_ic.2, atomic=0)
                    d_c.3: Tile[[96, 256], FP32, Acc] = tile.matmul_bias(d_a.3, d_b, d_bias)
                    out_t0.3: Out Tensor[[512, 512], FP32] = tile.store(d_c.3, [(d_i.2 + 96), d_o], out_t0.2, atomic=0)
                    yield out_t0.3
                yield d_irv
            d_ta1: Tile[[80, 64], FP16, Left, blayout=row_major] = tile.extract(y, 192, 0, [80, 64], target_memory=Left)
            d_tb1: Tile[[64, 256], FP16, Right] = tile.extract(x, 0, 0, [64, 256], target_memory=Right)
            d_tbias1_mat: Tile[[1, 256], FP32, Mat, blayout=row_major, slayout=none_box]
            d_tbias1: Tile[[1, 256], FP32, Bias] = tile.move(d_tbias1_mat, target_memory=Bias)
            d_tc1: Tile[[80, 256], FP32, Acc] = tile.matmul_bias(d_ta1, d_tb1, d_tbias1)
            out_t1: Out Tensor[[512, 512], FP32] = tile.store(d_tc1, [192, 0], d_orv, atomic=0)
            d_ta2: Tile[[80, 64], FP16, Left, blayout=row_major] = tile.extract(y, 192, 0, [80, 64], target_memory=Left)
            d_tb2: Tile[[64, 256], FP16, Right] = tile.extract(x, 0, 256, [64, 256], target_memory=Right)
            d_tbias2_mat: Tile[[1, 256], FP32, Mat, blayout=row_major, slayout=none_box]
            d_tbias2: Tile[[1, 256], FP32, Bias] = tile.move(d_tbias2_mat, target_memory=Bias)
            d_tc2: Tile[[80, 256], FP32, Acc] = tile.matmul_bias(d_ta2, d_tb2, d_tbias2)
            out_t2: Out Tensor[[512, 512], FP32] = tile.store(d_tc2, [192, 256], out_t1, atomic=0)
        "#]],
    );
}

#[test]
fn a_bias_that_something_else_reads_is_not_loaded_in_parts() {
    check(
        "
x = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
z = pl.load(a, [7, 0], [1, 512], target_memory=pl.Mem.Mat)
d = pl.matmul_bias(y, x, z)
e = pl.matmul_bias(y, x, z)
out = pl.store(d, [0, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[64, 512], FP16, Mat]
            y: Tile[[16, 64], FP16, Mat]
            z: Tile[[1, 512], FP32, Mat, blayout=row_major, slayout=none_box]
            y_Left: Tile[[16, 64], FP16, Left] = tile.move(y, target_memory=Left)
            x_Right: Tile[[64, 512], FP16, Right] = tile.move(x, target_memory=Right)
            z_Bias: Tile[[1, 512], FP32, Bias] = tile.move(z, target_memory=Bias)
            d: Tile[[16, 512], FP32, Acc] = tile.matmul_bias(y_Left, x_Right, z_Bias)
            e: Tile[[16, 512], FP32, Acc] = tile.matmul_bias(y_Left, x_Right, z_Bias)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(d, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn a_pipeline_over_k_runs_once_for_each_tile_of_a_result_that_is_too_large() {
    check(
        "
c = pl.create_tile([256, 256], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for i in pl.pipeline(0, 4, stage=2):
    x = pl.load(b, [0, i * 128], [256, 128], target_memory=pl.Mem.Mat)
    y = pl.load(b, [i * 128, 0], [128, 256], target_memory=pl.Mem.Mat)
    if i == 0:
        c = pl.matmul(x, y)
    else:
        c = pl.matmul_acc(c, x, y)
out = pl.store(c, [0, 0], out)",
        expect![[r#"
            AIC k
            c.7: Tile[[128, 256], FP32, Acc] = tile.create([128, 256], dtype=FP32, target_memory=Acc)
            for i.4 in range(0, 4, 2) (c.19 = c.7 -> c.12):
                x.4: Tile[[128, 128], FP16, Mat]
                y.4: Tile[[128, 256], FP16, Mat]
                x.5: Tile[[128, 128], FP16, Mat]
                y.5: Tile[[128, 256], FP16, Mat]
                if (i.4 == 0) -> c.22:
                    x_Left.5: Tile[[128, 128], FP16, Left] = tile.move(x.4, target_memory=Left, pipeline_membership=0:0)
                    y_Right.5: Tile[[128, 256], FP16, Right] = tile.move(y.4, target_memory=Right, pipeline_membership=0:0)
                    c.20: Tile[[128, 256], FP32, Acc] = tile.matmul(x_Left.5, y_Right.5)
                    yield c.20
                else:
                    x_Left.6: Tile[[128, 128], FP16, Left] = tile.move(x.4, target_memory=Left, pipeline_membership=0:0)
                    y_Right.6: Tile[[128, 256], FP16, Right] = tile.move(y.4, target_memory=Right, pipeline_membership=0:0)
                    c.21: Tile[[128, 256], FP32, Acc] = tile.matmul_acc(c.19, x_Left.6, y_Right.6)
                    yield c.21
                if ((i.4 + 1) == 0) -> c.25:
                    x_Left.7: Tile[[128, 128], FP16, Left] = tile.move(x.5, target_memory=Left, pipeline_membership=0:1)
                    y_Right.7: Tile[[128, 256], FP16, Right] = tile.move(y.5, target_memory=Right, pipeline_membership=0:1)
                    c.23: Tile[[128, 256], FP32, Acc] = tile.matmul(x_Left.7, y_Right.7)
                    yield c.23
                else:
                    x_Left.8: Tile[[128, 128], FP16, Left] = tile.move(x.5, target_memory=Left, pipeline_membership=0:1)
                    y_Right.8: Tile[[128, 256], FP16, Right] = tile.move(y.5, target_memory=Right, pipeline_membership=0:1)
                    c.24: Tile[[128, 256], FP32, Acc] = tile.matmul_acc(c.22, x_Left.8, y_Right.8)
                    yield c.24
                yield c.25
            out_t0: Out Tensor[[512, 512], FP32] = tile.store(c.12, [0, 0], out, atomic=0)
            c.13: Tile[[128, 256], FP32, Acc] = tile.create([128, 256], dtype=FP32, target_memory=Acc)
            for i.5 in range(0, 4, 2) (c.26 = c.13 -> c.18):
                x.6: Tile[[128, 128], FP16, Mat]
                y.6: Tile[[128, 256], FP16, Mat]
                x.7: Tile[[128, 128], FP16, Mat]
                y.7: Tile[[128, 256], FP16, Mat]
                if (i.5 == 0) -> c.29:
                    x_Left.9: Tile[[128, 128], FP16, Left] = tile.move(x.6, target_memory=Left, pipeline_membership=1:0)
                    y_Right.9: Tile[[128, 256], FP16, Right] = tile.move(y.6, target_memory=Right, pipeline_membership=1:0)
                    c.27: Tile[[128, 256], FP32, Acc] = tile.matmul(x_Left.9, y_Right.9)
                    yield c.27
                else:
                    x_Left.10: Tile[[128, 128], FP16, Left] = tile.move(x.6, target_memory=Left, pipeline_membership=1:0)
                    y_Right.10: Tile[[128, 256], FP16, Right] = tile.move(y.6, target_memory=Right, pipeline_membership=1:0)
                    c.28: Tile[[128, 256], FP32, Acc] = tile.matmul_acc(c.26, x_Left.10, y_Right.10)
                    yield c.28
                if ((i.5 + 1) == 0) -> c.32:
                    x_Left.11: Tile[[128, 128], FP16, Left] = tile.move(x.7, target_memory=Left, pipeline_membership=1:1)
                    y_Right.11: Tile[[128, 256], FP16, Right] = tile.move(y.7, target_memory=Right, pipeline_membership=1:1)
                    c.30: Tile[[128, 256], FP32, Acc] = tile.matmul(x_Left.11, y_Right.11)
                    yield c.30
                else:
                    x_Left.12: Tile[[128, 128], FP16, Left] = tile.move(x.7, target_memory=Left, pipeline_membership=1:1)
                    y_Right.12: Tile[[128, 256], FP16, Right] = tile.move(y.7, target_memory=Right, pipeline_membership=1:1)
                    c.31: Tile[[128, 256], FP32, Acc] = tile.matmul_acc(c.29, x_Left.12, y_Right.12)
                    yield c.31
                yield c.32
            out_t1: Out Tensor[[512, 512], FP32] = tile.store(c.18, [128, 0], out_t0, atomic=0)
        "#]],
    );
}

#[test]
fn products_too_large_for_the_accumulator_run_in_a_grid() {
    check(
        "
w = pl.load(b, [0, 0], [256, 64], target_memory=pl.Mem.Mat)
z = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
d = pl.matmul(w, z)
out = pl.store(d, [0, 0], out)",
        expect![[r#"
            AIC k
            w: Tile[[256, 64], FP16, Mat]
            z: Tile[[64, 512], FP16, Mat]
            for d_o.2 in range(0, 512, 512) (d_oc.2 = out -> d_orv):
                d_b.2: Tile[[64, 256], FP16, Right] = tile.extract(z, 0, d_o.2, [64, 256], target_memory=Right, pipeline_membership=1:0)
                d_b.3: Tile[[64, 256], FP16, Right] = tile.extract(z, 0, (d_o.2 + 256), [64, 256], target_memory=Right, pipeline_membership=1:1)
                for d_i.3 in range(0, 256, 256) (d_ic.3 = d_oc.2 -> d_irv.2):
                    d_a.4: Tile[[128, 64], FP16, Left, blayout=row_major] = tile.extract(w, d_i.3, 0, [128, 64], target_memory=Left, pipeline_membership=0:0;1:0)
                    d_a.5: Tile[[128, 64], FP16, Left, blayout=row_major] = tile.extract(w, (d_i.3 + 128), 0, [128, 64], target_memory=Left, pipeline_membership=0:1;1:0)
                    d_c.4: Tile[[128, 256], FP32, Acc] = tile.matmul(d_a.4, d_b.2)
                    out_t0.4: Out Tensor[[512, 512], FP32] = tile.store(d_c.4, [d_i.3, d_o.2], d_ic.3, atomic=0)
                    d_c.5: Tile[[128, 256], FP32, Acc] = tile.matmul(d_a.5, d_b.2)
                    out_t0.5: Out Tensor[[512, 512], FP32] = tile.store(d_c.5, [(d_i.3 + 128), d_o.2], out_t0.4, atomic=0)
                    yield out_t0.5
                for d_i.4 in range(0, 256, 256) (d_ic.4 = d_irv.2 -> d_irv.3):
                    d_a.6: Tile[[128, 64], FP16, Left, blayout=row_major] = tile.extract(w, d_i.4, 0, [128, 64], target_memory=Left, pipeline_membership=0:0;1:1)
                    d_a.7: Tile[[128, 64], FP16, Left, blayout=row_major] = tile.extract(w, (d_i.4 + 128), 0, [128, 64], target_memory=Left, pipeline_membership=0:1;1:1)
                    d_c.6: Tile[[128, 256], FP32, Acc] = tile.matmul(d_a.6, d_b.3)
                    out_t0.6: Out Tensor[[512, 512], FP32] = tile.store(d_c.6, [d_i.4, (d_o.2 + 256)], d_ic.4, atomic=0)
                    d_c.7: Tile[[128, 256], FP32, Acc] = tile.matmul(d_a.7, d_b.3)
                    out_t0.7: Out Tensor[[512, 512], FP32] = tile.store(d_c.7, [(d_i.4 + 128), (d_o.2 + 256)], out_t0.6, atomic=0)
                    yield out_t0.7
                yield d_irv.3
        "#]],
    );
}

#[test]
fn a_bias_is_added_by_the_first_block() {
    check(
        "x = pl.load(b, [0, 0], [32, 512], target_memory=pl.Mem.Mat)
        y = pl.load(b, [0, 0], [512, 256], target_memory=pl.Mem.Mat)
        s = pl.load(a, [0, 0], [1, 256], target_memory=pl.Mem.Mat)
        z = pl.matmul_bias(x, y, s)
        out = pl.store(z, [0, 0], out)",
        expect![[r#"
            AIC k
            x: Tile[[32, 512], FP16, Mat]
            y: Tile[[512, 256], FP16, Mat]
            s: Tile[[1, 256], FP32, Mat, blayout=row_major, slayout=none_box]
            z_l0_init: Tile[[32, 256], FP32, Acc] = tile.create([32, 256], dtype=FP32, target_memory=Acc)
            z_l0_bias: Tile[[1, 256], FP32, Bias] = tile.move(s, target_memory=Bias)
            for z_l0_ko.2 in range(0, 512, 128) (z_l0_c.2 = z_l0_init -> z):
                z_l0_a.2: Tile[[32, 64], FP16, Left, blayout=row_major] = tile.extract(x, 0, z_l0_ko.2, [32, 64], target_memory=Left, pipeline_membership=0:0)
                z_l0_b.2: Tile[[64, 256], FP16, Right] = tile.extract(y, z_l0_ko.2, 0, [64, 256], target_memory=Right, pipeline_membership=0:0)
                z_l0_a.3: Tile[[32, 64], FP16, Left, blayout=row_major] = tile.extract(x, 0, (z_l0_ko.2 + 64), [32, 64], target_memory=Left, pipeline_membership=0:1)
                z_l0_b.3: Tile[[64, 256], FP16, Right] = tile.extract(y, (z_l0_ko.2 + 64), 0, [64, 256], target_memory=Right, pipeline_membership=0:1)
                if (z_l0_ko.2 == 0) -> z_l0_c_phi.2:
                    z_l0_c_first.2: Tile[[32, 256], FP32, Acc] = tile.matmul_bias(z_l0_a.2, z_l0_b.2, z_l0_bias)
                    yield z_l0_c_first.2
                else:
                    z_l0_c_acc.2: Tile[[32, 256], FP32, Acc] = tile.matmul_acc(z_l0_c.2, z_l0_a.2, z_l0_b.2)
                    yield z_l0_c_acc.2
                if ((z_l0_ko.2 + 64) == 0) -> z_l0_c_phi.3:
                    z_l0_c_first.3: Tile[[32, 256], FP32, Acc] = tile.matmul_bias(z_l0_a.3, z_l0_b.3, z_l0_bias)
                    yield z_l0_c_first.3
                else:
                    z_l0_c_acc.3: Tile[[32, 256], FP32, Acc] = tile.matmul_acc(z_l0_c_phi.2, z_l0_a.3, z_l0_b.3)
                    yield z_l0_c_acc.3
                yield z_l0_c_phi.3
            out.2: Out Tensor[[512, 512], FP32] = tile.store(z, [0, 0], out, atomic=0)
        "#]],
    );
}
