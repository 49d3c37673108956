def k(...):
    a: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_0, 0, 98304), pl.Mem.Vec] = pl.tile.load(...)
    b: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_1, 98304, 98304), pl.Mem.Vec] = pl.tile.load(...)
    c: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_2, 196608, 98304), pl.Mem.Vec] = pl.tile.{last}
