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
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L1: gl.constexpr = gl.BlockedLayout([2, 2], [8, 4], [1, 2], [1, 0])
    L2: gl.constexpr = gl.NVMMASharedLayout.get_default_for([16, 128], gl.float8e5)
    L3: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 1], [1, 0])
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 1], instr_shape=[16, 8])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 2], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [3, 16, 128], L0)
    v2 = gl.load(x_ptr + offs(64, 16, L1)).to(gl.float32)
    b3 = gl.allocate_shared_memory(gl.float8e5, [16, 128], L2)
    v4 = gl.full([16, 128], 1.0, gl.float8e5, L1)
    b3.store(v4)
    async_copy.async_load(b1.index(2), x_ptr + offs(16, 128, L3))
    async_copy.commit_group()
    async_copy.wait_group(0)
    v8 = gl.load(x_ptr + offs(32, 32, L3)).to(gl.bfloat16)
    v5 = gl.convert_layout(v8, gl.DotOperandLayout(0, L4, 2))
    v9 = gl.load(x_ptr + offs(32, 64, L3)).to(gl.bfloat16)
    v6 = gl.convert_layout(v9, gl.DotOperandLayout(1, L4, 2))
    v7 = mma_v2(v5, v6, gl.zeros([32, 64], gl.float32, L4))
    i11 = offs(32, 64, L4) % 32
    v10 = gl.gather(v7, i11, axis=0)
    async_copy.async_load(b1.index(1), x_ptr + offs(16, 128, L5))
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y_ptr + offs(16, 128, L1), v4.to(gl.float32))
    gl.store(y_ptr + offs(32, 64, L4), v10)
