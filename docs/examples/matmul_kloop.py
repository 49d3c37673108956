"""A matrix product that walks over K and keeps its sum in the accumulator. The moves to L0 are left to the compiler."""

import pypto.language as pl

M, K, N = 128, 2048, 128
K_BLOCK = 128


@pl.program
class MatmulKLoop:
    @pl.function(type=pl.FunctionType.InCore)
    def matmul(
        self,
        a: pl.Tensor[[M, K], pl.BF16],
        b: pl.Tensor[[K, N], pl.BF16],
        out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        a_first = pl.load(a, [0, 0], [M, K_BLOCK], target_memory=pl.Mem.Mat)
        b_first = pl.load(b, [0, 0], [K_BLOCK, N], target_memory=pl.Mem.Mat)
        first = pl.matmul(a_first, b_first)
        for k, (acc,) in pl.range(K_BLOCK, K, K_BLOCK, init_values=(first,)):
            a_block = pl.load(a, [0, k], [M, K_BLOCK], target_memory=pl.Mem.Mat)
            b_block = pl.load(b, [k, 0], [K_BLOCK, N], target_memory=pl.Mem.Mat)
            partial = pl.matmul_acc(acc, a_block, b_block)
            total = pl.yield_(partial)
        out = pl.store(total, [0, 0], out)
        return out
