"""out = (a @ b) @ c + e @ d, kept on chip.

L0A holds one operand of 64 KiB first, then two of 32 KiB at the same time. The compiler's allocator gives the freed
64 KiB to one of the two and needs 96 KiB in sum; placed by lifetime, all three fit in 64 KiB.
"""

import pypto.language as pl

M, K, N = 128, 256, 64


@pl.program
class ChainedMatmul:
    @pl.function(type=pl.FunctionType.InCore)
    def chained(
        self,
        a: pl.Tensor[[M, K], pl.FP16],
        b: pl.Tensor[[K, N], pl.FP16],
        c: pl.Tensor[[N, N], pl.FP32],
        e: pl.Tensor[[M, N], pl.FP32],
        d: pl.Tensor[[N, N], pl.FP32],
        out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        a_l1 = pl.load(a, [0, 0], [M, K], target_memory=pl.Mem.Mat)
        b_l1 = pl.load(b, [0, 0], [K, N], target_memory=pl.Mem.Mat)
        a_l0 = pl.move(a_l1, target_memory=pl.Mem.Left)
        b_l0 = pl.move(b_l1, target_memory=pl.Mem.Right)
        ab = pl.matmul(a_l0, b_l0)
        ab_l1 = pl.move(ab, target_memory=pl.Mem.Mat)
        c_l1 = pl.load(c, [0, 0], [N, N], target_memory=pl.Mem.Mat)
        e_l1 = pl.load(e, [0, 0], [M, N], target_memory=pl.Mem.Mat)
        d_l1 = pl.load(d, [0, 0], [N, N], target_memory=pl.Mem.Mat)
        ab_l0 = pl.move(ab_l1, target_memory=pl.Mem.Left)
        e_l0 = pl.move(e_l1, target_memory=pl.Mem.Left)
        c_l0 = pl.move(c_l1, target_memory=pl.Mem.Right)
        abc = pl.matmul(ab_l0, c_l0)
        d_l0 = pl.move(d_l1, target_memory=pl.Mem.Right)
        total = pl.matmul_acc(abc, e_l0, d_l0)
        out = pl.store(total, [0, 0], out)
        return out
