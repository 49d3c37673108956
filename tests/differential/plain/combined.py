"""Products in less usual surroundings: nested loops, low-rank updates, problems of unlike sizes, loads ahead of time, products in branches."""
from .writing import Draft
from .products import DEPTH, MANY, SOME, cast_to, epilogue, program_tiles, side, tile_ids, write_result


def operands(d, family="dot", words=("a", "b", "c"), sizes=("M", "N", "K")):
    """Pointers of two operands and a result, extents, block sizes"""
    group = d.group(family)
    a, b, c = d.pointer(words[0], group), d.pointer(words[1], group), d.pointer(words[2], d.group("out"))
    M, N, K = (d.integer(s) for s in sizes)
    BM, BN, BK = d.block("M", *SOME), d.block("N", *SOME), d.block("K", *DEPTH)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    return group, (a, b, c), (M, N, K), (BM, BN, BK)


def product_statistics(r):
    """Logits of a row block, never stored: an outer loop over columns, an inner one over depth, running statistics"""
    d = Draft(r, r.choice(["fused_linear_ce", "logsumexp_matmul", "nearest_codes", "lm_head_stats"]))
    _, (a, b, c), (M, N, K), (BM, BN, BK) = operands(d, "half" if d.chance(.7) else "dot")
    rows, row_mask = side(d, "m", "tl.program_id(0)", BM, M)
    cols, depth = d.arange("n", BN), d.arange("k", BK)
    d(f'peak = tl.full([{BM}], float("-inf"), dtype=tl.float32)', f"total = tl.zeros([{BM}], dtype=tl.float32)")
    index = d.chance(.4)
    if index:
        d(f"best = tl.zeros([{BM}], dtype=tl.int32)")
    with d.loop("start_n", N, BN, forms=("offsets",), plain=.8) as at:
        acc = d.zeros("logits", (BM, BN))
        with d.loop("k", K, BK, plain=.75) as k:
            x = d.load_into("x", d.address(a, rows, f"({k} + {depth})", K), row_mask and f"{row_mask}[:, None]", row_mask and "0.0")
            w = d.load_into("w", d.address(b, f"({k} + {depth})", f"({at} + {cols})", "1", K))
            d.dot(x, w, acc, d.precision())
        d(f'{acc} = tl.where(({at} + {cols})[None, :] < {N}, {acc}, float("-inf"))')
        if index:
            d(f"top, where = tl.max({acc}, axis=1, return_indices=True)", f"best = tl.where(top > peak, where + {at}, best)")
        d(f"new_peak = tl.maximum(peak, tl.max({acc}, axis=1))", f"total = total * tl.exp(peak - new_peak) + tl.sum(tl.exp({acc} - new_peak[:, None]), axis=1)", "peak = new_peak")
    d(f"tl.store({c} + {rows}, (peak + tl.log(total)).to({c}.dtype.element_ty))")
    if index:
        ids = d.pointer("ids", d.group("i32"))
        d(f"tl.store({ids} + {rows}, best)")
    return d


