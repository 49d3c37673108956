#!/usr/bin/env python3
"""Random TLX kernels in the style that people write, with the compiler's answers.

usage: tlx_kernels.py OUT --oracle ORACLE.py [--seed 1] [--cells 100] [--family NAME] [--refusals FILE]      (Python with triton and the TLX plugin)
"""
from kernel_writer import BYTES, TL_NAMES, Kernel, Lines, Names, generate

HEADER = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n"
TMEM = "tlx.storage_kind.tmem"


class Draft:
    """One kernel under way: its parameters, helpers and body."""

    def __init__(self, r, family):
        self.r, self.family, self.n = r, family, Names(r)
        self.params, self.helpers, self.body = [], [], Lines(1)
        self.header = HEADER

    def param(self, name, constexpr=False, default=None):
        self.params.append(f"{name}: tl.constexpr" + (f" = {default}" if default is not None else "") if constexpr else name)
        return name

    def helper(self, text):
        if text not in self.helpers:
            self.helpers.append(text)

    def kernel(self, cases, refused=False):
        r = self.r
        plain = [p for p in self.params if ": tl.constexpr" not in p]
        fixed = [p for p in self.params if ": tl.constexpr" in p and "=" not in p]
        filled = [p for p in self.params if ": tl.constexpr" in p and "=" in p]
        params = plain + fixed + filled
        one = ", ".join(params)
        decorator = r.choice(["@triton.jit"] * 5 + ["@triton.jit()"])
        if len(one) < 100 and r.random() < .7:
            head = f"{decorator}\ndef {self.n.kernel}({one}):"
        else:
            head = f"{decorator}\ndef {self.n.kernel}(\n" + "".join(f"    {p},\n" for p in params) + "):"
        parts = [self.header] + [h.strip("\n") + "\n" for h in self.helpers] + [head + "\n" + self.body.text() + "\n"]
        return Kernel(self.family, "\n\n".join(p.rstrip("\n") for p in parts) + "\n", cases, self.n.kernel, "tlx", refused)


OFFSETS = """
@triton.jit
def tile_offsets(ROWS: tl.constexpr, COLUMNS: tl.constexpr, stride):
    return tl.arange(0, ROWS)[:, None] * stride + tl.arange(0, COLUMNS)[None, :]
"""
GROUPED = """
@triton.jit
def swizzle_tile(tile_id, num_pid_m, num_pid_n, GROUP_SIZE_M: tl.constexpr):
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = tile_id // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((tile_id % num_pid_in_group) % group_size_m)
    pid_n = (tile_id % num_pid_in_group) // group_size_m
    return pid_m, pid_n
"""
RING = """
@triton.jit
def slot_and_phase(count, SLOTS: tl.constexpr):
    return count % SLOTS, (count // SLOTS) & 1
"""
ACTIVATIONS = {
    "relu": "@triton.jit\ndef relu(x):\n    return tl.maximum(x, 0.0)\n",
    "silu": "@triton.jit\ndef silu(x):\n    return x * tl.sigmoid(x)\n",
    "gelu": "@triton.jit\ndef gelu(x):\n    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))\n",
    "leaky": "@triton.jit\ndef leaky(x, slope):\n    return tl.where(x >= 0, x, x * slope)\n",
}


def tensordesc(dtype, *shape):
    return f"tensordesc<{dtype}[{','.join(map(str, shape))}]>"


def ring(d, count, slots):
    """The slot and phase of a count, as one of the ways that people write."""
    r = d.r
    way = r.randrange(4)
    if way == 0:
        d.helper(RING)
        return f"s, p = slot_and_phase({count}, {slots})"
    if way == 1 and "get_bufidx_phase" not in d.header:
        d.header = d.header + "from triton.language.extra.tlx.warp_spec import get_bufidx_phase\n"
    if way == 1:
        return f"s, p = get_bufidx_phase({count}, {slots})"
    if way == 2:
        return f"s = {count} % {slots}\np = ({count} // {slots}) & 1"
    return f"s = {count} % {slots}\np = ({count} // {slots}) % 2"


def loop(d, name, start, stop, step=None, stages=None, kinds=("range", "tl.range", "while")):
    """Head of a loop over [start, stop): (head, statement at the end of the body or None, statement before it or None)."""
    r = d.r
    kind = r.choice(kinds)
    if kind == "while":
        return f"while {name} < {stop}:", f"{name} += {step or 1}", f"{name} = {start}"
    span = f"{start}, {stop}" + (f", {step}" if step else "") if step or str(start) != "0" or r.random() < .4 else f"{stop}"
    if kind == "range":
        return f"for {name} in range({span}):", None, None
    words = []
    if stages is not None:
        words.append(f"num_stages={stages}")
    elif r.random() < .3:
        words.append(f"num_stages={r.randrange(5)}")
    if r.random() < .08:
        words.append(f"loop_unroll_factor={r.choice([1, 2, 4])}")
    if r.random() < .06:
        words.append("disallow_acc_multi_buffer=True")
    if r.random() < .06:
        words.append("flatten=True")
    return f"for {name} in tl.range({', '.join([span] + words)}):", None, None


def options(r, warps=(4, 4, 8), stages=(None, None, 0, 1, 2, 3, 4)):
    found = dict(num_warps=r.choice(warps))
    chosen = r.choice(stages)
    if chosen is not None:
        found["num_stages"] = chosen
    return found


def epilogue(d, w, acc, rows, columns, row0, column0, out_dtype_of, how, stage_name="c_tile"):
    """Write the register tile `acc` to memory in the way `how`: pointer, desc, staged, halves."""
    r, n = d.r, d.n
    for fn in r.sample(list(ACTIVATIONS), r.choice([0, 0, 1])):
        d.helper(ACTIVATIONS[fn])
        w(f"{acc} = {fn}({acc}{', 0.01' if fn == 'leaky' else ''})")
    if how == "pointer":
        w(f"offs_m = {row0} + tl.arange(0, {rows})")
        w(f"offs_n = {column0} + tl.arange(0, {columns})")
        mask = r.choice(["", ", mask=(offs_m[:, None] < M) & (offs_n[None, :] < N)"]) if "M" in d.params and "N" in d.params else ""
        w(f"tl.store({out_dtype_of} + offs_m[:, None] * N + offs_n[None, :], {acc}.to({out_dtype_of}.dtype.element_ty){mask})")
    elif how == "desc":
        w(f"{out_dtype_of}.store([{row0}, {column0}], {acc}.to(tlx.dtype_of({out_dtype_of})))")
    elif how == "staged":
        w(f"tlx.local_store({stage_name}[0], {acc}.to(tlx.dtype_of({out_dtype_of})))")
        if r.random() < .5:
            w("tlx.fence_async_shared()")
        w(f"tlx.async_descriptor_store({out_dtype_of}, {stage_name}[0], [{row0}, {column0}])")
        w("tlx.async_descriptor_store_wait(0)")


def product_parameters(d, with_desc):
    n = d.n
    names = [n.desc(x) if with_desc else n.ptr(x) for x in (n.a, n.b, n.c)]
    for x in names:
        d.param(x)
    for x in ("M", "N", "K"):
        d.param(x)
    for x in (n.M, n.N, n.K, n.stages):
        d.param(x, True)
    return names


