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
    L0: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    L1: gl.constexpr = gl.BlockedLayout([1, 2], [4, 8], [1, 1], [1, 0])
    L2: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    L3: gl.constexpr = gl.SwizzledSharedLayout(4, 2, 4, [0, 1])
    L4: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    L5: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [1, 1], [1, 0])
    L6: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 32], gl.int8)
    L7: gl.constexpr = gl.BlockedLayout([2, 2], [8, 4], [1, 1], [1, 0])
    v4 = gl.load(x_ptr + offs(32, 32, L1))
    v1 = gl.convert_layout(v4, gl.DotOperandLayout(0, L0, 2))
    v2 = gl.convert_layout(v4, gl.DotOperandLayout(1, L0, 2))
    v3 = mma_v2(v1, v2, gl.zeros([32, 32], gl.float32, L0))
    ring5 = Ring.create(gl.float32, [64, 32], L2, 2)
    for i6 in range(n):
        v7 = gl.reshape(v3, [16, 64])
        b8 = gl.allocate_shared_memory(gl.int32, [16, 32], L2)
        w9 = b8.reshape([32, 16])
        v3 = v3 + v3
    v10 = gl.load(x_ptr + offs(64, 32, L1))
    b11 = gl.allocate_shared_memory(gl.float64, [3, 64, 32], L3)
    b12 = gl.allocate_shared_memory(gl.float16, [64, 32], L4)
    v13 = b11.index(0).load(L5)
    b14 = gl.allocate_shared_memory(gl.int8, [64, 32], L6)
    v15 = b11.index(2).load(L1)
    v16 = b14.load(L7)
    gl.store(y_ptr + offs(64, 32, L5), v13.to(gl.float32))
    gl.store(y_ptr + offs(32, 32, L0), v3)
