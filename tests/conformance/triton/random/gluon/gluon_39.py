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
    L0: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [2, 2], [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([2, 4], [4, 8], [2, 2], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0, 1])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float16)
    L5: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [2, 2], [1, 0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    L7: gl.constexpr = gl.BlockedLayout([2, 2], [16, 2], [2, 2], [1, 0])
    L8: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
    L9: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    L10: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    v1 = gl.load(x_ptr + offs(64, 128, L0))
    v2 = gl.max(v1, 0)
    v3 = gl.convert_layout(v1, L1)
    v4 = gl.reshape(v3, [512, 16])
    bar5 = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(2):
        mbarrier.init(bar5.index(j), count=1)
    mbarrier.wait(bar5.index(1), 0)
    b6 = gl.allocate_shared_memory(gl.float16, [2, 64, 128], L2)
    b7 = gl.allocate_shared_memory(gl.float16, [128, 16], L3)
    b8 = gl.allocate_shared_memory(gl.float16, [16, 32], L4)
    v10 = gl.load(x_ptr + offs(128, 16, L5))
    b7.store(v10)
    v9 = gl.zeros([128, 32], gl.float32, L6)
    v9 = warpgroup_mma(b7, b8, v9, is_async=True)
    v9 = warpgroup_mma_wait(num_outstanding=0, deps=(v9, ))
    v11 = b6.index(1).load(L5)
    v12 = b6.index(1).load(L1)
    v13 = gl.load(x_ptr + offs(64, 128, L7))
    v14 = gl.load(x_ptr + offs(64, 128, L8)).to(gl.bfloat16)
    v15 = gl.convert_layout(v4, L8)
    async_copy.async_load(b7, x_ptr + offs(128, 16, L9))
    async_copy.commit_group()
    async_copy.wait_group(0)
    b16 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L10)
    gl.store(y_ptr + offs(128, 16, L5), v10.to(gl.float32))
    gl.store(y_ptr + offs(64, 128, L5), v11.to(gl.float32))
