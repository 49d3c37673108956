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
    L0: gl.constexpr = gl.BlockedLayout([8, 2], [16, 2], [1, 4], [0, 1])
    L1: gl.constexpr = gl.BlockedLayout([2, 8], [4, 8], [1, 4], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [2, 1, 0])
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    v1 = gl.full([16, 32], n, gl.float32, L0)
    v2 = through(v1, gl.float32, L2, L1)
    b3 = gl.allocate_shared_memory(gl.float32, [4, 4, 16, 16], L3)
    b4 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L4)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L5)
    v7 = gl.load(x_ptr + offs(64, 64, L0)).to(gl.bfloat16)
    b4.store(v7)
    v6 = gl.zeros([64, 128], gl.float32, L6)
    v6 = warpgroup_mma(b4, b5, v6)
    v8 = b5.load(L0)
    gl.store(y_ptr + offs(16, 32, L1), v2)
    gl.store(y_ptr + offs(64, 128, L6), v6)
