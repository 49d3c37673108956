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
def plus(a, b):
    return a + b


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    L1: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [16, 2], [4, 1], [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [1, 4], [1, 0])
    L6: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 4], [1, 0])
    L7: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 2], [1, 0])
    L8: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0])
    b1 = gl.allocate_shared_memory(gl.float16, [64], L0)
    v5 = gl.full([64, 64], n, gl.float16, L2)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(0, L1, 2))
    v6 = gl.load(x_ptr + offs(64, 32, L2))
    v3 = gl.convert_layout(v6, gl.DotOperandLayout(1, L1, 2))
    v4 = mma_v2(v2, v3, gl.zeros([64, 32], gl.float32, L1))
    v7 = gl.load(x_ptr + gl.arange(0, 64, L3))
    b1.store(v7)
    v8 = gl.where(v7 > v7, v7, v7)
    b9 = gl.allocate_shared_memory(gl.float16, [128, 64], L4)
    if n > 4:
        v10 = v4 + v4
        if n > 4:
            v11 = gl.convert_layout(v5, gl.DotOperandLayout(0, L1, 2))
            v12 = gl.convert_layout(v4.to(gl.float16), gl.DotOperandLayout(1, L1, 2))
            v13 = mma_v2(v11, v12, gl.zeros([64, 32], gl.float32, L1))
            v14 = gl.reshape(v8, [2, 16, 2])
            pass
        else:
            async_copy.async_load(b9, x_ptr + offs(128, 64, L5))
            async_copy.commit_group()
            async_copy.wait_group(0)
            async_copy.async_load(b9, x_ptr + offs(128, 64, L6))
            async_copy.commit_group()
            async_copy.wait_group(0)
            v15 = gl.reduce(v4, 1, plus)
            pass
        v16 = gl.load(x_ptr + offs(128, 64, L7))
        pass
    gl.store(y_ptr + gl.arange(0, 64, L3), v7.to(gl.float32))
    v17 = v5.to(gl.float16)
    gl.store(y_ptr + offs(64, 64, L2), v17.to(gl.float32))
    v18 = b9.load(L7)
    v19 = gl.sum(v17, 1)
    if n > 4:
        b20 = gl.allocate_shared_memory(gl.float32, [2, 64], L8)
        v21 = v19.to(gl.float32)
        async_copy.async_load(b9, x_ptr + offs(128, 64, L7))
        async_copy.commit_group()
        async_copy.wait_group(0)
        v5 = v17 * 2
    gl.store(y_ptr + offs(128, 64, L7), v18.to(gl.float32))
    gl.store(y_ptr + offs(64, 32, L1), v4)
