# A pipeline in which a core receives first is run as written, also where nothing reads what it receives: freeing the slot does.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        v = pl.load(h, [0, 0], [32, 32])
        for i in pl.pipeline(4, stage=2):
            a = pl.load(h, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
            b = pl.load(h, [0, i * 32], [32, 32], target_memory=pl.Mem.Mat)
            c = pl.matmul(a, b)
            w = pl.move(c, target_memory=pl.Mem.Vec)
            y = pl.add(v, v)
            m = pl.move(y, target_memory=pl.Mem.Mat)
        t = pl.load(x, [0, 0], [32, 32])
        out = pl.store(t, [0, 0], out)
        return out
