# `with pl.spmd` is a scope when get_block_idx is called anywhere in its body.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    with pl.spmd(2, name_hint="plus"):
        k0 = pl.tile.get_block_idx() * 256
        o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    return o
