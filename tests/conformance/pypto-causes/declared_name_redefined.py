# A name whose annotation binds a declared buffer keeps the binding when it is assigned again.
import pypto.language as pl

BUF = pl.MemRef(slots=4)


@pl.program
class FzDecl50005:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp32: pl.Tensor[[4096, 4096], pl.FP32], out_fp32: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        a1 = pl.load(in_fp32, [64, 0], [8, 8])
        for i2 in pl.range(0, 4):
            d3: pl.Tile[[8, 8], pl.FP32, BUF[i2 % 4], pl.Mem.Vec] = pl.load(in_fp32, [0, i2 * 64], [8, 8])
            d3 = pl.div(a1, a1)
        return out_fp32
