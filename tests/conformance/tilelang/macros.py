"""Macros in macros, references, dictionaries of buffers, and pipelines with conditions."""
import tilelang
import tilelang.language as T


@T.macro
def load(src, dst, row, col=0, *, clear=False):
    if clear:
        T.clear(dst)
    T.copy(src[row, col], dst)


@T.macro
def pair(x, n):
    low = T.alloc_shared((n,), "float32")
    high = T.alloc_shared((n,), "float32")
    for i in T.Parallel(n):
        low[i] = x[i]
        high[i] = -x[i]
    return low, high


@T.macro
def bump(counter: T.Ref, by):
    counter += by


@tilelang.jit
def masked_product(M, N, K, b=64, depth=2):
    @T.prim_func
    def kern(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), keep: T.Tensor((K // b,), "int32"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(N // b, M // b, threads=128) as (bx, by):
            bufs = {"a": T.alloc_shared((b, b), "float16"), "w": T.alloc_shared((b, b), "float16")}
            acc = T.alloc_fragment((b, b), "float32")
            out = T.alloc_shared((b, b), "float16")
            T.clear(acc)
            for k in T.Pipelined(K // b, num_stages=depth):
                if keep[k] != 0:
                    load(A, bufs["a"], by * b, k * b)
                    T.copy(B[k * b, bx * b], bufs["w"])
                    T.gemm(bufs["a"], bufs["w"], acc)
            T.copy(acc, out)
            T.copy(out, C[by * b, bx * b])

    return kern


@tilelang.jit
def rotating(M, N, ways=2):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M // 16, threads=128) as b:
            ring = [[T.alloc_shared((16, N), "float32") for _ in range(ways)] for _ in range(2)]
            steps = T.alloc_var("int32", init=0)
            for i, row in enumerate(ring):
                for j, cell in enumerate(row):
                    load(X, cell, b * 16, clear=(i == 0 and j == 0))
                    bump(steps, 1)
            chosen = ring[0][-1] if ways > 1 else ring[1][0]
            x = T.alloc_fragment((16,), "float32")
            for i in T.Parallel(16):
                x[i] = chosen[i, 0]
            low, high = pair(x, 16)
            again, _ = pair(x, 16)
            for one, two in zip((low, high), (again, x)):
                for i in T.Parallel(16):
                    one[i] = one[i] + two[i]
            for i, j in T.Parallel(16, N):
                Y[b * 16 + i, j] = T.if_then_else(steps > 2, low[i] * high[i], again[i])

    return kern


@tilelang.jit
def nested_macros(M, N, stages=2, cast=True):
    scale = 0.5

    @T.macro
    def body(X, s, f, b, k, width=64):
        T.copy(X[b * 32 : b * 32 + 32, k * width : (k + 1) * width], s)
        T.copy(s, f)
        for i, j in T.Parallel(32, width):
            f[i, j] *= scale

    @T.macro
    def twice(X, s, f, b, k):
        body(X, s, f, b, k)
        body(X, s, f, b, k + 1, width=64)

    @T.prim_func
    def kern(X: T.Tensor((M, N), "float16"), idx: T.Tensor((M,), "int32"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(M, 32), threads=128) as b:
            s = T.alloc_shared((32, 64), "float16")
            f = T.alloc_fragment((32, 64), "float32")
            h = T.alloc_fragment((32, 64), "float16")
            total = T.alloc_fragment((32,), "float32")

            T.fill(total, 0)
            for k in T.Pipelined(N // 64, num_stages=stages):
                body(X, s, f, b, k)
                T.reduce_sum(f, total, dim=1, clear=False)
                if cast:
                    T.copy(f, h)
                    T.copy(h, Y[b * 32, k * 64])
            top = idx[b]
            count = T.min(top, N // 64)
            for k in T.serial(count):
                twice(X, s, f, b, k)
            if T.any_of(idx[0:4]):
                T.clear(total)
            T.sync_threads()

    return kern


@tilelang.jit
def eager_macros(X, Y, rows: int = 32, pipeline: bool = True):
    M, N = T.const("M, N")
    X: T.Tensor[[M, N], T.bfloat16]
    Y: T.Tensor[[N], T.float32]
    Z = T.empty((M,), T.float32)
    tiles = N // 128
    stages = 3 if pipeline else 0
    with T.Kernel(T.ceildiv(M, rows), threads=rows * 4) as bx:
        x = T.alloc_shared((rows, 128), X.dtype)
        y = T.alloc_shared((128,), T.float32)
        s = T.alloc_fragment((rows, 128), T.float32)
        z = T.alloc_fragment((rows,), T.float32)
        T.clear(z)
        for k in T.Pipelined(tiles, num_stages=stages):
            T.copy(X[bx * rows, k * 128], x)
            T.copy(Y[k * 128], y)
            for i, j in T.Parallel(rows, 128):
                s[i, j] = T.cast(x[i, j], "float32") * y[j]
            T.reduce_sum(s, z, dim=1, clear=False)
        T.copy(z, Z[bx * rows])
    return Z


@tilelang.jit
def scans(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M // 8, threads=128) as b:
            f = T.alloc_fragment((8, N), "float32")
            g = T.alloc_fragment((8, N), "float32")
            s = T.alloc_shared((8, N), "float32")
            T.copy(X[b * 8, 0], f)
            T.cumsum(f, g, dim=1)
            T.copy(g, s)
            T.cumsum(src=s, dst=s, dim=0, reverse=True)
            T.cumsum(s[0:4, :], dim=1)
            T.copy(s, Y[b * 8, 0])

    return kern
