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
def kernel(x_ptr, y_ptr, n, C0: gl.constexpr):
    L0: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [2, 1, 0])
    L2: gl.constexpr = gl.BlockedLayout([4], [32], [1], [0])
    L3: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [1, 1], [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([1, 1, 8], [2, 8, 2], [1, 1, 1], [2, 1, 0])
    L5: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16)
    L7: gl.constexpr = gl.NVMMASharedLayout(64, 32, 2, transposed=True)
    L8: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 1], [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [64], L0)
    b2 = gl.allocate_shared_memory(gl.float16, [64], L0)
    b3 = gl.allocate_shared_memory(gl.int8, [3, 2, 16, 16], L1)
    if C0 > 0:
        v4 = gl.load(x_ptr + gl.arange(0, 64, L2)).to(gl.float16)
        b2.store(v4)
        pass
    v5 = gl.load(x_ptr + offs(128, 64, L3))
    v6 = gl.permute(v5, (1, 0))
    v7 = gl.full([2, 16, 16], 1, gl.int8, L4)
    b3.index(0).store(v7)
    b8 = gl.allocate_shared_memory(gl.float16, [3, 16, 32], L5)
    ring9 = Ring.create(gl.float16, [128, 64], L6, 3)
    b10 = gl.allocate_shared_memory(gl.float32, [4, 128, 32], L7)
    w11 = b10.index(0)
    gl.store(y_ptr + offs(64, 128, L8), gl.convert_layout(v6, L8).to(gl.float32))
    gl.store(y_ptr + offs(128, 64, L3), v5.to(gl.float32))
