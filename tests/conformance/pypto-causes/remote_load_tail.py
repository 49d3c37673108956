# The part of a window of another device's memory that is there, the rows of which are as many as there are devices at most.
import pypto.language as pl
import pypto.language.distributed as pld


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, z0: pl.InOut[pld.DistributedTensor[[32, 128], pl.FP32]], o1: pl.Out[pl.Tensor[[64, 512], pl.FP32]]) -> pl.Tensor[[64, 512], pl.FP32]:
        q1 = pld.get_comm_ctx(z0)
        q2 = pld.rank(q1)
        q3 = pld.nranks(q1)
        for i7 in pl.range(q3):
            t8 = pld.tile.remote_load(z0, peer=i7, offsets=[8, 0], shape=[32, 64], valid_shape=[q3, 64])
            t9 = pl.add(t8, t8)
            o1 = pl.store(t9, [32, 128], o1)
        return o1
