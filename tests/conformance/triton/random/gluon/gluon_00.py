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
    L0: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L1: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [1, 1], [0, 1])
    L2: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0, 1])
    L3: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 1], [1, 0])
    v4 = gl.load(x_ptr + offs(64, 32, L1)).to(gl.bfloat16)
    v1 = gl.convert_layout(v4, gl.DotOperandLayout(0, L0, 2))
    v5 = gl.load(x_ptr + offs(32, 64, L1)).to(gl.bfloat16)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(1, L0, 2))
    v3 = mma_v2(v1, v2, gl.zeros([64, 64], gl.float32, L0))
    v6 = gl.load(x_ptr + offs(32, 64, L1))
    b7 = gl.allocate_shared_memory(gl.float16, [32, 64], L2)
    v8 = b7.load(gl.DotOperandLayout(0, L0, 2))
    v9 = gl.convert_layout(v4.to(gl.float16), gl.DotOperandLayout(1, L0, 2))
    v10 = mma_v2(v8, v9, gl.zeros([32, 32], gl.float32, L0))
    v11 = gl.convert_layout(v4.to(gl.float16), gl.DotOperandLayout(0, L0, 2))
    v12 = gl.convert_layout(v10.to(gl.float16), gl.DotOperandLayout(1, L0, 2))
    v13 = mma_v2(v11, v12, gl.zeros([64, 32], gl.float32, L0))
    bar14 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar14.index(j), count=1)
    mbarrier.wait(bar14.index(2), 0)
    v15 = b7.load(L1)
    b16 = gl.allocate_shared_memory(gl.float16, [32, 64], L2)
    v18 = b7.load(L1)
    v19 = stage(b16, v6.to(gl.float16), L3)
    v20 = gl.load(x_ptr + offs(32, 64, L3)).to(gl.int8)
    gl.store(y_ptr + offs(64, 32, L0), v13)
    gl.store(y_ptr + offs(64, 64, L0), v3)
    gl.store(y_ptr + offs(32, 32, L0), v10)
