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
    L0: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2, transposed=True)
    L1: gl.constexpr = gl.BlockedLayout([2, 2], [4, 8], [2, 2], [1, 0])
    L2: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    b1 = gl.allocate_shared_memory(gl.bfloat16, [32, 16], L0)
    v2 = gl.load(x_ptr + offs(32, 16, L1)).to(gl.bfloat16)
    b1.store(v2)
    v6 = gl.load(x_ptr + offs(64, 32, L1)).to(gl.bfloat16)
    v3 = gl.convert_layout(v6, gl.DotOperandLayout(0, L2, 2))
    v7 = gl.load(x_ptr + offs(32, 64, L1)).to(gl.bfloat16)
    v4 = gl.convert_layout(v7, gl.DotOperandLayout(1, L2, 2))
    v5 = mma_v2(v3, v4, gl.zeros([64, 64], gl.float32, L2))
    v8 = gl.atomic_add(y_ptr + offs(64, 64, L2), v5)
    v9 = v5.to(gl.int32)
    gl.store(y_ptr + offs(32, 16, L1), v2.to(gl.float32))
    gl.store(y_ptr + offs(64, 64, L2), v9.to(gl.float32))
    gl.store(y_ptr + offs(64, 64, L2), v8)
