//! Every operation that has an instruction, in a kernel of its own.

use std::collections::BTreeSet;

use tilefit_pypto::ir::{Stmt, Value};
use tilefit_pypto::ops::OPS;
use tilefit_pypto::target::Target;

use crate::generated_code::array::Array;
use crate::generated_code::cores::{both_ways, through_memory};
use crate::generated_code::host::{Batch, Inputs, Run, planned_for};
use crate::generated_code::kernels::program;

const ROWS: usize = 16;
const COLS: usize = 64;

type Better = fn(f64, f64) -> bool;
type Reference = Box<dyn Fn(Inputs) -> Array>;

struct Case {
    name: &'static str,
    source: String,
    target: Target,
    reference: Reference,
    tolerance: f64,
}

/// Floats `x` and `y`, integers `m` and `n`, all of 16 x 64; the last line makes `z`, which is stored.
fn case(
    name: &'static str,
    out: (usize, usize, &str),
    body: &str,
    reference: impl Fn(Inputs) -> Array + 'static,
) -> Case {
    let (rows, cols, dtype) = out;
    let params = format!(
        "a: pl.Tensor[[16, 64], pl.FP32], b: pl.Tensor[[16, 64], pl.FP32], c: pl.Tensor[[16, 64], pl.INT32], \
         d: pl.Tensor[[16, 64], pl.INT32], out: pl.Out[pl.Tensor[[{rows}, {cols}], pl.{dtype}]]"
    );
    let loads: String = [("x", "a"), ("y", "b"), ("m", "c"), ("n", "d")]
        .iter()
        .filter(|(tile, _)| mentions(body, tile))
        .map(|(tile, tensor)| format!("{tile} = pl.load({tensor}, [0, 0], [16, 64])\n"))
        .collect();
    let store = if mentions(body, "out") { "" } else { "out = pl.store(z, [0, 0], out)\n" };
    let source = program(&params, &format!("{loads}{body}\n{store}return out"));
    Case { name, source, target: Target::Ascend910b, reference: Box::new(reference), tolerance: 1e-5 }
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// `z` from `x` and `y`, element by element.
fn float(name: &'static str, body: &str, f: fn(f64, f64) -> f64) -> Case {
    case(name, (ROWS, COLS, "FP32"), body, move |i| i["a"].zip(&i["b"], f))
}

/// `z` from `m` and `n`, element by element.
fn int(name: &'static str, body: &str, f: fn(i64, i64) -> i64) -> Case {
    case(name, (ROWS, COLS, "INT32"), body, move |i| i["c"].zip(&i["d"], |m, n| f(m as i64, n as i64) as f64))
}

fn column(array: &Array, f: impl Fn(f64, f64) -> f64) -> Array {
    Array::from(1, array.cols, |_, c| (1..array.rows).fold(array.at(0, c), |sum, r| f(sum, array.at(r, c))))
}

fn right_half(array: &Array) -> Array {
    Array::from(array.rows, array.cols / 2, |r, c| array.at(r, c + array.cols / 2))
}

fn row_best(array: &Array, better: Better) -> Array {
    Array::from(array.rows, 1, |r, _| {
        (1..array.cols).fold(0, |best, c| if better(array.at(r, c), array.at(r, best)) { c } else { best }) as f64
    })
}

fn column_best(array: &Array, better: Better) -> Array {
    Array::from(1, array.cols, |_, c| {
        (1..array.rows).fold(0, |best, r| if better(array.at(r, c), array.at(best, c)) { r } else { best }) as f64
    })
}

fn elementwise() -> Vec<Case> {
    let mut cases = vec![
        float("add", "z = pl.tile.add(x, y)", |x, y| x + y),
        float(
            "bar_v",
            "
w = pl.tile.add(x, y)
pl.system.bar_v()
z = pl.tile.add(w, x)",
            |x, y| x + y + x,
        ),
        float(
            "bar_all",
            "
pl.system.bar_all()
w = pl.tile.add(x, y)
pl.system.bar_all()
z = pl.tile.add(w, x)
pl.system.bar_all()",
            |x, y| x + y + x,
        ),
        float("sub", "z = pl.tile.sub(x, y)", |x, y| x - y),
        float("mul", "z = pl.tile.mul(x, y)", |x, y| x * y),
        float("div", "z = pl.tile.div(x, pl.tile.adds(pl.tile.abs(y), 1.0))", |x, y| x / (y.abs() + 1.0)),
        float("maximum", "z = pl.tile.maximum(x, y)", f64::max),
        float("minimum", "z = pl.tile.minimum(x, y)", f64::min),
        float("adds", "z = pl.tile.adds(x, 1.5)", |x, _| x + 1.5),
        float("subs", "z = pl.tile.subs(x, 1.5)", |x, _| x - 1.5),
        float("muls", "z = pl.tile.muls(x, -0.1)", |x, _| x * -0.1),
        float("divs", "z = pl.tile.divs(x, 4.0)", |x, _| x / 4.0),
        float("maximums", "z = pl.tile.maximums(x, 0.5)", |x, _| x.max(0.5)),
        float("minimums", "z = pl.tile.minimums(x, 0.5)", |x, _| x.min(0.5)),
        float("neg", "z = pl.tile.neg(x)", |x, _| -x),
        float("exp", "z = pl.tile.exp(x)", |x, _| x.exp()),
        float("log", "z = pl.tile.log(pl.tile.adds(pl.tile.abs(x), 1.0))", |x, _| (x.abs() + 1.0).ln()),
        float("sqrt", "z = pl.tile.sqrt(pl.tile.abs(x))", |x, _| x.abs().sqrt()),
        float("rsqrt", "z = pl.tile.rsqrt(pl.tile.adds(pl.tile.abs(x), 1.0))", |x, _| 1.0 / (x.abs() + 1.0).sqrt()),
        float("recip", "z = pl.tile.recip(pl.tile.adds(pl.tile.abs(x), 1.0))", |x, _| 1.0 / (x.abs() + 1.0)),
        float("relu", "z = pl.tile.relu(x)", |x, _| x.max(0.0)),
        float("lrelu", "z = pl.tile.lrelu(x, 0.25)", |x, _| if x < 0.0 { x * 0.25 } else { x }),
        float("part_add", "z = pl.tile.part_add(x, y)", |x, y| x + y),
        float("part_mul", "z = pl.tile.part_mul(x, y)", |x, y| x * y),
        float("part_max", "z = pl.tile.part_max(x, y)", f64::max),
        float("part_min", "z = pl.tile.part_min(x, y)", f64::min),
        float("addc", "z = pl.tile.addc(x, y, x)", |x, y| x + y + x),
        float("subc", "z = pl.tile.subc(x, y, x)", |x, y| x - y + x),
        float("addsc", "z = pl.tile.addsc(x, 2.0, y)", |x, y| x + 2.0 + y),
        float("subsc", "z = pl.tile.subsc(x, 2.0, y)", |x, y| x - 2.0 + y),
        float("fmod", "z = pl.tile.fmod(x, pl.tile.adds(pl.tile.abs(y), 1.0))", |x, y| x % (y.abs() + 1.0)),
        float("fmods", "z = pl.tile.fmods(x, 0.75)", |x, _| x % 0.75),
        float(
            "rem",
            "
w = pl.tile.adds(pl.tile.abs(y), 1.0)
t = pl.tile.create([16, 64], dtype=pl.FP32)
z = pl.tile.rem(x, w, t)",
            |x, y| x - (y.abs() + 1.0) * (x / (y.abs() + 1.0)).floor(),
        ),
        float(
            "rems",
            "
t = pl.tile.create([16, 64], dtype=pl.FP32)
z = pl.tile.rems(x, 0.75, t)",
            |x, _| x - 0.75 * (x / 0.75).floor(),
        ),
        float(
            "prelu",
            "
t = pl.tile.create([16, 64], dtype=pl.UINT8)
z = pl.tile.prelu(x, y, t)",
            |x, y| {
                if x < 0.0 { x * y } else { x }
            },
        ),
        float(
            "sel",
            "
t = pl.tile.create([16, 64], dtype=pl.FP32)
w = pl.tile.cmp(x, y, cmp_type=2)
z = pl.tile.sel(w, x, y, t)",
            f64::min,
        ),
        float(
            "sels",
            "
t = pl.tile.create([16, 64], dtype=pl.FP32)
w = pl.tile.cmps(x, 0.5, cmp_type=4)
z = pl.tile.sels(w, x, t, 7.0)",
            |x, _| if x > 0.5 { x } else { 7.0 },
        ),
        int("and", "z = pl.tile.and_(m, n)", |m, n| m & n),
        int("or", "z = pl.tile.or_(m, n)", |m, n| m | n),
        int("ands", "z = pl.tile.ands(m, 6)", |m, _| m & 6),
        int("ors", "z = pl.tile.ors(m, 6)", |m, _| m | 6),
        int("shl", "z = pl.tile.shl(m, n)", |m, n| m << n),
        int("shr", "z = pl.tile.shr(m, n)", |m, n| m >> n),
        int("shls", "z = pl.tile.shls(m, 3)", |m, _| m << 3),
        int("shrs", "z = pl.tile.shrs(m, 1)", |m, _| m >> 1),
        int(
            "xor",
            "
t = pl.tile.create([16, 64], dtype=pl.INT32)
z = pl.tile.xor(m, n, t)",
            |m, n| m ^ n,
        ),
        int(
            "xors",
            "
t = pl.tile.create([16, 64], dtype=pl.INT32)
z = pl.tile.xors(m, 6, t)",
            |m, _| m ^ 6,
        ),
    ];
    cases.push(case(
        "not",
        (ROWS, COLS, "INT32"),
        "
w = pl.tile.cast(m, target_type=pl.INT16)
v = pl.tile.not_(w)
z = pl.tile.cast(v, target_type=pl.INT32)",
        |i| i["c"].map(|m| !(m as i64) as f64),
    ));
    cases
}

fn reductions_and_broadcasts() -> Vec<Case> {
    let tmp = "t = pl.tile.create([16, 64], dtype=pl.FP32)\n";
    let row = |name, op: &str, f: fn(f64, f64) -> f64| {
        case(name, (ROWS, 1, "FP32"), &format!("{tmp}z = pl.tile.{op}(x, t)"), move |i| i["a"].rows(f))
    };
    let col = |name, op: &str, f: fn(f64, f64) -> f64| {
        case(name, (1, COLS, "FP32"), &format!("z = pl.tile.{op}(x)"), move |i| column(&i["a"], f))
    };
    let by_row = |name, op: &str, f: fn(f64, f64) -> f64| {
        let body = format!("{tmp}w = pl.tile.row_max(y, t)\nz = pl.tile.{op}(x, w)");
        case(name, (ROWS, COLS, "FP32"), &body, move |i| i["a"].zip(&i["b"].row_max(), f))
    };
    let by_col = |name, op: &str, f: fn(f64, f64) -> f64| {
        let body = format!("w = pl.tile.col_max(y)\nz = pl.tile.{op}(x, w)");
        case(name, (ROWS, COLS, "FP32"), &body, move |i| i["a"].zip(&column(&i["b"], f64::max), f))
    };
    let greater: Better = |a, b| a > b;
    let less: Better = |a, b| a < b;
    let arg = |name, op: &str, shape: (usize, usize), best: fn(&Array, Better) -> Array, better| {
        let body = format!("{tmp}z = pl.tile.{op}(x, t)");
        case(name, (shape.0, shape.1, "INT32"), &body, move |i| best(&i["a"], better))
    };
    vec![
        row("row_sum", "row_sum", |a, b| a + b),
        row("row_max", "row_max", f64::max),
        row("row_min", "row_min", f64::min),
        row("row_prod", "row_prod", |a, b| a * b),
        col("col_sum", "col_sum", |a, b| a + b),
        col("col_max", "col_max", f64::max),
        col("col_min", "col_min", f64::min),
        col("col_prod", "col_prod", |a, b| a * b),
        arg("row_argmax", "row_argmax", (ROWS, 1), row_best, greater),
        arg("row_argmin", "row_argmin", (ROWS, 1), row_best, less),
        arg("col_argmax", "col_argmax", (1, COLS), column_best, greater),
        arg("col_argmin", "col_argmin", (1, COLS), column_best, less),
        by_row("row_expand", "row_expand", |_, v| v),
        by_row("row_expand_add", "row_expand_add", |x, v| x + v),
        by_row("row_expand_sub", "row_expand_sub", |x, v| x - v),
        by_row("row_expand_mul", "row_expand_mul", |x, v| x * v),
        by_row("row_expand_div", "row_expand_div", |x, v| x / v),
        by_row("row_expand_max", "row_expand_max", f64::max),
        by_row("row_expand_min", "row_expand_min", f64::min),
        by_row("row_expand_expdif", "row_expand_expdif", |x, v| (x - v).exp()),
        by_col("col_expand", "col_expand", |_, v| v),
        by_col("col_expand_add", "col_expand_add", |x, v| x + v),
        by_col("col_expand_sub", "col_expand_sub", |x, v| x - v),
        by_col("col_expand_mul", "col_expand_mul", |x, v| x * v),
        by_col("col_expand_div", "col_expand_div", |x, v| x / v),
        by_col("col_expand_max", "col_expand_max", f64::max),
        by_col("col_expand_min", "col_expand_min", f64::min),
        by_col("col_expand_expdif", "col_expand_expdif", |x, v| (x - v).exp()),
    ]
}

fn shapes_and_moves() -> Vec<Case> {
    vec![
        case("cast", (ROWS, COLS, "INT32"), "z = pl.tile.cast(x, target_type=pl.INT32, mode=3)", |i| {
            i["a"].map(f64::floor)
        }),
        case("full", (ROWS, COLS, "FP32"), "z = pl.tile.full([16, 64], dtype=pl.FP32, value=2.5)", |_| {
            Array::from(ROWS, COLS, |_, _| 2.5)
        }),
        case("ci", (1, COLS, "INT32"), "z = pl.tile.ci(3, [1, 64], dtype=pl.INT32)", |_| {
            Array::from(1, COLS, |_, c| 3.0 + c as f64)
        }),
        case(
            "ci_descending",
            (1, COLS, "INT32"),
            "z = pl.tile.ci(3, [1, 64], dtype=pl.INT32, descending=True)",
            |_| Array::from(1, COLS, |_, c| 3.0 - c as f64),
        ),
        case("tri", (ROWS, COLS, "INT32"), "z = pl.tile.tri(2, [16, 64], dtype=pl.INT32)", |_| {
            Array::from(ROWS, COLS, |r, c| f64::from(u8::from(c <= r + 2)))
        }),
        case(
            "random",
            (ROWS, COLS, "INT32"),
            "z = pl.tile.ands(pl.tile.random(1, 2, 3, 4, 5, 6, [16, 64], dtype=pl.INT32), 0)",
            |_| Array::zeros(ROWS, COLS),
        ),
        case("concat", (ROWS, 2 * COLS, "FP32"), "z = pl.tile.concat(x, y)", |i| {
            Array::from(ROWS, 2 * COLS, |r, c| if c < COLS { i["a"].at(r, c) } else { i["b"].at(r, c - COLS) })
        }),
        case("reshape", (32, 32, "FP32"), "z = pl.tile.reshape(x, [32, 32])", |i| i["a"].reshape(32, 32)),
        case("transpose", (COLS, ROWS, "FP32"), "z = pl.tile.transpose(x, 0, 1)", |i| {
            Array::from(COLS, ROWS, |r, c| i["a"].at(c, r))
        }),
        case("slice", (8, 32, "FP32"), "z = pl.tile.slice(x, [8, 32], [4, 16])", |i| i["a"].part(4, 8, 16, 32)),
        case("extract", (8, 32, "FP32"), "z = pl.tile.extract(x, 4, 16, [8, 32], target_memory=pl.Mem.Vec)", |i| {
            i["a"].part(4, 8, 16, 32)
        }),
        case(
            "assemble",
            (ROWS, COLS, "FP32"),
            "
w = pl.tile.slice(y, [8, 32], [0, 0])
z = pl.tile.assemble(x, w, [4, 16])",
            |i| {
                let inside = |r, c| (4..12).contains(&r) && (16..48).contains(&c);
                Array::from(ROWS, COLS, |r, c| if inside(r, c) { i["b"].at(r - 4, c - 16) } else { i["a"].at(r, c) })
            },
        ),
        case(
            "fillpad",
            (ROWS, COLS, "FP32"),
            "
w = pl.load(a, [0, 0], [16, 64], valid_shape=[10, 40])
z = pl.tile.fillpad(w, pad_value=pl.PadValue.zero)",
            |i| Array::from(ROWS, COLS, |r, c| if r < 10 && c < 40 { i["a"].at(r, c) } else { 0.0 }),
        ),
        case(
            "fillpad_inplace",
            (ROWS, COLS, "FP32"),
            "
w = pl.load(a, [0, 0], [16, 64], valid_shape=[10, 40])
z = pl.tile.fillpad_inplace(w, pad_value=pl.PadValue.zero)",
            |i| Array::from(ROWS, COLS, |r, c| if r < 10 && c < 40 { i["a"].at(r, c) } else { 0.0 }),
        ),
        case(
            "fillpad_expand",
            (32, 128, "FP32"),
            "z = pl.tile.fillpad_expand(x, [32, 128], pad_value=pl.PadValue.zero)",
            |i| Array::from(32, 128, |r, c| if r < ROWS && c < COLS { i["a"].at(r, c) } else { 0.0 }),
        ),
        case("set_validshape", (ROWS, COLS, "FP32"), "z = pl.tile.set_validshape(x, 8, 32)", |i| {
            Array::from(ROWS, COLS, |r, c| if r < 8 && c < 32 { i["a"].at(r, c) } else { 0.0 })
        }),
        case(
            "read_and_write",
            (ROWS, COLS, "FP32"),
            "
v = pl.tile.read(x, [3, 5])
pl.tile.write(x, [0, 7], v)
z = pl.tile.muls(x, 2.0)",
            |i| Array::from(ROWS, COLS, |r, c| 2.0 * if (r, c) == (0, 7) { i["a"].at(3, 5) } else { i["a"].at(r, c) }),
        ),
        case(
            "atomic",
            (ROWS, COLS, "FP32"),
            "
out = pl.store(x, [0, 0], out)
out = pl.store(y, [0, 0], out, atomic=pl.AtomicType.Add)",
            |i| i["a"].add(&i["b"]),
        ),
    ]
}

fn indexed() -> Vec<Case> {
    let score_and_index = |i: Inputs, from: usize, group: usize| {
        let mut records: Vec<(f64, usize)> = (0..group).map(|n| (i["a"].values[from + n], n)).collect();
        records.sort_by(|a, b| b.0.total_cmp(&a.0));
        records
    };
    vec![
        case(
            "gather",
            (ROWS, COLS, "FP32"),
            "
t = pl.tile.create([16, 64], dtype=pl.INT32)
z = pl.tile.gather(x, m, t)",
            |i| i["c"].map(|index| i["a"].values[index as usize]),
        ),
        case("gather_mask", (ROWS, COLS / 2, "FP32"), "z = pl.tile.gather_mask(x, mask_pattern=2)", |i| {
            Array::from(ROWS, COLS / 2, |r, c| i["a"].at(r, 2 * c + 1))
        }),
        case(
            "gather_compare",
            (1, ROWS, "INT32"),
            "v = pl.load(b, [0, 0], [1, 16])\nt = pl.tile.create([16, 2048], dtype=pl.UINT8)\n\
             w, z = pl.tile.gather_compare(x, v, t, cmp_mode=4, out_cols=64)",
            |i| Array::from(1, ROWS, |_, r| (0..COLS).filter(|c| i["a"].at(r, *c) > i["b"].values[r]).count() as f64),
        ),
        case(
            "gather_compare_number",
            (1, ROWS, "INT32"),
            "t = pl.tile.create([16, 2048], dtype=pl.UINT8)\n\
             w, z = pl.tile.gather_compare(x, 0.25, t, cmp_mode=4, out_cols=64)",
            |i| Array::from(1, ROWS, |_, r| (0..COLS).filter(|c| i["a"].at(r, *c) > 0.25).count() as f64),
        ),
        case(
            "gatherb",
            (ROWS, COLS, "FP32"),
            "
v = pl.tile.cast(pl.tile.muls(pl.tile.slice(m, [16, 8], [0, 0]), 32), target_type=pl.UINT32)
z = pl.tile.gatherb(x, v)",
            |i| Array::from(ROWS, COLS, |r, c| i["a"].values[i["c"].at(r, c / 8) as usize * 8 + c % 8]),
        ),
        case(
            "gather_row",
            (ROWS, COLS, "FP32"),
            "
w = pl.tile.muls(x, 1.0)
z = pl.tile.gather_row(w, b, [3, 0], [5, 0], [1, 64])",
            |i| Array::from(ROWS, COLS, |r, c| if r == 3 { i["b"].at(5, c) } else { i["a"].at(r, c) }),
        ),
        // Rows of a window, and a column of it, have gaps between their elements.
        case(
            "col_max_of_window",
            (1, COLS / 2, "FP32"),
            "
w = pl.tile.slice(x, [16, 32], [0, 32])
z = pl.tile.col_max(w)",
            |i| column(&right_half(&i["a"]), f64::max),
        ),
        case(
            "col_sum_of_window",
            (1, COLS / 2, "FP32"),
            "
w = pl.tile.slice(x, [16, 32], [0, 32])
z = pl.tile.col_sum(w)",
            |i| column(&right_half(&i["a"]), |x, y| x + y),
        ),
        case(
            "inserted_beside",
            (ROWS, COLS, "FP32"),
            "w = pl.tile.slice(x, [16, 32], [0, 32])\nv = pl.tile.exp(w)\nu = pl.tile.muls(y, 1.0)\n\
             t = pl.tile.assemble(u, v, [0, 0])\nz = pl.tile.assemble(t, v, [0, 32])",
            |i| Array::from(ROWS, COLS, |r, c| i["a"].at(r, COLS / 2 + c % (COLS / 2)).exp()),
        ),
        case(
            "mgather",
            (ROWS, COLS, "FP32"),
            "
v = pl.load(c, [0, 0], [1, 16])
z = pl.tile.mgather(b, v)",
            |i| Array::from(ROWS, COLS, |r, c| i["b"].at(i["c"].values[r] as usize, c)),
        ),
        case(
            "mscatter",
            (ROWS, COLS, "FP32"),
            "
v = pl.tile.adds(m, 5)
out = pl.tile.mscatter(x, v, out)",
            |i| {
                let mut out = Array::zeros(ROWS, COLS);
                (0..ROWS * COLS).for_each(|n| out.values[i["c"].values[n] as usize + 5] = i["a"].values[n]);
                out
            },
        ),
        case(
            "scatter",
            (ROWS, COLS, "FP32"),
            "
w = pl.tile.muls(y, 1.0)
z = pl.tile.scatter(w, x, m)",
            |i| {
                let mut out = i["b"].clone();
                (0..ROWS * COLS).for_each(|n| out.values[i["c"].values[n] as usize] = i["a"].values[n]);
                out
            },
        ),
        case(
            "scatter_mask",
            (ROWS, COLS, "FP32"),
            "
w = pl.tile.muls(y, 1.0)
v = pl.tile.extract(x, 0, 0, [16, 32], target_memory=pl.Mem.Vec)
z = pl.tile.scatter_mask(w, v, mask_pattern=1)",
            |i| Array::from(ROWS, COLS, |r, c| if c % 2 == 0 { i["a"].at(r, c / 2) } else { 0.0 }),
        ),
        case(
            "sort32",
            (1, 64, "FP32"),
            "w = pl.load(a, [0, 0], [1, 64])\nv = pl.tile.cast(pl.tile.ci(0, [1, 64], dtype=pl.INT32), target_type=pl.UINT32)\n\
             s = pl.tile.sort32(w, v)\nz = pl.tile.gather_mask(s, mask_pattern=1)",
            move |i| {
                let scores = [0, 32].map(|from| score_and_index(i, from, 32));
                Array::from(1, 64, |_, c| scores[c / 32][c % 32].0)
            },
        ),
        case(
            "mrgsort",
            (1, 128, "FP32"),
            "w = pl.tile.slice(pl.tile.reshape(x, [1, 1024]), [1, 128], [0, 0])\nv = pl.tile.cast(pl.tile.ci(0, [1, 128], dtype=pl.INT32), target_type=pl.UINT32)\n\
             s = pl.tile.sort32(w, v)\nk = pl.tile.mrgsort(s, block_len=64)\nz = pl.tile.gather_mask(k, mask_pattern=1)",
            move |i| {
                let sorted = score_and_index(i, 0, 128);
                Array::from(1, 128, |_, c| sorted[c].0)
            },
        ),
        case(
            "mrgsort_lists",
            (1, 64, "FP32"),
            "w = pl.load(a, [0, 0], [1, 64])\nv = pl.tile.cast(pl.tile.ci(0, [1, 64], dtype=pl.INT32), target_type=pl.UINT32)\n\
             s = pl.tile.sort32(w, v)\nk = pl.tile.slice(s, [1, 64], [0, 0])\nj = pl.tile.slice(s, [1, 64], [0, 64])\n\
             t = pl.tile.create([1, 128], dtype=pl.FP32)\nl = pl.tile.mrgsort(k, j, tmp=t)\nz = pl.tile.gather_mask(l, mask_pattern=1)",
            move |i| {
                let sorted = score_and_index(i, 0, 64);
                Array::from(1, 64, |_, c| sorted[c].0)
            },
        ),
    ]
}

fn products() -> Vec<Case> {
    let params = "p: pl.Tensor[[32, 64], pl.FP16], q: pl.Tensor[[64, 32], pl.FP16], \
                  bias: pl.Tensor[[1, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]";
    let loads = "pm = pl.load(p, [0, 0], [32, 64], target_memory=pl.Mem.Mat)\n\
                 qm = pl.load(q, [0, 0], [64, 32], target_memory=pl.Mem.Mat)\n\
                 l = pl.move(pm, target_memory=pl.Mem.Left)\nr = pl.move(qm, target_memory=pl.Mem.Right)\n";
    let product = |name, body: &str, times: f64, with_bias: bool| {
        let source = program(params, &format!("{loads}{body}\nout = pl.store(z, [0, 0], out)\nreturn out"));
        let reference = move |i: Inputs| {
            let product = i["p"].times(&i["q"]).scale(times);
            if with_bias { product.add(&i["bias"]) } else { product }
        };
        Case { name, source, target: Target::Ascend910b, reference: Box::new(reference), tolerance: 0.02 }
    };
    let row_params = "p: pl.Tensor[[1, 64], pl.FP16], q: pl.Tensor[[64, 32], pl.FP16], \
                      bias: pl.Tensor[[1, 32], pl.FP32], out: pl.Out[pl.Tensor[[1, 32], pl.FP32]]";
    let row = |name, body: &str, times: f64, with_bias: bool| {
        let loads = loads.replace("[32, 64]", "[1, 64]");
        let source = program(row_params, &format!("{loads}{body}\nout = pl.store(z, [0, 0], out)\nreturn out"));
        let reference = move |i: Inputs| {
            let product = i["p"].times(&i["q"]).scale(times);
            if with_bias { product.add(&i["bias"]) } else { product }
        };
        Case { name, source, target: Target::Ascend910b, reference: Box::new(reference), tolerance: 0.02 }
    };
    let bias = "
bm = pl.load(bias, [0, 0], [1, 32], target_memory=pl.Mem.Mat)
bb = pl.move(bm, target_memory=pl.Mem.Bias)
";
    vec![
        product("matmul", "z = pl.tile.matmul(l, r)", 1.0, false),
        product(
            "matmul_acc",
            "
w = pl.tile.matmul(l, r)
z = pl.tile.matmul_acc(w, l, r)",
            2.0,
            false,
        ),
        product(
            "bar_m",
            "
w = pl.tile.matmul(l, r)
pl.system.bar_m()
z = pl.tile.matmul_acc(w, l, r)",
            2.0,
            false,
        ),
        product("matmul_bias", &format!("{bias}z = pl.tile.matmul_bias(l, r, bb)"), 1.0, true),
        row("gemv", "z = pl.tile.gemv(l, r)", 1.0, false),
        row(
            "gemv_acc",
            "
w = pl.tile.gemv(l, r)
z = pl.tile.gemv_acc(w, l, r)",
            2.0,
            false,
        ),
        row("gemv_bias", &format!("{bias}z = pl.tile.gemv_bias(l, r, bb)"), 1.0, true),
    ]
}

/// Products with a scale for each 32 elements along K. Scales lie packed in global memory: [M/16, K/64, 16, 2] on the left, and
/// [N/16, K/64, 16, 2] on the right.
fn products_with_scales() -> Vec<Case> {
    let params = "p: pl.Tensor[[32, 128], pl.FP8E4M3FN], ps: pl.Tensor[[32, 4], pl.FP8E8M0, pl.MX_A_ZZ], \
                  q: pl.Tensor[[128, 64], pl.FP8E4M3FN], qs: pl.Tensor[[4, 64], pl.FP8E8M0, pl.MX_B_NN], \
                  bias: pl.Tensor[[1, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]";
    let loads = "pm = pl.load(p, [0, 0], [32, 128], target_memory=pl.Mem.Mat)\n\
                 psm = pl.load(ps, [0, 0], [32, 4], target_memory=pl.Mem.Mat)\n\
                 qm = pl.load(q, [0, 0], [128, 64], target_memory=pl.Mem.Mat)\n\
                 qsm = pl.load(qs, [0, 0], [4, 64], target_memory=pl.Mem.Mat)\n";
    let moves = "l = pl.move(pm, target_memory=pl.Mem.Left)\nls = pl.move(psm, target_memory=pl.Mem.LeftScale)\n\
                 r = pl.move(qm, target_memory=pl.Mem.Right)\nrs = pl.move(qsm, target_memory=pl.Mem.RightScale)\n";
    let bias = "
bm = pl.load(bias, [0, 0], [1, 64], target_memory=pl.Mem.Mat)
bb = pl.move(bm, target_memory=pl.Mem.Bias)
";
    let product = |name, body: &str, times: f64, with_bias: bool| {
        let source = program(params, &format!("{loads}{body}\nout = pl.store(z, [0, 0], out)\nreturn out"));
        let reference = move |i: Inputs| {
            let packed = |of: &Array, block: usize, at: usize, group: usize| {
                of.values[((block * 2 + group / 2) * 16 + at) * 2 + group % 2]
            };
            let left = Array::from(32, 128, |m, k| i["p"].at(m, k) * packed(&i["ps"], m / 16, m % 16, k / 32));
            let right = Array::from(128, 64, |k, n| i["q"].at(k, n) * packed(&i["qs"], n / 16, n % 16, k / 32));
            let product = left.times(&right).scale(times);
            if with_bias { product.add(&i["bias"]) } else { product }
        };
        Case { name, source, target: Target::Ascend950, reference: Box::new(reference), tolerance: 1e-5 }
    };
    vec![
        product("matmul_mx", &format!("{moves}z = pl.matmul_mx(l, ls, r, rs)"), 1.0, false),
        product("matmul_mx_placed", "z = pl.matmul_mx(pm, psm, qm, qsm)", 1.0, false),
        product(
            "matmul_mx_acc",
            &format!("{moves}w = pl.matmul_mx(l, ls, r, rs)\nz = pl.matmul_mx_acc(w, l, ls, r, rs)"),
            2.0,
            false,
        ),
        product("matmul_mx_bias", &format!("{moves}{bias}z = pl.matmul_mx_bias(l, ls, r, rs, bb)"), 1.0, true),
        // The second half of K lies after the first in L0: its scales do too.
        product(
            "matmul_mx_halves",
            "p0 = pl.load(p, [0, 0], [32, 64], target_memory=pl.Mem.Mat)\n\
             p1 = pl.load(p, [0, 64], [32, 64], target_memory=pl.Mem.Mat)\n\
             q0 = pl.load(q, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             q1 = pl.load(q, [64, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             l0 = pl.move(p0, target_memory=pl.Mem.Left)\nl1 = pl.move(p1, target_memory=pl.Mem.Left)\n\
             r0 = pl.move(q0, target_memory=pl.Mem.Right)\nr1 = pl.move(q1, target_memory=pl.Mem.Right)\n\
             ls0 = pl.load(ps, [0, 0], [32, 2], target_memory=pl.Mem.Mat)\n\
             ls1 = pl.load(ps, [0, 2], [32, 2], target_memory=pl.Mem.Mat)\n\
             rs0 = pl.load(qs, [0, 0], [2, 64], target_memory=pl.Mem.Mat)\n\
             rs1 = pl.load(qs, [2, 0], [2, 64], target_memory=pl.Mem.Mat)\n\
             a0 = pl.move(ls0, target_memory=pl.Mem.LeftScale)\na1 = pl.move(ls1, target_memory=pl.Mem.LeftScale)\n\
             b0 = pl.move(rs0, target_memory=pl.Mem.RightScale)\nb1 = pl.move(rs1, target_memory=pl.Mem.RightScale)\n\
             w = pl.matmul_mx(l0, a0, r0, b0)\nz = pl.matmul_mx_acc(w, l1, a1, r1, b1)",
            1.0,
            false,
        ),
    ]
}

/// Single precision to a float of eight bits and back.
fn small_floats() -> Vec<Case> {
    let through = |name, dtype: &str, mantissa: i32, smallest: i32| {
        let body = format!("w = pl.tile.cast(x, target_type=pl.{dtype})\nz = pl.tile.cast(w, target_type=pl.FP32)");
        let rounded = move |x: f64| {
            let step = 2f64.powi((x.abs().log2().floor() as i32).max(smallest) - mantissa);
            (x / step).round_ties_even() * step
        };
        let case = case(name, (ROWS, COLS, "FP32"), &body, move |i| i["a"].map(rounded));
        Case { target: Target::Ascend950, ..case }
    };
    vec![through("fp8_e4m3", "FP8E4M3FN", 3, -6), through("fp8_e5m2", "FP8E5M2", 2, -14)]
}

fn cases() -> Vec<Case> {
    [
        elementwise(),
        reductions_and_broadcasts(),
        shapes_and_moves(),
        indexed(),
        products(),
        products_with_scales(),
        small_floats(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_operation_computes_what_it_says() {
    let mut batch = Batch::default();
    let mut used = BTreeSet::new();
    for case in cases() {
        let kernels = planned_for(&case.source, case.target);
        let (kernel, plan) = kernels.first().unwrap_or_else(|| panic!("{}: no kernel", case.name));
        assert!(kernel.notes.is_empty(), "{}: {:?}", case.name, kernel.notes);
        operations(&kernel.body, &mut used);
        batch.add(Run::new(case.name, kernel, plan).tolerance(case.tolerance), &|i| vec![("out", (case.reference)(i))]);
    }
    batch.check("operations");
    // Those of two cores run in `cores`.
    for source in [both_ways(""), through_memory("pl.system.syncall()")] {
        for (kernel, _) in planned_for(&source, Target::Ascend910b) {
            operations(&kernel.body, &mut used);
        }
    }
    let has_instruction = OPS.iter().filter(|op| !op.pto.is_empty()).map(|op| op.name);
    let missing: Vec<&str> = has_instruction.filter(|name| !used.contains(name)).collect();
    // It binds scales to the tile that they scale; the address is known here, and assigned.
    assert_eq!(missing, ["tile.tget_scale_addr"]);
}

fn operations(body: &[Stmt], used: &mut BTreeSet<&'static str>) {
    for stmt in body {
        match stmt {
            Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => {
                used.insert(call.op.op().name);
            }
            Stmt::For(node) => operations(&node.body, used),
            Stmt::If(node) => [&node.then, &node.otherwise].iter().for_each(|body| operations(body, used)),
            _ => {}
        }
    }
}

/// What the static assertions of the library would refuse is said at the call.
#[test]
fn products_with_scales_that_the_library_refuses_are_told() {
    let kernel = |moves: &str, k: usize| {
        let rest = "ls = pl.move(psm, target_memory=pl.Mem.LeftScale)\nr = pl.move(qm, target_memory=pl.Mem.Right)\n\
                    rs = pl.move(qsm, target_memory=pl.Mem.RightScale)\nz = pl.matmul_mx(l, ls, r, rs)\n";
        findings_of(&format!("{moves}\n{rest}"), k)
    };
    let whole = "l = pl.move(pm, target_memory=pl.Mem.Left)";
    assert_eq!(kernel(whole, 128), [""; 0]);
    let short = kernel(whole, 96);
    assert!(short.iter().any(|message| message.contains("K in multiples of 64, and `l` has 96")), "{short:?}");
    let cut = kernel("l = pl.tile.extract(pm, 0, 0, [32, 128], target_memory=pl.Mem.Left)", 128);
    assert!(cut.iter().any(|message| message.contains("with its boxes row by row")), "{cut:?}");
    // Both products take their left operand from the start of L0: so the unit looks for its scales at one place.
    let early = "l = pl.move(pm, target_memory=pl.Mem.Left)\nls = pl.move(psm, target_memory=pl.Mem.LeftScale)\n\
                 LATER\
                 r = pl.move(qm, target_memory=pl.Mem.Right)\nrs = pl.move(qsm, target_memory=pl.Mem.RightScale)\n\
                 w = pl.matmul_mx(l, ls, r, rs)\nl2 = pl.move(pm2, target_memory=pl.Mem.Left)\nTHEN\
                 z = pl.matmul_mx_acc(w, l2, ls2, r, rs)\n";
    let second = "psm2 = pl.load(ps, [0, 0], [32, 16], target_memory=pl.Mem.Mat)\n\
                  pm2 = pl.load(p, [0, 0], [32, 512], target_memory=pl.Mem.Mat)\n";
    let scales = "ls2 = pl.move(psm2, target_memory=pl.Mem.LeftScale)\n";
    let products = |later: &str, then: &str| format!("{second}{}", early.replace("LATER", later).replace("THEN", then));
    assert_eq!(findings_of(&products("", scales), 512), [""; 0]);
    let clash = findings_of(&products(scales, ""), 512);
    assert!(clash.iter().any(|message| message.starts_with("`ls2` would overwrite `ls`")), "{clash:?}");
}

/// What is said of a product of tensors with this K.
fn findings_of(product: &str, k: usize) -> Vec<String> {
    let groups = k / 32;
    let params = format!(
        "p: pl.Tensor[[32, {k}], pl.FP8E4M3FN], ps: pl.Tensor[[32, {groups}], pl.FP8E8M0, pl.MX_A_ZZ], \
         q: pl.Tensor[[{k}, 64], pl.FP8E4M3FN], qs: pl.Tensor[[{groups}, 64], pl.FP8E8M0, pl.MX_B_NN], \
         out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]"
    );
    let body = format!(
        "pm = pl.load(p, [0, 0], [32, {k}], target_memory=pl.Mem.Mat)\n\
         psm = pl.load(ps, [0, 0], [32, {groups}], target_memory=pl.Mem.Mat)\n\
         qm = pl.load(q, [0, 0], [{k}, 64], target_memory=pl.Mem.Mat)\n\
         qsm = pl.load(qs, [0, 0], [{groups}, 64], target_memory=pl.Mem.Mat)\n\
         {product}out = pl.store(z, [0, 0], out)\nreturn out"
    );
    let (kernel, plan) = planned_for(&program(&params, &body), Target::Ascend950).remove(0);
    let findings = tilefit_pypto::codegen::generate(&kernel, &plan).findings;
    findings.into_iter().map(|finding| finding.message).collect::<Vec<String>>()
}
