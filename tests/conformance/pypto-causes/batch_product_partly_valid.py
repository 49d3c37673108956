# A product with one batch, whose left operand is valid in some rows only: the accumulator of the loop over blocks starts as
# storage and a view of the valid part.
import pypto.language as pl


@pl.jit
def entry(
    x: pl.Tensor[[64, 2048], pl.BF16],
    w: pl.Tensor[[2, 128, 2048], pl.BF16],
    out: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
):
    for group in pl.spmd(2, name_hint="project"):
        rows = pl.slice(x, [16, 256], [group * 4, 0], valid_shape=[12, 256])
        weight = w[group : group + 1, 0:128, 0:256]
        total = pl.matmul(rows, weight, b_trans=True, out_dtype=pl.FP32)
        for block in pl.pipeline(1, 8, stage=2):
            k = block * 256
            more = pl.slice(x, [16, 256], [group * 4, k], valid_shape=[12, 256])
            total = pl.matmul_acc(total, more, w[group : group + 1, 0:128, k : k + 256], b_trans=True)
        out = pl.assemble(out, total, [0, 0])
    return out
