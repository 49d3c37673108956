//! Loops, branches and pipelines.

use expect_test::expect;

use super::{check, kernels_for};
use crate::target::{Planner, Target};

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

/// Of conditions inside of branches the compiler proves those on variables of one width, in whatever order the operands stand.
#[test]
fn conditions_that_a_branch_around_decides_go() {
    check(
        "
x = pl.load(a, [0, 0], [8, 64])
i = pl.cast(n, pl.INT32)
if n == 1:
    x = pl.exp(x)
    if n != 1:
        x = pl.neg(x)
else:
    if n == 1:
        x = pl.abs(x)
    if i > 4:
        if i < 3:
            x = pl.sqrt(x)
    for j in pl.range(0, n):
        if n % 2 == 0:
            if n % 2 == 0:
                x = pl.neg(x)
        for k in pl.range(0, 8):
            if k < j:
                if j > k:
                    x = pl.log(x)
out = pl.store(x, [0, 0], out)",
        expect![[r#"
            AIV k
            x: Tile[[8, 64], FP32, Vec]
            i: Scalar[INT32] = INT32(n)
            if (n == 1) -> x.20:
                x.2: Tile[[8, 64], FP32, Vec] = tile.exp(x)
                yield x.2
            else:
                if (i > 4) -> x.9:
                    if (i < 3) -> x.8:
                        x.7: Tile[[8, 64], FP32, Vec] = tile.sqrt(x)
                        yield x.7
                    else:
                        yield x
                    yield x.8
                else:
                    yield x
                for j in range(0, n, 1) (x.10 = x.9 -> x.11):
                    if ((n % 2) == 0) -> x.14:
                        if ((n % 2) == 0) -> x.13:
                            x.12: Tile[[8, 64], FP32, Vec] = tile.neg(x.10)
                            yield x.12
                        else:
                            yield x.10
                        yield x.13
                    else:
                        yield x.10
                    for k in range(0, 8, 1) (x.15 = x.14 -> x.16):
                        if (k < j) -> x.19:
                            x.17: Tile[[8, 64], FP32, Vec] = tile.log(x.15, high_precision=false)
                            yield x.17
                        else:
                            yield x.15
                        yield x.19
                    yield x.16
                yield x.11
            out.2: Out Tensor[[512, 512], FP32] = tile.store(x.20, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn results_of_branches_that_are_not_read_go() {
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
