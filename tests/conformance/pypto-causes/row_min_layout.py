# row reductions want row_major/none_box: a tile moved from Acc is boxed.
import pypto.language as pl


@pl.program
class FzMix50069:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        m4 = pl.load(in_fp32, [16, 64], [32, 512], target_memory=pl.Mem.Mat)
        m5 = pl.load(in_fp32, [16, 64], [512, 16], target_memory=pl.Mem.Mat)
        l6 = pl.move(m4, target_memory=pl.Mem.Left)
        q7 = pl.move(m5, target_memory=pl.Mem.Right)
        p8 = pl.matmul(l6, q7)
        v9 = pl.move(p8, target_memory=pl.Mem.Vec)
        w13 = pl.create_tile([32, 16], dtype=pl.FP32)
        r14 = pl.row_min(v9, w13)
        return out_fp32
