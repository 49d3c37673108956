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
def task_1_0(x_ptr, y_ptr, n, b4, b1):
    L0: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [1, 4], [1, 0])
    v6 = gl.load(x_ptr + offs(64, 32, L0)).to(gl.float8e5)
    b1.store(v6)
    gl.store(y_ptr + offs(64, 32, L0), v6.to(gl.float32))


@gluon.jit
def task_1_1(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.NVMMASharedLayout(0, 8, 2, transposed=True)
    L1: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [0])
    b7 = gl.allocate_shared_memory(gl.int8, [64, 32], L0)
    b8 = gl.allocate_shared_memory(gl.float16, [3, 256], L1)
    b9 = gl.allocate_shared_memory(gl.int8, [64, 32], L0)
    gl.store(y_ptr, n.to(gl.float32))


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float8e5)
    L1: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2, transposed=True)
    L4: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [2, 1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
    L6: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [2, 2], [1, 0])
    L7: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    b1 = gl.allocate_shared_memory(gl.float8e5, [64, 32], L0)
    v2 = gl.load(x_ptr + offs(64, 32, L1))
    v3 = b1.load(L1)
    b4 = gl.allocate_shared_memory(gl.float8e5, [64, 32], L0)
    gl.warp_specialize([(task_1_0, (x_ptr, y_ptr, n, b4, b1, )), (task_1_1, (x_ptr, y_ptr, n, ))], [4], [32])
    b1.store(v3)
    for i10 in range(n - 1):
        v11 = gl.load(x_ptr + offs(64, 32, L1))
        v2 = v2 + v11
        b1, b4 = b4, b1
    b12 = gl.allocate_shared_memory(gl.float16, [32, 32], L2)
    b13 = gl.allocate_shared_memory(gl.bfloat16, [64, 32], L3)
    v14 = b4.load(L1)
    bar15 = mbarrier.allocate_mbarrier()
    mbarrier.init(bar15, count=1)
    mbarrier.wait(bar15, 0)
    b16 = gl.allocate_shared_memory(gl.float32, [2, 16, 16], L4)
    v17 = b4.load(L5)
    async_copy.async_load(b13, x_ptr + offs(64, 32, L6))
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y_ptr + offs(64, 32, L7), gl.convert_layout(v2, L7).to(gl.float32))
    gl.store(y_ptr + offs(64, 32, L1), v3.to(gl.float32))
