//! What the compiler's front end says of a call's operands, one call at a time. The compiler (PyPTO e2d0f78ae) was asked about each.

use expect_test::{Expect, expect};
use tilefit_pypto::lower::Module;

/// `calls`: the operands `a`, `b` and `c` by their types, then a call; one a line.
fn check(on_tiles: bool, calls: &str, expect: Expect) {
    let mut said = String::new();
    for line in calls.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (types, call) = line.split_once("| ").unwrap_or(("", line));
        said += &format!("{call}: {}\n", refusal(on_tiles, types, call).unwrap_or_else(|| "accepted".to_owned()));
    }
    expect.assert_eq(&said);
}

fn refusal(on_tiles: bool, types: &str, call: &str) -> Option<String> {
    let operands: Vec<(&str, &str, &str)> = types
        .split(';')
        .filter_map(|ty| ty.trim().split_once(' '))
        .zip(["a", "b", "c"])
        .map(|((dtype, shape), name)| (name, dtype, shape))
        .collect();
    let params: String =
        operands.iter().map(|(name, dtype, shape)| format!(", {name}_in: pl.Tensor[{shape}, pl.{dtype}]")).collect();
    let zeros = |shape: &str| format!("[{}]", vec!["0"; shape.split(',').count()].join(", "));
    let reads = operands.iter().map(|(name, _, shape)| match on_tiles {
        true => format!("{name} = pl.load({name}_in, {}, {shape})", zeros(shape)),
        false => format!("{name} = pl.slice({name}_in, {shape}, {})", zeros(shape)),
    });
    let indent = if on_tiles { "        " } else { "            " };
    let body: String = reads.chain([format!("r = {call}")]).map(|line| format!("{indent}{line}\n")).collect();
    let (kind, scope) = match on_tiles {
        true => ("(type=pl.FunctionType.InCore)", ""),
        false => ("", "        with pl.at(level=pl.Level.CORE_GROUP):\n"),
    };
    let scalars = "n: pl.Scalar[pl.INDEX], i: pl.Scalar[pl.INT32], f: pl.Scalar[pl.FP32]";
    let text = format!("class P:\n    @pl.function{kind}\n    def k(self{params}, {scalars}):\n{scope}{body}");
    Module::new(&text)
        .kernels()
        .into_iter()
        .flat_map(|kernel| kernel.rejections)
        .next()
        .map(|rejection| rejection.message)
}

