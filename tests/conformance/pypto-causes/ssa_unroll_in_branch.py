# A name assigned in pl.unroll inside a branch.
import pypto.language as pl


@pl.program
class FzDeep51002:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp16: pl.Tensor[[4096, 4096], pl.FP16], in_fp32: pl.Tensor[[4096, 4096], pl.FP32], q2: pl.Scalar[pl.INT32], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        a1 = pl.load(in_fp16, [16, 64], [32, 32])
        v3 = pl.reshape(a1, [32, 32])
        s4 = pl.slice(v3, [1, 32], [0, 0])
        t5 = pl.maximum(s4, s4)
        for i17, (c18,) in pl.range(0, 5, 1, init_values=(t5,)):
            a19 = pl.load(in_fp32, [0, 32], [6, 96])
            if q2 != 4:
                a19 = pl.neg(a19)
            else:
                for i36 in pl.unroll(2):
                    t39 = pl.abs(c18)
            y41 = pl.maximum(c18, c18)
            z42 = pl.yield_(y41)
        return out_fp16
