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
def kernel(x_ptr, y_ptr, n, d3, d4, C0: gl.constexpr):
    L0: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, 2], [1, 0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [2, 1], [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 4], [16, 2], [2, 1], [1, 0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0, 1])
    v1 = gl.load(x_ptr + offs(128, 128, L0))
    b2 = gl.allocate_shared_memory(gl.int8, [2, 64, 16], L1)
    v3 = gl.full([64, 16], n, gl.int8, L2)
    b2.index(0).store(v3)
    w4 = b2.index(1).slice(0, 32, dim=0)
    v5 = gl.load(x_ptr + offs(64, 16, L3)).to(gl.int8)
    b2.index(1).store(v5)
    v6 = b2.index(1).load(L2)
    b7 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
    bar8 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar8.index(j), count=1)
    mbarrier.expect(bar8.index(0), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar8.index(0), b7)
    mbarrier.wait(bar8.index(0), 0)
    b9 = gl.allocate_shared_memory(gl.float16, [2, 128, 128], L4)
    for i10 in range(2):
        b2.index(i10 % 2).store(v6)
        v11 = v3.to(gl.int32)
        v12 = v11.to(gl.float32)
        b2.index(1).store(v5)
        pass
    if C0 > 0:
        v13 = gl.load(x_ptr + offs(128, 128, L0))
        b14 = gl.allocate_shared_memory(d4.dtype, [3] + d4.block_shape, d4.layout)
        b14.index(0).store(v1.to(gl.bfloat16))
        fence_async_shared()
        tma.async_store(d4, [0, 0], b14.index(0))
        tma.store_wait(pendings=0)
        v3 = v6 * 2
    gl.store(y_ptr + offs(64, 16, L3), v5.to(gl.float32))
    gl.store(y_ptr + offs(64, 16, L2), v3.to(gl.float32))
