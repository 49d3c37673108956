import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, x0: pl.Tensor[[64, 64], pl.BF16], o1: pl.Out[pl.Tensor[[64, 64], pl.BF16]]) -> pl.Tensor[[64, 64], pl.BF16]:
        ring = pl.import_peer_buffer(name="ring", peer_func="cube")
        pl.aiv_initialize_pipe(dir_mask=2, slot_size=8192, v2c_consumer_buf=ring)
        t: pl.Tile[[64, 64], pl.BF16, pl.Mem.Vec] = pl.load(x0, [0, 0], [64, 64])
        pl.tpush_to_aic(t, split=0)
        return o1

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a0: pl.Tensor[[32, 64], pl.BF16], o0: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        ring = pl.reserve_buffer(name="ring", size=65536, base=pl.AUTO)
        pl.aic_initialize_pipe(dir_mask=2, slot_size=8192, v2c_consumer_buf=ring)
        a: pl.Tile[[32, 64], pl.BF16, pl.Mem.Mat] = pl.load(a0, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[32, 64], pl.BF16, pl.Mem.Left] = pl.move(a, target_memory=pl.Mem.Left)
        w: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
        r: pl.Tile[[64, 64], pl.BF16, pl.Mem.Right] = pl.move(w, target_memory=pl.Mem.Right)
        pl.tfree_to_aic(w)
        c: pl.Tile[[32, 64], pl.FP32, pl.Mem.Acc] = pl.matmul(l, r)
        o0 = pl.store(c, [0, 0], o0)
        return o0
