# Operands that are tensors are loaded where they are scattered, not at the start.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Tensor[[2, 8], pl.INT32], z: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[64, 32], pl.FP32]]) -> pl.Tensor[[64, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            v = pl.add(x, 1.0)
            out = pl.scatter_update(v, -2, y, z)
            o = pl.assemble(o, out, [0, 0])
        return o
