# A reduction along the axis that the vector units share: refused.
import pypto.language as pl


@pl.jit
def region_reduce_cols(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            s = pl.col_sum(pl.aiv_shard(acc))
            o[unit : unit + 1, :] = s
    return o
