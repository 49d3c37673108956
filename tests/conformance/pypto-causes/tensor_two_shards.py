# Two products that are shared in different ways.
import pypto.language as pl



@pl.jit
def tensor_two_shards(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            part = pl.aiv_shard(acc)
            o[unit * 32 : unit * 32 + 32, :] = part
        acc2 = pl.matmul(c, b[0:64, :], out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
            part = pl.aiv_shard(acc2)
            o[:, unit * 32 : unit * 32 + 32] = part
    return o
