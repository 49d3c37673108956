//! Layouts that TLX kernels name, and what TLX has for AMD. Sizes of what Triton 3.8 has, too, are its compiler's.

use expect_test::{Expect, expect};

use super::plans::describe;

fn check(arch: &str, body: &str, expected: Expect) {
    let lines: String = body.trim().lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("# tilefit: arch={arch} p=fp16\n@triton.jit\ndef kernel(p):\n{lines}");
    expected.assert_eq(&describe(&text, ""));
}

#[test]
fn padded_layouts_pad_between_intervals() {
    check(
        "gfx942",
        "
lay: tl.constexpr = tlx.padded_shared_layout_encoding.with_identity_for([(64, 8)], [64, 64], [1, 0])
a = tlx.local_alloc((64, 64), tl.float16, 3, layout=lay)
tlx.local_store(a[0], tlx.local_load(a[1]))",
        expect![[r#"
            kernel on gfx942: predicted, smem 27632
              a [3, 64, 64] float16 in smem
        "#]],
    );
    check(
        "gfx942",
        "
lay: tl.constexpr = tlx.padded_shared_layout_encoding.with_bases([(512, 16)], [[0, 1], [0, 2], [1, 0]], [2, 4])
a = tlx.local_alloc((64, 64), tl.float16, 1, layout=lay)
tlx.local_store(a[0], tlx.local_load(a[0]))",
        expect![[r#"
            kernel on gfx942: predicted, smem 8416
              a [1, 64, 64] float16 in smem
        "#]],
    );
}

#[test]
fn a_swizzle_and_bases_take_no_more() {
    check(
        "gfx942",
        "
a = tlx.local_alloc((64, 64), tl.float16, 2, layout=tlx.swizzled_layout(3, 3, 3))
b = tlx.local_alloc((2, 2), tl.float32, 1, layout=tlx.shared_linear_layout_encoding([[0, 1], [1, 0]], [], 16))
tlx.local_store(a[0], tlx.local_load(a[1]))
tlx.local_store(b[0], tlx.local_load(b[0]))",
        expect![[r#"
            kernel on gfx942: predicted, smem 16400
              a [2, 64, 64] float16 in smem
              b [1, 2, 2] float32 in smem
        "#]],
    );
}

#[test]
fn a_layout_that_is_asked_for_may_be_converted() {
    check(
        "gfx942",
        "
o = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
a = tlx.local_alloc((64, 64), tl.float16, 1)
x = tlx.require_layout(tl.load(p + o), tlx.amd_mfma_layout(3, [32, 32, 8], True, [2, 2]))
tlx.local_store(a[0], tlx.release_layout(x))
tlx.local_store(a[0], tlx.local_load(a[0]))",
        expect![[r#"
            kernel on gfx942: bounded, smem 8192–16384
              a [1, 64, 64] float16 in smem
              scratch of `convert_layout` in line 10 [8192] int8 in smem
              scratch of `convert_layout` in line 11 [8192] int8 in smem
        "#]],
    );
}

#[test]
fn what_a_descriptor_fills_is_padded() {
    let body = "
desc = tl.make_tensor_descriptor(p, [64, 32], [32, 1], [64, 32])
a = tlx.local_alloc((64, 32), tl.float16, 1)
b = tlx.local_alloc((64, 32), tl.float16, 1)
tlx.async_amd_descriptor_load(desc, a[0], [0, 0])
tlx.async_amd_descriptor_wait(0)
tlx.local_store(b[0], tlx.local_load(a[0]))
tlx.async_amd_descriptor_store(desc, b[0], [0, 0])";
    check(
        "gfx1250",
        body,
        expect![[r#"
            kernel on gfx1250: predicted, smem 9200
              a [1, 64, 32] float16 in smem
              b [1, 64, 32] float16 in smem
        "#]],
    );
    check(
        "gfx950",
        body,
        expect![[r#"
        kernel on gfx950: bounded, smem 8192–12224
          a [1, 64, 32] float16 in smem
          b [1, 64, 32] float16 in smem
    "#]],
    );
}
