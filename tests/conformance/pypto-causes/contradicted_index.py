import pypto.language as pl


@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[4096, 4096], pl.FP32], n: pl.Scalar[pl.INT64], o3: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        t1 = pl.load(x0, [0, 64], [128, 64])
        for i2 in pl.pipeline(0, 2, stage=3):
            if i2 > 2 and i2 > 0:
                if i2 == 2:
                    t11 = pl.log(t1)
                    o3 = pl.store(t11, [0, 0], o3)
        return o3
