# A name may not be assigned a tile of another pad.
import pypto.language as pl


@pl.program
class FzFill51000:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], out_fp16: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        a1 = pl.load(in_bf16, [100, 32], [48, 33])
        a1 = pl.fillpad(a1, pad_value=0)
        return out_fp16
