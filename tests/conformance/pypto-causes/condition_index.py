# A repeated or implied condition on INDEX/INT64 scalars, or between two variables, is proved by the enclosing branch.
import pypto.language as pl


@pl.program
class FzLoops77:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], n0: pl.Scalar[pl.INDEX], out_int32: pl.Out[pl.Tensor[[4096, 4096], pl.INT32]]) -> pl.Tensor[[4096, 4096], pl.INT32]:
        a2 = pl.load(in_fp32, [0, 32], [128, 33])
        if n0 == 1:
            y7 = pl.add(a2, a2)
            z3 = pl.yield_(y7)
        else:
            a8 = pl.load(in_fp32, [100, 32], [32, 8])
            if n0 == 1:
                y11 = pl.add(a8, a8)
                z9 = pl.yield_(y11)
            else:
                t12 = pl.sub(a8, 1)
                y13 = pl.add(a8, t12)
                z9 = pl.yield_(y13)
            y16 = pl.maximum(a2, a2)
            z3 = pl.yield_(y16)
        return out_int32
