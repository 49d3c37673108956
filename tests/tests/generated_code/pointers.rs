//! Tensors that a branch chooses, that a loop carries, and that change places from one iteration to the next.

use serde_json::json;
use tilefit_pypto::codegen;

use crate::generated_code::array::Array;
use crate::generated_code::host::{Batch, Inputs, Run, planned};
use crate::generated_code::kernels::program;

const PARAMS: &str = "a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], c: pl.Tensor[[64, 64], pl.FP32], \
                      n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]], s: pl.Out[pl.Tensor[[64, 64], pl.FP32]]";

/// Runs the kernel for each `n` of 0 to 4. `out` and `s` by what they are made of: how often `a`, `b`, `c`, and a constant.
fn check(name: &str, body: &str, weights: fn(i32) -> [[f64; 4]; 2]) {
    let (kernel, plan) = planned(&program(PARAMS, body)).remove(0);
    assert!(kernel.notes.is_empty(), "{:?}", kernel.notes);
    let mut batch = Batch::default();
    for n in 0..5 {
        let of = |i: Inputs, [a, b, c, one]: [f64; 4]| {
            let value = |r, col| a * i["a"].at(r, col) + b * i["b"].at(r, col) + c * i["c"].at(r, col) + one;
            Array::from(64, 64, value)
        };
        let [out, s] = weights(n);
        let run = Run::new(&format!("{name}_{n}"), &kernel, &plan).given("n", json!({ "value": n }));
        batch.add(run, &|i| vec![("out", of(i, out)), ("s", of(i, s))]);
    }
    batch.check(name);
}

const NOTHING: [f64; 4] = [0.0; 4];

#[test]
fn a_branch_chooses_what_is_loaded() {
    let body = "if n > 2:\n\
                \x20   src = a\n\
                else:\n\
                \x20   src = b\n\
                x = pl.load(src, [0, 0], [64, 64])\n\
                y = pl.load(a, [0, 0], [64, 64])\n\
                z = pl.add(x, y)\n\
                out = pl.store(z, [0, 0], out)\n\
                return out";
    check("chosen_source", body, |n| [if n > 2 { [2.0, 0.0, 0.0, 0.0] } else { [1.0, 1.0, 0.0, 0.0] }, NOTHING]);
    // The same wrapper at the start of its tensor, at another place and through the choice.
    let body = "y = pl.load(a, [32, 0], [32, 64])\n\
                if n > 2:\n\
                \x20   src = b\n\
                elif n > 0:\n\
                \x20   src = c\n\
                else:\n\
                \x20   src = a\n\
                for i in pl.range(0, 2):\n\
                \x20   x = pl.load(src, [i * 32, 0], [32, 64])\n\
                \x20   y = pl.load(a, [0, 0], [32, 64])\n\
                \x20   out = pl.store(x, [i * 32, 0], out)\n\
                return out";
    check("chosen_of_three", body, |n| {
        let mut of = NOTHING;
        of[if n > 2 {
            1
        } else if n > 0 {
            2
        } else {
            0
        }] = 1.0;
        [of, NOTHING]
    });
}

#[test]
fn a_branch_chooses_what_is_stored_to() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                if n > 2:\n\
                \x20   dst = out\n\
                else:\n\
                \x20   dst = s\n\
                y = pl.add(x, 1.0)\n\
                dst = pl.store(y, [0, 0], dst)\n\
                z = pl.load(dst, [0, 0], [64, 64])\n\
                w = pl.add(z, x)\n\
                dst = pl.store(w, [0, 0], dst)\n\
                return out, s";
    check("chosen_target", body, |n| {
        let stored = [2.0, 0.0, 0.0, 1.0];
        if n > 2 { [stored, NOTHING] } else { [NOTHING, stored] }
    });
}

