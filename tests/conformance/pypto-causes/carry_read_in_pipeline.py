# A pipeline inside of a loop reads what the loop carries: each copy of its body reads a variable that no loop binds. When the first value
# moves to another buffer, that variable stays behind and keeps the old one allocated.
import pypto.language as pl


@pl.program
class A:
    @pl.function(type=pl.FunctionType.InCore)
    def one(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        first = pl.load(y, [0, 0], [16, 64])
        out = pl.store(first, [0, 0], out)
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.range(4):
            for j in pl.pipeline(0, 4, stage=2):
                row = pl.load(x, [j * 16, 0], [16, 64])
                sum = pl.add(total, row)
                out = pl.store(sum, [j * 16, 0], out)
            total = pl.mul(total, total)
        out = pl.store(total, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def nested(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        first = pl.load(y, [0, 0], [16, 64])
        out = pl.store(first, [0, 0], out)
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.pipeline(0, 5, stage=2):
            for j in pl.pipeline(0, 4, stage=2):
                row = pl.load(x, [j * 16, 0], [16, 64])
                sum = pl.add(total, row)
                part = sum
                for k in pl.range(3):
                    part = pl.mul(part, total)
                out = pl.store(part, [j * 16, 0], out)
            total = pl.mul(total, total)
        out = pl.store(total, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def started(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        first = pl.load(y, [0, 0], [16, 64])
        out = pl.store(first, [0, 0], out)
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.range(4):
            for j in pl.pipeline(0, 4, stage=2):
                row = pl.load(x, [j * 16, 0], [16, 64])
                for k, (part,) in pl.range(3, init_values=(total,)):
                    end = pl.yield_(pl.add(part, row))
                out = pl.store(end, [j * 16, 0], out)
            total = pl.mul(total, total)
        out = pl.store(total, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def begun(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        first = pl.load(y, [0, 0], [16, 64])
        out = pl.store(first, [0, 0], out)
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.pipeline(0, 4, stage=4):
            for j, (part,) in pl.range(0, n, init_values=(total,)):
                for k, (sum,) in pl.pipeline(0, 3, stage=4, init_values=(part,)):
                    row = pl.load(x, [k * 16, 0], [16, 64])
                    out = pl.store(row, [k * 16, 0], out)
                    more = pl.yield_(pl.maximum(sum, part))
                end = pl.yield_(pl.maximum(part, part))
            total = pl.abs(total)
        out = pl.store(total, [0, 0], out)
        return out
