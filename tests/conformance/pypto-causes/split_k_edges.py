# As split_k_grid, with tiles of the lower and right edge.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[144, 256], pl.FP32], w: pl.Tensor[[256, 112], pl.FP32], o: pl.Out[pl.Tensor[[144, 112], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mm"):
        acc = pl.create_tensor([144, 112], dtype=pl.FP32)
        for i in pl.pipeline(0, 4, stage=2):
            xk = x[:, i * 64 : i * 64 + 64]
            wk = w[i * 64 : i * 64 + 64, :]
            if i == 0:
                acc = pl.matmul(xk, wk, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, xk, wk)
        o[:, :] = acc
    return o
