# What is made in `pl.split_aiv` goes into a product without `pl.aic_gather`: refused.
import pypto.language as pl


@pl.jit
def region_use_outside(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            h = pl.cast(x, target_type=pl.BF16)
        o[:, :] = pl.matmul(h, c, out_dtype=pl.FP32)
    return o
