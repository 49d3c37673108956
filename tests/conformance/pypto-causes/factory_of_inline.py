# An inline function that a factory defines under an `if` and returns.
import pypto.language as pl

IMPL = "plus"


def _bind():
    if IMPL == "plus":
        @pl.jit.inline
        def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32]):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="plus"):
                o[:, :] = pl.add(x[:, :], 1.0)
            return o
    else:
        @pl.jit.inline
        def part(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Tensor[[16, 512], pl.FP32]):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="times"):
                o[:, :] = pl.mul(x[:, :], 2.0)
            return o
    return part


part = _bind()


@pl.jit
def entry(x: pl.Tensor[[16, 512], pl.FP32], o: pl.Out[pl.Tensor[[16, 512], pl.FP32]]):
    part(x, o)
    return o
