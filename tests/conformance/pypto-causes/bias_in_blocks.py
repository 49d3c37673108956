# Each tile that is computed in blocks of K loads its part of the bias once.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[1024, 1024], pl.FP16], y: pl.Tensor[[1024, 1024], pl.FP16], z: pl.Tensor[[64, 1024], pl.FP32], o: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]) -> pl.Tensor[[1024, 1024], pl.FP32]:
        a = pl.load(x, [0, 0], [160, 144], target_memory=pl.Mem.Mat)
        b = pl.load(y, [0, 0], [144, 384], target_memory=pl.Mem.Mat)
        c = pl.load(z, [3, 16], [1, 384], target_memory=pl.Mem.Mat)
        d = pl.matmul_bias(a, b, c)
        o = pl.store(d, [0, 16], o)
        return o
