//! `break` and `continue`: structured by the compiler, and what the loop carries on the way.

use serde_json::json;

use crate::generated_code::array::Array;
use crate::generated_code::host::{Batch, Inputs, Run, planned};
use crate::generated_code::kernels::program;

const PARAMS: &str =
    "a: pl.Tensor[[256, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]";

/// Runs the kernel for each `n`; `blocks` says which blocks of 64 rows it adds up, each so often.
fn check(name: &str, body: &str, blocks: fn(usize) -> Vec<usize>) {
    let (kernel, plan) = planned(&program(PARAMS, body)).remove(0);
    let mut batch = Batch::default();
    for n in 0..6 {
        let reference = move |i: Inputs| {
            let parts = blocks(n).into_iter().map(|block| i["a"].part(block * 64, 64, 0, 64));
            vec![("out", parts.fold(Array::zeros(64, 64), |sum, part| sum.add(&part)))]
        };
        let run = Run::new(&format!("{name}_{n}"), &kernel, &plan).given("n", json!({ "value": n }));
        batch.add(run, &reference);
    }
    batch.check(name);
}

#[test]
fn break_out_of_a_counted_loop() {
    let body = "acc = pl.load(a, [0, 0], [64, 64])\n\
                for i in pl.range(1, 4):\n\
                \x20   if i == n:\n\
                \x20       break\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   acc = pl.add(acc, t)\n\
                out = pl.store(acc, [0, 0], out)\n\
                return out";
    check("break_for", body, |n| if n == 0 { (0..4).collect() } else { (0..n.min(4)).collect() });
}

#[test]
fn break_at_the_end_of_a_while() {
    let body = "acc = pl.load(a, [0, 0], [64, 64])\n\
                i = 1\n\
                while i < 4:\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   acc = pl.add(acc, t)\n\
                \x20   i = i + 1\n\
                \x20   if i == n:\n\
                \x20       break\n\
                out = pl.store(acc, [0, 0], out)\n\
                return out";
    check("break_while", body, |n| if n < 2 { (0..4).collect() } else { (0..n.min(4)).collect() });
}

#[test]
fn continue_skips_the_rest_of_an_iteration() {
    let body = "acc = pl.load(a, [0, 0], [64, 64])\n\
                for i in pl.range(1, 4):\n\
                \x20   if i == n:\n\
                \x20       continue\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   acc = pl.add(acc, t)\n\
                out = pl.store(acc, [0, 0], out)\n\
                return out";
    check("continue_for", body, |n| (0..4).filter(|i| *i == 0 || *i != n).collect());
}

#[test]
fn both_in_nested_loops() {
    let body = "acc = pl.load(a, [0, 0], [64, 64])\n\
                for i in pl.range(1, 4):\n\
                \x20   if i == 2:\n\
                \x20       continue\n\
                \x20   for j in pl.range(0, 2):\n\
                \x20       if i + j == n:\n\
                \x20           break\n\
                \x20       t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20       acc = pl.add(acc, t)\n\
                out = pl.store(acc, [0, 0], out)\n\
                return out";
    check("jumps_nested", body, |n| {
        let mut blocks = vec![0];
        for i in [1, 3] {
            blocks.extend((0..2).take_while(|j| i + j != n).map(|_| i));
        }
        blocks
    });
}

/// A `break` hands on what the iteration has made by then, and else what it began with.
#[test]
fn values_carried_by_name_pass_a_break() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                for i, (acc,) in pl.range(1, 4, init_values=(x,)):\n\
                \x20   if i == n:\n\
                \x20       break\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   sum = pl.add(acc, t)\n\
                \x20   total = pl.yield_(sum)\n\
                out = pl.store(total, [0, 0], out)\n\
                return out";
    check("break_carried", body, |n| if n == 0 { (0..4).collect() } else { (0..n.min(4)).collect() });
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                for i, (acc, last) in pl.range(1, 4, init_values=(x, 0)):\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   sum = pl.add(acc, t)\n\
                \x20   if i == n:\n\
                \x20       break\n\
                \x20   total, at = pl.yield_(sum, i)\n\
                y = pl.load(a, [at * 64, 0], [64, 64])\n\
                z = pl.add(total, y)\n\
                out = pl.store(z, [0, 0], out)\n\
                return out";
    check("break_behind_value", body, |n| match n {
        1..4 => (0..=n).chain([n]).collect(),
        _ => vec![0, 1, 2, 3, 3],
    });
}

#[test]
fn values_carried_by_name_pass_a_continue() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                for i, (acc,) in pl.range(1, 4, init_values=(x,)):\n\
                \x20   if i == n:\n\
                \x20       continue\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   sum = pl.add(acc, t)\n\
                \x20   total = pl.yield_(sum)\n\
                out = pl.store(total, [0, 0], out)\n\
                return out";
    check("continue_carried", body, |n| (0..4).filter(|i| *i == 0 || *i != n).collect());
}

#[test]
fn values_carried_by_name_pass_both() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                for i, (acc,) in pl.range(1, 4, init_values=(x,)):\n\
                \x20   if i == 2:\n\
                \x20       continue\n\
                \x20   t = pl.load(a, [i * 64, 0], [64, 64])\n\
                \x20   sum = pl.add(acc, t)\n\
                \x20   if i == n:\n\
                \x20       break\n\
                \x20   total = pl.yield_(sum)\n\
                out = pl.store(total, [0, 0], out)\n\
                return out";
    check("jumps_carried", body, |n| if n == 1 { vec![0, 1] } else { vec![0, 1, 3] });
}
