"""A matrix product in TileLang. The result goes through shared memory before it is stored."""

import tilelang
import tilelang.language as T
import torch


# tilefit: target=sm_90
@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, block_M=128, block_N=128, block_K=64, num_stages=3):
    @T.prim_func
    def product(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        C: T.Tensor((M, N), "float16"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            left = T.alloc_shared((block_M, block_K), "float16")
            right = T.alloc_shared((block_K, block_N), "float16")
            total = T.alloc_fragment((block_M, block_N), "float32")
            staged = T.alloc_shared((block_M, block_N), "float16")
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], left)
                T.copy(B[k * block_K, bx * block_N], right)
                T.gemm(left, right, total)
            T.copy(total, staged)
            T.copy(staged, C[by * block_M, bx * block_N])

    return product


if __name__ == "__main__":
    multiply = matmul(4096, 4096, 4096)
    a = torch.randn(4096, 4096, dtype=torch.float16, device="cuda")
    torch.testing.assert_close(multiply(a, a), a @ a, rtol=1e-2, atol=1.0)
