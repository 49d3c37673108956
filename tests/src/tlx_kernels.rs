//! TLX source of any size for benchmarks: attention forward as one writes it, with a spec, a reuse tree, barriers, tasks and configurations.

use std::fmt::Write as _;

const IMPORTS: &str = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n";

/// 74 lines with the blank ones before it. `NAME` stands for the name.
const KERNEL: &str = r#"

@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "STAGES": s}, num_warps=4)
        for m in [128]
        for n in [64, 128]
        for s in [2, 3]
    ],
    key=["N_CTX"],
)
@triton.jit
def NAME(desc_q, desc_k, desc_v, desc_o, N_CTX, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr,
         HEAD_DIM: tl.constexpr = 64, GROUPS: tl.constexpr = 2):
    # tilefit: desc_q=bf16 desc_k=bf16 desc_v=bf16 desc_o=bf16
    tl.static_assert(HEAD_DIM <= 128)
    HALF_M: tl.constexpr = BLOCK_M
    BYTES: tl.constexpr = HALF_M * HEAD_DIM * tlx.size_of(tlx.dtype_of(desc_q))
    # operands
    q_tiles = tlx.local_alloc((HALF_M, HEAD_DIM), tlx.dtype_of(desc_q), GROUPS)
    k_tiles = tlx.local_alloc((BLOCK_N, HEAD_DIM), tlx.dtype_of(desc_k), STAGES)
    v_tiles = tlx.local_alloc((BLOCK_N, HEAD_DIM), tlx.dtype_of(desc_v), STAGES)
    scratch = tlx.local_alloc(dtype=tl.float16, num=2, shape=[64, 64])
    # what the products leave, and what the softmax makes of it
    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    qk_tiles = tlx.local_alloc((HALF_M, BLOCK_N), tl.float32, GROUPS, tlx.storage_kind.tmem, reuse=spec)
    p_tiles = tlx.local_alloc((HALF_M, BLOCK_N), tlx.dtype_of(desc_v), GROUPS, tlx.storage_kind.tmem, reuse=spec)
    alpha_tiles = tlx.local_alloc((HALF_M, 1), tl.float32, GROUPS, tlx.storage_kind.tmem, reuse=spec)
    l_tiles = tlx.local_alloc((HALF_M, 1), tl.float32, GROUPS, tlx.storage_kind.tmem, reuse=spec)
    spec.set_buffer_overlap(
        tlx.reuse_group(
            qk_tiles,
            tlx.reuse_group(p_tiles, alpha_tiles, l_tiles, group_type=tlx.reuse_group_type.distinct),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    acc_tiles = tlx.local_alloc((HALF_M, HEAD_DIM), tl.float32, GROUPS, tlx.storage_kind.tmem)
    q_fulls = tlx.alloc_barriers(num_barriers=GROUPS)
    kv_fulls = tlx.alloc_barriers(num_barriers=STAGES)
    kv_empties = tlx.alloc_barriers(num_barriers=STAGES, arrive_count=2)
    qk_fulls = tlx.alloc_barriers(num_barriers=GROUPS)
    p_fulls = tlx.alloc_barriers(num_barriers=GROUPS)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            for group in tl.static_range(GROUPS):
                tlx.barrier_wait(qk_fulls[group], 0)
                scores = tlx.local_load(qk_tiles[group])
                top = tl.max(scores, 1)
                p = tl.exp2(scores - top[:, None])
                tlx.local_store(alpha_tiles[group], top[:, None])
                tlx.local_store(l_tiles[group], tl.sum(p, 1)[:, None])
                tlx.local_store(p_tiles[group], p.to(tlx.dtype_of(desc_v)))
                tlx.local_store(scratch[0], p.to(tl.float16))
                tlx.barrier_arrive(p_fulls[group])
        with tlx.async_task(num_warps=1, num_regs=24):
            phase = 0
            for start in range(0, N_CTX, BLOCK_N):
                slot = (start // BLOCK_N) % STAGES
                tlx.barrier_wait(kv_fulls[slot], phase)
                for group in tl.static_range(GROUPS):
                    k = tlx.local_trans(k_tiles[slot])
                    tlx.async_dot(q_tiles[group], k, qk_tiles[group], use_acc=False, mBarriers=[qk_fulls[group]])
                    tlx.barrier_wait(p_fulls[group], phase)
                    tlx.async_dot(p_tiles[group], v_tiles[slot], acc_tiles[group], mBarriers=[kv_empties[slot]])
                phase = phase ^ (slot == STAGES - 1)
        with tlx.async_task(num_warps=1, num_regs=24):
            for group in tl.static_range(GROUPS):
                tlx.barrier_expect_bytes(q_fulls[group], BYTES)
                tlx.async_descriptor_load(desc_q, q_tiles[group], [group * HALF_M, 0], q_fulls[group])
            for start in range(0, N_CTX, BLOCK_N):
                slot = (start // BLOCK_N) % STAGES
                tlx.barrier_wait(kv_empties[slot], 1)
                tlx.async_descriptor_load(desc_k, k_tiles[slot], [start, 0], kv_fulls[slot])
                tlx.async_descriptor_load(desc_v, v_tiles[slot], [start, 0], kv_fulls[slot])
"#;

/// A file with `count` kernels that fit into the memory of a Blackwell GPU.
pub fn source(count: usize) -> String {
    let mut text = IMPORTS.to_owned();
    for index in 0..count {
        let _ = write!(text, "{}", KERNEL.replace("NAME", &format!("attention{index}")));
    }
    text
}
