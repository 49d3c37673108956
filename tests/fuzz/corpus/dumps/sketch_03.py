def compute(...):
    alloc(memref=MemRef(id=0, space=UB, size=16384, addr=0))
    alloc(memref=MemRef(id=1, space=UB, size=16384, addr=16384))
    tensor: Tensor[[128, 128], FP32, MemRef(id=3, space=DDR)] = ...
    tile_a: Tile[[64, 64], FP32, MemRef(id=0, space=UB, addr=0)] = block.load(...)
    tile_b: Tile[[64, 64], FP32, MemRef(id=1, space=UB, addr=16384)] = block.add(tile_a, ...)
