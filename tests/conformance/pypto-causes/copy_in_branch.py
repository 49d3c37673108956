# `y = x` of a tile that a loop writes in place follows it there, and needs nothing of its own.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], n0: pl.Scalar[pl.INT64], q1: pl.Scalar[pl.INT64], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], out_bf16: pl.Out[pl.Tensor[[4096, 4096], pl.BF16]]) -> tuple[pl.Tensor[[4096, 4096], pl.FP32], pl.Tensor[[4096, 4096], pl.BF16]]:
        a2: pl.Tile[[24, 40], pl.FP32] = pl.load(in_fp32, [n0, 0], [24, 40])
        t3 = pl.add(pl.abs(a2), a2)
        for i14 in pl.range(0, 3):
            a2 = pl.mul(a2, 0.5)
            t15 = pl.cast(t3, pl.INT32, mode="floor")
            if q1 > 0:
                t15 = pl.add(t15, 1)
            else:
                t17 = a2
        return out_fp32, out_bf16
