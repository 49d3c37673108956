# Only a literal (pl.const) makes a loop of writes a fill; pl.cast does not.
import pypto.language as pl


@pl.jit
def entry(o: pl.Out[pl.Tensor[[32], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="table"):
        for i in pl.range(32):
            pl.write(o, [i], pl.cast(0, pl.INT32))
    return o
