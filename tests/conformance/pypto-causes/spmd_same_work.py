import pypto.language as pl

@pl.jit
def spmd_same_work(a: pl.Tensor[[512, 64], pl.FP16], b: pl.Tensor[[64, 512], pl.FP16], c: pl.Tensor[[512, 16], pl.FP16], o: pl.Out[pl.Tensor[[512, 16], pl.FP32]]):
    with pl.spmd(24, sync_start=True, name_hint="k"):
        d = pl.matmul(a, b, out_dtype=pl.FP32)
        e = pl.cast(d, pl.FP16)
        pl.system.syncall(core_type="mix")
        o[:, :] = pl.matmul(e, c, out_dtype=pl.FP32)
    return o
