# A scope at the end of a branch behind which nothing stands hands out every value, too.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[1, 128], pl.INT32], n: pl.Scalar[pl.INT64]):
    w = pl.create_tensor([1, 128], dtype=pl.INT32)
    if n > 1:
        with pl.at(level=pl.Level.CORE_GROUP):
            a = pl.exp(pl.cast(x, pl.FP32))
            b = pl.cmp(x, pl.maximum(x, 1))
            w = pl.assemble(w, b, [0, 0])
