//! The text after each step of the compiler.

use expect_test::{Expect, expect};

use super::open;

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = open(text, "");
    let all = fixture.lowered_ir();
    let inside = fixture.text.find("    spec").or(fixture.text.find("tlx.local_alloc")).expect("a kernel");
    assert_eq!(fixture.lowered_ir_at(inside).as_ref(), all.first());
    // Outside of kernels it is that of the nearest one.
    assert_eq!(fixture.lowered_ir_at(0).as_ref(), all.first());
    let texts: Vec<_> = all.into_iter().map(|ir| ir.text).collect();
    expected.assert_eq(&texts.join("\n"));
}

/// The example of `docs/reference/tlx.md`, "Lowering".
#[test]
fn a_shared_group_in_shared_memory() {
    check(
        "
@triton.jit
def kernel(i):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a, b))
    x = a[0]
    y = b[i]
    z = b[i + 1]
",
        expect![[r#"
            // -----// IR after the front end //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>
              %group = tlx.reuse_group(%a, %b) group_kind = shared : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>) -> !tlx.reuse_group<shared>
              tlx.set_buffer_overlap(%spec, %group) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
              %c0_i32 = arith.constant 0 : i32
              %x = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %y = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              %z = ttg.memdesc_index %b[%index] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>  // [i + 1]
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 1: sizes //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem, size = 32768 {buffer_shape = array<i64: 32768>} : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>
              %group = tlx.reuse_group(%a, %b) group_kind = shared : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>) -> !tlx.reuse_group<shared>
              tlx.set_buffer_overlap(%spec, %group) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()
              %c0_i32 = arith.constant 0 : i32
              %x = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %y = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              %z = ttg.memdesc_index %b[%index] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>  // [i + 1]
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 2: offsets //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem, size = 32768 {buffer_shape = array<i64: 32768>} : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>  // offset 0, 16384 bytes between buffer groups
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>  // offset 0, 16384 bytes between buffer groups
              %c0_i32 = arith.constant 0 : i32
              %x = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %y = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              %z = ttg.memdesc_index %b[%index] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>  // [i + 1]
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 3: allocations and indices //----- //
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared, #smem, mutable>
              %a = tlx.local_alias %spec : !ttg.memdesc<32768xi8, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared1, #smem, mutable>
              %b = tlx.local_alias %spec : !ttg.memdesc<32768xi8, #shared, #smem, mutable> -> !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %x = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared1, #smem, mutable>
              %c2_i32 = arith.constant 2 : i32
              %0 = arith.muli %i, %c2_i32 : i32
              %y = ttg.memdesc_index %b[%0] : !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared2, #smem, mutable>
              %1 = arith.muli %index, %c2_i32 : i32
              %z = ttg.memdesc_index %b[%1] : !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared2, #smem, mutable>  // [i + 1]
              tt.return
            }

            // -----// IR after tlx-rewrite-local-alias //----- //
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = ttg.local_alloc : () -> !ttg.memdesc<32768xi8, #shared, #smem, mutable>
              %a = ttg.memdesc_reinterpret %spec : !ttg.memdesc<32768xi8, #shared, #smem, mutable> -> !ttg.memdesc<2x64x64xf32, #shared1, #smem, mutable>
              %b = ttg.memdesc_reinterpret %spec : !ttg.memdesc<32768xi8, #shared, #smem, mutable> -> !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %x = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared1, #smem, mutable>
              %c2_i32 = arith.constant 2 : i32
              %0 = arith.muli %i, %c2_i32 : i32
              %y = ttg.memdesc_index %b[%0] : !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared2, #smem, mutable>
              %1 = arith.muli %index, %c2_i32 : i32
              %z = ttg.memdesc_index %b[%1] : !ttg.memdesc<3x64x64xf16, #shared2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared2, #smem, mutable>  // [i + 1]
              tt.return
            }
        "#]],
    );
}

