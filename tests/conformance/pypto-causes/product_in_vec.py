# A product that a loop starts from goes to the memory of what the loop makes, and lies there as tiles of that memory do.
import pypto.language as pl


@pl.program
class A:
    @pl.function
    def main(self, x: pl.Tensor[[256, 256], pl.BF16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[256, 128], pl.FP32]]) -> pl.Tensor[[256, 128], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            left = pl.slice(x, [32, 64], [96, 64])
            right = x[64:128, 96:128]
            product = pl.matmul(left, right, out_dtype=pl.FP32)
            for i, (carried,) in pl.range(0, 4, init_values=(product,)):
                if n != 1:
                    positive = pl.abs(product)
                    chosen = pl.yield_(positive)
                else:
                    square = pl.mul(product, product)
                    chosen = pl.yield_(square)
                less = pl.sub(carried, chosen)
                end = pl.yield_(less)
            out[96:128, 96:128] = product
        return out
