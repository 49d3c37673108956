//! The examples of the design document (`docs/reference/tlx.md`), phase by phase: under its own rules, and under those of the compiler.

use expect_test::{Expect, expect};

use super::open;
use super::plans::describe;

#[track_caller]
fn both(text: &str, seed: Expect, compiler: Expect) {
    seed.assert_eq(&describe(text, "[tlx]\nrules = \"seed\"\n"));
    compiler.assert_eq(&describe(text, ""));
}

pub(super) const PHASE_5: &str = "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=32768)
    qk = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    p = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    alpha = tlx.local_alloc((64,), tl.float32, 2, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            qk,
            tlx.reuse_group(p, alpha, group_type=tlx.reuse_group_type.distinct),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    views = qk[0], p[0], alpha[0]
    tlx.local_store(qk[0], tlx.local_load(qk[1]))
    tlx.local_store(p[0], tlx.local_load(p[1]))
    tlx.local_store(alpha[0], tlx.local_load(alpha[1]))
";

#[test]
fn phase_5_and_its_listing() {
    both(
        PHASE_5,
        expect![[r#"
            kernel on sm_100: predicted, smem 40960, tmem 0
              spec: size Some(32768), extent Some(40960)
              qk [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              p [2, 64, 64] float16 in smem at Some(0) of Some(4): [[0, 8192], [16384, 24576]]
              alpha [2, 64] float32 in smem at Some(8192) of Some(160): [[8192, 8448], [24576, 24832]]
              line 8: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 8704 bytes more, and 191488 bytes are free on sm_100
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              qk [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              p [2, 64, 64] float16 in smem at Some(0) of Some(3): [[0, 8192], [16384, 24576]]
              alpha [2, 64] float32 in smem at Some(8192) of Some(97): [[8192, 8448], [24576, 24832]]
              spec [32768] int8 in smem
              line 8: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 16896 bytes more, and 199680 bytes are free on sm_100
        "#]],
    );
}

/// A spec without allocations is as far as phase 1 goes.
#[test]
fn phase_1_specs() {
    both(
        "
@triton.jit
def kernel():
    unsized = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    sized = tlx.storage_alias_spec(
        storage=tlx.storage_kind.tmem,
        buffer_size_bytes=16384,
    )
    cluster = tlx.storage_alias_spec(storage=tlx.storage_kind.smemCluster)
",
        expect![[r#"
            kernel on sm_100: rejected, smem 0, tmem 32
              unsized: size Some(0), extent Some(0)
              sized: size Some(16384), extent Some(16384)
              cluster: size Some(0), extent Some(0)
              line 9: error [rejected] smemCluster storage is not supported for storage_alias_spec
              line 4: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `unsized` with `reuse=unsized`, or remove it; the compiler fails on it later
              line 5: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `sized` with `reuse=sized`, or remove it; the compiler fails on it later
              line 9: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `cluster` with `reuse=cluster`, or remove it; the compiler fails on it later
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 0, tmem 0
              unsized: size Some(0), extent Some(0)
              sized: size Some(16384), extent Some(64)
              cluster: size Some(0), extent Some(0)
              line 9: error [rejected] smemCluster storage is not supported for storage_alias_spec
              line 4: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `unsized` with `reuse=unsized`, or remove it; the compiler fails on it later
              line 5: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `sized` with `reuse=sized`, or remove it; the compiler fails on it later
              line 9: warning [unused-spec] storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `cluster` with `reuse=cluster`, or remove it; the compiler fails on it later
        "#]],
    );
}

#[test]
fn phase_2_computes_the_size() {
    both(
        "
@triton.jit
def kernel():
    shared = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=shared)
    b = tlx.local_alloc((64, 64), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=shared)
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              shared: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              shared: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
              shared [32768] int8 in smem
        "#]],
    );
}

#[test]
fn phase_2_validates_the_size() {
    both(
        "
@triton.jit
def kernel():
    shared = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=16384)
    a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=shared)
    b = tlx.local_alloc((64, 64), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=shared)
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              shared: size Some(16384), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
              line 4: error [spec-too-small] shared_buffer_def size 16384 is too small, requires at least 32768 bytes
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              shared: size Some(16384), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
              shared [32768] int8 in smem
              line 4: error [spec-too-small] storage_alias_spec buffer_size_bytes 16384 is too small for computed shape, requires at least 32768 bytes
        "#]],
    );
}

#[test]
fn phase_2_allows_padding() {
    both(
        "
@triton.jit
def kernel():
    shared = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=65536)
    a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=shared)
    b = tlx.local_alloc((64, 64), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=shared)
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              shared: size Some(65536), extent Some(65536)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              shared: size Some(65536), extent Some(65536)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at None of Some(2): [[0, 8192], [8192, 16384]]
              shared [65536] int8 in smem
        "#]],
    );
}

#[test]
fn phase_2_compares_the_storage() {
    both(
        "
@triton.jit
def kernel():
    shared = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.tmem, reuse=shared)
    view = a[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              shared: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              line 5: error [storage-mismatch] storage_alias_spec storage (smem) doesn't match local_alloc storage (tmem); pass `storage=tlx.storage_kind.smem`
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              shared: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              shared [32768] int8 in smem
              line 5: error [storage-mismatch] storage_alias_spec storage (smem) doesn't match local_alloc storage (tmem); pass `storage=tlx.storage_kind.smem`
        "#]],
    );
}

#[test]
fn phase_3_shared() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared)
    )
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at Some(0) of Some(4): [[0, 8192], [16384, 24576]]
              line 7: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 16384 bytes more, and 199680 bytes are free on sm_100
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] bfloat16 in smem at Some(0) of Some(3): [[0, 8192], [16384, 24576]]
              spec [32768] int8 in smem
              line 7: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 16384 bytes more, and 199680 bytes are free on sm_100
        "#]],
    );
}