# ---- products without tasks ---------------------------------------------------------------------------------------------
def ring_product(r, arch):
    """A ring of tiles filled ahead: cp.async or TMA, wgmma or tcgen05, no tasks."""
    d = Draft(r, f"ring_product_{arch}")
    n, w = d.n, d.body
    tma = r.random() < .6
    device = tma and r.random() < .35
    a, b, c = product_parameters(d, tma and not device)
    a_type = b_type = None
    eltype = lambda x: f"tlx.dtype_of({x})"
    trans_b = r.random() < .25
    d_warps = (4, 8)
    way = r.choice(["pointer"] * 3 + (["desc", "staged", "desc"] if tma else []))
    if not tma:
        d.param("stride_am"), d.param("stride_bk")
    w("pid_m = tl.program_id(0)")
    w("pid_n = tl.program_id(1)")
    if device:
        maker = "tl.make_tensor_descriptor"
        w(f"desc_a = {maker}({a}, shape=[M, K], strides=[K, 1], block_shape=[{n.M}, {n.K}])")
        w(f"desc_b = {maker}({b}, shape=[{'N, K' if trans_b else 'K, N'}], strides=[{'K' if trans_b else 'N'}, 1], block_shape=[{f'{n.N}, {n.K}' if trans_b else f'{n.K}, {n.N}'}])")
        da, db, dc = "desc_a", "desc_b", c
        if way != "pointer":
            w(f"desc_c = {maker}({c}, shape=[M, N], strides=[N, 1], block_shape=[{n.M}, {n.N}])")
            dc = "desc_c"
    else:
        da, db, dc = a, b, c
    b_shape = f"{n.N}, {n.K}" if trans_b else f"{n.K}, {n.N}"
    w(f"buf_a = tlx.local_alloc(({n.M}, {n.K}), {eltype(a)}, {n.stages})")
    w(f"buf_b = tlx.local_alloc(({b_shape}), {eltype(b)}, {n.stages})")
    if tma:
        w(f"full = tlx.alloc_barriers(num_barriers={n.stages}{r.choice(['', ', arrive_count=1'])})")
    tmem = arch == 100
    if tmem:
        w(f"done = tlx.alloc_barriers(num_barriers={n.stages})")
        w(f"acc_tile = tlx.local_alloc(({n.M}, {n.N}), tl.float32, {r.choice(['1', 'tl.constexpr(1)'])}, {TMEM})")
    if way == "staged" and r.random() < .5:
        w(f"c_tile = tlx.local_alloc(({n.M}, {n.N}), tlx.dtype_of({c}), 1)")
        early = True
    else:
        early = False
    if not tma:
        w(f"offs_m = pid_m * {n.M} + tl.arange(0, {n.M})")
        w(f"offs_n = pid_n * {n.N} + tl.arange(0, {n.N})")
        w(f"offs_k = tl.arange(0, {n.K})")
        w(f"a_ptrs = {a} + offs_m[:, None] * stride_am + offs_k[None, :]")
        if trans_b:
            w(f"b_ptrs = {b} + offs_n[:, None] * stride_bk + offs_k[None, :]")
        else:
            w(f"b_ptrs = {b} + offs_k[:, None] * stride_bk + offs_n[None, :]")

    masked = r.random() < .6

    def fill(slot, k, guard=None):
        if tma:
            w(f"tlx.barrier_expect_bytes(full[{slot}], ({n.M} + {n.N}) * {n.K} * tlx.size_of({eltype(a)}))")
            w(f"tlx.async_descriptor_load({da}, buf_a[{slot}], [pid_m * {n.M}, ({k}) * {n.K}], full[{slot}])")
            place = f"[pid_n * {n.N}, ({k}) * {n.K}]" if trans_b else f"[({k}) * {n.K}, pid_n * {n.N}]"
            w(f"tlx.async_descriptor_load({db}, buf_b[{slot}], {place}, full[{slot}])")
        else:
            mask_a = f", mask=offs_k[None, :] < K - ({k}) * {n.K}" if masked else ""
            mask_b = (f", mask=offs_k[None, :] < K - ({k}) * {n.K}" if trans_b else f", mask=offs_k[:, None] < K - ({k}) * {n.K}") if masked else ""
            w(f"token_a = tlx.async_load(a_ptrs, tlx.local_view(buf_a, {slot}){mask_a})")
            w(f"token_b = tlx.async_load(b_ptrs, tlx.local_view(buf_b, {slot}){mask_b})")
            w("tlx.async_load_commit_group([token_a, token_b])")
            w(f"a_ptrs += {n.K}")
            w(f"b_ptrs += {n.K}" + ("" if trans_b else " * stride_bk"))
    i = n.i
    ahead = r.choice([f"{n.stages} - 1", f"{n.stages} - 1", "1"])
    head = r.choice([f"for {i} in tl.range(0, {ahead}, loop_unroll_factor={ahead}):", f"for {i} in tl.static_range({ahead}):", f"for {i} in range({ahead}):"])
    with w.under(head):
        fill(i, i)
    if not tmem:
        w(f"{n.acc} = tl.zeros(({n.M}, {n.N}), dtype=tl.float32)")
    elif r.random() < .6:
        w(f"tlx.local_store(acc_tile[0], tl.zeros(({n.M}, {n.N}), tl.float32))")
        zeroed = True
    w(f"n_steps = tl.cdiv(K, {n.K})")
    head, last, first = loop(d, i, "0", "n_steps", stages=r.choice([None, None, 0, 1, 2, 3, n.stages]))
    if first:
        w(first)
    prefetch_first = r.random() < .5
    with w.under(head):
        w(f"slot = {i} % {n.stages}")
        if tma:
            w(f"tlx.barrier_wait(full[slot], ({i} // {n.stages}) & 1)")
        else:
            w(f"tlx.async_load_wait_group({r.choice(['0', ahead + ' - 1' if ahead != '1' else '0'])})")
        right = "tlx.local_trans(buf_b[slot])" if trans_b else "buf_b[slot]"
        if tmem:
            use = r.choice(["", f", use_acc={i} > 0"])
            w(f"tlx.async_dot(buf_a[slot], {right}, acc_tile[0]{use}, mBarriers=[done[slot]]{r.choice(['', ', out_dtype=tl.float32'])})")
            if r.random() < .6:
                w(f"tlx.barrier_wait(done[slot], ({i} // {n.stages}) & 1)")
        else:
            w(f"{n.acc} = tlx.async_dot(buf_a[slot], {right}, {n.acc})")
            w(f"{n.acc} = tlx.async_dot_wait({r.choice(['0', '1'])}, {n.acc})")
        w(f"ahead = {i} + {ahead}")
        if tma or r.random() < .5:
            with w.under("if ahead < n_steps:"):
                if tma:
                    fill(f"ahead % {n.stages}", "ahead")
                else:
                    w("pass")
            if not tma:
                fill(f"ahead % {n.stages}", "ahead")
        else:
            fill(f"ahead % {n.stages}", "ahead")
        if last:
            w(last)
    if tmem:
        if r.random() < .5:
            w(f"tlx.barrier_wait(done[(n_steps - 1) % {n.stages}], ((n_steps - 1) // {n.stages}) & 1)")
        w(f"{n.acc} = tlx.local_load(acc_tile[0])")
    else:
        w(f"{n.acc} = tlx.async_dot_wait(0, {n.acc})")
    if way == "staged" and not early:
        w(f"c_tile = tlx.local_alloc(({n.M}, {n.N}), tlx.dtype_of({c}), {r.choice(['1', 'tl.constexpr(1)'])})")
    epilogue(d, w, n.acc, n.M, n.N, f"pid_m * {n.M}", f"pid_n * {n.N}", dc if way != "staged" else dc, way)

    def case():
        bm, bn, bk = r.choice([64, 128, 128, 256] if not tmem else [64, 128, 128]), r.choice([32, 64, 128, 128, 256]), r.choice([32, 64, 64, 128])
        dtype = r.choice(["fp16", "bf16", "fp16", "bf16", "fp32", "fp8e4nv"])
        out = r.choice([dtype if dtype != "fp8e4nv" else "fp16", "fp16", "fp32", "bf16"])
        ptrs = []
        if tma and not device:
            signature = {a: tensordesc(dtype, bm, bk), b: tensordesc(dtype, *((bn, bk) if trans_b else (bk, bn))), c: tensordesc(out, bm, bn)}
            if way == "pointer":
                signature[c] = "*" + out
                ptrs = [c]
        else:
            signature = {a: "*" + dtype, b: "*" + dtype, c: "*" + out}
            ptrs = [a, b, c]
        for x in ("M", "N", "K"):
            signature[x] = "i32"
        divisible = list(ptrs) + [x for x in ("M", "N", "K") if r.random() < .6]
        if not tma:
            signature["stride_am"] = signature["stride_bk"] = "i32"
            divisible += ["stride_am", "stride_bk"]
        return dict(target=f"cuda:{arch}", options=options(r, d_warps), signature=signature,
                    constexprs={n.M: bm, n.N: bn, n.K: bk, n.stages: r.choice([2, 2, 3, 3, 4])}, divisible=divisible)
    return d.kernel([case() for _ in range(2)])


