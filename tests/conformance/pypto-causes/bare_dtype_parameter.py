# A parameter of a `@pl.jit` function with an element type for a type is a scalar.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], scale: pl.FP32, vlen: pl.INDEX, o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="fill"):
        t = pl.load(x, [0, 0], [64, 64], valid_shape=[64, vlen], target_memory=pl.MemorySpace.Vec)
        p = pl.tile.fillpad(t, pad_value=pl.PadValue.min)
        pl.store(pl.mul(p, scale), [0, 0], o)
    return o
