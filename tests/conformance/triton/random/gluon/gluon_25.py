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
def kernel(x_ptr, y_ptr, n, d3, d4):
    L0: gl.constexpr = TensorMemoryLayout([64, 64], col_stride=1)
    L1: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    L2: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 2, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [2, 2], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [2, 1, 0])
    L7: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    t1 = allocate_tensor_memory(gl.float32, [2, 64, 64], L0)
    b2 = gl.allocate_shared_memory(gl.int8, [3, 64], L1)
    v3 = gl.load(x_ptr + gl.arange(0, 64, L2)).to(gl.int8)
    b2.index(1).store(v3)
    b4 = gl.allocate_shared_memory(gl.float32, [64, 128], L3)
    for i6 in gl.static_range(2):
        b7 = gl.allocate_shared_memory(gl.int32, [3, 2, 16, 16], L4)
        b8 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
        b9 = gl.allocate_shared_memory(d4.dtype, [3] + d4.block_shape, d4.layout)
        v10 = gl.load(x_ptr + i6 * 128 + offs(128, 32, L5)).to(gl.float16)
        b9.index((i6 + 1) % 3).store(v10)
        fence_async_shared()
        tma.async_store(d4, [i6, 0], b9.index(i6 % 3))
        tma.store_wait(pendings=0)
        b11 = gl.allocate_shared_memory(gl.float32, [4, 2, 16, 16], L6)
        v3 = v3 + v3
    v12 = v3.to(gl.int32)
    v13 = b2.index(0).load(L7)
    v14 = b2.index(0).load(L2)
    bar15 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar15.index(j), count=1)
    mbarrier.wait(bar15.index(0), 0)
    gl.store(y_ptr + gl.arange(0, 64, L2), v12.to(gl.float32))
    gl.store(y_ptr + gl.arange(0, 64, L2), v14.to(gl.float32))
