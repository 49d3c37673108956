# An INT32 scalar is compared as cast(n, INDEX): an enclosing branch proves nothing of it.
import pypto.language as pl


@pl.program
class FzLoops12:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, in_bf16: pl.Tensor[[4096, 4096], pl.BF16], n0: pl.Scalar[pl.INT32], out_bf16: pl.Out[pl.Tensor[[4096, 4096], pl.BF16]]) -> pl.Tensor[[4096, 4096], pl.BF16]:
        a1 = pl.load(in_bf16, [n0, 0], [64, 80])
        t3 = pl.sqrt(a1)
        if n0 == 4:
            if n0 != 4:
                t3 = pl.abs(t3)
            else:
                t3 = pl.mul(t3, t3)
        return out_bf16
