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
    L0: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [0, 1])
    L1: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [4, 2], [1, 0])
    L2: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 8], [1, 0])
    L3: gl.constexpr = gl.BlockedLayout([2, 8], [2, 16], [4, 2], [1, 0])
    L4: gl.constexpr = gl.NVMMASharedLayout.get_default_for([128, 16], gl.float16)
    L5: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 16], gl.float32)
    L6: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L7: gl.constexpr = gl.NVMMASharedLayout.get_default_for([256, 64], gl.bfloat16)
    L8: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 16], gl.bfloat16)
    L9: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[8, 1], instr_shape=[16, 16, 16])
    b1 = gl.allocate_shared_memory(gl.bfloat16, [128, 16], L0)
    v2 = gl.load(x_ptr + offs(128, 16, L1))
    b1.store(v2)
    v3 = gl.convert_layout(v2, L2)
    v4 = through(v3, gl.float16, L4, L3)
    ring5 = Ring.create(gl.float32, [32, 16], L5, 2)
    b6 = gl.allocate_shared_memory(gl.float16, [64, 128], L6)
    v7 = v2 + v2
    b8 = gl.allocate_shared_memory(gl.bfloat16, [256, 64], L7)
    b9 = gl.allocate_shared_memory(gl.bfloat16, [64, 16], L8)
    v11 = gl.full([256, 64], n, gl.bfloat16, L3)
    b8.store(v11)
    v10 = gl.zeros([256, 16], gl.float32, L9)
    v10 = warpgroup_mma(b8, b9, v10, is_async=True)
    v10 = warpgroup_mma_wait(num_outstanding=0, deps=(v10, ))
    v12 = v7.to(gl.float32)
    gl.store(y_ptr + offs(128, 16, L1), gl.convert_layout(v2, L1).to(gl.float32))
    gl.store(y_ptr + offs(128, 16, L1), v12)
