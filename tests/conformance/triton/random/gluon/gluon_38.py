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
def kernel(x_ptr, y_ptr, n):
    L0: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    L1: gl.constexpr = gl.BlockedLayout([2], [32], [8], [0])
    L2: gl.constexpr = gl.BlockedLayout([8], [32], [8], [0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(2, 2, 8, [1, 0])
    L4: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1], [32], [8], [0])
    L6: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [2, 4], [1, 0])
    L7: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 4], [1, 0])
    L8: gl.constexpr = TensorMemoryLayout([128, 32], col_stride=1)
    L9: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    b1 = gl.allocate_shared_memory(gl.float16, [2, 64], L0)
    v2 = b1.index(0).load(L1)
    v3 = gl.convert_layout(v2, L2)
    b4 = gl.allocate_shared_memory(gl.float16, [4, 32, 16], L3)
    ring5 = Ring.create(gl.float16, [16, 32], L4, 3)
    v6 = gl.convert_layout(v3, L5)
    b7 = gl.allocate_shared_memory(gl.float32, [64, 64], L4)
    v8 = gl.max(v2, 0)
    gl.store(y_ptr + 5, v8.to(gl.float32))
    v9 = gl.load(x_ptr + offs(16, 32, L6)).to(gl.int8)
    v10 = through(v9, gl.float32, L3, L7)
    t11 = allocate_tensor_memory(gl.float32, [128, 32], L8)
    v12 = gl.load(x_ptr + offs(128, 32, L6))
    t11.store(gl.convert_layout(v12, t11.get_reg_layout()))
    for i13 in range(0, n, 2):
        b14 = gl.allocate_shared_memory(gl.int32, [3, 16, 16], L9)
        pass
    v15 = v10.to(gl.float32)
    gl.store(y_ptr + offs(128, 32, L6), v12)
    gl.store(y_ptr + offs(16, 32, L6), gl.convert_layout(v9, L6).to(gl.float32))
