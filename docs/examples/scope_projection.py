"""An activation and a projection of it, written on tensors. The second scope loads what the first one made once, and a panel of the
weights for each part of the result."""

import pypto.language as pl

TOKENS, HIDDEN, WIDTH = 16, 512, 1024
COLUMNS = 128


@pl.jit
def project(
    x: pl.Tensor[[TOKENS, HIDDEN], pl.BF16],
    weight: pl.Tensor[[HIDDEN, WIDTH], pl.BF16],
    out: pl.Out[pl.Tensor[[TOKENS, WIDTH], pl.FP32]],
):
    active = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="activate"):
        wide = pl.cast(x, pl.FP32)
        gate = pl.add(pl.exp(pl.neg(wide)), 1.0)
        active[:, :] = pl.cast(pl.div(wide, gate), pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="project"):
        for column in pl.range(0, WIDTH, COLUMNS):
            panel = weight[:, column : column + COLUMNS]
            out[:, column : column + COLUMNS] = pl.matmul(active, panel, out_dtype=pl.FP32)
    return out
