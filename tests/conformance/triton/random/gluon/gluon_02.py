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
    L0: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    L1: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)
    L2: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
    L4: gl.constexpr = gl.BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0])
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L6: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    L7: gl.constexpr = TensorMemoryLayout([128, 32], col_stride=1)
    L8: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    v1 = gl.load(x_ptr + offs(32, 64, L0)).to(gl.bfloat16)
    v2 = through(v1, gl.float16, L1, L0)
    v4 = gl.join(v2, v2)
    v3, v5 = gl.split(v4)
    b6 = gl.allocate_shared_memory(gl.float8e5, [2, 16, 128], L2)
    v7 = gl.load(x_ptr + offs(16, 128, L0)).to(gl.float8e5)
    b6.index(0).store(v7)
    v8 = gl.load(x_ptr + offs(32, 64, L0)).to(gl.float16)
    b9 = gl.allocate_shared_memory(d3.dtype, [2] + d3.block_shape, d3.layout)
    bar10 = mbarrier.allocate_mbarrier(batch=3)
    for j in gl.static_range(3):
        mbarrier.init(bar10.index(j), count=1)
    mbarrier.expect(bar10.index(1), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar10.index(1), b9.index(1))
    mbarrier.wait(bar10.index(1), 0)
    v11 = b9.index(0).load(L3)
    v12 = b6.index(1).load(L4)
    ring13 = Ring.create(gl.float16, [128, 16], L5, 2)
    v14 = gl.load(x_ptr + offs(128, 16, L3)).to(gl.float16)
    ring13.put(1, v14)
    t15 = allocate_tensor_memory(gl.float32, [2, 128, 128], L6)
    mbarrier.expect(bar10.index(0), d3.nbytes_per_cta)
    tma.async_load(d3, [0, 0], bar10.index(0), b9.index(0))
    mbarrier.wait(bar10.index(0), 0)
    gl.store(y_ptr + offs(32, 64, L3), gl.convert_layout(v3, L3).to(gl.float32))
    t16 = allocate_tensor_memory(gl.float32, [128, 32], L7)
    gl.store(y_ptr + offs(32, 64, L8), gl.convert_layout(v8, L8).to(gl.float32))
    gl.store(y_ptr + offs(16, 128, L0), v7.to(gl.float32))
