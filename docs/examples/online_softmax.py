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
