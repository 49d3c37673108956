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
def through(x, dtype: gl.constexpr, shared: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(dtype, x.shape, shared)
    buffer.store(x.to(dtype))
    return buffer.load(layout)


@gluon.jit
def task_1_0(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [4, 2], [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([2, 1], [8, 4], [2, 4], [0, 1])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.float32)
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0])
    v3 = gl.load(x_ptr + offs(16, 128, L0)).to(gl.int32)
    v4 = gl.convert_layout(v3, L1)
    for i5 in range(n - 1):
        b6 = gl.allocate_shared_memory(gl.float32, [32, 128], L2)
        w7 = b6
        v8 = gl.full([32, 128], n, gl.float32, L0)
        w7.store(v8)
        v9 = b6.load(L0)
        pass
    b10 = gl.allocate_shared_memory(gl.float16, [256], L3)
    v11 = v3 * v3
    gl.store(y_ptr + offs(16, 128, L0), v11.to(gl.float32))
    gl.store(y_ptr + offs(16, 128, L1), v4.to(gl.float32))


@gluon.jit
def task_1_1(x_ptr, y_ptr, n, b1):
    L0: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 1], [1, 0])
    v12 = gl.full([16, 128], n, gl.float32, L0)
    v13 = v12.to(gl.float16)
    gl.store(y_ptr + offs(16, 128, L0), v12)
    gl.store(y_ptr + offs(16, 128, L0), v13.to(gl.float32))


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.float8e5)
    L1: gl.constexpr = gl.BlockedLayout([4, 2], [16, 2], [4, 2], [0, 1])
    L2: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [1, 8], [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 2], [1, 0])
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.float32)
    b1 = gl.allocate_shared_memory(gl.float8e5, [32, 128], L0)
    v2 = b1.load(L1)
    gl.warp_specialize([(task_1_0, (x_ptr, y_ptr, n, )), (task_1_1, (x_ptr, y_ptr, n, b1, ))], [2], [40])
    v14 = stage(b1, v2, L2)
    v15 = through(v2, gl.float32, L4, L3)
    if n % 2 == 0:
        for i16 in range(2):
            v2 = v2
        b1.store(v2)
        v15 = v15 * 2
    gl.store(y_ptr + offs(32, 128, L3), v15)
    gl.store(y_ptr + offs(32, 128, L2), v14.to(gl.float32))
