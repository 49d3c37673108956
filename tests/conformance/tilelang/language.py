"""What authors do around kernels: macros, closures, helpers, lists of buffers, several launches."""
import functools
import tilelang
import tilelang.language as T

WIDTH = 32
TABLE = {"small": (32, 32), "large": (64, 128)}


def make_tile(kind, dtype):
    rows, cols = TABLE[kind]
    return T.alloc_shared((rows, cols), dtype)


def scaled(factor):
    @T.macro
    def scale(buf, rows, cols):
        for i, j in T.Parallel(rows, cols):
            buf[i, j] = buf[i, j] * factor

    return scale


@T.macro
def stage_in(X, row, rows, cols):
    stage = T.alloc_shared((rows, cols), T.float16)
    T.copy(X[row, 0], stage)
    return stage


@tilelang.jit
def helpers(M, N, kind="large"):
    double = scaled(2.0)

    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float16), Y: T.Tensor((M, N), T.float16)):
        with T.Kernel(M // 64, threads=128) as b:
            tile = make_tile(kind, T.float16)
            rows, cols = TABLE[kind]
            T.copy(X[b * rows, 0], tile)
            double(tile, rows, cols)
            T.copy(tile, Y[b * rows, 0])

    return kern


@tilelang.jit
def stages(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float16), Y: T.Tensor((M, N), T.float16)):
        with T.Kernel(M // 64, threads=128) as b:
            one = stage_in(X, b * 64, 64, N)
            two = stage_in(X, b * 64 + 32, 64, N)
            for i, j in T.Parallel(64, N):
                one[i, j] = one[i, j] + two[i, j]
            T.copy(one, Y[b * 64, 0])

    return kern


@tilelang.jit
def lists(M, N, count=3):
    @T.prim_func
    def kern(X: T.Tensor((count, M, N), T.float16), Y: T.Tensor((M, N), T.float16)):
        with T.Kernel(M // 64, N // 64, threads=128) as (bx, by):
            tiles = [T.alloc_shared((64, 64), T.float16) for _ in range(count)]
            acc = T.alloc_fragment((64, 64), T.float32)
            T.clear(acc)
            for t in range(count):
                pass
            for i, tile in enumerate(tiles):
                T.copy(X[i, bx * 64 : (bx + 1) * 64, by * 64 : (by + 1) * 64], tile)
            for tile in tiles:
                for i, j in T.Parallel(64, 64):
                    acc[i, j] += tile[i, j]
            T.copy(acc, Y[bx * 64, by * 64])

    return kern


@tilelang.jit
def launches(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float32), P: T.Tensor((M,), T.float32), Y: T.Tensor((M, N), T.float32)):
        with T.Kernel(M, threads=64) as b:
            row = T.alloc_shared((N,), T.float32)
            part = T.alloc_fragment((1,), T.float32)
            T.copy(X[b, 0], row)
            T.reduce_max(row, part, dim=0)
            P[b] = part[0]
        with T.Kernel(M, threads=128) as b:
            row = T.alloc_shared((N,), T.float32)
            T.copy(X[b, 0], row)
            for j in T.Parallel(N):
                Y[b, j] = row[j] / P[b]

    return kern


@tilelang.jit
def loops(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float16), Y: T.Tensor((M, N), T.float16)):
        with T.Kernel(M // 32, threads=128) as b:
            s = T.alloc_shared((32, N), T.float16)
            f = T.alloc_fragment((32, N), T.float16)
            for k in T.unroll(2, explicit=True):
                T.copy(X[b * 32, 0], s)
            for k in T.unroll(4):
                T.copy(s, f)
            for k in T.serial(2, 10, 2):
                T.copy(f, s)
            for i, j in T.grid(2, 3):
                T.copy(s, f)
            for k in range(1):
                T.copy(f, s)
            for k in range(N // 16, 0, -1):
                T.copy(s, f)
            T.copy(f, Y[b * 32, 0])

    return kern


@tilelang.jit
def variables(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float32), I: T.Tensor((M,), T.int32), n: T.int32, Y: T.Tensor((M, N), T.float32)):
        with T.Kernel(M // 4, threads=128) as b:
            s = T.alloc_shared((4, N), T.float32)
            at = T.alloc_var(T.int32, init=0)
            total = T.alloc_local((1,), T.float32)
            at = I[b]
            base: T.int32 = at * 2
            other = at + n
            total[0] = 0.0
            if at > 3 and n < 8:
                at += 1
            elif other == 2:
                at = 7
            else:
                T.copy(X[at, 0], s)
            while at < n:
                at = at + 1
            for j in T.Parallel(N):
                s[0, j] = X[base, j] if j < n else X[other, j]
            for j in T.serial(N):
                total[0] += s[0, j]
            Y[b, 0] = total[0]

    return kern


@tilelang.jit
def dispatch(M, N, mode="a", dtype="float16", stages=None, flags=(True, False)):
    options = {"a": dict(rows=32, bits=16), "b": dict(rows=64, bits=8)}
    chosen = options[mode]
    rows = chosen["rows"]
    elem = T.float8_e4m3fn if chosen["bits"] == 8 else getattr(T, dtype)
    depth = stages or 2
    sizes = []
    for i in range(2):
        sizes.append(rows * (i + 1))
    assert N % 64 == 0, "N"
    name = f"{mode}-{rows}"
    copy_rows = functools.partial(T.alloc_shared, dtype=elem)

    @T.prim_func
    def kern(X: T.Tensor([M, N], elem), Y: T.Tensor([M, N], elem)):
        with T.Kernel(T.ceildiv(M, rows), threads=64 * max(1, len(sizes))) as b:
            s = copy_rows((sizes[0], 64))
            t = copy_rows([sizes[-1], 64])
            for k in T.Pipelined(N // 64, num_stages=depth):
                T.copy(X[b * rows : b * rows + rows, k * 64 : k * 64 + 64], s)
                if flags[0]:
                    for i, j in T.Parallel(rows, 64):
                        t[i, j] = s[i, j]
                if flags[1] or name == "z":
                    T.clear(t)
                T.copy(t[0:rows, :], Y[b * rows, k * 64])

    return kern


@tilelang.jit
def ordered(M, N, K):
    @T.prim_func
    def kern(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(N // 64, M // 64, threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float")
            T.clear(c)
            for k in T.Pipelined(K // 32, order=[-1 + 1, 1, 2], stage=[0, 0, 1]):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullCol)
            T.copy(c, C[by * 64 : by * 64 + 64, bx * 64 : bx * 64 + 64])

    return kern


@tilelang.jit
def tiles_over_blocks(M, N, K, sms=8):
    @T.prim_func
    def kern(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(sms, threads=128) as block:
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            for bx, by in T.Persistent([T.ceildiv(M, 64), T.ceildiv(N, 64)], sms, block):
                T.clear(c)
                for k in T.Pipelined(K // 32, num_stages=2):
                    T.copy(A[bx * 64, k * 32], a)
                    T.copy(B[k * 32, by * 64], b)
                    T.gemm(a, b, c)
                T.copy(c, C[bx * 64, by * 64])

    return kern


@tilelang.jit
def roles(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(M // 64, threads=256) as b:
            s = T.alloc_shared((64, N), "float16")
            full = T.alloc_barrier(arrive_count=128)
            with T.ws(0):
                T.barrier_wait(full, 0)
                T.copy(s, Y[b * 64, 0])
            with T.ws(1):
                T.copy(X[b * 64, 0], s)
                T.barrier_arrive(full)

    return kern


@tilelang.jit
def shared_reductions(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(M // 16, threads=128) as b:
            s = T.alloc_shared((16, N), "float32")
            r = T.alloc_shared((16,), "float32")
            f = T.alloc_fragment((16,), "float32")
            T.copy(X[b * 16, 0], s)
            T.reduce_sum(s, r, dim=1)
            T.reduce_max(s, f, dim=-1, clear=False)
            T.reduce_sum(s, r, dim=1, clear=False)
            T.copy(r, Y[b * 16])

    return kern


@tilelang.jit
def views(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(M // 16, threads=128) as b:
            s = T.alloc_shared((16, N), "float16")
            flat = T.view(s, (16 * N,))
            again = T.reshape(s, (4, 4 * N))
            wide = T.view(s, (16, N // 2), dtype="float32")
            T.copy(X[b * 16, 0], s)
            for i in T.Parallel(16 * N):
                flat[i] = flat[i] + again[0, 0]
            for i, j in T.Parallel(16, N // 2):
                wide[i, j] = wide[i, j] * 2
            T.copy(s, Y[b * 16, 0])

    return kern


@tilelang.jit(pass_configs={"tl.disable_tma_lower": True})
def gather(M, N, K):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float16"), idx: T.Tensor((K,), "int32"), Y: T.Tensor((K, N), "float16"), S: T.Tensor((K, N), "float32")):
        with T.Kernel(K // 32, threads=128) as b:
            s = T.alloc_shared((32, N), "float16")
            where = T.alloc_shared((32,), "int32")
            T.copy(idx[b * 32 : b * 32 + 32], where)
            for t in T.Pipelined(4, num_stages=2):
                for i, j in T.Parallel(32, N):
                    s[i, j] = X[where[i], j]
                T.copy(s, Y[b * 32, 0])
                T.atomic_add(S[b * 32, 0], s)
            for i in T.serial(32):
                T.copy(X[idx[b * 32 + i], :], s[i, :])
                T.copy(X[idx[b * 32 + i] : idx[b * 32 + i] + 1, 0:N], s[i : i + 1, 0:N])

    return kern
