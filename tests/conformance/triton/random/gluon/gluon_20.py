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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.BlockedLayout([2, 2], [4, 8], [1, 2], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.bfloat16)
    L2: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [2, 1], [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([1, 2], [8, 4], [1, 2], [1, 0])
    v1 = gl.load(x_ptr + offs(64, 16, L0))
    s2 = gl.atomic_add(y_ptr, 1.0)
    b3 = gl.allocate_shared_memory(gl.bfloat16, [2, 64, 16], L1)
    v4 = b3.index(1).load(L0)
    b5 = gl.allocate_shared_memory(gl.float16, [16, 16], L2)
    v6 = gl.where(v4 > v4, v4, v4)
    v7 = b3.index(0).load(L3)
    v8 = v7 - v7
    b9 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    v10 = v6.reshape([1024])
    v11 = b5.load(L4)
    v12 = v10.to(gl.float16)
    v13 = b9.index(0).load(L3)
    bar14 = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(2):
        mbarrier.init(bar14.index(j), count=1)
    mbarrier.expect(bar14.index(0), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar14.index(0), b9.index(1))
    mbarrier.wait(bar14.index(0), 0)
    gl.store(y_ptr + offs(16, 128, L3), v13.to(gl.float32))
    gl.store(y_ptr + offs(64, 16, L3), v7.to(gl.float32))
