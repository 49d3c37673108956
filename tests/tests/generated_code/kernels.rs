//! Kernels that show one thing each.

use serde_json::json;

use crate::generated_code::array::Array;
use crate::generated_code::host::{Batch, Inputs, Run, planned};

/// A kernel `kernel` of a program; parameters, then the body.
pub(crate) fn program(params: &str, body: &str) -> String {
    let mut text =
        String::from("import pypto.language as pl\n\nBUFFERS = pl.MemRef(slots=2)\n\n@pl.program\nclass P:\n");
    text.push_str("    @pl.function(type=pl.FunctionType.InCore)\n");
    text.push_str(&format!("    def kernel(self, {params}):\n"));
    for line in body.lines() {
        text.push_str(&format!("        {line}\n"));
    }
    text
}

const SQUARE: &str = "a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]";

/// The last ones lie on both sides of a border of boxes, and are half as long.
#[test]
fn rows_are_gathered_into_boxes() {
    let mut batch = Batch::default();
    let text = program(
        "a: pl.Tensor[[64, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
        "m = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
         m1 = pl.tile.gather_row(m, a, [3, 0], [60, 0], [1, 64])\n\
         m2 = pl.tile.gather_row(m1, a, [31, 32], [7, 0], [2, 32])\n\
         n = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
         z = pl.matmul(m2, n)\n\
         out = pl.store(z, [0, 0], out)\n\
         return out",
    );
    let (kernel, plan) = planned(&text).remove(0);
    batch.add(Run::new("rows_into_boxes", &kernel, &plan).tolerance(2e-2), &|i| {
        let gathered = Array::from(64, 64, |r, c| match (r, c) {
            (3, _) => i["a"].at(60, c),
            (31..33, 32..) => i["a"].at(r - 24, c - 32),
            _ => i["a"].at(r, c),
        });
        vec![("out", gathered.times(&i["b"]))]
    });
    batch.check("rows_into_boxes");
}

#[test]
fn views_show_the_bytes_of_their_source() {
    let mut batch = Batch::default();
    let mut add = |name: &str, params: &str, body: &str, reference: &dyn Fn(Inputs) -> Vec<(&'static str, Array)>| {
        let (kernel, plan) = planned(&program(params, body)).remove(0);
        batch.add(Run::new(name, &kernel, &plan), reference);
    };
    // The source is read again after the slice, and is wider than it.
    add(
        "source_used_after_slice",
        SQUARE,
        "x = pl.load(a, [0, 0], [64, 64])\n\
         s = pl.slice(x, [64, 32], [0, 32])\n\
         t = pl.mul(s, 2.0)\n\
         y = pl.add(x, 1.0)\n\
         out = pl.store(y, [0, 0], out)\n\
         out = pl.store(t, [0, 32], out)\n\
         return out",
        &|i| {
            vec![(
                "out",
                Array::from(64, 64, |r, c| if c < 32 { i["a"].at(r, c) + 1.0 } else { i["a"].at(r, c) * 2.0 }),
            )]
        },
    );
    // The instruction takes tiles of one type only: the window is copied.
    add(
        "selection_of_window",
        SQUARE,
        "x = pl.load(a, [0, 0], [64, 64])\n\
         s = pl.slice(x, [64, 32], [0, 0])\n\
         y = pl.tile.muls(s, -1.0)\n\
         m = pl.tile.cmps(s, 0.0, cmp_type=4)\n\
         t = pl.tile.create([64, 32], dtype=pl.FP32)\n\
         z = pl.tile.sel(m, s, y, t)\n\
         out = pl.store(z, [0, 0], out)\n\
         return out",
        &|i| vec![("out", Array::from(64, 64, |r, c| if c < 32 { i["a"].at(r, c).abs() } else { 0.0 }))],
    );
    add(
        "slice_of_slice",
        SQUARE,
        "x = pl.load(a, [0, 0], [64, 64])\n\
         s = pl.slice(x, [48, 48], [8, 16])\n\
         t = pl.slice(s, [32, 16], [4, 8])\n\
         y = pl.mul(t, 3.0)\n\
         out = pl.store(y, [0, 0], out)\n\
         return out",
        &|i| {
            let inner = i["a"].part(12, 32, 24, 16);
            vec![("out", Array::from(64, 64, |r, c| if r < 32 && c < 16 { 3.0 * inner.at(r, c) } else { 0.0 }))]
        },
    );
    add(
        "slice_at_run_time",
        SQUARE,
        "x = pl.load(a, [0, 0], [64, 64])\n\
         for i in pl.range(0, 4):\n\
         \x20   s = pl.slice(x, [16, 64], [48 - i * 16, 0])\n\
         \x20   y = pl.exp(s)\n\
         \x20   out = pl.store(y, [i * 16, 0], out)\n\
         return out",
        &|i| vec![("out", Array::from(64, 64, |r, c| i["a"].at(48 - r / 16 * 16 + r % 16, c).exp()))],
    );
    batch.check("views");
}

