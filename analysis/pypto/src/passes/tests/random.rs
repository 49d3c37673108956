//! Random bodies.

use proptest::prelude::*;

use super::{assert_defined, kernels};
use crate::target::Target;

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
