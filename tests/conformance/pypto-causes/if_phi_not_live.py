# A name that both branches of a host `if` assign and nobody reads behind it is no result of a scope.
import pypto.language as pl


@pl.jit
def entry(a: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    local = pl.create_tensor([16, 64], dtype=pl.FP32)
    if n < 3:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="small"):
            local = pl.add(a, 1.0)
            o[:, :] = pl.exp(local)
    else:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="large"):
            local = pl.mul(a, 2.0)
            o[:, :] = pl.exp(local)
    return o
