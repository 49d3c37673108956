# Where unrolling makes one side of `and` true, the other alone decides, by what is known of its variables.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        for u in pl.unroll(2):
            for i in pl.range(0, 2):
                first = pl.load(a, [i * 8, 0], [8, 64])
                if i > 3 and u > 0:
                    second = pl.load(a, [i * 32, 0], [32, 64])
                    o = pl.store(second, [32, 0], o)
                o = pl.store(first, [i * 8, 0], o)
        return o
