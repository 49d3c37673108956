"""A bias that is optional at run time: both branches leave their result in one buffer."""

import pypto.language as pl

ROWS, COLS = 64, 256


@pl.program
class OptionalBias:
    @pl.function(type=pl.FunctionType.InCore)
    def apply(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP32],
        bias: pl.Tensor[[1, COLS], pl.FP32],
        has_bias: pl.Scalar[pl.INT64],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        value = pl.load(x, [0, 0], [ROWS, COLS])
        if has_bias > 0:
            row = pl.load(bias, [0, 0], [1, COLS])
            biased = pl.col_expand_add(value, row)
        else:
            biased = pl.add(value, 0.0)
        result = pl.maximum(biased, 0.0)
        out = pl.store(result, [0, 0], out)
        return out
# ---- the dump
AIV apply
    mem_vec_3 = tile.alloc(Vec, 65536)
    mem_vec_4 = tile.alloc(Vec, 1024)
    mem_vec_5 = tile.alloc(Vec, 65536)
    value: Tile[[64, 256], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.load(x, [0, 0], [64, 256], [64, 256], target_memory=Vec, clamp=false)
    if (has_bias > 0) -> biased.3:
        row: Tile[[1, 256], FP32, MemRef(mem_vec_4, 65536, 1024), Vec] = tile.load(bias, [0, 0], [1, 256], [1, 256], target_memory=Vec, clamp=false)
        biased: Tile[[64, 256], FP32, MemRef(mem_vec_5, 66560, 65536), Vec] = tile.col_expand_add(value, row)
        yield biased
    else:
        biased.2: Tile[[64, 256], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.adds(value, 0.0)
        yield biased.2
    result: Tile[[64, 256], FP32, MemRef(mem_vec_3, 0, 65536), Vec] = tile.maximums(biased.3, 0.0)
    out.2: Out Tensor[[64, 256], FP32] = tile.store(result, [0, 0], out, atomic=0)
    return out.2
