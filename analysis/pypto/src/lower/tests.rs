//! Kernels as authors write them, and what lowering makes of them.

use expect_test::{Expect, expect};

use crate::lower::Module;

mod types;

#[test]
fn names_of_the_language_have_values() {
    let value = |text: &str| format!("{:?}", Module::new(text).value("x"));
    expect!["Some(Int(6))"].assert_eq(&value("x = pl.FP16.get_byte() * 3"));
    expect!["Some(Object(Space(Vec)))"].assert_eq(&value("x = pl.Mem.Vec"));
    let memory = value("x = pl.MemRef(slots=2)");
    expect![[r#"Some(Object(Allocation { name: Some("x"), slots: 2 }))"#]].assert_eq(&memory);
}

/// Lowers the kernels of a module.
fn check_module(text: &str, expect: Expect) {
    let kernels = Module::new(text).kernels();
    expect.assert_eq(&kernels.iter().map(|kernel| kernel.to_string()).collect::<String>());
}

/// Lowers the body of a kernel with two tensors, a scalar and an output.
fn check(body: &str, expect: Expect) {
    let signature = "    def k(a: pl.Tensor[[512, 512], pl.FP32], b: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):\n";
    let body: String = body.lines().map(|line| format!("        {}\n", line.trim_end())).collect();
    let text = format!(
        "
TILE = [64, 128]
class P:
    @pl.function(type=pl.FunctionType.InCore)
{signature}{body}"
    );
    let text = Module::new(&text).kernels().iter().map(|kernel| kernel.to_string()).collect::<String>();
    let lines = text.lines().filter(|line| !line.starts_with("InCore") && !line.starts_with("    param"));
    expect.assert_eq(&lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect::<String>());
}

#[test]
fn a_kernel_of_a_program() {
    check_module(
        "
import pypto.language as pl

ROWS = 32 * 2

@pl.program
class Add:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[64, 128], pl.FP32], out: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):
        x = pl.load(a, [0, 0], [ROWS, 128])
        y = pl.add(x, 1.0)
        out = pl.store(y, [0, 0], out)
        return out

def plain_python(x):
    return x
",
        expect![[r#"
            InCore kernel
                param a: Tensor[[64, 128], FP32]
                param out: Out Tensor[[64, 128], FP32]
                x: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
                y: Tile[[64, 128], FP32, Vec] = tile.adds(x, 1.0)
                out.2: Out Tensor[[64, 128], FP32] = tile.store(y, [0, 0], out, atomic=0)
                return out.2
        "#]],
    );
}

#[test]
fn nested_calls_get_names_of_their_own() {
    check(
        "
x = pl.exp(pl.mul(pl.load(a, [0, 0], TILE), 2.0))
pl.store(pl.neg(x), [0, 0], out)",
        expect![[r#"
        t__tmp_v0: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        t__tmp_v1: Tile[[64, 128], FP32, Vec] = tile.muls(t__tmp_v0, 2.0)
        x: Tile[[64, 128], FP32, Vec] = tile.exp(t__tmp_v1)
        t__tmp_v2: Tile[[64, 128], FP32, Vec] = tile.neg(x)
        tile.store(t__tmp_v2, [0, 0], out, atomic=0)
    "#]],
    );
}

#[test]
fn a_name_that_a_loop_rebinds_is_carried() {
    check(
        "
acc = pl.tile.full([64, 64], dtype=pl.FP32, value=0.0)
for i in pl.range(0, 512, 64):
    x = pl.load(a, [i, 0], [64, 64])
    acc = pl.add(acc, x)
    out = pl.store(acc, [i, 0], out)
out = pl.store(acc, [0, 0], out)
return out",
        expect![[r#"
            acc: Tile[[64, 64], FP32, Vec] = tile.full([64, 64], 0.0, dtype=FP32)
            for i in range(0, 512, 64) (acc.2 = acc -> acc.3, out.2 = out -> out.3):
                x: Tile[[64, 64], FP32, Vec] = tile.load(a, [i, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                acc.4: Tile[[64, 64], FP32, Vec] = tile.add(acc.2, x)
                out.4: Out Tensor[[512, 512], FP32] = tile.store(acc.4, [i, 0], out.2, atomic=0)
                yield acc.4, out.4
            out.5: Out Tensor[[512, 512], FP32] = tile.store(acc.3, [0, 0], out.3, atomic=0)
            return out.5
        "#]],
    );
}

#[test]
fn carries_can_be_written() {
    check(
        "
first = pl.load(a, [0, 0], [64, 64])
for i, (acc,) in pl.range(1, 8, init_values=(first,)):
    x = pl.load(a, [i * 64, 0], [64, 64])
    total = pl.yield_(pl.add(acc, x))
pl.store(total, [0, 0], out)",
        expect![[r#"
            first: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            for i in range(1, 8, 1) (acc = first -> total):
                x: Tile[[64, 64], FP32, Vec] = tile.load(a, [(i * 64), 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                t__tmp_v0: Tile[[64, 64], FP32, Vec] = tile.add(acc, x)
                yield t__tmp_v0
            tile.store(total, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn branches_merge_what_they_bind_differently() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
if n > 4:
    y = pl.exp(x)
    x = pl.neg(x)
else:
    y = pl.abs(x)
pl.store(pl.add(x, y), [0, 0], out)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            if (n > 4) -> x.3, y.3:
                y: Tile[[64, 64], FP32, Vec] = tile.exp(x)
                x.2: Tile[[64, 64], FP32, Vec] = tile.neg(x)
                yield x.2, y
            else:
                y.2: Tile[[64, 64], FP32, Vec] = tile.abs(x)
                yield x, y.2
            t__tmp_v0: Tile[[64, 64], FP32, Vec] = tile.add(x.3, y.3)
            tile.store(t__tmp_v0, [0, 0], out, atomic=0)
        "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
if n > 4:
    t = pl.exp(x)
    y = pl.yield_(t)
else:
    y = pl.yield_(x)
pl.store(y, [0, 0], out)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            if (n > 4) -> y:
                t: Tile[[64, 64], FP32, Vec] = tile.exp(x)
                yield t
            else:
                yield x
            tile.store(y, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn subscripts_are_slices_reads_and_writes() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
left = x[0:16, :]
row = x[3]
v = x[1, 2]
x[16:32, 0:64] = left",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            left: Tile[[16, 64], FP32, Vec] = tile.slice(x, [16, 64], [0, 0])
            row: Tile[[1, 64], FP32, Vec] = tile.slice(x, [1, 64], [3, 0], [], [0])
            v: Scalar[FP32] = tile.read(x, [1, 2])
            x.2: Tile[[64, 64], FP32, Vec] = tile.assemble(x, left, [16, 0])
        "#]],
    );
}

#[test]
fn annotations_bind_memory() {
    check_module(
        "
buf = pl.MemRef(slots=2)

@pl.function(type=pl.FunctionType.AIV)
def kernel(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(4):
        x: pl.Tile[[64, 64], pl.FP32, buf[i % 2], pl.Mem.Vec] = pl.load(a, [0, 0], [64, 64])
        out = pl.store(x, [0, 0], out)
",
        expect![[r#"
            AIV kernel
                param a: Tensor[[64, 64], FP32]
                param out: Out Tensor[[64, 64], FP32]
                for i in range(0, 4, 1) (out.2 = out -> out.3):
                    x: Tile[[64, 64], FP32, buf[(i % 2)], Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                    out.4: Out Tensor[[64, 64], FP32] = tile.store(x, [0, 0], out.2, atomic=0)
                    yield out.4
        "#]],
    );
}

#[test]
fn layouts_follow_from_operation_and_space() {
    check(
        "
x = pl.load(b, [0, 0], [64, 128], target_memory=pl.Mem.Mat)
y = pl.load(b, [0, 0], [128, 64], target_memory=pl.Mem.Mat)
l = pl.move(x, target_memory=pl.Mem.Left)
c = pl.matmul(l, pl.move(y, pl.Mem.Right))
v = pl.load(a, [0, 0], [64, 64], valid_shape=[n, 64])
tmp = pl.create_tile([64, 64], dtype=pl.FP32)
s = pl.row_sum(v, tmp)
r = pl.reshape(pl.load(a, [0, 0], [64, 1]), [1, 64])
m = pl.cmp(v, tmp, cmp_type=2)",
        expect![[r#"
            x: Tile[[64, 128], FP16, Mat] = tile.load(b, [0, 0], [64, 128], [64, 128], target_memory=Mat, clamp=false)
            y: Tile[[128, 64], FP16, Mat] = tile.load(b, [0, 0], [128, 64], [128, 64], target_memory=Mat, clamp=false)
            l: Tile[[64, 128], FP16, Left] = tile.move(x, target_memory=Left)
            t__tmp_v0: Tile[[128, 64], FP16, Right] = tile.move(y, target_memory=Right)
            c: Tile[[64, 64], FP32, Acc] = tile.matmul(l, t__tmp_v0)
            v: Tile[[64, 64], FP32, Vec, valid=[n, 64]] = tile.load(a, [0, 0], [64, 64], [n, 64], target_memory=Vec, clamp=false)
            tmp: Tile[[64, 64], FP32, Vec] = tile.create([64, 64], dtype=FP32, target_memory=Vec)
            s: Tile[[64, 1], FP32, Vec, valid=[n, 1]] = tile.row_sum(v, tmp)
            t__tmp_v1: Tile[[64, 1], FP32, Vec] = tile.load(a, [0, 0], [64, 1], [64, 1], target_memory=Vec, clamp=false)
            r: Tile[[1, 64], FP32, Vec] = tile.reshape(t__tmp_v1, [1, 64])
            m: Tile[[64, 32], UINT8, Vec, valid=[n, 8]] = tile.cmp(v, tmp, cmp_type=2)
        "#]],
    );
}

#[test]
fn inline_functions_are_put_in_place() {
    check_module(
        "
@pl.inline
def square(x):
    y = pl.mul(x, x)
    return y

@pl.function(type=pl.FunctionType.InCore)
def kernel(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 64])
    out = pl.store(square(x), [0, 0], out)
",
        expect![[r#"
            InCore kernel
                param a: Tensor[[64, 64], FP32]
                param out: Out Tensor[[64, 64], FP32]
                x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                y: Tile[[64, 64], FP32, Vec] = tile.mul(x, x)
                out.2: Out Tensor[[64, 64], FP32] = tile.store(y, [0, 0], out, atomic=0)
        "#]],
    );
}

#[test]
fn what_the_compiler_refuses() {
    check(
        "x = pl.load(a, [0, 0], [n, 64])",
        expect![[r#"
            x: ? = tile.load(a, [0, 0], [n, 64], [n, 64], target_memory=Vec, clamp=false)
            shape-not-constant: the shape of a tile must be constant, but `n` is known at run time only; use the largest shape here and the actual extent as `valid_shape`
        "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], TILE)
y = x + x",
        expect![[r#"
        x: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        rejected: `+` works on scalars, but this operand is a tile of [64, 128] FP32; write `pl.add(a, b)`
    "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], TILE)
x += 1",
        expect![[r#"
        x: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        rejected: the compiler does not accept `+=`; write `x = x + ...` for scalars, or an operation such as `pl.add` for tiles
    "#]],
    );
    check(
        "k = 3 if n > 4 else 2",
        expect![[r#"
        rejected: the compiler does not accept `a if c else b` in a kernel; write an `if` statement
    "#]],
    );
    check(
        "my__buffer = pl.load(a, [0, 0], TILE)",
        expect![[r#"
            my__buffer: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
            rejected: `my__buffer` contains `__`, which is reserved for the compiler; rename it
        "#]],
    );
    check(
        "x = pl.create_tile(TILE, dtype=pl.FP31)",
        expect![[r#"
            x: ? = tile.create([64, 128], dtype="FP31", target_memory=Vec)
            unknown-dtype: there is no element type `pl.FP31`; did you mean `pl.FP32`?
        "#]],
    );
    check(
        "x = pl.load(b, [0, 0], TILE, target_memory=pl.Mem.Left)",
        expect![[r#"
            x: Tile[[64, 128], FP16, Left, blayout=row_major, slayout=none_box] = tile.load(b, [0, 0], [64, 128], [64, 128], target_memory=Left, clamp=false)
            invalid-operand: a load goes to Vec or Mat only; load to Mat, then write `pl.move(tile, target_memory=pl.Mem.Left)`
        "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], TILE)
x = pl.load(a, [0, 0], [8, 8])",
        expect![[r#"
            x: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
            x.2: Tile[[8, 8], FP32, Vec] = tile.load(a, [0, 0], [8, 8], [8, 8], target_memory=Vec, clamp=false)
            rejected: cannot reassign `x` with a different type: was pl.Tile[[64, 128], pl.FP32, pl.Mem.Vec], got pl.Tile[[8, 8], pl.FP32, pl.Mem.Vec]; the shape differs. Give this value another name
        "#]],
    );
    check(
        "x = pl.reshape(pl.load(a, [0, 0], TILE), [64, 64])",
        expect![[r#"
        t__tmp_v0: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        x: ? = tile.reshape(t__tmp_v0, [64, 64])
        invalid-operand: `tile.reshape`: [64, 128] and [64, 64] do not have the same number of elements
    "#]],
    );
    check(
        "
for i in range(4):
    pass",
        expect![[r#"
        rejected: a loop runs over `pl.range`, `pl.parallel`, `pl.unroll`, `pl.pipeline` or `pl.while_`
    "#]],
    );
}

#[test]
fn tensors_have_windows_and_operations_of_their_own() {
    check(
        "
x = pl.full([64, 64], dtype=pl.FP32, value=0)
w = a[16:80, :64]
y = pl.add(w, x)
m = pl.row_max(y)
a[0:64, 0:64] = y
s = a[3, 4]",
        expect![[r#"
            x: Tensor[[64, 64], FP32] = tensor.full([64, 64], 0, dtype=FP32)
            w: Tensor[[64, 64], FP32] = tensor.slice(a, [64, 64], [16, 0])
            y: Tensor[[64, 64], FP32] = tile.add(w, x)
            m: Tensor[[64, 1], FP32] = tensor.row_max(y)
            a.2: Tensor[[512, 512], FP32] = tensor.assemble(a, y, [0, 0])
            s: Scalar[FP32] = tensor.read(a.2, [3, 4])
        "#]],
    );
}

#[test]
fn what_is_not_known_is_a_note() {
    check(
        "
x = pl.load(a, [0, 0], [SIZE, 64])
y = pl.exp(x)",
        expect![[r#"
            x: ? = tile.load(a, [0, 0], [<`SIZE` is not defined in this file>, 64], [<`SIZE` is not defined in this file>, 64], target_memory=Vec, clamp=false)
            not modelled: `SIZE` is not defined in this file
            not modelled: `SIZE` is not defined in this file
        "#]],
    );
    check(
        "
x = pl.paged_gather(a, b, a, 16, 64, 4)
y = pl.expand_clone(a, b)",
        expect![[r#"
            not modelled: `pl.paged_gather` on tensors
            not modelled: `pl.expand_clone` on tensors
        "#]],
    );
    check(
        "x = pl.load(a, [0, 0], TILE",
        expect![[r#"
        not modelled: the statement does not parse
    "#]],
    );
    check(
        "
x = helper(a)
y = pl.exp(x)",
        expect![[r#"
            not modelled: calls `helper`, which is not defined in this file
        "#]],
    );
}

#[test]
fn scopes_of_host_code_become_kernels() {
    check_module(
        "
@pl.program
class Scopes:
    @pl.function
    def main(self, a: pl.Tensor[[256, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]):
        mid = pl.create_tensor([256, 64], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            for i in pl.range(0, 256, 64):
                x = pl.load(a, [i, n], [64, 64])
                mid = pl.store(x, [i, 0], mid)
        for i in pl.spmd(4, name_hint='scale'):
            y = pl.load(mid, [i * 64, 0], [64, 64])
            out = pl.store(pl.mul(y, 2.0), [i * 64, 0], out)
        return out
",
        expect![[r#"
            InCore main_incore_0
                param mid: Out Tensor[[256, 64], FP32]
                param a: Tensor[[256, 64], FP32]
                param n: Scalar[INDEX]
                for i in range(0, 256, 64) (mid.2 = mid -> mid.3):
                    x: Tile[[64, 64], FP32, Vec] = tile.load(a, [i, n], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                    mid.4: Tensor[[256, 64], FP32] = tile.store(x, [i, 0], mid.2, atomic=0)
                    yield mid.4
                return mid.3
            InCore scale
                param mid: Tensor[[256, 64], FP32]
                param out: Out Tensor[[256, 64], FP32]
                i: Scalar[INDEX] = tile.get_block_idx()
                y: Tile[[64, 64], FP32, Vec] = tile.load(mid, [(i * 64), 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                t__tmp_v0: Tile[[64, 64], FP32, Vec] = tile.muls(y, 2.0)
                out.2: Out Tensor[[256, 64], FP32] = tile.store(t__tmp_v0, [(i * 64), 0], out, atomic=0)
                return out.2
        "#]],
    );
}

#[test]
fn blocks_that_host_code_launches() {
    check_module(
        "
@pl.jit
def none(a: pl.Tensor[[256, 64], pl.FP32]):
    for i in pl.spmd(2 - 2):
        a[i * 8 : i * 8 + 8, :] = pl.exp(a[i * 8 : i * 8 + 8, :])
    with pl.spmd(core_num=4.0, name_hint='part'):
        i = pl.tile.get_block_idx()
        a[i * 8 : i * 8 + 8, :] = pl.exp(a[i * 8 : i * 8 + 8, :])
    return a
",
        expect![[r#"
            InCore none_incore_0
                param a: Tensor[[256, 64], FP32]
                i: Scalar[INDEX] = tile.get_block_idx()
                t__tmp_v0: Tensor[[8, 64], FP32] = tensor.slice(a, [8, 64], [(i * 8), 0])
                t__tmp_v1: Tensor[[8, 64], FP32] = tile.exp(t__tmp_v0)
                a.2: Tensor[[256, 64], FP32] = tensor.assemble(a, t__tmp_v1, [(i * 8), 0])
                return a.2
                rejected: `pl.spmd` launches 0 blocks; it needs at least one
                rejected: `core_num` of `pl.spmd` must be an integer
            InCore part
                param a: Tensor[[256, 64], FP32]
                i: Scalar[INDEX] = tile.get_block_idx()
                t__tmp_v0: Tensor[[8, 64], FP32] = tensor.slice(a, [8, 64], [(i * 8), 0])
                t__tmp_v1: Tensor[[8, 64], FP32] = tile.exp(t__tmp_v0)
                a.2: Tensor[[256, 64], FP32] = tensor.assemble(a, t__tmp_v1, [(i * 8), 0])
                return a.2
        "#]],
    );
}

#[test]
fn constants_of_a_kernel_may_give_shapes() {
    check(
        "
k = 64
x = pl.load(a, [0, 0], [k, k * 2])",
        expect![[r#"
            k: Scalar[INDEX] = 64
            x: Tile[[64, 128], FP32, Vec] = tile.load(a, [0, 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        "#]],
    );
}

#[test]
fn a_loop_with_break_becomes_a_while_with_a_flag() {
    check(
        "x = pl.load(a, [0, 0], [64, 64])
        for i in pl.range(0, n):
            if i > 2:
                break
            out = pl.store(x, [i, 0], out)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            i: Scalar[INDEX] = 0
            break__tmp_v0: Scalar[BOOL] = false
            while ((i.2 < n) and not break__tmp_v0.2) (break__tmp_v0.2 = break__tmp_v0 -> break__tmp_v0.3, i.2 = i -> i.3, out.2 = out -> out.3):
                if (i.2 > 2) -> break__tmp_v0.5, out.5:
                    break__tmp_v0.4: Scalar[BOOL] = true
                    yield break__tmp_v0.4, out.2
                else:
                    out.4: Out Tensor[[512, 512], FP32] = tile.store(x, [i.2, 0], out.2, atomic=0)
                    yield break__tmp_v0.2, out.4
                if not break__tmp_v0.5 -> i.5:
                    i.4: Scalar[INDEX] = (i.2 + 1)
                    yield i.4
                else:
                    yield i.2
                yield break__tmp_v0.5, i.5, out.5
        "#]],
    );
}

#[test]
fn what_follows_a_continue_is_the_other_branch() {
    check(
        "x = pl.load(a, [0, 0], [64, 64])
        for i in pl.range(0, n):
            if i > 2:
                continue
            y = pl.exp(x)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            for i in range(0, n, 1):
                if (i > 2):
                else:
                    y: Tile[[64, 64], FP32, Vec] = tile.exp(x)
        "#]],
    );
}

#[test]
fn each_vector_unit_does_its_own_work() {
    check(
        "x = pl.tile.create([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            h = pl.aiv_shard(x)
            y = pl.exp(h)
            g = pl.aic_gather(y)
            out = pl.store(y, [unit * 32, 0], out)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Acc] = tile.create([64, 64], dtype=FP32, target_memory=Acc)
            unit: Scalar[INDEX] = tile.get_subblock_idx()
            h: Tile[[32, 64], FP32, Vec] = tile.aiv_shard(x, split=1)
            y: Tile[[32, 64], FP32, Vec] = tile.exp(h)
            g: Tile[[64, 64], FP32, Mat] = tile.aic_gather(y, split=1)
            out.2: Out Tensor[[512, 512], FP32] = tile.store(y, [(unit * 32), 0], out, atomic=0)
            rejected: `pl.split_aiv` divides a scope of host code, but this function is already a kernel; write it in `with pl.at(level=pl.Level.CORE_GROUP):` of a plain `@pl.function`
        "#]],
    );
}

#[test]
fn unrolled_scopes_are_a_kernel_each() {
    check_module(
        "@pl.function
def host(a: pl.Tensor[[128, 64], pl.FP32], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
    for i in pl.unroll(2):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"part\"):
            t = pl.load(a, [i * 64, 0], [64, 64])
            out = pl.store(t, [i * 64, 0], out)
    return out
",
        expect![[r#"
            InCore part
                param a: Tensor[[128, 64], FP32]
                param out: Out Tensor[[128, 64], FP32]
                t: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                out.2: Out Tensor[[128, 64], FP32] = tile.store(t, [0, 0], out, atomic=0)
                return out.2
            InCore part_0
                param a: Tensor[[128, 64], FP32]
                param out: Out Tensor[[128, 64], FP32]
                t: Tile[[64, 64], FP32, Vec] = tile.load(a, [64, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                out.2: Out Tensor[[128, 64], FP32] = tile.store(t, [64, 0], out, atomic=0)
                return out.2
        "#]],
    );
    check_module(
        "@pl.function
def host(a: pl.Tensor[[128, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
    for i in pl.unroll(n):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"part\"):
            t = pl.load(a, [i * 64, 0], [64, 64])
    return out
",
        expect![[r#"
            InCore part
                param a: Tensor[[128, 64], FP32]
                t: Tile[[64, 64], FP32, Vec] = tile.load(a, [<the index of `pl.unroll`>, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                not modelled: a scope in `pl.unroll`, because the compiler makes one kernel for each iteration
                not modelled: the index of `pl.unroll`
        "#]],
    );
}

#[test]
fn attributes_of_a_function_are_not_ignored() {
    check_module(
        "@pl.function(type=pl.FunctionType.InCore, attrs={\"split\": pl.SplitMode.UP_DOWN, \"core_num\": 4, \"surprise\": 1})
def k(a: pl.Tensor[[64, 64], pl.FP32]):
    t = pl.load(a, [0, 0], [64, 64])
",
        expect![[r#"
            InCore k
                param a: Tensor[[64, 64], FP32]
                t: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
                not modelled: the attribute `surprise` of a function
        "#]],
    );
}

/// The kernel that the listings of PyPTO's design of its generator begin with (`docs/reference/codegen.md`).
#[test]
fn a_sketch_without_decorator_is_a_kernel() {
    check_module(
        "def simple_add(x: Tensor([128, 64], FP32), y: Tensor([128, 64], FP32)) -> Tensor([128, 64], FP32):
    tile_x = block.load(x, 0, 0, 128, 64)
    tile_y = block.load(y, 0, 0, 128, 64)
    sync.set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0)
    sync.wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0)
    tile_z = block.add(tile_x, tile_y)
    result = block.store(tile_z, 0, 0, 128, 64, output)
    sums = block.sum(tile_z, axis=0)
    return result

def plain(x: Tensor([1], 2)):
    return x.block(3)
",
        expect![[r#"
            InCore simple_add
                param x: Tensor[[128, 64], FP32]
                param y: Tensor[[128, 64], FP32]
                tile_x: Tile[[128, 64], FP32, Vec] = tile.load(x, [0, 0], [128, 64], [128, 64], target_memory=Vec, clamp=false)
                tile_y: Tile[[128, 64], FP32, Vec] = tile.load(y, [0, 0], [128, 64], [128, 64], target_memory=Vec, clamp=false)
                tile_z: Tile[[128, 64], FP32, Vec] = tile.add(tile_x, tile_y)
                result: ? = tile.store(tile_z, [0, 0], <`output` is not defined in this file>, atomic=0)
                sums: Tile[[1, 64], FP32, Vec] = tile.col_sum(tile_z)
                return result
                not modelled: `output` is not defined in this file
        "#]],
    );
}

/// `block.sum` of that design; `tile.sum` in kernels of the time after.
#[test]
fn a_sum_along_an_axis_is_a_reduction_of_rows_or_columns() {
    check(
        "x = pl.load(a, [0, 0], [64, 64])
rows = pl.tile.sum(x, axis=1, keepdim=True)
columns = pl.tile.max(x, axis=-2, keepdim=True)
flat = pl.tile.sum(x, 0)
which = pl.tile.sum(x, axis=n)
none = pl.tile.sum(x)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Vec] = tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=Vec, clamp=false)
            rows: Tile[[64, 1], FP32, Vec] = tile.row_sum(x)
            columns: Tile[[1, 64], FP32, Vec] = tile.col_max(x)
            t__tmp_v0: Tile[[1, 64], FP32, Vec] = tile.col_sum(x)
            flat: Tile[[64], FP32, Vec] = tile.reshape(t__tmp_v0, [64])
            not modelled: `tile.sum` belongs to an earlier version and is read as `pl.tile.row_sum`
            not modelled: `tile.max` belongs to an earlier version and is read as `pl.tile.col_max`
            not modelled: `tile.sum` belongs to an earlier version and is read as `pl.tile.col_sum`
            invalid-operand: `tile.sum` needs a tile with rows and columns and a constant `axis`: 0 reduces each column, 1 each row
            invalid-operand: `tile.sum` needs a tile with rows and columns and a constant `axis`: 0 reduces each column, 1 each row
        "#]],
    );
}

#[test]
fn a_load_could_exchange_rows_and_columns() {
    check(
        "x = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat, transpose=True)",
        expect![[r#"
            x: Tile[[64, 64], FP32, Mat, blayout=row_major, slayout=col_major] = tile.load(a, [0, 0], [64, 64], [64, 64], transpose=true, target_memory=Mat, clamp=false)
            not modelled: `transpose` of `tile.load` belongs to an earlier version and is read as it was then: rows and columns are exchanged
        "#]],
    );
}

#[test]
fn operations_on_tensors_may_take_other_arguments() {
    check(
        "out = pl.scatter_update(a, -2, b, out)",
        expect![[r#"
        out.2: ? = tile.scatter_update(a, b, out, dim=-2)
        invalid-operand: `tensor.scatter_update` requires `index` (`b`) of an integer dtype, but got FP16; `pl.cast(b, pl.INT32)` converts it
    "#]],
    );
}

#[test]
fn an_integer_literal_has_the_type_of_the_elements_beside_it() {
    check(
        "
t = pl.load(b, [0, 0], [16, 64])
x = pl.expands(t, 3)
y = pl.addsc(t, 1, t)
z = pl.expands(t, 0.5)",
        expect![[r#"
            t: Tile[[16, 64], FP16, Vec] = tile.load(b, [0, 0], [16, 64], [16, 64], target_memory=Vec, clamp=false)
            x: Tile[[16, 64], FP16, Vec] = tile.expands(t, 3)
            y: Tile[[16, 64], FP16, Vec] = tile.addsc(t, 1, t)
            z: Tile[[16, 64], FP32, Vec] = tile.expands(t, 0.5)
        "#]],
    );
}
