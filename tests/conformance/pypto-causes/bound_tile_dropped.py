# A tile that nobody needs takes part in nothing: the slots of a declared allocation are as large as the tiles that are left in them.
import pypto.language as pl

BUFFER = pl.MemRef()


@pl.program
class A:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], w: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        row: pl.Tile[[1, 64], pl.FP32, BUFFER, pl.Mem.Vec] = pl.load(x, [0, 0], [1, 64])
        wide = pl.fillpad_expand(row, [1, 128], pad_value=pl.PadValue.min)
        other = pl.exp(row)
        left = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        right = pl.load(w, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        product = pl.matmul(left, right)
        moved = pl.move(product, target_memory=pl.Mem.Vec)
        sum = pl.col_expand_add(moved, other)
        out = pl.store(sum, [0, 0], out)
        out = pl.store(row, [0, 0], out)
        return out
