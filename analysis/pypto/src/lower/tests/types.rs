//! What the compiler's front end refuses by the types of values.

use expect_test::{Expect, expect};

use super::Module;

/// Lowers the body of a kernel and shows what is refused, with what is said of other places.
fn check(body: &str, expect: Expect) {
    let signature = "    def k(a: pl.Tensor[[512, 512], pl.FP32], n: pl.Scalar[pl.INT64], i: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):\n";
    let body: String = body.lines().map(|line| format!("        {}\n", line.trim_end())).collect();
    let text = format!("class P:\n    @pl.function(type=pl.FunctionType.InCore)\n{signature}{body}");
    let kernels = Module::new(&text).kernels().into_iter();
    let mut said = String::new();
    for rejection in kernels.flat_map(|kernel| kernel.rejections) {
        said += &format!("{}: {}\n", rejection.code, rejection.message);
        rejection.related.iter().for_each(|(_, message)| said += &format!("    {message}\n"));
    }
    expect.assert_eq(&said);
}

#[test]
fn a_name_has_one_type() {
    let load = "x = pl.load(a, [0, 0], [64, 64])\n";
    check(
        &format!("{load}x = pl.set_validshape(x, 32, n)"),
        expect![[r#"
            rejected: cannot reassign `x` with a different type: was pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[32, n])]; the valid shape differs. Give this value another name
                `x` gets its type here: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    check(
        &format!("{load}y = pl.fillpad(x)\nx = pl.exp(y)"),
        expect![[r#"
            rejected: cannot reassign `x` with a different type: was pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.zero)]; the padding differs. Give this value another name
                `x` gets its type here: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    check(
        &format!("{load}x = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)"),
        expect![[r#"
            rejected: cannot reassign `x` with a different type: was pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Mat]; the memory differs. Give this value another name
                `x` gets its type here: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], [1, 64])
y = pl.load(a, [0, 0], [64, 64])
y = pl.add(x, y)",
        expect![[r#"
            rejected: cannot reassign `y` with a different type: was pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[1, 64])]; the valid shape differs. Give this value another name
                `y` gets its type here: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    check(
        "
s = 0
s = n",
        expect![[r#"
            rejected: cannot reassign `s` with a different type: was pl.Scalar[pl.INDEX], got pl.Scalar[pl.INT64]; the element type differs. Give this value another name
                `s` gets its type here: pl.Scalar[pl.INDEX]
        "#]],
    );
    check(
        "out = pl.load(a, [0, 0], [64, 64])",
        expect![[r#"
            rejected: cannot reassign `out` with a different type: was pl.Tensor[[512, 512], pl.FP32], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]; the kind of value differs. Give this value another name
                `out` gets its type here: pl.Tensor[[512, 512], pl.FP32]
        "#]],
    );
}

#[test]
fn what_says_the_same_is_one_type() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64], valid_shape=[pl.min(n, 64), 64])
x = pl.set_validshape(x, pl.min(n, 64), 64)
y = pl.load(a, [0, 0], [64, 64])
y = pl.set_validshape(y, 64, 64)
y = pl.add(y, x)
s = 0
s = s + n
s = pl.tile.get_block_idx()",
        expect![""],
    );
}

#[test]
fn loops_and_branches_hand_on_one_type() {
    let load = "x = pl.load(a, [0, 0], [64, 64])\n";
    let carried = |value: &str| {
        format!(
            "
{load}for j, (c,) in pl.range(4, init_values=(x,)):
    d = {value}
    e = pl.yield_(d)"
        )
    };
    check(
        &carried("pl.set_validshape(c, 32, 64)"),
        expect![[r#"
            rejected: the loop carries `c` as pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], but yields pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[32, 64])]; the valid shape must be the same in each iteration
                `c` starts as pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    check(
        &carried("pl.cast(c, pl.FP16)"),
        expect![[r#"
            rejected: the loop carries `c` as pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec], but yields pl.Tile[[64, 64], pl.FP16, pl.Mem.Vec]; the element type must be the same in each iteration
                `c` starts as pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]
        "#]],
    );
    // Padding counts where both state it.
    check(&carried("pl.fillpad(c)"), expect![""]);
    check(
        &format!(
            "
{load}if n > 4:
    y = pl.set_validshape(x, 32, 64)
    z = pl.yield_(y)
else:
    z = pl.yield_(x)"
        ),
        expect![[r#"
            rejected: the branches yield values of different types to `z`: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[32, 64])] and pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]; the valid shape must be the same
                the other branch yields pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[32, 64])]
        "#]],
    );
}

