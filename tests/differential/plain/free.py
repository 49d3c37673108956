"""Kernels that follow no known pattern: statements over a pool of tiles, whose shapes fit, chosen by chance, with a loop or two around them.

What people write is a small part of what is legal; here the operations meet in orders that nobody had in mind.
"""
from .writing import Draft

SIDES = (16, 32, 64, 64, 128)


class Pool:
    """Values by name: shape (tuple of block names, () for a scalar) and whether they are fp32 already."""

    def __init__(self, d):
        self.d, self.values = d, {}

    def add(self, word, text, shape, kind="f"):
        name = self.d.fresh(word)
        self.d(f"{name} = {text}")
        self.values[name] = (shape, kind)
        if len(shape) > 1:
            self.d.tile_of(*shape)
        return name

    def find(self, test):
        names = [n for n, (shape, kind) in self.values.items() if test(shape, kind)]
        return self.d.pick(*names) if names else None


def free(r):
    d = Draft(r, r.choice(["kernel", "fused_kernel", "custom_op", "compute", "_kernel"]))
    group = d.group("half" if d.chance(.6) else "dot_free")
    M, N = d.block("M", *SIDES), d.block("N", *SIDES)
    K = d.block("K", *SIDES) if d.chance(.5) else N
    n = d.integer("n")
    pointers = [d.pointer(w, group) for w in ("a", "b", "c")]
    out, vec = d.pointer("out", d.group("out")), d.pointer("vec", d.group("fp32"))
    stride = d.stride("x", "row")
    dims = {size: d.arange(word, size) for word, size in dict(zip("mnk", (M, N, K))).items()} if K != N else {M: d.arange("m", M), N: d.arange("n", N)}
    pool = Pool(d)
    state = dict(d=d, pool=pool, dims=dims, pointers=pointers, out=out, vec=vec, stride=stride, n=n, element=f"{pointers[0]}.dtype.element_ty", results=0)
    for _ in range(d.pick(1, 2, 3)):
        load_tile(state, None)
    for _ in range(d.pick(0, 1, 2, 4)):
        statement(state, None)
    for _ in range(d.pick(0, 1, 1, 1, 2)):
        loop(state)
        for _ in range(d.pick(0, 1, 2, 3)):
            statement(state, None)
    left = [name for name in pool.values if f"{name}" not in "\n".join(line.split("=", 1)[-1] for line in d.body)]
    for name in (left or list(pool.values)[-1:])[:4]:
        write(state, name)
    return d


def loop(s):
    """A loop with carried values; what is made within it stays within it."""
    d, pool = s["d"], s["pool"]
    carried = []
    for _ in range(d.pick(1, 1, 2)):
        shape = d.pick(*shapes(s))
        if d.chance(.25):
            shape = shape[:1]
        carried.append((d.zeros("acc", shape), shape))
    before = dict(pool.values)
    step = d.pick(*s["dims"])
    with d.loop(d.pick("i", "j", "off"), s["n"], step, plain=.55) as at:
        for _ in range(d.pick(1, 2, 2, 3)):
            load_tile(s, at)
        for _ in range(d.pick(1, 2, 3, 5)):
            statement(s, at)
        for name, shape in carried:
            update(s, name, shape)
        if d.chance(.15):
            write(s, d.pick(*pool.values), at)
        if d.chance(.1):
            with d.indented(f"if {at} > 64:"):
                d(f"{carried[0][0]} = {carried[0][0]} * 0.5")
    pool.values = {**before, **{name: (shape, "f") for name, shape in carried}}


def shapes(s):
    sizes = list(s["dims"])
    return [(x, y) for x in sizes for y in sizes]


