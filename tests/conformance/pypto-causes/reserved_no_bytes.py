import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        r = pl.reserve_buffer(name="r", size=0)
        a = pl.load(x, [0, 0], [64, 64])
        out = pl.store(a, [0, 0], out)
        return out
