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
    L0: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 16], gl.float16)
    L1: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [2, 1, 0])
    L3: gl.constexpr = gl.BlockedLayout([2, 1], [8, 4], [2, 2], [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [2, 2], [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 1, 8], [2, 8, 2], [4, 1, 1], [2, 1, 0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 4], instr_shape=[16, 8])
    L7: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [32, 16], L0)
    b2 = gl.allocate_shared_memory(gl.float16, [3, 64, 16], L1)
    b3 = gl.allocate_shared_memory(gl.int32, [4, 16, 16], L2)
    v4 = gl.full([64, 32], n, gl.float32, L3)
    v5 = b1.load(L4)
    async_copy.async_load(b2.index(2), x_ptr + offs(64, 16, L4))
    async_copy.commit_group()
    async_copy.wait_group(0)
    v6 = through(v5, gl.float16, L0, L4)
    i8 = offs(32, 16, L4) % 16
    v7 = gl.gather(v5, i8, axis=1)
    v9 = b3.load(L5)
    v10 = gl.convert_layout(v4.to(gl.bfloat16), gl.DotOperandLayout(0, L6, 2))
    v13 = gl.load(x_ptr + offs(32, 32, L7)).to(gl.bfloat16)
    v11 = gl.convert_layout(v13, gl.DotOperandLayout(1, L6, 2))
    v12 = mma_v2(v10, v11, gl.zeros([64, 32], gl.float32, L6))
    v14 = b3.load(L5)
    gl.store(y_ptr + offs(32, 16, L4), v6.to(gl.float32))
    gl.store(y_ptr + offs(32, 16, L4), v7.to(gl.float32))
