import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a0: pl.Tensor[[32, 64], pl.BF16], b0: pl.Tensor[[64, 64], pl.BF16], o0: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        ring = pl.import_peer_buffer(name="ring", peer_func="vector")
        pl.aic_initialize_pipe(dir_mask=1, slot_size=8192, c2v_consumer_buf=ring)
        b: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.load(b0, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        r: pl.Tile[[64, 64], pl.BF16, pl.Mem.Right] = pl.move(b, target_memory=pl.Mem.Right)
        for i in pl.range(2):
            a: pl.Tile[[32, 64], pl.BF16, pl.Mem.Mat] = pl.load(a0, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
            l: pl.Tile[[32, 64], pl.BF16, pl.Mem.Left] = pl.move(a, target_memory=pl.Mem.Left)
            c: pl.Tile[[32, 64], pl.FP32, pl.Mem.Acc] = pl.matmul(l, r)
            pl.tpush_to_aiv(c, split=0)
        return o0

    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, x0: pl.Tensor[[4096, 4096], pl.FP32], o1: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        ring = pl.reserve_buffer(name="ring", size=65536, base=0)
        pl.aiv_initialize_pipe(dir_mask=1, slot_size=8192, c2v_consumer_buf=ring)
        for i in pl.range(2):
            p: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
            t5: pl.Tile[[32, 64], pl.FP32] = pl.load(x0, [32, 192], [32, 64])
            t6: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.add(p, t5)
            pl.tfree_to_aic(p)
            o1 = pl.store(t6, [96, 64], o1)
        return o1
