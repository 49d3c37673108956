//! Each quick fix is applied, and what it fixes is gone.

use expect_test::{Expect, expect};
use tilefit_analysis::ide::Effect;
use tilefit_python::diagnostics::{Code, Severity};

use super::{IMPORTS, open};

/// Prints what each fix for `code` makes of the text; after it the diagnostic is gone, and no error has come.
#[track_caller]
fn check(code: Code, text: &str, expected: Expect) {
    let fixture = open(text, "");
    let before = fixture.diagnostics();
    assert!(before.iter().any(|diagnostic| diagnostic.code == code), "{before:?}");
    let mut out = String::new();
    for action in fixture.code_actions(fixture.whole()) {
        let Effect::Fix(fix) = action.effect else { continue };
        if fix.fixes.code != code {
            continue;
        }
        assert!(before.contains(&fix.fixes), "{:?}", fix.fixes);
        let fixed = fixture.edited(&fix.edits);
        let fixed = fixed.strip_prefix(IMPORTS).expect("imports stay").to_owned();
        let after = open(&fixed, "").diagnostics();
        assert!(after.iter().all(|diagnostic| diagnostic.code != code), "{}:\n{fixed}\n{after:?}", action.title);
        let errors = |all: &[tilefit_analysis::ide::Diagnostic]| {
            all.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
        };
        assert!(errors(&after) <= errors(&before), "{}:\n{fixed}\n{after:?}", action.title);
        let preferred = if fix.preferred { "" } else { " (not preferred)" };
        out.push_str(&format!("# {}{preferred}\n", action.title));
        for line in fixed.lines().filter(|line| !fixture.text.lines().any(|old| old == *line)) {
            out.push_str(line);
            out.push('\n');
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn one_stage_less() {
    check(
        Code::CapacityExceeded,
        "
# tilefit: STAGES=6 BLOCK=128 target=sm_90
@triton.jit
def kernel(desc, out, STAGES: tl.constexpr, BLOCK: tl.constexpr, SLOTS: tl.constexpr = 2):
    tiles = tlx.local_alloc((BLOCK, 128), tl.float16, STAGES)
    more = tlx.local_alloc((BLOCK, 128), tl.float16, num=3)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            tlx.local_store(tiles[0], tlx.local_load(tiles[1]))
            tlx.local_store(more[0], tlx.local_load(more[1]))
",
        expect![[r#"
            # `STAGES = 4` fits: 224 KiB of shared memory (not preferred)
            # tilefit: STAGES=4 BLOCK=128 target=sm_90
            # `BLOCK = 64` fits: 144 KiB of shared memory (not preferred)
            # tilefit: STAGES=6 BLOCK=64 target=sm_90
        "#]],
    );
}

#[test]
fn the_storage_of_the_spec() {
    check(
        Code::StorageMismatch,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    a = tlx.local_alloc((128, 64), tl.float32, 1, reuse=spec)
    view = a[0]
",
        expect![[r#"
            # Allocate in tmem
                a = tlx.local_alloc((128, 64), tl.float32, 1, reuse=spec, storage=tlx.storage_kind.tmem)
        "#]],
    );
    check(
        Code::StorageMismatch,
        "
@triton.jit
def kernel():
    base = tlx.local_alloc((128, 64), tl.float32, 1)
    a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem, base)
    view = a[0]
",
        expect![[r#"
            # Allocate in smem
                a = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.smem, base)
        "#]],
    );
}

#[test]
fn a_missing_leaf() {
    check(
        Code::MissingLeaf,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            a,  # first
            group_type=tlx.reuse_group_type.distinct,
        )
    )
    views = a[0], b[0]
",
        expect![[r#"
            # Add `b` to the reuse group of `spec`
                        a, b,  # first
        "#]],
    );
    // An allocation below the definition is not known there yet.
    check(
        Code::MissingLeaf,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a))
    b = tlx.local_alloc((64, 64), tl.float32, 1, reuse=spec)
    views = a[0], b[0]
",
        expect![[""]],
    );
}

#[test]
fn leaves_in_decreasing_order() {
    check(
        Code::NotDivisible,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    c = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a, b, c, group_type=tlx.reuse_group_type.distinct))
    views = a[0], b[0], c[0]
",
        expect![[r#"
            # Put the larger members of the distinct group first
                spec.set_buffer_overlap(tlx.reuse_group(b, a, c, group_type=tlx.reuse_group_type.distinct))
        "#]],
    );
}

#[test]
fn leaves_that_fill_up() {
    check(
        Code::NotDivisible,
        "
@triton.jit
def kernel(N: tl.constexpr = 2):
    padding = 3
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((128, 64), tl.float32, N, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float16, N, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
    views = a[0], b[0]
",
        expect![[r#"
            # Pad the distinct group with 24576 bytes
                padding_8192 = tlx.local_alloc((8192,), tl.uint8, N, reuse=spec)
                padding_16384 = tlx.local_alloc((16384,), tl.uint8, N, reuse=spec)
                spec.set_buffer_overlap(tlx.reuse_group(a, b, padding_8192, padding_16384, group_type=tlx.reuse_group_type.distinct))
        "#]],
    );
}

#[test]
fn sizes_of_specs() {
    check(
        Code::SpecTooSmall,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(buffer_size_bytes=4096)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    view = a[0]
",
        expect![[r#"
            # Make `buffer_size_bytes` 32768
                spec = tlx.storage_alias_spec(buffer_size_bytes=32768)
        "#]],
    );
    check(
        Code::BackingShape,
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec()
    a = tlx.local_alloc((64, 64), tl.float32, 3, reuse=spec)
    view = a[0]
",
        expect![[r#"
            # Make `buffer_size_bytes` 65536
                spec = tlx.storage_alias_spec(buffer_size_bytes=65536)
        "#]],
    );
}

#[test]
fn the_older_form_of_reuse() {
    check(
        Code::LegacyReuse,
        "
@triton.jit
def kernel():
    qk = tlx.local_alloc((128, 128), tl.float32, 2, tlx.storage_kind.tmem)
    p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk)  # half of it
    q = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=p)
    views = qk[0], p[0], q[0]
",
        expect![[r#"
            # Make all allocations reuse the spec `qk_storage_alias`
                qk_storage_alias = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
                qk = tlx.local_alloc((128, 128), tl.float32, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)  # half of it
                q = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
            # Make all allocations reuse the spec `qk_storage_alias`, buffer by buffer (not preferred)
                qk_storage_alias = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
                qk = tlx.local_alloc((128, 128), tl.float32, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)  # half of it
                q = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                qk_storage_alias.set_buffer_overlap(tlx.reuse_group(qk, p, q, group_type=tlx.reuse_group_type.shared))
            # Make all allocations reuse the spec `qk_storage_alias`
                qk_storage_alias = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
                qk = tlx.local_alloc((128, 128), tl.float32, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)  # half of it
                q = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
            # Make all allocations reuse the spec `qk_storage_alias`, buffer by buffer (not preferred)
                qk_storage_alias = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
                qk = tlx.local_alloc((128, 128), tl.float32, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)  # half of it
                q = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                qk_storage_alias.set_buffer_overlap(tlx.reuse_group(qk, p, q, group_type=tlx.reuse_group_type.shared))
        "#]],
    );
    // Indices are scaled by hand: no group.
    check(
        Code::LegacyReuse,
        "
@triton.jit
def kernel():
    qk = tlx.local_alloc((128, 128), tl.float32, 1, tlx.storage_kind.tmem)
    p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk)
    views = qk[0], p[1]
",
        expect![[r#"
            # Make all allocations reuse the spec `qk_storage_alias`
                qk_storage_alias = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
                qk = tlx.local_alloc((128, 128), tl.float32, 1, tlx.storage_kind.tmem, reuse=qk_storage_alias)
                p = tlx.local_alloc((128, 128), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=qk_storage_alias)
        "#]],
    );
}

#[test]
fn a_scenario_comment() {
    check(
        Code::NotModelled,
        "
@triton.jit
def kernel(desc, HEAD_DIM: tl.constexpr):
    a = tlx.local_alloc((64, HEAD_DIM), tl.float32, 1)
    b = tlx.local_alloc((64, 64), tlx.dtype_of(desc), 1)
    views = a[0], b[0]
",
        expect![[r#"
            # Add missing values: `# tilefit: desc=bf16 HEAD_DIM=128` (not preferred)
            # tilefit: desc=bf16 HEAD_DIM=128
        "#]],
    );
    // One size that needs three values, of which the last decides whether there is another.
    check(
        Code::NotModelled,
        "
@triton.jit
def kernel(desc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WIDE: tl.constexpr):
    a = tlx.local_alloc((M, N), tlx.dtype_of(desc), 1)
    if M > N:
        b = tlx.local_alloc((K, 64), tl.float16, 1)
    else:
        b = tlx.local_alloc((WIDE, 64), tl.float16, 1)
    views = a[0], b[0]
",
        expect![[r#"
            # Add missing values: `# tilefit: desc=bf16 M=128 N=128 K=128 WIDE=128` (not preferred)
            # tilefit: desc=bf16 M=128 N=128 K=128 WIDE=128
        "#]],
    );
}
