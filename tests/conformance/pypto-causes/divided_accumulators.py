# Two products that a branch joins lie in two accumulators, and nothing copies one to the other.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, h: pl.Tensor[[256, 256], pl.FP16], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[256, 64], pl.FP32]]) -> pl.Tensor[[256, 64], pl.FP32]:
        a = pl.load(h, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        b = pl.load(h, [64, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(a, b)
        d = pl.matmul(b, a)
        if n > 2:
            e = pl.yield_(c)
        else:
            e = pl.yield_(d)
        o = pl.store(e, [0, 0], o)
        return o
