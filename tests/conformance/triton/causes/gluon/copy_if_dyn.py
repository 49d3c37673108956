from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, fence_async_shared
from triton.experimental.gluon.language.nvidia.ampere import async_copy

from triton.experimental.gluon.language.nvidia import blackwell


@gluon.jit
def kernel(desc, x, W: gl.constexpr):
    L128: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    L64: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    LT: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2, transposed=True)
    SW: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    t = gl.allocate_shared_memory(gl.float16, [W, W], SW)
    if gl.program_id(0) == 3:
        tma.async_load(desc, [0, 0], bar, t)
#: {"target": "cuda:90", "options": {"num_warps": 4}, "signature": {"desc": "tensordesc<fp16[64, 64],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=False, fp4_padded=False, cga_layout=[])>", "x": "*fp16"}, "constexprs": {"W": 64}, "divisible": ["x"]}
