# The mask of a comparison is valid in one byte of eight columns, so no reuse of it costs DSA-RP anything.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], out_uint8: pl.Out[pl.Tensor[[4096, 4096], pl.UINT8]]) -> tuple[pl.Tensor[[4096, 4096], pl.FP32], pl.Tensor[[4096, 4096], pl.UINT8]]:
        a3 = pl.load(in_fp32, [16, 64], [4, 8], target_memory=pl.Mem.Vec)
        m4 = pl.cmps(a3, 0, cmp_type=3)
        return out_fp32, out_uint8
