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
# ---- the dump
AIC matmul
    mem_mat_3 = tile.alloc(Mat, 32768)
    mem_mat_4 = tile.alloc(Mat, 32768)
    mem_left_5 = tile.alloc(Left, 32768)
    mem_right_6 = tile.alloc(Right, 32768)
    mem_acc_7 = tile.alloc(Acc, 65536)
    a_l1: Tile[[128, 128], FP16, MemRef(mem_mat_3, 0, 32768), Mat] = tile.load(a, [0, 0], [128, 128], [128, 128], target_memory=Mat, clamp=false)
    b_l1: Tile[[128, 128], FP16, MemRef(mem_mat_4, 32768, 32768), Mat] = tile.load(b, [0, 0], [128, 128], [128, 128], target_memory=Mat, clamp=false)
    a_l0: Tile[[128, 128], FP16, MemRef(mem_left_5, 0, 32768), Left] = tile.move(a_l1, target_memory=Left)
    b_l0: Tile[[128, 128], FP16, MemRef(mem_right_6, 0, 32768), Right] = tile.move(b_l1, target_memory=Right)
    product: Tile[[128, 128], FP32, MemRef(mem_acc_7, 0, 65536), Acc] = tile.matmul(a_l0, b_l0)
    out.2: Out Tensor[[128, 128], FP32] = tile.store(product, [0, 0], out, atomic=0)
    return out.2
