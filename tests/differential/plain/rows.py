"""Kernels without products: rows and columns, reductions, scans, sorting, permutations, atomics."""
from .writing import Draft

ROW = (64, 128, 256, 512, 1024, 1024, 2048, 4096, 8192)
SIDE = (1, 4, 8, 16, 32, 64, 128)
WIDE = (16, 32, 64, 128, 256, 512, 1024)


def one_row(d, words, group, wide=ROW):
    """A program a row: offsets, mask, and pointers moved to the row"""
    pointers = [d.pointer(w, group) for w in words]
    n, stride = d.integer(d.pick("n_cols", "N", "hidden_size")), d.stride(words[0], "row")
    block = d.block("N", *wide)
    d.tile_of(block)
    d(f"row = tl.program_id(0){d.pick('', '.to(tl.int64)')}")
    for p in pointers:
        d(f"{p} += row * {stride}")
    return pointers, n, block


def offsets_of(d, n, block, start=None):
    cols = d.arange("n", block, start)
    return cols, d.mask("n", cols, n)


def softmax(r):
    d = Draft(r, r.choice(["softmax_kernel", "_softmax_fwd", "masked_softmax", "log_softmax_kernel"]))
    group = d.group("float")
    form = d.pick("row", "row", "persistent", "online", "tile", "tile")
    if form == "tile":
        x, y = d.pointer("x", group), d.pointer("y", group)
        n, m = d.integer("N"), d.integer("M")
        BM, BN = d.block("M", *SIDE), d.block("N", *WIDE)
        d.tile_of(BM, BN)
        rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
        mask = f"({rows}[:, None] < {m}) & ({cols}[None, :] < {n})"
        axis = d.pick("1", "1", "0")
        spread = "[:, None]" if axis == "1" else "[None, :]"
        t = d.load_into("x", d.address(x, rows, cols, n), mask, '-float("inf")')
        d(f"t = {t}.to(tl.float32)")
        if d.chance(.15):
            d(f"out = tl.softmax(t, {d.pick('dim=1', '1', 'dim=0')})")
        elif d.chance(.3):
            d(f"peak = tl.max(t, axis={axis}, keep_dims=True)", "e = tl.exp(t - peak)", f"out = e / tl.sum(e, axis={axis}, keep_dims=True)")
        else:
            d(f"e = tl.exp(t - tl.max(t, axis={axis}){spread})", f"out = e / tl.sum(e, {axis}){spread}")
        d.store(d.address(y, rows, cols, n), "out", mask)
        return d
    if form == "persistent":
        x, y = d.pointer("x", group), d.pointer("y", group)
        n_rows, n, stride = d.integer("n_rows"), d.integer("n_cols"), d.stride("x", "row")
        block = d.block("N", *ROW)
        stages = d.pick(None, "num_stages", "2")
        words = f", num_stages={d.constant('num_stages', 1, 2, 3, 4) if stages == 'num_stages' else stages}" if stages else ""
        d.tile_of(block)
        d("row_start = tl.program_id(0)", "row_step = tl.num_programs(0)")
        with d.indented(f"for row in tl.range(row_start, {n_rows}, row_step{words}):"):
            cols, mask = offsets_of(d, n, block)
            t = d.load_into("row", f"{x} + row * {stride} + {cols}", mask, '-float("inf")')
            d(f"shifted = {t} - tl.max({t}, axis=0)", "e = tl.exp(shifted.to(tl.float32))", f"tl.store({y} + row * {stride} + {cols}, e / tl.sum(e, axis=0), mask={mask})")
        return d
    (x, y), n, block = one_row(d, ("x", "y"), group)
    if form == "online":
        d('m = float("-inf")', "s = 0.0")
        vector = d.chance(.4)
        if vector:
            d.body = d.body[:-2]
            d(f'm = tl.full([{block}], value=float("-inf"), dtype=tl.float32)', f"s = tl.zeros([{block}], dtype=tl.float32)")
        with d.loop("start", n, block, forms=("offsets", "while")) as at:
            d(f"cols = {at} + tl.arange(0, {block})", f"t = tl.load({x} + cols, mask=cols < {n}, other=-float('inf')).to(tl.float32)")
            d(f"m_new = tl.maximum(m, {'t' if vector else 'tl.max(t, axis=0)'})", f"s = s * tl.exp(m - m_new) + {'tl.exp(t - m_new)' if vector else 'tl.sum(tl.exp(t - m_new), axis=0)'}", "m = m_new")
        if vector:
            if d.chance(.5):
                d(f"m, s = tl.reduce((m, s), 0, {d.use('softmax_combine')})")
            else:
                d("m_all = tl.max(m, 0)", "s = tl.sum(s * tl.exp(m - m_all), 0)", "m = m_all")
        with d.loop("start2", n, block, forms=("offsets",)) as at:
            d(f"cols = {at} + tl.arange(0, {block})", f"t = tl.load({x} + cols, mask=cols < {n}, other=-float('inf')).to(tl.float32)", f"tl.store({y} + cols, tl.exp(t - m) / s, mask=cols < {n})")
        return d
    cols, mask = offsets_of(d, n, block)
    t = d.load_into("x", f"{x} + {cols}", mask, '-float("inf")')
    if d.chance(.5):
        d(f"{t} = {t}.to(tl.float32)")
    d(f"{t} = {t} - tl.max({t}, axis=0)", f"e = tl.exp({t}.to(tl.float32))", "out = e / tl.sum(e, axis=0)")
    d.store(f"{y} + {cols}", "out" if d.chance(.7) else f"{t} - tl.log(tl.sum(e))", mask)
    return d


