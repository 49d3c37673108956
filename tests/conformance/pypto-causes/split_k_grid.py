# A pipeline over K whose accumulator is too large runs once for each tile of the result.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[128, 512], pl.FP32], w: pl.Tensor[[512, 256], pl.FP32], o: pl.Out[pl.Tensor[[128, 256], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mm"):
        acc = pl.create_tensor([128, 256], dtype=pl.FP32)
        for i in pl.pipeline(0, 4, stage=2):
            xk = x[:, i * 128 : i * 128 + 128]
            wk = w[i * 128 : i * 128 + 128, :]
            if i == 0:
                acc = pl.matmul(xk, wk, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, xk, wk)
        o[:, :] = acc
    return o
