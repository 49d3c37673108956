# What a loop carries and moves to the other core cannot be carried there too: the compiler stops.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        a = pl.load(h, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
        b = pl.load(h, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
        c = pl.matmul(a, b)
        for i in pl.range(n):
            v = pl.move(c, target_memory=pl.Mem.Vec)
            t = pl.exp(v)
            out = pl.store(t, [0, 0], out)
            if i % 2 == 0:
                c = pl.matmul_acc(c, a, b)
            else:
                out = pl.store(t, [64, 0], out)
        out = pl.store(c, [0, 0], out)
        return out
