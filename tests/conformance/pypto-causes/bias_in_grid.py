# Each tile of a grid loads its part of the bias; the loops may hold several parts at a time, which limits the columns of a tile.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[1024, 1024], pl.FP32], y: pl.Tensor[[1024, 1024], pl.FP32], z: pl.Tensor[[64, 1024], pl.FP32], o: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]) -> pl.Tensor[[1024, 1024], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
        b = pl.load(y, [0, 0], [32, 144], target_memory=pl.Mem.Mat)
        c = pl.load(z, [3, 16], [1, 144], target_memory=pl.Mem.Mat)
        d = pl.matmul_bias(a, b, c)
        o = pl.store(d, [0, 16], o)
        return o
