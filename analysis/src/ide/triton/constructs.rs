//! What Gluon kernels are made of.

use super::super::tests::growth::Arranged::{Beside, Within};
use super::super::tests::growth::Construct;

const BUFFER: &str = "b = gl.allocate_shared_memory(gl.float16, [2, 64, 64], SHARED)";

pub(super) fn gluon() -> Vec<Construct> {
    let construct = |name, arranged, text| Construct { name, arranged, text };
    vec![
        construct("buffers of Gluon", Beside, |n| {
            kernel(&lines(n, |i| {
                format!(
                    "b{i} = gl.allocate_shared_memory(gl.float16, [64, 64], SHARED)\nb{i}.store(gl.zeros([64, 64], gl.float16, REGISTERS))"
                )
            }))
        }),
        construct("views of a buffer of Gluon", Beside, |n| {
            kernel(&format!(
                "{BUFFER}\n{}",
                lines(n, |i| format!(
                    "v{i} = b.index({})\nv{i}.store(gl.zeros([64, 64], gl.float16, REGISTERS))",
                    i % 2
                ))
            ))
        }),
        construct("branches of a Gluon kernel", Beside, |n| {
            let branch = |i| {
                format!(
                    "if n > {i}:\n    v = b.index(0)\nelse:\n    v = b.index(1)\nv.store(gl.zeros([64, 64], gl.float16, REGISTERS))"
                )
            };
            kernel(&format!("{BUFFER}\n{}", lines(n, branch)))
        }),
        construct("conversions of a Gluon kernel", Beside, |n| {
            let convert = |i| format!("x = gl.convert_layout(x, OTHER if {i} % 2 == 0 else REGISTERS) + {i}");
            kernel(&format!("x = gl.zeros([64, 64], gl.float16, REGISTERS)\n{}\ngl.store(p + x, x)", lines(n, convert)))
        }),
        construct("loops of a Gluon kernel", Within, |n| {
            kernel(&format!("{BUFFER}\n{}", nest(n, |i| format!("for i{i} in range(n):"))))
        }),
    ]
}

/// Of plain Triton.
pub(super) fn triton() -> Vec<Construct> {
    let construct = |name, arranged, text| Construct { name, arranged, text };
    vec![
        construct("products of Triton", Beside, |n| {
            triton_kernel(&lines(n, |i| format!("x = tl.dot(tl.load(p + {i} + tile), tl.load(q + tile), x)")))
        }),
        construct("loops of a Triton kernel", Within, |n| {
            let headers: String = (0..n).map(|i| format!("{}for i{i} in range(n):\n", "    ".repeat(i))).collect();
            triton_kernel(&format!("{headers}{}x = tl.dot(tl.load(p + tile), tl.load(q + tile), x)", "    ".repeat(n)))
        }),
    ]
}

fn triton_kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "import triton\nimport triton.language as tl\n\n\n# tilefit: p=fp16 q=fp16\n@triton.jit\ndef kernel(p, q, n):\n    \
         tile = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]\n    x = tl.zeros((64, 64), tl.float32)\n{body}    tl.store(p + tile, x)\n"
    )
}

fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n\
         REGISTERS = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])\nOTHER = gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])\n\
         SHARED = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])\n\n\n@gluon.jit\ndef kernel(p, n):\n{body}"
    )
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

fn nest(count: usize, header: impl Fn(usize) -> String) -> String {
    let headers: String = (0..count).map(|i| format!("{}{}\n", "    ".repeat(i), header(i))).collect();
    format!("{headers}{}b.index(0).store(gl.zeros([64, 64], gl.float16, REGISTERS))", "    ".repeat(count))
}

/// Of TileLang.
pub(super) fn tilelang() -> Vec<Construct> {
    let construct = |name, arranged, text| Construct { name, arranged, text };
    vec![
        construct("buffers of TileLang", Beside, |n| {
            tilelang_kernel(&lines(n, |i| {
                format!(
                    "b{i} = T.alloc_shared((64, 64), \"float16\")\nT.copy(X[0, {i} * 64], b{i})\nT.copy(b{i}, Y[0, {i} * 64])"
                )
            }))
        }),
        construct("pipelined loops of TileLang", Beside, |n| {
            tilelang_kernel(&lines(n, |i| {
                format!(
                    "b{i} = T.alloc_shared((64, 64), \"float16\")\nfor k{i} in T.Pipelined(8, num_stages=2):\n    T.copy(X[0, k{i} * 64], b{i})\n    \
                     T.copy(b{i}, Y[0, k{i} * 64])"
                )
            }))
        }),
        construct("branches of TileLang", Beside, |n| {
            tilelang_kernel(&lines(n, |i| {
                format!("if bx > {i}:\n    T.copy(X[0, {i}], tile)\nelse:\n    T.copy(tile, Y[0, {i}])")
            }))
        }),
        construct("serial loops of TileLang", Within, |n| {
            let headers: String = (0..n).map(|i| format!("{}for i{i} in T.serial(n):\n", "    ".repeat(i))).collect();
            tilelang_kernel(&format!("{headers}{}T.copy(X[0, 0], tile)", "    ".repeat(n)))
        }),
    ]
}

fn tilelang_kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("            {line}\n")).collect();
    format!(
        "import tilelang\nimport tilelang.language as T\n\n\n# tilefit: n=512\n@tilelang.jit\ndef made(n):\n    @T.prim_func\n    \
         def kernel(X: T.Tensor((n, n), \"float16\"), Y: T.Tensor((n, n), \"float16\")):\n        with T.Kernel(8, threads=128) as bx:\n            \
         tile = T.alloc_shared((64, 64), \"float16\")\n{body}\n    return kernel\n"
    )
}