/// The listing passes the spec to `reuse_group`, which both rule sets refuse.
#[test]
fn phase_4_attention_as_it_is_printed() {
    both(
        "
@triton.jit
def kernel(BLOCK_M: tl.constexpr = 128, HEAD_DIM: tl.constexpr = 64, NUM_BUFFERS: tl.constexpr = 2):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    qk_tiles = tlx.local_alloc((BLOCK_M, HEAD_DIM), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    p_tiles = tlx.local_alloc((BLOCK_M, HEAD_DIM), tl.bfloat16, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    alpha = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    l = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    m = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            spec, qk_tiles,
            tlx.reuse_group(
                spec, p_tiles,
                tlx.reuse_group(spec, alpha, l, m, group_type=tlx.reuse_group_type.distinct),
                group_type=tlx.reuse_group_type.distinct,
            ),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    views = qk_tiles[0], p_tiles[0], alpha[0], l[0], m[0]
    tlx.local_store(qk_tiles[0], tlx.local_load(qk_tiles[1]))
    tlx.local_store(p_tiles[0], tlx.local_load(p_tiles[1]))
    tlx.local_store(alpha[0], tlx.local_load(alpha[1]))
    tlx.local_store(l[0], tlx.local_load(l[1]))
    tlx.local_store(m[0], tlx.local_load(m[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 0–, tmem 0–
              spec: size None, extent None
              qk_tiles [2, 128, 64] float32 in tmem at None of Some(2): [[0, 32768], [32768, 65536]]
              p_tiles [2, 128, 64] bfloat16 in tmem at None of Some(2): [[0, 16384], [16384, 32768]]
              alpha [2, 128, 1] float32 in tmem at None of Some(2): [[0, 512], [512, 1024]]
              l [2, 128, 1] float32 in tmem at None of Some(2): [[0, 512], [512, 1024]]
              m [2, 128, 1] float32 in tmem at None of Some(2): [[0, 512], [512, 1024]]
              line 15: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 14: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 12: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 15: error [invalid-overlap] a nested reuse_group must have another group_type than its parent
              line 3: hint [not-modelled] some sizes are unknown: an element of the group is not a buffer
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 0–, tmem 0–
              spec: size None, extent None
              qk_tiles [2, 128, 64] float32 in tmem at None of Some(2): [[0, 64], [64, 128]]
              p_tiles [2, 128, 64] bfloat16 in tmem at None of Some(2): [[0, 32], [32, 64]]
              alpha [2, 128, 1] float32 in tmem at None of Some(2): [[0, 1], [1, 2]]
              l [2, 128, 1] float32 in tmem at None of Some(2): [[0, 1], [1, 2]]
              m [2, 128, 1] float32 in tmem at None of Some(2): [[0, 1], [1, 2]]
              spec [] int32 in tmem
              line 15: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 14: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 12: error [rejected] reuse_group elements must be buffered_tensor or reuse_group, got storage_alias_spec
              line 3: hint [not-modelled] some sizes are unknown: an element of the group is not a buffer
        "#]],
    );
}

/// The same without the specs. Its inner groups are of one kind, which the text of phase 3 forbids.
#[test]
fn phase_4_attention() {
    both(
        "
@triton.jit
def kernel(BLOCK_M: tl.constexpr = 128, HEAD_DIM: tl.constexpr = 64, NUM_BUFFERS: tl.constexpr = 2):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    qk_tiles = tlx.local_alloc((BLOCK_M, HEAD_DIM), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    p_tiles = tlx.local_alloc((BLOCK_M, HEAD_DIM), tl.bfloat16, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    alpha = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    l = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    m = tlx.local_alloc((BLOCK_M, 1), tl.float32, NUM_BUFFERS, tlx.storage_kind.tmem, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            qk_tiles,
            tlx.reuse_group(
                p_tiles,
                tlx.reuse_group(alpha, l, m, group_type=tlx.reuse_group_type.distinct),
                group_type=tlx.reuse_group_type.distinct,
            ),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    views = qk_tiles[0], p_tiles[0], alpha[0], l[0], m[0]
    tlx.local_store(qk_tiles[0], tlx.local_load(qk_tiles[1]))
    tlx.local_store(p_tiles[0], tlx.local_load(p_tiles[1]))
    tlx.local_store(alpha[0], tlx.local_load(alpha[1]))
    tlx.local_store(l[0], tlx.local_load(l[1]))
    tlx.local_store(m[0], tlx.local_load(m[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 0, tmem 256
              spec: size Some(65536), extent Some(82944)
              qk_tiles [2, 128, 64] float32 in tmem at Some(0) of Some(2): [[0, 32768], [32768, 65536]]
              p_tiles [2, 128, 64] bfloat16 in tmem at Some(0) of Some(4): [[0, 16384], [32768, 49152]]
              alpha [2, 128, 1] float32 in tmem at Some(16384) of Some(160): [[16384, 16896], [49152, 49664]]
              l [2, 128, 1] float32 in tmem at Some(16896) of Some(161): [[16896, 17408], [49664, 50176]]
              m [2, 128, 1] float32 in tmem at Some(17408) of Some(162): [[17408, 17920], [50176, 50688]]
              line 15: error [invalid-overlap] a nested reuse_group must have another group_type than its parent
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 4, tmem 128
              spec: size Some(65536), extent Some(128)
              qk_tiles [2, 128, 64] float32 in tmem at Some(0) of Some(2): [[0, 64], [64, 128]]
              p_tiles [2, 128, 64] bfloat16 in tmem at Some(0) of Some(3): [[0, 32], [64, 96]]
              alpha [2, 128, 1] float32 in tmem at Some(32) of Some(97): [[32, 33], [96, 97]]
              l [2, 128, 1] float32 in tmem at Some(33) of Some(98): [[33, 34], [97, 98]]
              m [2, 128, 1] float32 in tmem at Some(34) of Some(99): [[34, 35], [98, 99]]
              spec [128] int32 in tmem
              line 10: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 128 columns more, and 384 columns are free on sm_100
        "#]],
    );
}

#[test]
fn phase_4_large_blocks_share() {
    both(
        "
@triton.jit
def kernel(BLOCK_M: tl.constexpr = 128):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a_tiles = tlx.local_alloc((BLOCK_M, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec)
    b_tiles = tlx.local_alloc((BLOCK_M, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec)
    if BLOCK_M >= 128:
        spec.set_buffer_overlap(
            tlx.reuse_group(a_tiles, b_tiles, group_type=tlx.reuse_group_type.shared)
        )
    else:
        spec.set_buffer_overlap(
            tlx.reuse_group(a_tiles, b_tiles, group_type=tlx.reuse_group_type.distinct)
        )
    views = a_tiles[0], b_tiles[0]
    tlx.local_store(a_tiles[0], tlx.local_load(a_tiles[1]))
    tlx.local_store(b_tiles[0], tlx.local_load(b_tiles[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              spec: size Some(65536), extent Some(65536)
              a_tiles [2, 128, 64] float32 in smem at Some(0) of Some(2): [[0, 32768], [32768, 65536]]
              b_tiles [2, 128, 64] float32 in smem at Some(0) of Some(2): [[0, 32768], [32768, 65536]]
              line 8: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 65536 bytes more, and 166912 bytes are free on sm_100
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              spec: size Some(65536), extent Some(65536)
              a_tiles [2, 128, 64] float32 in smem at Some(0) of Some(2): [[0, 32768], [32768, 65536]]
              b_tiles [2, 128, 64] float32 in smem at Some(0) of Some(2): [[0, 32768], [32768, 65536]]
              spec [65536] int8 in smem
              line 8: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 65536 bytes more, and 166912 bytes are free on sm_100
        "#]],
    );
}

/// Distinct groups need twice as much, which the seed's size pass of phase 2 does not know.
#[test]
fn phase_4_small_blocks_do_not() {
    both(
        "
@triton.jit
def kernel(BLOCK_M: tl.constexpr = 64):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a_tiles = tlx.local_alloc((BLOCK_M, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec)
    b_tiles = tlx.local_alloc((BLOCK_M, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec)
    if BLOCK_M >= 128:
        spec.set_buffer_overlap(
            tlx.reuse_group(a_tiles, b_tiles, group_type=tlx.reuse_group_type.shared)
        )
    else:
        spec.set_buffer_overlap(
            tlx.reuse_group(a_tiles, b_tiles, group_type=tlx.reuse_group_type.distinct)
        )
    views = a_tiles[0], b_tiles[0]
    tlx.local_store(a_tiles[0], tlx.local_load(a_tiles[1]))
    tlx.local_store(b_tiles[0], tlx.local_load(b_tiles[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a_tiles [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b_tiles [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              line 12: error [spec-too-small] not enough space for distinct allocations: need 32768 bytes, have 16384 bytes; make `buffer_size_bytes` larger, or remove it
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              spec: size Some(65536), extent Some(65536)
              a_tiles [2, 64, 64] float32 in smem at Some(0) of Some(3): [[0, 16384], [32768, 49152]]
              b_tiles [2, 64, 64] float32 in smem at Some(16384) of Some(4): [[16384, 32768], [49152, 65536]]
              spec [65536] int8 in smem
        "#]],
    );
}

#[test]
fn phase_5_shared_offsets() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=32768)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared)
    )
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float16 in smem at Some(0) of Some(4): [[0, 8192], [16384, 24576]]
              line 7: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 16384 bytes more, and 199680 bytes are free on sm_100
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float16 in smem at Some(0) of Some(3): [[0, 8192], [16384, 24576]]
              spec [32768] int8 in smem
              line 7: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 16384 bytes more, and 199680 bytes are free on sm_100
        "#]],
    );
}

#[test]
fn phase_5_distinct_offsets() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=65536)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct)
    )
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 81920, tmem 0
              spec: size Some(65536), extent Some(81920)
              a [2, 64, 64] float32 in smem at Some(0) of Some(4): [[0, 16384], [32768, 49152]]
              b [2, 64, 64] float32 in smem at Some(16384) of Some(5): [[16384, 32768], [49152, 65536]]
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 65536, tmem 0
              spec: size Some(65536), extent Some(65536)
              a [2, 64, 64] float32 in smem at Some(0) of Some(3): [[0, 16384], [32768, 49152]]
              b [2, 64, 64] float32 in smem at Some(16384) of Some(4): [[16384, 32768], [49152, 65536]]
              spec [65536] int8 in smem
        "#]],
    );
}

/// The seed names the offsets' error; the size is too small already in the step before.
#[test]
fn phase_5_not_enough_space() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=1024)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct)
    )
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              spec: size Some(1024), extent Some(32768)
              a [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float32 in smem at None of Some(2): [[0, 16384], [16384, 32768]]
              line 4: error [spec-too-small] shared_buffer_def size 1024 is too small, requires at least 32768 bytes
              line 7: error [spec-too-small] not enough space for distinct allocations: need 32768 bytes, have 512 bytes; make `buffer_size_bytes` larger, or remove it
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 65536, tmem 0
              spec: size Some(1024), extent Some(65536)
              a [2, 64, 64] float32 in smem at Some(0) of Some(3): [[0, 16384], [32768, 49152]]
              b [2, 64, 64] float32 in smem at Some(16384) of Some(4): [[16384, 32768], [49152, 65536]]
              spec [65536] int8 in smem
              line 4: error [spec-too-small] storage_alias_spec buffer_size_bytes 1024 is too small for computed shape, requires at least 65536 bytes
        "#]],
    );
}

#[test]
fn phase_5_two_definitions() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared)
    )
    spec.set_buffer_overlap(
        tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct)
    )
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              line 10: error [invalid-overlap] storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              spec [32768] int8 in smem
              line 10: error [invalid-overlap] storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition
        "#]],
    );
}

/// 64-byte buffers at a distance of 128 bytes, the second of them after the first.
#[test]
fn phase_6_padding_with_an_offset() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=256)
    first = tlx.local_alloc((4, 8), tl.float16, 2, reuse=spec)
    second = tlx.local_alloc((4, 8), tl.float16, 2, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(first, second, group_type=tlx.reuse_group_type.distinct))
    views = first[0], second[0]
    tlx.local_store(first[0], tlx.local_load(first[1]))
    tlx.local_store(second[0], tlx.local_load(second[1]))
",
        expect![[r#"
            kernel on sm_100: predicted, smem 320, tmem 0
              spec: size Some(256), extent Some(320)
              first [2, 4, 8] float16 in smem at Some(0) of Some(4): [[0, 64], [128, 192]]
              second [2, 4, 8] float16 in smem at Some(64) of Some(5): [[64, 128], [192, 256]]
        "#]],
        expect![[r#"
            kernel on sm_100: rejected, smem 448–512, tmem 0
              spec: size Some(256), extent Some(448)
              first [2, 4, 8] float16 in smem at Some(0) of Some(5): [[0, 64], [256, 320]]
              second [2, 4, 8] float16 in smem at Some(128) of Some(7): [[128, 192], [384, 448]]
              spec [448] int8 in smem
              line 4: error [spec-too-small] storage_alias_spec buffer_size_bytes 256 is too small for computed shape, requires at least 512 bytes
        "#]],
    );
}

/// A rule of the seed that the compiler dropped.
#[test]
fn nested_groups_alternate() {
    both(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=32768)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a, tlx.reuse_group(b, group_type=tlx.reuse_group_type.shared), group_type=tlx.reuse_group_type.shared))
    views = a[0], b[0]
    tlx.local_store(a[0], tlx.local_load(a[1]))
    tlx.local_store(b[0], tlx.local_load(b[1]))
",
        expect![[r#"
            kernel on sm_100: rejected, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              line 7: error [invalid-overlap] a nested reuse_group must have another group_type than its parent
        "#]],
        expect![[r#"
            kernel on sm_100: predicted, smem 32768, tmem 0
              spec: size Some(32768), extent Some(32768)
              a [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              b [2, 64, 64] float32 in smem at Some(0) of Some(2): [[0, 16384], [16384, 32768]]
              spec [32768] int8 in smem
              line 7: hint [reuse-advice] the members of `spec` share memory but would fit next to each other: as a distinct group they take 32768 bytes more, and 199680 bytes are free on sm_100
        "#]],
    );
}

#[test]
fn the_kind_of_a_group_may_come_with_options() {
    let fixture = open(
        "@triton.jit\ndef kernel(options):\n    a = tlx.local_alloc((64, 64), tl.float32, 1)\n    group = tlx.reuse_group(a, **options)\n",
        "[tlx]\nrules = \"seed\"\n",
    );
    assert_eq!(fixture.diagnostics(), []);
}
