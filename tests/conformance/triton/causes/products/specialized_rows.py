import triton
import triton.language as tl


@triton.jit
def kernel(
    M, N, desc_x, desc_y, TILE_M: tl.constexpr, TILE_N: tl.constexpr, num_stages: tl.constexpr,
):
    row = tl.program_id(0) * TILE_M
    for col in tl.range(0, N, TILE_N, num_stages=num_stages, disallow_acc_multi_buffer=True, warp_specialize=True):
        x = tl.load_tensor_descriptor(desc_x, [row, col]).to(tl.float32)
        z = desc_x.load([row + 1, col])
        x = x + z
        desc_y.store([row, col], x.to(desc_y.dtype))
