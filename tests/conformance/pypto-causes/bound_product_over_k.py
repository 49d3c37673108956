import pypto.language as pl

BUFFER_0 = pl.MemRef(slots=2)

@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x2: pl.Tensor[[4096, 4096], pl.FP16]) -> pl.Tensor[[16, 704], pl.FP32]:
        t5: pl.Tile[[16, 176], pl.FP32, BUFFER_0[0], pl.Mem.Acc] = pl.create_tile([16, 176], dtype=pl.FP32)
        for k4 in pl.pipeline(0, 8, stage=2):
            t6 = pl.load(x2, [48, k4 * 64], [16, 64], target_memory=pl.Mem.Mat)
            t7 = pl.load(x2, [k4 * 64, 528], [64, 176], target_memory=pl.Mem.Mat)
            if k4 == 0:
                t5 = pl.matmul(t6, t7)
            else:
                t5 = pl.matmul_acc(t5, t6, t7)
        return t5
