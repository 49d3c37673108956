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
def kernel(x_ptr, y_ptr, n, C0: gl.constexpr):
    L0: gl.constexpr = gl.BlockedLayout([2, 2], [8, 4], [1, 1], [1, 0])
    L1: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L2: gl.constexpr = gl.NVMMASharedLayout(0, 16, 2)
    L3: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 1], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L7: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    v1 = gl.load(x_ptr + offs(64, 32, L0))
    if C0 > 0:
        v2 = gl.maximum(v1, v1)
        v6 = gl.load(x_ptr + offs(64, 64, L0))
        v3 = gl.convert_layout(v6, gl.DotOperandLayout(0, L1, 2))
        v4 = gl.convert_layout(v6, gl.DotOperandLayout(1, L1, 2))
        v5 = mma_v2(v3, v4, gl.zeros([64, 64], gl.float32, L1))
        v1 = v2 * 2
    else:
        v10 = gl.full([64, 64], n, gl.bfloat16, L0)
        v7 = gl.convert_layout(v10, gl.DotOperandLayout(0, L1, 2))
        v8 = gl.convert_layout(v10, gl.DotOperandLayout(1, L1, 2))
        v9 = mma_v2(v7, v8, gl.zeros([64, 64], gl.float32, L1))
        b11 = gl.allocate_shared_memory(gl.float16, [3, 128, 32], L2)
        v1 = v1 * 2
    s12 = gl.atomic_add(y_ptr, 1.0)
    gl.store(y_ptr + 1, s12)
    for i13 in gl.static_range(2):
        b14 = gl.allocate_shared_memory(gl.float32, [64], L3)
        b15 = gl.allocate_shared_memory(gl.float16, [32, 128], L4)
        if i13 > 1:
            v16 = gl.load(x_ptr + i13 * 32 + offs(32, 128, L5)).to(gl.float16)
            b15.store(v16)
            v1 = v1 * 2
        else:
            v20 = gl.load(x_ptr + i13 * 32 + offs(32, 32, L0))
            v17 = gl.convert_layout(v20, gl.DotOperandLayout(0, L1, 2))
            v21 = gl.full([32, 64], n, gl.bfloat16, L0)
            v18 = gl.convert_layout(v21, gl.DotOperandLayout(1, L1, 2))
            v19 = mma_v2(v17, v18, gl.zeros([32, 64], gl.float32, L1))
            v22 = gl.full([32, 128], n, gl.float16, L5)
            b15.store(v22)
            v1 = v1 * 2
        if n > 4:
            gl.store(y_ptr + offs(64, 32, L0), v1.to(gl.float32))
            v23 = gl.convert_layout(v1, L0)
            v1 = v1 * 2
        else:
            b24 = gl.allocate_shared_memory(gl.bfloat16, [32, 128], L6)
            w25 = b24.slice(16, 16, dim=0)
            b26 = gl.allocate_shared_memory(gl.float16, [32, 128], L4)
            v1 = v1 * 2
        v1 = v1 + v1
    v30 = gl.load(x_ptr + offs(32, 32, L0)).to(gl.float16)
    v27 = gl.convert_layout(v30, gl.DotOperandLayout(0, L1, 2))
    v28 = gl.convert_layout(v30, gl.DotOperandLayout(1, L1, 2))
    v29 = mma_v2(v27, v28, gl.zeros([32, 32], gl.float32, L1))
    v31 = v1 * v1
    b32 = gl.allocate_shared_memory(gl.float32, [128, 32], L7)
    v33 = b32.load(L0)
    v34 = gl.atomic_add(y_ptr + offs(128, 32, L0), v33)
    v35 = gl.atomic_add(y_ptr + offs(32, 32, L1), v29)
    v36 = gl.where(v30 > v30, v30, v30)
    gl.store(y_ptr + offs(32, 32, L0), v36.to(gl.float32))
    gl.store(y_ptr + offs(64, 32, L0), v31.to(gl.float32))
