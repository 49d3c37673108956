# Host code reads what a scope makes: a part or an element of it, its extent, another shape of it, or as what it writes to a part of a
# tensor. The value leaves the scope through a parameter that the compiler adds, which counts in the numbers of the buffers behind it.
import pypto.language as pl

T, K, N, KC = 32, 4096, 128, 512


@pl.jit
def reshaped(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="one"):
        acc = pl.exp(x)
    whole = pl.reshape(acc, [64, 32])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="two"):
        out[:, :] = pl.exp(whole)
    return out


@pl.jit
def sliced(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="five"):
        acc = pl.exp(x)
    whole = pl.slice(acc, [16, 64], [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="six"):
        out[:, :] = pl.exp(whole)
    return out


@pl.jit
def element(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="seven"):
        acc = pl.exp(x)
    n = pl.cast(pl.read(acc, [0, 0]), pl.INDEX)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="eight"):
        for i in pl.range(n):
            out[:, :] = pl.exp(x[0:16, :])
    return out


@pl.jit
def unread(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    whole = pl.create_tensor([64, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="nine"):
        acc = pl.exp(x)
    whole = pl.assemble(whole, acc, [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="ten"):
        out[:, :] = pl.exp(x)
    return out


@pl.jit
def twice(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="b1"):
        acc = pl.exp(x)
        out[:, :] = acc
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="b2"):
        acc = pl.abs(x)
    out[:, :] = acc
    return out


@pl.jit
def in_loop(x: pl.Tensor[[128, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
    for i in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="d1"):
            acc = pl.exp(x[i * 32 : i * 32 + 32, :])
            prev = pl.add(acc, y)
        out[i * 32 : i * 32 + 32, :] = acc
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="d2"):
            o2 = pl.add(out[i * 32 : i * 32 + 32, :], prev)
        out = pl.assemble(out, o2, [i * 32, 0])
    return out


@pl.jit
def in_branch(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    whole = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="e1"):
        acc = pl.exp(x)
    if pl.read(acc, [0, 0]) > 0.0:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="e2"):
            whole[:, :] = pl.exp(x)
        out[:, :] = whole
    else:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="e3"):
            u = pl.exp(x)
        out[:, :] = u
    return out


@pl.jit
def extent(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="g1"):
        acc = pl.exp(x)
        b = pl.add(acc, acc)
    m = pl.tensor.dim(b, 0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="g2"):
        for i in pl.range(m):
            out[0:32, :] = pl.exp(x)
    return out


@pl.jit
def product(
    x: pl.Tensor[[1, T, K], pl.INT8],
    w: pl.Tensor[[1, N, K], pl.INT8],
    out: pl.Out[pl.Tensor[[1, T, N], pl.INT32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="repro_mm"):
        acc = pl.create_tensor([1, T, N], dtype=pl.INT32)  # -> pl.Mem.Acc
        for kb in pl.pipeline(0, K // KC, stage=2):
            k0 = kb * KC
            x_k = x[:, :, k0 : k0 + KC]  # [1, T, KC]  3D batch slice
            w_k = w[:, :, k0 : k0 + KC]  # [1, N, KC]
            if kb == 0:
                acc = pl.matmul(x_k, w_k, b_trans=True, out_dtype=pl.INT32)
            else:
                acc = pl.matmul_acc(acc, x_k, w_k, b_trans=True)
    out[:, :, :] = acc
    return out
