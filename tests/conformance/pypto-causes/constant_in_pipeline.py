# As constant_in_loop: a constant of the scope itself is a number, one of its pipeline is not.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[128, 128], pl.FP32], o: pl.Out[pl.Tensor[[128, 128], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        n = 8 // 2
        for i in pl.pipeline(n, stage=2):
            m = 2
            for j in pl.pipeline(m, stage=2):
                o[i * 32 + j * 16 : i * 32 + j * 16 + 16, :] = pl.exp(x[i * 32 + j * 16 : i * 32 + j * 16 + 16, :])
    return o
