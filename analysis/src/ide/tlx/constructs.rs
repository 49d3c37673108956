//! What TLX kernels are made of.

use super::super::tests::growth::Arranged::{Beside, Within};
use super::super::tests::growth::Construct;

const BUFFER: &str = "b = tlx.local_alloc((64, 64), tl.float16, tl.constexpr(2))";

pub(in crate::ide) fn constructs() -> Vec<Construct> {
    let construct = |name, arranged, text| Construct { name, arranged, text };
    vec![
        construct("allocations", Beside, |n| {
            kernel(&lines(n, |i| format!("b{i} = tlx.local_alloc((64, 64), tl.float16, tl.constexpr(2))")))
        }),
        construct("views of a buffer", Beside, |n| {
            kernel(&format!("{BUFFER}\n{}", lines(n, |i| format!("v{i} = tlx.local_view(b, {})", i % 2))))
        }),
        construct("branches of a kernel", Beside, |n| {
            let branch = |i| format!("if n > {i}:\n    v = tlx.local_view(b, 0)\nelse:\n    v = tlx.local_view(b, 1)");
            kernel(&format!("{BUFFER}\n{}", lines(n, branch)))
        }),
        construct("loops around an allocation", Within, |n| kernel(&nest(n, |i| format!("for i{i} in range(n):")))),
        construct("loops that are unrolled", Within, |n| {
            kernel(&nest(n, |i| format!("for i{i} in tl.static_range(2):")))
        }),
        construct("members of a reuse group", Beside, |n| {
            let members =
                lines(n, |i| format!("b{i} = tlx.local_alloc((64, 64), tl.float16, tl.constexpr(2), reuse=s)"));
            let all: String = (0..n).map(|i| format!("b{i}, ")).collect();
            kernel(&format!(
                "s = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)\n{members}\n\
                 s.set_buffer_overlap(tlx.reuse_group({all}group_type=tlx.reuse_group_type.shared))"
            ))
        }),
        construct("reuse groups in reuse groups", Within, |n| {
            let members =
                lines(n + 1, |i| format!("b{i} = tlx.local_alloc((64, 64), tl.float16, tl.constexpr(2), reuse=s)"));
            let open: String = (0..n).map(|i| format!("tlx.reuse_group(b{i}, ")).collect();
            let close = ", group_type=tlx.reuse_group_type.shared)".repeat(n);
            kernel(&format!(
                "s = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)\n{members}\ns.set_buffer_overlap({open}b{n}{close})"
            ))
        }),
        construct("helpers of helpers", Within, |n| {
            let body = |i: usize| if i + 1 < n { format!("f{}(x)", i + 1) } else { BUFFER.to_owned() };
            let helpers = lines(n, |i| format!("@triton.jit\ndef f{i}(x):\n    {}\n", body(i)));
            kernel("f0(n)").replacen("@triton.jit", &format!("{helpers}\n@triton.jit"), 1)
        }),
        construct("configurations", Beside, |n| {
            let configs: String = (0..n).map(|i| format!("triton.Config({{'BLOCK': {}}}), ", 16 * (i + 1))).collect();
            let tuned = format!("@triton.autotune(configs=[{configs}], key=['n'])\n@triton.jit");
            kernel("b = tlx.local_alloc((64, BLOCK), tl.float16, tl.constexpr(2))").replacen("@triton.jit", &tuned, 1)
        }),
    ]
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

fn nest(depth: usize, head: impl Fn(usize) -> String) -> String {
    let heads: String = (0..depth).map(|i| format!("{}{}\n", "    ".repeat(i), head(i))).collect();
    heads + &"    ".repeat(depth) + BUFFER
}

fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "\
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

@triton.jit
def k(p, n, BLOCK: tl.constexpr):
{body}"
    )
}