def norm(r):
    """Layer, RMS and group norms, forward"""
    d = Draft(r, r.choice(["layer_norm_fwd", "rms_norm_kernel", "_layernorm", "fused_add_rms_norm", "group_norm_kernel"]))
    group = d.group("float")
    residual = d.chance(.3)
    (x, y, *rest), n, block = one_row(d, ("x", "y") + (("residual",) if residual else ()), group)
    w = d.pointer("w", d.group("float"))
    eps = d.number("eps")
    mean_out = d.pointer("mean", d.group("fp32")) if d.chance(.5) else None
    rms = d.chance(.5)
    if d.chance(.5):  # in one block
        cols, mask = offsets_of(d, n, block)
        t = d.load_into("x", f"{x} + {cols}", mask, "0.0")
        d(f"t = {t}.to(tl.float32)")
        if residual:
            d(f"t += tl.load({rest[0]} + {cols}, mask={mask}, other=0.0).to(tl.float32)", f"tl.store({rest[0]} + {cols}, t, mask={mask})")
        if not rms:
            form = d.r.random()
            if form < .2:
                d(f"ones = tl.full(({block},), 1.0, tl.float32)", f"mean, m2, _ = tl.reduce((t, tl.zeros_like(t), ones), 0, {d.use('welford_combine')})", f"rstd = 1 / tl.sqrt(m2 / {n} + {eps})", "t = t - mean")
            else:
                d(f"mean = tl.sum(t, axis=0) / {n}", f"t = tl.where({mask}, t - mean, 0.0)")
        if "rstd" not in "".join(d.body):
            d(f"var = tl.sum(t * t{d.pick(', axis=0', '')}) / {n}", f"rstd = {d.pick('tl.rsqrt', 'tl.math.rsqrt')}(var + {eps})")
        d(f"t = t * rstd * tl.load({w} + {cols}, mask={mask}).to(tl.float32)")
        d.store(f"{y} + {cols}", d.pick("t", f"t.to({y}.dtype.element_ty)"), mask)
    else:
        scalar = d.chance(.4)
        d("total = 0.0" if scalar else f"total = tl.zeros([{block}], dtype=tl.float32)")
        with d.loop("off", n, block, forms=("offsets", "while")) as at:
            d(f"cols = {at} + tl.arange(0, {block})", f"a = tl.load({x} + cols, mask=cols < {n}, other=0.0).to(tl.float32)", f"total += {'tl.sum(a * a, axis=0)' if scalar else 'a * a'}")
        d(f"rstd = 1 / tl.sqrt({'total' if scalar else 'tl.sum(total, axis=0)'} / {n} + {eps})")
        with d.loop("off2", n, block, forms=("offsets",)) as at:
            d(f"cols = {at} + tl.arange(0, {block})", f"mask = cols < {n}", f"a = tl.load({x} + cols, mask=mask, other=0.0).to(tl.float32)", f"tl.store({y} + cols, a * rstd * tl.load({w} + cols, mask=mask), mask=mask)")
    if mean_out:
        d(f"tl.store({mean_out} + row, rstd)")
    return d


