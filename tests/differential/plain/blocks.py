"""Kernels with block pointers, which Triton has up to 3.8: made before a loop and advanced in it, or made anew in each round."""
from .writing import Draft

SIDE = (16, 32, 64, 128)
DEEP = (16, 32, 64)


class Blocks:
    """How one person writes block pointers."""

    def __init__(self, d):
        self.d, self.brackets, self.named = d, d.pick("(%s)", "(%s)", "[%s]"), d.chance(.3)

    def listed(self, parts):
        return self.brackets % (", ".join(parts) + ("," if len(parts) == 1 and self.brackets == "(%s)" else ""))

    def pointer(self, word, base, shape, strides, offsets, block, order=None):
        """A name for a block pointer"""
        d = self.d
        d.tile_of(*block)
        order = order or [str(dim) for dim in reversed(range(len(block)))]
        parts = [base] + [self.listed(it) for it in (shape, strides, offsets, block, order)]
        if self.named:
            words = ("base", "shape", "strides", "offsets", "block_shape", "order")
            parts = [f"{name}={part}" for name, part in zip(words, parts)]
        name = d.fresh(f"p_{word}")
        d(f"{name} = tl.make_block_ptr({', '.join(parts)})")
        return name

    def checked(self, rank):
        form = self.d.pick("all", "all", "none", "first", "last")
        dims = {"all": range(rank), "none": (), "first": (0,), "last": (rank - 1,)}[form]
        return f", boundary_check=({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})" if dims else ""

    def load(self, word, pointer, rank=2):
        d = self.d
        checked = self.checked(rank)
        padding = d.pick("", "", ', padding_option="zero"') if checked else ""
        name = d.fresh(f"b_{word}")
        d(f"{name} = tl.load({pointer}{checked}{padding})")
        return name

    def store(self, pointer, value, rank=2):
        self.d(f"tl.store({pointer}, {value}{self.checked(rank)})")

    def advance(self, pointer, by):
        form = self.d.pick("function", "function", "method")
        offsets = self.listed(by)
        self.d(f"{pointer} = " + (f"tl.advance({pointer}, {offsets})" if form == "function" else f"{pointer}.advance({offsets})"))


def element(d, value, pointer):
    return f"{value}.to({pointer}.dtype.element_ty)"


def block_product(r):
    d = Draft(r, r.choice(["matmul_kernel", "gemm", "linear_fwd", "block_mm"]))
    blocks, group = Blocks(d), d.group("dot")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    m, n, k = d.integer("M"), d.integer("N"), d.integer("K")
    stride_a, stride_b, stride_c = [(d.stride(it, x), d.stride(it, y)) if d.chance(.6) else None for it, x, y in ("amk", "bkn", "cmn")]
    BM, BN, BK = d.block("M", *SIDE), d.block("N", *SIDE), d.block("K", *DEEP)
    d.tile_of(BM, BN)
    turned = d.chance(.3)
    strides_a = stride_a or (k, "1")
    strides_b = stride_b or (("1", k) if turned else (n, "1"))
    order_b = ["0", "1"] if turned else None
    where = d.pick("before", "before", "inside")
    at_m, at_n = f"tl.program_id(0) * {BM}", f"tl.program_id(1) * {BN}"
    base = a
    if d.chance(.3):
        base = d.fresh("a_of")
        d(f"{base} = {a} + tl.program_id(2) * {d.pick(m, f'{m} * {k}', d.stride('a', 'batch'))}")
    make_a = lambda at: blocks.pointer("a", base, (m, k), strides_a, (at_m, at), (BM, BK))
    make_b = lambda at: blocks.pointer("b", b, (k, n), strides_b, (at, at_n), (BK, BN), order_b)
    if where == "before":
        pa, pb = make_a("0"), make_b("0")
    acc = d.zeros("acc", (BM, BN))
    with d.loop("kk", k, BK, forms=("steps", "offsets")) as at:
        if where == "inside":
            pa, pb = make_a(at), make_b(at)
        left, right = blocks.load("a", pa), blocks.load("b", pb)
        if d.chance(.15):
            scaled = d.fresh("b_s")
            d(f"{scaled} = ({left} * {d.pick('0.5', '2.0')}).to({left}.dtype)")
            left = scaled
        d.dot(left, right, acc, d.precision())
        if where == "before":
            blocks.advance(pa, ("0", BK)), blocks.advance(pb, (BK, "0"))
    pc = blocks.pointer("c", c, (m, n), stride_c or (n, "1"), (at_m, at_n), (BM, BN))
    blocks.store(pc, element(d, acc, c))
    return d


