"""Products and rows whose places are read from memory: tokens sorted by expert, pages of a cache, packed sequences, bags of rows."""
from .writing import Draft

SIDE = (16, 32, 64, 128)
DEEP = (16, 32, 64)


def first_of(d, table, index):
    """A number that is read, as people bring it to the width that they want"""
    name = d.fresh(d.pick("start", "first", "off", "e_start"))
    d(f"{name} = tl.load({table} + {index}){d.pick('', '', '.to(tl.int64)', '.to(tl.int32)')}")
    return name


def rows_of(d, table, places, size):
    """Places of rows that are read one by one, with or without a mask"""
    name = d.fresh(d.pick("token", "idx", "src"))
    form = d.pick("plain", "masked", "repeated", "wide")
    if form == "plain":
        d(f"{name} = tl.load({table} + {places})")
    elif form == "masked":
        d(f"{name} = tl.load({table} + {places}, mask={places} < {size}, other=0)")
    elif form == "repeated":
        d(f"{name} = tl.load({table} + {places} // {d.pick(2, 8, 16, 32)})")
    else:
        d(f"{name} = tl.load({table} + {places}).to(tl.int64)")
    return name


def moved(d, name, size):
    """The same place, or one that is counted from it"""
    form = d.pick("as it is", "as it is", "divided", "times", "rest")
    if form == "as it is":
        return name
    other = d.fresh(name + "_of")
    d(f"{other} = {name} " + {"divided": f"// {d.pick(2, 4, 16)}", "times": f"* {d.pick(2, 16, 64)}", "rest": f"% {size}"}[form])
    return other


def grouped_product(r):
    d = Draft(r, r.choice(["grouped_gemm", "fused_moe_kernel", "varlen_matmul", "expert_mm"]))
    group = d.group("dot")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    table = d.pointer("starts", d.group(d.pick("i32", "i32", "i64")))
    n, k = d.integer("N"), d.integer("K")
    stride_a, stride_b = d.stride("a", "m"), d.stride("b", "k")
    BM, BN, BK = d.block("M", *SIDE), d.block("N", *SIDE), d.block("K", *DEEP)
    d.tile_of(BM, BK), d.tile_of(BK, BN), d.tile_of(BM, BN)
    rows, cols, ks = d.arange("m", BM), d.arange("n", BN, d.pick(None, f"tl.program_id(1) * {BN}")), d.arange("k", BK)
    whose = d.pick("rows", "start", "start", "both", "expert", "pointer")
    place = rows
    if whose in ("start", "both"):
        start = moved(d, first_of(d, table, "tl.program_id(0)"), n)
        place = d.fresh("m_at")
        d(f"{place} = {start} + {rows}")
    if whose in ("rows", "both"):
        place = moved(d, rows_of(d, table, place, n), n)
    base_a, base_b = a, b
    if whose == "expert":
        expert = moved(d, first_of(d, table, "tl.program_id(0)"), n)
        stride_e = d.stride("b", "e")
        base_b = d.fresh("b_of")
        d(f"{base_b} = {b} + {expert} * {d.pick(stride_e, f'{k} * {n}')}")
    if whose == "pointer":
        start = first_of(d, table, "tl.program_id(0)")
        base_a = d.fresh("a_of")
        d(f"{base_a} = {a} + {start} * {d.pick(stride_a, k)}")
    acc = d.zeros("acc", (BM, BN))
    mask = d.chance(.5)
    with d.loop("kk", k, BK) as at:
        inner = d.fresh("k_at")
        d(f"{inner} = {at} + {ks}")
        keep = [f"{inner}[None, :] < {k}", f"{inner}[:, None] < {k}"] if mask else [None, None]
        other = "0.0" if mask else None
        left = d.load_into("a", d.address(base_a, place, inner, stride_a), keep[0], other)
        right = d.load_into("b", d.address(base_b, inner, cols, stride_b), keep[1], other)
        d.dot(left, right, acc, d.precision())
    d.store(d.address(c, rows, cols, n), f"{acc}.to({c}.dtype.element_ty)", d.pick(None, f"{cols}[None, :] < {n}"))
    return d


def paged_scores(r):
    d = Draft(r, r.choice(["paged_attention", "decode_scores", "kv_cache_qk"]))
    group = d.group("dot")
    q, k, o = d.pointer("q", group), d.pointer("k", group), d.pointer("o", d.group("out"))
    table = d.pointer("pages", d.group("i32"))
    n, stride = d.integer("seq_len"), d.stride("k", "page")
    BM, BN, BD = d.block("M", *SIDE), d.block("N", *SIDE), d.block("D", *DEEP)
    d.tile_of(BM, BD), d.tile_of(BD, BN), d.tile_of(BM, BN)
    rows, cols, dims = d.arange("m", BM), d.arange("n", BN), d.arange("d", BD)
    left = d.load_into("q", d.address(q, rows, dims, BD))
    total = d.zeros("total", (BM, BN)) if d.chance(.5) else None
    with d.loop("page", n, BN) as at:
        number = rows_of(d, table, f"({at} + {cols})", n) if d.chance(.5) else first_of(d, table, at)
        by = d.pick(stride, BD, f"{BN} * {BD}")
        address = f"{k} + {number}[None, :] * {by} + {dims}[:, None]"
        if number in ("start", "first", "off", "e_start"):
            address = f"{k} + {number} * {by} + {cols}[None, :] * {BD} + {dims}[:, None]"
        right = d.load_into("k", address, d.pick(None, f"({at} + {cols})[None, :] < {n}"))
        score = d.fresh("s")
        d(f"{score} = {d.dot(left, right)}")
        if total:
            d(f"{total} += tl.exp({score})")
        else:
            d.store(f"{o} + {rows}[:, None] * {n} + ({at} + {cols})[None, :]", f"{score}.to({o}.dtype.element_ty)")
    if total:
        d.store(f"{o} + {rows}[:, None] * {BN} + {cols}[None, :]", f"{total}.to({o}.dtype.element_ty)")
    return d


def gathered_rows(r):
    d = Draft(r, r.choice(["embedding_bag", "gather_rows", "index_select"]))
    group = d.group("number")
    x, y = d.pointer("x", group), d.pointer("y", d.group("out"))
    table = d.pointer("index", d.group(d.pick("i32", "i64")))
    n, stride = d.integer("n_rows"), d.stride("x", "row")
    BM, BN = d.block("M", *SIDE), d.block("N", 16, 64, 128, 256)
    d.tile_of(BM, BN)
    rows, cols = d.arange("m", BM, f"tl.program_id(0) * {BM}"), d.arange("n", BN)
    place = moved(d, rows_of(d, table, rows, n), n)
    tile = d.load_into("x", d.address(x, place, cols, stride), d.pick(None, f"{rows}[:, None] < {n}"))
    form = d.pick("sum", "turned", "store", "scan")
    if form == "sum":
        d.store(f"{y} + {rows}", f"tl.sum({tile}.to(tl.float32), axis=1)")
    elif form == "turned":
        d.store(f"{y} + {cols}[:, None] * {n} + {rows}[None, :]", f"tl.trans({tile})")
    elif form == "scan":
        d.store(d.address(y, rows, cols, BN), f"tl.cumsum({tile}.to(tl.float32), axis={d.pick(0, 1)})")
    else:
        d.store(d.address(y, rows_of(d, table, rows, n), cols, stride), tile)
    return d


KINDS = {grouped_product: 10, paged_scores: 5, gathered_rows: 5}
