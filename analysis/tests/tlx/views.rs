//! Views of buffers beside what the compiler said of each (triton 3.8 with its TLX plugin): what it refuses, and what is right near to it.

use tilefit_python::diagnostics::Severity;

use super::open;

const SMEM: &str = "a = tlx.local_alloc((64, 64), tl.float16, 2)";
const TMEM: &str = "a = tlx.local_alloc((128, 64), tl.float32, 2, tlx.storage_kind.tmem)";

/// The errors of a kernel that allocates `a` and makes views of it, as `[code] message`.
fn errors(allocation: &str, views: &str) -> Vec<String> {
    let body: String = views.lines().map(|line| format!("    {line}\n")).collect();
    let fixture = open(
        &format!(
            "@triton.jit\ndef half(buffer):\n    return tlx.local_slice(buffer, [0, 48], [64, 32])\n\n@triton.jit\ndef kernel(x, n, C: tl.constexpr):\n    {allocation}\n{body}"
        ),
        "",
    );
    let errors = fixture.diagnostics().into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| format!("[{}] {}", diagnostic.code.name(), diagnostic.message)).collect()
}

#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (allocation, views, expected) in rows {
        let found = errors(allocation, views);
        match *expected {
            "" => assert!(found.is_empty(), "{views}: {found:#?}"),
            expected => {
                let is_said = matches!(found.as_slice(), [only] if only.starts_with(expected));
                assert!(is_said, "{views}: expected {expected}, found {found:#?}");
            }
        }
    }
}

#[test]
fn slices_of_shared_memory() {
    check(&[
        (SMEM, "v = tlx.local_slice(a[0], [0, 32], [64, 32])", ""),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0, 48], [64, 32])",
            "[invalid-view] The split offset may not touch the tile: 48 in dimension 1",
        ),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0, 64], [64, 32])",
            "[invalid-view] The split offset may not exceed the source shape: 64 in dimension 1",
        ),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0, 0], [128, 64])",
            "[invalid-view] shape must be less than or equal to allocShape",
        ),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0], [64])",
            "[invalid-view] local_slice offset and shape must match the source rank",
        ),
        (
            SMEM,
            "v = tlx.local_slice(a, [0, 0], [64, 32])",
            "[invalid-view] local_slice offset and shape must match the source rank",
        ),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [32, 64], [32, 64])",
            "[invalid-view] A non zero offset found in a dimension that is not being split",
        ),
        // Nothing checks these.
        (SMEM, "v = tlx.local_slice(a[0], [-32, 0], [32, 64])", "[index-out-of-range] the slice is outside `a`"),
        (SMEM, "v = tlx.local_slice(a[0], [0, 64], [64, 64])", "[index-out-of-range] the slice is outside `a`"),
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0, 0], [32, 64])\nw = tlx.local_slice(v, [0, 0], [64, 64])",
            "[index-out-of-range] shape must be less than or equal",
        ),
        // Of a slice, and of a permutation.
        (
            SMEM,
            "v = tlx.local_slice(a[0], [0, 0], [32, 64])\nw = tlx.local_slice(v, [32, 0], [16, 64])",
            "[invalid-view] The split offset may not exceed the source shape: 32 in dimension 0, `a` has 32 here",
        ),
        (
            "a = tlx.local_alloc((128, 64), tl.float16, 2)",
            "v = tlx.local_slice(tlx.local_trans(a[0]), [32, 0], [32, 128])",
            "",
        ),
        (
            "a = tlx.local_alloc((128, 64), tl.float16, 2)",
            "v = tlx.local_slice(tlx.local_trans(a[0]), [64, 0], [32, 128])",
            "[invalid-view] The split offset may not exceed the source shape",
        ),
        // What is known at run time only may be right.
        (SMEM, "v = tlx.local_slice(a[0], [n, 0], [32, 64])", ""),
        (SMEM, "o = 48\nv = tlx.local_slice(a[0], [o, 0], [32, 64])", ""),
        (SMEM, "if C:\n    v = tlx.local_slice(a[0], [48, 0], [32, 64])", ""),
        // A helper does not know what it is given; its caller does.
        (SMEM, "v = half(a[0])", "[invalid-view] The split offset may not touch the tile"),
    ]);
}