# ---- products with tasks --------------------------------------------------------------------------------------------------
def task_product(r, arch):
    """Producer, consumers and an epilogue in tasks; persistent or not; subtiles; groups."""
    d = Draft(r, f"task_product_{arch}")
    n, w, i = d.n, d.body, d.n.i
    tmem = arch == 100
    a, b, c = [n.desc(x) for x in (n.a, n.b, n.c)]
    for x in (a, b, c, "M", "N", "K"):
        d.param(x)
    extra = r.choice([None, None, "scale", "bias_ptr"])
    if extra:
        d.param(extra)
    for x in (n.M, n.N, n.K, n.stages, n.groups):
        d.param(x, True)
    persistent = r.choice([None, None, "for", "while"])
    if persistent:
        d.param("GROUP_SIZE_M", True, r.choice([None, 8]))
        d.param("NUM_SMS", True, r.choice([None, 132]))
    sub = r.random() < .5
    if sub:
        d.param(n.subtiles, True)
    trans_b = r.random() < .3
    way = r.choice(["pointer", "desc", "staged", "staged"])
    w(f"{n.M}_SPLIT: tl.constexpr = {n.M} // {n.groups}")
    half = f"{n.M}_SPLIT"
    b_shape = f"({n.N}, {n.K})" if trans_b else f"({n.K}, {n.N})"
    rows = [lambda: w(f"tiles_a = tlx.local_alloc(({half}, {n.K}), tlx.dtype_of({a}), {n.stages} * {n.groups})"),
            lambda: w(f"tiles_b = tlx.local_alloc({b_shape}, tlx.dtype_of({b}), {n.stages})"),
            lambda: w(f"full_a = tlx.alloc_barriers(num_barriers={n.stages} * {n.groups}, arrive_count=1)"),
            lambda: w(f"empty_a = tlx.alloc_barriers(num_barriers={n.stages} * {n.groups}, arrive_count=1)"),
            lambda: w(f"full_b = tlx.alloc_barriers(num_barriers={n.stages}, arrive_count=1)"),
            lambda: w(f"empty_b = tlx.alloc_barriers(num_barriers={n.stages}, arrive_count={n.groups})")]
    if r.random() < .5:
        r.shuffle(rows)
    for row in rows:
        row()
    width = n.N
    if sub:
        w(f"slice_n: tl.constexpr = {n.N} // {n.subtiles}")
        width = "slice_n"
    if tmem:
        slots = r.choice(["1", "2"])
        w(f"acc_tiles = tlx.local_alloc(({half}, {n.N}), tl.float32, {n.groups} * {slots}, {TMEM})")
        w(f"acc_full = tlx.alloc_barriers(num_barriers={n.groups} * {slots})")
        w(f"acc_empty = tlx.alloc_barriers(num_barriers={n.groups} * {slots})")
    if way == "staged":
        copies = r.choice(["1", "2", n.groups])
        w(f"c_tile = tlx.local_alloc(({half}, {width}), tlx.dtype_of({c}), {copies})")

    def tiles(body):
        """`body` for each tile that this program works on"""
        if not persistent:
            w("pid_m = tl.program_id(0)")
            w("pid_n = tl.program_id(1)")
            return body()
        d.helper(GROUPED)
        w(f"num_pid_m = tl.cdiv(M, {n.M})")
        w(f"num_pid_n = tl.cdiv(N, {n.N})")
        if persistent == "for":
            with w.under("for tile_id in " + r.choice(["range", "tl.range"]) + "(tl.program_id(0), num_pid_m * num_pid_n, NUM_SMS):"):
                w("pid_m, pid_n = swizzle_tile(tile_id, num_pid_m, num_pid_n, GROUP_SIZE_M)")
                body()
        else:
            w("tile_id = tl.program_id(0)")
            with w.under("while tile_id < num_pid_m * num_pid_n:"):
                w("pid_m, pid_n = swizzle_tile(tile_id, num_pid_m, num_pid_n, GROUP_SIZE_M)")
                body()
                w("tile_id += NUM_SMS")

    def produce():
        w("count = 0")

        def body():
            w(f"steps = tl.cdiv(K, {n.K})")
            head, last, first = loop(d, i, "0", "steps", kinds=("range", "tl.range", "range", "while"))
            if first:
                w(first)
            with w.under(head):
                w(ring(d, "count", n.stages))
                w("tlx.barrier_wait(empty_b[s], p ^ 1)")
                w(f"tlx.barrier_expect_bytes(full_b[s], {n.K} * {n.N} * tlx.size_of(tlx.dtype_of({b})))")
                place = f"[pid_n * {n.N}, {i} * {n.K}]" if trans_b else f"[{i} * {n.K}, pid_n * {n.N}]"
                w(f"tlx.async_descriptor_load({b}, tiles_b[s], {place}, full_b[s])")
                with w.under(r.choice([f"for g in tl.static_range({n.groups}):", f"for g in tl.range(0, {n.groups}, loop_unroll_factor={n.groups}):"])):
                    w(f"at = s + g * {n.stages}")
                    w("tlx.barrier_wait(empty_a[at], p ^ 1)")
                    w(f"tlx.barrier_expect_bytes(full_a[at], {half} * {n.K} * tlx.size_of(tlx.dtype_of({a})))")
                    w(f"tlx.async_descriptor_load({a}, tiles_a[at], [pid_m * {n.M} + g * {half}, {i} * {n.K}], full_a[at])")
                w("count += 1")
                if last:
                    w(last)
        tiles(body)

    def out(acc, row0, tile, group):
        """write one register tile (or a subtile of tensor memory)"""
        if extra == "scale":
            w(f"{acc} = {acc} * scale")
        if way == "staged":
            slot = {"1": "0", "2": r.choice(["0", "1"]), n.groups: group}[copies]
            w(f"tlx.async_descriptor_store_wait(0)")
            w(f"tlx.local_store(c_tile[{slot}], {acc}.to(tlx.dtype_of({c})))")
            if r.random() < .4:
                w("tlx.fence_async_shared()")
            w(f"tlx.async_descriptor_store({c}, c_tile[{slot}], [{row0}, {tile}])")
        elif way == "desc":
            w(f"{c}.store([{row0}, {tile}], {acc}.to(tlx.dtype_of({c})))")
        else:
            w(f"offs_m = {row0} + tl.arange(0, {half})")
            w(f"offs_n = {tile} + tl.arange(0, {width})")
            w(f"tl.store({c} + offs_m[:, None] * N + offs_n[None, :], {acc}.to(tlx.dtype_of({c})), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))")

    def bias(acc, tile, width):
        if extra == "bias_ptr":
            w(f"bias = tl.load(bias_ptr + {tile} + tl.arange(0, {width}))")
            w(f"{acc} = {acc} + bias[None, :].to(tl.float32)")

    def consume_registers():
        w(f"g = tlx.async_task_replica_id()" if replicate else "g = 0")
        w("count = 0")

        def body():
            w(f"{n.acc} = tl.zeros(({half}, {n.N}), tl.float32)")
            w(f"steps = tl.cdiv(K, {n.K})")
            head, last, first = loop(d, i, "0", "steps")
            if first:
                w(first)
            with w.under(head):
                w(ring(d, "count", n.stages))
                w(f"at = s + g * {n.stages}")
                w("tlx.barrier_wait(full_a[at], p)")
                w("tlx.barrier_wait(full_b[s], p)")
                right = "tlx.local_trans(tiles_b[s])" if trans_b else "tiles_b[s]"
                w(f"{n.acc} = tlx.async_dot(tiles_a[at], {right}, {n.acc})")
                w(f"{n.acc} = tlx.async_dot_wait(0, {n.acc})")
                w("tlx.barrier_arrive(empty_a[at], 1)")
                w("tlx.barrier_arrive(empty_b[s], 1)")
                w("count += 1")
                if last:
                    w(last)
            if not sub:
                bias(n.acc, f"pid_n * {n.N}", n.N)
                out(n.acc, f"pid_m * {n.M} + g * {half}", f"pid_n * {n.N}", "g")
            else:  # halves of the registers
                w(f"{n.acc} = tl.reshape({n.acc}, ({half}, 2, {n.N} // 2))")
                w(f"{n.acc} = tl.permute({n.acc}, (0, 2, 1))")
                w(f"left, right = tl.split({n.acc})")
                out("left", f"pid_m * {n.M} + g * {half}", f"pid_n * {n.N}", "g")
                out("right", f"pid_m * {n.M} + g * {half}", f"pid_n * {n.N} + {n.N} // 2", "g")
        tiles(body)
        if way == "staged":
            w("tlx.async_descriptor_store_wait(0)")

    def multiply_tensor_memory():
        w("count = 0")
        w("tile_count = 0")

        def body():
            w(f"buf = tile_count % {slots}")
            w(f"parity = (tile_count // {slots}) & 1")
            w(f"steps = tl.cdiv(K, {n.K})")
            with w.under(f"for g in tl.static_range({n.groups}):"):
                w(f"tlx.barrier_wait(acc_empty[buf + g * {slots}], parity ^ 1)")
            head, last, first = loop(d, i, "0", "steps")
            if first:
                w(first)
            with w.under(head):
                w(ring(d, "count", n.stages))
                w("tlx.barrier_wait(full_b[s], p)")
                right = "tlx.local_trans(tiles_b[s])" if trans_b else "tiles_b[s]"
                with w.under(f"for g in tl.static_range({n.groups}):"):
                    w(f"at = s + g * {n.stages}")
                    w("tlx.barrier_wait(full_a[at], p)")
                    w(f"tlx.async_dot(tiles_a[at], {right}, acc_tiles[buf + g * {slots}], use_acc={i} > 0, mBarriers=[empty_a[at], empty_b[s]]{r.choice(['', ', out_dtype=tl.float32'])})")
                w("count += 1")
                if last:
                    w(last)
            with w.under(f"for g in tl.static_range({n.groups}):"):
                w(f"tlx.tcgen05_commit(acc_full[buf + g * {slots}])")
            w("tile_count += 1")
        tiles(body)

    def drain_tensor_memory():
        w("tile_count = 0")

        def body():
            w(f"buf = tile_count % {slots}")
            w(f"parity = (tile_count // {slots}) & 1")
            with w.under(f"for g in tl.static_range({n.groups}):"):
                w(f"tlx.barrier_wait(acc_full[buf + g * {slots}], parity)")
                if sub:
                    with w.under(f"for part in tl.static_range({n.subtiles}):"):
                        cut = r.choice([f"tlx.local_slice(acc_tiles[buf + g * {slots}], [0, part * slice_n], [{half}, slice_n])", f"tlx.subslice(acc_tiles[buf + g * {slots}], part * slice_n, slice_n)"])
                        w(f"{n.acc} = tlx.local_load({cut})")
                        bias(n.acc, f"pid_n * {n.N} + part * slice_n", "slice_n")
                        out(n.acc, f"pid_m * {n.M} + g * {half}", f"pid_n * {n.N} + part * slice_n", "g")
                else:
                    w(f"{n.acc} = tlx.local_load(acc_tiles[buf + g * {slots}])")
                    bias(n.acc, f"pid_n * {n.N}", n.N)
                    out(n.acc, f"pid_m * {n.M} + g * {half}", f"pid_n * {n.N}", "g")
                w(f"tlx.barrier_arrive(acc_empty[buf + g * {slots}], 1)")
            w("tile_count += 1")
        tiles(body)
        if way == "staged":
            w("tlx.async_descriptor_store_wait(0)")

    said = r.choice(["", "registers", "num_regs"])  # all tasks beside the default one, or none
    registers = lambda: said and f", {said}={r.choice([24, 152, 232])}"
    replicate = False
    with w.under("with tlx.async_tasks():"):
        if tmem:
            with w.under('with tlx.async_task("default"):'):
                drain_tensor_memory()
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 1, 4])}{registers()}):"):
                multiply_tensor_memory()
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 1, 4])}{registers()}):"):
                produce()
        else:
            replicate = True
            if r.random() < .75:
                with w.under('with tlx.async_task("default"):'):
                    produce()
                with w.under(f"with tlx.async_task(num_warps=4{registers()}, replicate={n.groups}):"):
                    consume_registers()
            else:
                replicate = False
                d.one_group = True
                with w.under('with tlx.async_task("default"):'):
                    consume_registers()
                with w.under(f"with tlx.async_task(num_warps={r.choice([1, 4])}{registers()}):"):
                    produce()

    def case():
        groups = 1 if getattr(d, "one_group", False) else r.choice([1, 2, 2])
        bm = r.choice([64, 128]) * groups
        bn, bk = r.choice([32, 64, 128, 128, 256]), r.choice([32, 64, 64, 128])
        dtype = r.choice(["fp16", "bf16", "fp16", "bf16", "fp32", "fp8e4nv", "fp8e5"])
        out_dtype = r.choice(["fp16", "bf16", "fp32"])
        subtiles = r.choice([1, 2, 4]) if tmem else 2
        signature = {a: tensordesc(dtype, bm // groups, bk), b: tensordesc(dtype, *((bn, bk) if trans_b else (bk, bn))),
                     c: tensordesc(out_dtype, bm // groups, bn // subtiles if sub else bn), "M": "i32", "N": "i32", "K": "i32"}
        divisible = [x for x in ("M", "N", "K") if r.random() < .5]
        if way == "pointer":
            signature[c] = "*" + out_dtype
            divisible.append(c)
        if extra == "scale":
            signature[extra] = "fp32"
        elif extra:
            signature[extra] = "*" + r.choice(["fp16", "fp32"])
            divisible.append(extra)
        constexprs = {n.M: bm, n.N: bn, n.K: bk, n.stages: r.choice([2, 2, 3, 4]), n.groups: groups}
        if persistent:
            constexprs |= {"GROUP_SIZE_M": 8, "NUM_SMS": r.choice([132, 148, 114])}
        if sub:
            constexprs[n.subtiles] = subtiles
        return dict(target=f"cuda:{arch}", options=options(r, (4, 4, 4, 8)), signature=signature, constexprs=constexprs, divisible=divisible)
    return d.kernel([case() for _ in range(2)])


# ---- attention --------------------------------------------------------------------------------------------------------------
SOFTMAX_STEP = """
m_new = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
qk = qk * qk_scale - m_new[:, None]
e = tl.math.exp2(qk)
alpha = tl.math.exp2(m_i - m_new)
l_i = l_i * alpha + tl.sum(e, 1)
m_i = m_new
"""


def attention_registers(r):
    """Hopper attention: one producer, consumers with products into registers, or everything in one warp group."""
    d = Draft(r, "attention_90")
    n, w = d.n, d.body
    q, k, v, o = r.choice([("desc_q", "desc_k", "desc_v", "desc_o"), ("q_desc", "k_desc", "v_desc", "o_desc")])
    for x in ("sm_scale", "Lse", q, k, v, o, "N_CTX"):
        d.param(x)
    for x in (n.M, n.N, n.head, n.stages, n.groups):
        d.param(x, True)
    causal = r.random() < .4
    if causal:
        d.param("CAUSAL", True)
    tasks = r.random() < .7
    shared_ring = r.random() < .4
    w(f"{n.M}_SPLIT: tl.constexpr = {n.M} // {n.groups}")
    half = f"{n.M}_SPLIT"
    w(f"q_tiles = tlx.local_alloc(({half}, {n.head}), tlx.dtype_of({q}), {n.groups})")
    if shared_ring:
        w(f"kv_tiles = tlx.local_alloc(({n.N}, {n.head}), tlx.dtype_of({k}), {n.stages} * 2)")
        ktile, vtile = (lambda s: f"kv_tiles[2 * {s}]"), (lambda s: f"kv_tiles[2 * {s} + 1]")
    else:
        w(f"k_tiles = tlx.local_alloc(({n.N}, {n.head}), tlx.dtype_of({k}), {n.stages})")
        w(f"v_tiles = tlx.local_alloc(({n.N}, {n.head}), tlx.dtype_of({v}), {n.stages})")
        ktile, vtile = (lambda s: f"k_tiles[{s}]"), (lambda s: f"v_tiles[{s}]")
    w(f"q_full = tlx.alloc_barriers(num_barriers={n.groups}, arrive_count=1)")
    for x in ("k_full", "v_full"):
        w(f"{x} = tlx.alloc_barriers(num_barriers={n.stages}, arrive_count=1)")
    if tasks:
        for x in ("k_empty", "v_empty"):
            w(f"{x} = tlx.alloc_barriers(num_barriers={n.stages}, arrive_count={n.groups})")
    staged = r.random() < .3
    if staged and not tasks:
        w(f"o_tile = tlx.local_alloc(({half}, {n.head}), tlx.dtype_of({o}), 1)")

    def load_q():
        with w.under(f"for g in tl.static_range({n.groups}):"):
            w(f"tlx.barrier_expect_bytes(q_full[g], {half} * {n.head} * tlx.size_of(tlx.dtype_of({q})))")
            w(f"tlx.async_descriptor_load({q}, q_tiles[g], [start_m * {n.M} + g * {half}, 0], q_full[g])")

    def load_kv(s, at):
        for full, tile, desc in (("k_full", ktile(s), k), ("v_full", vtile(s), v)):
            if tasks:
                w(f"tlx.barrier_wait({full.replace('full', 'empty')}[{s}], p ^ 1)")
            w(f"tlx.barrier_expect_bytes({full}[{s}], {n.N} * {n.head} * tlx.size_of(tlx.dtype_of({desc})))")
            w(f"tlx.async_descriptor_load({desc}, {tile}, [{at}, 0], {full}[{s}])")

    def compute(g, prefetch=None):
        w(f"m_i = tl.zeros([{half}], dtype=tl.float32) - float('inf')")
        w(f"l_i = tl.zeros([{half}], dtype=tl.float32) + 1.0")
        w(f"acc = tl.zeros([{half}, {n.head}], dtype=tl.float32)")
        w("qk_scale = sm_scale * 1.44269504")
        w(f"tlx.barrier_wait(q_full[{g}], 0)")
        w("count = 0")
        if causal:
            w(f"stop = tl.minimum((start_m + 1) * {n.M}, N_CTX) if CAUSAL else N_CTX")
        stop = "stop" if causal else "N_CTX"
        head, last, first = loop(d, "start_n", "0", stop, step=n.N)
        if first:
            w(first)
        with w.under(head):
            w(ring(d, "count", n.stages))
            if prefetch:
                prefetch()
            w("tlx.barrier_wait(k_full[s], p)")
            w(f"k_tile = tlx.local_trans({ktile('s')})")
            w(f"qk = tlx.async_dot(q_tiles[{g}], k_tile)")
            w("qk = tlx.async_dot_wait(0, qk)")
            if tasks:
                w("tlx.barrier_arrive(k_empty[s], 1)")
            if causal:
                with w.under("if CAUSAL:"):
                    w(f"rows = start_m * {n.M} + {g} * {half} + tl.arange(0, {half})")
                    w(f"qk = tl.where(rows[:, None] >= (start_n + tl.arange(0, {n.N}))[None, :], qk, -1.0e6)")
            w(SOFTMAX_STEP)
            w("acc = acc * alpha[:, None]")
            w("tlx.barrier_wait(v_full[s], p)")
            w(f"acc = tlx.async_dot(e.to(tlx.dtype_of({k})), {vtile('s')}, acc)")
            w("acc = tlx.async_dot_wait(0, acc)")
            if tasks:
                w("tlx.barrier_arrive(v_empty[s], 1)")
            w("count += 1")
            if last:
                w(last)
        w("m_i += tl.math.log2(l_i)")
        w("acc = acc / l_i[:, None]")
        w(f"tl.store(Lse + start_m * {n.M} + {g} * {half} + tl.arange(0, {half}), m_i)")
        if staged and not tasks:
            w(f"tlx.local_store(o_tile[0], acc.to(tlx.dtype_of({o})))")
            w("tlx.fence_async_shared()")
            w(f"tlx.async_descriptor_store({o}, o_tile[0], [start_m * {n.M}, 0])")
            w("tlx.async_descriptor_store_wait(0)")
        else:
            w(f"{o}.store([start_m * {n.M} + {g} * {half}, 0], acc.to(tlx.dtype_of({o})))")
    if tasks:
        with w.under("with tlx.async_tasks():"):
            with w.under('with tlx.async_task("default"):'):
                w("start_m = tl.program_id(0)")
                load_q()
                w("count = 0")
                if causal:
                    w(f"stop = tl.minimum((start_m + 1) * {n.M}, N_CTX) if CAUSAL else N_CTX")
                with w.under(f"for start_n in tl.range(0, {'stop' if causal else 'N_CTX'}, {n.N}):"):
                    w(ring(d, "count", n.stages))
                    load_kv("s", "start_n")
                    w("count += 1")
            with w.under(f"with tlx.async_task(num_warps=4{r.choice(['', ', registers=232'])}, replicate={n.groups}):"):
                w("start_m = tl.program_id(0)")
                w("g = tlx.async_task_replica_id()")
                compute("g")
    else:
        w("start_m = tl.program_id(0)")
        load_q()
        with w.under(f"for ahead in tl.static_range({n.stages} - 1):"):
            load_kv("ahead", f"ahead * {n.N}")

        def prefetch():
            with w.under(f"if start_n + ({n.stages} - 1) * {n.N} < N_CTX:"):
                w(f"nxt = (count + {n.stages} - 1) % {n.stages}")
                load_kv("nxt", f"start_n + ({n.stages} - 1) * {n.N}")
        compute("0", prefetch)

    def case():
        groups = r.choice([1, 2]) if tasks else 1
        bm, bn, hd = r.choice([64, 128]) * groups, r.choice([32, 64, 128]), r.choice([32, 64, 128])
        dtype = r.choice(["fp16", "bf16"])
        signature = {"sm_scale": "fp32", "Lse": "*fp32", "N_CTX": "i32", q: tensordesc(dtype, bm // groups, hd), k: tensordesc(dtype, bn, hd),
                     v: tensordesc(dtype, bn, hd), o: tensordesc(r.choice([dtype, dtype, "fp32"]), bm // groups, hd)}
        constexprs = {n.M: bm, n.N: bn, n.head: hd, n.stages: r.choice([2, 2, 3]), n.groups: groups}
        if causal:
            constexprs["CAUSAL"] = r.choice([True, False])
        return dict(target="cuda:90", options=options(r, (4, 4, 8)), signature=signature, constexprs=constexprs, divisible=["Lse"] + r.choice([[], ["N_CTX"]]))
    return d.kernel([case() for _ in range(2)])


def attention_tensor_memory(r):
    """Blackwell attention: scores and output in tensor memory, p beside them or in their memory; tasks or not."""
    d = Draft(r, "attention_100")
    n, w = d.n, d.body
    q, k, v, o = r.choice([("desc_q", "desc_k", "desc_v", "desc_o"), ("q_desc", "k_desc", "v_desc", "o_desc")])
    for x in ("sm_scale", "Lse", q, k, v, o, "N_CTX"):
        d.param(x)
    for x in (n.M, n.N, n.head, n.stages):
        d.param(x, True)
    tasks = r.random() < .65
    place_p = r.choice(["tmem", "reuse", "smem"])
    w(f"q_tile = tlx.local_alloc(({n.M}, {n.head}), tlx.dtype_of({q}), 1)")
    w(f"k_tiles = tlx.local_alloc(({n.N}, {n.head}), tlx.dtype_of({k}), {n.stages})")
    w(f"v_tiles = tlx.local_alloc(({n.N}, {n.head}), tlx.dtype_of({v}), {n.stages})")
    w(f"qk_tile = tlx.local_alloc(({n.M}, {n.N}), tl.float32, 1, {TMEM})")
    w({"tmem": f"p_tile = tlx.local_alloc(({n.M}, {n.N}), tlx.dtype_of({v}), 1, {TMEM})",
       "reuse": f"p_tile = tlx.local_alloc(({n.M}, {n.N}), tlx.dtype_of({v}), 2, {TMEM}, reuse=qk_tile)",
       "smem": f"p_tile = tlx.local_alloc(({n.M}, {n.N}), tlx.dtype_of({v}), 1)"}[place_p])
    w(f"acc_tile = tlx.local_alloc(({n.M}, {n.head}), tl.float32, 1, {TMEM})")
    alpha = tasks and r.random() < .5
    if alpha:
        w(f"alpha_tile = tlx.local_alloc(({n.M}, 1), tl.float32, 1, {TMEM})")
    for x in ["q_full", "qk_full", "p_full", "acc_full"] + (["acc_ready", "qk_empty"] if tasks else []):
        w(f"{x} = tlx.alloc_barriers(num_barriers=1{r.choice(['', ', arrive_count=1'])})")
    for x in ["k_full", "v_full"] + (["k_empty", "v_empty"] if tasks else []):
        w(f"{x} = tlx.alloc_barriers(num_barriers={n.stages})")
    kinds = ("range", "tl.range", "tl.range", "while")
    said = r.choice(["", ", registers=24", ", num_regs=40"])

    def load_q():
        w(f"tlx.barrier_expect_bytes(q_full[0], {n.M} * {n.head} * 2)")
        w(f"tlx.async_descriptor_load({q}, q_tile[0], [start_m * {n.M}, 0], q_full[0])")

    def load_kv(s, at):
        for x, tile, desc in (("k", "k_tiles", k), ("v", "v_tiles", v)):
            if tasks:
                w(f"tlx.barrier_wait({x}_empty[{s}], p ^ 1)")
            w(f"tlx.barrier_expect_bytes({x}_full[{s}], {n.N} * {n.head} * 2)")
            w(f"tlx.async_descriptor_load({desc}, {tile}[{s}], [{at}, 0], {x}_full[{s}])")

    def scores():
        w(SOFTMAX_STEP)

    def finish():
        w("acc = acc / l_i[:, None]")
        w(f"tl.store(Lse + start_m * {n.M} + tl.arange(0, {n.M}), m_i + tl.math.log2(l_i))")
        w(f"{o}.store([start_m * {n.M}, 0], acc.to(tlx.dtype_of({o})))")

    def start():
        w(f"m_i = tl.zeros([{n.M}], dtype=tl.float32) - float('inf')")
        w(f"l_i = tl.zeros([{n.M}], dtype=tl.float32) + 1.0")
        w("qk_scale = sm_scale * 1.44269504")
    if not tasks:
        w("start_m = tl.program_id(0)")
        load_q()
        start()
        w(f"tlx.local_store(acc_tile[0], tl.zeros(({n.M}, {n.head}), tl.float32))")
        w("tlx.barrier_wait(q_full[0], 0)")
        w("count = 0")
        head, last, first = loop(d, "start_n", "0", "N_CTX", step=n.N, kinds=kinds)
        if first:
            w(first)
        with w.under(head):
            w(ring(d, "count", n.stages))
            load_kv("s", "start_n")
            w("tlx.barrier_wait(k_full[s], p)")
            w(f"tlx.async_dot(q_tile[0], tlx.local_trans(k_tiles[s]), qk_tile[0], use_acc=False, mBarriers=[qk_full[0]])")
            w("tlx.barrier_wait(qk_full[0], count & 1)")
            w("qk = tlx.local_load(qk_tile[0])")
            scores()
            w("acc = tlx.local_load(acc_tile[0])")
            w("tlx.local_store(acc_tile[0], acc * alpha[:, None])")
            w(f"tlx.local_store(p_tile[0], e.to(tlx.dtype_of({v})))")
            if place_p == "smem":
                w("tlx.fence_async_shared()")
            w("tlx.barrier_wait(v_full[s], p)")
            w("tlx.async_dot(p_tile[0], v_tiles[s], acc_tile[0], mBarriers=[acc_full[0]])")
            w("tlx.barrier_wait(acc_full[0], count & 1)")
            w("count += 1")
            if last:
                w(last)
        w("acc = tlx.local_load(acc_tile[0])")
        finish()
    else:
        with w.under("with tlx.async_tasks():"):
            with w.under('with tlx.async_task("default"):'):
                w("start_m = tl.program_id(0)")
                start()
                w("count = 0")
                head, last, first = loop(d, "start_n", "0", "N_CTX", step=n.N, kinds=kinds)
                if first:
                    w(first)
                with w.under(head):
                    w("tlx.barrier_wait(qk_full[0], count & 1)")
                    w("qk = tlx.local_load(qk_tile[0])")
                    scores()
                    if alpha:
                        w("tlx.local_store(alpha_tile[0], alpha[:, None])")
                        w("alpha = tl.reshape(tlx.local_load(alpha_tile[0]), [" + n.M + "])")
                    w("tlx.barrier_wait(acc_ready[0], (count & 1) ^ 1)")
                    w("acc = tlx.local_load(acc_tile[0])")
                    w("tlx.local_store(acc_tile[0], acc * alpha[:, None])")
                    w(f"tlx.local_store(p_tile[0], e.to(tlx.dtype_of({v})))")
                    w("tlx.barrier_arrive(p_full[0], 1)")
                    w("count += 1")
                    if last:
                        w(last)
                w("tlx.barrier_wait(acc_full[0], 0)")
                w("acc = tlx.local_load(acc_tile[0])")
                finish()
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 4])}{said}):"):
                w("count = 0")
                w("tlx.barrier_wait(q_full[0], 0)")
                head, last, first = loop(d, "start_n", "0", "N_CTX", step=n.N, kinds=kinds)
                if first:
                    w(first)
                with w.under(head):
                    w(ring(d, "count", n.stages))
                    w("tlx.barrier_wait(k_full[s], p)")
                    w("tlx.async_dot(q_tile[0], tlx.local_trans(k_tiles[s]), qk_tile[0], use_acc=False, mBarriers=[qk_full[0], k_empty[s]])")
                    w("tlx.barrier_wait(v_full[s], p)")
                    w("tlx.barrier_wait(p_full[0], count & 1)")
                    w("tlx.async_dot(p_tile[0], v_tiles[s], acc_tile[0], use_acc=start_n > 0, mBarriers=[acc_ready[0], v_empty[s]])")
                    w("count += 1")
                    if last:
                        w(last)
                w("tlx.tcgen05_commit(acc_full[0])")
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 4])}{said}):"):
                w("start_m = tl.program_id(0)")
                load_q()
                w("count = 0")
                with w.under(f"for start_n in {r.choice(['range', 'tl.range'])}(0, N_CTX, {n.N}):"):
                    w(ring(d, "count", n.stages))
                    load_kv("s", "start_n")
                    w("count += 1")

    def case():
        bm, bn, hd = r.choice([64, 128, 128]), r.choice([32, 64, 128]), r.choice([32, 64, 128])
        dtype = r.choice(["fp16", "bf16"])
        signature = {"sm_scale": "fp32", "Lse": "*fp32", "N_CTX": "i32", q: tensordesc(dtype, bm, hd), k: tensordesc(dtype, bn, hd),
                     v: tensordesc(dtype, bn, hd), o: tensordesc(r.choice([dtype, "fp32"]), bm, hd)}
        return dict(target="cuda:100", options=options(r, (4, 4, 8)), signature=signature,
                    constexprs={n.M: bm, n.N: bn, n.head: hd, n.stages: r.choice([1, 2, 2, 3])}, divisible=["Lse"] + r.choice([[], ["N_CTX"]]))
    return d.kernel([case() for _ in range(2)])


