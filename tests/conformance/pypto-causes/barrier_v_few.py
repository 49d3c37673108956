# A barrier of all vector units in a launch of half of them: refused.
import pypto.language as pl

@pl.jit
def barrier_v_few(a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.spmd(24, sync_start=True, name_hint="k"):
        i = pl.tile.get_block_idx()
        o[0:32, :] = pl.exp(x[0:32, :])
        pl.system.syncall(core_type="aiv_only")
        o[0:32, :] = pl.exp(x[0:32, :])
    return o
