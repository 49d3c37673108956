# pl.write of a Python number into an INT32 tensor.
import pypto.language as pl


@pl.jit
def entry(o: pl.Out[pl.Tensor[[32], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="table"):
        for i in pl.range(32):
            pl.write(o, [i], 0)
    return o
