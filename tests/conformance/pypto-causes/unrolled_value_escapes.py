# The copies of an unrolled loop stand one behind the other: what they assign has a value behind them.
import pypto.language as pl


@pl.program
class R:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[1, 1024], pl.FP32], o1: pl.Out[pl.Tensor[[2, 2048], pl.FP32]]) -> pl.Tensor[[2, 2048], pl.FP32]:
        for i6 in pl.unroll(3):
            t7 = pl.load(x0, [0, 0], [1, 1024])
            t9 = pl.recip(t7)
            t13 = pl.neg(t9)
        o1 = pl.store(t9, [0, 1024], o1)
        return o1

    @pl.function(type=pl.FunctionType.InCore)
    def kernel2(self, x0: pl.Tensor[[1, 1024], pl.FP32], o1: pl.Out[pl.Tensor[[2, 2048], pl.FP32]]) -> pl.Tensor[[2, 2048], pl.FP32]:
        for i6 in pl.unroll(3):
            t7 = pl.load(x0, [0, 0], [1, 1024])
            t9 = pl.neg(t7)
        o1 = pl.store(t9, [0, 1024], o1)
        return o1

    @pl.function(type=pl.FunctionType.InCore)
    def kernel3(self, x0: pl.Tensor[[1, 1024], pl.FP32], o1: pl.Out[pl.Tensor[[2, 2048], pl.FP32]]) -> pl.Tensor[[2, 2048], pl.FP32]:
        for i in pl.range(4):
            for i6 in pl.unroll(2):
                t7 = pl.load(x0, [0, i6 * 512], [1, 512])
                t9 = pl.neg(t7)
                if i6 == 1:
                    t9 = pl.exp(t9)
                for j in pl.unroll(2):
                    t8 = pl.recip(t9)
            o1 = pl.store(t8, [0, 1024], o1)
        return o1
