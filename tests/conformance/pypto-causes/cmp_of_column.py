# The comparison of a column is computed on a row: a mask of [1, 32], which is moved to [N, 32].
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], n0: pl.Scalar[pl.INT32], out_uint8: pl.Out[pl.Tensor[[4096, 4096], pl.UINT8]], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> tuple[pl.Tensor[[4096, 4096], pl.UINT8], pl.Tensor[[4096, 4096], pl.FP16]]:
        a3 = pl.load(in_fp32, [n0, 0], [64, 1])
        m4 = pl.cmps(a3, 1.0, cmp_type=1)
        return out_uint8, out_fp16
