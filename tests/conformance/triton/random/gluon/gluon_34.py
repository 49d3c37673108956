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
    L0: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2, transposed=True)
    L1: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [2, 2], [1, 0])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 128, 16])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [16, 2], [2, 2], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [4, 128, 128], L0)
    v2 = gl.full([16, 16], n, gl.float32, L1)
    b3 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    bar4 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar4.index(j), count=1)
    mbarrier.expect(bar4.index(1), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar4.index(1), b3.index(1))
    mbarrier.wait(bar4.index(1), 0)
    for i5 in range(8):
        b6 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L2)
        b7 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L3)
        v9 = gl.load(x_ptr + offs(64, 64, L1)).to(gl.bfloat16)
        b6.store(v9)
        v8 = gl.zeros([64, 128], gl.float32, L4)
        v8 = warpgroup_mma(b6, b7, v8)
        b6.store(v9)
        v2 = v2 + v2
    for i12 in range(8):
        b13 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
        mbarrier.expect(bar4.index((i12 + 1) % 3), d3.nbytes_per_cta)
        tma.async_load(d3, [i12, 0], bar4.index((i12 + 1) % 3), b13)
        mbarrier.wait(bar4.index((i12 + 1) % 3), 0)
        v14 = gl.min(v2, 1, keep_dims=True)
        if i12 > 1:
            v16 = gl.convert_layout(v2, L5)
            v2 = v2 * 2
        v2 = v2 + v2
    gl.store(y_ptr + offs(16, 16, L1), v2)