#[test]
fn windows_end_where_their_source_does() {
    check(
        "x = pl.load(a, [480, 0], [64, 64])",
        expect![[r#"
        invalid-operand: `tile.load`: reads past the end of dimension 0: offset 480 + extent 64 exceeds the source extent 512; pass the available extent as `valid_shape`, or `clamp=True` to stop at the edge
    "#]],
    );
    check("x = pl.load(a, [480, 0], [64, 64], valid_shape=[32, 64])", expect![""]);
    check("x = pl.load(a, [n, 0], [64, 64])", expect![""]);
    check(
        "x = pl.load(a, [0, 0], [64, 64], valid_shape=[65, 64])",
        expect![[r#"
        invalid-operand: `tile.load`: `valid_shape` 0 is 65, which exceeds the window's extent 64; a valid part cannot be larger than the shape that holds it
    "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
y = pl.slice(x, [32, 64], [48, 0])",
        expect![[r#"
        invalid-operand: `tile.slice`: reads past the end of dimension 0: offset 48 + extent 32 exceeds the source extent 64; keep offset + shape inside it
    "#]],
    );
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
out = pl.store(x, [0, 480], out)",
        expect![[r#"
        invalid-operand: `tile.store`: writes past the end of dimension 1: offset 480 + extent 64 exceeds the target extent 512
    "#]],
    );
}

#[test]
fn data_stays_a_rectangle() {
    let target = |valid: &str| {
        format!("x = pl.load(a, [0, 0], [64, 64], valid_shape={valid})\ny = pl.load(a, [0, 0], [16, 64])\n")
    };
    check(
        &(target("[16, 64]")
            + "
z = pl.assemble(x, y, [16, 0])
x = pl.exp(z)"),
        expect![[r#"
            rejected: cannot reassign `x` with a different type: was pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[16, 64])], got pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[32, 64])]; the valid shape differs. Give this value another name
                `x` gets its type here: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[16, 64])]
        "#]],
    );
    check(
        &(target("[16, 64]") + "z = pl.assemble(x, y, [32, 0])"),
        expect![[r#"
            invalid-operand: `tile.assemble`: leaves a gap in dimension 0: the write starts at 32, but the target holds data up to 16; write the adjoining part first
        "#]],
    );
    check(
        &(target("[32, 32]") + "z = pl.assemble(x, y, [16, 0])"),
        expect![[r#"
            invalid-operand: `tile.assemble`: grows dimension 1, so it must span dimension 0 from the origin, but it starts at 16: the data would not form a rectangle
        "#]],
    );
    check(&(target("[8, 32]") + "z = pl.assemble(x, y, [0, 0])"), expect![""]);
    check(
        &(target("[8, 32]") + "z = pl.assemble(x, y, [4, 0])"),
        expect![[r#"
            invalid-operand: `tile.assemble`: grows the valid part along dimensions 0 and 1 at once: data in [8, 32] of the target and [16, 64] at [4, 0] do not form a rectangle; write one side first
        "#]],
    );
}

#[test]
fn partly_valid_tiles_are_reshaped_whole_rows() {
    let reshaped = |valid: &str, shape: &str| {
        format!("x = pl.load(a, [0, 0], [8, 64], valid_shape={valid})\ny = pl.reshape(x, {shape})")
    };
    check(&reshaped("[4, 64]", "[2, 256]"), expect![""]);
    check(&reshaped("[3, 64]", "[2, 256]"), expect![""]);
    check(
        &reshaped("[8, 32]", "[4, 128]"),
        expect![[r#"
        invalid-operand: `tile.reshape`: cannot reshape [8, 64] to [4, 128] because only part of it holds data (valid shape [8, 32]) and the data is scattered over its memory instead of filling it from the start; reshape all of it and narrow the result, or copy the data out first
    "#]],
    );
    check(
        &reshaped("[n, 64]", "[2, 256]"),
        expect![[r#"
        invalid-operand: `tile.reshape`: cannot reshape [8, 64] to [2, 256] because only part of it holds data (valid shape [n, 64]) and how many rows hold data is known at run time only, and the new shape has no dimension with rows of that size; reshape all of it and narrow the result, or copy the data out first
    "#]],
    );
}

#[test]
fn valid_extents_are_integers_of_64_bits() {
    let load = "x = pl.load(a, [0, 0], [64, 64])\n";
    check(
        &format!("{load}y = pl.set_validshape(x, i, 64)"),
        expect![[r#"
            invalid-operand: `tile.set_validshape` requires `valid_rows` (`i`) of dtype in {INT64, UINT64, INDEX}, but got INT32; `pl.cast(i, pl.INT64)` converts it
        "#]],
    );
    check(
        &format!("{load}y = pl.set_validshape(x, 65, 64)"),
        expect![[r#"
        invalid-operand: `tile.set_validshape`: `valid_rows` is 65, but must be from 0 to 64, the extent of the tile there
    "#]],
    );
    check(&format!("{load}y = pl.set_validshape(x, pl.min(i, 64), n)"), expect![""]);
}

#[test]
fn operands_hold_data_where_it_is_needed() {
    let loads = "
x = pl.load(a, [0, 0], [64, 64], valid_shape=[32, 64])
y = pl.load(a, [0, 0], [64, 64])
";
    check(
        &format!("{loads}z = pl.div(x, y)"),
        expect![[r#"
            invalid-operand: `tile.div` requires `lhs` (`x`) and `rhs` (`y`) to have the same valid shape, but got [32, 64] and [64, 64]
        "#]],
    );
    check(&format!("{loads}z = pl.add(x, y)"), expect![""]);
    check(
        "
x = pl.load(a, [0, 0], [64, 64], valid_shape=[0, 64])
z = pl.row_sum(x, x)",
        expect![[r#"
        invalid-operand: `tile.row_sum`: the operand holds no data: its valid extent on axis 0 is 0
    "#]],
    );
    let acc = "
b = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
h = pl.load(a, [0, 0], [64, 64], [32, 64], target_memory=pl.Mem.Mat)
";
    check(
        &format!("{acc}c = pl.matmul(h, b)\nd = pl.matmul_acc(c, b, b)"),
        expect![[r#"
        invalid-operand: `tile.matmul_acc`: the product is valid in 64 rows, and the accumulator only in 32
    "#]],
    );
    check(&format!("{acc}c = pl.matmul(b, b)\nd = pl.matmul_acc(c, h, b)"), expect![""]);
}

#[test]
fn indices_are_not_negative() {
    check(
        "
for j in pl.range(4):
    x = pl.load(a, [512 + j, 0], [64, 64])",
        expect![[r#"
        invalid-operand: `tile.load`: reads past the end of dimension 0: offset 512 + j + extent 64 exceeds the source extent 512; pass the available extent as `valid_shape`, or `clamp=True` to stop at the edge
    "#]],
    );
    check(
        "
for j in pl.range(4):
    x = pl.load(a, [448 + j, 0], [64, 64])",
        expect![""],
    );
    check("x = pl.load(a, [512 + n, 0], [64, 64])", expect![""]);
}

#[test]
fn what_a_loop_carries_is_lost_in_unrolled_loops() {
    let body = |inner: &str| {
        format!(
            "
x = pl.load(a, [0, 0], [64, 64])
for j, (c,) in pl.range(4, init_values=(x,)):
{inner}    d = pl.exp(c)
    e = pl.yield_(d)"
        )
    };
    check(
        &body(
            "
    for u in pl.unroll(2):
        y = pl.abs(c)
",
        ),
        expect![[r#"
            rejected: `c` is carried by a loop around `pl.unroll`, and the compiler refuses to use it inside ("used outside its defining scope"); write `copy = c` before `pl.unroll` and use `copy`
                `c` is carried from here
        "#]],
    );
    check(
        &body(
            "
    for u in pl.unroll(0):
        y = pl.abs(c)
",
        ),
        expect![""],
    );
    check(
        &body(
            "
    copy = c
    for u in pl.unroll(2):
        y = pl.abs(copy)
",
        ),
        expect![""],
    );
}

/// Lowers a scope of a `@pl.program` and shows what is refused and what is not followed.
fn check_scope(body: &str, expect: Expect) {
    let body: String = body.lines().map(|line| format!("            {}\n", line.trim_end())).collect();
    let signature = "    def k(self, x: pl.Tensor[[16, 8], pl.FP32], y: pl.Tensor[[8, 16], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):\n        with pl.at(level=pl.Level.CORE_GROUP):\n";
    let text = format!("class P:\n    @pl.function\n{signature}{body}");
    let mut said = String::new();
    for kernel in Module::new(&text).kernels() {
        kernel.rejections.iter().for_each(|rejection| said += &format!("{}: {}\n", rejection.code, rejection.message));
        kernel.notes.iter().for_each(|note| said += &format!("not modelled: {}\n", note.reason));
    }
    expect.assert_eq(&said);
}

#[test]
fn a_transposed_tensor_has_another_layout() {
    check_scope(
        "v = pl.transpose(x, 0, 1)\nv = pl.add(y, 1.0)",
        expect![[r#"
        rejected: cannot reassign `v` with a different type: was pl.Tensor[[8, 16], pl.FP32] (transposed), got pl.Tensor[[8, 16], pl.FP32]; the layout differs. Give this value another name
    "#]],
    );
    check_scope("v = pl.transpose(x, 0, 1)\nv = pl.transpose(x, -2, -1)", expect![[""]]);
    // What is computed of it is stored row by row, and twice the same exchange is none.
    check_scope("v = pl.exp(pl.transpose(x, 0, 1))\nv = pl.add(y, 1.0)", expect![[""]]);
    check_scope("v = pl.transpose(pl.transpose(y, 0, 1), 0, 1)\nv = pl.add(y, 1.0)", expect![[""]]);
}

#[test]
fn a_tensor_that_is_valid_in_part_keeps_its_name_for_that_part() {
    let part = "v = pl.slice(y, [8, 16], [0, 0], valid_shape=[8, 15])\n";
    check_scope(
        &format!("{part}if n > 0:\n    v = pl.abs(v)"),
        expect![[r#"
        not modelled: nothing reads the results of this scope at the end of its function, so the compiler returns all of them
    "#]],
    );
    check_scope(
        &format!("{part}v = pl.maximum(v, y)"),
        expect![[r#"
        rejected: cannot reassign `v` with a different type: was pl.Tensor[[8, 16], pl.FP32] (valid in [8, 15]), got pl.Tensor[[8, 16], pl.FP32]; the valid shape differs. Give this value another name
    "#]],
    );
    check_scope(&format!("{part}v = pl.maximum(v, v)"), expect![[""]]);
    check_scope(
        &format!("{part}v = pl.part_max(v, v)"),
        expect![[r#"
        rejected: cannot reassign `v` with a different type: was pl.Tensor[[8, 16], pl.FP32] (valid in [8, 15]), got pl.Tensor[[8, 16], pl.FP32]; the valid shape differs. Give this value another name
    "#]],
    );
    check_scope(
        &format!("{part}v = pl.fillpad(v)"),
        expect![[r#"
        rejected: cannot reassign `v` with a different type: was pl.Tensor[[8, 16], pl.FP32] (valid in [8, 15]), got pl.Tensor[[8, 16], pl.FP32]; the valid shape differs. Give this value another name
    "#]],
    );
    check_scope(
        &format!("{part}v = pl.col_expand_mul(v, y[0:1, :])"),
        expect![[r#"
        rejected: cannot reassign `v` with a different type: was pl.Tensor[[8, 16], pl.FP32] (valid in [8, 15]), got pl.Tensor[[8, 16], pl.FP32]; the valid shape differs. Give this value another name
    "#]],
    );
    // The sum of each row is valid in all of its column, one of eight rows valid at run time is not.
    check_scope(&format!("{part}s = pl.row_sum(y)\ns = pl.row_sum(v)"), expect![[""]]);
    let rows = "v = pl.slice(y, [8, 16], [0, 0], valid_shape=[n, 16])\n";
    check_scope(
        &format!("{rows}s = pl.row_sum(y)\ns = pl.row_sum(v)"),
        expect![[r#"
        rejected: cannot reassign `s` with a different type: was pl.Tensor[[8, 1], pl.FP32], got pl.Tensor[[8, 1], pl.FP32] (valid in [n, 1]); the valid shape differs. Give this value another name
    "#]],
    );
    check_scope(
        &format!(
            "{rows}s = pl.full([1, 8], dtype=pl.FP32, value=0.0)\ns = pl.add(s, pl.reshape(pl.row_sum(v), [1, 8]))"
        ),
        expect![[""]],
    );
}
