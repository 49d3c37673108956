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
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [2, 1, 0])
    L1: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [2, 2], [0, 1])
    L2: gl.constexpr = gl.BlockedLayout([1, 8, 1], [2, 8, 2], [1, 4, 1], [1, 2, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [2, 2], [0, 1])
    L4: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0])
    L5: gl.constexpr = gl.BlockedLayout([1, 1, 8], [2, 8, 2], [4, 1, 1], [2, 1, 0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    b1 = gl.allocate_shared_memory(gl.int32, [4, 16, 32], L0)
    v2 = gl.load(x_ptr + offs(16, 32, L1))
    v3 = b1.load(L2)
    b4 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    b5 = gl.allocate_shared_memory(d4.dtype, d4.block_shape, d4.layout)
    v6 = gl.load(x_ptr + offs(128, 64, L3))
    v7 = gl.reshape(v6, [256, 32])
    v8 = gl.load(x_ptr + offs(128, 64, L3))
    b9 = gl.allocate_shared_memory(gl.bfloat16, [64], L4)
    v10 = b1.load(L5)
    v14 = gl.full([32, 32], n, gl.bfloat16, L1)
    v11 = gl.convert_layout(v14, gl.DotOperandLayout(0, L6, 2))
    v15 = gl.load(x_ptr + offs(32, 64, L1)).to(gl.bfloat16)
    v12 = gl.convert_layout(v15, gl.DotOperandLayout(1, L6, 2))
    v13 = mma_v2(v11, v12, gl.zeros([32, 64], gl.float32, L6))
    gl.store(y_ptr + offs(32, 64, L1), gl.convert_layout(v13, L1))
    gl.store(y_ptr + offs(32, 64, L3), gl.convert_layout(v15, L3).to(gl.float32))