#[test]
fn slices_of_tensor_memory() {
    check(&[
        (TMEM, "v = tlx.subslice(a[0], 32, 32)\nw = tlx.local_slice(a[0], [0, 32], [128, 32])", ""),
        (
            TMEM,
            "v = tlx.subslice(a[0], 48, 32)",
            "[invalid-view] Subslice range exceeds source shape: columns 48 to 80 of `a`, which has 64",
        ),
        (TMEM, "v = tlx.subslice(a[0], 16, 32)", "[invalid-view] The split offset may not touch the tile: column 16"),
        (TMEM, "v = tlx.subslice(a[0], -32, 32)", "[invalid-view] Subslice range exceeds source shape"),
        (TMEM, "v = tlx.subslice(a[0], 0, 48)", "[invalid-view] shape must have power-of-2 and non-zero dimensions"),
        (
            TMEM,
            "v = tlx.local_slice(a[0], [64, 0], [64, 32])",
            "[invalid-view] a slice of tensor memory starts at row 0",
        ),
        (TMEM, "v = tlx.local_slice(a[0], [0], [32])", "[invalid-view] a slice of tensor memory has two offsets"),
        (SMEM, "v = tlx.subslice(a[0], 0, 32)", "[invalid-view] subslice is only supported for tmem"),
        ("a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.tmem)", "v = tlx.subslice(a[0], 0, 32)", ""),
    ]);
}

#[test]
fn permutations() {
    check(&[
        (SMEM, "v = tlx.local_trans(a[0])\nw = tlx.local_trans(a[1], (1, 0))", ""),
        (
            SMEM,
            "v = tlx.local_trans(a[0], (0, 1, 2))",
            "[invalid-view] permute dims must have the same length as input shape",
        ),
        (
            SMEM,
            "v = tlx.local_trans(a[0], (0, 0))",
            "[invalid-view] permute dims must be a permutation of 0, 1, ..., n-1",
        ),
        (
            "a = tlx.local_alloc((64,), tl.float16, 2)",
            "v = tlx.local_trans(a[0])",
            "[invalid-view] permute dims must have the same length",
        ),
        ("a = tlx.local_alloc((2, 64, 64), tl.float16, 2)", "v = tlx.local_trans(a[0], (0, 2, 1))", ""),
    ]);
}

#[test]
fn other_types_and_shapes() {
    check(&[
        (SMEM, "v = tlx.local_reinterpret(a[0], tl.int16)\nw = tlx.local_reinterpret(a[0], tl.float16, [32, 128])", ""),
        (
            SMEM,
            "v = tlx.local_reinterpret(a[0], tl.float32)",
            "[invalid-view] source and result must have the same logical storage size: this view takes 16384 bytes, `a` has 8192 here",
        ),
        (
            SMEM,
            "v = tlx.local_reinterpret(a[0], tl.float16, [128, 128])",
            "[invalid-view] source and result must have the same logical storage size",
        ),
        (
            SMEM,
            "v = tlx.local_reinterpret(tlx.local_slice(a[0], [0, 0], [32, 64]), tl.int16)",
            "[invalid-view] source and result must not be subviews",
        ),
        (TMEM, "v = tlx.local_reinterpret(a[0], tl.float16)", ""),
        (
            TMEM,
            "v = tlx.local_reinterpret(a[0], tl.float32, [64, 128])",
            "[invalid-view] TLX local_reinterpret with reshaping only supports SMEM",
        ),
        (SMEM, "v = tlx.local_reshape(a[0], [32, 128])", ""),
        (
            SMEM,
            "v = tlx.local_reshape(a[0], [32, 64])",
            "[invalid-view] number of src and dst elements of reshape must be the same",
        ),
        (TMEM, "v = tlx.local_reshape(a[0], [64, 128])", "[invalid-view] TLX local_reshape only supports SMEM"),
    ]);
}

#[test]
fn indices_survive_views_and_conditions() {
    check(&[
        (SMEM, "v = tlx.local_reinterpret(a, tl.int16, [2, 64, 64])\nw = v[1]", ""),
        (
            SMEM,
            "v = tlx.local_reinterpret(a, tl.int16, [2, 64, 64])\nw = v[2]",
            "[index-out-of-range] index 2 is outside `a`, which has 2 buffers",
        ),
        (
            SMEM,
            "v = tlx.local_reinterpret(a, tl.int16)\nw = v[2]",
            "[index-out-of-range] index 2 is outside `a`, which has 2 buffers",
        ),
        (SMEM, "b = tlx.local_alloc((64, 64), tl.float16, 4)\nif C:\n    v = a\nelse:\n    v = b\nw = v[3]", ""),
        (
            SMEM,
            "b = tlx.local_alloc((64, 64), tl.float16, 4)\nif C:\n    v = a\nelse:\n    v = b\nw = v[4]",
            "[index-out-of-range] index 4 is outside `a`, which has 2 buffers",
        ),
        (
            "a = tlx.alloc_barriers(2)",
            "b = tlx.alloc_barriers(2)\nw = (a if C else b)[2]",
            "[index-out-of-range] index 2 is outside `a`, which has 2 buffers",
        ),
        (
            "a = tlx.alloc_barriers(2)",
            "v = tlx.remote_view(a[2], 1)",
            "[index-out-of-range] index 2 is outside `a`, which has 2 buffers",
        ),
        (
            "a = tlx.alloc_barriers(2)",
            "v = tlx.remote_view(a, 1)\nw = v[2]",
            "[index-out-of-range] index 2 is outside `a`, which has 2 buffers",
        ),
    ]);
}