def norm_backward(r):
    d = Draft(r, r.choice(["layer_norm_bwd", "rms_norm_bwd", "_layer_norm_bwd_dwdb", "_bwd_dx_fused"]))
    group = d.group("float")
    form = d.pick("row", "tile", "columns", "persistent")
    if form == "columns":
        dy, out, m, n = d.pointer("dy", group), d.pointer("dw", d.group("fp32")), d.integer("M"), d.integer("N")
        BM, BN = d.block("M", *SIDE[1:]), d.block("N", 16, 32, 64, 128)
        d.tile_of(BM, BN)
        cols = d.arange("n", BN, f"tl.program_id(0) * {BN}")
        acc = d.zeros("dw", (BM, BN))
        with d.loop("i", m, BM, forms=("offsets", "while")) as at:
            d(f"rows = {at} + tl.arange(0, {BM})", f"mask = (rows[:, None] < {m}) & ({cols}[None, :] < {n})", f"{acc} += tl.load({dy} + rows[:, None] * {n} + {cols}[None, :], mask=mask, other=0.).to(tl.float32)")
        d(f"tl.store({out} + {cols}, tl.sum({acc}, axis=0), mask={cols} < {n})")
        return d
    if form == "tile":
        x, dy, dx = (d.pointer(w, group) for w in ("x", "dy", "dx"))
        rstd, m, n = d.pointer("rstd", d.group("fp32")), d.integer("M"), d.integer("N")
        BM, BN = d.block("M", *SIDE), d.block("N", *WIDE)
        d.tile_of(BM, BN)
        rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
        sums = [d.zeros(w, (BM, BN)) for w in ("part1", "part2")] if d.chance(.5) else [d.zeros(w, (BM,)) for w in ("part1", "part2")]
        whole = len(d.tiles[-1]) == 2
        d(f"r = tl.load({rstd} + {rows}, mask={rows} < {m}, other=0.0)")
        with d.loop("off", n, BN, forms=("offsets",)) as at:
            d(f"c = {at} + {cols}", f"mask = ({rows}[:, None] < {m}) & (c[None, :] < {n})", f"g = tl.load({d.address(dy, rows, 'c', n)}, mask=mask, other=0.0).to(tl.float32)",
              f"h = tl.load({d.address(x, rows, 'c', n)}, mask=mask, other=0.0).to(tl.float32) * r[:, None]")
            d(f"{sums[0]} += {'g' if whole else 'tl.sum(g, axis=1)'}", f"{sums[1]} += {'g * h' if whole else 'tl.sum(g * h, axis=1)'}")
        if whole:
            d(f"s1 = tl.sum({sums[0]}, axis=1)[:, None] / {n}", f"s2 = tl.sum({sums[1]}, axis=1)[:, None] / {n}")
        else:
            d(f"s1 = {sums[0]}[:, None] / {n}", f"s2 = {sums[1]}[:, None] / {n}")
        with d.loop("off2", n, BN, forms=("offsets",)) as at:
            d(f"c = {at} + {cols}", f"mask = ({rows}[:, None] < {m}) & (c[None, :] < {n})", f"g = tl.load({d.address(dy, rows, 'c', n)}, mask=mask, other=0.0).to(tl.float32)",
              f"h = tl.load({d.address(x, rows, 'c', n)}, mask=mask, other=0.0).to(tl.float32) * r[:, None]", f"tl.store({d.address(dx, rows, 'c', n)}, (g - s1 - h * s2) * r[:, None], mask=mask)")
        return d
    (x, dy, dx), n, block = one_row(d, ("x", "dy", "dx"), group)
    w, dw = d.pointer("w", group), d.pointer("dw", d.group("fp32"))
    cols, mask = offsets_of(d, n, block)
    d(f"w = tl.load({w} + {cols}, mask={mask}, other=0.0).to(tl.float32)")
    body = [f"xv = tl.load({x} + {cols}, mask={mask}, other=0).to(tl.float32)", f"g = tl.load({dy} + {cols}, mask={mask}, other=0).to(tl.float32)", "gw = g * w",
            f"c1 = tl.sum(xv * gw, axis=0) / {n}", f"c2 = tl.sum(gw, axis=0) / {n}", f"tl.store({dx} + {cols}, gw - (xv * c1 + c2), mask={mask})"]
    if form == "persistent":
        rows = d.integer("rows_per_program")
        d(f"dw_acc = tl.zeros([{block}], dtype=tl.float32)")
        with d.indented(f"for i in range({d.pick('', '0, ')}{rows}):"):
            d(*body, "dw_acc += g * xv", f"{x} += {n}", f"{dy} += {n}", f"{dx} += {n}")
        d(f"tl.store({dw} + row * {n} + {cols}, dw_acc, mask={mask})")
    else:
        d(*body)
        lock = d.pointer("lock", d.group("i32"))
        if d.chance(.5):
            with d.indented(f"while tl.atomic_cas({lock}, 0, 1) == 1:"):
                d("pass")
            d(f"old = tl.load({dw} + {cols}, mask={mask})", f"tl.store({dw} + {cols}, old + g * xv, mask={mask})", "tl.debug_barrier()", f"tl.atomic_xchg({lock}, 0)")
        else:
            d(f"tl.atomic_add({dw} + {cols}, g * xv, mask={mask})")
    return d


def cross_entropy(r):
    d = Draft(r, r.choice(["cross_entropy_fwd", "fused_ce_kernel", "nll_loss", "kl_div_kernel"]))
    group = d.group("float")
    (x,), n, block = one_row(d, ("logits",), group)
    target, loss = d.pointer("target", d.group("i64")), d.pointer("loss", d.group("fp32"))
    d(f"y = tl.load({target} + row)")
    if d.chance(.4):
        with d.indented("if y == -100:"):
            d(f"tl.store({loss} + row, 0.0)", "return")
    smoothing = d.constant("SMOOTHING", 0.0, 0.1)
    d('m = float("-inf")', "s = 0.0", "smooth = 0.0", f"x_y = tl.load({x} + y).to(tl.float32)")
    with d.loop("i", n, block, forms=("offsets", "while")) as at:
        d(f"cols = {at} + tl.arange(0, {block})", f"v = tl.load({x} + cols, mask=cols < {n}, other=float('-inf')).to(tl.float32)", "peak = tl.max(v)")
        with d.indented(f"if {smoothing} > 0:"):
            d(f"smooth += tl.sum(tl.where(cols < {n}, -{smoothing} * v, 0.0))")
        d("m_new = tl.maximum(m, peak)", "s = s * tl.exp(m - m_new) + tl.sum(tl.exp(v - m_new))", "m = m_new")
    if d.chance(.7):
        with d.loop("i2", n, block, forms=("offsets",)) as at:
            d(f"cols = {at} + tl.arange(0, {block})", f"v = tl.load({x} + cols, mask=cols < {n}, other=float('-inf')).to(tl.float32)", "p = tl.exp(v - m) / s", "p = tl.where(cols == y, p - 1.0, p)",
              f"tl.store({x} + cols, p, mask=cols < {n})")
    if d.chance(.5):
        d("tl.debug_barrier()")
    d(f"tl.store({loss} + row, m + tl.log(s) - x_y + smooth)")
    if d.chance(.3):
        d(f"tl.atomic_add({loss}, m)")
    return d


