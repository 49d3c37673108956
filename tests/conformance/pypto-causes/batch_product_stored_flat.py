# A batch product that is stored at once, with an offset for fewer axes than the product has: the compiler refuses it.
import pypto.language as pl


@pl.jit
def entry(
    x: pl.Tensor[[64, 1024], pl.BF16],
    w: pl.Tensor[[2, 128, 1024], pl.BF16],
    out: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
):
    for group in pl.spmd(2, name_hint="project"):
        rows = x[0:16, 0:1024]
        weight = w[group : group + 1, 0:128, 0:1024]
        total = pl.matmul(rows, weight, b_trans=True, out_dtype=pl.FP32)
        out = pl.assemble(out, total, [0, 0])
    return out
