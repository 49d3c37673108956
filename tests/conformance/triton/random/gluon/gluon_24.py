import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.core import _aggregate as aggregate
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma, warpgroup_mma_wait, warpgroup_mma_init
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_mma, tcgen05_copy, tma


@gluon.jit
def offs(M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def plus(a, b):
    return a + b


@gluon.jit
def stage(buffer, x, layout: gl.constexpr):
    buffer.store(x)
    return buffer.load(layout)


@gluon.jit
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])
    L1: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 32], gl.bfloat16)
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 16], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 16, 16])
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.bfloat16)
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.bfloat16)
    L7: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [2, 2], [1, 0])
    L8: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L9: gl.constexpr = gl.NVMMASharedLayout(32, 32, 2, transposed=True)
    L10: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.float16)
    L11: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 16], gl.float16)
    L12: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 4], [1, 0])
    L13: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [2, 2], [1, 0])
    L14: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    v1 = gl.load(x_ptr + offs(64, 128, L0)).to(gl.int8)
    b2 = gl.allocate_shared_memory(gl.float64, [128, 16], L1)
    gl.store(y_ptr + offs(64, 128, L0), v1.to(gl.float32))
    b3 = gl.allocate_shared_memory(gl.bfloat16, [128, 32], L2)
    b4 = gl.allocate_shared_memory(gl.bfloat16, [32, 16], L3)
    v5 = gl.zeros([128, 16], gl.float32, L4)
    v5 = warpgroup_mma(b3, b4, v5)
    b6 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L5)
    b7 = gl.allocate_shared_memory(gl.bfloat16, [32, 128], L6)
    v9 = gl.load(x_ptr + offs(64, 32, L7)).to(gl.bfloat16)
    b6.store(v9)
    v8 = gl.zeros([64, 128], gl.float32, L8)
    v8 = warpgroup_mma(b6, b7, v8, is_async=True)
    v8 = warpgroup_mma_wait(num_outstanding=0, deps=(v8, ))
    for i10 in gl.static_range(3):
        v11 = gl.load(x_ptr + i10 * 32 + offs(32, 128, L7)).to(gl.bfloat16)
        b7.store(v11)
        b6.store(v9)
        b12 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
        bar13 = mbarrier.allocate_mbarrier()
        mbarrier.init(bar13, count=1)
        mbarrier.expect(bar13, d3.nbytes_per_cta)
        tma.async_load(d3, [i10, 0], bar13, b12)
        mbarrier.wait(bar13, 0)
        b14 = gl.allocate_shared_memory(gl.float32, [2, 128, 64], L9)
        v8 = v8 + v8
    b15 = gl.allocate_shared_memory(gl.float16, [64, 16], L10)
    b16 = gl.allocate_shared_memory(gl.float16, [16, 16], L11)
    v18 = gl.load(x_ptr + offs(64, 16, L12)).to(gl.float16)
    b15.store(v18)
    v17 = gl.zeros([64, 16], gl.float32, L4)
    v17 = warpgroup_mma(b15, b16, v17)
    v19 = gl.load(x_ptr + offs(64, 32, L7))
    v20 = gl.load(x_ptr + offs(32, 128, L0)).to(gl.bfloat16)
    b7.store(v20)
    b21 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L5)
    b22 = gl.allocate_shared_memory(gl.bfloat16, [32, 16], L3)
    b21.store(v19.to(gl.bfloat16))
    v23 = gl.zeros([64, 16], gl.float32, L4)
    v23 = warpgroup_mma(b21, b22, v23, is_async=True)
    v23 = warpgroup_mma_wait(num_outstanding=0, deps=(v23, ))
    b24 = gl.allocate_shared_memory(d3.dtype, [3] + d3.block_shape, d3.layout)
    v25 = gl.load(x_ptr + offs(16, 128, L13)).to(gl.bfloat16)
    b24.index(0).store(v25)
    fence_async_shared()
    tma.async_store(d3, [0, 0], b24.index(1))
    tma.store_wait(pendings=0)
    b26 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L5)
    b27 = gl.allocate_shared_memory(gl.bfloat16, [32, 128], L6)
    b26.store(v19.to(gl.bfloat16))
    v28 = gl.zeros([64, 128], gl.float32, L8)
    v28 = warpgroup_mma(b26, b27, v28)
    v29 = gl.reduce(v17, 1, plus)
    v30 = stage(b24.index(2), v25, L14)
    gl.store(y_ptr + offs(64, 32, L7), v9.to(gl.float32))
    gl.store(y_ptr + offs(16, 128, L14), v30.to(gl.float32))
