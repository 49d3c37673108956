# A barrier in a kernel for both kinds of core, in a launch of half of the cubes: refused.
import pypto.language as pl

@pl.jit
def barrier_m_few(a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.spmd(12, sync_start=True, name_hint="k"):
        i = pl.tile.get_block_idx()
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        o[:, :] = pl.add(acc, 1.0)
        pl.system.syncall(core_type="mix")
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
        o[:, :] = pl.add(acc, 1.0)
    return o
