# What a loop begins with is computed again in front of it on the vector core. A view of it is another variable then; a tile with memory of
# its own is the same one, whose lifetime begins where it was made last.
import pypto.language as pl


@pl.program
class A:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 256], pl.FP32], y: pl.Tensor[[64, 256], pl.INT16], w: pl.Tensor[[256, 256], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[256, 32], pl.INT16]]) -> pl.Tensor[[256, 32], pl.INT16]:
        before = pl.load(y, [0, 0], [64, 32])
        out = pl.store(before, [0, 0], out)
        loaded = pl.load(y, [0, 32], [32, 64])
        view = pl.reshape(loaded, [64, 32])
        other = pl.shr(view, 4)
        total = pl.shr(view, 7)
        if n <= 3:
            for i in pl.range(4):
                left = pl.load(x, [0, 0], [64, 256], target_memory=pl.Mem.Mat)
                right = pl.load(w, [0, i * 64], [256, 64], target_memory=pl.Mem.Mat)
                product = pl.matmul(left, right)
                moved = pl.move(product, target_memory=pl.Mem.Vec)
                total = pl.mul(total, total)
        out = pl.store(total, [64, 0], out)
        out = pl.store(other, [192, 0], out)
        return out