def reductions(r):
    """Sums, extrema, custom and several reductions over either axis, in a loop or not"""
    d = Draft(r, r.choice(["reduce_kernel", "var_mean_kernel", "amax_kernel", "mean_dim", "min_max_kernel"]))
    group = d.group(d.pick("float", "float", "number"))
    x, out, n, m = d.pointer("x", group), d.pointer("out", d.group("fp32")), d.integer("N"), d.integer("M")
    BM, BN = d.block("M", *SIDE), d.block("N", *WIDE)
    d.tile_of(BM, BN)
    rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
    axis = d.pick("0", "1", "1", "None")
    kept, index, size = (cols, f"[None, :]", BN) if axis == "0" else (rows, "[:, None]", BM)
    in_loop = d.chance(.6)
    late = in_loop and d.chance(.4)  # the tile is accumulated and reduced behind the loop
    shape = (BM, BN) if late else (size,)
    scalar = axis == "None" and not late
    acc = d.fresh("acc")
    if in_loop:
        d(f"{acc} = 0.0" if scalar else f"{acc} = tl.zeros([{', '.join(shape)}], dtype=tl.float32)")
    calls = ["tl.sum({x}, axis={a})", "tl.max({x}, axis={a})", "tl.min({x}, {a})", "tl.sum({x} * {x}, axis={a})", "tl.reduce({x}, {a}, add_combine)", "tl.reduce({x}, {a}, max_combine)", "tl.max(tl.abs({x}), axis={a})"]
    def call(x):
        text = d.pick(*calls)
        for helper in ("add_combine", "max_combine"):
            if helper in text:
                d.use(helper)
        return text.format(x=x, a=axis)
    def tile(at):
        mask = f"({rows}[:, None] < {m}) & (({at} + {cols})[None, :] < {n})" if d.chance(.7) else None
        t = d.load_into("x", d.address(x, rows, f"({at} + {cols})", n), mask, mask and d.pick("0", "0.0", "0"))
        d(f"t = {t}.to(tl.float32)" if d.chance(.7) else f"t = {t}")
    with (d.loop("off", n, BN, forms=("offsets", "while"), plain=.5) if in_loop else Once("0")) as at:
        tile(at)
        if in_loop and late:
            d(f"{acc} += t")
        elif in_loop:
            for _ in range(d.pick(1, 1, 2, 3)):
                d(d.pick(f"{acc} += {call('t')}", f"{acc} = tl.maximum({acc}, {call('t')}.to(tl.float32))"))
    values = [acc] if in_loop and not late else [call(acc if late else "t") for _ in range(d.pick(1, 1, 2, 3))]
    for i, value in enumerate(values):
        if axis == "None":
            d(f"tl.{d.pick('store', 'atomic_add', 'atomic_max')}({out} + {i}, ({value}).to(tl.float32))")
        elif d.chance(.3) and not in_loop:
            y = d.pointer("y", d.group("float"))
            d(f"norm = {value}", f"tl.store({d.address(y, rows, cols, n)}, t / norm{index})")
        else:
            d(f"tl.store({out} + {kept} + {i}, {value})")
    return d


class Once:
    def __init__(self, at): self.at = at
    def __enter__(self): return self.at
    def __exit__(self, *_): pass


