# A barrier of all cubes of the 910B; the 950 has more: refused there.
import pypto.language as pl

@pl.jit
def barrier_c_ok(a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.spmd(24, sync_start=True, name_hint="k"):
        i = pl.tile.get_block_idx()
        o[:, :] = pl.matmul(a, b, out_dtype=pl.FP32)
        pl.system.syncall(core_type="aic_only")
    return o
