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
    L0: gl.constexpr = gl.BlockedLayout([1, 8], [32, 1], [1, 2], [1, 0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [2, 1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.int8)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.float16)
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float32)
    L6: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [1, 2], [1, 0])
    L7: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [2, 1], [1, 0])
    v1 = gl.full([32, 64], n, gl.float32, L0)
    b2 = gl.allocate_shared_memory(gl.float32, [2, 2, 16, 32], L1)
    b3 = gl.allocate_shared_memory(gl.float32, [2, 128, 16], L2)
    b4 = gl.allocate_shared_memory(gl.int8, [3, 32, 128], L3)
    b5 = gl.allocate_shared_memory(gl.float16, [3, 32, 128], L4)
    for i6 in range(n - 1):
        v7 = through(v1, gl.float32, L5, L0)
        v1 = v1 + v7
    v8 = gl.load(x_ptr + offs(32, 128, L6)).to(gl.float16)
    b5.index(0).store(v8)
    v9 = b3.index(1).load(L7)
    gl.store(y_ptr + offs(128, 16, L7), v9)
    gl.store(y_ptr + offs(32, 128, L6), v8.to(gl.float32))
