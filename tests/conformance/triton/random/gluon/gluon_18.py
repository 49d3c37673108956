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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0, 1])
    L1: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [2, 2], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [16, 2], [1, 4], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 32], gl.bfloat16)
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 32, 16])
    b1 = gl.allocate_shared_memory(gl.int8, [4, 32, 16], L0)
    v2 = gl.load(x_ptr + offs(32, 16, L1))
    b3 = gl.allocate_shared_memory(d3.dtype, [3] + d3.block_shape, d3.layout)
    bar4 = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(2):
        mbarrier.init(bar4.index(j), count=1)
    mbarrier.expect(bar4.index(0), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar4.index(0), b3.index(2))
    mbarrier.wait(bar4.index(0), 0)
    v5 = gl.load(x_ptr + offs(32, 16, L2))
    b6 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L3)
    b7 = gl.allocate_shared_memory(gl.bfloat16, [32, 32], L4)
    v9 = gl.load(x_ptr + offs(64, 32, L5))
    b6.store(v9)
    v8 = gl.zeros([64, 32], gl.float32, L6)
    v8 = warpgroup_mma(b6, b7, v8)
    gl.store(y_ptr + offs(64, 32, L6), v8)
    gl.store(y_ptr + offs(64, 32, L2), gl.convert_layout(v9, L2).to(gl.float32))
