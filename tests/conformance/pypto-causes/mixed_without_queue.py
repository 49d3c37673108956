# A mixed kernel whose cores exchange nothing has no parameter for a queue.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], in_fp16: pl.Tensor[[4096, 4096], pl.FP16], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], out_bf16: pl.Out[pl.Tensor[[4096, 4096], pl.BF16]]) -> tuple[pl.Tensor[[4096, 4096], pl.FP32], pl.Tensor[[4096, 4096], pl.BF16]]:
        a1 = pl.load(in_bf16, [0, 32], [100, 48])
        acc5 = pl.create_tile([32, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k2 in pl.pipeline(0, 2, 1, stage=3):
            m3 = pl.load(in_fp16, [0, k2 * 16], [32, 16], target_memory=pl.Mem.Mat)
            m4 = pl.load(in_fp16, [k2 * 16, 0], [16, 16], target_memory=pl.Mem.Mat)
            acc5 = pl.matmul_acc(acc5, m3, m4)
        return out_fp32, out_bf16
