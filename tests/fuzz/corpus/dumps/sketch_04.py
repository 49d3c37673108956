# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def k(a__ssa_v0: pl.Tensor[[64, 128], pl.FP32, pl.MemRef("mem_ddr_0", pl.const(0, pl.INT64), 32768)]):
        mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 32768)
        mem_vec_10: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        x__ssa_v0: pl.Tile[[64, 128], pl.FP32, pl.MemRef(mem_vec_3, pl.const(4096, pl.INT64), 32768), pl.Mem.Vec] = pl.tile.load(a__ssa_v0, [0, 0], [64, 128], [64, 128])
        v__ssa_v0: pl.Tile[[16, 128], pl.FP32, pl.MemRef(mem_vec_3, 12288, 8192), pl.Mem.Vec] = pl.tile.slice(x__ssa_v0, [16, 128], [16, 0])
        y__ssa_v0: pl.Tile[[8, 128], pl.FP32, pl.MemRef(mem_vec_10, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = pl.tile.exp(v__ssa_v0)
        return x__ssa_v0, y__ssa_v0
