# A yielded tile whose valid_shape differs from what the loop carries.
import pypto.language as pl


@pl.program
class FzDeep51009:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], n0: pl.Scalar[pl.INT64], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        a1 = pl.load(in_bf16, [n0, 0], [16, 64])
        a5 = pl.load(in_bf16, [100, 0], [4, 48])
        for i11, (c12, c13) in pl.range(0, 5, 1, init_values=(a5, a1)):
            v14 = pl.set_validshape(a5, 4, n0)
            z18, z19 = pl.yield_(v14, c13)
        return out_fp16
