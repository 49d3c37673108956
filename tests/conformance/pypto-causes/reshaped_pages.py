# What is reshaped to three axes is flattened by a view of its own where its pages are transposed.
import pypto.language as pl

DEINT_T = 8
DEINT_RD = 64
DEINT_RH = DEINT_RD // 2


@pl.program
class NdTransposeDeinterleave:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[DEINT_T, DEINT_RD], pl.FP32],
        even_out: pl.Out[pl.Tensor[[DEINT_T, DEINT_RH], pl.FP32]],
        odd_out: pl.Out[pl.Tensor[[DEINT_T, DEINT_RH], pl.FP32]],
    ) -> tuple[pl.Tensor[[DEINT_T, DEINT_RH], pl.FP32], pl.Tensor[[DEINT_T, DEINT_RH], pl.FP32]]:
        x_tile: pl.Tile[[DEINT_T, DEINT_RD], pl.FP32] = pl.load(x, [0, 0], [DEINT_T, DEINT_RD])
        x3d: pl.Tile[[DEINT_T, DEINT_RH, 2], pl.FP32] = pl.reshape(x_tile, [DEINT_T, DEINT_RH, 2])
        x3d_t: pl.Tile[[DEINT_T, 2, DEINT_RH], pl.FP32] = pl.transpose(x3d, axis1=1, axis2=2)
        x_deint: pl.Tile[[DEINT_T, DEINT_RD], pl.FP32] = pl.reshape(x3d_t, [DEINT_T, DEINT_RD])
        even: pl.Tile[[DEINT_T, DEINT_RH], pl.FP32] = pl.tile.extract(
            x_deint, 0, 0, [DEINT_T, DEINT_RH], target_memory=pl.MemorySpace.Vec
        )
        odd: pl.Tile[[DEINT_T, DEINT_RH], pl.FP32] = pl.tile.extract(
            x_deint, 0, DEINT_RH, [DEINT_T, DEINT_RH], target_memory=pl.MemorySpace.Vec
        )
        even_out = pl.store(even, [0, 0], even_out)
        odd_out = pl.store(odd, [0, 0], odd_out)
        return even_out, odd_out