#[test]
fn places_and_shapes_may_be_known_at_run_time_only() {
    let mut batch = Batch::default();
    let source = program(
        "a: pl.Tensor[[256, 64], pl.FP32], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]",
        "for i in pl.range(0, 4):\n\
         \x20   x: pl.Tile[[64, 64], pl.FP32, BUFFERS[i % 2], pl.Mem.Vec] = pl.load(a, [i * 64, 0], [64, 64])\n\
         \x20   y = pl.exp(x)\n\
         \x20   out = pl.store(y, [i * 64, 0], out)\n\
         return out",
    );
    let (kernel, plan) = planned(&source).remove(0);
    batch.add(Run::new("slots", &kernel, &plan), &|i| vec![("out", i["a"].exp())]);
    let source = program(
        "a: pl.Tensor[[100, 64], pl.FP32], rows: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[100, 64], pl.FP32]]",
        "for i in pl.range(0, rows, 32):\n\
         \x20   n = pl.min(rows - i, 32)\n\
         \x20   x = pl.load(a, [i, 0], [32, 64], valid_shape=[n, 64])\n\
         \x20   y = pl.exp(x)\n\
         \x20   out = pl.store(y, [i, 0], out)\n\
         return out",
    );
    let (kernel, plan) = planned(&source).remove(0);
    batch.add(Run::new("tail", &kernel, &plan).given("rows", json!({ "value": 90 })), &|i| {
        vec![("out", Array::from(100, 64, |r, c| if r < 90 { i["a"].at(r, c).exp() } else { 0.0 }))]
    });
    batch.check("run_time");
}

#[test]
fn control_flow_and_scalars_are_those_of_the_source() {
    let mut batch = Batch::default();
    let mut add = |name: &str, params: &str, body: &str, reference: &dyn Fn(Inputs) -> Vec<(&'static str, Array)>| {
        let (kernel, plan) = planned(&program(params, body)).remove(0);
        let mut run = Run::new(name, &kernel, &plan);
        for (scalar, value) in [("n", 7.0), ("k", -7.0), ("s", 0.1)] {
            run = run.given(scalar, json!({ "value": value }));
        }
        batch.add(run, reference);
    };
    const TALL: &str = "a: pl.Tensor[[256, 64], pl.FP32], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]";
    add(
        "while_loop",
        "a: pl.Tensor[[256, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]",
        "i = pl.const(0, pl.INT64)\n\
         while i < n:\n\
         \x20   x = pl.load(a, [i * 32, 0], [32, 64])\n\
         \x20   y = pl.exp(x)\n\
         \x20   out = pl.store(y, [i * 32, 0], out)\n\
         \x20   i = i + 2\n\
         return out",
        &|i| vec![("out", Array::from(256, 64, |r, c| if r / 32 % 2 == 0 { i["a"].at(r, c).exp() } else { 0.0 }))],
    );
    // Fibonacci: each iteration hands its second value on as the first.
    add(
        "values_that_change_places",
        SQUARE,
        "p = pl.load(a, [0, 0], [64, 64])\n\
         q = pl.mul(p, 2.0)\n\
         for i, (u, v) in pl.range(0, 5, init_values=(p, q)):\n\
         \x20   w = pl.add(u, v)\n\
         \x20   u2, v2 = pl.yield_(v, w)\n\
         out = pl.store(v2, [0, 0], out)\n\
         return out",
        &|i| vec![("out", i["a"].scale(21.0))],
    );
    add(
        "nested_loops",
        TALL,
        "for i in pl.range(0, 2):\n\
         \x20   acc = pl.load(a, [i * 128, 0], [32, 64])\n\
         \x20   for j in pl.range(1, 4):\n\
         \x20       x = pl.load(a, [i * 128 + j * 32, 0], [32, 64])\n\
         \x20       acc = pl.add(acc, x)\n\
         \x20   out = pl.store(acc, [i * 32, 0], out)\n\
         return out",
        &|i| {
            let a = &i["a"];
            let sum = |r: usize, c| (0..4).map(|j| a.at(r / 32 * 128 + j * 32 + r % 32, c)).sum();
            vec![("out", Array::from(256, 64, |r, c| if r < 64 { sum(r, c) } else { 0.0 }))]
        },
    );
    add(
        "branches_in_a_loop",
        TALL,
        "for i in pl.range(0, 8):\n\
         \x20   x = pl.load(a, [i * 32, 0], [32, 64])\n\
         \x20   if i % 3 == 1:\n\
         \x20       y = pl.exp(x)\n\
         \x20   else:\n\
         \x20       y = pl.mul(x, 2.0)\n\
         \x20   out = pl.store(y, [i * 32, 0], out)\n\
         return out",
        &|i| {
            let f = |r: usize, x: f64| if r / 32 % 3 == 1 { x.exp() } else { 2.0 * x };
            vec![("out", Array::from(256, 64, |r, c| f(r, i["a"].at(r, c))))]
        },
    );
    // Division floors: -7 // 2 is -4 and -7 % 4 is 1.
    add(
        "floor_division",
        "a: pl.Tensor[[64, 64], pl.FP32], k: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
        "row = (k // 2 + 5) * 16 + k % 4\n\
         x = pl.load(a, [row, 0], [16, 64])\n\
         out = pl.store(x, [0, 0], out)\n\
         return out",
        &|i| vec![("out", i["a"].part(17, 16, 0, 64).below(&Array::zeros(48, 64)))],
    );
    // Constants keep all digits of single precision.
    add(
        "digits_of_constants",
        "a: pl.Tensor[[64, 64], pl.FP32], s: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
        "x = pl.load(a, [0, 0], [64, 64])\n\
         y = pl.mul(x, 1e-8)\n\
         z = pl.mul(y, 123456.789)\n\
         w = pl.mul(z, s)\n\
         v = pl.mul(w, 1e4)\n\
         out = pl.store(v, [0, 0], out)\n\
         return out",
        &|i| vec![("out", i["a"].scale(1e-8 * 123456.789 * 0.1 * 1e4))],
    );
    batch.check("control_flow");
}