def low_rank(r):
    """x @ W + (x @ A) @ B: the tile of x feeds two products of the loop, a third one follows"""
    d = Draft(r, r.choice(["lora_fwd", "lora_matmul", "low_rank_linear"]))
    group, (x, w, c), (M, N, K), (BM, BN, BK) = operands(d, "half", ("x", "w", "y"))
    la, lb = d.pointer("lora_a", group), d.pointer("lora_b", group)
    R = d.constant(d.pick("RANK", "R", "BLOCK_R"), 16, 16, 32, 64)
    d.tile_of(BK, R), d.tile_of(R, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth, rank = d.arange("k", BK), d.arange("r", R)
    acc, low = d.zeros("acc", (BM, BN)), d.zeros("low", (BM, R))
    with d.loop("k", K, BK) as at:
        here = f"({at} + {depth})"
        xt = d.load_into("x", d.address(x, rows, here, K), row_mask and f"{row_mask}[:, None]", row_mask and "0.0")
        parts = [(d.address(w, here, cols, N), "w", acc), (d.address(la, here, rank, R), "la", low)]
        for address, word, into in parts if d.chance(.6) else parts[::-1]:
            d.dot(xt, d.load_into(word, address), into)
    bt = d.load_into("lb", d.address(lb, rank, cols, N))
    d(f"scaled = ({low} * {d.number('scaling')}).to({bt}.dtype)")
    d.dot("scaled", bt, acc)
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"))
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def problems(r):
    """Groups of unlike sizes, read from memory; programs walk over all their tiles"""
    d = Draft(r, r.choice(["grouped_matmul_kernel", "jagged_gemm", "group_gemm"]))
    group = d.group("half")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    sizes, count = d.pointer("group_sizes", d.group("i32")), d.constant("NUM_GROUPS", 4, 8) if d.chance(.5) else d.integer("num_groups")
    N, K = d.integer("N"), d.integer("K")
    BM, BN, BK, sms = d.block("M", *SOME), d.block("N", *SOME), d.block("K", *DEPTH), d.constant("NUM_SMS", 84, 132)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    d("tile = tl.program_id(0)", "done = 0", "first_row = 0")
    depth = d.arange("k", BK)
    with d.indented(f"for g in {d.pick('range', 'tl.range')}({count}):"):
        d(f"m = tl.load({sizes} + g)", f"tiles_n = tl.cdiv({N}, {BN})", f"tiles = tl.cdiv(m, {BM}) * tiles_n")
        with d.indented("while tile >= done and tile < done + tiles:"):
            d("local = tile - done", f"rows = first_row + (local // tiles_n) * {BM} + tl.arange(0, {BM})", f"cols = (local % tiles_n) * {BN} + tl.arange(0, {BN})", "row_mask = rows < first_row + m")
            acc = d.zeros("acc", (BM, BN))
            with d.loop("k", K, BK, plain=.7) as at:
                guard = d.chance(.5)
                x = d.load_into("x", d.address(a, "rows", f"({at} + {depth})", K), "row_mask[:, None]" if guard else None, "0.0" if guard else None)
                w = d.load_into("w", d.address(f"{b} + g * {N} * {K}", f"({at} + {depth})", "cols", "1", K))
                d.dot(x, w, acc)
            d.store(d.address(c, "rows", "cols", N), f"{acc}.to({c}.dtype.element_ty)", "row_mask[:, None]")
            d(f"tile += {sms}")
        d("done += tiles", "first_row += m")
    return d


def norm_then_product(r):
    """Statistics of the rows in a loop, the normalised rows times a matrix in the next"""
    d = Draft(r, r.choice(["rmsnorm_linear", "layernorm_matmul", "norm_proj"]))
    group, (x, w, c), (M, N, K), (BM, BN, BK) = operands(d, "half", ("x", "w", "y"))
    gain, eps = d.pointer("g", group), d.number("eps")
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    separate = d.chance(.5)
    sums = d.zeros("ss", (BM,))
    square = f"{sums} += tl.sum(xf * xf, axis=1)"
    if separate:
        with d.loop("i", K, BK) as at:
            d(f"xf = tl.load({d.address(x, rows, f'({at} + {depth})', K)}).to(tl.float32)", square)
        d(f"rstd = tl.rsqrt({sums} / {K} + {eps})")
    acc = d.zeros("acc", (BM, BN))
    with d.loop("k", K, BK) as at:
        xt = d.load_into("x", d.address(x, rows, f"({at} + {depth})", K))
        wt = d.load_into("w", d.address(w, f"({at} + {depth})", cols, N))
        d(f"xf = {xt}.to(tl.float32)")
        if separate:
            d(f"xn = xf * rstd[:, None] * tl.load({gain} + {at} + {depth})[None, :]")
        else:
            d(square)
        d.dot(f"xn.to({xt}.dtype)" if separate else xt, wt, acc)
    if not separate:
        d(f"{acc} = {acc} * tl.rsqrt({sums} / {K} + {eps})[:, None]")
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def batched(r):
    """Products of three dimensions"""
    d = Draft(r, r.choice(["bmm_block", "batched_dot", "head_mix"]))
    group = d.group("dot")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    B, BM, BN, BK = d.block("B", 1, 2, 4, 8), d.block("M", 16, 32, 64), d.block("N", 16, 32, 64), d.block("K", 16, 32, 64)
    d.tile_of(B, BM, BK), d.tile_of(B, BK, BN), d.tile_of(B, BM, BN)
    d(f"bs = tl.arange(0, {B})[:, None, None]", f"ms = tl.arange(0, {BM})", f"ns = tl.arange(0, {BN})", f"ks = tl.arange(0, {BK})")
    at_a, at_b = f"{a} + bs * {BM} * {BK} + ms[None, :, None] * {BK} + ks[None, None, :]", f"{b} + bs * {BK} * {BN} + ks[None, :, None] * {BN} + ns[None, None, :]"
    if d.chance(.4):
        n = d.integer("n")
        d(f"acc = tl.zeros(({B}, {BM}, {BN}), dtype=tl.float32)")
        with d.indented(f"for i in range({n}):"):
            d(f"acc += tl.dot(tl.load({at_a} + i * 65536), tl.load({at_b} + i * 65536))")
    else:
        d(f"acc = tl.dot(tl.load({at_a}), tl.load({at_b}))")
    if d.chance(.4):
        d(f"tl.store({c} + ms[:, None] * {BN} + ns[None, :], tl.sum(acc, axis=0).to({c}.dtype.element_ty))")
    else:
        d(f"tl.store({c} + bs * {BM} * {BN} + ms[None, :, None] * {BN} + ns[None, None, :], acc.to({c}.dtype.element_ty))")
    return d


def ahead(r):
    """The next tiles are loaded before the product of these: a pipeline written by hand"""
    d = Draft(r, r.choice(["prefetched_matmul", "double_buffered_gemm", "mm_prefetch"]))
    _, (a, b, c), (M, N, K), (BM, BN, BK) = operands(d)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    d(f"a_at = {d.address(a, rows, depth, K)}", f"b_at = {d.address(b, depth, cols, N)}", "x = tl.load(a_at)", "w = tl.load(b_at)")
    acc = d.zeros("acc", (BM, BN))
    both = d.chance(.6)
    with d.loop("k", f"{K} - {BK}", BK, forms=("offsets", "while")) as at:
        d(f"a_at += {BK}", f"b_at += {BK} * {N}", "next_x = tl.load(a_at)")
        if both:
            d("next_w = tl.load(b_at)")
        d.dot("x", "w", acc)
        d("x = next_x", "w = next_w" if both else "w = tl.load(b_at)")
    d.dot("x", "w", acc)
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"))
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def branches(r):
    """Products under conditions of the run and of the compile, asserts of sizes, options as parameters"""
    d = Draft(r, r.choice(["conditional_gemm", "masked_block_matmul", "block_sparse_mm"]))
    _, (a, b, c), (M, N, K), (BM, BN, BK) = operands(d)
    flags = d.pointer("block_mask", d.group("i32"))
    if d.chance(.5):
        d(f"tl.static_assert({BM} % 16 == 0{d.pick('', ', ' + repr('BLOCK_M must be a multiple of 16'))})")
    if d.chance(.3):
        d(f"tl.static_assert({BM} * {BN} <= {d.pick('32768', '32768', '8192')})")
    if d.chance(.4):
        d(f"tl.assume({K} > 0)")
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    acc = d.zeros("acc", (BM, BN))
    even = d.constant("EVEN_K", True, False)
    warps = d.constant("num_warps", 4, 8) if d.chance(.25) else None
    if warps:
        with d.indented(f"if {warps} == 8:"):
            d(f"{acc} += 0.0")
    form = d.pick("skip", "even", "outer", "either")
    transposed = d.constant("TRANSPOSED", True, False) if form == "either" else None
    with d.indented(f"if tl.load({flags} + pid_m) > 0:") if form == "outer" else Always():
        with d.loop("k", K, BK) as at:
            here = f"({at} + {depth})"
            with d.indented(f"if tl.load({flags} + {at}) != 0:") if form == "skip" else Always():
                if form == "even":
                    with d.indented(f"if {even}:"):
                        d(f"x = tl.load({d.address(a, rows, here, K)})", f"w = tl.load({d.address(b, here, cols, N)})")
                    with d.indented("else:"):
                        d(f"x = tl.load({d.address(a, rows, here, K)}, mask={here}[None, :] < {K}, other=0.0)", f"w = tl.load({d.address(b, here, cols, N)}, mask={here}[:, None] < {K}, other=0.0)")
                    d.dot("x", "w", acc, d.precision())
                elif form == "either":
                    d(f"x = tl.load({d.address(a, rows, here, K)})")
                    with d.indented(f"if {transposed}:"):
                        d(f"w = tl.load({d.address(b, cols, here, K)})")
                        d.dot("x", "tl.trans(w)", acc)
                    with d.indented("else:"):
                        d(f"w = tl.load({d.address(b, here, cols, N)})")
                        d.dot("x", "w", acc)
                else:
                    helper = d.chance(.4) and row_mask and col_mask
                    x = f"{d.use('load_tile')}({a} + {at}, {rows}, {depth}, {K}, {row_mask}, {depth} < {K} - {at})" if helper else f"tl.load({d.address(a, rows, here, K)})"
                    w = f"load_tile({b} + {at} * {N}, {depth}, {cols}, {N}, {depth} < {K} - {at}, {col_mask})" if helper else f"tl.load({d.address(b, here, cols, N)})"
                    d(f"x = {x}", f"w = {w}")
                    d.dot("x", "w", acc, d.precision())
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"))
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


class Always:
    def __enter__(self): pass
    def __exit__(self, *_): pass


def unrolled(r):
    """Loops whose count is known: static_range, a constant extent, written out"""
    d = Draft(r, r.choice(["small_k_matmul", "unrolled_gemm", "head_proj"]))
    group = d.group("dot")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    M, N = d.integer("M"), d.integer("N")
    BM, BN, BK = d.block("M", *SOME), d.block("N", *SOME), d.block("K", 16, 32, 64)
    turns = d.constant("NUM_K", 1, 2, 3, 4, 8)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    helper = d.chance(.4)
    if helper:
        name = d.fresh("multiply_step")
        with d.function(name, f"acc, x_at, w_at, k, stride, BK: tl.constexpr"):
            d("x = tl.load(x_at + k * BK)", "w = tl.load(w_at + k * BK * stride)", f"return tl.dot(x, w, acc{d.precision()})")
        d(f"x_at = {d.address(a, rows, depth, f'({BK} * {turns})')}", f"w_at = {d.address(b, depth, cols, N)}")
    acc = d.zeros("acc", (BM, BN))
    header = d.pick(f"for k in tl.static_range({turns}):", f"for k in tl.static_range(0, {turns}):", f"for k in range({turns}):", f"for k in tl.range(0, {turns}, num_stages={d.pick('1', '2', '3')}):")
    with d.indented(header):
        if helper:
            d(f"{acc} = {name}({acc}, x_at, w_at, k, {N}, {BK})")
        else:
            here = f"(k * {BK} + {depth})"
            x = d.load_into("x", d.address(a, rows, here, f"({BK} * {turns})"))
            w = d.load_into("w", d.address(b, here, cols, N))
            d.dot(x, w, acc, d.precision())
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"))
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def state_blocks(r):
    """A state of up to four pieces of 64, as many as the head needs: loops over chunks with four to twelve products"""
    d = Draft(r, r.choice(["chunk_delta_rule_fwd_h", "chunk_gated_fwd_h_blocks", "gated_delta_bwd_dh"]))
    group = d.group("half")
    k, v, w, v_new, h = d.pointer("k", group), d.pointer("v", group), d.pointer("w", group), d.pointer("v_new", group), d.pointer("h", d.group("out"))
    g, T = d.optional("g", d.group("fp32")), d.integer("T")
    K, BT, BV = d.constant("K", 64, 128, 192, 256), d.constant("BT", 16, 32, 64), d.constant("BV", 16, 32, 64)
    d.tile_of("64", BV), d.tile_of(BT, "64")
    pieces = d.pick(2, 2, 3, 4)
    d("i_v, i_nh = tl.program_id(0), tl.program_id(1)")
    ov, ot = d.arange("v", BV, f"i_v * {BV}"), d.arange("t", BT)
    d("o_k = tl.arange(0, 64)")
    def each(write):
        for n in range(pieces):
            with d.indented(f"if {K} > {64 * n}:") if n else Always():
                write(n)
    each(lambda n: d(f"b_h{n} = tl.zeros([64, {BV}], dtype=tl.float32)"))
    with d.indented(f"for i_t in range({d.pick('', '0, ')}tl.cdiv({T}, {BT})):"):
        d(f"tt = i_t * {BT} + {ot}", f"m_tt = tt < {T}")
        store = lambda n: d(f"tl.store({h} + i_t * {K} * 128 + (o_k + {64 * n})[:, None] * 128 + {ov}[None, :], b_h{n}.to({h}.dtype.element_ty))")
        each(store)
        def subtract(n):
            d(f"b_w = tl.load({w} + tt[:, None] * {K} + (o_k + {64 * n})[None, :], mask=m_tt[:, None], other=0.0)")
            d(f"b_v {'+=' if n else '='} tl.dot(b_w, b_h{n}.to(b_w.dtype))")
        each(subtract)
        d(f"b_v = tl.load({v} + tt[:, None] * 128 + {ov}[None, :], mask=m_tt[:, None], other=0.0) - b_v")
        if d.chance(.6):
            d(f"tl.store({v_new} + tt[:, None] * 128 + {ov}[None, :], b_v.to({v_new}.dtype.element_ty), mask=m_tt[:, None])")
        with d.indented(f"if {g} is not None:"):
            d(f"g_last = tl.load({g} + tl.minimum((i_t + 1) * {BT}, {T}) - 1)", f"b_v = b_v * tl.where(m_tt, tl.exp(g_last - tl.load({g} + tt, mask=m_tt, other=0.0)), 0)[:, None]")
            each(lambda n: d(f"b_h{n} *= tl.exp(g_last)"))
        d(f"b_v = b_v.to({k}.dtype.element_ty)")
        def add(n):
            d(f"b_k = tl.load({k} + (o_k + {64 * n})[:, None] + tt[None, :] * {K}, mask=m_tt[None, :], other=0.0)")
            d.dot("b_k", "b_v", f"b_h{n}")
        each(add)
    each(lambda n: d(f"tl.store({h} + (o_k + {64 * n})[:, None] * 128 + {ov}[None, :], b_h{n}.to({h}.dtype.element_ty))"))
    return d


KINDS = {product_statistics: 4, low_rank: 3, problems: 3, norm_then_product: 3, batched: 2, ahead: 3, branches: 5, unrolled: 4, state_blocks: 3}
