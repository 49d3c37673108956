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
def kernel(x_ptr, y_ptr, n, d3):
    L0: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [1, 2], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout(0, 16, 2)
    L2: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 2], instr_shape=[16, 8])
    L3: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [2, 1], [1, 0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0])
    L5: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [2, 1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    i1 = 0
    while i1 < n:
        v2 = gl.load(x_ptr + offs(64, 16, L0))
        ring3 = Ring.create(gl.float16, [32, 16], L1, 3)
        v4 = gl.convert_layout(v2, L0)
        v8 = gl.load(x_ptr + offs(32, 32, L0)).to(gl.float16)
        v5 = gl.convert_layout(v8, gl.DotOperandLayout(0, L2, 2))
        v9 = gl.load(x_ptr + offs(32, 64, L3)).to(gl.float16)
        v6 = gl.convert_layout(v9, gl.DotOperandLayout(1, L2, 2))
        v7 = mma_v2(v5, v6, gl.zeros([32, 64], gl.float32, L2))
        i1 += 1
    b10 = gl.allocate_shared_memory(gl.float16, [4, 64], L4)
    b11 = gl.allocate_shared_memory(gl.float16, [4, 32, 16], L1)
    b12 = gl.allocate_shared_memory(d3.dtype, d3.block_shape, d3.layout)
    bar13 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar13.index(j), count=1)
    mbarrier.expect(bar13.index(2), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar13.index(2), b12)
    mbarrier.wait(bar13.index(2), 0)
    b14 = gl.allocate_shared_memory(gl.bfloat16, [3, 4, 16, 16], L5)
    v15 = gl.load(x_ptr + offs(32, 16, L0))
    ring16 = Ring.create(gl.float32, [32, 16], L6, 2)
    gl.store(y_ptr + offs(32, 16, L3), gl.convert_layout(v15, L3))
