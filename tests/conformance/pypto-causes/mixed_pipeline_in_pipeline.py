# A pipeline between the cores inside of another one: what is received does not say which stage of the inner one it belongs to.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        t = pl.load(h, [0, 0], [32, 32])
        for j in pl.pipeline(4, stage=2):
            s = pl.load(x, [j * 32, 0], [32, 32])
            for i in pl.pipeline(4, stage=2):
                a = pl.load(h, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
                b = pl.load(h, [0, i * 32], [32, 32], target_memory=pl.Mem.Mat)
                c = pl.matmul(a, b)
                w = pl.move(c, target_memory=pl.Mem.Vec)
                m = pl.move(t, target_memory=pl.Mem.Mat)
            out = pl.store(s, [j * 32, 0], out)
        return out
