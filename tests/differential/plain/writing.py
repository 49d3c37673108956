"""How a kernel's text is made: names in one person's style, arguments, loops, loads, stores.

A `Draft` collects the text and what a launch must say of it. The text never names an element type or a block size, so one kernel can be
asked about on several devices with several sizes (`cells.py` draws those).
"""
import contextlib, textwrap

# How people name things; {0} is the letter or word of the thing. A kernel has one style throughout.
STYLES = [
    dict(pointer="{}_ptr", tile="{}", pointers="{}_ptrs", block="BLOCK_SIZE_{}", offsets="offs_{}", stride="stride_{}{}", mask="{}_mask"),
    dict(pointer="{}_ptr", tile="{}", pointers="{}_ptrs", block="BLOCK_{}", offsets="{}_offsets", stride="{}_stride_{}", mask="mask_{}"),
    dict(pointer="p{}", tile="{}_tile", pointers="ptr_{}", block="TILE_{}", offsets="r{}", stride="s{}_{}", mask="m{}"),
    dict(pointer="{}", tile="b_{}", pointers="p_{}", block="B{}", offsets="o_{}", stride="s_{}_{}", mask="m_{}"),
    dict(pointer="{}", tile="{}_val", pointers="{}_block", block="BLOCK_{}", offsets="offs_{}", stride="stride_{}{}", mask="mask_{}", upper=True),
]

# Functions that kernels call, written the way people write them. `needs` are others that must stand above.
HELPERS = {
    "relu": "@triton.jit\ndef relu(x):\n    return tl.maximum(x, 0.0)\n",
    "leaky_relu": "@triton.jit\ndef leaky_relu(x, slope: tl.constexpr = 0.01):\n    return tl.where(x >= 0, x, slope * x)\n",
    "silu": "@triton.jit\ndef silu(x):\n    return x * tl.sigmoid(x)\n",
    "tanh": "@triton.jit\ndef tanh(x):\n    # via the logistic function\n    return 2 * tl.sigmoid(2 * x) - 1\n",
    "gelu": "@triton.jit\ndef gelu(x):\n    inner = 0.7978845608 * (x + 0.044715 * x * x * x)\n    return 0.5 * x * (1.0 + tanh(inner))\n",
    "grouped": """@triton.jit
def grouped_pids(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    width = GROUP_M * num_pid_n
    group = pid // width
    first = group * GROUP_M
    size = tl.minimum(num_pid_m - first, GROUP_M)
    return first + (pid % width) % size, (pid % width) // size
""",
    "add_combine": "@triton.jit\ndef add_combine(left, right):\n    return left + right\n",
    "max_combine": "@triton.jit\ndef max_combine(left, right):\n    return tl.maximum(left, right)\n",
    "affine_combine": "@triton.jit\ndef affine_combine(a_left, b_left, a_right, b_right):\n    return a_left * a_right, b_left * a_right + b_right\n",
    "welford_combine": """@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    ratio = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * ratio, m2_1 + m2_2 + delta * delta * weight_1 * ratio, weight
""",
    "argmax_combine": """@triton.jit
def argmax_combine(value_1, index_1, value_2, index_2):
    take = (value_1 > value_2) | ((value_1 == value_2) & (index_1 < index_2))
    return tl.where(take, value_1, value_2), tl.where(take, index_1, index_2)
""",
    "softmax_combine": """@triton.jit
def softmax_combine(m_1, d_1, m_2, d_2):
    m = tl.maximum(m_1, m_2)
    return m, d_1 * tl.exp(m_1 - m) + d_2 * tl.exp(m_2 - m)
""",
    "exp2": "@triton.jit\ndef exp2(x):\n    return tl.math.exp2(x.to(tl.float32))\n",
    "load_tile": """@triton.jit
def load_tile(base, rows, cols, stride, row_mask, col_mask):
    return tl.load(base + rows[:, None] * stride + cols[None, :], mask=row_mask[:, None] & col_mask[None, :], other=0.0)
""",
    "row_sum": """@triton.jit(noinline=True)
def row_sum(base, n, BLOCK: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(base + at, mask=at < n, other=0.0).to(tl.float32), axis=0)
    return total
""",
    "row_max": """@triton.jit(noinline=True)
def row_max(base, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(base + start + at, mask=start + at < n, other=float("-inf")).to(tl.float32)
        best = tl.maximum(best, x)
    return tl.max(best, axis=0)
""",
    "copy_row": """@triton.jit(noinline=True)
def copy_row(src, dst, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        tl.store(dst + start + at, tl.load(src + start + at, mask=start + at < n), mask=start + at < n)
""",
}
NEEDS = {"gelu": ["tanh"]}