# ---- gated products, several accumulators --------------------------------------------------------------------------------
def gated(r, arch):
    """x @ gate and x @ up over one ring of x: registers or tensor memory; also a product of the result."""
    d = Draft(r, f"gated_{arch}")
    n, w, i = d.n, d.body, d.n.i
    tmem = arch == 100
    x, g, u, o = "x_desc", "gate_desc", "up_desc", r.choice(["o_ptr", "o_desc"])
    for p in (x, g, u, o, "M", "N", "K"):
        d.param(p)
    for p in (n.M, n.N, n.K, n.stages):
        d.param(p, True)
    w("pid_m = tl.program_id(0)")
    w("pid_n = tl.program_id(1)")
    w(f"x_tiles = tlx.local_alloc(({n.M}, {n.K}), tlx.dtype_of({x}), {n.stages})")
    both = r.random() < .3
    if both:
        w(f"w_tiles = tlx.local_alloc(({n.K}, {n.N}), tlx.dtype_of({g}), {n.stages} * 2)")
    else:
        w(f"g_tiles = tlx.local_alloc(({n.K}, {n.N}), tlx.dtype_of({g}), {n.stages})")
        w(f"u_tiles = tlx.local_alloc(({n.K}, {n.N}), tlx.dtype_of({u}), {n.stages})")
    gt, ut = (("w_tiles[2 * s]", "w_tiles[2 * s + 1]") if both else ("g_tiles[s]", "u_tiles[s]"))
    w(f"full = tlx.alloc_barriers(num_barriers={n.stages})")
    if tmem:
        w(f"done = tlx.alloc_barriers(num_barriers={n.stages})")
        if r.random() < .5:
            w(f"accs = tlx.local_alloc(({n.M}, {n.N}), tl.float32, 2, {TMEM})")
            ag, au = "accs[0]", "accs[1]"
        else:
            w(f"acc_g = tlx.local_alloc(({n.M}, {n.N}), tl.float32, 1, {TMEM})")
            w(f"acc_u = tlx.local_alloc(({n.M}, {n.N}), tl.float32, 1, {TMEM})")
            ag, au = "acc_g[0]", "acc_u[0]"
    else:
        w(f"gate = tl.zeros(({n.M}, {n.N}), tl.float32)")
        w(f"up = tl.zeros(({n.M}, {n.N}), tl.float32)")
    w(f"steps = tl.cdiv(K, {n.K})")
    head, last, first = loop(d, i, "0", "steps")
    if first:
        w(first)
    with w.under(head):
        w(ring(d, i, n.stages))
        w(f"tlx.barrier_expect_bytes(full[s], ({n.M} * {n.K} + 2 * {n.K} * {n.N}) * tlx.size_of(tlx.dtype_of({x})))")
        w(f"tlx.async_descriptor_load({x}, x_tiles[s], [pid_m * {n.M}, {i} * {n.K}], full[s])")
        w(f"tlx.async_descriptor_load({g}, {gt}, [{i} * {n.K}, pid_n * {n.N}], full[s])")
        w(f"tlx.async_descriptor_load({u}, {ut}, [{i} * {n.K}, pid_n * {n.N}], full[s])")
        w("tlx.barrier_wait(full[s], p)")
        if tmem:
            w(f"tlx.async_dot(x_tiles[s], {gt}, {ag}, use_acc={i} > 0, mBarriers=[])" if r.random() < .3 else f"tlx.async_dot(x_tiles[s], {gt}, {ag}, use_acc={i} > 0)")
            w(f"tlx.async_dot(x_tiles[s], {ut}, {au}, use_acc={i} > 0, mBarriers=[done[s]])")
            w("tlx.barrier_wait(done[s], p)")
        else:
            w(f"gate = tlx.async_dot(x_tiles[s], {gt}, gate)")
            w(f"up = tlx.async_dot(x_tiles[s], {ut}, up)")
            w("gate = tlx.async_dot_wait(0, gate)")
            w("up = tlx.async_dot_wait(0, up)")
        if last:
            w(last)
    if tmem:
        w(f"gate = tlx.local_load({ag})")
        w(f"up = tlx.local_load({au})")
    act = r.choice(["silu", "gelu"])
    d.helper(ACTIVATIONS[act])
    w(f"h = {act}(gate) * up")
    if r.random() < .25:
        w("h = h / tl.sqrt(tl.sum(h * h, axis=1, keep_dims=True) + 1e-6)")
    if o == "o_desc":
        w(f"{o}.store([pid_m * {n.M}, pid_n * {n.N}], h.to(tlx.dtype_of({o})))")
    else:
        w(f"rows = pid_m * {n.M} + tl.arange(0, {n.M})")
        w(f"columns = pid_n * {n.N} + tl.arange(0, {n.N})")
        w(f"tl.store({o} + rows[:, None] * N + columns[None, :], h.to({o}.dtype.element_ty), mask=rows[:, None] < M)")

    def case():
        bm, bn, bk, dtype = r.choice([64, 128]), r.choice([32, 64, 128]), r.choice([32, 64]), r.choice(["fp16", "bf16", "fp8e4nv"])
        out = r.choice(["fp16", "bf16", "fp32"])
        signature = {x: tensordesc(dtype, bm, bk), g: tensordesc(dtype, bk, bn), u: tensordesc(dtype, bk, bn), o: tensordesc(out, bm, bn) if o == "o_desc" else "*" + out,
                     "M": "i32", "N": "i32", "K": "i32"}
        return dict(target=f"cuda:{arch}", options=options(r), signature=signature, constexprs={n.M: bm, n.N: bn, n.K: bk, n.stages: r.choice([1, 2, 3])},
                    divisible=[o] if o == "o_ptr" else [])
    return d.kernel([case() for _ in range(2)])


