# What is stored on another device is loaded first where it lies in global memory, as a window or whole.
import pypto.language as pl
import pypto.language.distributed as pld


@pl.program
class P:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        window: pld.DistributedTensor[[64, 64], pl.FP32],
        rank: pl.Scalar[pl.INT32],
        o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="push"):
            pld.tensor.remote_store(x, window, rank, [0, 0])
            pld.tensor.remote_store(pl.slice(x, [32, 64], [32, 0]), window, rank, [0, 0])
            o = pl.assemble(o, pl.exp(x[0:16, :]), [0, 0])
        return o
