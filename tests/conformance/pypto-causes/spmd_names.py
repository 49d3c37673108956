# How the kernels of `pl.spmd` are named, and which scope is the kernel.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    for i in pl.spmd(2, name_hint="plus_spmd"):
        o[:, i * 256 : i * 256 + 256] = pl.add(x[:, i * 256 : i * 256 + 256], 1.0)
    with pl.spmd(2, name_hint="twice"):
        k0 = pl.tile.get_block_idx() * 256
        o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    with pl.spmd(2, name_hint="outer"):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="inner"):
            k0 = pl.tile.get_block_idx() * 256
            o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    return o
