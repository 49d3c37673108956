# Halves of the vector units are put together for the next product.
import pypto.language as pl



@pl.jit
def tensor_gather(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            part = pl.aiv_shard(acc)
            half = pl.cast(pl.exp(part), target_type=pl.BF16)
            whole = pl.aic_gather(half)
        o[:, :] = pl.matmul(whole, c, out_dtype=pl.FP32)
    return o
