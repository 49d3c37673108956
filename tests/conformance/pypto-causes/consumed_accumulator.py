# A result that a loop makes of a window of an operand that nothing else reads is stored into that operand.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 128], pl.FP32], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):
    a = pl.create_tensor([64, 128], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="seed"):
        a = pl.full([64, 128], dtype=pl.FP32, value=0.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
        s = a[:, :]
        for i in pl.range(4):
            s = pl.add(s, x)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="end"):
        o[:, :] = pl.exp(s)
    return o
