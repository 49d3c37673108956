# A host `pl.unroll` around a function that is put in place of its call: a kernel for each iteration.
import pypto.language as pl


@pl.jit.inline
def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32], at: pl.Scalar[pl.INDEX]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="plus"):
        o[:, at : at + 64] = pl.add(x[:, at : at + 64], 1.0)
    return o


@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    for i in pl.unroll(3):
        o = part(x, o, i * 64)
    return o
