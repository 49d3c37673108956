# The compiler computes nothing in the copies that a pipeline leaves behind its loop: a window at `3 * 8` is one at a computed place.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[32, 16], pl.FP32]]) -> pl.Tensor[[32, 16], pl.FP32]:
        whole = pl.load(a, [0, 0], [64, 64])
        for i in pl.pipeline(0, 4, stage=3):
            part = pl.slice(whole, [8, 16], [i * 8, 0])
            o = pl.store(part, [i * 8, 0], o)
        return o
