# A result that loops make of an operand that nothing else reads is stored into that operand.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 128], pl.FP32], y: pl.Tensor[[64, 128], pl.FP32], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):
    a1 = pl.create_tensor([64, 128], dtype=pl.FP32)
    b2 = pl.create_tensor([64, 128], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="seed"):
        a1 = pl.full([64, 128], dtype=pl.FP32, value=0.0)
        b2 = pl.full([64, 128], dtype=pl.FP32, value=0.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
        s = pl.mul(x, 2.0)
        for i in pl.range(4):
            a1 = pl.add(a1, s)
            b2 = pl.add(b2, pl.exp(y))
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="single"):
        u = pl.mul(x, 2.0)
        a1 = pl.add(a1, u)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="end"):
        o[:, :] = pl.add(a1, b2)
    return o
