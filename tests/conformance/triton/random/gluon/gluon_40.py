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
def through(x, dtype: gl.constexpr, shared: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(dtype, x.shape, shared)
    buffer.store(x.to(dtype))
    return buffer.load(layout)


@gluon.jit
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0])
    L1: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [2, 2], [0, 1])
    L2: gl.constexpr = gl.BlockedLayout([8], [32], [4], [0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.float16)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float16)
    L5: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    L6: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [1, 4], [1, 0])
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 64], gl.bfloat16)
    L8: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L9: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    L10: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    b1 = gl.allocate_shared_memory(gl.int8, [4, 128], L0)
    v2 = gl.load(x_ptr + offs(128, 16, L1))
    v3 = gl.load(x_ptr + gl.arange(0, 128, L2)).to(gl.int8)
    b1.index(0).store(v3)
    v4 = gl.load(x_ptr + offs(128, 16, L1)).to(gl.bfloat16)
    b5 = gl.allocate_shared_memory(gl.float16, [64, 16], L3)
    b6 = gl.allocate_shared_memory(gl.float16, [16, 32], L4)
    v8 = gl.load(x_ptr + offs(64, 16, L1))
    b5.store(v8)
    v7 = gl.zeros([64, 32], gl.float32, L5)
    v7 = warpgroup_mma(b5, b6, v7, is_async=True)
    v7 = warpgroup_mma_wait(num_outstanding=0, deps=(v7, ))
    v9 = gl.load(x_ptr + offs(16, 16, L6))
    b10 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
    b11 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    bar12 = mbarrier.allocate_mbarrier()
    mbarrier.init(bar12, count=1)
    mbarrier.expect(bar12, d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar12, b11.index(0))
    mbarrier.wait(bar12, 0)
    mbarrier.expect(bar12, 1024)
    b13 = gl.allocate_shared_memory(gl.bfloat16, [128, 64], L7)
    b14 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L8)
    v15 = gl.zeros([128, 64], gl.float32, L9)
    v15 = warpgroup_mma(b13, b14, v15)
    v16 = through(v8, gl.float32, L10, L6)
    v17 = gl.convert_layout(v4, L1)
    gl.store(y_ptr + offs(128, 16, L1), v17.to(gl.float32))
    gl.store(y_ptr + gl.arange(0, 128, L2), v3.to(gl.float32))
