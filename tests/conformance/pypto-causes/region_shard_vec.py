# `pl.aiv_shard` of what a vector unit made: refused.
import pypto.language as pl


@pl.jit
def region_shard_vec(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            y = pl.aiv_shard(pl.add(x, 1.0))
            o[0:32, :] = y
    return o
