# An accumulating product in an ordinary loop stays whole.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[48, 256], pl.FP32], w: pl.Tensor[[256, 80], pl.FP32], o: pl.Out[pl.Tensor[[48, 80], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mm"):
        acc = pl.create_tensor([48, 80], dtype=pl.FP32)
        for i in pl.range(0, 4):
            xk = x[:, i * 64 : i * 64 + 64]
            wk = w[i * 64 : i * 64 + 64, :]
            if i == 0:
                acc = pl.matmul(xk, wk, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, xk, wk)
        o[:, :] = acc
    return o
