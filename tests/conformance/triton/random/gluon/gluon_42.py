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
def plus(a, b):
    return a + b


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
    L0: gl.constexpr = gl.BlockedLayout([1, 2], [8, 4], [1, 1], [0, 1])
    L1: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L2: gl.constexpr = gl.NVMMASharedLayout(128, 32, 2)
    L3: gl.constexpr = gl.BlockedLayout([2, 1], [8, 4], [1, 1], [0, 1])
    v1 = gl.full([128, 32], n, gl.float32, L0)
    v5 = gl.load(x_ptr + offs(64, 64, L0)).to(gl.bfloat16)
    v2 = gl.convert_layout(v5, gl.DotOperandLayout(0, L1, 2))
    v3 = gl.convert_layout(v5, gl.DotOperandLayout(1, L1, 2))
    v4 = mma_v2(v2, v3, gl.zeros([64, 64], gl.float32, L1))
    v6 = gl.reduce(v1, 0, plus)
    ring7 = Ring.create(gl.float32, [128, 32], L2, 3)
    for i8 in gl.static_range(2):
        b9 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
        bar10 = mbarrier.allocate_mbarrier()
        mbarrier.init(bar10, count=1)
        mbarrier.expect(bar10, d3.nbytes_per_cta)
        tma.async_load(d3, [i8, 0], bar10, b9.index(i8 % 2))
        mbarrier.wait(bar10, 0)
        pass
    v11 = gl.load(x_ptr + offs(128, 32, L3))
    gl.store(y_ptr + offs(128, 32, L3), v11.to(gl.float32))
    gl.store(y_ptr + offs(64, 64, L0), v5.to(gl.float32))
