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
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.BlockedLayout([2, 1], [8, 8], [2, 4], [1, 0])
    L1: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [64, 16], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 4], [2, 32], [1, 8], [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 1], [4, 16], [4, 2], [1, 0])
    v1 = gl.load(x_ptr + offs(64, 16, L0)).to(gl.float32)
    b2 = gl.allocate_shared_memory(gl.float32, [64, 16], L1)
    v3 = b2.load(L0)
    v4 = b2.load(L0)
    v5 = through(v4, gl.float32, L3, L2)
    b6 = gl.allocate_shared_memory(gl.float32, [3, 64, 16], L4)
    i7 = 0
    while i7 < n:
        v8 = v3 + v4
        i7 += 1
    gl.store(y_ptr + offs(64, 16, L5), gl.convert_layout(v1, L5))
    gl.store(y_ptr + offs(64, 16, L0), v1)
    gl.store(y_ptr + offs(64, 16, L0), v4)
