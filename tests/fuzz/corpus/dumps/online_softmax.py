"""The vector part of flash attention: scores come in blocks, and maximum, norm and output are carried over."""

import pypto.language as pl

QUERIES, KEYS, DIM = 16, 1024, 64
KEY_BLOCK = 128
BLOCKS = KEYS // KEY_BLOCK


@pl.program
class OnlineSoftmax:
    @pl.function(type=pl.FunctionType.InCore)
    def attend(
        self,
        scores: pl.Tensor[[QUERIES, KEYS], pl.FP32],
        values: pl.Tensor[[QUERIES * BLOCKS, DIM], pl.FP32],
        out: pl.Out[pl.Tensor[[QUERIES, DIM], pl.FP32]],
    ) -> pl.Tensor[[QUERIES, DIM], pl.FP32]:
        first = pl.load(scores, [0, 0], [QUERIES, KEY_BLOCK])
        scratch = pl.create_tile([QUERIES, KEY_BLOCK], dtype=pl.FP32)
        high = pl.row_max(first, scratch)
        shifted = pl.row_expand_sub(first, high)
        weights = pl.exp(shifted)
        norm = pl.row_sum(weights, scratch)
        acc = pl.load(values, [0, 0], [QUERIES, DIM])
        for block in pl.range(1, BLOCKS):
            score = pl.load(scores, [0, block * KEY_BLOCK], [QUERIES, KEY_BLOCK])
            tmp = pl.create_tile([QUERIES, KEY_BLOCK], dtype=pl.FP32)
            block_high = pl.row_max(score, tmp)
            high_row = pl.reshape(high, [1, QUERIES])
            block_high_row = pl.reshape(block_high, [1, QUERIES])
            new_high_row = pl.maximum(high_row, block_high_row)
            fall = pl.sub(high_row, new_high_row)
            correction_row = pl.exp(fall)
            new_high = pl.reshape(new_high_row, [QUERIES, 1])
            block_shifted = pl.row_expand_sub(score, new_high)
            block_weights = pl.exp(block_shifted)
            block_norm = pl.row_sum(block_weights, tmp)
            norm_row = pl.reshape(norm, [1, QUERIES])
            block_norm_row = pl.reshape(block_norm, [1, QUERIES])
            norm_scaled = pl.mul(norm_row, correction_row)
            new_norm = pl.add(norm_scaled, block_norm_row)
            correction = pl.reshape(correction_row, [QUERIES, 1])
            acc_scaled = pl.row_expand_mul(acc, correction)
            update = pl.load(values, [block * QUERIES, 0], [QUERIES, DIM])
            acc = pl.add(acc_scaled, update)
            high = pl.reshape(new_high_row, [QUERIES, 1])
            norm = pl.reshape(new_norm, [QUERIES, 1])
        result = pl.row_expand_div(acc, norm)
        out = pl.store(result, [0, 0], out)
        return out