/// Numbers out of tensors, into tensors, and from the run of the kernel.
#[test]
fn the_scalar_unit_reads_and_writes_tensors() {
    let mut batch = Batch::default();
    let mut add = |name: &str, text: &str, reference: &dyn Fn(Inputs) -> Vec<(&'static str, Array)>| {
        let (kernel, plan) = planned(text).remove(0);
        batch.add(Run::new(name, &kernel, &plan).given("index", json!({ "lo": 0, "hi": 3, "salt": 1 })), reference);
    };
    let scope = |params: &str, body: &str| {
        let mut text = String::from("import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function\n");
        text.push_str(&format!("    def main(self, {params}):\n        with pl.at(level=pl.Level.CORE_GROUP):\n"));
        for line in body.lines() {
            text.push_str(&format!("            {line}\n"));
        }
        text.push_str("        return out\n");
        text
    };
    add(
        "element_as_offset",
        &scope(
            "a: pl.Tensor[[256, 64], pl.FP32], index: pl.Tensor[[2, 8], pl.INT32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
            "k = pl.tensor.read(index, [1, 2])\n\
             x = a[k * 64:k * 64 + 64, 0:64]\n\
             y = pl.mul(x, 2.0)\n\
             out[0:64, 0:64] = y",
        ),
        &|i| {
            let k = i["index"].at(1, 2) as usize;
            vec![("out", i["a"].part(k * 64, 64, 0, 64).scale(2.0))]
        },
    );
    add(
        "element_as_factor",
        &scope(
            "a: pl.Tensor[[64, 64], pl.FP32], s: pl.Tensor[[1, 8], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
            "k = pl.tensor.read(s, [0, 3])\n\
             x = pl.mul(a, k)\n\
             out[0:64, 0:64] = x",
        ),
        &|i| vec![("out", i["a"].scale(i["s"].at(0, 3)))],
    );
    // Rows of a tensor whose width only the caller knows.
    add(
        "strides_at_run_time",
        &program(
            "a: pl.Tensor[[4, M, N], pl.FP32], out: pl.Out[pl.Tensor[[64, N], pl.FP32]]",
            "x = pl.load(a, [2, 16, 8], [1, 32, 32])\n\
             y = pl.add(x, 1.0)\n\
             out = pl.store(y, [16, 32], out)\n\
             return out",
        )
        .replace("@pl.program", "M = pl.dynamic(\"M\")\nN = pl.dynamic(\"N\")\n\n@pl.program"),
        &|i| {
            let part = i["a"].part(2 * 64 + 16, 32, 8, 32);
            let inside = |r: usize, c: usize| (16..48).contains(&r) && c >= 32;
            vec![("out", Array::from(64, 64, |r, c| if inside(r, c) { part.at(r - 16, c - 32) + 1.0 } else { 0.0 }))]
        },
    );
    batch.check("scalar_unit");
}

