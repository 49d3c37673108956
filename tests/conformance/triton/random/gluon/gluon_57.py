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
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 8], [1, 32], [1, 1], [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    bar1 = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(2):
        mbarrier.init(bar1.index(j), count=1)
    mbarrier.wait(bar1.index(1), n & 1)
    b2 = gl.allocate_shared_memory(gl.float16, [64, 16], L0)
    b3 = gl.allocate_shared_memory(gl.bfloat16, [16, 128], L1)
    v4 = gl.load(x_ptr + offs(64, 16, L2)).to(gl.float16)
    ring5 = Ring.create(gl.float32, [64, 16], L3, 2)
    v6 = b2.load(L2)
    gl.store(y_ptr + offs(64, 16, L2), v4.to(gl.float32))
    gl.store(y_ptr + offs(64, 16, L2), v6.to(gl.float32))
