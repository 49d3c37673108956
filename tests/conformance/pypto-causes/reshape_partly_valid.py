# A tile with valid_shape cannot be reshaped across it.
import pypto.language as pl


@pl.program
class FzFill51010:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_int32: pl.Tensor[[4096, 4096], pl.INT32], n0: pl.Scalar[pl.INT64], out_int32: pl.Out[pl.Tensor[[4096, 4096], pl.INT32]], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> tuple[pl.Tensor[[4096, 4096], pl.INT32], pl.Tensor[[4096, 4096], pl.FP16]]:
        a4: pl.Tile[[64, 40], pl.INT32] = pl.load(in_int32, [n0, 0], [64, 40])
        p5 = pl.fillpad(a4, pl.PadValue.zero)
        v6 = pl.set_validshape(p5, 63, n0)
        v7 = pl.reshape(v6, [8, 320])
        return out_int32, out_fp16
