"""One matrix product with every step of the cube path written out: L1, then L0A and L0B, then L0C."""

import pypto.language as pl

M, K, N = 128, 128, 128


@pl.program
class MatmulMoves:
    @pl.function(type=pl.FunctionType.InCore)
    def matmul(
        self,
        a: pl.Tensor[[M, K], pl.FP16],
        b: pl.Tensor[[K, N], pl.FP16],
        out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        a_l1 = pl.load(a, [0, 0], [M, K], target_memory=pl.Mem.Mat)
        b_l1 = pl.load(b, [0, 0], [K, N], target_memory=pl.Mem.Mat)
        a_l0 = pl.move(a_l1, target_memory=pl.Mem.Left)
        b_l0 = pl.move(b_l1, target_memory=pl.Mem.Right)
        product = pl.matmul(a_l0, b_l0)
        out = pl.store(product, [0, 0], out)
        return out
