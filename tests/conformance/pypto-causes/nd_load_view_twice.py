# As nd_load_view: later loads of a stage stay behind its products, and so share their memory.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[8, 1, 16, 128], pl.BF16], w: pl.Tensor[[8, 4, 128, 512], pl.BF16], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mm"):
        lo = pl.matmul(x[0:1, :, :, :], w[0:1, 1:2, :, 0:256], out_dtype=pl.FP32)
        hi = pl.matmul(x[0:1, :, :, :], w[0:1, 1:2, :, 256:512], out_dtype=pl.FP32)
        for k in pl.pipeline(1, 8, stage=2):
            x_k = x[k : k + 1, :, :, :]
            lo = pl.matmul_acc(lo, x_k, w[k : k + 1, 1:2, :, 0:256])
            hi = pl.matmul_acc(hi, x_k, w[k : k + 1, 1:2, :, 256:512])
        o[:, 0:256] = pl.reshape(lo, [16, 256])
        o[:, 256:512] = pl.reshape(hi, [16, 256])
    return o
