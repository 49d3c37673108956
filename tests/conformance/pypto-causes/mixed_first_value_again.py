# A loop inside of a branch of a mixed kernel: each core assigns the first value of the loop again in front of it.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        t = pl.load(x, [0, 0], [64, 32])
        if n % 3 == 1:
            for i in pl.range(0, 8, 2):
                t = pl.add(t, 2.0)
            a = pl.load(h, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
            b = pl.load(h, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
            c = pl.matmul(a, b)
            v = pl.move(c, target_memory=pl.Mem.Vec)
            out = pl.store(v, [0, 64], out)
        else:
            u = pl.exp(t)
            out = pl.store(u, [64, 64], out)
        out = pl.store(t, [0, 0], out)
        return out
