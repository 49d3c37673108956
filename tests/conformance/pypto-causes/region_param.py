# `pl.aiv_shard` of a tensor that is loaded for it: refused, as that is no product.
import pypto.language as pl


@pl.jit
def region_param(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            part = pl.aiv_shard(x)
            o[unit * 32 : unit * 32 + 32, :] = part
    return o
