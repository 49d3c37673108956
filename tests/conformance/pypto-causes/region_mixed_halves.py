# A shard is computed with a window that is loaded beside it.
import pypto.language as pl


@pl.jit
def region_mixed_halves(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            h = pl.add(pl.aiv_shard(acc), x[unit * 32 : unit * 32 + 32, :])
            o[unit * 32 : unit * 32 + 32, :] = h
    return o
