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
def softmax(x):
    x = gl.exp(x - gl.max(x, 1)[:, None])
    return x / gl.sum(x, 1)[:, None]


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [4, 16], [4, 1], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 1], [32, 2], [4, 1], [1, 0])
    L4: gl.constexpr = gl.amd.AMDMFMALayout(version=3, instr_shape=[16, 16, 16], transposed=False, warps_per_cta=[2, 2])
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [2, 32], [2, 2], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float32, [128, 32], L0)
    w2 = b1.slice(0, 64, dim=0)
    v3 = b1.load(L1)
    b4 = gl.allocate_shared_memory(gl.float32, [16, 128], L2)
    v5 = b4.load(L3)
    b1.store(v3)
    v6 = softmax(v5)
    v7 = v6.to(gl.int32)
    v8 = v7 * v7
    b4.store(v8.to(gl.float32))
    v9 = b1.load(L1)
    v10 = b4.load(L4)
    v11 = w2.load(L1)
    v12 = gl.full([16, 128], n, gl.float32, L1)
    b4.store(v12)
    gl.store(y_ptr + offs(16, 128, L5), gl.convert_layout(v5, L5))
    gl.store(y_ptr + offs(16, 128, L3), v7.to(gl.float32))
