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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float16)
    L2: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [1, 4], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.bfloat16)
    L5: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, 4], [0, 1])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.float16)
    b1 = gl.allocate_shared_memory(gl.float32, [64, 32], L0)
    b2 = gl.allocate_shared_memory(gl.float16, [16, 32], L1)
    v3 = gl.load(x_ptr + offs(16, 32, L2))
    b2.store(v3)
    b2.store(v3)
    b4 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L3)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L4)
    v7 = gl.load(x_ptr + offs(64, 64, L5)).to(gl.bfloat16)
    b4.store(v7)
    v6 = gl.zeros([64, 32], gl.float32, L6)
    v6 = warpgroup_mma(b4, b5, v6)
    v8 = v6 - v6
    v9 = v7.reshape([2, 1024, 2])
    v10 = b2.load(L5)
    v11 = b5.load(L2)
    v12 = stage(b5, v6.to(gl.bfloat16), L2)
    b13 = gl.allocate_shared_memory(gl.float16, [16, 32], L1)
    b14 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
    bar15 = mbarrier.allocate_mbarrier()
    mbarrier.init(bar15, count=1)
    mbarrier.expect(bar15, d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar15, b14)
    mbarrier.wait(bar15, 0)
    b2.store(v3)
    b16 = gl.allocate_shared_memory(gl.float16, [64, 16], L7)
    b17 = gl.allocate_shared_memory(gl.float16, [16, 32], L1)
    v19 = gl.full([64, 16], n, gl.float16, L5)
    b16.store(v19)
    v18 = gl.zeros([64, 32], gl.float32, L6)
    v18 = warpgroup_mma(b16, b17, v18)
    gl.store(y_ptr + offs(16, 32, L2), v3.to(gl.float32))
    gl.store(y_ptr + offs(64, 16, L5), gl.convert_layout(v19, L5).to(gl.float32))