#[test]
fn element_types() {
    check(
        true,
        "
        BF16 [16, 64]; BF16 [16, 64]| pl.div(a, b)
        FP32 [16, 64]; FP16 [16, 64]| pl.div(a, b)
        FP32 [16, 64]; FP16 [16, 64]| pl.add(a, b)
        FP16 [16, 64]| pl.sin(a)
        FP32 [16, 64]; INT32 [16, 64]| pl.and_(a, b)
        FP32 [16, 64]; FP16 [16, 64]| pl.row_max(a, b)
        FP32 [16, 64]; FP32 [16, 32]| pl.row_max(a, b)
        FP32 [16, 64]| pl.cast(a, pl.FP32)
        INT32 [16, 64]| pl.div(a, a, high_precision=True)
        FP16 [16, 64]; FP16 [64, 32]; FP16 [16, 32]| pl.matmul_acc(c, a, b)
        ",
        expect![[r#"
            pl.div(a, b): `tile.div` requires `lhs` (`a`) of dtype in {INT16, INT32, FP16, FP32}, but got BF16; `pl.cast(a, pl.FP32)` converts it
            pl.div(a, b): `tile.div` requires `lhs` (`a`) and `rhs` (`b`) to have the same dtype, but got FP32 and FP16; `pl.cast(b, pl.FP32)` converts it
            pl.add(a, b): accepted
            pl.sin(a): `tile.sin` requires `tile` (`a`) of dtype FP32, but got FP16; `pl.cast(a, pl.FP32)` converts it
            pl.and_(a, b): `tile.and` requires `lhs` (`a`) of an integer dtype, but got FP32; `pl.cast(a, pl.INT32)` converts it
            pl.row_max(a, b): `tile.row_max` requires `tmp_tile` (`b`) and `tile` (`a`) to have the same dtype, but got FP16 and FP32; make the scratch tile of FP32
            pl.row_max(a, b): `tile.row_max` requires `tmp_tile` (`b`) to be at least as large as `tile` (`a`) in every axis, but got [16, 32] and [16, 64]
            pl.cast(a, pl.FP32): `tile.cast` requires another `target_type` than the dtype of `tile` (`a`), which is FP32 already; remove the cast
            pl.div(a, a, high_precision=True): `tile.div` requires `lhs` (`a`) of a floating-point dtype with `high_precision`, but got INT32; leave `high_precision` out
            pl.matmul_acc(c, a, b): `tile.matmul_acc` requires `acc` (`c`) of FP32, in which products of FP16 accumulate, but got FP16
        "#]],
    );
}

#[test]
fn a_number_takes_the_type_of_the_tile_unless_it_has_one() {
    check(
        true,
        "
        FP32 [16, 64]| pl.add(a, 2)
        FP32 [16, 64]| pl.add(a, n)
        FP32 [16, 64]| pl.add(a, n + 1)
        FP32 [16, 64]| pl.add(a, i)
        INT32 [16, 64]| pl.ands(a, 3)
        INT32 [16, 64]| pl.ands(a, 3.0)
        INT32 [16, 64]| pl.write(a, [0, 0], 1)
        INT32 [16, 64]| pl.write(a, [0, 0], pl.const(1, pl.INT32))
        INT32 [16, 64]| pl.write(a, [0, 0], pl.cast(n, pl.INT32))
        FP32 [16, 64]| pl.write(a, [0, 0], 1.0)
        FP32 [16, 64]| pl.write(a, [0], 1.0)
        FP32 [16, 64]| pl.slice(a, [8, 64], [i, 0])
        ",
        expect![[r#"
            pl.add(a, 2): accepted
            pl.add(a, n): `tile.adds` requires `rhs` (`n`) of another dtype than INDEX; convert it: `pl.cast(..., pl.INT32)`
            pl.add(a, n + 1): `tile.adds` requires `rhs` of another dtype than INDEX; convert it: `pl.cast(..., pl.INT32)`
            pl.add(a, i): accepted
            pl.ands(a, 3): accepted
            pl.ands(a, 3.0): `tile.ands` requires `rhs` of an integer dtype, but got FP32; write `pl.const(3.0, pl.INT32)`
            pl.write(a, [0, 0], 1): `tile.write` requires `value` and `tile` (`a`) to have the same dtype, but got INDEX and INT32; write `pl.const(1, pl.INT32)`
            pl.write(a, [0, 0], pl.const(1, pl.INT32)): accepted
            pl.write(a, [0, 0], pl.cast(n, pl.INT32)): accepted
            pl.write(a, [0, 0], 1.0): accepted
            pl.write(a, [0], 1.0): `tile.write` requires one index for each of the 2 axes of `tile` (`a`), but got 1
            pl.slice(a, [8, 64], [i, 0]): `tile.slice` requires each number of a list of dtype in {INT64, UINT64, INDEX}, but number 0 is INT32; `pl.cast(..., pl.INDEX)` converts it
        "#]],
    );
}

#[test]
fn tensors_have_rules_of_their_own() {
    check(
        false,
        "
        FP32 [16, 64]; FP16 [16, 1]| pl.row_expand_add(a, b)
        FP32 [16, 64]; FP32 [16, 32]| pl.add(a, b)
        INT32 [16, 64]; INT32 [16, 1]| pl.and_(a, b)
        BF16 [16, 64]| pl.row_min(a)
        FP16 [16, 64]; FP16 [32, 64]| pl.matmul(a, b)
        FP16 [16, 64]; FP16 [32, 64]| pl.matmul(a, b, b_trans=True)
        FP16 [16, 64]; FP16 [64, 32]; FP32 [16, 16]| pl.matmul_acc(c, a, b)
        BF16 [16, 64]| pl.cast(pl.mul(a, 0.5), pl.FP32)
        BF16 [16, 64]| pl.cast(pl.mul(a, 2), pl.FP32)
        INT32 [16, 64]| pl.cast(pl.exp(a), pl.FP32)
        ",
        expect![[r#"
            pl.row_expand_add(a, b): `tensor.row_expand_add` requires `tile` (`a`) and `row_vec` (`b`) to have the same dtype, but got FP32 and FP16; `pl.cast(b, pl.FP32)` converts it
            pl.add(a, b): `tensor.add` requires `lhs` (`a`) and `rhs` (`b`) to have compatible shapes, equal or 1 in every axis, but got [16, 64] and [16, 32]
            pl.and_(a, b): `tensor.and` requires `lhs` (`a`) and `rhs` (`b`) to have the same shape, but got [16, 64] and [16, 1]
            pl.row_min(a): `tensor.row_min` requires `input` (`a`) of dtype in {INT16, INT32, FP16, FP32}, but got BF16; `pl.cast(a, pl.FP32)` converts it
            pl.matmul(a, b): `tensor.matmul` requires `lhs` (`a`) and `rhs` (`b`) to have matching inner dimensions, but got lhs K=64 and rhs K=32
            pl.matmul(a, b, b_trans=True): accepted
            pl.matmul_acc(c, a, b): `tensor.matmul_acc` requires `acc` (`c`) to have the extents of the product, [16, 32], but got [16, 16]
            pl.cast(pl.mul(a, 0.5), pl.FP32): `tensor.cast` requires another `target_type` than the dtype of `tile`, which is FP32 already; remove the cast
            pl.cast(pl.mul(a, 2), pl.FP32): accepted
            pl.cast(pl.exp(a), pl.FP32): `tensor.cast` requires another `target_type` than the dtype of `tile`, which is FP32 already; remove the cast
        "#]],
    );
}

#[test]
fn arguments_as_the_function_names_them() {
    check(
        true,
        "
        FP32 [16, 64]| pl.exp(input=a)
        FP32 [16, 64]| pl.exp(tile=a)
        FP32 [16, 64]| pl.tile.exp(tile=a)
        FP32 [16, 64]| pl.exp(a, a)
        FP32 [16, 64]| pl.add(a)
        FP32 [16, 64]| pl.add(2, a)
        FP32 [16, 64]| pl.add(a, other=a)
        FP32 [16, 64]| pl.tile.move(a, memory=pl.Mem.Mat)
        FP32 [16, 64]| pl.cmp(a, a, 3)
        FP32 [16, 64]| pl.cmp(a, a, cmp_type=3)
        FP32 [16, 64]| pl.tile.full([16, 64], pl.FP32, 0.0)
        FP32 [16, 64]| pl.rsqrt(a, high_precision=True)
        ",
        expect![[r#"
            pl.exp(input=a): accepted
            pl.exp(tile=a): `pl.exp` has no parameter `tile`; it has input
            pl.tile.exp(tile=a): accepted
            pl.exp(a, a): `pl.exp` takes at most 1 positional arguments, but got 2
            pl.add(a): `pl.add` needs `rhs`
            pl.add(2, a): `pl.add` takes a tile or a tensor, but its first operand is a scalar of type INDEX
            pl.add(a, other=a): `pl.add` has no parameter `other`; it has lhs, rhs
            pl.tile.move(a, memory=pl.Mem.Mat): `tile.move` has no parameter `memory`; it has tile, target_memory, blayout, slayout
            pl.cmp(a, a, 3): `cmp_type` of `pl.cmp` must be a keyword argument; write `cmp_type=...`
            pl.cmp(a, a, cmp_type=3): accepted
            pl.tile.full([16, 64], pl.FP32, 0.0): `value` of `pl.tile.full` must be a keyword argument; write `value=...`
            pl.rsqrt(a, high_precision=True): `high_precision` of `pl.rsqrt` is for tensors, but this is a tile
        "#]],
    );
}

#[test]
fn scalars_are_combined_with_their_kind() {
    check(
        true,
        "
        n + i
        n + f
        n + 1.5
        f < 1
        (n < 3) + 1
        f << 1
        ~f
        +n
        pl.max(n, 3.0)
        (n < 3) and (f > 1.0)
        ",
        expect![[r#"
            n + i: accepted
            n + f: `+` requires two integers or two floating-point numbers, but got INDEX and FP32; `pl.cast(..., pl.FP32)` converts one of them
            n + 1.5: `+` requires two integers or two floating-point numbers, but got INDEX and FP32; `pl.cast(..., pl.FP32)` converts one of them
            f < 1: `<` requires two integers or two floating-point numbers, but got FP32 and INDEX; write `1.0`
            (n < 3) + 1: `+` requires two numbers, but got BOOL and INDEX
            f << 1: `<<` requires two integers, but got FP32 and INDEX; write `1.0`
            ~f: `~` requires an integer, but got FP32
            +n: the compiler does not accept a leading `+` in a kernel; remove it
            pl.max(n, 3.0): `pl.max` requires two integers or two floating-point numbers, but got INDEX and FP32; `pl.cast(..., pl.FP32)` converts one of them
            (n < 3) and (f > 1.0): accepted
        "#]],
    );
}

#[test]
fn what_is_selected_has_the_type_of_the_elements_unless_it_is_a_constant() {
    check(
        true,
        "
        UINT8 [16, 32]; FP16 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, f)
        UINT8 [16, 32]; FP16 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, pl.cast(f, pl.FP16))
        UINT8 [16, 32]; FP16 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, pl.const(1.0, pl.FP32))
        UINT8 [16, 32]; FP32 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, f * 2.0)
        UINT8 [16, 32]; INT32 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, i)
        UINT8 [16, 32]; UINT8 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, pl.cast(i, pl.UINT8))
        UINT8 [16, 32]; UINT8 [16, 256]; UINT8 [1, 32]| pl.sels(a, b, c, pl.cast(i, pl.INT8))
        ",
        expect![[r#"
            pl.sels(a, b, c, f): `tile.sels` requires `scalar` (`f`) of FP16 for elements of FP16, but got FP32; `pl.cast(f, pl.FP16)` converts it
            pl.sels(a, b, c, pl.cast(f, pl.FP16)): accepted
            pl.sels(a, b, c, pl.const(1.0, pl.FP32)): accepted
            pl.sels(a, b, c, f * 2.0): accepted
            pl.sels(a, b, c, i): accepted
            pl.sels(a, b, c, pl.cast(i, pl.UINT8)): `tile.sels` requires `scalar` of INT8 for elements of UINT8, but got UINT8; `pl.cast(..., pl.INT8)` converts it
            pl.sels(a, b, c, pl.cast(i, pl.INT8)): accepted
        "#]],
    );
}
