//! Bodies of kernels as authors write them, and what the passes make of them.

use std::collections::HashSet;
use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tilelens_syntax::{BlockKind, Document, ast};

use super::{prepare, walk};
use crate::eval::{Constant, FunctionSource, Scope};
use crate::ir::{Kernel, Operand, Stmt, VarId};
use crate::lower;
use crate::target::{Planner, Target};

struct Nowhere;

impl Scope for Nowhere {
    fn constant(&self, _: &str) -> Option<Constant> {
        None
    }

    fn function(&self, _: &str) -> Option<FunctionSource> {
        None
    }
}

const TENSORS: &str = "a: pl.Tensor[[512, 512], pl.FP32], b: pl.Tensor[[512, 512], pl.FP16], q: pl.Tensor[[512, 512], pl.INT8], \
    n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]";

fn kernels(body: &str, target: Target) -> Vec<Kernel> {
    kernels_for(body, target, Planner::Sequential)
}

fn kernels_for(body: &str, target: Target, planner: Planner) -> Vec<Kernel> {
    let body: String = body.lines().map(|line| format!("        {}\n", line.trim_end())).collect();
    let text = format!(
        "class P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k({TENSORS}):\n{body}        return out\n"
    );
    let document = Document::new(&text);
    let functions = document.blocks().iter().filter(|block| block.key.kind == BlockKind::Function);
    let kernels = functions.flat_map(|block| lower::kernels(&ast::parse(block.source.as_ref()).0, &Nowhere));
    kernels.flat_map(|kernel| prepare(kernel, target.into(), planner)).collect()
}

/// The statements behind the passes; of loads and stores only the names.
fn check_on(target: Target, body: &str, expect: Expect) {
    let mut text = String::new();
    for kernel in kernels(body, target) {
        assert_defined(&kernel);
        for line in
            kernel.to_string().lines().filter(|line| !line.starts_with("    param") && !line.contains(" return "))
        {
            let line = line.split(" = tile.load(").next().unwrap_or(line);
            writeln!(text, "{}", line.strip_prefix("    ").unwrap_or(line)).unwrap();
        }
    }
    expect.assert_eq(&text);
}

fn check(body: &str, expect: Expect) {
    check_on(Target::Ascend910b, body, expect);
}

/// Every variable that a statement reads is defined before it, in this list of statements or one around it.
fn assert_defined(kernel: &Kernel) {
    let mut defined: HashSet<VarId> = kernel.params.iter().copied().collect();
    assert_body(kernel, &kernel.body, &mut defined);
}

fn assert_body(kernel: &Kernel, body: &[Stmt], defined: &mut HashSet<VarId>) {
    for stmt in body {
        let check = |used: VarId| {
            assert!(defined.contains(&used), "`{}` is read where it is not defined:\n{kernel}", kernel.var(used).name)
        };
        match stmt {
            Stmt::For(inner) => {
                walk::visit_header_uses(stmt, &mut { check });
                let mut inside = defined.clone();
                inside.insert(inner.index);
                inside.extend(inner.carries.iter().map(|carry| carry.iter));
                assert_body(kernel, &inner.body, &mut inside);
                assert_eq!(walk::yielded(&inner.body).len(), inner.carries.len(), "{kernel}");
                defined.extend(inner.carries.iter().map(|carry| carry.result));
            }
            Stmt::While(inner) => {
                inner.carries.iter().filter_map(|carry| carry.init.var()).for_each(check);
                let mut inside = defined.clone();
                inside.extend(inner.carries.iter().map(|carry| carry.iter));
                assert_body(kernel, &inner.body, &mut inside);
                defined.extend(inner.carries.iter().map(|carry| carry.result));
            }
            Stmt::If(inner) => {
                walk::visit_header_uses(stmt, &mut { check });
                for branch in [&inner.then, &inner.otherwise] {
                    assert_body(kernel, branch, &mut defined.clone());
                    let ends: &[Operand] = walk::yielded(branch);
                    assert!(inner.results.is_empty() || ends.len() == inner.results.len(), "{kernel}");
                }
                defined.extend(&inner.results);
            }
            leaf => {
                walk::visit_uses(leaf, &mut { check });
                if let Stmt::Let { var, .. } = leaf {
                    assert!(defined.insert(*var), "`{}` is defined twice:\n{kernel}", kernel.var(*var).name);
                }
            }
        }
    }
}

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
for k in pl.range(0, 512, 64):
    x = pl.load(b, [0, k], [64, 64], target_memory=pl.Mem.Mat)
    y = pl.load(b, [k, 0], [64, 64], target_memory=pl.Mem.Mat)
    acc = pl.matmul_acc(acc, x, y)
