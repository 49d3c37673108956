# A signal within `pl.split_aiv` is for the vector units alone: the cube has no copy of it, nor of what it takes.
import pypto.language as pl
import pypto.language.distributed as pld


@pl.program
class P:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        a: pl.Tensor[[64, 128], pl.BF16],
        b: pl.Tensor[[128, 64], pl.BF16],
        window: pld.DistributedTensor[[64, 64], pl.FP32],
        done: pld.DistributedTensor[[8, 1], pl.INT32],
        rank: pl.Scalar[pl.INT32],
        o: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="push"):
            acc = pl.matmul(a, b, out_dtype=pl.FP32)
            for unit in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                part = pl.aiv_shard(acc)
                pld.tensor.remote_store(part, window, rank, [unit * 32, 0])
                o = pl.assemble(o, part, [unit * 32, 0])
            for unit in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                for pair in pl.range(4):
                    peer = pair * 2 + unit
                    if peer != rank:
                        pld.system.notify(target=done, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        return o
