//! Autotuned kernels in plain Triton, as many as a benchmark wants: products and reductions of different sizes.

use std::fmt::Write as _;

const IMPORTS: &str = "import triton\nimport triton.language as tl\n";

/// Configurations of each kernel.
pub const CONFIGURATIONS: usize = 8;

const PRODUCT: &str = r#"
@triton.jit
def NAME(a_ptr, b_ptr, c_ptr, K, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * am + depth[None, :]
    b = b_ptr + depth[:, None] * bk + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += BK
        b += BK * bk
    total = total * SCALE
    tl.store(c_ptr + rows[:, None] * cm + columns[None, :], total.to(tl.float16))
"#;

const REDUCTION: &str = r#"
@triton.jit
def NAME(a_ptr, b_ptr, c_ptr, K, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN * BK)
    x = tl.load(a_ptr + rows[:, None] * am + columns[None, :]).to(tl.float32)
    x = tl.exp(x - tl.max(x, 1)[:, None])
    x = x * SCALE / tl.sum(x, 1)[:, None]
    tl.store(c_ptr + rows[:, None] * cm + columns[None, :], x.to(tl.float16))
"#;

/// Blocks, stages and warps.
const SIZES: [(u32, u32, u32, u32, u32); CONFIGURATIONS] = [
    (32, 32, 32, 2, 4),
    (64, 32, 32, 3, 4),
    (64, 64, 32, 2, 4),
    (64, 64, 64, 3, 4),
    (128, 64, 32, 4, 4),
    (128, 64, 64, 3, 8),
    (128, 128, 32, 3, 8),
    (128, 128, 64, 2, 8),
];

/// A module with `count` of them, by turns; no two are the same.
pub fn source(count: usize) -> String {
    let mut text = IMPORTS.to_owned();
    for nth in 0..count {
        let scale = 16 + nth % 80;
        let _ = writeln!(
            text,
            "\n\n# tilefit: a_ptr=fp16 b_ptr=fp16 c_ptr=fp16 arch=sm_90 divisible=a_ptr,b_ptr,c_ptr,am,bk,cm"
        );
        text.push_str("@triton.autotune(\n    configs=[\n");
        for (bm, bn, bk, stages, warps) in SIZES {
            let (bm, bk) = if nth % 2 == 0 { (bm, bk) } else { (bm / 8, bk / 16) };
            let _ = writeln!(
                text,
                "        triton.Config({{\"BM\": {bm}, \"BN\": {bn}, \"BK\": {bk}}}, num_stages={stages}, num_warps={warps}),"
            );
        }
        text.push_str("    ],\n    key=[\"K\"],\n)");
        let kernel = if nth % 2 == 0 { PRODUCT } else { REDUCTION };
        text.push_str(&kernel.replace("NAME", &format!("kernel_{nth}")).replace("SCALE", &scale.to_string()));
    }
    text
}
