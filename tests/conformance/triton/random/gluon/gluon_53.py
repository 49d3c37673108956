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
    L0: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, 2], [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 1], [1, 0])
    v1 = gl.load(x_ptr + offs(32, 128, L0))
    v2 = gl.permute(v1, (1, 0))
    v3 = v2.to(gl.int32)
    v4 = v3 * 2
    b5 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    v6 = gl.full([128, 128], n, gl.int8, L0)
    b5.index(0).store(v6)
    fence_async_shared()
    tma.async_store(d3, [0, 0], b5.index(0))
    gl.store(y_ptr + offs(128, 32, L1), gl.convert_layout(v2, L1))
    gl.store(y_ptr + offs(128, 32, L1), gl.convert_layout(v4, L1).to(gl.float32))
