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
    L0: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [1, 4], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0, 1])
    L4: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [2, 2], [0, 1])
    b1 = gl.allocate_shared_memory(gl.bfloat16, [16, 32], L0)
    v2 = b1.load(L1)
    v3 = gl.convert_layout(v2, L1)
    v4 = through(v3, gl.float16, L3, L2)
    v5 = gl.convert_layout(v4, L1)
    gl.store(y_ptr + offs(16, 32, L1), v2.to(gl.float32))
    gl.store(y_ptr + offs(16, 32, L4), gl.convert_layout(v4, L4).to(gl.float32))