def arg_reductions(r):
    d = Draft(r, r.choice(["argmax_kernel", "max_dim_kernel", "argmin_kernel", "topk_gating", "nearest"]))
    group = d.group(d.pick("float", "number"))
    x, index, n = d.pointer("x", group), d.pointer("index", d.group(d.pick("i32", "i64"))), d.integer("N")
    if d.chance(.35):
        BN = d.block("N", *ROW)
        d.tile_of(BN)
        cols = d.arange("n", BN)
        t = d.load_into("x", f"{x} + tl.program_id(0) * {n} + {cols}", f"{cols} < {n}", d.pick("0", "0.0"))
        form = d.r.random()
        if form < .4:
            d(f"i = tl.{d.pick('argmax', 'argmin')}({t}, axis=0{d.pick('', ', tie_break_left=False')})")
        elif form < .8:
            d(f"v, i = tl.{d.pick('max', 'min')}({t}, axis=0, return_indices=True{d.pick('', ', return_indices_tie_break_left=False')})", f"tl.store({x}, v)")
        else:
            d(f"v, i = tl.reduce(({t}.to(tl.float32), {cols}), 0, {d.use('argmax_combine')})")
        d(f"tl.store({index} + tl.program_id(0), i)")
        return d
    m = d.integer("M")
    BM, BN = d.block("M", *SIDE), d.block("N", *WIDE)
    d.tile_of(BM, BN)
    rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
    values = d.pointer("values", group)
    axis = d.pick("1", "1", "0")
    kept, spread, size = (rows, "[:, None]", BM) if axis == "1" else (cols, "[None, :]", BN)
    form = d.r.random()
    load = lambda at: d.load_into("x", d.address(x, rows, f"({at} + {cols})" if at != "0" else cols, n), f"{rows}[:, None] < {m}", "0")
    if form < .35:  # best so far over a loop
        d(f"best = tl.full([{size}], -1e30, dtype=tl.float32)", f"where = tl.zeros([{size}], dtype=tl.int32)")
        with d.loop("off", n, BN, forms=("offsets",)) as at:
            t = load(at)
            d(f"v, i = tl.max({t}{d.pick('', '.to(tl.float32)')}, axis={axis}, return_indices=True)", "better = v > best", f"where = tl.where(better, i + {at}, where)", "best = tl.where(better, v, best)")
        d(f"tl.store({index} + {kept}, where)")
    elif form < .65:  # the k largest, one after another
        k = d.constant("K", 1, 2, 4, 8)
        t = load("0")
        d(f"t = {t}.to(tl.float32)")
        with d.indented(f"for j in {d.pick('tl.static_range', 'range')}({k}):"):
            d(f"i = tl.argmax(t, axis={axis})" if d.chance(.5) else f"v, i = tl.max(t, axis={axis}, return_indices=True)")
            other = f"{cols}[None, :]" if axis == "1" else f"{rows}[:, None]"
            d(f"t = tl.where({other} == i{spread}, -1e30, t)", f"tl.store({index} + {kept} * {k} + j, i)")
    else:
        t = load("0")
        d(f"v, i = tl.{d.pick('max', 'min')}({t}, axis={axis}, return_indices=True)" if d.chance(.6) else f"i = tl.{d.pick('argmax', 'argmin')}({t}, {axis})")
        d(f"tl.store({index} + {kept}, i)")
        if "v, i" in d.body[-2]:
            d(f"tl.store({values} + {kept}, v)")
    return d


def scans(r):
    d = Draft(r, r.choice(["cumsum_kernel", "chunk_local_cumsum", "linear_recurrence", "prefix_scan", "cumprod_kernel"]))
    group = d.group(d.pick("float", "float", "number"))
    x, y, n = d.pointer("x", group), d.pointer("y", d.group("fp32")), d.integer("N")
    flat = d.chance(.3)
    if flat:
        BN = d.block("N", *ROW)
        d.tile_of(BN)
        cols, axis = d.arange("n", BN), "0"
        address = lambda p, at: f"{p} + tl.program_id(0) * {n} + {at} + {cols}"
        mask = lambda at: f"{at} + {cols} < {n}"
    else:
        BM, BN = d.block("M", *SIDE), d.block("N", *WIDE)
        d.tile_of(BM, BN)
        rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
        axis = d.pick("0", "1", "1")
        address = lambda p, at: d.address(p, rows, f"({at} + {cols})", n)
        mask = lambda at: f"({at} + {cols})[None, :] < {n}"
    reverse = d.pick("", "", ", reverse=True")
    in_loop = d.chance(.4)
    if in_loop:
        d("carry = 0.0" if flat else f"carry = tl.zeros([{BM if axis == '1' else BN}], dtype=tl.float32)")
    with (d.loop("off", n, BN, forms=("offsets",)) if in_loop else Once("0")) as at:
        t = d.load_into("x", address(x, at), mask(at), "0")
        d(f"t = {t}.to(tl.float32)" if in_loop or d.chance(.6) else f"t = {t}")
        form = d.r.random()
        if form < .5:
            d(f"s = tl.{d.pick('cumsum', 'cumsum', 'cumprod')}(t, axis={axis}{reverse})")
        elif form < .75:
            g = d.load_into("gate", address(d.pointer("gate", group), at))
            d(f"_, s = tl.associative_scan(({g}.to(t.dtype), t), {axis}, {d.use('affine_combine')}{reverse})")
        else:
            d(f"s = tl.associative_scan(t, {axis}, {d.use(d.pick('max_combine', 'add_combine'))}{reverse})")
        if in_loop:
            spread = "" if flat else "[:, None]" if axis == "1" else "[None, :]"
            d(f"s = s + carry{spread}", f"carry += tl.sum(t, {axis})")
        d(f"tl.store({address(y, at)}, s, mask={mask(at)})")
    return d


