# What the vector units compute beside `pl.split_aiv`: refused, as the kernel says where they work.
import pypto.language as pl


@pl.jit
def region_compute_outside(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        y = pl.exp(x)
        for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            z = pl.add(x[0:32, :], 1.0)
            o[0:32, :] = z
        o[:, :] = y
    return o