def load_tile(s, at):
    d = s["d"]
    shape = d.pick(*shapes(s))
    p = d.pick(*s["pointers"])
    rows, cols = s["dims"][shape[0]], s["dims"][shape[1]]
    side = d.pick("row", "col") if at else None
    first = f"({at} + {rows})" if side == "row" else rows
    second = f"({at} + {cols})" if side == "col" else cols
    address = d.address(p, first, second, s["stride"]) if d.chance(.75) else d.address(p, first, second, "1", s["stride"])
    mask = d.pick(None, None, f"{first}[:, None] < {s['n']}", f"{second}[None, :] < {s['n']}")
    name = d.load_into("t", address, mask, d.pick("0", "0.0") if mask and d.chance(.8) else None)
    s["pool"].values[name] = (shape, "e")
    d.tile_of(*shape)


def update(s, name, shape):
    """A carried value takes in something of its shape, or a product, or a reduction"""
    d, pool = s["d"], s["pool"]
    if len(shape) == 2:
        pair = product_of(s, shape)
        if pair and d.chance(.65):
            d.dot(*pair, name, d.precision())
            return
        other = pool.find(lambda sh, k: sh == shape)
        if other:
            d(f"{name} += {other}.to(tl.float32)" if pool.values[other][1] == "e" else f"{name} += {other}")
            return
    tile = pool.find(lambda sh, k: len(sh) == 2 and shape[0] in sh and sh[0] != sh[1] or sh == (shape[0], shape[0]))
    if tile and len(shape) == 1:
        axis = 1 if pool.values[tile][0][0] == shape[0] else 0
        d(f"{name} {d.pick('+=', '+=', '=')} tl.{d.pick('sum', 'max')}({tile}.to(tl.float32), axis={axis})")
    else:
        d(f"{name} = {name} * 0.5 + 1.0")


def product_of(s, shape):
    """Two operands of a product of this shape, each as it is or transposed, in the element type of the loads"""
    d, pool = s["d"], s["pool"]
    fits = []
    for x, (xs, xk) in pool.values.items():
        for y, (ys, yk) in pool.values.items():
            if len(xs) != 2 or len(ys) != 2:
                continue
            for xt in (0, 1):
                for yt in (0, 1):
                    left, right = xs[::-1] if xt else xs, ys[::-1] if yt else ys
                    if left[1] == right[0] and (left[0], right[1]) == shape:
                        fits.append((as_operand(s, x, xk, xt), as_operand(s, y, yk, yt)))
    return d.pick(*fits) if fits else None


def as_operand(s, name, kind, transposed):
    text = f"tl.trans({name})" if transposed else name
    return text if kind == "e" else f"{text}.to({s['element']})"


def statement(s, at):
    d = s["d"]
    for _ in range(4):
        if d.r.choices(list(STATEMENTS), STATEMENTS.values())[0](s, at):
            return


def product(s, at):
    shape = s["d"].pick(*shapes(s))
    pair = product_of(s, shape)
    if pair:
        s["pool"].add("p", s["d"].dot(*pair, None, s["d"].precision()), shape)
    return pair


def unary(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: sh)
    if not x:
        return False
    shape, kind = pool.values[x]
    x32 = x if kind == "f" else f"{x}.to(tl.float32)"
    form = d.pick(f"tl.exp({x32})", f"{x32} * 2.0", f"tl.maximum({x32}, 0.0)", f"{d.use('silu')}({x32})", f"tl.where({x32} > 0, {x32}, 0.0)", f"-{x32}", f"tl.abs({x32})")
    pool.add("u", form, shape)
    return True


def cast(s, at):
    x = s["pool"].find(lambda sh, k: len(sh) == 2 and k == "f")
    if x:
        s["pool"].add("e", f"{x}.to({s['element']})", s["pool"].values[x][0], "e")
    return x


def binary(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) == 2)
    if not x:
        return False
    shape = pool.values[x][0]
    y = pool.find(lambda sh, k: sh == shape or len(sh) == 1 and sh[0] in shape or sh == ())
    if not y:
        return False
    other, ys = y, pool.values[y][0]
    if len(ys) == 1:
        other = f"{y}[:, None]" if ys[0] == shape[0] else f"{y}[None, :]"
    pool.add("v", f"{x}.to(tl.float32) {d.pick('+', '-', '*')} {other}", shape)
    return True