def chunk_states(r):
    """A state that goes from chunk to chunk of a sequence, as linear attention has it"""
    d = Draft(r, r.choice(["chunk_fwd_kernel_h", "chunk_state", "fused_chunk_fwd"]))
    blocks, group = Blocks(d), d.group("dot")
    q, k, v, h, o = (d.pointer(it, group) for it in "qkvho")
    t = d.integer("T")
    K, V = d.constant("K", 64, 128), d.constant("V", 64, 128)
    heads = d.constant("H", 2, 8) if d.chance(.5) else None
    BT, BK, BV = d.block("T", *SIDE), d.block("K", *DEEP), d.block("V", *DEEP)
    for dims in ((BT, BK), (BK, BV), (BT, BV)):
        d.tile_of(*dims)
    i_k, i_v = d.fresh("i_k"), d.fresh("i_v")
    d(f"{i_k}, {i_v} = tl.program_id(0), tl.program_id(1)")
    row_k, row_v = (f"{heads} * {K}", f"{heads} * {V}") if heads else (K, V)
    bases = [(it, f"{it} + tl.program_id(2) * {d.pick(K, f'{t} * {K}')}" if d.chance(.5) else it) for it in (q, k, v)]
    base_q, base_k, base_v = (base for _, base in bases)
    state = d.zeros("b_h", (BK, BV))
    if d.chance(.3):
        p_0 = blocks.pointer("h0", h, (K, V), (V, "1"), (f"{i_k} * {BK}", f"{i_v} * {BV}"), (BK, BV))
        d(f"{state} += {blocks.load('h0', p_0)}.to(tl.float32)")
    with d.loop("i_t", t, BT, forms=("offsets",)) as at:
        p_k = blocks.pointer("k_t", base_k, (K, t), ("1", row_k), (f"{i_k} * {BK}", at), (BK, BT), ["0", "1"])
        p_v = blocks.pointer("v_t", base_v, (t, V), (row_v, "1"), (at, f"{i_v} * {BV}"), (BT, BV))
        if d.chance(.5):
            p_h = blocks.pointer("h_t", f"{h} + {at} * {K} * {V}", (K, V), (V, "1"), (f"{i_k} * {BK}", f"{i_v} * {BV}"), (BK, BV))
            blocks.store(p_h, element(d, state, p_h))
        b_k, b_v = blocks.load("k", p_k), blocks.load("v", p_v)
        if d.chance(.5):
            p_q = blocks.pointer("q_t", base_q, (t, K), (row_k, "1"), (at, f"{i_k} * {BK}"), (BT, BK))
            b_q, out = blocks.load("q", p_q), d.fresh("b_out")
            d(f"{out} = tl.dot({b_q}, {state}.to({b_q}.dtype))")
            if d.chance(.5):
                d(f"{out} += tl.dot(tl.dot({b_q}, {b_k}).to({b_v}.dtype), {b_v})")
            p_o = blocks.pointer("o_t", o, (t, V), (row_v, "1"), (at, f"{i_v} * {BV}"), (BT, BV))
            blocks.store(p_o, element(d, out, p_o))
        d.dot(b_k, d.pick(b_v, b_v, f"({b_v} * 2.0).to({b_k}.dtype)"), state)
    p_f = blocks.pointer("ht", h, (K, V), (V, "1"), (f"{i_k} * {BK}", f"{i_v} * {BV}"), (BK, BV))
    blocks.store(p_f, element(d, state, p_f))
    return d


def block_attention(r):
    d = Draft(r, r.choice(["attn_fwd", "_flash_fwd", "parallel_attn"]))
    blocks, group = Blocks(d), d.group("attn")
    q, k, v, o = (d.pointer(it, group) for it in "qkvo")
    t, scale = d.integer("N_CTX"), d.number("sm_scale")
    D = d.constant(d.pick("HEAD_DIM", "BLOCK_D"), 32, 64, 128)
    BM, BN = d.block("M", *SIDE), d.block("N", *SIDE)
    for dims in ((BM, D), (BN, D), (BM, BN)):
        d.tile_of(*dims)
    d("start_m = tl.program_id(0)")
    base = d.fresh("offset")
    d(f"{base} = tl.program_id(1).to(tl.int64) * {t} * {D}")
    p_q = blocks.pointer("q_m", f"{q} + {base}", (t, D), (D, "1"), (f"start_m * {BM}", "0"), (BM, D))
    p_k = blocks.pointer("k_n", f"{k} + {base}", (D, t), ("1", D), ("0", "0"), (D, BN), ["0", "1"])
    p_v = blocks.pointer("v_n", f"{v} + {base}", (t, D), (D, "1"), ("0", "0"), (BN, D))
    b_q = blocks.load("q", p_q)
    if d.chance(.5):
        d(f"{b_q} = ({b_q} * {scale}).to({b_q}.dtype)")
    top, total, acc = d.fresh("m_i"), d.fresh("l_i"), d.zeros("acc", (BM, D))
    d(f"{top} = tl.full(({BM},), float('-inf'), tl.float32)", f"{total} = tl.zeros(({BM},), tl.float32)")
    with d.loop("start_n", t, BN, forms=("offsets",)):
        b_k = blocks.load("k", p_k)
        d(f"s = tl.dot({b_q}, {b_k})")
        d(f"m_new = tl.maximum({top}, tl.max(s, 1))", f"alpha = tl.exp({top} - m_new)", "p = tl.exp(s - m_new[:, None])")
        d(f"{total} = {total} * alpha + tl.sum(p, 1)", f"{acc} = {acc} * alpha[:, None]")
        b_v = blocks.load("v", p_v)
        d.dot(f"p.to({b_v}.dtype)", b_v, acc)
        d(f"{top} = m_new")
        blocks.advance(p_k, ("0", BN)), blocks.advance(p_v, (BN, "0"))
    p_o = blocks.pointer("o_m", f"{o} + {base}", (t, D), (D, "1"), (f"start_m * {BM}", "0"), (BM, D))
    blocks.store(p_o, element(d, f"({acc} / {total}[:, None])", o))
    return d