# ---- rows: norms and softmax through buffers -----------------------------------------------------------------------------
def rows(r):
    """Rows or tiles streamed through buffers by TMA or cp.async, then reductions, scans and stores."""
    d = Draft(r, "rows")
    n, w = d.n, d.body
    tma, tasks = r.random() < .5, r.random() < .4
    src = "x_desc" if tma else "x_ptr"
    for p in (src, "y_ptr", "w_ptr", "n_rows", "eps"):
        d.param(p)
    for p in ("ROWS", "COLUMNS", n.stages):
        d.param(p, True)
    tasks = tasks and tma
    w(f"tiles = tlx.local_alloc((ROWS, COLUMNS), tlx.dtype_of({src}), {n.stages})")
    if tma:
        w(f"full = tlx.alloc_barriers(num_barriers={n.stages})")
        if tasks:
            w(f"empty = tlx.alloc_barriers(num_barriers={n.stages}, arrive_count=1)")
    what = r.choice(["layernorm", "softmax", "cumsum", "max_index", "columns", "rmsnorm", "sort", "twice"])
    if what == "twice":
        w("again = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 1)")

    def use(slot):
        w(f"x = tlx.local_load(tiles[{slot}])" + r.choice(["", ".to(tl.float32)"]))
        w("rows = t * ROWS + tl.arange(0, ROWS)")
        w("columns = tl.arange(0, COLUMNS)")
        w("offsets = rows[:, None] * COLUMNS + columns[None, :]")
        w("keep = (rows < n_rows)[:, None]")
        if what == "layernorm":
            w("x = x.to(tl.float32)\nmean = tl.sum(x, axis=1) / COLUMNS\nx = x - mean[:, None]\nvar = tl.sum(x * x, axis=1) / COLUMNS\nrstd = 1 / tl.sqrt(var + eps)\nweight = tl.load(w_ptr + columns).to(tl.float32)\ny = x * rstd[:, None] * weight[None, :]")
            w("tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=keep)")
        elif what == "rmsnorm":
            w("x = x.to(tl.float32)\nscale = tl.rsqrt(tl.sum(x * x, axis=1, keep_dims=True) / COLUMNS + eps)\ntl.store(y_ptr + offsets, (x * scale * tl.load(w_ptr + columns)[None, :]).to(y_ptr.dtype.element_ty), mask=keep)")
        elif what == "softmax":
            w("x = x.to(tl.float32)\nx = x - tl.max(x, axis=1)[:, None]\ne = tl.exp(x)\ntl.store(y_ptr + offsets, e / tl.sum(e, axis=1)[:, None], mask=keep)")
        elif what == "cumsum":
            w(f"y = tl.cumsum(x, axis={r.randrange(2)}{r.choice(['', ', reverse=True'])})\ntl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=keep)")
        elif what == "max_index":
            axis = r.randrange(2)
            w(r.choice([f"best = tl.{r.choice(['argmax', 'argmin'])}(x, axis={axis})", f"value, best = tl.max(x, axis={axis}, return_indices=True)"]))
            w("tl.store(w_ptr + " + ("rows" if axis == 1 else "columns") + ", best.to(w_ptr.dtype.element_ty))")
        elif what == "columns":
            w("tl.atomic_add(w_ptr + columns, tl.sum(x, axis=0).to(w_ptr.dtype.element_ty))" if r.random() < .5 else "tl.store(w_ptr + columns, tl.sum(x, axis=0).to(w_ptr.dtype.element_ty))")
        elif what == "sort":
            w("y = tl.sort(x, dim=1)\ntl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=keep)")
        else:
            w("tlx.local_store(again[0], x.to(tl.float32))\ny = tlx.local_load(again[0])")
            w("y = y / (tl.sum(y, axis=1)[:, None] + eps)\ntl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=keep)")

    def bring(slot, t):
        if tma:
            w(f"tlx.barrier_expect_bytes(full[{slot}], ROWS * COLUMNS * tlx.size_of(tlx.dtype_of({src})))")
            w(f"tlx.async_descriptor_load({src}, tiles[{slot}], [{t} * ROWS, 0], full[{slot}])")
        else:
            w(f"at = ({t} * ROWS + tl.arange(0, ROWS))[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]")
            w(f"token = tlx.async_load({src} + at, tiles[{slot}]{r.choice(['', f', mask=({t} * ROWS + tl.arange(0, ROWS))[:, None] < n_rows'])})")
            w("tlx.async_load_commit_group([token])")
    w("n_tiles = tl.cdiv(n_rows, ROWS)") if not tasks else None
    if tasks:
        with w.under("with tlx.async_tasks():"):
            with w.under('with tlx.async_task("default"):'):
                w("count = 0")
                with w.under("for t in tl.range(tl.program_id(0), tl.cdiv(n_rows, ROWS), tl.num_programs(0)):"):
                    w(ring(d, "count", n.stages))
                    w("tlx.barrier_wait(full[s], p)")
                    use("s")
                    w("tlx.barrier_arrive(empty[s], 1)")
                    w("count += 1")
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 4])}):"):
                w("count = 0")
                with w.under("for t in tl.range(tl.program_id(0), tl.cdiv(n_rows, ROWS), tl.num_programs(0)):"):
                    w(ring(d, "count", n.stages))
                    w("tlx.barrier_wait(empty[s], p ^ 1)")
                    bring("s", "t")
                    w("count += 1")
    else:
        head, last, first = loop(d, "t", "tl.program_id(0)", "n_tiles", step="tl.num_programs(0)")
        if first:
            w(first)
        w("count = 0")
        with w.under(head):
            w(ring(d, "count", n.stages))
            bring("s", "t")
            w("tlx.barrier_wait(full[s], p)" if tma else "tlx.async_load_wait_group(0)")
            use("s")
            w("count += 1")
            if last:
                w(last)

    def case():
        r_, c_ = r.choice([1, 2, 4, 8, 16, 32]), r.choice([64, 128, 256, 512, 1024])
        if tma:
            r_, c_ = max(r_, 8), min(c_, 256)
        dtype, out = r.choice(["fp16", "bf16", "fp32"]), r.choice(["fp16", "bf16", "fp32"])
        if what == "sort":
            c_ = min(c_, 256)
        weight = "i32" if what == "max_index" else "fp32" if what == "columns" else r.choice(["fp16", "fp32"])
        signature = {src: tensordesc(dtype, r_, c_) if tma else "*" + dtype, "y_ptr": "*" + out, "w_ptr": "*" + weight, "n_rows": "i32", "eps": "fp32"}
        return dict(target=f"cuda:{r.choice([90, 90, 100] + ([80, 86] if not tma else []))}", options=options(r, (4, 8, 2, 1) if not tasks else (4, 8)), signature=signature,
                    constexprs={"ROWS": r_, "COLUMNS": c_, n.stages: r.choice([1, 2, 3])}, divisible=[p for p in (src, "y_ptr", "w_ptr") if p != "x_desc"])
    return d.kernel([case() for _ in range(3)])


