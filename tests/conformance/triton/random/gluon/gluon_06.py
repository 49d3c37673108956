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
    L0: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [2, 2], [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 4], [1, 0])
    L2: gl.constexpr = gl.NVMMASharedLayout(0, 16, 2)
    L3: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float16)
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.bfloat16)
    L8: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 128], gl.bfloat16)
    L9: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L10: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [1, 4], [1, 0])
    v1 = gl.load(x_ptr + offs(64, 16, L0))
    v2 = through(v1, gl.float16, L2, L1)
    v3 = v1.reshape([32, 32])
    b4 = gl.allocate_shared_memory(gl.float16, [64, 16], L3)
    v5 = gl.min(v2, 1)
    v6 = b4.load(L0)
    b7 = gl.allocate_shared_memory(gl.float16, [64, 32], L4)
    b8 = gl.allocate_shared_memory(gl.float16, [32, 64], L5)
    v10 = gl.load(x_ptr + offs(64, 32, L0)).to(gl.float16)
    b7.store(v10)
    v9 = gl.zeros([64, 64], gl.float32, L6)
    v9 = warpgroup_mma(b7, b8, v9)
    b11 = gl.allocate_shared_memory(gl.bfloat16, [64, 16], L7)
    b12 = gl.allocate_shared_memory(gl.bfloat16, [16, 128], L8)
    v14 = gl.load(x_ptr + offs(64, 16, L0)).to(gl.bfloat16)
    b11.store(v14)
    v13 = gl.zeros([64, 128], gl.float32, L9)
    v13 = warpgroup_mma(b11, b12, v13, is_async=True)
    v13 = warpgroup_mma_wait(num_outstanding=0, deps=(v13, ))
    v15 = b4.load(L0)
    v16 = v14 - v14
    v17 = b11.load(L10)
    gl.store(y_ptr + gl.arange(0, 64, gl.SliceLayout(1, L1)), v5)
    gl.store(y_ptr + offs(64, 32, L0), v10.to(gl.float32))