# ---- the dump
AIV attend
    mem_vec_12 = tile.alloc(Vec, 64)
    mem_vec_14 = tile.alloc(Vec, 64)
    mem_vec_18 = tile.alloc(Vec, 64)
    mem_vec_3 = tile.alloc(Vec, 8192)
    mem_vec_4 = tile.alloc(Vec, 8192)
    mem_vec_5 = tile.alloc(Vec, 64)
    mem_vec_8 = tile.alloc(Vec, 64)
    mem_vec_9 = tile.alloc(Vec, 4096)
    first: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.load(scores, [0, 0], [16, 128], [16, 128], target_memory=Vec, clamp=false)
    scratch: Tile[[16, 128], FP32, MemRef(mem_vec_4, 8384, 8192), Vec] = tile.create([16, 128], dtype=FP32, target_memory=Vec)
    high: Tile[[16, 1], FP32, MemRef(mem_vec_5, 16576, 64), Vec] = tile.row_max(first, scratch)
    shifted: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.row_expand_sub(first, high)
    weights: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.exp(shifted)
    norm: Tile[[16, 1], FP32, MemRef(mem_vec_8, 16640, 64), Vec] = tile.row_sum(weights, scratch)
    acc: Tile[[16, 64], FP32, MemRef(mem_vec_9, 16704, 4096), Vec] = tile.load(values, [0, 0], [16, 64], [16, 64], target_memory=Vec, clamp=false)
    for block in range(1, 8, 1) (acc.2 = acc -> acc.3, high.2 = high -> high.3, norm.2 = norm -> norm.3):
        score: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.load(scores, [0, (block * 128)], [16, 128], [16, 128], target_memory=Vec, clamp=false)
        tmp: Tile[[16, 128], FP32, MemRef(mem_vec_4, 8384, 8192), Vec] = tile.create([16, 128], dtype=FP32, target_memory=Vec)
        block_high: Tile[[16, 1], FP32, MemRef(mem_vec_12, 0, 64), Vec] = tile.row_max(score, tmp)
        high_row: Tile[[1, 16], FP32, MemRef(mem_vec_5, 16576, 64), Vec] = tile.reshape(high.2, [1, 16])
        block_high_row: Tile[[1, 16], FP32, MemRef(mem_vec_12, 0, 64), Vec] = tile.reshape(block_high, [1, 16])
        new_high_row: Tile[[1, 16], FP32, MemRef(mem_vec_12, 0, 64), Vec] = tile.maximum(high_row, block_high_row)
        fall: Tile[[1, 16], FP32, MemRef(mem_vec_14, 64, 64), Vec] = tile.sub(high_row, new_high_row)
        correction_row: Tile[[1, 16], FP32, MemRef(mem_vec_14, 64, 64), Vec] = tile.exp(fall)
        new_high: Tile[[16, 1], FP32, MemRef(mem_vec_12, 0, 64), Vec] = tile.reshape(new_high_row, [16, 1])
        block_shifted: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.row_expand_sub(score, new_high)
        block_weights: Tile[[16, 128], FP32, MemRef(mem_vec_3, 192, 8192), Vec] = tile.exp(block_shifted)
        block_norm: Tile[[16, 1], FP32, MemRef(mem_vec_18, 128, 64), Vec] = tile.row_sum(block_weights, tmp)
        norm_row: Tile[[1, 16], FP32, MemRef(mem_vec_8, 16640, 64), Vec] = tile.reshape(norm.2, [1, 16])
        block_norm_row: Tile[[1, 16], FP32, MemRef(mem_vec_18, 128, 64), Vec] = tile.reshape(block_norm, [1, 16])
        norm_scaled: Tile[[1, 16], FP32, MemRef(mem_vec_3, 192, 64), Vec] = tile.mul(norm_row, correction_row)
        new_norm: Tile[[1, 16], FP32, MemRef(mem_vec_18, 128, 64), Vec] = tile.add(norm_scaled, block_norm_row)
        correction: Tile[[16, 1], FP32, MemRef(mem_vec_14, 64, 64), Vec] = tile.reshape(correction_row, [16, 1])
        acc_scaled: Tile[[16, 64], FP32, MemRef(mem_vec_3, 192, 4096), Vec] = tile.row_expand_mul(acc.2, correction)
        update: Tile[[16, 64], FP32, MemRef(mem_vec_4, 8384, 4096), Vec] = tile.load(values, [(block * 16), 0], [16, 64], [16, 64], target_memory=Vec, clamp=false)
        acc.4: Tile[[16, 64], FP32, MemRef(mem_vec_9, 16704, 4096), Vec] = tile.add(acc_scaled, update)
        high.4: Tile[[16, 1], FP32, MemRef(mem_vec_12, 0, 64), Vec] = tile.reshape(new_high_row, [16, 1])
        norm.4: Tile[[16, 1], FP32, MemRef(mem_vec_18, 128, 64), Vec] = tile.reshape(new_norm, [16, 1])
        yield acc.4, high.4, norm.4
    result: Tile[[16, 64], FP32, MemRef(mem_vec_3, 192, 4096), Vec] = tile.row_expand_div(acc.3, norm.3)
    out.2: Out Tensor[[16, 64], FP32] = tile.store(result, [0, 0], out, atomic=0)
    return out.2
