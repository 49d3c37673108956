# An inlined function that returns a call: the call takes the name that the result is bound to, and there is no copy.
import pypto.language as pl


@pl.jit.inline
def leading(row: pl.Tensor[[1, 256], pl.FP32]):
    order = pl.arange(0, [1, 256], dtype=pl.UINT32)
    pairs = pl.sort32(row, order)
    return pl.gather(pairs[:, 0:16], mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.INT32)


@pl.jit.inline
def window(row: pl.Tensor[[1, 256], pl.FP32], start: pl.Scalar[pl.INDEX]):
    doubled = pl.add(row, row)
    return doubled[:, start : start + 8]


@pl.jit
def entry(
    x: pl.Tensor[[8, 256], pl.FP32],
    best: pl.Out[pl.Tensor[[8, 8], pl.INT32]],
    parts: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="rows"):
        chosen = pl.create_tensor([8, 8], dtype=pl.INT32)
        for i in pl.range(8):
            line = pl.slice(x, [1, 256], [i, 0])
            first = leading(line)
            chosen[i : i + 1, :] = first
            part = window(line, 8)
            parts[i : i + 1, :] = part
        best[:, :] = chosen
    return best
