# A half of a product lies in rows as a new tile does, whatever its source: no move has to lay it out before it is computed with.
import pypto.language as pl

SA_M = 64
SA_K = 64
SA_N = 64


@pl.program
class SplitAivShardProgram:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        a: pl.Tensor[[SA_M, SA_K], pl.FP32],
        b: pl.Tensor[[SA_K, SA_N], pl.FP32],
        out: pl.Out[pl.Tensor[[SA_M, SA_N], pl.FP32]],
    ) -> pl.Tensor[[SA_M, SA_N], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="qk"):
            a_l1 = pl.load(a, [0, 0], [SA_M, SA_K], target_memory=pl.MemorySpace.Mat)
            b_l1 = pl.load(b, [0, 0], [SA_K, SA_N], target_memory=pl.MemorySpace.Mat)
            a_left = pl.move(a_l1, target_memory=pl.MemorySpace.Left)
            b_right = pl.move(b_l1, target_memory=pl.MemorySpace.Right)
            qk = pl.matmul(a_left, b_right)
            for aiv_id in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                qk_h = pl.aiv_shard(qk)
                sc = pl.mul(qk_h, 2.0)
                offset = aiv_id * (SA_M // 2)
                out = pl.store(sc, [offset, 0], out)
        return out
