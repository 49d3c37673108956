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
    L0: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 64], gl.bfloat16)
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L2: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [1, 4], [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L4: gl.constexpr = gl.BlockedLayout([1, 2], [8, 4], [1, 4], [0, 1])
    L5: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.bfloat16)
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 16], gl.bfloat16)
    L8: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 16, 16])
    L9: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 32], gl.float16)
    L10: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 16], gl.float16)
    L11: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])
    L12: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [2, 1, 0])
    L13: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L14: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 64], gl.float16)
    L15: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    L16: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    b1 = gl.allocate_shared_memory(gl.bfloat16, [128, 64], L0)
    b2 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L1)
    v4 = gl.load(x_ptr + offs(128, 64, L2)).to(gl.bfloat16)
    b1.store(v4)
    v3 = gl.zeros([128, 128], gl.float32, L3)
    v3 = warpgroup_mma(b1, b2, v3, is_async=True)
    v5 = gl.load(x_ptr + offs(64, 128, L4)).to(gl.bfloat16)
    b2.store(v5)
    v3 = warpgroup_mma_wait(num_outstanding=0, deps=(v3, ))
    b6 = gl.allocate_shared_memory(gl.float32, [16, 16], L5)
    v7 = gl.load(x_ptr + offs(32, 64, L4))
    v8 = b6.load(L2)
    v9 = v5 + 2
    b10 = gl.allocate_shared_memory(gl.bfloat16, [128, 16], L6)
    b11 = gl.allocate_shared_memory(gl.bfloat16, [16, 16], L7)
    v13 = gl.full([128, 16], n, gl.bfloat16, L4)
    b10.store(v13)
    v12 = gl.zeros([128, 16], gl.float32, L8)
    v12 = warpgroup_mma(b10, b11, v12, is_async=True)
    v12 = warpgroup_mma_wait(num_outstanding=0, deps=(v12, ))
    v14 = gl.load(x_ptr + offs(128, 128, L2))
    b15 = gl.allocate_shared_memory(gl.float16, [128, 32], L9)
    b16 = gl.allocate_shared_memory(gl.float16, [32, 16], L10)
    v18 = gl.full([128, 32], n, gl.float16, L11)
    b15.store(v18)
    v17 = gl.zeros([128, 16], gl.float32, L8)
    v17 = warpgroup_mma(b15, b16, v17, is_async=True)
    v17 = warpgroup_mma_wait(num_outstanding=0, deps=(v17, ))
    b19 = gl.allocate_shared_memory(gl.bfloat16, [2, 16, 16], L12)
    b20 = gl.allocate_shared_memory(gl.float16, [128, 16], L13)
    b21 = gl.allocate_shared_memory(gl.float16, [16, 64], L14)
    b20.store(v12.to(gl.float16))
    v22 = gl.zeros([128, 64], gl.float32, L15)
    v22 = warpgroup_mma(b20, b21, v22)
    b23 = gl.allocate_shared_memory(gl.float64, [2, 16, 64], L16)
    b24 = gl.allocate_shared_memory(gl.bfloat16, [128, 128], L5)
    gl.store(y_ptr + offs(128, 16, L8), v17)
    gl.store(y_ptr + offs(128, 64, L11), gl.convert_layout(v22, L11))
