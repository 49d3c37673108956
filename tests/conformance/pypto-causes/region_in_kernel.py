# `pl.split_aiv` in a function that is a kernel already: refused.
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
            t = pl.load(x, [unit * 32, 0], [32, 64])
            o = pl.store(pl.exp(t), [unit * 32, 0], o)
        return o
