"""Products that follow each other: what one gives is a side of the next, in loops and outside of them, and nothing is left unused.

Where a tile is loaded, before, in or behind a loop, and which instructions compute the products around it, decides how long it is there.
"""
from .writing import Draft

SIDES = (16, 32, 64, 64, 128)


def linked(r):
    d = Draft(r, r.choice(["kernel", "fused_kernel", "chained", "_fwd_kernel", "compute"]))
    half = d.group("half" if d.chance(.6) else "dot_free")
    sizes = [d.block(letter, *SIDES) for letter in "MNK"]
    dims = {size: d.arange(letter, size) for letter, size in zip("mnk", sizes)}
    pointers = [d.pointer(word, half) for word in ("a", "b", "c")]
    out = d.pointer("out", d.group("out"))
    s = dict(d=d, dims=dims, pointers=pointers, out=out, n=d.integer("n"), stride=d.stride("x", "row"), element=f"{pointers[0]}.dtype.element_ty", written=0)
    # Loaded up here, taken where it fits.
    kept = [tile(s) for _ in range(d.pick(0, 1, 1, 2))]
    live = tile(s)
    for _ in range(d.pick(2, 2, 3)):
        live = d.pick(outside, outside, looped, looped, looped, looped, changed)(s, live, kept)
    write(s, live)
    for name, shape, kind in kept[:1] if d.chance(.2) else []:
        write(s, (name, shape, kind))
    return d


def tile(s, at=None, shape=None):
    """Loads a tile: (name, shape, whether it has the element type of the operands)"""
    d = s["d"]
    shape = shape or (d.pick(*s["dims"]), d.pick(*s["dims"]))
    rows, cols = (s["dims"][size] for size in shape)
    if at and d.chance(.5):
        rows = f"({at} + {rows})"
    elif at:
        cols = f"({at} + {cols})"
    base, turned = d.pick(*s["pointers"]), d.chance(.25)
    address = d.address(base, rows, cols, "1", s["stride"]) if turned else d.address(base, rows, cols, s["stride"])
    mask = d.pick(None, None, f"{rows}[:, None] < {s['n']}", f"{cols}[None, :] < {s['n']}")
    name = d.load_into("t", address, mask, "0.0" if mask else None)
    d.tile_of(*shape)
    return name, shape, True


def sides(s, live, kept, at=None):
    """Two operands of a product of which one is what there is, and the shape of the product"""
    d = s["d"]
    name, shape, kind = live
    turned = d.chance(.3)
    text, shape = (f"tl.trans({name})", shape[::-1]) if turned else (name, shape)
    text = text if kind else f"{text}.to({s['element']})"
    left = d.chance(.6)
    inner = shape[1] if left else shape[0]
    fits = [one for one in kept if one[1][0 if left else 1] == inner]
    if fits and d.chance(.6):
        other = d.pick(*fits)
    else:
        outer = d.pick(*s["dims"])
        other = tile(s, at, (inner, outer) if left else (outer, inner))
    if left:
        return (text, other[0]), (shape[0], other[1][1])
    return (other[0], text), (other[1][0], shape[1])


def outside(s, live, kept):
    pair, shape = sides(s, live, kept)
    d = s["d"]
    name = d.fresh("p")
    d(f"{name} = {d.dot(*pair, None, d.precision())}")
    d.tile_of(*shape)
    return name, shape, False


def looped(s, live, kept):
    """A loop that sums up products: of what it loads, of that and what is there already, or of what comes of those."""
    d = s["d"]
    form = d.pick("loads", "live", "live", "two", "chain")
    step = d.pick(*s["dims"])
    if form == "loads":
        rows, inner, cols = (d.pick(*s["dims"]) for _ in range(3))
        if d.chance(.3) and any(one[1][0] == inner for one in kept):
            cols = next(one[1][1] for one in kept if one[1][0] == inner)
        shape = (rows, cols)
    else:
        # The shapes are needed before the loop: say what is multiplied, and load it within.
        turned, left = d.chance(.3), d.chance(.6)
        of = live[1][::-1] if turned else live[1]
        outer = d.pick(*s["dims"])
        shape = (of[0], outer) if left else (outer, of[1])
        text = f"tl.trans({live[0]})" if turned else live[0]
        text = text if live[2] else f"{text}.to({s['element']})"
    acc = d.zeros("acc", shape)
    other = d.zeros("acc", shape) if form == "two" else None
    with d.loop(d.pick("i", "j", "off"), s["n"], step, plain=.5) as at:
        if form == "loads":
            first = tile(s, at, (rows, inner))
            fits = [one for one in kept if one[1] == (inner, cols)]
            second = fits[0] if fits and d.chance(.6) else tile(s, at, (inner, cols))
            pair = first[0], second[0]
        else:
            loaded = tile(s, at, (of[1], outer) if left else (outer, of[0]))
            pair = (text, loaded[0]) if left else (loaded[0], text)
        if form == "chain" and shape[0] != shape[1] or form == "chain" and d.chance(.4):
            # What the first product gives is multiplied again.
            middle = d.fresh("s")
            d(f"{middle} = {d.dot(*pair, None, d.precision())}")
            if d.chance(.5):
                d(f"{middle} = {d.pick(f'tl.exp({middle})', f'{middle} * 0.5', f'tl.where({middle} > 0, {middle}, 0.0)')}")
            last = tile(s, at, (shape[1], shape[1]))
            pair = f"{middle}.to({s['element']})", last[0]
        elif d.chance(.15):
            scaled = d.fresh("b")
            d(f"{scaled} = ({pair[0]} * {d.pick('2.0', '0.5')}).to({s['element']})")
            pair = scaled, pair[1]
        if d.chance(.12):
            d(f"{acc} = {acc} * 0.5")
        d.dot(*pair, acc, d.precision())
        if other:
            more = tile(s, at, (of[1], outer) if left else (outer, of[0]))
            d.dot(*((text, more[0]) if left else (more[0], text)), other, d.precision())
        if d.chance(.2):
            write(s, d.pick((acc, shape, False), live), at)
    if other:
        both = d.fresh("h")
        d(f"{both} = {acc} * {other}")
        return both, shape, False
    return acc, shape, False


def changed(s, live, kept):
    d = s["d"]
    name, shape, kind = live
    wide = f"{name}.to(tl.float32)"
    form = d.pick("softmax", "scale", "rows", "gate")
    made = d.fresh("v")
    if form == "softmax":
        d(f"{made} = tl.exp({wide} - tl.max({wide}, axis=1)[:, None])")
        d(f"{made} = {made} / tl.sum({made}, axis=1)[:, None]")
    elif form == "scale":
        d(f"{made} = {wide} * 0.125")
    elif form == "rows":
        # Of a square, either axis may be summed over and put back along either.
        axis = d.pick(0, 1) if shape[0] == shape[1] else 1
        back = "[:, None]" if axis == 1 and shape[0] != shape[1] else d.pick("", "[None, :]")
        d(f"{made} = {wide} - tl.sum({wide}, axis={axis}){back}")
    else:
        more = tile(s, None, shape)
        d(f"{made} = {wide} * tl.sigmoid({more[0]}.to(tl.float32))")
    return made, shape, False


def write(s, value, at=None):
    d = s["d"]
    name, shape, _ = value
    rows, cols = (s["dims"][size] for size in shape)
    s["written"] += 1
    base = f"{s['out']} + {s['written'] * 4096}" + (f" + {at}" if at else "")
    d.store(d.address(base, rows, cols, s["stride"]), f"{name}.to({s['out']}.dtype.element_ty)")


KINDS = {linked: 20}
