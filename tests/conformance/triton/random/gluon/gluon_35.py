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
def stage(buffer, x, layout: gl.constexpr):
    buffer.store(x)
    return buffer.load(layout)


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[4, 1], instr_shape=[16, 8])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 4], instr_shape=[16, 8])
    L4: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [1, 4], [1, 0])
    L5: gl.constexpr = gl.NVMMASharedLayout(128, 32, 2)
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float16)
    L7: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    L8: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    L9: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 2], [1, 0])
    L10: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    L11: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [2, 2], [1, 0])
    L12: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 4], [1, 0])
    v4 = gl.load(x_ptr + offs(64, 32, L1)).to(gl.bfloat16)
    v1 = gl.convert_layout(v4, gl.DotOperandLayout(0, L0, 2))
    v5 = gl.load(x_ptr + offs(32, 64, L1)).to(gl.bfloat16)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(1, L0, 2))
    v3 = mma_v2(v1, v2, gl.zeros([64, 64], gl.float32, L0))
    b6 = gl.allocate_shared_memory(gl.int32, [3, 128, 128], L2)
    v7 = gl.sum(v5, 0)
    v9 = gl.convert_layout(v3.to(gl.float16), gl.DotOperandLayout(0, L3, 2))
    v10 = gl.convert_layout(v4.to(gl.float16), gl.DotOperandLayout(1, L3, 2))
    v11 = mma_v2(v9, v10, gl.zeros([64, 32], gl.float32, L3))
    v12 = gl.convert_layout(v4, L1)
    v13 = gl.convert_layout(v3, L4)
    b14 = gl.allocate_shared_memory(gl.float32, [2, 32, 64], L5)
    v15 = gl.convert_layout(v13.to(gl.bfloat16), gl.DotOperandLayout(0, L0, 2))
    v16 = gl.convert_layout(v12, gl.DotOperandLayout(1, L0, 2))
    v17 = mma_v2(v15, v16, gl.zeros([64, 32], gl.float32, L0))
    for i18 in range(0, n):
        gl.store(y_ptr + offs(64, 32, L1), v4.to(gl.float32))
        b19 = gl.allocate_shared_memory(gl.float16, [128, 128], L6)
        v20 = gl.convert_layout(v5, gl.DotOperandLayout(0, L7, 2))
        v21 = gl.convert_layout(v13.to(gl.bfloat16), gl.DotOperandLayout(1, L7, 2))
        v22 = mma_v2(v20, v21, gl.zeros([32, 64], gl.float32, L7))
        b23 = gl.allocate_shared_memory(gl.float8e5, [64], L8)
        v5 = v5 + v5
    v24 = v5.T
    v25 = v5 + v5
    v26 = b6.index(1).load(L9)
    v27 = stage(b14.index(1), v5.to(gl.float32), L10)
    v28 = gl.load(x_ptr + offs(128, 128, L11)).to(gl.int8)
    gl.store(y_ptr + offs(64, 32, L0), v17)
    gl.store(y_ptr + offs(64, 32, L12), gl.convert_layout(v12, L12).to(gl.float32))
