"""RMS normalisation written on tensors: the compiler makes the tiles, a block of rows for each core."""

import pypto.language as pl

TOKENS, HIDDEN = 128, 2048
ROWS, COLUMNS = 16, 512
EPS = 1e-6


@pl.jit
def rmsnorm(
    x: pl.Tensor[[TOKENS, HIDDEN], pl.BF16],
    gain: pl.Tensor[[1, HIDDEN], pl.FP32],
    out: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.BF16]],
):
    for block in pl.spmd(TOKENS // ROWS, name_hint="rmsnorm"):
        token = block * ROWS
        power = pl.full([1, ROWS], dtype=pl.FP32, value=0.0)
        for column in pl.pipeline(0, HIDDEN, COLUMNS, stage=2):
            value = pl.cast(x[token : token + ROWS, column : column + COLUMNS], pl.FP32)
            part = pl.row_sum(pl.mul(value, value))
            power = pl.add(power, pl.reshape(part, [1, ROWS]))
        inverse = pl.reshape(pl.rsqrt(pl.add(pl.mul(power, 1.0 / HIDDEN), EPS)), [ROWS, 1])
        for column in pl.pipeline(0, HIDDEN, COLUMNS, stage=2):
            value = pl.cast(x[token : token + ROWS, column : column + COLUMNS], pl.FP32)
            normed = pl.row_expand_mul(value, inverse)
            scaled = pl.col_expand_mul(normed, gain[:, column : column + COLUMNS])
            out[token : token + ROWS, column : column + COLUMNS] = pl.cast(scaled, pl.BF16)
    return out
# ---- the dump
AIV rmsnorm
    mem_vec_11 = tile.alloc(Vec, 32768)
    mem_vec_13 = tile.alloc(Vec, 32768)
    mem_vec_14 = tile.alloc(Vec, 64)
    mem_vec_21 = tile.alloc(Vec, 2048)
    mem_vec_23 = tile.alloc(Vec, 2048)
    mem_vec_6 = tile.alloc(Vec, 32768)
    mem_vec_8 = tile.alloc(Vec, 32768)
    block: Scalar[INDEX] = tile.get_block_idx()
    token: Scalar[INDEX] = (block * 16)
    power: Tile[[1, 16], FP32, MemRef(mem_vec_21, 65600, 64), Vec] = tile.full([1, 16], 0.0, dtype=FP32)
    for column.3 in range(0, 2048, 1024) (power.5 = power -> power.3):
        t__tmp_v0.2: Tile[[16, 512], BF16, MemRef(mem_vec_8, 102464, 16384), Vec] = tile.load(x, [token, column.3], [16, 512], [16, 512], target_memory=Vec, pipeline_membership=0:0)
        t__tmp_v0.3: Tile[[16, 512], BF16, MemRef(mem_vec_13, 32768, 16384), Vec] = tile.load(x, [token, (column.3 + 512)], [16, 512], [16, 512], target_memory=Vec, pipeline_membership=0:1)
        value.3: Tile[[16, 512], FP32, MemRef(mem_vec_6, 69696, 32768), Vec] = tile.cast(t__tmp_v0.2, target_type=FP32, mode=2, pipeline_membership=0:0)
        t__tmp_v1.2: Tile[[16, 512], FP32, MemRef(mem_vec_6, 69696, 32768), Vec] = tile.mul(value.3, value.3, pipeline_membership=0:0)
        tmp_tile.2: Tile[[16, 512], FP32, MemRef(mem_vec_8, 102464, 32768), Vec] = tile.create([16, 512], dtype=FP32, target_memory=Vec, pipeline_membership=0:0)
        part.2: Tile[[16, 1], FP32, MemRef(mem_vec_23, 67648, 64), Vec] = tile.row_sum(t__tmp_v1.2, tmp_tile.2, pipeline_membership=0:0)
        t__tmp_v2.2: Tile[[1, 16], FP32, MemRef(mem_vec_23, 67648, 64), Vec] = tile.reshape(part.2, [1, 16], pipeline_membership=0:0)
        power.6: Tile[[1, 16], FP32, MemRef(mem_vec_6, 69696, 64), Vec] = tile.add(power.5, t__tmp_v2.2, pipeline_membership=0:0)
        value.4: Tile[[16, 512], FP32, MemRef(mem_vec_11, 0, 32768), Vec] = tile.cast(t__tmp_v0.3, target_type=FP32, mode=2, pipeline_membership=0:1)
        t__tmp_v1.3: Tile[[16, 512], FP32, MemRef(mem_vec_11, 0, 32768), Vec] = tile.mul(value.4, value.4, pipeline_membership=0:1)
        tmp_tile.3: Tile[[16, 512], FP32, MemRef(mem_vec_13, 32768, 32768), Vec] = tile.create([16, 512], dtype=FP32, target_memory=Vec, pipeline_membership=0:1)
        part.3: Tile[[16, 1], FP32, MemRef(mem_vec_14, 65536, 64), Vec] = tile.row_sum(t__tmp_v1.3, tmp_tile.3, pipeline_membership=0:1)
        t__tmp_v2.3: Tile[[1, 16], FP32, MemRef(mem_vec_14, 65536, 64), Vec] = tile.reshape(part.3, [1, 16], pipeline_membership=0:1)
        power.7: Tile[[1, 16], FP32, MemRef(mem_vec_21, 65600, 64), Vec] = tile.add(power.6, t__tmp_v2.3, pipeline_membership=0:1)
        yield power.7
    t__tmp_v3: Tile[[1, 16], FP32, MemRef(mem_vec_6, 69696, 64), Vec] = tile.muls(power.3, 0.00048828125)
    t__tmp_v4: Tile[[1, 16], FP32, MemRef(mem_vec_6, 69696, 64), Vec] = tile.adds(t__tmp_v3, 1e-6)
    t__tmp_v5: Tile[[1, 16], FP32, MemRef(mem_vec_14, 65536, 64), Vec] = tile.rsqrt(t__tmp_v4)
    inverse: Tile[[16, 1], FP32, MemRef(mem_vec_14, 65536, 64), Vec] = tile.reshape(t__tmp_v5, [16, 1])
    for column.4 in range(0, 2048, 1024) (out.5 = out -> out.3):
        t__tmp_v6.2: Tile[[16, 512], BF16, MemRef(mem_vec_11, 0, 16384), Vec] = tile.load(x, [token, column.4], [16, 512], [16, 512], target_memory=Vec, pipeline_membership=1:0)
        t__tmp_v7.2: Tile[[1, 512], FP32, MemRef(mem_vec_21, 65600, 2048), Vec] = tile.load(gain, [0, column.4], [1, 512], [1, 512], target_memory=Vec, pipeline_membership=1:0)
        t__tmp_v6.3: Tile[[16, 512], BF16, MemRef(mem_vec_13, 32768, 16384), Vec] = tile.load(x, [token, (column.4 + 512)], [16, 512], [16, 512], target_memory=Vec, pipeline_membership=1:1)
        t__tmp_v7.3: Tile[[1, 512], FP32, MemRef(mem_vec_23, 67648, 2048), Vec] = tile.load(gain, [0, (column.4 + 512)], [1, 512], [1, 512], target_memory=Vec, pipeline_membership=1:1)
        value.5: Tile[[16, 512], FP32, MemRef(mem_vec_6, 69696, 32768), Vec] = tile.cast(t__tmp_v6.2, target_type=FP32, mode=2, pipeline_membership=1:0)
        normed.2: Tile[[16, 512], FP32, MemRef(mem_vec_6, 69696, 32768), Vec] = tile.row_expand_mul(value.5, inverse, pipeline_membership=1:0)
        scaled.2: Tile[[16, 512], FP32, MemRef(mem_vec_6, 69696, 32768), Vec] = tile.col_expand_mul(normed.2, t__tmp_v7.2, pipeline_membership=1:0)
        t__tmp_v8.2: Tile[[16, 512], BF16, MemRef(mem_vec_6, 69696, 16384), Vec] = tile.cast(scaled.2, target_type=BF16, mode=2, pipeline_membership=1:0)
        out.6: Tensor[[128, 2048], BF16] = tile.store(t__tmp_v8.2, [token, column.4], out.5)
        value.6: Tile[[16, 512], FP32, MemRef(mem_vec_8, 102464, 32768), Vec] = tile.cast(t__tmp_v6.3, target_type=FP32, mode=2, pipeline_membership=1:1)
        normed.3: Tile[[16, 512], FP32, MemRef(mem_vec_8, 102464, 32768), Vec] = tile.row_expand_mul(value.6, inverse, pipeline_membership=1:1)
        scaled.3: Tile[[16, 512], FP32, MemRef(mem_vec_8, 102464, 32768), Vec] = tile.col_expand_mul(normed.3, t__tmp_v7.3, pipeline_membership=1:1)
        t__tmp_v8.3: Tile[[16, 512], BF16, MemRef(mem_vec_8, 102464, 16384), Vec] = tile.cast(scaled.3, target_type=BF16, mode=2, pipeline_membership=1:1)
        out.7: Tensor[[128, 2048], BF16] = tile.store(t__tmp_v8.3, [token, (column.4 + 512)], out.6)
        yield out.7
    return out
