# A write that grows the valid part must start at the origin of the other axis.
import pypto.language as pl


@pl.program
class FzFill50023:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], n0: pl.Scalar[pl.INT64], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        a6 = pl.load(in_bf16, [n0, 0], [24, 7], valid_shape=[24, 4])
        a8 = pl.load(in_bf16, [16, 0], [8, 7])
        a6[16:24, 0:7] = a8
        return out_fp16
