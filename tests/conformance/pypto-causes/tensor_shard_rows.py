# A product of tensors that the vector units share by rows, each with the blocks of its own.
import pypto.language as pl



@pl.jit
def tensor_shard_rows(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.spmd(4, name_hint="k"):
        block = pl.tile.get_block_idx()
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            part = pl.aiv_shard(acc)
            part = pl.mul(pl.exp(part), 2.0)
            o[unit * 32 : unit * 32 + 32, :] = part
    return o
