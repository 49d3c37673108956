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
def kernel(x_ptr, y_ptr, n, C0: gl.constexpr):
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [1, 4], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [2, 2], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 32], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.bfloat16)
    L5: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L6: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0, 1])
    L7: gl.constexpr = gl.BlockedLayout([2, 1], [4, 8], [2, 2], [0, 1])
    L8: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L9: gl.constexpr = gl.NVMMASharedLayout(0, 32, 2)
    b1 = gl.allocate_shared_memory(gl.int8, [64, 128], L0)
    v2 = gl.load(x_ptr + offs(64, 64, L1)).to(gl.float16)
    v4 = gl.load(x_ptr + offs(64, 128, L2)).to(gl.int8)
    v3 = stage(b1, v4, L1)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [128, 32], L3)
    b6 = gl.allocate_shared_memory(gl.bfloat16, [32, 128], L4)
    v8 = gl.full([128, 32], n, gl.bfloat16, L1)
    b5.store(v8)
    v7 = gl.zeros([128, 128], gl.float32, L5)
    v7 = warpgroup_mma(b5, b6, v7, is_async=True)
    if C0 > 0:
        b5.store(v8)
        v9 = b5.load(L2)
        bar10 = mbarrier.allocate_mbarrier(batch=3)
        for j in gl.static_range(3):
            mbarrier.init(bar10.index(j), count=1)
        mbarrier.arrive(bar10.index(2), count=1)
        pass
    else:
        b11 = gl.allocate_shared_memory(gl.float8e5, [64, 64], L6)
        v12 = b11.load(L2)
        pass
    v7 = warpgroup_mma_wait(num_outstanding=0, deps=(v7, ))
    v13 = b1.load(L7)
    b15 = gl.allocate_shared_memory(gl.float32, [3, 64, 64], L8)
    v16 = v13.to(gl.int32)
    v17 = gl.permute(v7, (1, 0))
    v19 = gl.join(v16, v16)
    v18, v20 = gl.split(v19)
    v21 = b6.load(L7)
    v22 = v13.to(gl.bfloat16)
    v23 = stage(b1, v22.to(gl.int8), L1)
    v24 = b15.index(2).load(L2)
    b25 = gl.allocate_shared_memory(gl.float32, [64, 16], L9)
    gl.store(y_ptr + offs(128, 128, L5), v7)
    gl.store(y_ptr + offs(64, 64, L1), v2.to(gl.float32))
