# name_hint="x_spmd" names the kernel x.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    for i in pl.spmd(2, name_hint="plus_spmd"):
        k0 = i * 256
        o[:, k0 : k0 + 256] = pl.add(x[:, k0 : k0 + 256], 1.0)
    return o
