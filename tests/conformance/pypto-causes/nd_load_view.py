# A load of more than two axes into Mat goes through a `tensor.view`, which waits behind all loads of a pipelined body.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[16, 2048], pl.INT8], w: pl.Tensor[[4, 256, 2048], pl.INT8], o: pl.Out[pl.Tensor[[16, 256], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mm"):
        acc = pl.create_tensor([1, 16, 256], dtype=pl.INT32)
        for k0 in pl.pipeline(0, 2048, 512, stage=2):
            x_k = x[:, k0 : k0 + 512]
            w_k = w[1:2, :, k0 : k0 + 512]
            if k0 == 0:
                acc = pl.matmul(x_k, w_k, b_trans=True, out_dtype=pl.INT32)
            else:
                acc = pl.matmul_acc(acc, x_k, w_k, b_trans=True)
        o[:, :] = pl.reshape(acc, [16, 256])
    return o
