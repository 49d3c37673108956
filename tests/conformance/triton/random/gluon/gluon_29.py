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
def pick(a, b, flag):
    if flag > 2:
        r = a
    else:
        r = b
    return r


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float16)
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [2, 2], [1, 0])
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 16], gl.float32)
    L5: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [2, 1, 0])
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L7: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    L8: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.float16)
    L9: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 64], gl.float16)
    bar1 = mbarrier.allocate_mbarrier()
    mbarrier.init(bar1, count=1)
    mbarrier.arrive(bar1, count=1)
    b2 = gl.allocate_shared_memory(gl.float16, [64, 64], L0)
    b3 = gl.allocate_shared_memory(gl.float16, [64, 32], L1)
    v5 = gl.full([64, 64], n, gl.float16, L2)
    b2.store(v5)
    v4 = gl.zeros([64, 32], gl.float32, L3)
    v4 = warpgroup_mma(b2, b3, v4, is_async=True)
    v4 = warpgroup_mma_wait(num_outstanding=0, deps=(v4, ))
    v6 = v4.to(gl.float32)
    s7 = gl.atomic_xchg(y_ptr, 1.0)
    gl.store(y_ptr + 1, s7)
    b8 = gl.allocate_shared_memory(gl.float32, [16, 16], L4)
    v10 = gl.join(v4, v6)
    b12 = gl.allocate_shared_memory(gl.float16, [4, 2, 16, 16], L5)
    b13 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L6)
    b14 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L6)
    v16 = gl.load(x_ptr + offs(64, 64, L2)).to(gl.bfloat16)
    b13.store(v16)
    v15 = gl.zeros([64, 64], gl.float32, L7)
    v15 = warpgroup_mma(b13, b14, v15, is_async=True)
    v15 = warpgroup_mma_wait(num_outstanding=0, deps=(v15, ))
    w17 = pick(b14, b13, n)
    v18 = gl.reshape(v6, [16, 128])
    w19 = pick(b13, b14, n)
    b20 = gl.allocate_shared_memory(gl.float16, [64, 16], L8)
    b21 = gl.allocate_shared_memory(gl.float16, [16, 64], L9)
    v22 = gl.zeros([64, 64], gl.float32, L7)
    v22 = warpgroup_mma(b20, b21, v22)
    gl.store(y_ptr + offs(64, 32, L3), v6)
    gl.store(y_ptr + offs(64, 64, L7), v15)
