# A product whose left operand is valid in a number of rows that is known at run time, in blocks: the accumulator of the loop starts
# as storage and a view of the valid part.
import pypto.language as pl


@pl.jit
def entry(
    x: pl.Tensor[[64, 1024], pl.BF16],
    w: pl.Tensor[[1024, 128], pl.BF16],
    out: pl.Out[pl.Tensor[[64, 128], pl.FP32]],
    count: pl.Scalar[pl.INDEX],
):
    for block in pl.spmd(4, name_hint="project"):
        start = block * 16
        valid = pl.min(16, count - start)
        rows = pl.slice(x, [16, 1024], [start, 0], valid_shape=[valid, 1024])
        total = pl.matmul(rows, w, out_dtype=pl.FP32)
        out = pl.assemble(out, total, [start, 0])
    return out