def sorting(r):
    d = Draft(r, r.choice(["sort_kernel", "topk_kernel", "median_kernel", "flip_kernel"]))
    x, y, n = d.pointer("x", d.group(d.pick("float", "number"))), d.pointer("y", d.group("fp32")), d.integer("N")
    flat = d.chance(.5)
    BN = d.block("N", 16, 32, 64, 128, 256, *((512, 1024) if flat else ()))
    cols = d.arange("n", BN)
    if flat:
        d.tile_of(BN)
        t = d.load_into("x", f"{x} + {cols}", f"{cols} < {n}", "0")
        at, spread = f"{y} + {cols}", ""
    else:
        BM = d.block("M", 1, 4, 16, 32)
        d.tile_of(BM, BN)
        rows = d.arange("m", BM)
        t = d.load_into("x", d.address(x, rows, cols, n))
        at, spread = d.address(y, rows, cols, n), None
    form = d.pick("sort", "sort", "topk", "flip", "merge")
    if form == "topk":
        k = d.constant("K", 2, 4, 8, 16)
        small = d.fresh("k_cols")
        d(f"top = tl.topk({t}, {k})", f"{small} = tl.arange(0, {k})")
        d(f"tl.store({y + ' + ' + small if flat else d.address(y, rows, small, k)}, top)")
        return d
    call = {"sort": f"tl.sort({t}{d.pick('', ', descending=True')})", "flip": f"tl.flip({t}{d.pick('', ', dim=0') if flat else ', dim=1'})", "merge": f"tl.sort({t}) + tl.sort({t}, descending=True)"}[form]
    d(f"s = {call}", f"tl.store({at}, s)")
    return d


def permutations(r):
    """Transposes, joins, splits, reshapes, gathers, interleaved pairs"""
    d = Draft(r, r.choice(["transpose_kernel", "rope_kernel", "pack_int4", "shuffle_kernel", "interleave_kernel", "gather_kernel"]))
    group = d.group("number" if d.chance(.4) else "float")
    x, y, n, m = d.pointer("x", group), d.pointer("y", d.group("float")), d.integer("N"), d.integer("M")
    BM, BN = d.block("M", 4, 8, 16, 32, 64, 128), d.block("N", 16, 32, 64, 128, 256)
    d.tile_of(BM, BN)
    rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
    mask = d.both(d.mask("m", rows, m), d.mask("n", cols, n) if d.chance(.5) else None) if d.chance(.6) else None
    t = d.load_into("x", d.address(x, rows, cols, n), mask, mask and "0")
    form = d.pick("trans", "trans", "split", "join", "interleave", "gather", "rope", "permute", "where", "cat")
    half = f"{BN} // 2"
    if form == "trans":
        d(f"out = {d.pick(f'tl.trans({t})', f'{t}.T', f'tl.permute({t}, (1, 0))', f'tl.trans({t}, 1, 0)')}")
        if d.chance(.3):
            d("out = out + 1")
        d.store(d.address(y, cols, rows, m), "out")
    elif form in ("split", "rope"):
        order = d.chance(.5)
        d(f"left, right = tl.split(tl.reshape({t}, ({BM}, {half}, 2)))" if order else f"left, right = tl.split(tl.permute(tl.reshape({t}, ({BM}, 2, {half})), (0, 2, 1)))")
        small = d.arange("half", half)
        if form == "rope":
            cos = d.pointer("cos", group)
            d(f"c = tl.load({d.address(cos, rows, small, n)})", "left, right = left * c - right, right * c + left")
            d(f"both = tl.join(left, right){'' if order else '.permute(0, 2, 1)'}.reshape({BM}, {BN})")
            d.store(d.address(y, rows, cols, n), "both", mask)
        else:
            d.store(d.address(y, rows, small, n), "left + right")
    elif form in ("join", "interleave"):
        d(f"z = tl.{d.pick('interleave', 'interleave') if form == 'interleave' else 'join'}({t}, {t} * 2)")
        if form == "join":
            d(f"z = tl.reshape(z, ({BM}, {BN} * 2))" if d.chance(.5) else f"z = tl.reshape(tl.permute(z, (2, 0, 1)), ({BM} * 2, {BN}))")
        wide = "(%s * 2, %s)" % (BM, BN) if "* 2, " in d.body[-1] and form == "join" else None
        r_, c_ = (f"tl.arange(0, {BM} * 2)", cols) if wide else (rows, f"tl.arange(0, {BN} * 2)")
        if wide:
            d(f"r2 = {r_}")
        else:
            d(f"c2 = {c_}")
        d.store(d.address(y, "r2" if wide else rows, cols if wide else "c2", n), "z")
    elif form == "gather":
        idx = d.pointer("idx", d.group("i32"))
        axis = d.pick("0", "1")
        d(f"i = tl.load({d.address(idx, rows, cols, n)})", f"out = tl.gather({t}, i, axis={axis})")
        d.store(d.address(y, rows, cols, n), "out", mask)
    elif form == "permute":
        d(f"cube = tl.reshape({t}, ({BM}, 4, {BN} // 4))", f"cube = tl.permute(cube, {d.pick('(1, 0, 2)', '(2, 0, 1)', '(0, 2, 1)', '(2, 1, 0)')})", f"out = tl.reshape(cube, ({BM}, {BN}))")
        if d.chance(.4):
            d(f"out = out + tl.sum(tl.reshape({t}, ({BM}, 4, {BN} // 4)), axis={d.pick('0', '1', '2')}).sum().to(out.dtype)")
        d.store(d.address(y, rows, cols, n), "out", mask)
    elif form == "cat":
        d(f"z = tl.cat({t}, {t}, {d.pick('dim=0', 'dim=1')})" if d.chance(.6) else f"z = tl.cat(tl.ravel({t}), tl.ravel({t}), can_reorder=True)")
        d(f"tl.store({y}, tl.sum(z.to(tl.float32)))")
    else:
        d(f"out = tl.where({cols}[None, :] <= {rows}[:, None], {t}, 0)", f"out = tl.where(tl.trans(tl.trans(out)) > 0, out, {t})")
        d.store(d.address(y, rows, cols, n), "out", mask)
    return d


