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
    L0: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2, transposed=True)
    L2: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 16], gl.float16)
    L4: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [2, 2], [1, 0])
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    L7: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0])
    L8: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L9: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [2, 2], [1, 0])
    L10: gl.constexpr = gl.BlockedLayout([1, 4], [16, 2], [2, 2], [1, 0])
    L11: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float8e5, [16, 16], L0)
    b2 = gl.allocate_shared_memory(gl.float16, [16, 16], L1)
    b3 = gl.allocate_shared_memory(gl.int32, [64], L2)
    dd4 = tma.make_tensor_descriptor(x_ptr, [n, 16], [16, 1], [16, 16], L3)
    b5 = gl.allocate_shared_memory(dd4.dtype, [2] + dd4.block_shape, dd4.layout)
    v6 = gl.full([16, 16], n, gl.float16, L4)
    b5.index(0).store(v6)
    fence_async_shared()
    tma.async_store(dd4, [0, 0], b5.index(0))
    tma.store_wait(pendings=0)
    v7 = gl.where(v6 > v6, v6, v6)
    b8 = gl.allocate_shared_memory(gl.float16, [64, 64], L5)
    b9 = gl.allocate_shared_memory(gl.float16, [64, 64], L5)
    v11 = gl.load(x_ptr + offs(64, 64, L4))
    b8.store(v11)
    v10 = gl.zeros([64, 64], gl.float32, L6)
    v10 = warpgroup_mma(b8, b9, v10, is_async=True)
    v10 = warpgroup_mma_wait(num_outstanding=0, deps=(v10, ))
    v12 = gl.max(v6, 1)
    b13 = gl.allocate_shared_memory(gl.float8e5, [2, 256], L7)
    b14 = gl.allocate_shared_memory(gl.float16, [16, 16], L8)
    v15 = b5.index(1).load(L9)
    v16 = b2.load(L10)
    v17 = gl.load(x_ptr + offs(16, 16, L11))
    gl.store(y_ptr + gl.arange(0, 16, gl.SliceLayout(1, L4)), v12)
    gl.store(y_ptr + offs(64, 64, L4), v11.to(gl.float32))
