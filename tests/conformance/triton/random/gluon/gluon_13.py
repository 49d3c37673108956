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


@aggregate
class Ring:
    data: gl.shared_memory_descriptor
    bars: gl.shared_memory_descriptor
    STAGES: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, data, bars, STAGES):
        self.data = data
        self.bars = bars
        self.STAGES = gl.constexpr(STAGES)

    @gluon.jit
    def create(dtype: gl.constexpr, shape: gl.constexpr, layout: gl.constexpr, STAGES: gl.constexpr):
        data = gl.allocate_shared_memory(dtype, [STAGES] + shape, layout)
        bars = mbarrier.allocate_mbarrier(batch=STAGES)
        for i in gl.static_range(STAGES):
            mbarrier.init(bars.index(i), count=1)
        return Ring(data, bars, STAGES)

    @gluon.jit
    def at(self, i):
        return self.data.index(i % self.STAGES)

    @gluon.jit
    def put(self, i, x):
        self.at(i).store(x)

    @gluon.jit
    def wait(self, i):
        mbarrier.wait(self.bars.index(i % self.STAGES), (i // self.STAGES) & 1)


@gluon.jit
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [2, 4], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 32], gl.float16)
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1], [32], [8], [0])
    L6: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 4], instr_shape=[16, 8])
    b1 = gl.allocate_shared_memory(gl.float32, [2, 64], L0)
    b2 = gl.allocate_shared_memory(gl.int8, [128, 32], L1)
    v3 = gl.load(x_ptr + offs(128, 32, L2))
    ring4 = Ring.create(gl.float16, [128, 32], L3, 3)
    b5 = gl.allocate_shared_memory(gl.bfloat16, [128, 32], L4)
    v6 = b1.index(1).load(L5)
    v7 = gl.atomic_add(y_ptr + gl.arange(0, 64, L5), v6)
    bar8 = mbarrier.allocate_mbarrier()
    mbarrier.init(bar8, count=1)
    mbarrier.wait(bar8, n & 1)
    v9 = b5.load(L2)
    v13 = gl.load(x_ptr + offs(64, 32, L2))
    v10 = gl.convert_layout(v13, gl.DotOperandLayout(0, L6, 2))
    v14 = gl.full([32, 64], n, gl.bfloat16, L2)
    v11 = gl.convert_layout(v14, gl.DotOperandLayout(1, L6, 2))
    v12 = mma_v2(v10, v11, gl.zeros([64, 64], gl.float32, L6))
    b5.store(v3)
    v15 = b1.index(0).load(L5)
    b16 = gl.allocate_shared_memory(gl.float32, [128, 32], L4)
    gl.store(y_ptr + offs(32, 64, L2), v14.to(gl.float32))
    gl.store(y_ptr + offs(128, 32, L2), gl.convert_layout(v9, L2).to(gl.float32))
