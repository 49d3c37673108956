# A name may not be assigned a tile of another valid_shape.
import pypto.language as pl


@pl.program
class FzView51005:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_fp16: pl.Tensor[[4096, 4096], pl.FP16], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        a1 = pl.load(in_fp16, [100, 0], [128, 64], target_memory=pl.Mem.Vec)
        a1 = pl.set_validshape(a1, 127, 64)
        return out_fp16
