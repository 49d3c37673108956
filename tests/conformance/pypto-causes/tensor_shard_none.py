# Both vector units have all of a product, and each takes its part of it.
import pypto.language as pl



@pl.jit
def tensor_shard_none(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            part = pl.aiv_shard(acc)
            o[unit * 32 : unit * 32 + 32, :] = part[unit * 32 : unit * 32 + 32, :]
    return o
