# A product of a pipeline within a loop is shared in each iteration.
import pypto.language as pl



@pl.jit
def tensor_shard_loop(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        for i in pl.range(4):
            acc = pl.matmul(a[:, 0:32], b[0:32, :], out_dtype=pl.FP32)
            for k in pl.pipeline(1, 4, stage=2):
                acc = pl.matmul_acc(acc, a[:, k * 32 : k * 32 + 32], b[k * 32 : k * 32 + 32, :])
            for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                part = pl.aiv_shard(acc)
                o[unit * 32 : unit * 32 + 32, :] = part
    return o
