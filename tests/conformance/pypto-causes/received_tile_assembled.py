# A received tile lies in no buffer: of what it is written to as a whole, DSA-RP does not know that nothing of it is read before, so that
# it shares memory with loads at no price.
import pypto.language as pl


@pl.jit
def kernel(
    a: pl.Tensor[[128, 192], pl.INT8],
    b: pl.Tensor[[192, 32], pl.INT8],
    x: pl.Tensor[[64, 32], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    out: pl.Out[pl.Tensor[[128, 32], pl.INT32]],
    out2: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mixed"):
        product = pl.matmul(a, b, out_dtype=pl.INT32)
        out[:, :] = product
        twice = pl.part_add(product, product)
        difference = pl.sub(x, x)
        out2[:, :] = pl.matmul(c, difference, out_dtype=pl.FP32)
        whole = pl.create_tensor([128, 32], dtype=pl.INT32)
        unread = pl.assemble(whole, product, [0, 0])
    return out, out2