def counting(r):
    """Histograms, atomics with used and unused results, packing by comparison"""
    d = Draft(r, r.choice(["histogram_kernel", "bincount_kernel", "moe_align_kernel", "scatter_add_kernel", "counter_kernel"]))
    x, out, n = d.pointer("x", d.group("i32")), d.pointer("out", d.group("i32")), d.integer("N")
    BN = d.block("N", 64, 128, 256, 512, 1024, 2048)
    d.tile_of(BN)
    cols = d.arange("n", BN, f"tl.program_id(0) * {BN}")
    t = d.load_into("x", f"{x} + {cols}", f"{cols} < {n}", "0")
    form = d.pick("histogram", "atomic", "used", "scalar", "cas", "ranks", "float")
    if form == "histogram":
        bins = d.constant("BINS", 16, 32, 64, 128, 256)
        d(f"h = tl.histogram({t}, {bins}{d.pick('', f', mask={cols} < {n}')})")
        d(d.pick(f"tl.store({out} + tl.arange(0, {bins}), h)", f"tl.atomic_add({out} + tl.arange(0, {bins}), h)", f"tl.store({out} + tl.arange(0, {bins}), tl.cumsum(h, 0) - h)"))
    elif form == "atomic":
        d(f"tl.atomic_{d.pick('add', 'max', 'min', 'or', 'and', 'xor')}({out} + {t}, {d.pick('1', t)}{d.pick('', f', mask={cols} < {n}')}{d.pick('', ', sem=' + repr('relaxed'))})")
    elif form == "used":
        d(f"old = tl.atomic_{d.pick('add', 'max', 'xchg')}({out} + {t}, {d.pick(t, cols)}, mask={cols} < {n})", f"tl.store({x} + {cols}, old, mask={cols} < {n})")
    elif form == "scalar":
        d(f"total = tl.sum(({t} > 0).to(tl.int32))", f"where = tl.atomic_add({out}, total)", f"rank = tl.cumsum(({t} > 0).to(tl.int32), 0) - 1", f"tl.store({x} + where + rank, {t}, mask={t} > 0)")
    elif form == "cas":
        d(f"old = tl.atomic_cas({out} + {cols}, {t}, {t} + 1)", f"tl.store({x} + {cols}, old)" if d.chance(.6) else "pass")
    elif form == "ranks":
        E = d.constant("E", 8, 16, 64)
        d(f"hot = ({t}[:, None] == tl.arange(0, {E})[None, :]).to(tl.int32)", "before = tl.cumsum(hot, axis=0) - hot", f"rank = tl.sum(hot * before, axis=1)", f"tl.store({x} + {cols}, rank)", f"tl.atomic_add({out} + tl.arange(0, {E}), tl.sum(hot, axis=0))")
        d.tile_of(BN, E)
    else:
        grad = d.pointer("grad", d.group("fp32"))
        rows = d.block("D", 16, 32, 64)
        d.tile_of(BN, rows)
        dims = d.arange("d", rows)
        src = d.pointer("src", d.group("float"))
        d(f"v = tl.load({d.address(src, cols, dims, rows)}, mask={cols}[:, None] < {n}, other=0.0).to(tl.float32)", f"{'old = ' if d.chance(.4) else ''}tl.atomic_add({grad} + {t}[:, None] * {rows} + {dims}[None, :], v)")
        if "old =" in d.body[-1]:
            d(f"tl.store({d.address(src, cols, dims, rows)}, old)")
    return d


def recurrent(r):
    """A state that a loop over time updates with outer products and sums"""
    d = Draft(r, r.choice(["fused_recurrent_fwd", "delta_rule_step", "ssm_update", "rwkv_kernel", "gated_recurrence"]))
    group = d.group("float")
    q, k, v, o = (d.pointer(w, group) for w in ("q", "k", "v", "o"))
    T, BK, BV = d.integer("T"), d.block("K", 16, 32, 64, 128), d.block("V", 8, 16, 32, 64)
    d.tile_of(BK, BV)
    ok, ov = d.arange("k", BK), d.arange("v", BV, f"tl.program_id(0) * {BV}")
    flipped = d.chance(.5)
    state = d.zeros("b_h", (BV, BK) if flipped else (BK, BV))
    along_k, along_v, axis = ("[None, :]", "[:, None]", "1") if flipped else ("[:, None]", "[None, :]", "0")
    with d.indented(f"for t in {d.pick('range', 'tl.range')}({d.pick('', '0, ')}{T}):"):
        d(f"qt = tl.load({q} + {ok}).to(tl.float32)", f"kt = tl.load({k} + {ok}).to(tl.float32)", f"vt = tl.load({v} + {ov}).to(tl.float32)")
        if d.chance(.4):
            d("kt = kt / tl.sqrt(tl.sum(kt * kt) + 1e-6)")
        if d.chance(.6):
            d(f"vt -= tl.sum({state} * kt{along_k}, {axis})")
        d(f"{state} += kt{along_k} * vt{along_v}", f"ot = tl.sum({state} * qt{along_k}, axis={axis})", f"tl.store({o} + {ov}, ot.to({o}.dtype.element_ty))")
        d(f"{q} += {BK}", f"{k} += {BK}", f"{v} += {BV}", f"{o} += {BV}")
    if d.chance(.5):
        ht = d.pointer("ht", d.group("fp32"))
        d.store(d.address(ht, ov, ok, BK) if flipped else d.address(ht, ok, ov, BV), state)
    return d


