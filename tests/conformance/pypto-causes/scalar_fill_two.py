# A loop with several constant writes of one pattern is one fill for each.
import pypto.language as pl


@pl.jit
def entry(o: pl.Out[pl.Tensor[[32], pl.INT32]], q: pl.Out[pl.Tensor[[32], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="table"):
        for i in pl.range(32):
            pl.write(o, [i], pl.const(0, pl.INT32))
            pl.write(q, [i], pl.const(1, pl.INT32))
    return o, q
