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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2)
    L1: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L2: gl.constexpr = gl.BlockedLayout([1, 1], [16, 2], [1, 1], [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([2, 1], [4, 8], [1, 1], [0, 1])
    L5: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    ring1 = Ring.create(gl.float16, [16, 32], L0, 2)
    v5 = gl.load(x_ptr + offs(32, 32, L2)).to(gl.bfloat16)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(0, L1, 2))
    v6 = gl.full([32, 64], n, gl.bfloat16, L2)
    v3 = gl.convert_layout(v6, gl.DotOperandLayout(1, L1, 2))
    v4 = mma_v2(v2, v3, gl.zeros([32, 64], gl.float32, L1))
    v7 = gl.load(x_ptr + offs(32, 64, L2)).to(gl.int8)
    b8 = gl.allocate_shared_memory(gl.float32, [32, 64], L3)
    v9 = v6.T
    v10 = gl.convert_layout(v4, L2)
    v11 = gl.sum(v9, 0)
    v12 = b8.load(L2)
    v13 = through(v5, gl.float16, L5, L4)
    v14 = gl.sum(v6, 1)
    b15 = gl.allocate_shared_memory(d3.dtype, [3] + d3.block_shape, d3.layout)
    bar16 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar16.index(j), count=1)
    mbarrier.expect(bar16.index(1), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar16.index(1), b15.index(2))
    mbarrier.wait(bar16.index(1), 0)
    v17 = b15.index(2).load(L4)
    v18 = gl.load(x_ptr + offs(16, 64, L2)).to(gl.int8)
    v19 = gl.full([32, 64], n, gl.float32, L4)
    gl.store(y_ptr + offs(32, 64, L2), v10)
    gl.store(y_ptr + offs(128, 16, L4), v17.to(gl.float32))
