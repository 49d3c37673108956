# OpStmts [
mem_vec_0: MemRefType = block.alloc(Vec, -1, 16384, 0)   # addr=-1 (unallocated)
mem_vec_1: MemRefType = block.alloc(Vec, -1, 16384, 1)
tile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = block.load(...)
tile_b: Tile[[64, 64], FP32, memref=mem_vec_1] = block.add(tile_a, ...)
# ]
