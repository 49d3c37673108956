#!/usr/bin/env python3
"""Random Gluon kernels in the style that people write, with the compiler's answers.

usage: gluon_kernels.py OUT --oracle ORACLE.py [--seed 1] [--cells 100] [--family NAME] [--refusals FILE]      (Python with triton 3.9)
"""
from kernel_writer import BYTES, TL_NAMES, Kernel, Lines, Names, generate

HEADER = "import triton\nfrom triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
HOPPER = "from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait\n"
BLACKWELL = ("from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory, fence_async_shared, mbarrier,\n"
             "                                                                  tcgen05_commit, tcgen05_copy, tcgen05_mma, tma)\n")
AMPERE = "from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2\n"
OFFSETS = """
@gluon.jit
def tile_offsets(M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    return rows[:, None] * N + columns[None, :]
"""


class Draft:
    def __init__(self, r, family, header=""):
        self.r, self.family, self.n = r, family, Names(r)
        self.params, self.helpers, self.body, self.header = [], [], Lines(1), HEADER + header

    def param(self, name, constexpr=False):
        self.params.append(f"{name}: gl.constexpr" if constexpr else name)
        return name

    def helper(self, text):
        if text not in self.helpers:
            self.helpers.append(text)

    def kernel(self, cases, refused=False):
        params = [p for p in self.params if ":" not in p] + [p for p in self.params if ":" in p]
        one = ", ".join(params)
        head = f"@gluon.jit\ndef {self.n.kernel}({one}):" if len(one) < 110 and self.r.random() < .7 else f"@gluon.jit\ndef {self.n.kernel}(\n" + "".join(f"    {p},\n" for p in params) + "):"
        parts = [self.header] + self.helpers + [head + "\n" + self.body.text()]
        return Kernel(self.family, "\n\n".join(p.strip("\n") + "\n" for p in parts), cases, self.n.kernel, "gluon", refused)


def swizzle(shape, bits):
    contiguous, rows = shape[-1] * bits // 8, 1
    for extent in shape[:-1]:
        rows *= extent
    if len(shape) < 2 or rows < 8:
        return 0
    return next((w for w in (128, 64, 32) if contiguous >= w and contiguous % w == 0), 0)


def tensordesc(dtype, shape, width=None):
    bits = BYTES[dtype] * 8
    return (f"tensordesc<{dtype}[{', '.join(map(str, shape))}],NVMMASharedLayout(swizzle_byte_width={swizzle(shape, bits) if width is None else width}, "
            f"element_bitwidth={bits}, rank={len(shape)}, transposed=False, fp4_padded=False, cga_layout=[])>")


def split(r, product, rank):
    """`product` (a power of two) as factors"""
    factors = [1] * rank
    while product > 1:
        factors[r.randrange(rank)] *= 2
        product //= 2
    return factors


def blocked(r, warps, rank=2, threads=32, vector=None):
    order = list(range(rank - 1, -1, -1)) if r.random() < .75 else r.sample(range(rank), rank)
    per_thread = [1] * rank
    per_thread[order[0]] = vector or r.choice([1, 2, 4, 8])
    if r.random() < .2:
        per_thread[order[-1]] *= 2
    return f"gl.BlockedLayout({per_thread}, {split(r, threads, rank)}, {split(r, warps, rank)}, {order})"


def usual(warps, threads=32, vector=8):
    """The coalesced layout that most people write"""
    columns = min(threads, 8)
    return f"gl.BlockedLayout([1, {vector}], [{threads // columns}, {columns}], [{warps}, 1], [1, 0])"


def linear(r, shape, warps, threads=32):
    """A distributed linear layout with a base for every bit of a tile"""
    bits = [[1 << b, 0] for b in range(shape[0].bit_length() - 1)] + [[0, 1 << b] for b in range(shape[1].bit_length() - 1)]
    r.shuffle(bits)
    lanes, waves = threads.bit_length() - 1, warps.bit_length() - 1
    if len(bits) < lanes + waves:
        return None
    lane, warp, registers = bits[:lanes], bits[lanes:lanes + waves], bits[lanes + waves:]
    return f"gl.DistributedLinearLayout({registers}, {lane}, {warp}, [], [{shape[0]}, {shape[1]}])"


def shared(r, shape, dtype, kinds=("swizzled", "swizzled", "nvmma", "plain", "padded", "linear")):
    """A layout of a tile in shared memory"""
    kind = r.choice(kinds)
    bits = BYTES[dtype] * 8
    if kind == "nvmma":
        return r.choice([f"gl.NVMMASharedLayout.get_default_for([{shape[0]}, {shape[1]}], gl.{TL_NAMES[dtype]})", f"gl.NVMMASharedLayout(swizzle_byte_width={swizzle(shape, bits)}, element_bitwidth={bits}, rank=2)"])
    if kind == "padded":
        pairs = r.choice([f"[[{shape[1]}, {16 * 8 // bits}]]", f"[[{shape[1] * 2}, 8]]", f"[[{shape[1]}, 4], [{shape[1] * 4}, 8]]"])
        return f"gl.PaddedSharedLayout.with_identity_for({pairs}, [{shape[0]}, {shape[1]}], [1, 0])"
    if kind == "linear":
        bases = [[0, 1 << b] for b in range(shape[1].bit_length() - 1)] + [[1 << b, 0] for b in range(shape[0].bit_length() - 1)]
        if r.random() < .5:
            r.shuffle(bases)
        return f"gl.SharedLinearLayout({bases}{r.choice(['', ', [], 16', ', [], 128', ', [], 1024'])})"
    if kind == "plain":
        return "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])"
    vec = r.choice([1, 2, 4, 8])
    return f"gl.SwizzledSharedLayout({vec}, {r.choice([1, 2, 4])}, {r.choice([1, 2, 4, 8])}, {r.choice(['[1, 0]'] * 3 + ['[0, 1]'])})"


def case(target, warps, signature, constexprs=None, divisible=(), **options):
    return dict(target=target, options=dict(num_warps=warps, **options), signature=signature, constexprs=constexprs or {}, divisible=list(divisible))


# ---- registers: conversions, reductions, scans, gathers ------------------------------------------------------------------
def registers(r):
    """Values between layouts, reduced, scanned, gathered, counted; buffers beside them."""
    d = Draft(r, "registers")
    w = d.body
    amd = r.random() < .2
    threads = 64 if amd else 32
    warps = r.choice([1, 2, 4, 4, 4, 8])
    target = "hip:" + r.choice(["gfx942", "gfx950"]) if amd else f"cuda:{r.choice([80, 86, 90, 90, 100, 120])}"
    h, wd = r.choice([16, 32, 64, 128]), r.choice([16, 32, 64, 128])
    for p in ("x_ptr", "y_ptr", "i_ptr", "n"):
        d.param(p)
    by_name = r.random() < .6
    if by_name:
        d.param("H", True), d.param("W", True)
    H, W = ("H", "W") if by_name else (h, wd)
    d.helper(OFFSETS)
    layouts = []
    for j in range(r.choice([2, 2, 3])):
        text = (linear(r, (h, wd), warps, threads) if r.random() < .2 and not by_name else None) or blocked(r, warps, 2, threads)
        if not amd and r.random() < .2 and h >= 16 * warps:
            text = f"gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, 8])"
        elif not amd and r.random() < .15 and h >= 16 * warps and warps >= 4 and "cuda:90" == target:
            text = f"gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, {min(wd, 64)}, 16])"
        elif amd and r.random() < .3:
            text = f"gl.amd.AMDMFMALayout(version={3 if 'gfx942' in target else 4}, instr_shape=[{r.choice(['32, 32, 8', '16, 16, 16'])}], transposed={r.choice([True, False])}, warps_per_cta=[{warps}, 1])"
        w(f"l{j}: gl.constexpr = {text}")
        layouts.append(f"l{j}")
    if r.random() < .3 and not amd and h >= 16:
        w(f"dot_op: gl.constexpr = gl.DotOperandLayout({r.choice([0, 1])}, gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, 8]), {r.choice([1, 2, 4])})")
        layouts.append("dot_op")
    now = "l0"
    w(f"at = tile_offsets({H}, {W}, l0)")
    w("v = gl.load(x_ptr + at)")
    dtype = r.choice(["fp16", "fp32", "bf16", "i32", "fp32"])
    buffers = []

    def statement(depth):
        nonlocal now
        what = r.choice(["convert"] * 4 + ["sum", "max", "scan", "gather", "buffer", "buffer", "loop", "if", "histogram", "atomic", "argmax", "trans", "reshape", "slice_convert", "join"])
        if what == "convert":
            to = r.choice(layouts)
            if depth:
                w(f"v = gl.convert_layout(gl.convert_layout(v, {to}), {now})")
            else:
                w(f"v = gl.convert_layout(v, {to})")
                now = to
        elif what in ("sum", "max"):
            axis = r.randrange(2)
            fn = "gl." + what if r.random() < .8 else "gl.min"
            if r.random() < .6:
                w(f"v = v - {fn}(v, axis={axis})" + (".expand_dims(1)" if axis == 1 else "[None, :]") if r.random() < .3 else f"v = v - gl.expand_dims({fn}(v, axis={axis}), {axis})")
            else:
                w(f"s = {fn}(v, axis={axis})")
                other = f"gl.SliceLayout({axis}, {r.choice([l for l in layouts if l.startswith('l')])})"
                w(f"gl.store(y_ptr + gl.arange(0, {W if axis == 0 else H}, layout={other}), gl.convert_layout(s, {other}).to(y_ptr.dtype.element_ty))")
        elif what == "scan":
            d.helper("@gluon.jit\ndef plus(a, b):\n    return a + b\n")
            w(f"v = gl.associative_scan(v, {r.randrange(2)}, plus)")
        elif what == "argmax":
            d.helper("@gluon.jit\ndef larger(v0, i0, v1, i1):\n    take = (v0 > v1) | ((v0 == v1) & (i0 < i1))\n    return gl.where(take, v0, v1), gl.where(take, i0, i1)\n")
            axis = r.randrange(2)
            w(f"where = gl.arange(0, {W if axis == 1 else H}, layout=gl.SliceLayout({1 - axis}, {now}))")
            w(f"places = where[{'None, :' if axis == 1 else ':, None'}] + gl.zeros([{H}, {W}], gl.int32, {now})")
            w(f"top, index = gl.reduce((v, places), {axis}, larger)")
            w(f"v = v - gl.expand_dims(top, {axis})")
            w(f"gl.store(i_ptr + gl.arange(0, {H if axis == 1 else W}, layout=gl.SliceLayout({axis}, {now})), index)")
        elif what == "gather":
            w(f"pick = gl.load(i_ptr + tile_offsets({H}, {W}, {now}))")
            w(f"v = gl.gather(v, pick, axis={r.randrange(2)})")
        elif what == "buffer":
            name = f"b{len(buffers)}" if not buffers or (depth == 0 and r.random() < .6) else r.choice(buffers)
            if name not in buffers:
                w(f"{name} = gl.allocate_shared_memory(v.dtype, [{H}, {W}], {shared(r, (h, wd), dtype, ('swizzled', 'swizzled', 'plain', 'padded') if amd else ('swizzled', 'swizzled', 'plain', 'nvmma'))}" + (", v)" if r.random() < .3 else ")"))
                if depth == 0:
                    buffers.append(name)
            w(f"{name}.store(v)")
            if r.random() < .4:
                w("gl.barrier()")
            to = r.choice(layouts) if depth == 0 else now
            w(f"v = {name}.load({to})")
            now = to
        elif what in ("loop", "if") and depth < 2:
            with w.under(r.choice([f"for i{depth} in range(n):", f"for i{depth} in range(0, n, 2):", f"for i{depth} in gl.static_range(2):"]) if what == "loop" else r.choice(["if n > 3:", "if gl.program_id(0) == 0:"])):
                for _ in range(r.choice([1, 2])):
                    statement(depth + 1)
        elif what == "histogram":
            flat = f"gl.BlockedLayout([1], [{threads}], [{warps}], [0])"
            w(f"keys = gl.load(i_ptr + gl.arange(0, {r.choice([128, 256, 512])}, layout={flat}))\ncounts = gl.histogram(keys, {r.choice([32, 64, 128])}, layout={flat})\ngl.store(i_ptr + gl.arange(0, {'128'}, layout={flat}), counts)" if False else
              f"keys = gl.load(i_ptr + gl.arange(0, 256, layout={flat}))\ncounts = gl.histogram(keys, 64, layout={flat})\ngl.store(i_ptr + gl.arange(0, 64, layout={flat}), counts)")
        elif what == "atomic":
            w(r.choice([f"gl.atomic_add(i_ptr, 1)", f"ticket = gl.atomic_add(i_ptr, 1)\ngl.store(i_ptr + 1, ticket)", f"old = gl.atomic_cas(i_ptr, 0, 1)\ngl.store(i_ptr + 2, old)",
                        f"gl.atomic_add(y_ptr + gl.arange(0, {W}, layout=gl.SliceLayout(0, {now})), gl.sum(v, axis=0).to(y_ptr.dtype.element_ty))"]))
        elif what == "trans":
            w(f"gl.store(y_ptr + tile_offsets({W}, {H}, l0), gl.convert_layout(gl.permute(v, (1, 0)), l0).to(y_ptr.dtype.element_ty))")
        elif what == "reshape":
            flat = f"gl.BlockedLayout([1], [{threads}], [{warps}], [0])"
            w(f"f = gl.convert_layout(gl.reshape(v, [{H} * {W}]), {flat})\ngl.store(y_ptr + gl.arange(0, {H} * {W}, layout={flat}), f.to(y_ptr.dtype.element_ty))")
        elif what == "slice_convert":
            w(f"row = gl.load(x_ptr + gl.arange(0, {W}, layout=gl.SliceLayout(0, l0)))\nv = v + gl.convert_layout(row, gl.SliceLayout(0, {now}))[None, :]")
        elif what == "join":
            w(f"both = gl.join(v, v * 2)\nleft, right = gl.split(both)\nv = left + right" if r.random() < .5 else f"left, right = gl.split(gl.reshape(v, [{H}, {W} // 2, 2]))\ngl.store(y_ptr + gl.arange(0, {H}, layout=gl.SliceLayout(1, l0)), gl.convert_layout(gl.sum(left * right, axis=1), gl.SliceLayout(1, l0)).to(y_ptr.dtype.element_ty))")
    for _ in range(r.choice([1, 2, 3, 4, 5])):
        statement(0)
    w(f"out = gl.convert_layout(v, {r.choice(['l0', 'l1'])})" if r.random() < .7 else f"out = gl.convert_layout(v, l0)")
    used = "l0" if w.rows[-1].rstrip().endswith("l0)") else "l1"
    w(f"gl.store(y_ptr + tile_offsets({H}, {W}, {used}), out.to(y_ptr.dtype.element_ty))")

    def one():
        constexprs = {"H": h, "W": wd} if by_name else {}
        return case(target, warps, {"x_ptr": "*" + dtype, "y_ptr": "*" + r.choice([dtype, "fp32"]), "i_ptr": "*i32", "n": "i32"}, constexprs, [p for p in ("x_ptr", "y_ptr", "i_ptr") if r.random() < .9])
    return d.kernel([one() for _ in range(1)])


