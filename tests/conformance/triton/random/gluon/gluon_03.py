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
def kernel(x_ptr, y_ptr, n, d3, C0: gl.constexpr):
    L0: gl.constexpr = gl.BlockedLayout([2, 4], [4, 8], [1, 4], [1, 0])
    L1: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 8], [16, 2], [4, 1], [1, 0])
    L3: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float32)
    L4: gl.constexpr = TensorMemoryLayout([128, 64], col_stride=1)
    L5: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [2, 2], [1, 0])
    L6: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    v1 = gl.load(x_ptr + offs(32, 64, L0))
    b2 = gl.allocate_shared_memory(gl.float16, [2, 64, 128], L1)
    v3 = gl.load(x_ptr + offs(64, 128, L0)).to(gl.float16)
    b2.index(1).store(v3)
    v4 = gl.convert_layout(v3, L2)
    v5 = gl.cumsum(v1, 0)
    b6 = gl.allocate_shared_memory(gl.float32, [32, 64], L3)
    ring7 = Ring.create(gl.float32, [32, 64], L1, 3)
    b6.store(v1)
    t8 = allocate_tensor_memory(gl.float32, [128, 64], L4)
    if n % 2 == 0:
        v9 = gl.convert_layout(v4, L5)
        b10 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
        b6.store(v5)
        v1 = v5 * 2
    else:
        v11 = t8.load()
        if C0 > 0:
            v12 = through(v1, gl.float16, L6, L5)
            v13 = b6.load(L5)
            pass
        else:
            v14 = gl.load(x_ptr + offs(32, 64, L5))
            pass
        v1 = v1 * 2
    gl.store(y_ptr + offs(64, 128, L0), v3.to(gl.float32))
    gl.store(y_ptr + offs(32, 64, L0), v1)
