# tensor.full stored whole and then written element by element stays on chip until the end.
import pypto.language as pl


@pl.jit
def entry(pos: pl.Tensor[[16], pl.INT32], o: pl.Out[pl.Tensor[[1, 8], pl.INT32]]):
    a = pl.create_tensor([1, 8], dtype=pl.INT32)
    b = pl.create_tensor([1, 8], dtype=pl.INT32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="write_map"):
        a[0:1, 0:8] = pl.full([1, 8], dtype=pl.INT32, value=0)
        b[0:1, 0:8] = pl.full([1, 8], dtype=pl.INT32, value=-1)
        for w in pl.range(8):
            p = pl.read(pos, [w])
            if p > 0:
                pl.write(a, [0, w], p)
                pl.write(b, [0, w], p)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="use"):
        o[:, :] = pl.add(a[:, :], b[:, :])
    return o