# ---- lives of explicit buffers ---------------------------------------------------------------------------------------------
def lives(r):
    """Buffers allocated early, late, in loops and branches, in helpers, in tuples and aggregates; views that keep them alive."""
    d = Draft(r, "lives")
    w = d.body
    warps = r.choice([1, 2, 4, 4, 8])
    h, wd = r.choice([16, 32, 64]), r.choice([32, 64, 128])
    dtype = r.choice(["fp16", "fp32", "bf16"])
    for p in ("x_ptr", "y_ptr", "n"):
        d.param(p)
    for p in ("H", "W", d.n.stages):
        d.param(p, True)
    d.helper(OFFSETS)
    d.helper("@gluon.jit\ndef through(v, shared_layout: gl.constexpr, layout: gl.constexpr):\n    tile = gl.allocate_shared_memory(v.dtype, v.shape, shared_layout)\n    tile.store(v)\n    return tile.load(layout)\n")
    if r.random() < .4:
        d.helper("@gluon.jit\ndef make_ring(dtype: gl.constexpr, COUNT: gl.constexpr, H: gl.constexpr, W: gl.constexpr, shared_layout: gl.constexpr):\n    return gl.allocate_shared_memory(dtype, [COUNT, H, W], shared_layout)\n")
        maker = True
    else:
        maker = False
    aggregate = r.random() < .25
    if aggregate:
        d.helper("@gluon.aggregate\nclass Ring:\n    tiles: gl.shared_memory_descriptor\n    layout: gl.constexpr\n\n    @gluon.jit\n    def put(self, slot, v):\n        self.tiles.index(slot).store(v)\n\n    @gluon.jit\n    def get(self, slot):\n        return self.tiles.index(slot).load(self.layout)\n")
    w(f"layout: gl.constexpr = {r.choice([usual(warps, 32, r.choice([1, 2, 4, 8])), blocked(r, warps)])}")
    w(f"other: gl.constexpr = {blocked(r, warps)}")
    w(f"tile_layout: gl.constexpr = {shared(r, (h, wd), dtype)}")
    w("at = tile_offsets(H, W, layout)\nv = gl.load(x_ptr + at)")
    names, rings = [], []

    def new(depth):
        name = f"t{len(names) + len(rings)}"
        kind = r.choice(["tile", "tile", "ring", "small"])
        if kind == "ring":
            if maker and r.random() < .5:
                w(f"{name} = make_ring(v.dtype, {d.n.stages}, H, W, tile_layout)")
            else:
                w(f"{name} = gl.allocate_shared_memory(v.dtype, [{d.n.stages}, H, W], tile_layout)")
            rings.append(name)
        elif kind == "tile":
            w(f"{name} = gl.allocate_shared_memory(v.dtype, [H, W], tile_layout{r.choice(['', ', v', ', value=v'])})")
            names.append(name)
        else:
            w(f"{name} = gl.allocate_shared_memory(v.dtype, [H, W], {shared(r, (h, wd), dtype, ('swizzled', 'plain'))})")
            names.append(name)
    for _ in range(r.choice([0, 1, 2])):
        new(0)

    def statement(depth, i=None):
        what = r.choice(["use", "use", "use", "ring", "ring", "new", "new", "through", "convert", "loop", "loop", "if", "choose", "sum", "keep", "index_late", "permute", "gather", "barrier", "swap"])
        if what == "new" or (what in ("use", "permute", "keep", "choose") and not names) or (what in ("ring", "index_late") and not rings):
            before = (list(names), list(rings))
            new(depth)
            fresh = [x for x in names + rings if x not in before[0] + before[1]][0]
            w(f"{fresh}.store(v)\nv = v + {fresh}.load(layout)" if fresh in names else f"{fresh}.index(0).store(v)\nv = v + {fresh}.index(0).load(layout)")
            if depth:  # does not live outside
                names[:], rings[:] = before
        elif what == "use":
            t = r.choice(names)
            w(f"{t}.store(v)\nv = v + {t}.load(layout)" if r.random() < .7 else f"v = v + {t}.load(layout)")
        elif what == "ring":
            t = r.choice(rings)
            slot = f"{i} % {d.n.stages}" if i else "0"
            if aggregate and r.random() < .5:
                w(f"ring = Ring({t}, layout)\nring.put({slot}, v)\nv = v + ring.get({slot})")
            else:
                w(f"{t}.index({slot}).store(v)\nv = v + {t}.index({slot}).load(layout)")
        elif what == "through":
            w(f"v = through(v, tile_layout, layout)")
        elif what == "convert":
            w("v = gl.convert_layout(gl.convert_layout(v, other) * 2, layout)")
        elif what == "loop" and depth < 2:
            name = f"i{depth}{len(w.rows)}"
            head = r.choice([f"for {name} in range(n):", f"for {name} in range(n):", f"for {name} in gl.static_range({d.n.stages}):", f"for {name} in range(4):"])
            if r.random() < .2:
                w(f"{name} = 0")
                head = f"while {name} < n:"
            with w.under(head):
                for _ in range(r.choice([1, 2, 3])):
                    statement(depth + 1, name)
                if head.startswith("while"):
                    w(f"{name} += 1")
        elif what == "if" and depth < 2:
            with w.under(r.choice(["if n > 4:", "if gl.program_id(0) == 0:"])):
                statement(depth + 1, i)
            if r.random() < .5:
                with w.under("else:"):
                    statement(depth + 1, i)
        elif what == "choose" and len(names) > 1 and depth == 0:
            a, b = r.sample(names, 2)
            w(f"if n > 2:\n    chosen = {a}\nelse:\n    chosen = {b}\nv = v + chosen.load(layout)")
        elif what == "swap" and len(names) > 1 and depth == 0:
            a, b = r.sample(names, 2)
            w(f"first = {a}\nsecond = {b}\nfor s in range(n):\n    first.store(v)\n    v = v + second.load(layout)\n    first, second = second, first")
        elif what == "sum":
            axis = r.randrange(2)
            w(f"v = v - gl.expand_dims(gl.sum(v, axis={axis}), {axis})")
        elif what == "keep":
            w(f"{r.choice(names)}._keep_alive()")
        elif what == "index_late":
            w(f"part = {r.choice(rings)}.index({d.n.stages} - 1)\nv = v + part.load(layout)")
        elif what == "permute":
            t = r.choice(names)
            w(f"turned = {t}.permute((1, 0)).load(layout)\ngl.store(y_ptr + tile_offsets(W, H, layout), turned.to(y_ptr.dtype.element_ty))")
        elif what == "gather" and names:
            t = r.choice(names)
            w(f"pick = gl.zeros([H, W], gl.int32, layout)\nv = v + {t}.gather(pick, axis=1)")
        elif what == "barrier":
            w("gl.barrier()")
    for _ in range(r.choice([2, 3, 4, 5, 6])):
        statement(0)
    w("gl.store(y_ptr + at, v.to(y_ptr.dtype.element_ty))")
    cases = [case(f"cuda:{r.choice([80, 86, 90, 90, 100, 120])}", warps, {"x_ptr": "*" + dtype, "y_ptr": "*" + r.choice(["fp32", dtype]), "n": "i32"}, {"H": h, "W": wd, d.n.stages: s}, ["x_ptr", "y_ptr"]) for s in r.sample([1, 2, 3], r.choice([1, 2]))]
    return d.kernel(cases)


