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
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.BlockedLayout([1, 2], [16, 2], [1, 1], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.bfloat16)
    L2: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [1, 1], [1, 0])
    L4: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 1], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0, 1])
    v1 = gl.load(x_ptr + offs(64, 64, L0)).to(gl.float32)
    v2 = v1 + v1
    v3 = gl.max(v2, 0)
    b4 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L1)
    b5 = gl.allocate_shared_memory(gl.float16, [16, 32], L2)
    v6 = b4.load(L3)
    v7 = b4.load(gl.DotOperandLayout(0, L4, 2))
    v8 = b4.load(gl.DotOperandLayout(1, L4, 2))
    v9 = mma_v2(v7, v8, gl.zeros([64, 64], gl.float32, L4))
    async_copy.async_load(b5, x_ptr + offs(16, 32, L5))
    async_copy.commit_group()
    async_copy.wait_group(0)
    b10 = gl.allocate_shared_memory(gl.bfloat16, [64, 64], L1)
    w11 = b5
    v12 = gl.convert_layout(v9, L3)
    b13 = gl.allocate_shared_memory(gl.float16, [128, 16], L6)
    v15 = gl.load(x_ptr + offs(16, 32, L0))
    v14 = stage(w11, v15, L0)
    gl.store(y_ptr + offs(16, 32, L0), v15.to(gl.float32))
    gl.store(y_ptr + offs(64, 64, L3), v12)
