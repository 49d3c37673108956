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
    L0: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[128, 8]], [64, 64], [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 2], [16, 4], [2, 4], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [4, 2], [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([1, 8], [4, 16], [2, 4], [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [2, 32], [2, 4], [1, 0])
    L6: gl.constexpr = gl.BlockedLayout([1, 1], [4, 16], [1, 8], [1, 0])
    b1 = gl.allocate_shared_memory(gl.int32, [4, 64, 64], L0)
    v2 = gl.load(x_ptr + offs(64, 64, L1))
    b1.index(0).store(v2.to(gl.int32))
    if n % 2 == 0:
        b3 = gl.allocate_shared_memory(gl.float32, [64, 64], L2, v2)
        b3.store(v2)
        v2 = v2 * 2
    v4 = b1.index(2).load(L3)
    if n % 2 == 0:
        v5 = b1.index(2).load(L4)
        pass
    else:
        v6 = gl.load(x_ptr + offs(64, 128, L5))
        v7 = b1.index(3).load(L4)
        v8 = gl.reshape(v2, [4096])
        pass
    v9 = b1.index(0).load(L4)
    b1.index(1).store(v2.to(gl.int32))
    v10 = gl.load(x_ptr + offs(64, 64, L4))
    v11 = b1.index(3).load(L4)
    b1.index(1).store(v10.to(gl.int32))
    v12 = v11 + v11
    v13 = b1.index(1).load(L6)
    v14 = v2 + 2
    gl.store(y_ptr + offs(64, 64, L5), gl.convert_layout(v11, L5).to(gl.float32))
    gl.store(y_ptr + offs(64, 64, L1), v14)
