# A product within `pl.split_aiv`, which is for the vector units: refused.
import pypto.language as pl


@pl.jit
def region_cube_inside(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[128, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    x: pl.Tensor[[64, 64], pl.FP32],
    o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
        for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            acc = pl.matmul(a, b, out_dtype=pl.FP32)
            o[:, :] = acc
    return o
