import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def kernel(c, K, NS: tl.constexpr):
    D = tlx.local_alloc((128, 64), tl.float32, 2, tlx.storage_kind.tmem)
    S = tlx.local_alloc((128, 64), tl.float32, 1)
    bars = tlx.alloc_barriers(num_barriers=2)
    o = tl.arange(0, 128)[:, None] * 64 + tl.arange(0, 64)[None, :]
    ci = c.to(tl.pointer_type(tl.int32))
    for k in tl.range(0, K, num_stages=NS):
        j = tl.load(ci + k)
        x = tl.load(c + j * 8192 + o)
        tlx.local_store(D[0], x)
    tl.store(c + o, tlx.local_load(D[0]))
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 1}, "divisible": ["c"]}
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 2}, "divisible": ["c"]}
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 3}, "divisible": ["c"]}
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 4}, "divisible": ["c"]}
