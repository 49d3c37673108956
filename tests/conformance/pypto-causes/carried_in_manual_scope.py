# Results that a loop carries back from a pl.manual_scope get tensors of their own.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[4, 16, 128], pl.FP32], y: pl.Tensor[[64, 128], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[16, 128], pl.FP32]]):
    oi = pl.create_tensor([16, 128], dtype=pl.FP32)
    li = pl.create_tensor([16, 1], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="seed"):
        oi = pl.full([16, 128], dtype=pl.FP32, value=0.0)
        li = pl.full([16, 1], dtype=pl.FP32, value=1.0)
    for b in pl.range(4):
        with pl.manual_scope():
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="online"):
                for lane in pl.range(4):
                    part = y[lane * 16 : lane * 16 + 16, :]
                    oi = pl.add(oi, part)
                    li = pl.add(li, pl.row_max(part))
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="end"):
        o[:, :] = pl.row_expand_div(oi, li)
    return o
