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
def through(x, dtype: gl.constexpr, shared: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(dtype, x.shape, shared)
    buffer.store(x.to(dtype))
    return buffer.load(layout)


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [0])
    L1: gl.constexpr = gl.BlockedLayout([2, 2], [1, 32], [2, 2], [1, 0])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.bfloat16)
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 32], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.bfloat16)
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.bfloat16)
    L7: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 2], [1, 0])
    L8: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 16], gl.float32)
    L9: gl.constexpr = gl.BlockedLayout([1, 1], [32, 1], [1, 4], [1, 0])
    L10: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float32)
    L11: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L12: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 128], gl.float16)
    L13: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L14: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 64], gl.bfloat16)
    L15: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L16: gl.constexpr = gl.BlockedLayout([2, 8], [4, 8], [2, 2], [1, 0])
    L17: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [1, 4], [1, 0])
    L18: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 32], gl.float16)
    b1 = gl.allocate_shared_memory(gl.float32, [4, 512], L0)
    v2 = gl.load(x_ptr + offs(16, 64, L1)).to(gl.int8)
    v3 = gl.load(x_ptr + offs(16, 64, L1))
    b4 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L2)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [32, 32], L3)
    v6 = gl.zeros([64, 32], gl.float32, L4)
    v6 = warpgroup_mma(b4, b5, v6, is_async=True)
    v6 = warpgroup_mma_wait(num_outstanding=0, deps=(v6, ))
    b7 = gl.allocate_shared_memory(gl.bfloat16, [128, 16], L5)
    b8 = gl.allocate_shared_memory(gl.bfloat16, [16, 32], L6)
    v10 = gl.load(x_ptr + offs(128, 16, L7)).to(gl.bfloat16)
    b7.store(v10)
    v9 = gl.zeros([128, 32], gl.float32, L4)
    v9 = warpgroup_mma(b7, b8, v9)
    for i11 in range(2):
        b12 = gl.allocate_shared_memory(gl.float32, [16, 16], L8)
        v13 = b8.load(L9)
        v14 = gl.reduce(v9, 0, plus)
        v15 = through(v10, gl.float32, L10, L1)
        b16 = gl.allocate_shared_memory(gl.float16, [128, 16], L11)
        b17 = gl.allocate_shared_memory(gl.float16, [16, 128], L12)
        b16.store(v10.to(gl.float16))
        v18 = gl.zeros([128, 128], gl.float32, L13)
        v18 = warpgroup_mma(b16, b17, v18)
        v2 = v2 + v2
    b19 = gl.allocate_shared_memory(gl.bfloat16, [128, 64], L14)
    b20 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L15)
    v22 = gl.load(x_ptr + offs(128, 64, L16)).to(gl.bfloat16)
    b19.store(v22)
    v21 = gl.zeros([128, 128], gl.float32, L13)
    v21 = warpgroup_mma(b19, b20, v21)
    v23 = gl.atomic_add(y_ptr + offs(128, 32, L4), v9)
    v24 = through(v23, gl.float16, L18, L17)
    gl.store(y_ptr + offs(16, 64, L1), v2.to(gl.float32))
    gl.store(y_ptr + offs(64, 32, L4), v6)
