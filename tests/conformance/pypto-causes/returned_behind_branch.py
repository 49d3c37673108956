# A scope returns the parameter that it has written to, but not where a branch chooses between the tensor before and behind a store: then the
# vector core carries the tensor through the loop, and computes again what the loop begins with.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[32, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], c: pl.Tensor[[32, 128], pl.FP32], d: pl.Tensor[[128, 32], pl.FP32], e: pl.Tensor[[128, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[256, 256], pl.FP32]]) -> pl.Tensor[[256, 256], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            if n < 3:
                shifted = pl.sub(a, pl.const(2.0, pl.FP16))
                o[64:96, 0:64] = pl.matmul(shifted, b, out_dtype=pl.FP32)
            most = pl.maximum(c[0:32, 0:128], c)
            o = pl.assemble(o, pl.matmul(most, d), [96, 64])
            for i in pl.pipeline(0, 8, stage=2):
                unused = pl.fmod(most, most)
                o = pl.assemble(o, pl.matmul(e, d[0:64, 0:32]), [0, i * 32])
        return o