# ---- storage alias specs and older reuse ------------------------------------------------------------------------------------
def aliases(r):
    """Specs with shared and distinct groups of equal totals, older reuse=, views of other types."""
    d = Draft(r, "aliases")
    n, w = d.n, d.body
    for p in ("x_ptr", "y_ptr", "n"):
        d.param(p)
    for p in ("ROWS", "COLUMNS"):
        d.param(p, True)
    d.helper(OFFSETS)
    kind = r.choice(["spec_plain", "spec_shared", "spec_plain3", "reuse", "reinterpret", "two_specs"])
    w("at = tile_offsets(ROWS, COLUMNS, COLUMNS)")
    plain = r.random() < .5
    if plain:
        w("other = tlx.local_alloc((ROWS, COLUMNS), tl.float16, 1)")
    smem = "tlx.storage_kind.smem"
    sized = r.choice(["", "", ", buffer_size_bytes=ROWS * COLUMNS * 8"])
    if kind.startswith("spec"):
        w(f"spec = tlx.storage_alias_spec(storage={smem}{sized})")
        w(f"a = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 2, {smem}, reuse=spec)")
        w(f"b = tlx.local_alloc((ROWS, COLUMNS), tl.float16, 4, {smem}, reuse=spec)" if kind == "spec_plain" else f"b = tlx.local_alloc((ROWS * 2, COLUMNS), tl.float16, 2, {smem}, reuse=spec)")
        if kind == "spec_plain3":
            w(f"c = tlx.local_alloc((ROWS, COLUMNS), tl.bfloat16, 4, {smem}, reuse=spec)")
        if kind == "spec_shared":
            w("spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared))" if r.random() < .5 else "spec.set_buffer_overlap(tlx.reuse_group(a, b))")
    elif kind == "two_specs":
        w(f"spec = tlx.storage_alias_spec(storage={smem})")
        w(f"more = tlx.storage_alias_spec(storage={smem}, buffer_size_bytes=ROWS * COLUMNS * 4)")
        w(f"a = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 2, {smem}, reuse=spec)")
        w(f"b = tlx.local_alloc((ROWS, COLUMNS), tl.float16, 2, {smem}, reuse=more)")
        w(f"c = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 1, {smem}, reuse=more)")
    elif kind == "reuse":
        w("a = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 2)")
        w(f"b = tlx.local_alloc((ROWS, COLUMNS), tl.float16, 4, {smem}, reuse=a)")
    else:
        w("a = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 2)")
    w("v = tl.load(x_ptr + at)")
    if plain:
        w("tlx.local_store(other[0], v.to(tl.float16))")
    w("tlx.local_store(a[0], v.to(tl.float32))")
    w("tlx.local_store(a[1], v.to(tl.float32) * 2)")
    w("s = tlx.local_load(a[0]) + tlx.local_load(a[1])")
    if kind == "reinterpret":
        w(f"b = tlx.local_reinterpret(a[{r.randrange(2)}], tl.float16, [ROWS, COLUMNS * 2])")
        w("tl.store(y_ptr + tile_offsets(ROWS, COLUMNS * 2, COLUMNS * 2), tlx.local_load(b).to(tl.float32))")
        if r.random() < .5:
            w("late = tlx.local_alloc((ROWS, COLUMNS), tl.float32, 1)\ntlx.local_store(late[0], s)\ns = tlx.local_load(late[0])")
    else:
        if kind in ("spec_shared", "spec_plain3"):
            w("high = tl.load(x_ptr + tile_offsets(ROWS * 2, COLUMNS, COLUMNS)).to(tl.float16)\ntlx.local_store(b[0], high)\nhigh = tlx.local_load(b[0])\ntl.store(y_ptr + tile_offsets(ROWS * 2, COLUMNS, COLUMNS), high.to(tl.float32))")
        elif r.random() < .5:
            head, last, first = loop(d, "i", "0", "n")
            if first:
                w(first)
            with w.under(head):
                w("tlx.local_store(b[0], s.to(tl.float16))")
                w("s += tlx.local_load(b[0]).to(tl.float32)")
                if last:
                    w(last)
        else:
            w("tlx.local_store(b[0], s.to(tl.float16))\ns += tlx.local_load(b[0]).to(tl.float32)")
        if kind in ("spec_plain3", "two_specs"):
            w(f"tlx.local_store(c[0], s.to(tl.{'float32' if kind == 'two_specs' else 'bfloat16'}))")
            w("s += tlx.local_load(c[0]).to(tl.float32)")
    if plain:
        w("s += tlx.local_load(other[0]).to(tl.float32)")
    if r.random() < .4:
        w("s = s - tl.max(s, axis=1)[:, None]")
    w("tl.store(y_ptr + at, s)")

    def case():
        return dict(target=f"cuda:{r.choice([90, 90, 100, 80])}", options=options(r), signature={"x_ptr": "*" + r.choice(["fp32", "fp16"]), "y_ptr": "*fp32", "n": "i32"},
                    constexprs={"ROWS": r.choice([16, 32, 64, 128]), "COLUMNS": r.choice([16, 32, 64])}, divisible=["x_ptr", "y_ptr"])
    return d.kernel([case() for _ in range(2)])


# ---- tl.dot beside buffers ---------------------------------------------------------------------------------------------------
def plain_dots(r):
    """tl.dot with operands from pointers, descriptors and buffers, in one kernel with explicit buffers."""
    d = Draft(r, "plain_dots")
    n, w, i = d.n, d.body, d.n.i
    amd = r.random() < .3
    for p in ("a_ptr", "b_ptr", "c_ptr", "K"):
        d.param(p)
    for p in (n.M, n.N, n.K):
        d.param(p, True)
    d.helper(OFFSETS)
    stages_param = r.random() < .4
    if stages_param:
        d.param(n.stages, True)
    source_a, source_b = r.choice(["pointer", "buffer", "buffer", "once"]), r.choice(["pointer", "buffer", "pointer", "once"])
    w("pid = tl.program_id(0)")
    ring_len = r.choice(["1", "2"])
    if source_a in ("buffer", "once"):
        w(f"ta = tlx.local_alloc(({n.M}, {n.K}), tlx.dtype_of(a_ptr), {ring_len})")
    if source_b in ("buffer", "once"):
        w(f"tb = tlx.local_alloc(({n.K}, {n.N}), tlx.dtype_of(b_ptr), {ring_len})")
    if source_a == "once":
        w(f"tlx.local_store(ta[0], tl.load(a_ptr + tile_offsets({n.M}, {n.K}, K)))")
    if source_b == "once":
        w(f"tlx.local_store(tb[0], tl.load(b_ptr + tile_offsets({n.K}, {n.N}, {n.N})))")
    w(f"a_at = a_ptr + tile_offsets({n.M}, {n.K}, K)")
    w(f"b_at = b_ptr + tile_offsets({n.K}, {n.N}, {n.N})")
    w(f"{n.acc} = tl.zeros(({n.M}, {n.N}), tl.float32)")
    asyncs = r.random() < .5 and not amd
    head, last, first = loop(d, i, "0", f"tl.cdiv(K, {n.K})", stages=n.stages if stages_param else None)
    if first:
        w(first)
    second = r.random() < .25
    if second:
        w(f"other = tl.zeros(({n.M}, {n.N}), tl.float32)")
    with w.under(head):
        for x, source, shape in (("a", source_a, f"{n.M}, {n.K}"), ("b", source_b, f"{n.K}, {n.N}")):
            if source == "pointer":
                w(f"{x} = tl.load({x}_at)")
            elif source == "buffer":
                if asyncs:
                    w(f"tok_{x} = tlx.async_load({x}_at, t{x}[{i} % {ring_len}])\ntlx.async_load_commit_group([tok_{x}])\ntlx.async_load_wait_group(0)")
                else:
                    w(f"tlx.local_store(t{x}[{i} % {ring_len}], tl.load({x}_at))")
                w(f"{x} = tlx.local_load(t{x}[{i} % {ring_len}])")
            else:
                w(f"{x} = tlx.local_load(t{x}[0])")
        w(r.choice([f"{n.acc} = tl.dot(a, b, {n.acc})", f"{n.acc} += tl.dot(a, b)", f"{n.acc} = tl.dot(a, b, acc={n.acc}, out_dtype=tl.float32)"]))
        if second:
            w("other = tl.dot(a, b * 2, other)")
        w(f"a_at += {n.K}\nb_at += {n.K} * {n.N}")
        if last:
            w(last)
    if second:
        w(f"{n.acc} = {n.acc} + other")
    if r.random() < .3:
        w(f"late = tlx.local_alloc(({n.M}, {n.N}), tl.float32, 1)\ntlx.local_store(late[0], {n.acc})\n{n.acc} = tlx.local_load(late[0])")
    if r.random() < .3:
        w(f"{n.acc} = {n.acc} / tl.sum({n.acc}, axis=1)[:, None]")
    w(f"tl.store(c_ptr + tile_offsets({n.M}, {n.N}, {n.N}), {n.acc}.to(c_ptr.dtype.element_ty))")

    def case():
        dtype = r.choice(["fp16", "bf16", "fp16", "fp32"])
        constexprs = {n.M: r.choice([16, 32, 64, 128]), n.N: r.choice([16, 32, 64, 128]), n.K: r.choice([16, 32, 64])}
        if stages_param:
            constexprs[n.stages] = r.choice([0, 1, 2, 3, 4])
        target = f"hip:{r.choice(['gfx942', 'gfx950'])}" if amd else f"cuda:{r.choice([80, 86, 90, 90, 100, 120])}"
        return dict(target=target, options=options(r), signature={"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*" + r.choice(["fp32", "fp16"]), "K": "i32"},
                    constexprs=constexprs, divisible=["a_ptr", "b_ptr", "c_ptr", "K"])
    return d.kernel([case() for _ in range(3)])


