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
    L0: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L1: gl.constexpr = gl.BlockedLayout([2, 4], [4, 8], [1, 1], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [1, 1], [0, 1])
    L3: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    v4 = gl.load(x_ptr + offs(64, 32, L1)).to(gl.bfloat16)
    v1 = gl.convert_layout(v4, gl.DotOperandLayout(0, L0, 2))
    v5 = gl.load(x_ptr + offs(32, 64, L2)).to(gl.bfloat16)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(1, L0, 2))
    v3 = mma_v2(v1, v2, gl.zeros([64, 64], gl.float32, L0))
    b6 = gl.allocate_shared_memory(gl.int32, [3, 64, 64], L3)
    v10 = gl.load(x_ptr + offs(32, 32, L1)).to(gl.bfloat16)
    v7 = gl.convert_layout(v10, gl.DotOperandLayout(0, L0, 2))
    v8 = gl.convert_layout(v10, gl.DotOperandLayout(1, L0, 2))
    v9 = mma_v2(v7, v8, gl.zeros([32, 32], gl.float32, L0))
    i12 = offs(32, 32, L0) % 32
    v11 = gl.gather(v9, i12, axis=1)
    b13 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
    fence_async_shared()
    tma.async_store(d3, [0, 0], b13)
    gl.store(y_ptr + offs(32, 32, L0), v9)
    gl.store(y_ptr + offs(64, 32, L1), v4.to(gl.float32))
