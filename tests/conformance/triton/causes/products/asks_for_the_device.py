import triton
import triton.language as tl
from triton.language.target_info import cuda_capability_geq, is_hip


@triton.jit
def kernel(a, out, n, M: tl.constexpr, K: tl.constexpr):
    BK: tl.constexpr = 2 * K if cuda_capability_geq(9) else K
    wide: tl.constexpr = tl.core.get_int_dtype(32 if is_hip() else 64, False)
    i = tl.arange(0, M)
    k = tl.arange(0, BK)
    acc = tl.zeros((M, M), tl.float32)
    for s in range(0, n, BK):
        x = tl.load(a + i[:, None] * n + (s + k)[None, :])
        acc = tl.dot(x, tl.trans(x), acc)
    most = tl.max(acc, axis=1)
    top = tl.full([tl.extra.cuda.num_threads()], 0, wide)
    tl.store(out + i, most + tl.sum(top, axis=0))