/// Each iteration reads what the one before has written.
#[test]
fn carried_tensors_change_places() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                out = pl.store(x, [0, 0], out)\n\
                for i, (p, q) in pl.range(0, n, init_values=(out, s)):\n\
                \x20   x = pl.load(p, [0, 0], [64, 64])\n\
                \x20   y = pl.add(x, 1.0)\n\
                \x20   w = pl.store(y, [0, 0], q)\n\
                \x20   front, back = pl.yield_(w, p)\n\
                return out, s";
    check("swapped", body, |n| {
        let step = |n: i32| [1.0, 0.0, 0.0, f64::from(n)];
        match n {
            0 => [step(0), NOTHING],
            n if n % 2 == 0 => [step(n), step(n - 1)],
            n => [step(n - 1), step(n)],
        }
    });
}

#[test]
fn carried_tensors_go_round() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                zero = pl.mul(x, 0.0)\n\
                for i, (p, q, r, sum) in pl.range(0, n, init_values=(a, b, c, zero)):\n\
                \x20   t = pl.load(p, [0, 0], [64, 64])\n\
                \x20   more = pl.add(sum, t)\n\
                \x20   p2, q2, r2, total = pl.yield_(q, r, p, more)\n\
                out = pl.store(total, [0, 0], out)\n\
                last = pl.load(p2, [0, 0], [64, 64])\n\
                s = pl.store(last, [0, 0], s)\n\
                return out, s";
    check("rotated", body, |n| {
        let (mut sum, mut last) = (NOTHING, NOTHING);
        (0..n).for_each(|i| sum[i as usize % 3] += 1.0);
        last[n as usize % 3] = 1.0;
        [sum, last]
    });
}

#[test]
fn a_branch_in_a_loop_decides_what_is_carried_on() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                zero = pl.mul(x, 0.0)\n\
                for i, (p, sum) in pl.range(0, 4, init_values=(a, zero)):\n\
                \x20   t = pl.load(p, [0, 0], [64, 64])\n\
                \x20   more = pl.add(sum, t)\n\
                \x20   if i == n:\n\
                \x20       q = b\n\
                \x20   else:\n\
                \x20       q = p\n\
                \x20   next, total = pl.yield_(q, more)\n\
                out = pl.store(total, [0, 0], out)\n\
                return out";
    check("carried_choice", body, |n| {
        let of_a = f64::from((n + 1).min(4));
        [[of_a, 4.0 - of_a, 0.0, 0.0], NOTHING]
    });
}

#[test]
fn what_an_inner_loop_swaps_an_outer_one_carries() {
    let body = "x = pl.load(a, [0, 0], [64, 64])\n\
                zero = pl.mul(x, 0.0)\n\
                for i, (p, q, sum) in pl.range(0, n, init_values=(a, b, zero)):\n\
                \x20   for j, (u, v, inner) in pl.range(0, 3, init_values=(p, q, sum)):\n\
                \x20       t = pl.load(u, [0, 0], [64, 64])\n\
                \x20       more = pl.add(inner, t)\n\
                \x20       u2, v2, inner2 = pl.yield_(v, u, more)\n\
                \x20   p2, q2, total = pl.yield_(u2, v2, inner2)\n\
                out = pl.store(total, [0, 0], out)\n\
                return out";
    check("swapped_inside", body, |n| {
        let loads = 3 * n;
        [[f64::from((loads + 1) / 2), f64::from(loads / 2), 0.0, 0.0], NOTHING]
    });
}

/// One description of the window cannot fit both: that is said, and no wrong address is printed.
#[test]
fn tensors_of_different_shapes_have_no_pointer_together() {
    let params = "a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INT64], \
                  out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]";
    let body = "for i, (p,) in pl.range(0, n, init_values=(a,)):\n\
                \x20   x = pl.load(p, [0, 0], [64, 64])\n\
                \x20   out = pl.store(x, [0, 0], out)\n\
                \x20   q = pl.yield_(b)\n\
                return out";
    let (kernel, plan) = planned(&program(params, body)).remove(0);
    let findings = codegen::generate(&kernel, &plan).findings;
    let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(
        messages.iter().any(|message| message.ends_with("which differ in shape, element type or layout")),
        "{messages:?}"
    );
}
