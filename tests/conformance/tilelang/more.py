import math
import tilelang
import tilelang.language as T
from tilelang.layout import make_swizzled_layout
from typing import Optional

M0 = T.dynamic("m0")


@T.prim_func
def alone(X: T.Tensor((M0, 128), "float16"), Y: T.Tensor((M0, 128), "float16")):
    with T.Kernel(T.ceildiv(M0, 32), threads=(32, 4)) as bx:
        tx, ty, tz = T.get_thread_bindings()
        s = T.alloc_shared([32, 128], "float16")
        T.copy(X[bx * 32, 0], s)
        if tx == 0 and ty < 2:
            s[0, 0] = 1.0
        T.sync_threads()
        T.copy(s, Y[bx * 32, 0])


def plain(M, N, dtype="bfloat16", block: int = 64, thr: Optional[int] = None):
    thr = thr if thr is not None else 128

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Buffer((M, N), dtype)):
        bx, by = T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=thr)
        s = T.alloc_shared((block, block), dtype)
        T.annotate_layout({s: make_swizzled_layout(s)})
        T.copy(A[by * block, bx * block], s)
        T.copy(s, B[by * block, bx * block])

    return main


@tilelang.jit
def eager_tuned(A, B, rows: int = 64, cols: int = 64, dtype: T.dtype = T.float16):
    M, N = T.const("M N")
    A: T.Tensor[[M, N], dtype]
    B: T.Tensor[[M, N], dtype]
    C = T.empty((M, N), dtype)
    D = T.empty([M], dtype=T.float32)
    with T.Kernel(T.ceildiv(M, rows), T.ceildiv(N, cols)) as (i, j):
        sa = T.alloc_shared((rows, cols), A.dtype)
        fb = T.alloc_fragment(sa.shape, dtype)
        T.copy(A[i * rows : (i + 1) * rows, j * cols], sa)
        T.copy(B[i * rows, j * cols : j * cols + cols], fb)
        for r, c in T.Parallel(rows, cols):
            fb[r, c] = T.max(fb[r, c] + sa[r, c], T.cast(0, dtype))
        T.copy(fb, C[i * rows, j * cols])
        for r in T.Parallel(rows):
            D[i * rows + r] = T.float32(0)
    return C, D


@tilelang.jit
def swap(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float16), Y: T.Tensor((M, N), T.float16)):
        with T.Kernel(M // 32, threads=128) as b:
            one = T.alloc_fragment((32, N), T.float16)
            two = T.alloc_fragment((32, N), T.float16)
            p, q = one, two
            T.copy(X[b * 32, 0], p)
            for k in T.serial(4):
                for i, j in T.Parallel(32, N):
                    q[i, j] = p[i, j] * T.float16(2)
                T.copy(q, p)
            T.copy(p, Y[b * 32, 0])

    return kern


@tilelang.jit
def masks(M, N, window=None, sink=False, use_tma=True, kinds=("x", "y")):
    scale = 1.0 / math.sqrt(N) * 1.44
    n_blocks = math.ceil(M / 48)
    has = {k: i for i, k in enumerate(kinds)}

    @T.macro
    def softmax_step(s, top: T.FragmentBuffer([16], "float32"), k, limit):
        T.reduce_max(s, top, dim=1, clear=False)
        lo = T.max(0, k - limit)
        for i, j in T.Parallel(16, 32):
            s[i, j] = T.if_then_else(j >= lo, s[i, j] * scale, -T.infinity("float32"))
        return lo

    @T.prim_func
    def kern(X: T.Tensor((M, N), T.float32), L: T.Tensor((n_blocks,), T.int32), Y: T.Tensor((M,), T.float32)):
        with T.Kernel(n_blocks, threads=128) as b:
            s = T.alloc_fragment((16, 32), "float32")
            top = T.alloc_fragment((16,), "float32")
            T.fill(top, -T.infinity("float32"))
            end = L[b]
            start = T.max(0, end - window) if window is not None else 0
            for k in T.Pipelined(start, T.ceildiv(end, 32), num_stages=2 if use_tma else 1):
                T.copy(X[b * 16, k * 32], s)
                lo = softmax_step(s, top, k, 3)
                if lo > 2:
                    T.clear(s)
                if "x" in has and has["x"] == 0 and not sink:
                    for i in T.Parallel(16):
                        top[i] = top[i] + s[i, 0]
            for i in T.Parallel(16):
                if b * 16 + i < M:
                    Y[b * 16 + i] = top[i]
            loaded = T.alloc_local((4,), "float32")
            for v in T.vectorized(4):
                loaded[v] = X[b, v]
            for k in range(2):
                if k == 1:
                    continue
                T.clear(s)
            for k in T.serial(8):
                if loaded[0] > 1:
                    break
                T.clear(s)

    return kern


@tilelang.jit
def sizes_inside(M, N):
    @T.prim_func
    def kern(X: T.Tensor((M, N), "float16"), Y: T.Tensor((N, M), "float16")):
        with T.Kernel(M // 32, N // 64, threads=128) as (bx, by):
            rows, cols = 32, 64
            half = cols // 2
            a = T.alloc_shared((rows, cols), "float16", scope="shared")
            flags = T.alloc_shared((rows,), "bool")
            t = T.alloc_shared((cols, rows), "float16")
            row0 = bx * rows
            T.copy(X[row0 : row0 + rows, by * cols : by * cols + half], a[:, 0:half])
            T.copy(X[row0 : row0 + rows, by * cols + half : (by + 1) * cols], a[:, half:])
            T.transpose(a, t)
            for i in T.Parallel(rows):
                flags[i] = a[i, 0] > a[i, 1]
            T.copy(t[:, :], Y[by * cols, row0])

    return kern
