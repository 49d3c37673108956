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
def kernel(x_ptr, y_ptr, n, d3, d4, d5):
    L0: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 1], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout(0, 8, 2)
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [32, 1], [1, 1], [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L4: gl.constexpr = gl.BlockedLayout([2, 4], [8, 4], [1, 1], [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, 1], [1, 0])
    v1 = gl.load(x_ptr + offs(128, 16, L0))
    b2 = gl.allocate_shared_memory(d3.dtype, [3] + d3.block_shape, d3.layout)
    bar3 = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(2):
        mbarrier.init(bar3.index(j), count=1)
    mbarrier.expect(bar3.index(0), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar3.index(0), b2.index(1))
    mbarrier.wait(bar3.index(0), 0)
    v4 = v1 * 2
    v5 = gl.full([128, 16], n, gl.float16, L0)
    b2.index(1).store(v5)
    b6 = gl.allocate_shared_memory(gl.float8e5, [2, 128, 16], L1)
    v7 = b2.index(1).load(L2)
    v8 = gl.load(x_ptr + offs(128, 64, L0))
    v9 = gl.max(v5, 1)
    b10 = gl.allocate_shared_memory(d4.dtype, [2] + d4.block_shape, d4.layout)
    v14 = gl.full([64, 32], n, gl.bfloat16, L2)
    v11 = gl.convert_layout(v14, gl.DotOperandLayout(0, L3, 2))
    v15 = gl.load(x_ptr + offs(32, 32, L0)).to(gl.bfloat16)
    v12 = gl.convert_layout(v15, gl.DotOperandLayout(1, L3, 2))
    v13 = mma_v2(v11, v12, gl.zeros([64, 32], gl.float32, L3))
    b16 = gl.allocate_shared_memory(d5.dtype, [3] + d5.block_shape, d5.layout)
    mbarrier.expect(bar3.index(0), d5.nbytes_per_cta)
    tma.async_load(d5, [0, 0], bar3.index(0), b16.index(2))
    mbarrier.wait(bar3.index(0), 0)
    v17 = gl.convert_layout(v7, L4)
    v18 = gl.load(x_ptr + offs(128, 16, L5)).to(gl.bfloat16)
    b2.index(2).store(v7)
    gl.store(y_ptr + offs(128, 64, L0), v8)
    gl.store(y_ptr + gl.arange(0, 128, gl.SliceLayout(1, L0)), v9)
