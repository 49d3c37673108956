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
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [32, 2], [2, 2], [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0, 2, 1])
    L4: gl.constexpr = gl.BlockedLayout([1, 1, 4], [8, 4, 2], [1, 4, 1], [2, 1, 0])
    L5: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    for i1 in gl.static_range(1):
        b2 = gl.allocate_shared_memory(gl.float8e5, [2, 64], L0)
        v3 = gl.load(x_ptr + i1 * 32 + offs(32, 64, L1))
        v4 = gl.convert_layout(v3, L2)
        pass
    v5 = gl.load(x_ptr + offs(32, 64, L2)).to(gl.int32)
    b6 = gl.allocate_shared_memory(gl.bfloat16, [2, 16, 16], L3)
    v7 = gl.cumsum(v5, 1)
    v8 = b6.load(L4)
    b9 = gl.allocate_shared_memory(gl.bfloat16, [2, 16, 16], L3)
    v10 = b6.load(L4)
    b6.store(v10)
    v11 = gl.where(v10 > v10, v10, v10)
    gl.store(y_ptr + offs(32, 64, L2), v7.to(gl.float32))
    v12 = gl.full([2, 16, 16], 1, gl.bfloat16, L4)
    b9.store(v12)
    b13 = gl.allocate_shared_memory(gl.float16, [32, 64], L5)
    gl.store(y_ptr + offs(32, 64, L2), v7.to(gl.float32))
    gl.store(y_ptr + offs(32, 64, L2), v5.to(gl.float32))
