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
    L0: gl.constexpr = gl.BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0])
    L1: gl.constexpr = TensorMemoryLayout([64, 128], col_stride=1)
    L2: gl.constexpr = TensorMemoryLayout([128, 64], col_stride=1)
    L3: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L5: gl.constexpr = TensorMemoryLayout([128, 32], col_stride=1)
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float16)
    L8: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2, transposed=True)
    L9: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    for i1 in range(0, n, 2):
        v2 = gl.load(x_ptr + offs(16, 64, L0))
        if i1 > 1:
            gl.store(y_ptr + offs(16, 64, L0), v2.to(gl.float32))
            pass
        else:
            i4 = offs(16, 64, L0) % 16
            v3 = gl.gather(v2, i4, axis=0)
            t5 = allocate_tensor_memory(gl.float16, [64, 128], L1)
            pass
        t6 = allocate_tensor_memory(gl.float16, [128, 64], L2)
        b7 = gl.allocate_shared_memory(gl.float8e5, [512], L3)
        pass
    b8 = gl.allocate_shared_memory(gl.float8e5, [16, 64], L4)
    t9 = allocate_tensor_memory(gl.float32, [128, 32], L5)
    v10 = gl.load(x_ptr + offs(16, 64, L0))
    b8.store(v10.to(gl.float8e5))
    b11 = gl.allocate_shared_memory(gl.float16, [128, 16], L6)
    b12 = gl.allocate_shared_memory(gl.float16, [16, 32], L7)
    bar13 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar13.index(j), count=1)
    tcgen05_mma(b11, b12, t9, use_acc=n > 3)
    tcgen05_commit(bar13.index(1))
    mbarrier.wait(bar13.index(1), 0)
    v14 = gl.where(v10 > v10, v10, v10)
    v15 = v10 + 2
    b16 = gl.allocate_shared_memory(gl.float16, [2, 16, 64], L8)
    v17 = t9.load()
    v18 = gl.convert_layout(v10, L0)
    b19 = gl.allocate_shared_memory(gl.float16, [3, 128], L9)
    mbarrier.arrive(bar13.index(1), count=1)
    b20 = gl.allocate_shared_memory(d3.dtype, [3] + d3.block_shape, d3.layout)
    gl.store(y_ptr + offs(16, 64, L0), v10.to(gl.float32))
    gl.store(y_ptr + offs(16, 64, L0), v15.to(gl.float32))
