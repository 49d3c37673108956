//! Kernels that show one thing each.

use serde_json::json;

use crate::array::Array;
use crate::host::{Batch, Inputs, Run, planned};

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