# Names that kinds write as they are and that a style would make for something else.
RESERVED = ("tl", "triton", "p_q", "h", "m_t", "b_o", "b_s", "p_k")


class Draft:
    """One kernel while it is written. `d("text")` adds a line, `with d.indented("for …:")` a block."""

    def __init__(self, r, name):
        self.r, self.name, self.style = r, name, r.choice(STYLES)
        self.body, self.depth, self.names = [], 1, {name, *RESERVED}
        self.arguments = []    # (name, kind, detail), in the order of the signature
        self.helpers = []
        self.constants = []    # lines of the module
        self.extra = []        # text of functions that belong to this kernel only
        self.groups = {}       # group of element types -> its family (`cells.FAMILIES`)
        self.tiles = []        # tuples of block names or numbers whose product is the size of a value
        self.only = None       # devices for which it is meant, None for all
        self.never = set()     # devices that do not know something that it says
        self.rules = []        # predicates of {block: value}
        self.dtype_constants = {}  # constexpr of an element type -> group

    # ---- text
    def __call__(self, *lines):
        for line in lines:
            self.body.append("    " * self.depth + line)

    @contextlib.contextmanager
    def indented(self, header):
        self(header)
        self.depth += 1
        yield
        self.depth -= 1

    @contextlib.contextmanager
    def function(self, name, parameters, decorator="@triton.jit"):
        """Write a helper of this kernel's own; its text goes above the kernel."""
        kept, self.body, depth, self.depth = self.body, [], self.depth, 1
        yield
        self.extra.append(f"{decorator}\ndef {name}({parameters}):\n" + "\n".join(self.body) + "\n")
        self.body, self.depth = kept, depth

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *choices):
        return self.r.choice(choices)

    def fresh(self, name):
        """The name, or one like it that is not taken."""
        base, n = name, 1
        while name in self.names:
            n += 1
            name = f"{base}_{n}"
        self.names.add(name)
        return name

    def named(self, kind, *words):
        text = self.style[kind].format(*words)
        return self.fresh(text.upper() if kind == "pointer" and self.style.get("upper") else text)

    def use(self, helper):
        for needed in NEEDS.get(helper, []):
            self.use(needed)
        if helper not in self.helpers:
            self.helpers.append(helper)
        self.names.add(helper)
        return helper

    # ---- arguments
    def group(self, family, name=None):
        name = name or f"T{len(self.groups)}"
        self.groups[name] = family
        return name

    def argument(self, name, kind, detail=None):
        self.arguments.append((name, kind, detail))
        return name

    def pointer(self, word, group):
        return self.argument(self.named("pointer", word), "pointer", group)

    def optional(self, word, group):
        """A pointer that callers leave out: None, told by `is not None`"""
        return self.argument(self.named("pointer", word), "optional", group)

    def descriptor(self, word, group, block):
        name = self.fresh({"{}_ptr": f"{word}_desc", "p{}": f"desc_{word}"}.get(self.style["pointer"], f"desc_{word}"))
        self.tiles.append(tuple(block))
        return self.argument(name, "descriptor", (group, tuple(block)))

    def integer(self, name):
        return self.argument(self.fresh(name), "int")

    def stride(self, tensor, axis):
        return self.argument(self.fresh(self.style["stride"].format(tensor, axis)), "int")

    def number(self, name):
        return self.argument(self.fresh(name), "float")

    def constant(self, name, *values):
        return self.argument(self.fresh(name), "constexpr", values)

    def block(self, letter, *sizes):
        return self.constant(self.style["block"].format(letter), *sizes)

    def global_constant(self, name, value):
        """A name of the module that the kernel reads"""
        self.constants.append(f"{name} = tl.constexpr({value})\n")
        self.names.add(name)
        return name

    def dtype_constant(self, name, group):
        self.dtype_constants[name] = group
        return self.argument(self.fresh(name), "dtype", group)

    def tile_of(self, *dims):
        """Note that a value of this shape exists, so that sizes stay sensible."""
        self.tiles.append(dims)

    # ---- small idioms
    def arange(self, word, block, start=None):
        """offsets of a block from `start` on"""
        name = self.named("offsets", word)
        span = f"tl.arange(0, {block})"
        self(f"{name} = {f'{start} + {span}' if start else span}")
        return name

    def mask(self, word, offsets, size):
        name = self.named("mask", word)
        self(f"{name} = {offsets} < {size}")
        return name

    def load(self, address, mask=None, other=None, late=True):
        """The text of a load; how masks, `other` and cache hints are said varies."""
        words = [address]
        if mask and other is None and self.chance(.15):
            words.append(mask)
        elif mask:
            words.append(f"mask={mask}")
        if mask and other is not None:
            words.append(f"other={other}")
        if late and self.chance(.06):
            words.append('eviction_policy="%s"' % self.pick("evict_last", "evict_first"))
        if late and self.chance(.03):
            words.append('cache_modifier="%s"' % self.pick(".cg", ".ca"))
        return f"tl.load({', '.join(words)})"

    def load_into(self, word, address, mask=None, other=None):
        """A load into a variable, sometimes with the addresses in a variable of their own."""
        if self.chance(.5):
            pointers = self.named("pointers", word)
            self(f"{pointers} = {address}")
            address = pointers
        tile = self.named("tile", word)
        self(f"{tile} = {self.load(address, mask, other)}")
        return tile

    def address(self, base, rows, cols, row_stride, col_stride=None):
        """Addresses of a tile: rows × cols, in one of the usual notations."""
        row, col = f"{rows}[:, None]", f"{cols}[None, :]"
        if self.chance(.08):
            row, col = f"tl.expand_dims({rows}, 1)", f"tl.expand_dims({cols}, 0)"
        first = f"{row} * {row_stride}" if row_stride != "1" else row
        second = f"{col} * {col_stride}" if col_stride not in (None, "1") else col
        return f"{base} + ({first} + {second})" if self.chance(.3) else f"{base} + {first} + {second}"

    def both(self, row_mask, col_mask):
        """mask of a tile out of masks of its sides, None for no mask"""
        parts = [m for m in (row_mask and f"{row_mask}[:, None]", col_mask and f"{col_mask}[None, :]") if m]
        return " & ".join(parts) if len(parts) < 2 or self.chance(.5) else f"({parts[0]}) & ({parts[1]})" if parts else None

    def store(self, address, value, mask=None):
        self(f"tl.store({address}, {value}{f', mask={mask}' if mask else ''})")

    def dot(self, a, b, acc=None, options=""):
        """acc plus a product, in one of the notations; the statement is written when there is an accumulator."""
        if acc is None:
            return f"tl.dot({a}, {b}{options})"
        form = self.r.random()
        if form < .4:
            self(f"{acc} += tl.dot({a}, {b}{options})")
        elif form < .7:
            self(f"{acc} = tl.dot({a}, {b}, {acc}{options})")
        elif form < .9:
            self(f"{acc} = tl.dot({a}, {b}, acc={acc}{options})")
        else:
            self(f"{acc} = {acc} + tl.dot({a}, {b}{options})")
        return acc

    def precision(self):
        """How a product says its precision: mostly not at all."""
        form = self.r.random()
        if form < .78:
            return ""
        if form < .9:
            said = self.pick("tf32", "ieee", "tf32x3", "tf32")
            self.never |= {"tf32": {"hip:gfx950"}, "tf32x3": {"hip:gfx942", "hip:gfx950"}}.get(said, set())
            return f', input_precision="{said}"'
        return ", allow_tf32=%s" % self.pick("True", "False")

    def zeros(self, name, dims, dtype="tl.float32"):
        self.tile_of(*dims)
        shape = ", ".join(dims) + ("," if len(dims) == 1 else "")
        brackets = self.pick("[%s]", "(%s)") if len(dims) > 1 else "(%s)" if self.chance(.6) else "[%s]"
        name = self.fresh(name)
        self(f"{name} = tl.zeros({brackets % shape}, {self.pick('dtype=', '')}{dtype})")
        return name

    # ---- loops
    def loop_options(self):
        """words of tl.range, [] for Python's range"""
        words = []
        for p, make in [(.45, lambda: f"num_stages={self.stages()}"), (.2, lambda: f"loop_unroll_factor={self.pick(1, 2, 2, 3, 4)}"),
                        (.12, lambda: "flatten=True"), (.12, lambda: "disallow_acc_multi_buffer=True"), (.08, lambda: "disable_licm=True"),
                        (.15, lambda: f"warp_specialize={self.warp_specialize()}")]:
            if self.chance(p):
                words.append(make())
        return words

    def stages(self):
        if self.chance(.5):
            return str(self.pick(1, 2, 3, 4))
        known = [n for n, kind, _ in self.arguments if n in ("num_stages", "NUM_STAGES", "STAGES")]
        return known[0] if known else self.constant(self.pick("num_stages", "NUM_STAGES", "STAGES"), 1, 2, 3, 4)

    def warp_specialize(self):
        self.only = ["cuda:100"]
        return self.pick("True", "WARP_SPECIALIZE") if "WARP_SPECIALIZE" in self.names else \
            "True" if self.chance(.6) else self.constant("WARP_SPECIALIZE", True, False)

    @contextlib.contextmanager
    def loop(self, var, stop, step, start="0", plain=.6, forms=("steps", "offsets", "while")):
        """A loop from start to stop by step; gives the text of the position in elements."""
        form = self.r.choices(("steps", "offsets", "while"), (.4, .53, .07))[0]
        form = form if form in forms else "offsets"
        var = self.fresh(var)
        if form == "while":
            self(f"{var} = {start}")
            with self.indented(f"while {var} < {stop}:"):
                yield var
                self(f"{var} += {step}")
            return
        words = [] if self.chance(plain) else self.loop_options()
        kind = "tl.range" if words or self.chance(.1) else "range"
        tail = "".join(f", {w}" for w in words)
        if form == "steps" and start == "0":
            count = f"tl.cdiv({stop}, {step})"
            if self.chance(.25):
                count = self.fresh(self.pick("num_iters", f"num_{var}", "k_tiles"))
                self(f"{count} = tl.cdiv({stop}, {step})")
            header = f"for {var} in {kind}({'0, ' if self.chance(.7) else ''}{count}{tail}):"
            position = f"{var} * {step}"
        else:
            header, position = f"for {var} in {kind}({start}, {stop}, {step}{tail}):", var
        with self.indented(header):
            yield position

    # ---- the whole
    def signature(self):
        plain = [f"{n}" for n, kind, _ in self.arguments if kind not in ("constexpr", "dtype")]
        constants = [f"{n}: tl.constexpr" for n, kind, _ in self.arguments if kind in ("constexpr", "dtype")]
        words = plain + constants
        if self.chance(.5):
            return "\n" + "".join(f"    {w},\n" for w in words)
        unbroken = ", ".join(w.replace(" ", "~") for w in words) + ","
        return "\n" + textwrap.indent(textwrap.fill(unbroken, 110), "    ").replace("~", " ") + "\n"

    def source(self):
        parts = ["import triton\nimport triton.language as tl\n"]
        parts += self.constants
        parts += [HELPERS[h] for h in self.helpers] + self.extra
        decorator = self.r.choices(["@triton.jit", "@triton.jit(do_not_specialize=[])", "@triton.jit()"], (94, 3, 3))[0]
        parts.append(f"{decorator}\ndef {self.name}({self.signature()}):\n" + "\n".join(self.body) + "\n")
        return "\n\n".join(parts)
