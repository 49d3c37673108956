import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait


@gluon.jit
def tile_offsets(M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def kernel(
    a_desc,
    y_ptr,
    S: gl.constexpr,
):
    H: gl.constexpr = a_desc.block_shape[0]
    W: gl.constexpr = a_desc.block_shape[1]
    tiles = gl.allocate_shared_memory(gl.uint8, [S, H, W], a_desc.layout)
    ready = mbarrier.allocate_mbarrier(batch=S)
    for i in gl.static_range(S):
        mbarrier.init(ready.index(i), count=1)
    for i in range(8):
        mbarrier.expect(ready.index(i % S), a_desc.nbytes_per_cta)
        tma.async_load(a_desc, [i * H, 0], ready.index(i % S), tiles.index(0))
        mbarrier.wait(ready.index(i % S), (i // S) & 1)
        l: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
        gl.store(y_ptr + tile_offsets(H, W, l), tiles.index(i % S).load(l))
