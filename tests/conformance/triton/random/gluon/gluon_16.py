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
def kernel(x_ptr, y_ptr, n, C0: gl.constexpr):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L1: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 1], instr_shape=[16, 8])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [1, 2], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2)
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 2], instr_shape=[16, 8])
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [2, 1], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    b1 = gl.allocate_shared_memory(gl.int32, [16, 16], L0)
    if C0 > 0:
        v5 = gl.load(x_ptr + offs(32, 32, L2)).to(gl.bfloat16)
        v2 = gl.convert_layout(v5, gl.DotOperandLayout(0, L1, 2))
        v6 = gl.load(x_ptr + offs(32, 64, L2)).to(gl.bfloat16)
        v3 = gl.convert_layout(v6, gl.DotOperandLayout(1, L1, 2))
        v4 = mma_v2(v2, v3, gl.zeros([32, 64], gl.float32, L1))
        v7 = v6.to(gl.bfloat16)
        w8 = b1
        pass
    v9 = gl.load(x_ptr + offs(16, 16, L2))
    v10 = through(v9, gl.float16, L3, L2)
    v14 = gl.load(x_ptr + offs(64, 64, L2))
    v11 = gl.convert_layout(v14, gl.DotOperandLayout(0, L4, 2))
    v15 = gl.load(x_ptr + offs(64, 32, L2))
    v12 = gl.convert_layout(v15, gl.DotOperandLayout(1, L4, 2))
    v13 = mma_v2(v11, v12, gl.zeros([64, 32], gl.float32, L4))
    w16 = b1.permute((1, 0))
    v17 = gl.convert_layout(v10, L2)
    v18 = gl.load(x_ptr + offs(32, 128, L2)).to(gl.float32)
    v22 = gl.load(x_ptr + offs(32, 64, L5)).to(gl.bfloat16)
    v19 = gl.convert_layout(v22, gl.DotOperandLayout(0, L1, 2))
    v20 = gl.convert_layout(v13.to(gl.bfloat16), gl.DotOperandLayout(1, L1, 2))
    v21 = mma_v2(v19, v20, gl.zeros([32, 32], gl.float32, L1))
    v23 = gl.where(v17 > v17, v17, v17)
    for i24 in gl.static_range(3):
        v25 = gl.convert_layout(v13.to(gl.float16), gl.DotOperandLayout(0, L1, 2))
        v26 = gl.convert_layout(v22.to(gl.float16), gl.DotOperandLayout(1, L1, 2))
        v27 = mma_v2(v25, v26, gl.zeros([64, 64], gl.float32, L1))
        b28 = gl.allocate_shared_memory(gl.float32, [2, 64, 128], L6)
        v15 = v15 + v15
    gl.store(y_ptr + offs(32, 32, L1), v21)
    gl.store(y_ptr + offs(16, 16, L2), v17.to(gl.float32))
    gl.store(y_ptr + offs(32, 32, L1), v21)
