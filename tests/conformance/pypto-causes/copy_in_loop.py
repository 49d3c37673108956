# `y = x` of what a loop carries is a buffer of its own until loops are repaired, and other tiles share it meanwhile.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], n2: pl.Scalar[pl.INT64], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], out_bf16: pl.Out[pl.Tensor[[4096, 4096], pl.BF16]]) -> tuple[pl.Tensor[[4096, 4096], pl.FP32], pl.Tensor[[4096, 4096], pl.BF16]]:
        a2 = pl.load(in_bf16, [16, 0], [32, 32])
        w3 = pl.tile.full([3, 50], dtype=pl.FP32, value=0)
        for i53 in pl.range(n2):
            a2 = a2
        return out_fp32, out_bf16