def reduction(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) == 2)
    if not x:
        return False
    shape = pool.values[x][0]
    axis = d.pick(0, 1)
    op = d.pick("sum", "max", "min", "sum", "reduce")
    if op == "reduce":
        text = f"tl.reduce({x}.to(tl.float32), {axis}, {d.use(d.pick('add_combine', 'max_combine'))})"
    else:
        text = f"tl.{op}({x}{d.pick('', '.to(tl.float32)')}, axis={axis})"
    pool.add("r", text + (".to(tl.float32)" if op in ("max", "min") else ""), (shape[1 - axis],))
    return True


def total(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) >= 1)
    if x and d.chance(.5):
        pool.add("z", f"tl.{d.pick('sum', 'max')}({x}.to(tl.float32))", ())
        return True
    return False


def scan(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) >= 1)
    if not x:
        return False
    shape = pool.values[x][0]
    axis = d.pick(*range(len(shape)))
    text = f"tl.cumsum({x}.to(tl.float32), axis={axis})" if d.chance(.7) else f"tl.associative_scan({x}.to(tl.float32), {axis}, {d.use('max_combine')})"
    pool.add("s", text, shape)
    return True


def transpose(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) == 2)
    if x:
        shape, kind = pool.values[x]
        pool.add("x", f"tl.trans({x})", shape[::-1], kind)
    return x


def row_load(s, at):
    d = s["d"]
    size = d.pick(*s["dims"])
    s["pool"].add("w", f"tl.load({s['vec']} + {s['dims'][size]}{f' + {at}' if at and d.chance(.5) else ''})", (size,))
    return True


def where(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) == 2)
    if not x:
        return False
    shape = pool.values[x][0]
    rows, cols = s["dims"][shape[0]], s["dims"][shape[1]]
    pool.add("h", f"tl.where({rows}[:, None] >= {cols}[None, :], {x}.to(tl.float32), {d.pick('0.0', chr(45) + '1e9')})", shape)
    return True


def reorder(s, at):
    d, pool = s["d"], s["pool"]
    x = pool.find(lambda sh, k: len(sh) == 2 and k == "f")
    if not x:
        return False
    m, n = pool.values[x][0]
    form = d.pick("halves", "pairs", "index", "sort")
    if form == "halves":
        d(f"lo, hi = tl.split(tl.permute(tl.reshape({x}, ({m}, 2, {n} // 2)), (0, 2, 1)))")
        pool.add("g", f"tl.reshape(tl.permute(tl.join(lo + hi, lo - hi), (0, 2, 1)), ({m}, {n}))", (m, n))
    elif form == "pairs":
        d(f"lo, hi = tl.split(tl.reshape({x}, ({m}, {n} // 2, 2)))")
        pool.add("g", "tl.interleave(lo, hi)", (m, n))
    elif form == "index":
        pool.add("g", f"tl.argmax({x}, axis=1).to(tl.float32)", (m,))
    else:
        pool.add("g", f"tl.flip({x}, dim=1)" if d.chance(.6) else f"tl.sort({x})", (m, n))
    return True


def write(s, name, at=None):
    d, pool = s["d"], s["pool"]
    shape, _ = pool.values[name]
    s["results"] += 1
    if shape == ():
        d(f"tl.{d.pick('store', 'atomic_add')}({s['vec']}, {name})")
    elif len(shape) == 1:
        d(f"tl.{d.pick('store', 'store', 'atomic_add')}({s['vec']} + {s['dims'][shape[0]]}, {name}{'' if pool.values[name][1] == 'f' else '.to(tl.float32)'})")
    else:
        rows, cols = s["dims"][shape[0]], s["dims"][shape[1]]
        base = f"{s['out']} + {s['results'] * 4096}" + (f" + {at}" if at else "")
        d.store(d.address(base, rows, cols, s["stride"]), f"{name}.to({s['out']}.dtype.element_ty)")


STATEMENTS = {product: 8, unary: 4, cast: 3, binary: 5, reduction: 4, total: 1, scan: 1, transpose: 2, row_load: 1.5, where: 1.5, reorder: 1}
KINDS = {free: 26}
