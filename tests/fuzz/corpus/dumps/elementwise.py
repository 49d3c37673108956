"""out = a * scale + b, sixteen rows of a wide matrix at a time."""

import pypto.language as pl

ROWS, COLS = 256, 1024
BLOCK = 16


@pl.program
class ScaleAdd:
    @pl.function(type=pl.FunctionType.InCore)
    def scale_add(
        self,
        a: pl.Tensor[[ROWS, COLS], pl.FP32],
        b: pl.Tensor[[ROWS, COLS], pl.FP32],
        scale: pl.Scalar[pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        for row in pl.range(0, ROWS, BLOCK):
            x = pl.load(a, [row, 0], [BLOCK, COLS])
            y = pl.load(b, [row, 0], [BLOCK, COLS])
            scaled = pl.mul(x, scale)
            total = pl.add(scaled, y)
            out = pl.store(total, [row, 0], out)
        return out
# ---- the dump
AIV scale_add
    mem_vec_3 = tile.alloc(Vec, 65536)
    mem_vec_4 = tile.alloc(Vec, 65536)
    for row in range(0, 256, 16) (out.2 = out -> out.3):
        x: Tile[[16, 1024], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.load(a, [row, 0], [16, 1024], [16, 1024], target_memory=Vec, clamp=false)
        y: Tile[[16, 1024], FP32, MemRef(mem_vec_4, 65536, 65536), Vec] = tile.load(b, [row, 0], [16, 1024], [16, 1024], target_memory=Vec, clamp=false)
        scaled: Tile[[16, 1024], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.muls(x, scale)
        total: Tile[[16, 1024], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.add(scaled, y)
        out.4: Out Tensor[[256, 1024], FP32] = tile.store(total, [row, 0], out.2, atomic=0)
        yield out.4
    return out.3
