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
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0, 1])
    L2: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[4, 1], instr_shape=[16, 8])
    L4: gl.constexpr = gl.BlockedLayout([8, 1], [2, 16], [2, 2], [0, 1])
    L5: gl.constexpr = gl.BlockedLayout([2, 8], [2, 16], [4, 1], [1, 0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    L7: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [1, 4], [1, 0])
    L8: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [3, 64, 128], L0)
    for i2 in gl.static_range(3):
        b3 = gl.allocate_shared_memory(gl.int8, [32, 16], L1)
        v4 = gl.load(x_ptr + offs(64, 128, L2))
        b1.index(i2 % 3).store(v4)
        v8 = gl.load(x_ptr + offs(32, 64, L4)).to(gl.bfloat16)
        v5 = gl.convert_layout(v8, gl.DotOperandLayout(0, L3, 2))
        v9 = gl.load(x_ptr + i2 * 64 + offs(64, 64, L5)).to(gl.bfloat16)
        v6 = gl.convert_layout(v9, gl.DotOperandLayout(1, L3, 2))
        v7 = mma_v2(v5, v6, gl.zeros([32, 64], gl.float32, L3))
        v13 = gl.load(x_ptr + offs(32, 32, L5))
        v10 = gl.convert_layout(v13, gl.DotOperandLayout(0, L6, 2))
        v11 = gl.convert_layout(v13, gl.DotOperandLayout(1, L6, 2))
        v12 = mma_v2(v10, v11, gl.zeros([32, 32], gl.float32, L6))
        v14 = gl.load(x_ptr + i2 * 32 + offs(32, 16, L7)).to(gl.int8)
        b3.store(v14)
        pass
    v15 = gl.load(x_ptr + offs(64, 128, L4))
    b1.index(1).store(v15)
    v16 = gl.load(x_ptr + offs(32, 16, L2))
    v17 = b1.index(2).load(L8)
    gl.store(y_ptr + offs(64, 128, L8), v17.to(gl.float32))
    gl.store(y_ptr + offs(64, 128, L4), v15.to(gl.float32))