def quantise(r):
    """Row or block maxima, then a cast to eight bits"""
    d = Draft(r, r.choice(["per_token_quant", "act_quant_kernel", "int8_quantize", "group_quant"]))
    x, y, s = d.pointer("x", d.group("float")), d.pointer("y", d.group(d.pick("i8", "fp8"))), d.pointer("s", d.group("fp32"))
    n = d.integer("N")
    BM, BN = d.block("M", 1, 4, 16, 32, 64), d.block("N", 32, 64, 128, 256, 512)
    d.tile_of(BM, BN)
    rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
    in_loop = d.chance(.4)
    with (d.loop("off", n, BN, forms=("offsets",), plain=.5) if in_loop else Once("0")) as at:
        d(f"v = tl.load({d.address(x, rows, f'({at} + {cols})', n)}).to(tl.float32)")
        if d.chance(.4):
            G = d.constant("G", 16, 32)
            d(f"v = tl.reshape(v, ({BM}, {BN} // {G}, {G}))", "peak = tl.max(tl.abs(v), axis=2)", "scale = tl.maximum(peak, 1e-5) / 127.0", f"q = tl.reshape(v / scale[:, :, None], ({BM}, {BN}))")
            d(f"tl.store({s} + {rows}[:, None] * 8 + tl.arange(0, {BN} // {G})[None, :], scale)")
        else:
            d("peak = tl.max(tl.abs(v), axis=1)", "scale = tl.maximum(peak, 1e-5) / 127.0", "q = v / scale[:, None]", f"tl.store({s} + {rows}, scale)")
        d(f"tl.store({d.address(y, rows, f'({at} + {cols})', n)}, q.to({y}.dtype.element_ty))")
    return d


def apart(r):
    """Calls that stay calls (noinline), alone and beside other memory"""
    d = Draft(r, r.choice(["row_stats", "two_pass_norm", "copy_and_sum", "outer_kernel"]))
    group = d.group("float")
    (x, y), n, block = one_row(d, ("x", "y"), group, ROW[:7])
    helper = d.use(d.pick("row_sum", "row_max"))
    d(f"total = {helper}({x}, {n}, {block})")
    if d.chance(.4):
        other = d.use(d.pick("row_sum", "row_max"))
        d(f"total += {other}({y}, {n}, {block})")
    if d.chance(.3):
        d(f"{d.use('copy_row')}({x}, {y}, {n}, {block})")
    if d.chance(.5):
        cols, mask = offsets_of(d, n, block)
        d(f"v = tl.load({x} + {cols}, mask={mask}, other=0.0).to(tl.float32)", "v = v - tl.max(v, axis=0)", f"tl.store({y} + {cols}, v / (total + tl.sum(v, axis=0)), mask={mask})")
    elif d.chance(.5):
        with d.indented(f"for i in range(0, 4):"):
            d(f"total += {helper}({x} + i * {n}, {n}, {block})")
        d(f"tl.store({y}, total)")
    else:
        d(f"tl.store({y}, total)")
    return d


def elementwise(r):
    d = Draft(r, r.choice(["add_kernel", "swiglu_forward", "dropout_kernel", "gelu_and_mul", "copy_kernel", "adam_step"]))
    group = d.group("float")
    x, y, out, n = d.pointer("x", group), d.pointer("y", group), d.pointer("out", d.group("float")), d.integer("n_elements")
    BN = d.block("N", *ROW)
    d.tile_of(BN)
    cols = d.arange("n", BN, f"tl.program_id(0) * {BN}")
    mask = d.mask("n", cols, n)
    a, b = d.load_into("x", f"{x} + {cols}", mask, "0.0"), d.load_into("y", f"{y} + {cols}", mask)
    d(d.pick(f"z = {a} + {b}", f"z = {d.use('silu')}({a}.to(tl.float32)) * {b}", f"z = tl.where(tl.rand(0, {cols}) > 0.5, {a}, {b})", f"z = tl.fma({a}.to(tl.float32), 2.0, {b}.to(tl.float32))", f"z = {d.use('gelu')}({a}.to(tl.float32)) * {b}"))
    if d.chance(.2):
        with d.indented(f"if {d.constant('WITH_SUM', True, False)}:"):
            d("z = z - tl.sum(z)")
    d.store(f"{out} + {cols}", "z", mask)
    return d


KINDS = {softmax: 5, norm: 5, norm_backward: 4, cross_entropy: 3, reductions: 6, arg_reductions: 6, scans: 5, sorting: 3, permutations: 6, counting: 4, recurrent: 3,
         quantise: 3, apart: 3, elementwise: 2}
