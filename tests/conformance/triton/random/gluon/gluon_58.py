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
    L0: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [1, 1], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L2: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [1, 1], [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L4: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, 1], [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [16, 2], [1, 1], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0, 1])
    v1 = gl.load(x_ptr + offs(64, 128, L0))
    b2 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L1)
    gl.store(y_ptr + offs(64, 128, L0), v1.to(gl.float32))
    v3 = b2.load(L2)
    v4 = b2.load(L0)
    v5 = gl.sum(v4, 0)
    v9 = gl.load(x_ptr + offs(32, 64, L0))
    v6 = gl.convert_layout(v9, gl.DotOperandLayout(0, L3, 2))
    v10 = gl.load(x_ptr + offs(64, 32, L4))
    v7 = gl.convert_layout(v10, gl.DotOperandLayout(1, L3, 2))
    v8 = mma_v2(v6, v7, gl.zeros([32, 32], gl.float32, L3))
    gl.store(y_ptr + offs(64, 32, L4), v10.to(gl.float32))
    v11 = b2.load(L2)
    if C0 > 0:
        v12 = gl.load(x_ptr + offs(64, 128, L5)).to(gl.bfloat16)
        b2.store(v12)
        b2.store(v1.to(gl.bfloat16))
        v4 = v4 * 2
    for i13 in range(0, n):
        v14 = gl.convert_layout(v8.to(gl.float16), gl.DotOperandLayout(0, L3, 2))
        v15 = gl.convert_layout(v8.to(gl.float16), gl.DotOperandLayout(1, L3, 2))
        v16 = mma_v2(v14, v15, gl.zeros([32, 32], gl.float32, L3))
        v17 = through(v10, gl.float32, L6, L0)
        pass
    gl.store(y_ptr + offs(64, 128, L0), v1.to(gl.float32))
    gl.store(y_ptr + offs(32, 32, L3), v8)
