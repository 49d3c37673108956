# A `while` of a `@pl.jit` function is no deeper than what stands beside it: `k` and `t` are other names in it, `k_v1` and `t_v2`, and it
# hands on `acc` and `o` only, which were first assigned further out. Nobody reads `k_v1`, so that the loop ends with `e`.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 128], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]]):
    acc = pl.create_tensor([64, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        t = x[0:64, 0:64]
        t = pl.exp(t)
        u = x[0:64, 64:128]
        k = pl.const(0, pl.INT64)
        while k < n:
            t = pl.add(t, y)
            acc = pl.mul(t, u)
            o[0:64, 0:64] = acc
            e = pl.sub(y, u)
            k = k + 1
    return o
