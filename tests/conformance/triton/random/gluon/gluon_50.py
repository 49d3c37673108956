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
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [0])
    L1: gl.constexpr = gl.NVMMASharedLayout(128, 32, 2, transposed=True)
    L2: gl.constexpr = gl.BlockedLayout([8], [32], [1], [0])
    L3: gl.constexpr = gl.BlockedLayout([2], [32], [1], [0])
    L4: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [1, 1], [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    b1 = gl.allocate_shared_memory(gl.float16, [256], L0)
    b2 = gl.allocate_shared_memory(gl.float32, [32, 32], L1)
    v3 = gl.load(x_ptr + gl.arange(0, 256, L2)).to(gl.float16)
    b1.store(v3)
    gl.store(y_ptr + gl.arange(0, 256, L2), v3.to(gl.float32))
    v4 = gl.convert_layout(v3, L3)
    b1.store(v4)
    gl.store(y_ptr + gl.arange(0, 256, L3), v4.to(gl.float32))
    b1.store(v3)
    v5 = v3 * v3
    for i6 in range(2):
        v7 = gl.full([32, 32], n, gl.float32, L4)
        b2.store(v7)
        v8 = gl.reshape(v7, [2, 256, 2])
        b9 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
        v10 = gl.load(x_ptr + offs(32, 16, L4)).to(gl.float16)
        pass
    v11 = b1.load(L5)
    v12 = b1.load(L2)
    gl.store(y_ptr + gl.arange(0, 256, L2), v5.to(gl.float32))
    gl.store(y_ptr + gl.arange(0, 256, L3), v4.to(gl.float32))
