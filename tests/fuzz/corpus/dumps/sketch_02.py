def compute(...):
    tile_a: Tile[[64, 64], FP32, MemRef(id=0, space=UB)] = block.load(...)
    tile_b: Tile[[64, 64], FP32, MemRef(id=1, space=UB)] = block.add(tile_a, ...)
    tile_c: Tile[[64, 64], FP32, MemRef(id=0, space=UB)] = block.load(...)
