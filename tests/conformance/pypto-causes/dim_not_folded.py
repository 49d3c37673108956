# pl.tensor.dim of a static extent stays a run-time value in an inlined function.
import pypto.language as pl

T_DYN = pl.dynamic("T_DYN")


@pl.jit.inline
def part(x: pl.Tensor[[T_DYN, 128], pl.FP32], o: pl.Tensor[[T_DYN, 128], pl.FP32]):
    t_dim = pl.tensor.dim(x, 0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="copy"):
        for t in pl.pipeline(0, t_dim, 8, stage=2):
            o[t : t + 8, :] = x[t : t + 8, :]
    return o


@pl.jit
def entry(x: pl.Tensor[[8, 128], pl.FP32], o: pl.Out[pl.Tensor[[8, 128], pl.FP32]]):
    part(x, o)
    return o
