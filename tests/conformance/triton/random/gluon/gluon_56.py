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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [2, 2], [0, 1])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.bfloat16)
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 16], gl.bfloat16)
    L4: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    L5: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 16, 16])
    L6: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    b1 = gl.allocate_shared_memory(gl.bfloat16, [3, 32, 128], L0)
    v2 = gl.load(x_ptr + offs(32, 128, L1))
    b3 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    b3.index(0).store(v2.to(gl.int8))
    fence_async_shared()
    tma.async_store(d3, [0, 0], b3.index(0))
    tma.store_wait(pendings=0)
    b4 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L2)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [32, 16], L3)
    v7 = gl.load(x_ptr + offs(64, 32, L4)).to(gl.bfloat16)
    b4.store(v7)
    v6 = gl.zeros([64, 16], gl.float32, L5)
    v6 = warpgroup_mma(b4, b5, v6)
    b8 = gl.allocate_shared_memory(gl.int8, [2, 64, 16], L6)
    b9 = gl.allocate_shared_memory(gl.float16, [32, 128], L0)
    gl.store(y_ptr + offs(32, 128, L1), v2.to(gl.float32))
    gl.store(y_ptr + offs(64, 16, L5), v6)
