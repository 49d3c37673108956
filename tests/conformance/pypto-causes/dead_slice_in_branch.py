# An unread slice that is the only statement of a branch is not dropped.
import pypto.language as pl


@pl.program
class FzDeep2:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp16: pl.Tensor[[4096, 4096], pl.FP16], in_bf16: pl.Tensor[[4096, 4096], pl.BF16], n0: pl.Scalar[pl.INT64], n1: pl.Scalar[pl.INT32], out_bf16: pl.Out[pl.Tensor[[4096, 4096], pl.BF16]], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]]) -> tuple[pl.Tensor[[4096, 4096], pl.BF16], pl.Tensor[[4096, 4096], pl.FP16], pl.Tensor[[4096, 4096], pl.FP32]]:
        a1 = pl.load(in_fp16, [0, 0], [2, 16])
        a2 = pl.load(in_bf16, [0, 32], [4, 256], target_memory=pl.Mem.Vec)
        t3 = pl.cast(a2, pl.INT32)
        t8 = pl.add(a1, a1)
        if n0 > 4:
            t8 = pl.neg(t8)
        elif n1 == 1:
            s22 = t3[0:4, 196:204]
        return out_bf16, out_fp16, out_fp32