#[test]
fn tensor_memory_with_offsets_and_group_sizes() {
    check(
        "
@triton.jit
def kernel(i):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem, buffer_size_bytes=131072)
    qk = tlx.local_alloc((128, 128), tl.float32, 1, tlx.storage_kind.tmem, reuse=spec)
    p = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.tmem, reuse=spec)
    l = tlx.local_alloc((128, 1), tl.float32, 1, tlx.storage_kind.tmem, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            qk,
            tlx.reuse_group(tlx.reuse_group(p, group_size=2), l, group_type=tlx.reuse_group_type.distinct),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    bars = tlx.alloc_barriers(num_barriers=2, arrive_count=4)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            views = p[i], l[0], bars[i]
",
        expect![[r#"
            // -----// IR after the front end //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
            #tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
            #tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = tmem, size = 131072 : !tlx.storage_alias_spec<tmem, 131072>
              %qk = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>
              %p = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>
              %l = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
              %group = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : (!ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
              %group_1 = tlx.reuse_group(%group, %l) group_kind = distinct : (!tlx.reuse_group<shared>, !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<distinct>
              %group_2 = tlx.reuse_group(%qk, %group_1) group_kind = shared : (!ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
              tlx.set_buffer_overlap(%spec, %group_2) : (!tlx.storage_alias_spec<tmem, 131072>, !tlx.reuse_group<shared>) -> ()
              %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %bars[%c0_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %bars[%c1_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %1, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %views = ttg.memdesc_index %p[%i] : !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>
              %views_1 = ttg.memdesc_index %l[%c0_i32] : !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %bars[%i] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 1: sizes //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
            #tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
            #tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = tmem, size = 131072 {buffer_shape = array<i64: 128, 256>} : !tlx.storage_alias_spec<tmem, 131072>
              %qk = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>
              %p = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>
              %l = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
              %group = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : (!ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<shared>
              %group_1 = tlx.reuse_group(%group, %l) group_kind = distinct : (!tlx.reuse_group<shared>, !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable>) -> !tlx.reuse_group<distinct>
              %group_2 = tlx.reuse_group(%qk, %group_1) group_kind = shared : (!ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>
              tlx.set_buffer_overlap(%spec, %group_2) : (!tlx.storage_alias_spec<tmem, 131072>, !tlx.reuse_group<shared>) -> ()
              %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %bars[%c0_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %bars[%c1_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %1, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %views = ttg.memdesc_index %p[%i] : !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>
              %views_1 = ttg.memdesc_index %l[%c0_i32] : !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %bars[%i] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 2: offsets //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
            #tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
            #tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = tmem, size = 131072 {buffer_shape = array<i64: 128, 256>} : !tlx.storage_alias_spec<tmem, 131072>
              %qk = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x128xf32, #tmem, #ttng.tensor_memory, mutable>  // offset 0, 128 columns between buffer groups
              %p = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>  // offset 0, 64 columns between buffer groups, group size 2
              %l = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<tmem, 131072> -> !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable>  // offset 64, 128 columns between buffer groups
              %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %bars[%c0_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %bars[%c1_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %1, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %views = ttg.memdesc_index %p[%i] : !ttg.memdesc<2x128x64xbf16, #tmem1, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem1, #ttng.tensor_memory, mutable>
              %views_1 = ttg.memdesc_index %l[%c0_i32] : !ttg.memdesc<1x128x1xf32, #tmem2, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %bars[%i] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 3: allocations and indices //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
            #tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
            #tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
            #tmem3 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable>
              %qk = tlx.local_alias %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<1x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>
              %p = tlx.local_alias %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<4x128x64xbf16, #tmem2, #ttng.tensor_memory, mutable>
              %l = tlx.local_alias %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<65x128x1xf32, #tmem3, #ttng.tensor_memory, mutable>
              %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %bars[%c0_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %bars[%c1_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %1, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c2_i32 = arith.constant 2 : i32
              %2 = arith.muli %i, %c2_i32 : i32
              %3 = arith.remsi %i, %c2_i32 : i32
              %4 = arith.addi %2, %3 : i32
              %views = ttg.memdesc_index %p[%4] : !ttg.memdesc<4x128x64xbf16, #tmem2, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem2, #ttng.tensor_memory, mutable>
              %c128_i32 = arith.constant 128 : i32
              %5 = arith.muli %c0_i32, %c128_i32 : i32
              %c64_i32 = arith.constant 64 : i32
              %6 = arith.addi %5, %c64_i32 : i32
              %views_1 = ttg.memdesc_index %l[%6] : !ttg.memdesc<65x128x1xf32, #tmem3, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x1xf32, #tmem3, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %bars[%i] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-rewrite-local-alias //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
            #tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
            #tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
            #tmem3 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
            #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable>
              %qk = ttg.memdesc_reinterpret %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<1x128x128xf32, #tmem1, #ttng.tensor_memory, mutable>
              %p = ttg.memdesc_reinterpret %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<4x128x64xbf16, #tmem2, #ttng.tensor_memory, mutable>
              %l = ttg.memdesc_reinterpret %spec : !ttg.memdesc<128x256xi32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<65x128x1xf32, #tmem3, #ttng.tensor_memory, mutable>
              %bars = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %0 = ttg.memdesc_index %bars[%c0_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %0, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c1_i32 = arith.constant 1 : i32
              %1 = ttg.memdesc_index %bars[%c1_i32] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              ttng.init_barrier %1, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
              %c2_i32 = arith.constant 2 : i32
              %2 = arith.muli %i, %c2_i32 : i32
              %3 = arith.remsi %i, %c2_i32 : i32
              %4 = arith.addi %2, %3 : i32
              %views = ttg.memdesc_index %p[%4] : !ttg.memdesc<4x128x64xbf16, #tmem2, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xbf16, #tmem2, #ttng.tensor_memory, mutable>
              %c128_i32 = arith.constant 128 : i32
              %5 = arith.muli %c0_i32, %c128_i32 : i32
              %c64_i32 = arith.constant 64 : i32
              %6 = arith.addi %5, %c64_i32 : i32
              %views_1 = ttg.memdesc_index %l[%6] : !ttg.memdesc<65x128x1xf32, #tmem3, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x1xf32, #tmem3, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %bars[%i] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
              tt.return
            }
        "#]],
    );
}

/// The largest member of an alias class is what is allocated.
#[test]
fn older_reuse() {
    check(
        "
@triton.jit
def kernel():
    base = tlx.local_alloc((64, 32), tl.float16, 1, tlx.storage_kind.tmem)
    wide = tlx.local_alloc((64, 32), tl.float32, 1, tlx.storage_kind.tmem, reuse=base)
    tile = tlx.local_alloc((64, 16), tl.float16, 1)
    same = tlx.local_alloc((32, 32), tl.float16, 1, reuse=tile)
    views = base[0], wide[0], tile[0], same[0]
",
        expect![[r#"
            // -----// IR after the front end //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %base = ttng.tmem_alloc : () -> !ttg.memdesc<1x64x32xf16, #tmem, #ttng.tensor_memory, mutable>
              %wide = tlx.local_alias %base : !ttg.memdesc<1x64x32xf16, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable>
              %tile = ttg.local_alloc : () -> !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable>
              %same = tlx.local_alias %tile : !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<1x32x32xf16, #shared1, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %base[%c0_i32] : !ttg.memdesc<1x64x32xf16, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<64x32xf16, #tmem, #ttng.tensor_memory, mutable>
              %views_1 = ttg.memdesc_index %wide[%c0_i32] : !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<64x32xf32, #tmem, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %tile[%c0_i32] : !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
              %views_3 = ttg.memdesc_index %same[%c0_i32] : !ttg.memdesc<1x32x32xf16, #shared1, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared1, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-rewrite-local-alias //----- //
            #tmem = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %base_alloc = ttng.tmem_alloc : () -> !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable>
              %base = ttg.memdesc_reinterpret %base_alloc : !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<1x64x32xf16, #tmem, #ttng.tensor_memory, mutable>
              %wide = ttg.memdesc_reinterpret %base_alloc : !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable>
              %tile = ttg.local_alloc : () -> !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable>
              %same = ttg.memdesc_reinterpret %tile : !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<1x32x32xf16, #shared1, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %base[%c0_i32] : !ttg.memdesc<1x64x32xf16, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<64x32xf16, #tmem, #ttng.tensor_memory, mutable>
              %views_1 = ttg.memdesc_index %wide[%c0_i32] : !ttg.memdesc<1x64x32xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<64x32xf32, #tmem, #ttng.tensor_memory, mutable>
              %views_2 = ttg.memdesc_index %tile[%c0_i32] : !ttg.memdesc<1x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
              %views_3 = ttg.memdesc_index %same[%c0_i32] : !ttg.memdesc<1x32x32xf16, #shared1, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared1, #smem, mutable>
              tt.return
            }
        "#]],
    );
}

#[test]
fn a_pass_that_fails_is_the_last() {
    check(
        "
@triton.jit
def kernel():
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    a = tlx.local_alloc((64, 64), tl.float32, 2, reuse=spec)
    b = tlx.local_alloc((64, 64), tl.float16, 2, reuse=spec)
    spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.distinct))
    views = a[0], b[0]
",
        expect![[r#"
            // -----// IR after the front end //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>
              %group = tlx.reuse_group(%a, %b) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>) -> !tlx.reuse_group<distinct>
              tlx.set_buffer_overlap(%spec, %group) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %views_1 = ttg.memdesc_index %b[%c0_i32] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 1: sizes //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem, size = 49152 {buffer_shape = array<i64: 49152>} : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>
              %group = tlx.reuse_group(%a, %b) group_kind = distinct : (!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>) -> !tlx.reuse_group<distinct>
              tlx.set_buffer_overlap(%spec, %group) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %views_1 = ttg.memdesc_index %b[%c0_i32] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 2: offsets //----- //
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
            #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem, size = 49152 {buffer_shape = array<i64: 49152>} : !tlx.storage_alias_spec<smem>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>  // offset 0, 24576 bytes between buffer groups
              %b = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable>  // offset 16384, 24576 bytes between buffer groups
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<2x64x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
              %views_1 = ttg.memdesc_index %b[%c0_i32] : !ttg.memdesc<2x64x64xf16, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared1, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 3: allocations and indices //----- //
            // error: units_between_buffer_groups (24576) must be a multiple of the original buffer size (16384): the buffers of `a` would not start at multiples of their size; add a leaf of 8192 bytes to the distinct group
        "#]],
    );
    check(
        "
@triton.jit
def kernel(N: tl.constexpr):
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem, buffer_size_bytes=N)
    a = tlx.local_alloc((N, 64), tl.float32, N, reuse=spec)
    views = a[0]
",
        expect![[r#"
            // -----// IR after the front end //----- //
            #shared = #ttg.nvmma_shared<…>
            #smem = #ttg.shared_memory
            tt.func public @kernel(…) {
              %spec = tlx.storage_alias_spec storage = smem, size = ? : !tlx.storage_alias_spec<smem, ?>
              %a = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem, ?> -> !ttg.memdesc<?x?xf32, #shared, #smem, mutable>
              %c0_i32 = arith.constant 0 : i32
              %views = ttg.memdesc_index %a[%c0_i32] : !ttg.memdesc<?x?xf32, #shared, #smem, mutable> -> !ttg.memdesc<?xf32, #shared, #smem, mutable>
              tt.return
            }

            // -----// IR after tlx-storage-alias-lowering, step 1: sizes //----- //
            // not modelled: `N` has no value here; add a comment `# tilefit: N=128` above the kernel
        "#]],
    );
}