/// `a` lies in boxes of 16 x 16, `out` in boxes of 16 x 8.
#[test]
fn tensors_in_boxes_are_read_and_written_by_the_box() {
    let params = "a: pl.Tensor[[64, 128], pl.FP16, pl.NZ], b: pl.Tensor[[64, 32], pl.FP16], \
                  out: pl.Out[pl.Tensor[[64, 64], pl.FP32, pl.NZ]]";
    let body = "for i in pl.range(0, 2):\n\
                \x20   x = pl.load(a, [16, i * 64], [32, 64], target_memory=pl.Mem.Mat)\n\
                \x20   y = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)\n\
                \x20   z = pl.matmul(x, y)\n\
                \x20   out = pl.store(z, [32, i * 32], out)\n\
                return out";
    let (kernel, plan) = planned(&program(params, body)).remove(0);
    let boxed = |rows: usize, width: usize, r: usize, c: usize| c / width * (rows * width) + r * width + c % width;
    let mut batch = Batch::default();
    batch.add(Run::new("boxes", &kernel, &plan).tolerance(2e-2), &|i: Inputs| {
        let of_a = |r: usize, c: usize| i["a"].values[boxed(64, 16, r, c)];
        let product = |half: usize| Array::from(32, 64, |r, c| of_a(16 + r, half * 64 + c)).times(&i["b"]);
        let halves = [product(0), product(1)];
        let mut out = Array::zeros(64, 64);
        for r in 0..32 {
            for c in 0..64 {
                out.values[boxed(64, 8, 32 + r, c)] = halves[c / 32].at(r, c % 32);
            }
        }
        vec![("out", out)]
    });
    batch.check("boxes");
    // Not at the border of a box, and into tiles that lie otherwise.
    for (access, why) in [
        ("x = pl.load(a, [8, 0], [32, 64], target_memory=pl.Mem.Mat)", "does not start and end at box boundaries"),
        ("x = pl.load(a, [0, 0], [32, 64])", "is stored in boxes (NZ), but `x` in Vec is not"),
        ("x = pl.load(b, [0, 0], [32, 64], transpose=True)", "is stored column by column (DN), but `x` in Vec is not"),
    ] {
        let (kernel, plan) = planned(&program(params, &format!("{access}\nreturn out"))).remove(0);
        let findings = tilefit_pypto::codegen::generate(&kernel, &plan).findings;
        assert!(findings.iter().any(|finding| finding.message.ends_with(why)), "{why}: {findings:?}");
    }
}

/// `b` lies column by column: its columns are what the right operand of a product is read by.
#[test]
fn tensors_by_columns_are_read_as_they_lie() {
    let params = "a: pl.Tensor[[32, 128], pl.FP16], b: pl.Tensor[[128, 96], pl.FP16, pl.DN], \
                  v: pl.Tensor[[64, 1], pl.FP32, pl.DN], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]], \
                  w: pl.Out[pl.Tensor[[64, 1], pl.FP32]]";
    let body = "x = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)\n\
                y = pl.load(b, [0, 32], [64, 64], target_memory=pl.Mem.Mat)\n\
                z = pl.matmul(x, y)\n\
                x2 = pl.load(a, [0, 64], [32, 64], target_memory=pl.Mem.Mat)\n\
                y2 = pl.load(b, [64, 32], [64, 64], target_memory=pl.Mem.Mat)\n\
                z2 = pl.matmul_acc(z, x2, y2)\n\
                out = pl.store(z2, [0, 0], out)\n\
                return out, w";
    let (kernel, plan) = planned(&program(params, body)).remove(0);
    let mut batch = Batch::default();
    batch.add(Run::new("columns", &kernel, &plan).tolerance(2e-2), &|i: Inputs| {
        let b = Array::from(128, 64, |r, c| i["b"].values[(32 + c) * 128 + r]);
        vec![("out", i["a"].times(&b))]
    });
    let body = "c = pl.load(v, [0, 0], [64, 1])\nd = pl.add(c, c)\nw = pl.store(d, [0, 0], w)\nreturn out, w";
    let (kernel, plan) = planned(&program(params, body)).remove(0);
    batch.add(Run::new("one_column", &kernel, &plan), &|i: Inputs| vec![("w", i["v"].scale(2.0))]);
    batch.check("columns");
}