# ---- rings of cp.async ----------------------------------------------------------------------------------------------------------
def copies(r):
    """cp.async rings: elementwise work or products of mma v2."""
    product = r.random() < .6
    d = Draft(r, "copies_product" if product else "copies", AMPERE)
    n, w = d.n, d.body
    warps = r.choice([4, 4, 8, 2])
    d.helper(OFFSETS)
    load = "async_copy.async_load"
    target = f"cuda:{r.choice([80, 86, 89, 90, 120])}"
    if not product:
        for p in ("x_ptr", "y_ptr", "n"):
            d.param(p)
        for p in ("H", "W", n.stages):
            d.param(p, True)
        h, wd, dtype = r.choice([8, 16, 32, 64]), r.choice([64, 128, 256]), r.choice(["fp16", "fp32", "bf16"])
        w(f"layout: gl.constexpr = {usual(warps, 32, 16 // BYTES[dtype])}")
        w("at = tile_offsets(H, W, layout)")
        w(f"ring = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [{n.stages}, H, W], {shared(r, (h, wd), dtype, ('swizzled', 'plain'))})")
        with w.under(f"for i in gl.static_range({n.stages} - 1):"):
            w(f"{load}(ring.index(i), x_ptr + i * H * W + at{r.choice(['', ', mask=at < n * H * W'])})\nasync_copy.commit_group()")
        w("total = gl.zeros([H, W], gl.float32, layout)")
        with w.under("for i in range(n):"):
            w(f"{load}(ring.index((i + {n.stages} - 1) % {n.stages}), x_ptr + (i + {n.stages} - 1) * H * W + at)\nasync_copy.commit_group()\nasync_copy.wait_group({n.stages} - 1)")
            w(f"v = ring.index(i % {n.stages}).load(layout).to(gl.float32)")
            what = r.choice(["total", "store", "sum"])
            w({"total": "total += v", "store": "gl.store(y_ptr + i * H * W + at, (v * 2).to(y_ptr.dtype.element_ty))", "sum": "total += v / gl.expand_dims(gl.sum(v * v, axis=1), 1)"}[what])
        w("async_copy.wait_group(0)")
        if r.random() < .5:
            w("gl.store(y_ptr + gl.arange(0, W, layout=gl.SliceLayout(0, layout)), gl.sum(total, axis=0).to(y_ptr.dtype.element_ty))")
        else:
            w("gl.store(y_ptr + at, total.to(y_ptr.dtype.element_ty))")
        return d.kernel([case(target, warps, {"x_ptr": "*" + dtype, "y_ptr": "*" + r.choice(["fp32", dtype]), "n": "i32"}, {"H": h, "W": wd, n.stages: s}, ["x_ptr", "y_ptr"]) for s in r.sample([2, 3, 4], 2)])
    for p in ("a_ptr", "b_ptr", "c_ptr", "K"):
        d.param(p)
    for p in (n.M, n.N, n.K, n.stages):
        d.param(p, True)
    bm, bn, bk = r.choice([32, 64, 128]), r.choice([32, 64, 128]), r.choice([32, 64])
    dtype = r.choice(["fp16", "bf16"])
    ww = split(r, warps, 2)
    if ww[0] * 16 > bm:
        ww = [1, warps]
    w(f"mma: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta={ww}, instr_shape=[16, 8])")
    w("lhs: gl.constexpr = gl.DotOperandLayout(parent=mma, operand_index=0, k_width=2)\nrhs: gl.constexpr = gl.DotOperandLayout(parent=mma, operand_index=1, k_width=2)")
    w(f"load_a: gl.constexpr = {usual(warps)}\nload_b: gl.constexpr = {usual(warps)}")
    w(f"ring_a = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [{n.stages}, {n.M}, {n.K}], {r.choice(['gl.SwizzledSharedLayout(8, 1, 8, [1, 0])', 'gl.SwizzledSharedLayout(8, 2, 4, order=[1, 0])', shared(r, (bm, bk), dtype, ('swizzled', 'nvmma'))])})")
    w(f"ring_b = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [{n.stages}, {n.K}, {n.N}], {r.choice(['gl.SwizzledSharedLayout(8, 1, 8, [1, 0])', 'gl.SwizzledSharedLayout(8, 2, 4, order=[1, 0])', shared(r, (bk, bn), dtype, ('swizzled', 'nvmma'))])})")
    w(f"at_a = tile_offsets({n.M}, {n.K}, load_a)\nat_b = tile_offsets({n.K}, {n.N}, load_b)")

    def fill(slot, k):
        w(f"{load}(ring_a.index({slot}), a_ptr + ({k}) * {n.M} * {n.K} + at_a)\n{load}(ring_b.index({slot}), b_ptr + ({k}) * {n.K} * {n.N} + at_b)\nasync_copy.commit_group()")
    with w.under(f"for k in gl.static_range({n.stages} - 1):"):
        fill("k", "k")
    w(f"{n.acc} = gl.zeros([{n.M}, {n.N}], gl.float32, mma)")
    with w.under(f"for k in range(gl.cdiv(K, {n.K})):"):
        w(f"async_copy.wait_group({n.stages} - 2)" if r.random() < .7 else "async_copy.wait_group(0)")
        w(f"a = ring_a.index(k % {n.stages}).load(lhs)\nb = ring_b.index(k % {n.stages}).load(rhs)\n{n.acc} = mma_v2(a, b, {n.acc})")
        fill(f"(k + {n.stages} - 1) % {n.stages}", f"k + {n.stages} - 1")
    w("async_copy.wait_group(0)")
    if r.random() < .4:
        w(f"{n.acc} = {n.acc} / gl.expand_dims(gl.sum({n.acc}, axis=1), 1)")
    how = r.choice(["direct", "convert", "convert", "staged"])
    if how == "direct":
        w(f"gl.store(c_ptr + tile_offsets({n.M}, {n.N}, mma), {n.acc}.to(c_ptr.dtype.element_ty))")
    elif how == "convert":
        w(f"out: gl.constexpr = {usual(warps, 32, r.choice([2, 4, 8]))}\nc = gl.convert_layout({n.acc}.to(c_ptr.dtype.element_ty), out)\ngl.store(c_ptr + tile_offsets({n.M}, {n.N}, out), c)")
    else:
        w(f"out: gl.constexpr = {usual(warps, 32, 8)}\nstage = gl.allocate_shared_memory(c_ptr.dtype.element_ty, [{n.M}, {n.N}], {shared(r, (bm, bn), 'fp16', ('swizzled', 'plain'))})\nstage.store({n.acc}.to(c_ptr.dtype.element_ty))\ngl.store(c_ptr + tile_offsets({n.M}, {n.N}, out), stage.load(out))")
    return d.kernel([case(target, warps, {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*" + r.choice([dtype, "fp32"]), "K": "i32"}, {n.M: bm, n.N: bn, n.K: bk, n.stages: s}, ["a_ptr", "b_ptr", "c_ptr"]) for s in r.sample([2, 3, 4], 2)])


# ---- TMA with wgmma and tcgen05 -----------------------------------------------------------------------------------------------
def tma_product(r, arch):
    """TMA rings with wgmma or tcgen05, epilogues of every kind; descriptors from the host or made on the device."""
    d = Draft(r, f"tma_product_{arch}", HOPPER if arch == 90 else BLACKWELL)
    n, w = d.n, d.body
    warps = r.choice([4, 4, 8])
    dtype = r.choice(["fp16", "bf16", "fp16", "fp8e4nv"])
    bm, bn, bk = r.choice([64, 128, 128]) * (2 if warps == 8 and arch == 90 else 1), r.choice([32, 64, 128, 128, 256]), r.choice([32, 64, 64, 128])
    out = r.choice(["fp16", "fp32", "bf16"])
    device = r.random() < .25
    pointer = r.random() < .4
    trans_b = r.random() < .3
    staged_width = r.choice([1, 1, 2, 4]) if arch == 100 and not pointer else 1
    a, b, c = "a_desc", "b_desc", "c_ptr" if pointer else "c_desc"
    b_shape = (bn, bk) if trans_b else (bk, bn)
    if device:
        for p in ("a_ptr", "b_ptr"):
            d.param(p)
    else:
        d.param(a), d.param(b)
    d.param(c)
    for p in ("M", "N", "K"):
        d.param(p)
    d.param(n.stages, True)
    if device:
        for p in ("BM", "BN", "BK"):
            d.param(p, True)
        w(f"a_desc = tma.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK], layout=gl.NVMMASharedLayout.get_default_for([BM, BK], a_ptr.dtype.element_ty))")
        w(f"b_desc = tma.make_tensor_descriptor(b_ptr, shape=[{'N, K' if trans_b else 'K, N'}], strides=[{'K' if trans_b else 'N'}, 1], block_shape=[{'BN, BK' if trans_b else 'BK, BN'}], layout=gl.NVMMASharedLayout.get_default_for([{'BN, BK' if trans_b else 'BK, BN'}], b_ptr.dtype.element_ty))")
    else:
        w(f"BM: gl.constexpr = a_desc.block_shape[0]\nBK: gl.constexpr = a_desc.block_shape[1]\nBN: gl.constexpr = b_desc.block_shape[{0 if trans_b else 1}]")
    w("pid_m = gl.program_id(0)\npid_n = gl.program_id(1)")
    w(f"a_bufs = gl.allocate_shared_memory(a_desc.dtype, [{n.stages}] + a_desc.block_shape, a_desc.layout)\nb_bufs = gl.allocate_shared_memory(b_desc.dtype, [{n.stages}] + b_desc.block_shape, b_desc.layout)")
    old = r.random() < .4
    w(f"bars = gl.allocate_shared_memory(gl.int64, [{n.stages}, 1], mbarrier.MBarrierLayout())" if old else f"bars = mbarrier.allocate_mbarrier(batch={n.stages})")
    with w.under(f"for i in gl.static_range({n.stages}):"):
        w("mbarrier.init(bars.index(i), count=1)")
    if arch == 100:
        w("done = mbarrier.allocate_mbarrier()\nmbarrier.init(done, count=1)")
        w("acc = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([min(BM, 128), BN], col_stride=1))" if r.random() < .5 else "acc_layout: gl.constexpr = TensorMemoryLayout([BM, BN], col_stride=1)\nacc = allocate_tensor_memory(gl.float32, [BM, BN], acc_layout)")
        w("use_acc = False")
    else:
        k_width = 256 // (BYTES[dtype] * 8)
        w(f"mma: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, {r.choice([bn, min(bn, 64), min(bn, 128)])}, {k_width}])")
        w("acc = gl.zeros([BM, BN], gl.float32, mma)")

    def bring(slot, k, pred=""):
        w(f"mbarrier.expect(bars.index({slot}), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta{pred})")
        w(f"tma.async_load(a_desc, [pid_m * BM, ({k}) * BK], bars.index({slot}), a_bufs.index({slot}){', pred' + pred.split('pred')[-1] if pred else ''})")
        w(f"tma.async_load(b_desc, {f'[pid_n * BN, ({k}) * BK]' if trans_b else f'[({k}) * BK, pid_n * BN]'}, bars.index({slot}), b_bufs.index({slot}){', pred' + pred.split('pred')[-1] if pred else ''})")
    ahead = r.random() < .6
    if ahead:
        with w.under(f"for k in gl.static_range({n.stages} - 1):"):
            bring("k", "k")
    w("steps = gl.cdiv(K, BK)")
    with w.under("for k in range(steps):"):
        if ahead:
            bring(f"(k + {n.stages} - 1) % {n.stages}", f"k + {n.stages} - 1", f", pred=k + {n.stages} - 1 < steps")
        else:
            bring(f"k % {n.stages}", "k")
        w(f"mbarrier.wait(bars.index(k % {n.stages}), (k // {n.stages}) & 1)")
        right = f"b_bufs.index(k % {n.stages}).permute((1, 0))" if trans_b else f"b_bufs.index(k % {n.stages})"
        if arch == 100:
            if r.random() < .5:
                w(f"tcgen05_mma(a_bufs.index(k % {n.stages}), {right}, acc, use_acc=use_acc)\ntcgen05_commit(done)")
            else:
                w(f"tcgen05_mma(a_bufs.index(k % {n.stages}), {right}, acc, use_acc=use_acc, mbarriers=[done])")
            w("mbarrier.wait(done, k & 1)\nuse_acc = True")
        else:
            w(f"acc = warpgroup_mma(a_bufs.index(k % {n.stages}), {right}, acc, is_async=True)\nacc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))")
    if r.random() < .6:
        with w.under(f"for i in gl.static_range({n.stages}):"):
            w("mbarrier.invalidate(bars.index(i))")
        if arch == 100 and r.random() < .7:
            w("mbarrier.invalidate(done)")
    if staged_width > 1:
        w(f"stage = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)")
        with w.under(f"for j in gl.static_range({staged_width}):"):
            w(f"part = acc.slice(j * (BN // {staged_width}), BN // {staged_width}).load()\nstage.store(part.to(c_desc.dtype))\nfence_async_shared()\ntma.async_store(c_desc, [pid_m * BM, pid_n * BN + j * (BN // {staged_width})], stage)\ntma.store_wait(pendings=0)")
    else:
        w("result = acc.load()" if arch == 100 else "result = acc")
        if r.random() < .3:
            w("result = result / gl.expand_dims(gl.max(result, axis=1), 1)")
        if pointer:
            w(f"out: gl.constexpr = {usual(warps, 32, 4)}")
            w("rows = pid_m * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, out))\ncolumns = pid_n * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, out))")
            w(f"gl.store(c_ptr + rows[:, None] * N + columns[None, :], gl.convert_layout({r.choice(['result.to(c_ptr.dtype.element_ty), out)', 'result, out).to(c_ptr.dtype.element_ty)'])}, mask=(rows[:, None] < M) & (columns[None, :] < N))")
        else:
            w("stage = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)\nstage.store(result.to(c_desc.dtype))\nfence_async_shared()\ntma.async_store(c_desc, [pid_m * BM, pid_n * BN], stage)\ntma.store_wait(pendings=0)")
    def one(stages):
        signature = {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype} if device else {a: tensordesc(dtype, (bm, bk)), b: tensordesc(dtype, b_shape)}
        signature[c] = "*" + out if pointer else tensordesc(out, (bm, bn // staged_width))
        signature |= {"M": "i32", "N": "i32", "K": "i32"}
        constexprs = {n.stages: stages} | ({"BM": bm, "BN": bn, "BK": bk} if device else {})
        return case(f"cuda:{arch}", warps, signature, constexprs, [p for p in signature if p.endswith("ptr")] + r.choice([[], ["K", "N"]]))
    return d.kernel([one(s) for s in r.sample([1, 2, 3, 4] if not ahead else [2, 3, 4], 2)])


# ---- tasks ------------------------------------------------------------------------------------------------------------------------
def tasks(r, arch):
    """warp_specialize: load, compute (wgmma, tcgen05 or plain work), store; captures in tuples, scalars, aggregates."""
    kind = r.choice(["elementwise", "product", "product"])
    d = Draft(r, f"tasks_{kind}_{arch}", HOPPER if arch == 90 else BLACKWELL)
    n, w = d.n, d.body
    S = n.stages
    warps = r.choice([4, 4, 8])
    aggregate = r.random() < .3
    dtype, out = r.choice(["fp16", "bf16", "fp32" if kind == "elementwise" else "fp16"]), r.choice(["fp16", "fp32"])
    bm, bn, bk = r.choice([64, 128]) * (2 if warps == 8 and arch == 90 and kind == "product" else 1), r.choice([32, 64, 128]), r.choice([32, 64])
    store_task = r.random() < .4
    pieces = []
    scalars = {"scale": "fp32", "n": "i32", "wide": "i64", "flag": "i1", "small": "i8"}
    extra = [p for p in ("scale", "wide", "flag", "small") if r.random() < .3]
    if aggregate:
        d.helper("@gluon.aggregate\nclass Args:\n    a_desc: tma.tensor_descriptor\n    a_bufs: gl.shared_memory_descriptor\n    ready: gl.shared_memory_descriptor\n    free: gl.shared_memory_descriptor\n    n: gl.tensor\n")
    if kind == "elementwise":
        load_args = "args" if aggregate else "a_desc, a_bufs, ready, free, n"
        unpack = "    a_desc = args.a_desc\n    a_bufs = args.a_bufs\n    ready = args.ready\n    free = args.free\n    n = args.n\n" if aggregate else ""
        d.helper(f"@gluon.jit\ndef load({load_args}, {S}: gl.constexpr):\n{unpack}    for i in range(n):\n        s = i % {S}\n        mbarrier.wait(free.index(s), ((i // {S}) & 1) ^ 1)\n        mbarrier.expect(ready.index(s), a_desc.nbytes_per_cta)\n        tma.async_load(a_desc, [i * a_desc.block_shape[0], 0], ready.index(s), a_bufs.index(s))\n")
        for p in ["a_desc", "c_desc" if store_task else "c_ptr", "n"] + extra:
            d.param(p)
        d.param(S, True)
        helper = Lines(0)
        more = "".join(f", {p}" for p in extra)
        with helper.under(f"@gluon.jit\ndef compute(a_bufs, ready, free, c, filled, drained, n{more}, {S}: gl.constexpr):" if store_task else f"@gluon.jit\ndef compute(a_bufs, ready, free, c, n{more}, {S}: gl.constexpr):"):
            h = helper
            h("M: gl.constexpr = a_bufs.shape[1]\nN: gl.constexpr = a_bufs.shape[2]")
            h(f"layout: gl.constexpr = gl.BlockedLayout([1, {r.choice([1, 4, 8])}], [{r.choice(['4, 8', '1, 32', '8, 4'])}], [gl.num_warps(), 1], [1, 0])")
            with h.under("for i in range(n):"):
                h(f"s = i % {S}\nmbarrier.wait(ready.index(s), (i // {S}) & 1)\nv = a_bufs.index(s).load(layout).to(gl.float32)\nmbarrier.arrive(free.index(s), count=1)")
                for p in extra:
                    h({"scale": "v = v * scale", "wide": "v = v + wide.to(gl.float32)", "flag": "v = gl.where(flag, v, -v)", "small": "v = v + small.to(gl.float32)"}[p])
                h(r.choice(["v = v * 2", "v = v - gl.expand_dims(gl.max(v, axis=1), 1)", "v = v / (1 + gl.expand_dims(gl.sum(v, axis=0), 0))", "v = gl.convert_layout(gl.convert_layout(v, gl.BlockedLayout([1, 1], [32, 1], [1, gl.num_warps()], [0, 1])) + 1, layout)"]))
                if store_task:
                    h(f"mbarrier.wait(drained.index(s), ((i // {S}) & 1) ^ 1)\nc.index(s).store(v.to(c.dtype))\nfence_async_shared()\nmbarrier.arrive(filled.index(s), count=1)")
                else:
                    h("rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))\ncolumns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))\ngl.store(c + i * M * N + rows[:, None] * N + columns[None, :], v.to(c.dtype.element_ty))")
        d.helper(helper.text())
        if store_task:
            d.helper(f"@gluon.jit\ndef store(c_desc, c_bufs, filled, drained, n, {S}: gl.constexpr):\n    for i in range(n):\n        s = i % {S}\n        mbarrier.wait(filled.index(s), (i // {S}) & 1)\n        tma.async_store(c_desc, [i * c_desc.block_shape[0], 0], c_bufs.index(s))\n        tma.store_wait(pendings=0)\n        mbarrier.arrive(drained.index(s), count=1)\n")
        w(f"a_bufs = gl.allocate_shared_memory(a_desc.dtype, [{S}] + a_desc.block_shape, a_desc.layout)")
        bars = ["ready", "free"]
        if store_task:
            w(f"c_bufs = gl.allocate_shared_memory(c_desc.dtype, [{S}] + c_desc.block_shape, c_desc.layout)")
            bars += ["filled", "drained"]
        for x in bars:
            w(f"{x} = mbarrier.allocate_mbarrier(batch={S})")
        with w.under(f"for i in gl.static_range({S}):"):
            for x in bars:
                w(f"mbarrier.init({x}.index(i), count=1)")
        if r.random() < .3:
            w(f"scratch = gl.allocate_shared_memory(gl.float32, [256], gl.SwizzledSharedLayout(1, 1, 1, [0]))\nscratch.store(gl.zeros([256], gl.float32, gl.BlockedLayout([1], [32], [{warps}], [0])))")
        loads = f"(load, (Args(a_desc, a_bufs, ready, free, {'n' if r.random() < 2 else ''}), {S}))" if aggregate else f"(load, (a_desc, a_bufs, ready, free, n, {S}))"
        computes = f"(compute, (a_bufs, ready, free, c_bufs, filled, drained, n{more}, {S}))" if store_task else f"(compute, (a_bufs, ready, free, c_ptr, n{more}, {S}))"
        workers = [loads] + ([f"(store, (c_desc, c_bufs, filled, drained, n, {S}))"] if store_task else [])
        default, rest = computes, workers
        if r.random() < .25:
            default, rest = loads, [computes] + workers[1:]
        counts = [4 if "compute" in x else r.choice([1, 1, 2, 4]) for x in rest]
        regs = r.choice([f", {[r.choice([24, 40, 152]) for _ in rest]}", ", " + str([24 if c == 1 else 152 for c in counts])])
        w(f"gl.warp_specialize([{', '.join([default] + rest)}], {counts}{regs})")

        def one(s):
            signature = {"a_desc": tensordesc(dtype, (bm, bn)), "c_desc" if store_task else "c_ptr": tensordesc(out, (bm, bn)) if store_task else "*" + out, "n": "i32"} | {p: scalars[p] for p in extra}
            return case(f"cuda:{arch}", warps, signature, {S: s}, [] if store_task else ["c_ptr"])
        return d.kernel([one(s) for s in r.sample([1, 2, 3, 4], 2)])
    # a product
    for p in ("a_desc", "b_desc", "c_desc" if store_task else "c_ptr", "K", "tiles") + tuple(extra):
        d.param(p)
    d.param(S, True)
    persistent = r.random() < .4
    d.helper(f"@gluon.jit\ndef load(descs, bufs, bars, K, {S}: gl.constexpr):\n    a_desc, b_desc = descs\n    a_bufs, b_bufs = bufs\n    ready, free = bars\n    BK: gl.constexpr = a_desc.block_shape[1]\n    count = 0\n    for k in range(0, K, BK):\n        s = count % {S}\n        mbarrier.wait(free.index(s), ((count // {S}) & 1) ^ 1)\n"
             f"        mbarrier.expect(ready.index(s), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)\n        tma.async_load(a_desc, [gl.program_id(0) * a_desc.block_shape[0], k], ready.index(s), a_bufs.index(s))\n        tma.async_load(b_desc, [k, gl.program_id(1) * b_desc.block_shape[1]], ready.index(s), b_bufs.index(s))\n        count += 1\n")
    more = "".join(f", {p}" for p in extra)
    h = Lines(0)

    def finish(value):
        for p in extra:
            h(f"{value} = " + {"scale": f"{value} * scale", "wide": f"{value} + wide.to(gl.float32)", "flag": f"gl.where(flag, {value}, -{value})", "small": f"{value} + small.to(gl.float32)"}[p])
        if store_task:
            h(f"stage = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)\nstage.store({value}.to(c.dtype))\nfence_async_shared()\ntma.async_store(c, [gl.program_id(0) * M, gl.program_id(1) * N], stage)\ntma.store_wait(pendings=0)")
        else:
            h(f"out: gl.constexpr = gl.BlockedLayout([1, {r.choice([2, 4, 8])}], [4, 8], [gl.num_warps(), 1], [1, 0])\nrows = gl.arange(0, M, layout=gl.SliceLayout(1, out))\ncolumns = gl.arange(0, N, layout=gl.SliceLayout(0, out))\ngl.store(c + rows[:, None] * N + columns[None, :], gl.convert_layout({value}, out).to(c.dtype.element_ty))")
    if arch == 90:
        with h.under(f"@gluon.jit\ndef multiply(bufs, bars, c, K{more}, {S}: gl.constexpr):"):
            h(f"a_bufs, b_bufs = bufs\nready, free = bars\nM: gl.constexpr = a_bufs.shape[1]\nBK: gl.constexpr = a_bufs.shape[2]\nN: gl.constexpr = b_bufs.shape[2]\nmma: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, N, 16])\nacc = gl.zeros([M, N], gl.float32, mma)\ncount = 0")
            with h.under("for k in range(0, K, BK):"):
                h(f"s = count % {S}\nmbarrier.wait(ready.index(s), (count // {S}) & 1)\nacc = warpgroup_mma(a_bufs.index(s), b_bufs.index(s), acc, is_async=True)\nacc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))\nmbarrier.arrive(free.index(s), count=1)\ncount += 1")
            finish("acc")
        d.helper(h.text())
        parts = [f"(multiply, ((a_bufs, b_bufs), (ready, free), {'c_desc' if store_task else 'c_ptr'}, K{more}, {S}))", f"(load, ((a_desc, b_desc), (a_bufs, b_bufs), (ready, free), K, {S}))"]
        counts = [r.choice([1, 4])]
        if r.random() < .25:
            parts.reverse()
            counts = [4]
    else:
        d.helper(f"@gluon.jit\ndef multiply(bufs, bars, acc_full, acc, K, {S}: gl.constexpr):\n    a_bufs, b_bufs = bufs\n    ready, free = bars\n    BK: gl.constexpr = a_bufs.shape[2]\n    count = 0\n    use_acc = False\n    for k in range(0, K, BK):\n        s = count % {S}\n        mbarrier.wait(ready.index(s), (count // {S}) & 1)\n"
                 f"        tcgen05_mma(a_bufs.index(s), b_bufs.index(s), acc, use_acc=use_acc)\n        tcgen05_commit(free.index(s))\n        use_acc = True\n        count += 1\n    tcgen05_commit(acc_full)\n")
        with h.under(f"@gluon.jit\ndef epilogue(acc, acc_full, c{more}):"):
            h("M: gl.constexpr = acc.shape[0]\nN: gl.constexpr = acc.shape[1]\nmbarrier.wait(acc_full, 0)\nvalue = acc.load()")
            finish("value")
        d.helper(h.text())
        parts = [f"(epilogue, (acc, acc_full, {'c_desc' if store_task else 'c_ptr'}{more}))", f"(load, ((a_desc, b_desc), (a_bufs, b_bufs), (ready, free), K, {S}))", f"(multiply, ((a_bufs, b_bufs), (ready, free), acc_full, acc, K, {S}))"]
        counts = [r.choice([1, 1, 4]), r.choice([1, 1, 4])]
    w(f"a_bufs = gl.allocate_shared_memory(a_desc.dtype, [{S}] + a_desc.block_shape, a_desc.layout)\nb_bufs = gl.allocate_shared_memory(b_desc.dtype, [{S}] + b_desc.block_shape, b_desc.layout)")
    w(f"ready = mbarrier.allocate_mbarrier(batch={S})\nfree = mbarrier.allocate_mbarrier(batch={S})")
    with w.under(f"for i in gl.static_range({S}):"):
        w("mbarrier.init(ready.index(i), count=1)\nmbarrier.init(free.index(i), count=1)")
    if arch == 100:
        w("acc = allocate_tensor_memory(gl.float32, [a_desc.block_shape[0], b_desc.block_shape[1]], TensorMemoryLayout([a_desc.block_shape[0], b_desc.block_shape[1]], col_stride=1))\nacc_full = mbarrier.allocate_mbarrier()\nmbarrier.init(acc_full, count=1)")
    if arch == 90 and r.random() < .3 or True:
        call = f"gl.warp_specialize([{', '.join(parts)}], {counts}, {[24 if c == 1 else 152 for c in counts]})"
        if persistent and r.random() < .5:
            with w.under("for t in range(tiles):"):
                w(call)
        else:
            w(call)

    def one(s):
        signature = {"a_desc": tensordesc(dtype, (bm, bk)), "b_desc": tensordesc(dtype, (bk, bn)), "c_desc" if store_task else "c_ptr": tensordesc(out, (bm, bn)) if store_task else "*" + out, "K": "i32", "tiles": "i32"} | {p: scalars[p] for p in extra}
        return case(f"cuda:{arch}", warps, signature, {S: s}, [] if store_task else ["c_ptr"])
    return d.kernel([one(s) for s in r.sample([1, 2, 3, 4], 2)])


# ---- tensor memory ----------------------------------------------------------------------------------------------------------
def tensor_memory(r):
    """Allocations of 64 and 128 rows, indexed, sliced, reinterpreted; operands in tensor memory; lives in loops and branches."""
    d = Draft(r, "tensor_memory", BLACKWELL)
    w = d.body
    warps = r.choice([4, 4, 8])
    for p in ("c_ptr", "n"):
        d.param(p)
    names = []
    w("done = mbarrier.allocate_mbarrier()\nmbarrier.init(done, count=1)")

    def new(shape=None, dtype=None, batch=None):
        m, nn = shape or (r.choice([64, 128, 128]), r.choice([32, 64, 128, 256]))
        dtype = dtype or r.choice(["float32", "float32", "float32", "float16"])
        batch = batch if batch is not None else r.choice([0, 0, 0, 1, 2, 3])
        name = f"t{len(names)}"
        form = f"TensorMemoryLayout([{m}, {nn}], col_stride=1)"
        w(f"{name} = allocate_tensor_memory(gl.{dtype}, [{f'{batch}, ' if batch else ''}{m}, {nn}], {form})")
        names.append((name, m, nn, dtype, batch))
        return names[-1]

    def view(t, i=None):
        name, m, nn, dtype, batch = t
        return f"{name}.index({f'{i} % {batch}' if i and r.random() < .5 else r.randrange(batch)})" if batch else name
    d.helper("@gluon.jit\ndef total(t, c_ptr):\n    v = t.load()\n    gl.store(c_ptr, gl.sum(gl.sum(v.to(gl.float32), 1), 0))\n")
    operands = []

    def operand(m, k, nn):
        if r.random() < .4:
            a = new((m, k), "float16", 0)
            w(f"{a[0]}.store(gl.zeros([{m}, {k}], gl.float16, {a[0]}.get_reg_layout()))")
            left = a[0]
        else:
            left = f"a{len(operands)}"
            w(f"{left} = gl.allocate_shared_memory(gl.float16, [{m}, {k}], gl.NVMMASharedLayout.get_default_for([{m}, {k}], gl.float16))")
        right = f"b{len(operands)}"
        w(f"{right} = gl.allocate_shared_memory(gl.float16, [{k}, {nn}], gl.NVMMASharedLayout.get_default_for([{k}, {nn}], gl.float16))")
        operands.append((left, right, m, k, nn))
        return operands[-1]
    new()

    def statement(depth, i=None):
        what = r.choice(["new", "new", "store", "store", "product", "product", "loop", "if", "slice", "reinterpret", "total", "copy", "helper"])
        if what == "new" and depth == 0:
            t = new()
            w(f"{view(t)}.store(gl.zeros([{t[1]}, {t[2]}], gl.{t[3]}, {view(t)}.get_reg_layout()))" if r.random() < .6 else f"total({view(t)}, c_ptr)")
        elif what == "store":
            t = r.choice(names)
            v = view(t, i)
            w(f"{v}.store({v}.load() + 1)" if r.random() < .5 else f"{v}.store(gl.full([{t[1]}, {t[2]}], 1, gl.{t[3]}, {v}.get_reg_layout()))")
        elif what == "product":
            candidates = [t for t in names if t[3] == "float32"]
            if not candidates or depth and not operands:
                return
            t = r.choice(candidates)
            if depth:
                fit = [o for o in operands if o[2] == t[1] and o[4] == t[2]]
                if not fit:
                    return
                o = r.choice(fit)
            else:
                o = operand(t[1], r.choice([16, 32, 64]), t[2])
            w(f"tcgen05_mma({o[0]}, {o[1]}, {view(t, i)}, use_acc={r.choice(['False', 'True'])})\ntcgen05_commit(done)\nmbarrier.wait(done, {i + ' & 1' if i else '0'})")
        elif what == "loop" and depth < 2:
            name = f"i{len(w.rows)}"
            with w.under(f"for {name} in range(n):"):
                w("pass")
                for _ in range(r.choice([1, 2])):
                    statement(depth + 1, name)
        elif what == "if" and depth < 2:
            with w.under("if n > 3:"):
                w("pass")
                statement(depth + 1, i)
        elif what == "slice":
            t = r.choice(names)
            if t[2] >= 64:
                w(f"total({view(t, i)}.slice({r.choice([0, t[2] // 2])}, {t[2] // 2}), c_ptr)")
        elif what == "reinterpret":
            t = r.choice(names)
            if t[3] == "float32" and t[1] == 128 and t[2] <= 128 and not t[4]:
                w(f"as_half = {t[0]}.reinterpret(gl.float16, [{t[1]}, {t[2] * 2}], TensorMemoryLayout([{t[1]}, {t[2] * 2}], col_stride=1))\nas_half.store(gl.zeros([{t[1]}, {t[2] * 2}], gl.float16, as_half.get_reg_layout()))")
        elif what == "total":
            w(f"total({view(r.choice(names), i)}, c_ptr)")
        elif what == "copy":
            t = r.choice([t for t in names])
            if t[3] == "float32" and t[1] == 128 and t[2] <= 64 and depth == 0:
                w(f"s = gl.allocate_shared_memory(gl.float32, [{t[1]}, {t[2]}], gl.NVMMASharedLayout.get_default_for([{t[1]}, {t[2]}], gl.float32))\ntcgen05_copy(s, {view(t)})\ntcgen05_commit(done)\nmbarrier.wait(done, 0)")
        elif what == "helper":
            d.helper("@gluon.jit\ndef through(x, M: gl.constexpr, N: gl.constexpr):\n    own = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))\n    own.store(gl.convert_layout(x, own.get_reg_layout()))\n    return own.load()\n")
            t = r.choice(names)
            if t[3] == "float32":
                w(f"{view(t, i)}.store(gl.convert_layout(through({view(t, i)}.load(), {t[1]}, {t[2]}), {view(t, i)}.get_reg_layout()))")
    for _ in range(r.choice([2, 3, 4, 5, 6])):
        statement(0)
    for t in names:
        if r.random() < .6:
            w(f"total({view(t)}, c_ptr)")
    return d.kernel([case("cuda:100", warps, {"c_ptr": "*fp32", "n": "i32"}, {}, ["c_ptr"])])


# ---- attention ----------------------------------------------------------------------------------------------------------------
def attention(r, arch):
    d = Draft(r, f"attention_{arch}", HOPPER if arch == 90 else BLACKWELL)
    n, w = d.n, d.body
    S, warps, dtype = n.stages, r.choice([4, 4, 8]), r.choice(["fp16", "bf16"])
    bm, bn, hd = (128 if warps == 8 else r.choice([64, 128])) if arch == 90 else r.choice([64, 128, 128]), r.choice([32, 64, 128]), r.choice([32, 64, 128])
    for p in ("q_desc", "k_desc", "v_desc", "o_ptr", "scale", "N_CTX"):
        d.param(p)
    d.param(S, True)
    w("BM: gl.constexpr = q_desc.block_shape[0]\nBN: gl.constexpr = k_desc.block_shape[0]\nHD: gl.constexpr = q_desc.block_shape[1]")
    w(f"q_buf = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_shape, q_desc.layout)\nk_bufs = gl.allocate_shared_memory(k_desc.dtype, [{S}] + k_desc.block_shape, k_desc.layout)\nv_bufs = gl.allocate_shared_memory(v_desc.dtype, [{S}] + v_desc.block_shape, v_desc.layout)")
    w(f"q_ready = mbarrier.allocate_mbarrier()\nkv_ready = mbarrier.allocate_mbarrier(batch={S})\nmbarrier.init(q_ready, count=1)\nfor i in gl.static_range({S}):\n    mbarrier.init(kv_ready.index(i), count=1)")
    w("start = gl.program_id(0) * BM\nmbarrier.expect(q_ready, q_desc.nbytes_per_cta)\ntma.async_load(q_desc, [start, 0], q_ready, q_buf)\nmbarrier.wait(q_ready, 0)")
    if arch == 90:
        w(f"qk_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, BN, 16])\no_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, HD, 16])")
        row = "gl.SliceLayout(1, qk_layout)"
        w("acc = gl.zeros([BM, HD], gl.float32, o_layout)")
    else:
        w("qk_tmem = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))\no_tmem = allocate_tensor_memory(gl.float32, [BM, HD], TensorMemoryLayout([BM, HD], col_stride=1))")
        place = r.choice(["tmem", "smem", "reuse"]) if bm == 128 else r.choice(["tmem", "smem"])
        g = TL_NAMES[dtype]
        if place == "tmem":
            w(f"p_tmem = allocate_tensor_memory(gl.{g}, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))")
        elif place == "smem":
            w(f"p_buf = gl.allocate_shared_memory(gl.{g}, [BM, BN], gl.NVMMASharedLayout.get_default_for([BM, BN], gl.{g}))")
        w("done = mbarrier.allocate_mbarrier()\nmbarrier.init(done, count=1)\nphase = 0")
        w("o_tmem.store(gl.zeros([BM, HD], gl.float32, o_tmem.get_reg_layout()))\nqk_layout: gl.constexpr = qk_tmem.get_reg_layout()\no_layout: gl.constexpr = o_tmem.get_reg_layout()")
        row = "gl.SliceLayout(1, qk_layout)"
    w(f"m = gl.full([BM], float('-inf'), gl.float32, {row})\nl = gl.full([BM], 1.0, gl.float32, {row})")
    with w.under("for start_n in range(0, N_CTX, BN):"):
        w(f"s = (start_n // BN) % {S}\nmbarrier.expect(kv_ready.index(s), k_desc.nbytes_per_cta + v_desc.nbytes_per_cta)\ntma.async_load(k_desc, [start_n, 0], kv_ready.index(s), k_bufs.index(s))\ntma.async_load(v_desc, [start_n, 0], kv_ready.index(s), v_bufs.index(s))\nmbarrier.wait(kv_ready.index(s), (start_n // BN // {S}) & 1)")
        if arch == 90:
            w("qk = warpgroup_mma(q_buf, k_bufs.index(s).permute((1, 0)), gl.zeros([BM, BN], gl.float32, qk_layout), is_async=True)\nqk = warpgroup_mma_wait(num_outstanding=0, deps=(qk, ))")
        else:
            w("tcgen05_mma(q_buf, k_bufs.index(s).permute((1, 0)), qk_tmem, use_acc=False)\ntcgen05_commit(done)\nmbarrier.wait(done, phase)\nphase ^= 1\nqk = qk_tmem.load()")
        if r.random() < .4:
            w("rows = start + gl.arange(0, BM, layout=gl.SliceLayout(1, qk_layout))\ncolumns = start_n + gl.arange(0, BN, layout=gl.SliceLayout(0, qk_layout))\nqk = gl.where(rows[:, None] >= columns[None, :], qk, -1.0e6)")
        w("m_new = gl.maximum(m, gl.max(qk, axis=1) * scale)\np = gl.exp2(qk * scale - m_new[:, None])\nalpha = gl.exp2(m - m_new)\nl = l * alpha + gl.sum(p, axis=1)\nm = m_new")
        w("a = gl.convert_layout(alpha, gl.SliceLayout(1, o_layout))")
        if arch == 90:
            w(f"acc = acc * a[:, None]\np_op = gl.convert_layout(p.to(q_desc.dtype), gl.DotOperandLayout(operand_index=0, parent=o_layout, k_width=2))\nacc = warpgroup_mma(p_op, v_bufs.index(s), acc, is_async=True)\nacc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))")
        else:
            w("o_tmem.store(o_tmem.load() * a[:, None])")
            if place == "reuse":
                w(f"p_tmem = qk_tmem.reinterpret(gl.{g}, [BM, BN * 2], TensorMemoryLayout([BM, BN * 2], col_stride=1)).slice(0, BN)")
            if place == "smem":
                w(f"p_buf.store(p.to(gl.{g}))\nfence_async_shared()")
            else:
                w(f"p_tmem.store(gl.convert_layout(p.to(gl.{g}), p_tmem.get_reg_layout()))")
            w(f"tcgen05_mma({'p_buf' if place == 'smem' else 'p_tmem'}, v_bufs.index(s), o_tmem, use_acc=True)\ntcgen05_commit(done)\nmbarrier.wait(done, phase)\nphase ^= 1")
    w("final = acc" if arch == 90 else "final = o_tmem.load()")
    w("final = final / gl.convert_layout(l, gl.SliceLayout(1, o_layout))[:, None]")
    w(f"out: gl.constexpr = {usual(warps, 32, 4)}\nrows = start + gl.arange(0, BM, layout=gl.SliceLayout(1, out))\ncolumns = gl.arange(0, HD, layout=gl.SliceLayout(0, out))\ngl.store(o_ptr + rows[:, None] * HD + columns[None, :], gl.convert_layout(final.to(o_ptr.dtype.element_ty), out))")
    return d.kernel([case(f"cuda:{arch}", warps, {"q_desc": tensordesc(dtype, (bm, hd)), "k_desc": tensordesc(dtype, (bn, hd)), "v_desc": tensordesc(dtype, (bn, hd)), "o_ptr": "*" + r.choice([dtype, "fp32"]), "scale": "fp32", "N_CTX": "i32"}, {S: s}, ["o_ptr"]) for s in r.sample([1, 2, 3], 2)])


# ---- clusters ----------------------------------------------------------------------------------------------------------------------
def cluster(r):
    """Two CTAs: layouts split between them, shared tiles, conversions and reductions across them."""
    d = Draft(r, "cluster")
    w = d.body
    warps = r.choice([4, 4, 8])
    h, wd, dtype = r.choice([32, 64, 128]), r.choice([32, 64, 128]), r.choice(["fp16", "fp32"])
    for p in ("x_ptr", "y_ptr", "n"):
        d.param(p)
    d.helper(OFFSETS)
    cga = r.choice(["[[1, 0]]", "[[1, 0]]", "[[0, 1]]"])
    lay = lambda: f"gl.BlockedLayout([1, {r.choice([1, 4, 8])}], {split(r, 32, 2)}, {split(r, warps, 2)}, [1, 0], cga_layout={cga})"
    w(f"l0: gl.constexpr = {lay()}\nl1: gl.constexpr = {lay()}")
    kind = r.choice(["swizzled", "nvmma", "plain"])
    text = {"swizzled": f"gl.SwizzledSharedLayout({r.choice([1, 4, 8])}, 1, {r.choice([1, 4, 8])}, [1, 0], cga_layout={cga})", "plain": f"gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout={cga})",
            "nvmma": f"gl.NVMMASharedLayout.get_default_for([{h}, {wd}], gl.{TL_NAMES[dtype]}, cga_layout={cga})"}[kind]
    w(f"s0: gl.constexpr = {text}\nv = gl.load(x_ptr + tile_offsets({h}, {wd}, l0))")
    ring = r.random() < .5
    w(f"t = gl.allocate_shared_memory(v.dtype, [{'2, ' if ring else ''}{h}, {wd}], s0)")
    at = "t.index(i % 2)" if ring else "t"
    with w.under("for i in range(n):"):
        w(f"{at}.store(v)\nv = v + {at}.load(l0)")
        if r.random() < .4:
            w("v = gl.convert_layout(gl.convert_layout(v, l1) * 2, l0)")
        if r.random() < .3:
            w("u = gl.allocate_shared_memory(v.dtype, [%d, %d], s0, v)\nv = v + u.load(l0)" % (h, wd))
    if r.random() < .5:
        axis = 1 if cga == "[[1, 0]]" else 0
        axis = axis if r.random() < .8 else 1 - axis
        w(f"v = v - gl.expand_dims(gl.max(v, axis={axis}), {axis})")
    w(f"gl.store(y_ptr + tile_offsets({h}, {wd}, l1), gl.convert_layout(v, l1).to(y_ptr.dtype.element_ty))")
    return d.kernel([case(f"cuda:{r.choice([90, 90, 100])}", warps, {"x_ptr": "*" + dtype, "y_ptr": "*" + dtype, "n": "i32"}, {}, ["x_ptr", "y_ptr"], num_ctas=2)])


# ---- AMD ---------------------------------------------------------------------------------------------------------------------------
def amd_product(r):
    """mfma with rings in LDS: buffer loads, async copies, padded and swizzled layouts."""
    d = Draft(r, "amd_product")
    n, w = d.n, d.body
    gfx = r.choice(["gfx942", "gfx950"])
    module = "cdna3" if gfx == "gfx942" else "cdna4"
    warps = r.choice([4, 4, 8])
    bm, bn, bk, dtype = r.choice([64, 128, 256]), r.choice([64, 128]), r.choice([32, 64]), r.choice(["fp16", "bf16"])
    d.helper(OFFSETS)
    for p in ("a_ptr", "b_ptr", "c_ptr", "K"):
        d.param(p)
    for p in (n.M, n.N, n.K, n.stages):
        d.param(p, True)
    instr = r.choice(["32, 32, 8", "16, 16, 16"]) if gfx == "gfx942" else r.choice(["32, 32, 16", "16, 16, 32"])
    ww = split(r, warps, 2)
    w(f"mfma: gl.constexpr = gl.amd.AMDMFMALayout(version={3 if gfx == 'gfx942' else 4}, instr_shape=[{instr}], transposed={r.choice([True, False])}, warps_per_cta={ww})")
    w(f"lhs: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=mfma, k_width={(kw := r.choice([4, 8]))})\nrhs: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=mfma, k_width={kw})")
    w(f"load: gl.constexpr = gl.BlockedLayout([1, 8], [{r.choice(['8, 8', '16, 4'])}], [{warps}, 1], [1, 0])")
    form = lambda shape: r.choice(["gl.SwizzledSharedLayout(8, 1, 8, [1, 0])", "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", f"gl.PaddedSharedLayout.with_identity_for([[{shape[1]}, {r.choice([4, 8, 16])}]], [{shape[0]}, {shape[1]}], [1, 0])", f"gl.PaddedSharedLayout.with_identity_for([[512, 16]], [{shape[0]}, {shape[1]}], [1, 0])"])
    w(f"ring_a = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [{n.stages}, {n.M}, {n.K}], {form((bm, bk))})\nring_b = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [{n.stages}, {n.K}, {n.N}], {form((bk, bn))})")
    w(f"at_a = tile_offsets({n.M}, {n.K}, load)\nat_b = tile_offsets({n.K}, {n.N}, load)\n{n.acc} = gl.zeros([{n.M}, {n.N}], gl.float32, mfma)")
    how = r.choice(["buffer", "load", "async"] if gfx == "gfx950" else ["buffer", "load"])
    mod = f"gl.amd.{module}"

    def bring(slot, k):
        for x, step in (("a", f"{n.M} * {n.K}"), ("b", f"{n.K} * {n.N}")):
            if how == "buffer":
                w(f"ring_{x}.index({slot}).store({mod}.buffer_load(ptr={x}_ptr, offsets=at_{x} + ({k}) * {step}))")
            elif how == "load":
                w(f"ring_{x}.index({slot}).store(gl.load({x}_ptr + ({k}) * {step} + at_{x}))")
            else:
                w(f"{mod}.async_copy.{r.choice(['global_load_to_shared(ring_%s.index(%s), %s_ptr + (%s) * %s + at_%s)' % (x, slot, x, k, step, x), 'buffer_load_to_shared(ring_%s.index(%s), %s_ptr, at_%s + (%s) * %s)' % (x, slot, x, x, k, step)])}")
        if how == "async":
            w(f"{mod}.async_copy.commit_group()")
    with w.under(f"for k in gl.static_range({n.stages} - 1):"):
        bring("k", "k")
    with w.under(f"for k in range(gl.cdiv(K, {n.K})):"):
        bring(f"(k + {n.stages} - 1) % {n.stages}", f"k + {n.stages} - 1")
        if how == "async":
            w(f"{mod}.async_copy.wait_group({n.stages} - 1)")
        w(f"a = ring_a.index(k % {n.stages}).load(lhs)\nb = ring_b.index(k % {n.stages}).load(rhs)\n{n.acc} = {mod}.mfma(a, b, {n.acc})")
    if r.random() < .4:
        w(f"{n.acc} = {n.acc} / gl.expand_dims(gl.sum({n.acc}, axis=1), 1)")
    if r.random() < .5:
        w(f"out: gl.constexpr = gl.BlockedLayout([1, 4], [4, 16], [{warps}, 1], [1, 0])\nc = gl.convert_layout({n.acc}.to(c_ptr.dtype.element_ty), out)\n" + r.choice([f"gl.store(c_ptr + tile_offsets({n.M}, {n.N}, out), c)", f"{mod}.buffer_store(c, c_ptr, tile_offsets({n.M}, {n.N}, out))"]))
    else:
        w(f"gl.store(c_ptr + tile_offsets({n.M}, {n.N}, mfma), {n.acc}.to(c_ptr.dtype.element_ty))")
    return d.kernel([case(f"hip:{gfx}", warps, {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*" + r.choice([dtype, "fp32"]), "K": "i32"}, {n.M: bm, n.N: bn, n.K: bk, n.stages: s}, ["a_ptr", "b_ptr", "c_ptr"]) for s in r.sample([1, 2, 3], 2)])


# ---- other ranks, arguments of reductions, scattered memory ------------------------------------------------------------------
def ranks(r):
    """Tiles of rank one and three: reductions with several values, scans, conversions, buffers, descriptors."""
    d = Draft(r, "ranks", HOPPER if r.random() < .5 else "")
    w = d.body
    warps, rank = r.choice([1, 2, 4, 4, 8]), r.choice([1, 1, 3])
    dtype = r.choice(["fp16", "bf16", "fp32", "i32", "i8", "i64"])
    shape = [r.choice([64, 128, 256, 1024, 2048])] if rank == 1 else [r.choice([2, 4, 8]), r.choice([8, 16, 32]), r.choice([16, 32, 64])]
    desc = bool(d.header != HEADER) and r.random() < .6 and dtype != "i64"
    for p in ("x_desc" if desc else "x_ptr", "y_ptr", "i_ptr", "n"):
        d.param(p)
    d.helper("@gluon.jit\ndef larger(v0, i0, v1, i1):\n    take = (v0 > v1) | ((v0 == v1) & (i0 < i1))\n    return gl.where(take, v0, v1), gl.where(take, i0, i1)\n\n\n@gluon.jit\ndef plus(a, b):\n    return a + b\n\n\n@gluon.jit\ndef affine(a0, b0, a1, b1):\n    return a0 * a1, b0 * a1 + b1\n")
    for j in range(2):
        w(f"l{j}: gl.constexpr = {blocked(r, warps, rank)}")

    def at(layout):
        if rank == 1:
            return f"gl.arange(0, {shape[0]}, layout={layout})"
        slices = [f"gl.SliceLayout(1, gl.SliceLayout(2, {layout}))", f"gl.SliceLayout(0, gl.SliceLayout(2, {layout}))", f"gl.SliceLayout(0, gl.SliceLayout(1, {layout}))"]
        a, b, c = [f"gl.arange(0, {extent}, layout={s})" for extent, s in zip(shape, slices)]
        return f"{a}[:, None, None] * {shape[1] * shape[2]} + {b}[None, :, None] * {shape[2]} + {c}[None, None, :]"
    if desc:
        w("tile = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)\nready = mbarrier.allocate_mbarrier()\nmbarrier.init(ready, count=1)\nmbarrier.expect(ready, x_desc.nbytes_per_cta)")
        w(f"tma.async_load(x_desc, [{', '.join(['0'] * rank)}], ready, tile)\nmbarrier.wait(ready, 0)\nmbarrier.invalidate(ready)\nv = tile.load(l0)")
    else:
        w(f"v = gl.load(x_ptr + {at('l0')})")
    for _ in range(r.choice([1, 2, 3, 4])):
        axis = r.randrange(rank)
        down = lambda fn: f"v = v - gl.expand_dims({fn}, {axis}).to(v.dtype)" if rank > 1 else f"v = v - {fn}.to(v.dtype)"
        what = r.choice(["arg", "arg", "sum", "max", "scan", "scan2", "convert", "buffer", "loop", "xor", "prod", "reshape"])
        if what == "arg":
            kind = r.choice(["gl.int32", "gl.int32", "gl.int64", "gl.int16"])
            w(f"ids = (gl.zeros({shape}, gl.int32, l0) + 1).to({kind})\ntop, where = gl.reduce((v, ids), {axis}, larger)\n" + down("top") + f"\nv = v + {'gl.expand_dims(where, %d)' % axis if rank > 1 else 'where'}.to(v.dtype)")
        elif what in ("sum", "max", "xor"):
            if what == "xor" and dtype not in ("i32", "i8", "i64"):
                continue
            w(down({"sum": f"gl.sum(v, axis={axis})", "max": f"gl.{r.choice(['max', 'min'])}(v, axis={axis})", "xor": f"gl.xor_sum(v, axis={axis})"}[what]))
        elif what == "scan":
            w(f"v = gl.associative_scan(v, {axis}, plus{r.choice(['', ', reverse=True'])})")
        elif what == "prod":
            w(f"v = gl.{r.choice(['cumsum', 'cumprod'])}(v, axis={axis}).to(v.dtype)")
        elif what == "scan2":
            w(f"v, carried = gl.associative_scan((v, v + 1), {axis}, affine)")
        elif what == "convert":
            w("v = gl.convert_layout(gl.convert_layout(v, l1) + 1, l0)")
        elif what == "buffer":
            order = list(range(rank - 1, -1, -1))
            w(f"b{len(w.rows)} = gl.allocate_shared_memory(v.dtype, {shape}, gl.SwizzledSharedLayout({r.choice([1, 1, 4])}, 1, 1, {order}), v)\nv = v + b{len(w.rows)}.load(l0)")
        elif what == "loop":
            w(f"for i{len(w.rows)} in range(n):\n    v = v + gl.convert_layout(v * 2, l0)\n    " + down(f"gl.sum(v, axis={axis})"))
        elif what == "reshape" and rank == 3:
            flat = f"gl.BlockedLayout([1, 4], [4, 8], [{warps}, 1], [1, 0])"
            w(f"f = gl.convert_layout(gl.reshape(v, [{shape[0] * shape[1]}, {shape[2]}]), {flat})\ngl.store(i_ptr + gl.arange(0, {shape[2]}, layout=gl.SliceLayout(0, {flat})), gl.sum(f, axis=0).to(gl.int32))")
    w(f"gl.store(y_ptr + {at('l1')}, gl.convert_layout(v, l1).to(y_ptr.dtype.element_ty))")
    signature = {"x_desc" if desc else "x_ptr": tensordesc(dtype, shape) if desc else "*" + dtype, "y_ptr": "*" + r.choice([dtype, "fp32"]), "i_ptr": "*i32", "n": "i32"}
    return d.kernel([case(f"cuda:{r.choice([90, 90, 100] + ([] if desc else [80, 86, 120]))}", warps, signature, {}, [p for p in signature if p.endswith("ptr")])])


def scattered(r):
    """Shared memory gathered from, scattered to, counted into; slices of tiles."""
    d = Draft(r, "scattered")
    w = d.body
    warps, h, wd, dtype = r.choice([2, 4, 4, 8]), r.choice([16, 32, 64]), r.choice([32, 64, 128]), r.choice(["fp32", "i32", "fp16"])
    for p in ("x_ptr", "i_ptr", "y_ptr", "n"):
        d.param(p)
    d.helper(OFFSETS)
    w(f"l: gl.constexpr = {blocked(r, warps)}\nat = tile_offsets({h}, {wd}, l)\nv = gl.load(x_ptr + at)\npick = gl.load(i_ptr + at)")
    form = lambda: r.choice([f"gl.SwizzledSharedLayout({r.choice([1, 4])}, 1, {r.choice([1, 4])}, [1, 0])", "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", f"gl.PaddedSharedLayout.with_identity_for([[{wd}, 4]], [{h}, {wd}], [1, 0])"])
    w(f"a = gl.allocate_shared_memory(v.dtype, [{h}, {wd}], {form()}, v)")
    for _ in range(r.choice([1, 2, 3])):
        axis = r.randrange(2)
        what = r.choice(["gather", "scatter", "atomic", "slice", "again", "loop"])
        if what == "gather":
            w(f"v = v + a.gather(pick, axis={axis})")
        elif what == "scatter":
            w(f"a.scatter(v, pick, axis={axis})\nv = a.load(l)")
        elif what == "atomic":
            w(f"old = a.atomic_scatter_{r.choice(['add', 'max', 'min'])}(v, pick, axis={axis})" + r.choice(["", "\nv = v + old"]))
        elif what == "slice":
            w(f"part = a.slice({r.choice([0, h // 2])}, {h // 2}, dim=0).load(l)\ngl.store(y_ptr + tile_offsets({h // 2}, {wd}, l), part.to(y_ptr.dtype.element_ty))")
        elif what == "again":
            w(f"b{len(w.rows)} = gl.allocate_shared_memory(v.dtype, [{h}, {wd}], {form()})\nb{len(w.rows)}.store(v)\nv = b{len(w.rows)}.gather(pick, axis={axis})")
        else:
            w(f"for i{len(w.rows)} in range(n):\n    a.store(v)\n    v = v + a.gather(pick, axis={axis})")
    w("gl.store(y_ptr + at, v.to(y_ptr.dtype.element_ty))")
    return d.kernel([case(f"cuda:{r.choice([80, 90, 100])}", warps, {"x_ptr": "*" + dtype, "i_ptr": "*i32", "y_ptr": "*" + r.choice([dtype, "fp32"]), "n": "i32"}, {}, ["x_ptr", "i_ptr", "y_ptr"])])


def scaled(r):
    """Block-scaled products: operands in shared memory, scales in tensor memory."""
    d = Draft(r, "scaled", BLACKWELL.replace("allocate_tensor_memory,", "TensorMemoryScalesLayout, allocate_tensor_memory,").replace("tcgen05_mma, tma", "tcgen05_mma_scaled, tma"))
    w, S = d.body, d.n.stages
    warps, bn, bk = r.choice([4, 8]), r.choice([32, 64, 128, 256]), r.choice([64, 128, 256])
    fp4 = r.random() < .4
    for p in ("a_desc", "b_desc", "c_ptr", "sa_ptr", "sb_ptr", "K"):
        d.param(p)
    d.param(S, True)
    d.param("VEC", True)
    vec = 32
    w("M: gl.constexpr = a_desc.block_shape[0]\nN: gl.constexpr = b_desc.block_shape[0]\nBK: gl.constexpr = a_desc.block_shape[1]" + (" * 2" if fp4 else ""))
    w(f"a = gl.allocate_shared_memory(a_desc.dtype, [{S}] + a_desc.block_shape, a_desc.layout)\nb = gl.allocate_shared_memory(b_desc.dtype, [{S}] + b_desc.block_shape, b_desc.layout)")
    w(f"sa = allocate_tensor_memory(sa_ptr.dtype.element_ty, [M, BK // VEC], TensorMemoryScalesLayout())\nsb = allocate_tensor_memory(sb_ptr.dtype.element_ty, [N, BK // VEC], TensorMemoryScalesLayout())")
    w("acc = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))")
    w(f"bars = mbarrier.allocate_mbarrier(batch={S})\ndone = mbarrier.allocate_mbarrier()\nmbarrier.init(done, count=1)\nfor i in gl.static_range({S}):\n    mbarrier.init(bars.index(i), count=1)\nuse_acc = False\ncount = 0")
    d.helper(OFFSETS)
    with w.under("for k in range(0, K, BK):"):
        w(f"s = count % {S}\nmbarrier.expect(bars.index(s), a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)\ntma.async_load(a_desc, [0, k], bars.index(s), a.index(s))\ntma.async_load(b_desc, [0, k], bars.index(s), b.index(s))")
        w("sa_layout: gl.constexpr = sa.get_reg_layout()\nsb_layout: gl.constexpr = sb.get_reg_layout()")
        w("sa.store(gl.load(sa_ptr + tile_offsets(M, BK // VEC, sa_layout)))\nsb.store(gl.load(sb_ptr + tile_offsets(N, BK // VEC, sb_layout)))")
        fmt = "e2m1" if fp4 else r.choice(["e4m3", "e5m2"])
        w(f"mbarrier.wait(bars.index(s), (count // {S}) & 1)\ntcgen05_mma_scaled(a.index(s), b.index(s).permute((1, 0)), acc, sa, sb, \"{fmt}\", \"{fmt}\", use_acc=use_acc)\ntcgen05_commit(done)\nmbarrier.wait(done, count & 1)\nuse_acc = True\ncount += 1")
    w(f"out: gl.constexpr = {usual(warps, 32, 4)}\ngl.store(c_ptr + tile_offsets(M, N, out), gl.convert_layout(acc.load(), out).to(c_ptr.dtype.element_ty))")
    dtype = "u8" if fp4 else {"e4m3": "fp8e4nv", "e5m2": "fp8e5"}[fmt]
    width = lambda rows: tensordesc_u8((rows, bk // 2)) if fp4 else tensordesc(dtype, (rows, bk))
    return d.kernel([case("cuda:100", warps, {"a_desc": width(128), "b_desc": width(bn), "c_ptr": "*" + r.choice(["fp16", "fp32"]), "sa_ptr": "*u8", "sb_ptr": "*u8", "K": "i32"}, {S: s, "VEC": vec}, ["c_ptr", "sa_ptr", "sb_ptr"]) for s in r.sample([1, 2, 3], 2)])


def tensordesc_u8(shape):
    return tensordesc("i8", shape).replace("<i8[", "<u8[")


def written_well(r):
    """The style of long kernels: aggregates that own buffers and counters, constexpr functions that choose layouts, tuples, defaults."""
    arch = r.choice([90, 100])
    d = Draft(r, f"written_well_{arch}", HOPPER if arch == 90 else BLACKWELL)
    w, S = d.body, d.n.stages
    warps, dtype = r.choice([4, 4, 8]), r.choice(["fp16", "bf16"])
    bm, bn, bk = 128, r.choice([64, 128]), r.choice([32, 64])
    d.header += "\nBARRIER_COUNT = gl.constexpr(1)\n"
    d.helper("@gluon.constexpr_function\ndef pick_layout(shape, num_warps, vector=8):\n    lanes = min(32, shape[1] // vector)\n    return gl.BlockedLayout([1, vector], [32 // lanes, lanes], [num_warps, 1], [1, 0])\n")
    d.helper("@gluon.aggregate\nclass Counter:\n    index: gl.tensor\n    phase: gl.tensor\n    depth: gl.constexpr\n\n    @gluon.jit\n    def create(phase, depth: gl.constexpr):\n        return Counter(gl.to_tensor(0), gl.to_tensor(phase), depth)\n\n    @gluon.jit\n    def next(self):\n        index = self.index + 1\n        rolled = index == self.depth\n        return Counter(gl.where(rolled, 0, index), gl.where(rolled, self.phase ^ 1, self.phase), self.depth)\n")
    d.helper("@gluon.aggregate\nclass Channel:\n    tiles: gl.shared_memory_descriptor\n    ready: gl.shared_memory_descriptor\n    free: gl.shared_memory_descriptor\n    depth: gl.constexpr\n\n    @gluon.jit\n    def create(desc, depth: gl.constexpr):\n        tiles = gl.allocate_shared_memory(desc.dtype, [depth] + desc.block_shape, desc.layout)\n        ready = mbarrier.allocate_mbarrier(batch=depth)\n        free = mbarrier.allocate_mbarrier(batch=depth)\n"
             "        for i in gl.static_range(depth):\n            mbarrier.init(ready.index(i), count=BARRIER_COUNT)\n            mbarrier.init(free.index(i), count=BARRIER_COUNT)\n        return Channel(tiles, ready, free, depth)\n\n    @gluon.jit\n    def fill(self, counter, desc, at):\n        mbarrier.wait(self.free.index(counter.index), counter.phase ^ 1)\n        mbarrier.expect(self.ready.index(counter.index), desc.nbytes_per_cta)\n        tma.async_load(desc, at, self.ready.index(counter.index), self.tiles.index(counter.index))\n        return counter.next()\n\n"
             "    @gluon.jit\n    def take(self, counter):\n        mbarrier.wait(self.ready.index(counter.index), counter.phase)\n        return self.tiles.index(counter.index)\n\n    @gluon.jit\n    def release(self, counter):\n        mbarrier.arrive(self.free.index(counter.index), count=1)\n        return counter.next()\n")
    d.helper("@gluon.jit\ndef load(a_desc, b_desc, a_channel, b_channel, K, depth: gl.constexpr):\n    counter = Counter.create(0, depth)\n    other = Counter.create(0, depth)\n    for k in range(0, K, a_desc.block_shape[1]):\n        counter = a_channel.fill(counter, a_desc, [gl.program_id(0) * a_desc.block_shape[0], k])\n        other = b_channel.fill(other, b_desc, [k, gl.program_id(1) * b_desc.block_shape[1]])\n")
    tail = "    out: gl.constexpr = pick_layout([M, N], gl.num_warps())\n    rows = gl.program_id(0) * M + gl.arange(0, M, layout=gl.SliceLayout(1, out))\n    columns = gl.arange(0, N, layout=gl.SliceLayout(0, out))\n    gl.store(c_ptr + rows[:, None] * N + columns[None, :], gl.convert_layout(value.to(c_ptr.dtype.element_ty), out))\n"
    if arch == 90:
        d.helper("@gluon.jit\ndef multiply(a_channel, b_channel, c_ptr, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr, depth: gl.constexpr):\n    mma: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, N, 16])\n    value = gl.zeros([M, N], gl.float32, mma)\n    counter = Counter.create(0, depth)\n    for k in range(0, K, BK):\n        a = a_channel.take(counter)\n        b = b_channel.take(counter)\n        value = warpgroup_mma(a, b, value, is_async=True)\n"
                 "        value = warpgroup_mma_wait(num_outstanding=0, deps=(value, ))\n        done = a_channel.release(counter)\n        counter = b_channel.release(counter)\n" + tail)
    else:
        d.helper("@gluon.jit\ndef multiply(a_channel, b_channel, c_ptr, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr, depth: gl.constexpr):\n    acc = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))\n    done = mbarrier.allocate_mbarrier()\n    mbarrier.init(done, count=1)\n    counter = Counter.create(0, depth)\n    use_acc = False\n    step = 0\n    for k in range(0, K, BK):\n        a = a_channel.take(counter)\n        b = b_channel.take(counter)\n        tcgen05_mma(a, b, acc, use_acc=use_acc)\n        tcgen05_commit(done)\n"
                 "        mbarrier.wait(done, step & 1)\n        use_acc = True\n        step += 1\n        released = a_channel.release(counter)\n        counter = b_channel.release(counter)\n    value = acc.load()\n" + tail)
    for p in ("a_desc", "b_desc", "c_ptr", "K"):
        d.param(p)
    d.param(S, True)
    w("M: gl.constexpr = a_desc.block_shape[0]\nN: gl.constexpr = b_desc.block_shape[1]\nBK: gl.constexpr = a_desc.block_shape[1]")
    w(f"a_channel = Channel.create(a_desc, {S})\nb_channel = Channel.create(b_desc, {S})")
    w(f"gl.warp_specialize([(multiply, (a_channel, b_channel, c_ptr, K, M, N, BK, {S})), (load, (a_desc, b_desc, a_channel, b_channel, K, {S}))], [{r.choice([1, 4])}], [{r.choice([24, 40])}])")
    return d.kernel([case(f"cuda:{arch}", warps, {"a_desc": tensordesc(dtype, (bm, bk)), "b_desc": tensordesc(dtype, (bk, bn)), "c_ptr": "*" + r.choice([dtype, "fp32"]), "K": "i32"}, {S: s}, ["c_ptr"]) for s in r.sample([2, 3, 4], 2)])


# ---- what the compiler refuses -----------------------------------------------------------------------------------------------------
def refused(r):
    """A kernel that runs but for one thing: a removed name, a copy into a layout that TMA does not know, an assertion, a shape."""
    d = Draft(r, "refused", HOPPER)
    w = d.body
    for p in ("a_desc", "y_ptr"):
        d.param(p)
    d.param("S", True)
    d.helper(OFFSETS)
    fault = r.choice(["layout", "layout", "name", "name2", "assert", "shape"])
    layout = {"layout": r.choice(["gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", "gl.SwizzledSharedLayout(8, 1, 8, [1, 0])", "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0])"])}.get(fault, "a_desc.layout")
    w("H: gl.constexpr = a_desc.block_shape[0]\nW: gl.constexpr = a_desc.block_shape[1]")
    if fault == "assert":
        w(r.choice(["gl.static_assert(S > 4)", "gl.static_assert(H * W * S <= 1024, 'too large')", "gl.static_assert(S % 2 == 1 and H < 16)"]))
    w(f"tiles = gl.allocate_shared_memory(a_desc.dtype, [S, H, W], {layout})\nready = mbarrier.allocate_mbarrier(batch=S)\nfor i in gl.static_range(S):\n    mbarrier.init(ready.index(i), count=1)")
    with w.under("for i in range(8):"):
        if fault == "name":
            w("mbarrier.expect(ready.index(i % S), a_desc.block_type.bytes)")
        else:
            w("mbarrier.expect(ready.index(i % S), a_desc.nbytes_per_cta)")
        if fault == "name2":
            w("tma.async_copy_global_to_shared(a_desc, [i * H, 0], ready.index(i % S), tiles.index(i % S))")
        else:
            w("tma.async_load(a_desc, [i * H, 0], ready.index(i % S), " + ("tiles" if fault == "shape" else "tiles.index(i % S)") + ")")
        w("mbarrier.wait(ready.index(i % S), (i // S) & 1)")
        w("l: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])\ngl.store(y_ptr + tile_offsets(H, W, l), tiles.index(i % S).load(l))")
    return d.kernel([case("cuda:90", 4, {"a_desc": tensordesc("fp16", (64, 64)), "y_ptr": "*fp16"}, {"S": r.choice([2, 4])}, ["y_ptr"])], refused=True)


FAMILIES = {
    "registers": registers, "lives": lives, "copies": copies, "tma_product_90": lambda r: tma_product(r, 90), "tma_product_100": lambda r: tma_product(r, 100), "tasks_90": lambda r: tasks(r, 90), "tasks_100": lambda r: tasks(r, 100),
    "tensor_memory": tensor_memory, "attention_90": lambda r: attention(r, 90), "attention_100": lambda r: attention(r, 100), "cluster": cluster, "amd_product": amd_product, "ranks": ranks, "scattered": scattered, "scaled": scaled, "written_well": written_well, "refused": refused,
}
SHARE = {"registers": 8, "lives": 8, "copies": 4, "tma_product_90": 3, "tma_product_100": 3, "tasks_90": 3, "tasks_100": 3, "tensor_memory": 6, "attention_90": 2, "attention_100": 2, "cluster": 3, "amd_product": 4, "ranks": 6, "scattered": 3, "scaled": 2, "written_well": 2, "refused": 1}


def make(r, family=None):
    return FAMILIES[family or r.choice([f for f in FAMILIES for _ in range(SHARE[f])])](r)


if __name__ == "__main__":
    generate(make, "gluon", __doc__)