# ---- AMD ------------------------------------------------------------------------------------------------------------------------
def amd_ring(r):
    """Global to registers to a ring in LDS, tl.dot; async_load on gfx950."""
    d = Draft(r, "amd_ring")
    n, w, i = d.n, d.body, d.n.i
    for p in ("a_ptr", "b_ptr", "c_ptr", "M", "N", "K", "stride_am", "stride_ak", "stride_bk", "stride_bn"):
        d.param(p)
    for p in (n.M, n.N, n.K, n.stages):
        d.param(p, True)
    asyncs = r.random() < .4
    if r.random() < .5:
        w("tl.assume(stride_am > 0)\ntl.assume(stride_bk > 0)")
    w(f"pid_m = tl.program_id(0)\npid_n = tl.program_id(1)")
    w(f"offs_m = (pid_m * {n.M} + tl.arange(0, {n.M})) % M\noffs_n = (pid_n * {n.N} + tl.arange(0, {n.N})) % N\noffs_k = tl.arange(0, {n.K})")
    w("a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)\nb_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)")
    w(f"smem_a = tlx.local_alloc(({n.M}, {n.K}), tlx.dtype_of(a_ptr), {n.stages})")
    w(f"smem_b = tlx.local_alloc(({n.K}, {n.N}), tlx.dtype_of(b_ptr), {n.stages})")
    masked = r.random() < .7

    def fill(slot, k):
        ma, mb = (f", mask=offs_k[None, :] < K - ({k}) * {n.K}", f", mask=offs_k[:, None] < K - ({k}) * {n.K}") if masked else ("", "")
        if asyncs:
            w(f"ta = tlx.async_load(a_ptrs, smem_a[{slot}]{ma})\ntb = tlx.async_load(b_ptrs, smem_b[{slot}]{mb})\ntlx.async_load_commit_group([ta, tb])")
        else:
            w(f"a_reg = tl.load(a_ptrs{ma})\nb_reg = tl.load(b_ptrs{mb})\ntlx.local_store(smem_a[{slot}], a_reg)\ntlx.local_store(smem_b[{slot}], b_reg)")
        w(f"a_ptrs += {n.K} * stride_ak\nb_ptrs += {n.K} * stride_bk")
    with w.under(f"for {i} in tl.range(0, {n.stages}, loop_unroll_factor={n.stages}):"):
        fill(i, i)
    w(f"{n.acc} = tl.zeros(({n.M}, {n.N}), dtype=tl.float32)\nsteps = tl.cdiv(K, {n.K})")
    head, last, first = loop(d, i, n.stages, "steps", stages=r.choice([0, 1, 1, None]))
    if first:
        w(first)
    with w.under(head):
        w(f"slot = {i} % {n.stages}")
        if asyncs:
            w(f"tlx.async_load_wait_group({n.stages} - 1)")
        w(f"a = tlx.local_load(smem_a[slot])\nb = tlx.local_load(smem_b[slot])\n{n.acc} = tl.dot(a, b, {n.acc})")
        fill("slot", i)
        if last:
            w(last)
    with w.under(f"for {i} in tl.range(0, {n.stages}, loop_unroll_factor={n.stages}):"):
        w(f"slot = (steps + {i}) % {n.stages}\n{n.acc} = tl.dot(tlx.local_load(smem_a[slot]), tlx.local_load(smem_b[slot]), {n.acc})")
    w(f"rows = pid_m * {n.M} + tl.arange(0, {n.M})\ncolumns = pid_n * {n.N} + tl.arange(0, {n.N})")
    if r.random() < .3:
        w(f"{n.acc} = {n.acc} * tl.sigmoid({n.acc})")
    w(f"tl.store(c_ptr + rows[:, None] * N + columns[None, :], {n.acc}.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))")

    def case():
        dtype = r.choice(["fp16", "bf16"])
        signature = {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*" + r.choice([dtype, "fp32"])} | {x: "i32" for x in ("M", "N", "K", "stride_am", "stride_ak", "stride_bk", "stride_bn")}
        strides_known = r.random() < .7
        if strides_known:
            signature["stride_ak"] = signature["stride_bn"] = "constexpr"
        constexprs = {n.M: r.choice([32, 64, 128]), n.N: r.choice([32, 64, 128]), n.K: r.choice([32, 64]), n.stages: r.choice([1, 2, 3])}
        if strides_known:
            constexprs |= {"stride_ak": 1, "stride_bn": 1}
        return dict(target="hip:" + r.choice(["gfx950"] if asyncs else ["gfx942", "gfx942", "gfx950"]), options=options(r, (4, 8)), signature=signature, constexprs=constexprs,
                    divisible=["a_ptr", "b_ptr", "c_ptr", "K", "stride_am", "stride_bk"])
    return d.kernel([case() for _ in range(2)])


# ---- free programs of buffers ---------------------------------------------------------------------------------------------------
def program(r):
    """Statements at random over tiles in registers and buffers: loops, branches, helpers, views, late and early buffers."""
    d = Draft(r, "program")
    n, w = d.n, d.body
    for p in ("x_ptr", "y_ptr", "n", "flag"):
        d.param(p)
    use_desc = r.random() < .4
    if use_desc:
        d.param("t_desc")
    for p in ("H", "W"):
        d.param(p, True)
    if r.random() < .3:
        d.param("DEEP", True, "2")
    d.helper(OFFSETS)
    d.helper("@triton.jit\ndef through(x, tile):\n    tlx.local_store(tile, x)\n    return tlx.local_load(tile)\n")
    helper_alloc = r.random() < .3
    if helper_alloc:
        d.helper("@triton.jit\ndef fresh(x, H: tl.constexpr, W: tl.constexpr):\n    own = tlx.local_alloc((H, W), tl.float32, 1)\n    tlx.local_store(own[0], x)\n    return tlx.local_load(own[0])\n")
    buffers = []
    count = [0]
    w("at = tile_offsets(H, W, W)")
    w("v = tl.load(x_ptr + at)" + r.choice(["", ".to(tl.float32)"]))

    def allocate():
        name = f"b{len(buffers)}"
        dtype = r.choice(["tl.float32", "tl.float16", "tl.float32", "tl.bfloat16"])
        num = r.choice([1, 1, 2, 3])
        layout = r.choice(["", "", "", "", ", layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2)"])
        w(f"{name} = tlx.local_alloc((H, W), {dtype}, {num}{layout})")
        buffers.append((name, dtype, num))
    for _ in range(r.choice([1, 2, 3])):
        allocate()

    def statement(depth, loop_name=None):
        what = r.choice(["through"] * 5 + ["reduce", "reduce", "scan", "trans", "convert", "loop", "loop", "if", "while", "helper", "alloc", "desc", "atomic", "slice", "split", "gather", "histogram", "assert"])
        if depth > 2 and what in ("loop", "if", "while"):
            what = "through"
        name, dtype, num = r.choice(buffers)
        slot = f"{loop_name} % {num}" if loop_name and num > 1 and r.random() < .6 else str(r.randrange(num))
        if what == "through":
            if r.random() < .5:
                w(f"tlx.local_store({name}[{slot}], v.to({dtype}))\nv = v + tlx.local_load({name}[{slot}]).to(v.dtype)")
            else:
                w(f"v = through(v.to({dtype}), {name}[{slot}]).to(v.dtype)")
        elif what == "reduce":
            axis = r.randrange(2)
            w(f"v = v - tl.{r.choice(['sum', 'max', 'min'])}(v, axis={axis}, keep_dims=True)" if r.random() < .5 else f"v = v - tl.{r.choice(['sum', 'max'])}(v, axis={axis})" + ("[:, None]" if axis == 1 else "[None, :]"))
        elif what == "scan":
            w(f"v = tl.cumsum(v, axis={r.randrange(2)})")
        elif what == "trans":
            w(f"tlx.local_store({name}[{slot}], v.to({dtype}))\nturned = tlx.local_load(tlx.local_trans({name}[{slot}]))\ntl.store(y_ptr + tile_offsets(W, H, H), turned.to(y_ptr.dtype.element_ty))")
        elif what == "convert":
            w("v = tl.trans(tl.trans(v) + tl.trans(tl.load(x_ptr + at).to(v.dtype)))" if r.random() < .5 else "tl.store(y_ptr + tile_offsets(W, H, H), tl.trans(v).to(y_ptr.dtype.element_ty))")
        elif what == "loop":
            count[0] += 1
            head, last, first = loop(d, f"i{count[0]}", "0", r.choice(["n", "n", "4"]), kinds=("range", "tl.range"))
            with w.under(head):
                for _ in range(r.choice([1, 2, 3])):
                    statement(depth + 1, f"i{count[0]}")
        elif what == "while":
            count[0] += 1
            mine = f"j{count[0]}"
            w(f"{mine} = 0")
            with w.under(f"while {mine} < n:"):
                for _ in range(r.choice([1, 2])):
                    statement(depth + 1, mine)
                w(f"{mine} += 1")
        elif what == "if":
            with w.under(r.choice(["if flag > 0:", "if n > 4:", "if H > 32:", "if tl.program_id(0) == 0:"])):
                statement(depth + 1, loop_name)
            if r.random() < .5:
                with w.under("else:"):
                    statement(depth + 1, loop_name)
        elif what == "helper" and helper_alloc:
            w("v = fresh(v.to(tl.float32), H, W).to(v.dtype)")
        elif what == "alloc" and depth == 0:
            allocate()
        elif what == "desc" and use_desc:
            if r.random() < .5:
                w("v += t_desc.load([0, 0]).to(v.dtype)")
            else:
                w("t_desc.store([0, 0], v.to(tlx.dtype_of(t_desc)))")
        elif what == "atomic":
            w(r.choice(["tl.atomic_add(y_ptr, tl.sum(tl.sum(v, 1), 0).to(y_ptr.dtype.element_ty))", "ticket = tl.atomic_add(y_ptr, 1.0)\ntl.store(y_ptr + 1, ticket)", "tl.atomic_max(y_ptr + at, v.to(y_ptr.dtype.element_ty))"]))
        elif what == "slice":
            w(f"part = tlx.local_slice({name}[{slot}], [0, 0], [H // 2, W])\ntlx.local_store(part, tl.load(x_ptr + tile_offsets(H // 2, W, W)).to({dtype}))")
        elif what == "split":
            w("left, right = tl.split(tl.reshape(v, (H, W // 2, 2)))\nv = tl.reshape(tl.join(left * 2, right), (H, W))")
        elif what == "gather":
            w("v = tl.gather(v, tl.broadcast_to(tl.arange(0, W)[None, :], (H, W)), axis=1)")
        elif what == "histogram":
            w("counts = tl.histogram(tl.reshape(v, (H * W,)).to(tl.int32), 32)\ntl.store(y_ptr + tl.arange(0, 32), counts.to(y_ptr.dtype.element_ty))")
        elif what == "assert":
            w(r.choice(["tl.static_assert(W >= 16)", "tl.static_assert(H * W <= 65536, 'tile too large')"]))
    for _ in range(r.choice([2, 3, 4, 5, 6])):
        statement(0)
    w("tl.store(y_ptr + at, v.to(y_ptr.dtype.element_ty))")

    def case():
        h, wd = r.choice([16, 32, 64, 128]), r.choice([16, 32, 64, 128])
        signature = {"x_ptr": "*" + r.choice(["fp32", "fp16", "bf16"]), "y_ptr": "*fp32", "n": "i32", "flag": "i32"}
        if use_desc:
            signature["t_desc"] = tensordesc(r.choice(["fp16", "fp32"]), h, wd)
        return dict(target=f"cuda:{r.choice([90, 90, 100, 120] + ([] if use_desc else [80, 86]))}", options=options(r, (4, 4, 8, 2)), signature=signature, constexprs={"H": h, "W": wd}, divisible=["x_ptr", "y_ptr"] + r.choice([[], ["n"]]))
    return d.kernel([case() for _ in range(2)])


def task_program(r):
    """Tasks with captures of many types and work of every kind inside: products, reductions, buffers, stores."""
    d = Draft(r, "task_program")
    n, w = d.n, d.body
    scalars = {"scale": "fp32", "n": "i32", "big": "i64", "flag": "i1", "half": "fp16", "small": "i8", "stride": "i32", "x2_ptr": "*fp16", "wide": "fp64", "u": "u32"}
    for p in ("x_ptr", "y_ptr"):
        d.param(p)
    chosen = [p for p in scalars if p == "n" or r.random() < .35]
    for p in chosen:
        d.param(p)
    for p in ("H", "W", n.stages):
        d.param(p, True)
    d.helper(OFFSETS)
    w(f"tiles = tlx.local_alloc((H, W), tl.float16, {n.stages})")
    w(f"ready = tlx.alloc_barriers(num_barriers={n.stages})")
    w(f"free = {r.choice(['tlx.alloc_barriers(num_barriers=' + n.stages + ')', 'tlx.alloc_warp_barrier(num_barriers=' + n.stages + ', num_warps=4)'])}")
    extra = r.random() < .5
    if extra:
        w("keep = tlx.local_alloc((H, W), tl.float32, 1)")
        w("tlx.local_store(keep[0], tl.zeros((H, W), tl.float32))")
    if r.random() < .4:
        w("start = tl.program_id(0) * 16")
    else:
        w("start = 0")
    pre = r.random() < .4
    if pre:
        w("tl.store(y_ptr + tile_offsets(H, W, W), tl.load(x_ptr + tile_offsets(H, W, W)).to(y_ptr.dtype.element_ty) - tl.max(tl.load(x_ptr + tile_offsets(H, W, W)), axis=0)[None, :].to(y_ptr.dtype.element_ty))")
    words = {"scale": "v = v * scale", "big": "v = v + big.to(tl.float32)", "flag": "v = tl.where(flag, v, -v)", "half": "v = v + half.to(tl.float32)", "small": "v = v + small.to(tl.float32)",
             "stride": "v = v + stride", "x2_ptr": "v = v + tl.load(x2_ptr + tile_offsets(H, W, W)).to(tl.float32)", "wide": "v = v + wide.to(tl.float32)", "u": "v = v + u.to(tl.float32)"}

    def work(i):
        for p in chosen:
            if p in words and r.random() < .6:
                w(words[p])
        for what in r.sample(["v = v - tl.max(v, axis=1)[:, None]", "v = v / (1.0 + tl.sum(v, axis=0)[None, :])", "v = tl.cumsum(v, axis=1)", "v = tl.trans(tl.trans(v) * 2)",
                              "tl.atomic_add(y_ptr + tl.arange(0, W), tl.sum(v, axis=0).to(y_ptr.dtype.element_ty))", "best = tl.argmax(v, axis=1)\ntl.store(y_ptr + tl.arange(0, H), best.to(y_ptr.dtype.element_ty))"], r.choice([0, 1, 1, 2])):
            w(what)
        if extra and r.random() < .5:
            w("v = v + tlx.local_load(keep[0])")

    produced_by_default = r.random() < .5

    def producer():
        head, last, first = loop(d, "i", "0", "n")
        if first:
            w(first)
        with w.under(head):
            w(ring(d, "i", n.stages))
            w("tlx.barrier_wait(free[s], p ^ 1)")
            if r.random() < .5:
                w("v = tl.load(x_ptr + start + i * H * W + tile_offsets(H, W, W)).to(tl.float32)")
                work("i")
                w("tlx.local_store(tiles[s], v.to(tl.float16))")
            else:
                w("tlx.local_store(tiles[s], tl.load(x_ptr + start + i * H * W + tile_offsets(H, W, W)).to(tl.float16))")
            w("tlx.barrier_arrive(ready[s], 1)")
            if last:
                w(last)

    def consumer():
        head, last, first = loop(d, "i", "0", "n")
        if first:
            w(first)
        with w.under(head):
            w(ring(d, "i", n.stages))
            w("tlx.barrier_wait(ready[s], p)")
            w("v = tlx.local_load(tiles[s]).to(tl.float32)")
            w("tlx.barrier_arrive(free[s])")
            work("i")
            w("tl.store(y_ptr + i * H * W + tile_offsets(H, W, W), v.to(y_ptr.dtype.element_ty))")
            if last:
                w(last)
    third = r.random() < .3
    with w.under("with tlx.async_tasks():"):
        with w.under('with tlx.async_task("default"):'):
            (producer if produced_by_default else consumer)()
        with w.under(f"with tlx.async_task(num_warps=4{'' if third else r.choice(['', ', registers=120'])}):"):
            (consumer if produced_by_default else producer)()
        if third:
            with w.under(f"with tlx.async_task(num_warps={r.choice([1, 2, 4])}):"):
                w("tl.store(y_ptr + 7, " + ("scale" if "scale" in chosen else "1.0") + ")")
    if r.random() < .4:
        w("tail = tl.load(x_ptr + tile_offsets(H, W, W)).to(tl.float32)\ntl.store(y_ptr + tl.arange(0, H), tl.sum(tail, axis=1).to(y_ptr.dtype.element_ty))")

    def case():
        signature = {"x_ptr": "*" + r.choice(["fp16", "fp32"]), "y_ptr": "*fp32"} | {p: scalars[p] for p in chosen}
        return dict(target=f"cuda:{r.choice([90, 100])}", options=options(r, (4, 4, 4, 4, 8)), signature=signature, constexprs={"H": r.choice([16, 32, 64]), "W": r.choice([16, 32, 64, 128]), n.stages: r.choice([1, 2, 3])},
                    divisible=["x_ptr", "y_ptr"])
    return d.kernel([case() for _ in range(2)])


def tensor_memory_program(r):
    """Tensor memory of many shapes: products in loops and outside, views, copies into it, reuse."""
    d = Draft(r, "tensor_memory")
    n, w = d.n, d.body
    for p in ("c_ptr", "n"):
        d.param(p)
    for p in ("BM", "BN", "BK"):
        d.param(p, True)
    d.helper(OFFSETS)
    w("ta = tlx.local_alloc((BM, BK), tl.float16, 2)\ntb = tlx.local_alloc((BK, BN), tl.float16, 2)\nbars = tlx.alloc_barriers(num_barriers=2)")
    accs = r.choice([1, 1, 2, 3])
    separate = r.random() < .5
    if separate:
        for j in range(accs):
            w(f"acc{j} = tlx.local_alloc((BM, BN), tl.float32, 1, {TMEM})")
    else:
        w(f"accs = tlx.local_alloc((BM, BN), tl.float32, {accs}, {TMEM})")
    of = lambda j: f"acc{j}[0]" if separate else f"accs[{j}]"
    left_tmem = r.random() < .4
    if left_tmem:
        w(f"left = tlx.local_alloc((BM, BK), tl.float16, 1, {TMEM})")
        w("tlx.local_store(left[0], tl.load(c_ptr + tile_offsets(BM, BK, BK)).to(tl.float16))")
    w("tlx.local_store(ta[0], tl.load(c_ptr + tile_offsets(BM, BK, BK)).to(tl.float16))\ntlx.local_store(tb[0], tl.load(c_ptr + tile_offsets(BK, BN, BN)).to(tl.float16))")
    for j in range(accs):
        where = r.choice(["loop", "loop", "once", "nested", "if"])
        lhs = "left[0]" if left_tmem and r.random() < .6 else None
        dot = lambda i: f"tlx.async_dot({lhs or f'ta[{i} % 2]'}, tb[{i} % 2], {of(j)}, use_acc={f'{i} > 0' if i != '0' else 'False'}, mBarriers=[bars[{i} % 2]])" if i != "0" else f"tlx.async_dot({lhs or 'ta[0]'}, tb[0], {of(j)}, use_acc=False, mBarriers=[bars[0]])"
        if where == "once":
            w(dot("0"))
            w("tlx.barrier_wait(bars[0], 0)")
        elif where == "if":
            with w.under("if n > 2:"):
                w(dot("0"))
                w("tlx.barrier_wait(bars[0], 0)")
        else:
            head, last, first = loop(d, f"i{j}", "0", r.choice(["n", "n", "8"]))
            if where == "nested":
                w.rows.append("    " * w.depth + f"for outer{j} in range(n):")
                w.depth += 1
            if first:
                w(first)
            with w.under(head):
                w(dot(f"i{j}"))
                w(f"tlx.barrier_wait(bars[i{j} % 2], (i{j} // 2) & 1)")
                if r.random() < .3:
                    w(f"x = tlx.local_load({of(j)})\ntl.store(c_ptr + tile_offsets(BM, BN, BN), x)")
                if last:
                    w(last)
            if where == "nested":
                w.depth -= 1
    for j in range(accs):
        if r.random() < .4:
            w(f"x = tlx.local_load(tlx.subslice({of(j)}, 0, BN // 2))\ntl.store(c_ptr + tile_offsets(BM, BN // 2, BN // 2), x)")
        else:
            w(f"x = tlx.local_load({of(j)})")
            w(r.choice(["tl.store(c_ptr + tile_offsets(BM, BN, BN), x)", "tl.store(c_ptr + tl.arange(0, BM), tl.sum(x, axis=1))", "tl.store(c_ptr + tl.arange(0, BN), tl.max(x, axis=0))", "tl.store(c_ptr + tile_offsets(BN, BM, BM), tl.trans(x))"]))

    def case():
        return dict(target="cuda:100", options=options(r, (4, 4, 8)), signature={"c_ptr": "*fp32", "n": "i32"},
                    constexprs={"BM": r.choice([64, 128, 128]), "BN": r.choice([32, 64, 128, 256]), "BK": r.choice([16, 32, 64, 128])}, divisible=["c_ptr"])
    return d.kernel([case() for _ in range(2)])


FAMILIES = {
    "ring_product_90": lambda r: ring_product(r, 90), "ring_product_100": lambda r: ring_product(r, 100), "task_product_90": lambda r: task_product(r, 90), "task_product_100": lambda r: task_product(r, 100),
    "attention_90": attention_registers, "attention_100": attention_tensor_memory, "gated_90": lambda r: gated(r, 90), "gated_100": lambda r: gated(r, 100), "rows": rows, "aliases": aliases,
    "plain_dots": plain_dots, "amd_ring": amd_ring, "program": program, "task_program": task_program, "tensor_memory": tensor_memory_program,
}
SHARE = {"program": 2, "task_product_90": 2, "task_product_100": 2}


def make(r, family=None):
    return FAMILIES[family or r.choice([f for f in FAMILIES for _ in range(SHARE.get(f, 1))])](r)


if __name__ == "__main__":
    generate(make, "tlx", __doc__)