def block_rows(r):
    d = Draft(r, r.choice(["chunk_local_cumsum", "l2norm_fwd", "softmax_rows", "turned_copy", "layer_norm_gated"]))
    blocks, group = Blocks(d), d.group("number")
    x, y, w = d.pointer("x", group), d.pointer("y", d.group("out")), d.pointer("w", group)
    t = d.integer("T")
    n = d.integer("D") if d.chance(.5) else d.constant("D", 64, 128, 256)
    BT, BD = d.block("T", 8, 16, 32, 64), d.block("D", 16, 64, 128, 256)
    d.tile_of(BT, BD)
    at = f"tl.program_id(0) * {BT}"
    p_x = blocks.pointer("x_t", x, (t, n), (n, "1"), (at, d.pick("0", f"tl.program_id(1) * {BD}")), (BT, BD))
    b_x = blocks.load("x", p_x)
    form = d.pick("scan", "norm", "softmax", "turned", "scaled", "scan of 1", "twice")
    p_y = lambda: blocks.pointer("y_t", y, (t, n), (n, "1"), (at, "0"), (BT, BD))
    if form == "scan":
        blocks.store(p_y(), element(d, f"tl.cumsum({b_x}.to(tl.float32), axis={d.pick(0, 1)}{d.pick('', ', reverse=True')})", y))
    elif form == "norm":
        d(f"rstd = 1 / tl.sqrt(tl.sum({b_x}.to(tl.float32) * {b_x}.to(tl.float32), 1) + 1e-6)")
        if d.chance(.5):
            p_w = blocks.pointer("w_t", w, (t,), ("1",), (at,), (BT,), ["0"])
            blocks.store(p_w, element(d, "rstd", w), 1)
        blocks.store(p_y(), element(d, f"({b_x} * rstd[:, None])", y))
    elif form == "softmax":
        d(f"e = tl.exp({b_x}.to(tl.float32) - tl.max({b_x}.to(tl.float32), 1)[:, None])")
        blocks.store(p_y(), element(d, "(e / tl.sum(e, 1)[:, None])", y))
    elif form == "turned":
        p_t = blocks.pointer("t_y", y, (n, t), (t, "1"), ("0", at), (BD, BT), d.pick(None, ["0", "1"]))
        blocks.store(p_t, element(d, f"tl.trans({b_x})", y))
    elif form == "scaled":
        p_w = blocks.pointer("w_d", w, (n,), ("1",), ("0",), (BD,), ["0"])
        b_w = blocks.load("w", p_w, 1)
        blocks.store(p_y(), element(d, f"({b_x} * {b_w}[None, :])", y))
    elif form == "scan of 1":
        p_w = blocks.pointer("w_t", w, (t,), (d.pick("1", n),), (at,), (BT,), ["0"])
        b_w = blocks.load("w", p_w, 1)
        d(f"b_c = tl.cumsum({b_w}.to(tl.float32), axis=0)")
        blocks.store(p_y(), element(d, f"({b_x}.to(tl.float32) * tl.exp(b_c)[:, None])", y))
    else:
        p_z = blocks.pointer("z_t", w, (t, n), d.pick((n, "1"), ("1", t)), (at, "0"), (BT, BD))
        b_z = blocks.load("z", p_z)
        blocks.store(p_y(), element(d, f"({b_x} + {b_z})", y))
    return d


KINDS = {block_product: 8, chunk_states: 8, block_attention: 4, block_rows: 8}
