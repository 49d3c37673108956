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
def through(x, dtype: gl.constexpr, shared: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(dtype, x.shape, shared)
    buffer.store(x.to(dtype))
    return buffer.load(layout)


@gluon.jit
def task_1_0(x_ptr, y_ptr, n, b12):
    L0: gl.constexpr = gl.BlockedLayout([2, 1], [8, 4], [2, 4], [0, 1])
    L1: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [2, 1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [2, 1, 0])
    v16 = b12.load(L0)
    b17 = gl.allocate_shared_memory(gl.float16, [4, 16, 32], L1)
    b18 = gl.allocate_shared_memory(gl.float16, [4, 4, 16, 16], L2)
    w19 = b12
    v20 = gl.convert_layout(v16, L0)
    gl.store(y_ptr + offs(16, 32, L0), v16.to(gl.float32))
    gl.store(y_ptr + offs(16, 32, L0), v20.to(gl.float32))


@gluon.jit
def task_1_1(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [16, 2], [1, 1], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([4, 1], [4, 8], [1, 1], [0, 1])
    b21 = gl.allocate_shared_memory(gl.float16, [2, 32, 128], L0)
    async_copy.async_load(b21.index(0), x_ptr + offs(32, 128, L1))
    async_copy.commit_group()
    async_copy.wait_group(0)
    v22 = b21.index(1).load(L2)
    b21.index(0).store(v22)
    gl.store(y_ptr + offs(32, 128, L2), v22.to(gl.float32))


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.BlockedLayout([2, 8], [16, 2], [4, 2], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([256, 64], gl.bfloat16)
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.bfloat16)
    L3: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[8, 1], instr_shape=[16, 128, 16])
    L4: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [2, 4], [1, 0])
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 128], gl.float32)
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([256, 16], gl.float16)
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 32], gl.float16)
    L8: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[8, 1], instr_shape=[16, 32, 16])
    L9: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [2, 4], [1, 0])
    v1 = gl.load(x_ptr + offs(32, 128, L0))
    v2 = gl.convert_layout(v1, L0)
    for i3 in range(n - 1):
        b4 = gl.allocate_shared_memory(gl.bfloat16, [256, 64], L1)
        b5 = gl.allocate_shared_memory(gl.bfloat16, [64, 128], L2)
        v6 = gl.zeros([256, 128], gl.float32, L3)
        v6 = warpgroup_mma(b4, b5, v6)
        v7 = through(v1, gl.float32, L5, L4)
        v8 = gl.load(x_ptr + offs(32, 128, L4)).to(gl.int8)
        v9 = v7 - gl.min(v7, 0)[None, :]
        b10 = gl.allocate_shared_memory(gl.bfloat16, [256, 64], L1)
        pass
    b11 = gl.allocate_shared_memory(gl.float16, [256, 16], L6)
    b12 = gl.allocate_shared_memory(gl.float16, [16, 32], L7)
    v14 = gl.load(x_ptr + offs(256, 16, L0))
    b11.store(v14)
    v13 = gl.zeros([256, 32], gl.float32, L8)
    v13 = warpgroup_mma(b11, b12, v13, is_async=True)
    v13 = warpgroup_mma_wait(num_outstanding=0, deps=(v13, ))
    v15 = gl.load(x_ptr + offs(16, 32, L9))
    b12.store(v15)
    gl.warp_specialize([(task_1_0, (x_ptr, y_ptr, n, b12, )), (task_1_1, (x_ptr, y_ptr, n, ))], [1], [24])
    b12.store(v15)
    gl.store(y_ptr + offs(256, 16, L0), v14.to(gl.float32))
    gl.store(y_ptr + offs(32, 128, L0), v1.to(gl.float32))
