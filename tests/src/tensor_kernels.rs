//! PyPTO source on tensors of any size for benchmarks: functions with scopes, as production code has them, that two entries call with
//! tensors of different extents.

use std::fmt::Write as _;

/// Scopes of a function.
const SCOPES: usize = 3;

/// A function of [`SCOPES`] scopes: a normalisation, a product and a softmax. `NAME` stands for the name.
const FUNCTION: &str = r#"

@pl.jit.inline
def NAME(x: pl.Tensor, w: pl.Tensor, gain: pl.Tensor, o: pl.Tensor):
    normed = pl.create_tensor([ROWS, DEPTH], dtype=pl.BF16)
    scores = pl.create_tensor([ROWS, DEPTH], dtype=pl.FP32)
    for block in pl.spmd(ROWS // 64, name_hint="NAME_norm"):
        row = block * 64
        total = pl.full([1, 64], dtype=pl.FP32, value=0.0)
        for k in pl.pipeline(0, DEPTH, 128, stage=2):
            part = pl.cast(x[row : row + 64, k : k + 128], pl.FP32)
            squared = pl.mul(part, part)
            summed = pl.reshape(pl.row_sum(squared), [1, 64])
            total = pl.add(total, summed)
        # the root of the mean
        mean = pl.mul(total, 1.0 / DEPTH)
        scale = pl.reshape(pl.rsqrt(pl.add(mean, EPS)), [64, 1])
        for k in pl.pipeline(0, DEPTH, 128, stage=2):
            part = pl.cast(x[row : row + 64, k : k + 128], pl.FP32)
            gained = pl.col_expand_mul(part, gain[:, k : k + 128])
            scaled = pl.row_expand_mul(gained, scale)
            normed[row : row + 64, k : k + 128] = pl.cast(scaled, pl.BF16)
        corner = pl.slice(x, [64, 128], [64, 64])
        first = pl.mul(pl.cast(corner, pl.FP32), 0.5)
        o[row : row + 64, 0:128] = pl.row_expand_mul(first, scale)

    for block in pl.spmd(DEPTH // 128, name_hint="NAME_project"):
        column = block * 128
        for row in pl.range(0, ROWS, 64):
            acc = pl.create_tensor([64, 128], dtype=pl.FP32)
            for k in pl.pipeline(0, DEPTH, 128, stage=2):
                left = normed[row : row + 64, k : k + 128]
                right = w[k : k + 128, column : column + 128]
                if k == 0:
                    acc = pl.matmul(left, right, out_dtype=pl.FP32)
                else:
                    acc = pl.matmul_acc(acc, left, right)
            scores[row : row + 64, column : column + 128] = acc
        last = pl.slice(normed, [64, 128], [64, 64])
        corner = pl.slice(w, [128, 128], [64, 64])
        scores[0:64, column : column + 128] = pl.matmul(last, corner, out_dtype=pl.FP32)

    with pl.at(level=pl.Level.CORE_GROUP, name_hint="NAME_softmax"):
        for row in pl.range(0, ROWS, 16):
            whole = scores[row : row + 16, 0:DEPTH]
            highest = pl.row_max(whole)
            shifted = pl.row_expand_sub(whole, highest)
            power = pl.exp(shifted)
            weight = pl.row_sum(power)
            shares = pl.row_expand_div(power, weight)
            # what stays of the row before
            earlier = pl.slice(o, [16, DEPTH], [64, 64])
            mixed = pl.add(shares, pl.mul(earlier, 0.25))
            bounded = pl.minimum(mixed, 1.0)
            o[row : row + 16, 0:DEPTH] = bounded
    return o
"#;

/// A file with `count` scopes, of which each entry makes kernels.
pub fn source(count: usize) -> String {
    let mut text = "import pypto.language as pl\n\nROWS, DEPTH = 256, 512\nEPS = 1e-6\n".to_owned();
    let names: Vec<String> = (0..count.div_ceil(SCOPES)).map(|index| format!("layer{index}")).collect();
    for name in &names {
        text.push_str(&FUNCTION.replace("NAME", name));
    }
    for (entry, rows) in [("prefill", 1024), ("decode", 256)] {
        let tensor = |rows: usize, dtype: &str| format!("pl.Tensor[[{rows}, 1024], pl.{dtype}]");
        let (x, w, gain, o) = (tensor(rows, "BF16"), tensor(1024, "BF16"), tensor(1, "FP32"), tensor(rows, "FP32"));
        let _ = writeln!(text, "\n\n@pl.jit\ndef {entry}(x: {x}, w: {w}, gain: {gain}, o: pl.Out[{o}]):");
        for name in &names {
            let _ = writeln!(text, "    o = {name}(x, w, gain, o)");
        }
        text.push_str("    return o\n");
    }
    text
}