out = pl.store(acc, [0, 0], out)",
        expect![[r#"
            AIC k
            acc: Tile[[64, 64], FP32, Acc] = tile.create([64, 64], dtype=FP32, target_memory=Acc)
            for k in range(0, 512, 64) (acc.2 = acc -> acc.3):
                x: Tile[[64, 64], FP16, Mat]
                y: Tile[[64, 64], FP16, Mat]
                x_Left: Tile[[64, 64], FP16, Left] = tile.move(x, target_memory=Left)
                y_Right: Tile[[64, 64], FP16, Right] = tile.move(y, target_memory=Right)
                acc.4: Tile[[64, 64], FP32, Acc] = tile.matmul_acc(acc.2, x_Left, y_Right)
                yield acc.4
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
fn loops_unroll_and_branches_that_are_never_taken_go() {
    check(
        "
x = pl.load(a, [0, 0], [8, 64])
for i in pl.unroll(0, 3):
    if i == 1:
        x = pl.exp(x)
    else:
        x = pl.neg(x)
for j in pl.range(0, 1):
    x = pl.abs(x)
for j in pl.range(0, 4):
    if j < 4:
        x = pl.sqrt(x)
out = pl.store(x, [0, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[8, 64], FP32, Vec]
            x.15: Tile[[8, 64], FP32, Vec] = tile.neg(x)
            x.17: Tile[[8, 64], FP32, Vec] = tile.exp(x.15)
            x.21: Tile[[8, 64], FP32, Vec] = tile.neg(x.17)
            x.9: Tile[[8, 64], FP32, Vec] = tile.abs(x.21)
            for j.2 in range(0, 4, 1) (x.10 = x.9 -> x.11):
                x.12: Tile[[8, 64], FP32, Vec] = tile.sqrt(x.10)
                yield x.12
            out.2: Out Tensor[[512, 512], FP32] = tile.store(x.11, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn results_of_branches_that_nobody_reads_go() {
    check(
        "
x = pl.load(a, [0, 0], [8, 64])
if n > 0:
    y = pl.exp(x)
    z = pl.neg(y)
    if n > 0:
        x = pl.abs(x)
else:
    y = pl.sqrt(x)
    z = pl.log(y)
out = pl.store(z, [0, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[8, 64], FP32, Vec]
            if (n > 0) -> z.3:
                y: Tile[[8, 64], FP32, Vec] = tile.exp(x)
                z: Tile[[8, 64], FP32, Vec] = tile.neg(y)
                x.2: Tile[[8, 64], FP32, Vec] = tile.abs(x)
                yield z
            else:
                y.2: Tile[[8, 64], FP32, Vec] = tile.sqrt(x)
                z.2: Tile[[8, 64], FP32, Vec] = tile.log(y.2, high_precision=false)
                yield z.2
            out.2: Out Tensor[[512, 512], FP32] = tile.store(z.3, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn pipelines_load_ahead_and_run_what_is_left_over() {
    check(
        "
for i in pl.pipeline(0, 320, 64, stage=2):
    x = pl.load(a, [i, 0], [64, 64])
    y = pl.exp(x)
    out = pl.store(y, [i, 0], out)",
        expect![[r#"
            AIV k
            for i.2 in range(0, 256, 128) (out.5 = out -> out_main):
                x.2: Tile[[64, 64], FP32, Vec]
                x.3: Tile[[64, 64], FP32, Vec]
                y.2: Tile[[64, 64], FP32, Vec] = tile.exp(x.2, pipeline_membership=0:0)
                out.6: Out Tensor[[512, 512], FP32] = tile.store(y.2, [i.2, 0], out.5, atomic=0)
                y.3: Tile[[64, 64], FP32, Vec] = tile.exp(x.3, pipeline_membership=0:1)
                out.7: Out Tensor[[512, 512], FP32] = tile.store(y.3, [(i.2 + 64), 0], out.6, atomic=0)
                yield out.7
            x.4: Tile[[64, 64], FP32, Vec]
            y.4: Tile[[64, 64], FP32, Vec] = tile.exp(x.4, pipeline_membership=1:0)
            out.8: Out Tensor[[512, 512], FP32] = tile.store(y.4, [256, 0], out_main, atomic=0)
            out.3: Out Tensor[[512, 512], FP32] = out.8
        "#]],
    );
}

#[test]
fn pipelines_of_unknown_length_branch_on_what_is_left_over() {
    check(
        "
acc = pl.load(a, [0, 0], [64, 64])
for i in pl.pipeline(0, n, 1, stage=3):
    x = pl.load(a, [0, 64], [64, 64])
    acc = pl.add(acc, x)
out = pl.store(acc, [0, 0], out)",
        expect![[r#"
            AIV k
            acc: Tile[[64, 64], FP32, Vec]
            unroll_main_end: Scalar[INDEX] = ((n // 3) * 3)
            for i.2 in range(0, unroll_main_end, 3) (acc.5 = acc -> acc_main):
                x.2: Tile[[64, 64], FP32, Vec]
                x.3: Tile[[64, 64], FP32, Vec]
                x.4: Tile[[64, 64], FP32, Vec]
                acc.6: Tile[[64, 64], FP32, Vec] = tile.add(acc.5, x.2, pipeline_membership=0:0)
                acc.7: Tile[[64, 64], FP32, Vec] = tile.add(acc.6, x.3, pipeline_membership=0:1)
                acc.8: Tile[[64, 64], FP32, Vec] = tile.add(acc.7, x.4, pipeline_membership=0:2)
                yield acc.8
            unroll_rem: Scalar[INDEX] = (n - unroll_main_end)
            if (unroll_rem == 1) -> acc.3:
                x.7: Tile[[64, 64], FP32, Vec]
                acc.11: Tile[[64, 64], FP32, Vec] = tile.add(acc_main, x.7, pipeline_membership=2:0)
                yield acc.11
            else:
                if (unroll_rem == 2) -> acc_rem2:
                    x.5: Tile[[64, 64], FP32, Vec]
                    acc.9: Tile[[64, 64], FP32, Vec] = tile.add(acc_main, x.5, pipeline_membership=1:0)
                    x.6: Tile[[64, 64], FP32, Vec]
                    acc.10: Tile[[64, 64], FP32, Vec] = tile.add(acc.9, x.6, pipeline_membership=1:1)
                    yield acc.10
                else:
                    yield acc_main
                yield acc_rem2
            out.2: Out Tensor[[512, 512], FP32] = tile.store(acc.3, [0, 0], out, atomic=0)
        "#]],
    );
}

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
out = pl.store(d, [0, 256], out)",
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
            out.4: Out Tensor[[512, 512], FP32] = tile.store(d, [0, 256], out.3, atomic=0)
            operand-too-large: tile.matmul left operand 'l' is already resident in Left (L0A) with physical shape [128, 256] and dtype FP32, requiring 131072 bytes, but ascend910b provides 65536 bytes; keep the operand in Mat and pass it directly to tile.matmul, so that the compiler chooses tiles that fit, or extract a smaller Left tile
        "#]],
    );
}

#[test]
fn products_that_are_not_modelled_take_no_memory() {
    check(
        "
x = pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [512, 64], target_memory=pl.Mem.Mat)
z = pl.load(a, [0, 0], [1, 512], target_memory=pl.Mem.Mat)
d = pl.matmul_bias(y, x, z)
out = pl.store(d, [0, 0], out)
c = pl.create_tile([512, 512], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for i in pl.range(2):
    c = pl.matmul_acc(c, y, x)",
        expect![[r#"
            AIC k
            x: Tile[[64, 512], FP16, Mat]
            y: Tile[[512, 64], FP16, Mat]
            z: Tile[[1, 512], FP32, Mat, blayout=row_major, slayout=none_box]
            d: ? = <`tile.matmul_bias` of [512, 64] x [64, 512], which the compiler computes in parts>
            out.2: Out Tensor[[512, 512], FP32] = tile.store(d, [0, 0], out, atomic=0)
            c: ? = tile.create([512, 512], dtype=FP32, target_memory=Acc)
            for i in range(0, 2, 1) (c.2 = c -> c.3):
                c.4: ? = <`tile.matmul_acc` of [512, 64] x [64, 512], which the compiler computes in parts>
                yield c.4
            not modelled: `tile.matmul_bias` of [512, 64] x [64, 512], which the compiler computes in parts
            not modelled: `tile.matmul_acc` of [512, 64] x [64, 512], which the compiler computes in parts
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
                e__rm_a0_tmp_v0: Tile[[64, 64], FP32, Vec] = tile.move(v, target_memory=Vec, blayout="row_major", slayout="none_box")
                e__row_major_tmp_v1: Tile[[64, 64], FP32, Vec] = tile.exp(e__rm_a0_tmp_v0)
                e: Tile[[64, 64], FP32, Vec, blayout=col_major, slayout=row_major] = tile.move(e__row_major_tmp_v1, target_memory=Vec, blayout="col_major", slayout="row_major")
                out.2: Out Tensor[[512, 512], FP32] = tile.store(e, [0, 0], out, atomic=0)
            else:
                v.2: Tile[[64, 64], FP32, Vec, valid=[0, 0], blayout=col_major, slayout=row_major] = tile.tpop_from_aic(split=0)
                e__rm_a0_tmp_v0.2: Tile[[64, 64], FP32, Vec, valid=[0, 0]] = tile.move(v.2, target_memory=Vec, blayout="row_major", slayout="none_box")
                e__row_major_tmp_v1.2: Tile[[64, 64], FP32, Vec, valid=[0, 0]] = tile.exp(e__rm_a0_tmp_v0.2)
                e.2: Tile[[64, 64], FP32, Vec, valid=[0, 0], blayout=col_major, slayout=row_major] = tile.move(e__row_major_tmp_v1.2, target_memory=Vec, blayout="col_major", slayout="row_major")
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
            w_nz: Tile[[64, 64], FP16, Vec, blayout=col_major, slayout=row_major] = tile.move(w, target_memory=Vec, blayout="col_major", slayout="row_major")
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
                total__rm_a1_tmp_v0: Tile[[64, 64], FP32, Vec] = tile.move(v, target_memory=Vec, blayout="row_major", slayout="none_box")
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

/// Lines that read `x`, `y` (FP32 in Vec), `m` (FP16 in Mat) or the accumulator, and give them new values.
const LINES: &[&str] = &[
    "x = pl.add(x, y)",
    "y = pl.exp(x)",
    "y = pl.sin(x)",
    "x = pl.recip(y)",
    "y = pl.slice(x, [64, 64], [0, 0])",
    "x = pl.add(pl.slice(y, [64, 64], [n, 0]), y)",
    "s = pl.slice(x, [64, 4], [0, n])",
    "s = pl.neg(pl.slice(pl.slice(x, [64, 16], [0, 2]), [64, 4], [0, 1]))",
    "x = pl.transpose(y, 0, 1)",
    "m = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)",
    "c = pl.matmul(m, m)",
    "c = pl.matmul_acc(c, m, m)",
    "x = pl.move(c, target_memory=pl.Mem.Vec)",
    "h = pl.cast(x, pl.FP16)\nm = pl.move(h, target_memory=pl.Mem.Mat)",
    "deep = pl.matmul(pl.load(b, [0, 0], [64, 512], target_memory=pl.Mem.Mat), pl.load(b, [0, 0], [512, 64], target_memory=pl.Mem.Mat))",
    "wide = pl.matmul(pl.load(b, [0, 0], [304, 256], target_memory=pl.Mem.Mat), pl.load(b, [0, 0], [256, 304], target_memory=pl.Mem.Mat))\nout = pl.store(wide, [0, 0], out)",
    "out = pl.store(x, [0, 0], out)",
    "out = pl.store(c, [0, 0], out)",
    "t = pl.row_max(x, y)\nx = pl.row_expand_sub(x, pl.exp(t))",
    "x = pl.create_tile([64, 64], dtype=pl.FP32)",
];

/// Statements that hold others; `INDEX` is a name of their own.
const HOLDERS: &[&str] = &[
    "for INDEX in pl.range(0, 4):",
    "for INDEX in pl.range(0, 1):",
    "for INDEX in pl.range(0, 0):",
    "for INDEX in pl.range(0, n):",
    "for INDEX in pl.unroll(0, 3):",
    "for INDEX in pl.unroll(3, 0, -2):",
    "for INDEX in pl.pipeline(0, 5, 1, stage=2):",
    "for INDEX in pl.pipeline(0, n, 1, stage=3):",
    "for INDEX in pl.pipeline(0, 1, 1, stage=4):",
    "if n > 2:",
    "if n < n:",
];

fn body(depth: u32) -> BoxedStrategy<Vec<String>> {
    let line = prop::sample::select(LINES).prop_map(|line| line.lines().map(str::to_owned).collect::<Vec<_>>());
    if depth == 0 {
        return prop::collection::vec(line, 1..5).prop_map(|lines| lines.concat()).boxed();
    }
    let nested = (prop::sample::select(HOLDERS), body(depth - 1), any::<Option<u8>>()).prop_map(
        move |(holder, inside, otherwise)| {
            let mut lines = vec![holder.replace("INDEX", &format!("i{depth}"))];
            lines.extend(inside.iter().map(|line| format!("    {line}")));
            if holder.starts_with("if") && otherwise.is_some() {
                lines.push("else:".into());
                lines.extend(inside.iter().rev().map(|line| format!("    {line}")));
            }
            lines
        },
    );
    prop::collection::vec(prop_oneof![3 => line, 2 => nested], 1..6).prop_map(|lines| lines.concat()).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever the author combines, no pass panics, and none leaves a variable that is not defined.
    #[test]
    fn every_variable_stays_defined(lines in body(2)) {
        let start = "x = pl.load(a, [0, 0], [64, 64])\ny = pl.load(a, [0, 64], [64, 64])\nm = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\nc = pl.matmul(m, m)\n";
        let text = format!("{start}{}", lines.join("\n"));
        for target in Target::ALL {
            for kernel in kernels(&text, target) {
                if kernel.notes.is_empty() && kernel.rejections.is_empty() {
                    assert_defined(&kernel);
                }
            }
        }
    }
}

#[test]
fn an_accumulator_is_drained_while_the_next_one_is_made() {
    let body = "x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        l = pl.move(x, target_memory=pl.Mem.Left)
        for i, (o,) in pl.pipeline(0, TRIPS, 64, stage=2, init_values=(out,)):
            y = pl.load(b, [0, i], [64, 64], target_memory=pl.Mem.Mat)
            r = pl.move(y, target_memory=pl.Mem.Right)
            c = pl.matmul(l, r)
            s = pl.store(c, [0, i], o)
            out = pl.yield_(s)";
    let order = |trips: u32, planner: Planner| {
        let body = body.replace("TRIPS", &(trips * 64).to_string());
        let kernel = kernels_for(&body, Target::Ascend910b, planner).remove(0);
        let text = kernel.to_string();
        let ops = text.lines().filter_map(|line| line.trim().split(" = tile.").nth(1)?.split('(').next());
        ops.filter(|op| matches!(*op, "matmul" | "store")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order(4, Planner::Sequential), "matmul matmul store store");
    // Too few iterations to be worth it, and a planner that leaves the author's pipelines alone.
    assert_eq!(order(2, Planner::Sequential), "matmul store matmul store");
    assert_eq!(order(4, Planner::DsaRp), "matmul store matmul store");
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
