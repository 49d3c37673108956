"""What a launch says of a kernel: device, element types, sizes, options, which arguments are multiples of 16.

Families of element types are weighted lists by device; a group of arguments shares one type.
"""
DEVICES = {"cuda:80": 15, "cuda:86": 8, "cuda:89": 9, "cuda:90": 22, "cuda:100": 20, "cuda:120": 11, "hip:gfx942": 8, "hip:gfx950": 8}
LIMITS = {"cuda:80": 166912, "cuda:86": 101376, "cuda:89": 101376, "cuda:90": 232448, "cuda:100": 232448, "cuda:120": 101376, "hip:gfx942": 65536, "hip:gfx950": 163840}

FP8E4 = {"hip:gfx942": "fp8e4b8"}  # the signed-zero-free kind of that device; elsewhere fp8e4nv
FP8E5 = {"hip:gfx942": "fp8e5b16"}
NO_FP8E4 = ("cuda:80", "cuda:86")

FAMILIES = {
    "half": {"fp16": 6, "bf16": 5},
    "dot": {"fp16": 8, "bf16": 6, "fp32": 4, "fp8e5": 1, "fp8e4": 1},
    "dot_64": {"fp64": 3, "fp32": 1},
    "dot_free": {"fp16": 6, "bf16": 4, "fp32": 5},
    "dot_tma": {"fp16": 8, "bf16": 5, "fp32": 2, "fp8e5": 1, "fp8e4": 1},
    "attn": {"fp16": 3, "bf16": 2, "fp32": 3},
    "float": {"fp16": 5, "bf16": 5, "fp32": 6, "fp64": .5},
    "number": {"fp16": 4, "bf16": 3, "fp32": 4, "i32": 2, "i16": 1, "i8": 1, "i64": 1, "u8": .5, "fp64": .3},
    "out": {"fp16": 6, "bf16": 4, "fp32": 5},
    "atomic": {"fp32": 6, "fp16": 2, "bf16": 1},
    "fp8": {"fp8e5": 1, "fp8e4": 2},
    "tma": {"fp16": 3, "bf16": 2, "fp32": 3, "i8": .5},
    "byte": {"u8": 3, "i8": 1},
}
WARPS = {1: 5, 2: 8, 4: 50, 8: 32, 16: 5}
STAGES = {1: 12, 2: 22, 3: 34, 4: 22, 5: 10}
LARGEST = 128 * 256      # elements of a value
FOR_A_THREAD = 512       # elements of a value for each thread; more is legal but takes the compiler minutes


def weighted(r, table):
    return r.choices(list(table), table.values())[0]


def element(r, family, device):
    kind = weighted(r, FAMILIES[family]) if family in FAMILIES else family
    if kind == "fp8e4":
        return "fp8e5" if device in NO_FP8E4 and r.random() < .8 else FP8E4.get(device, "fp8e4nv")
    return FP8E5.get(device, kind) if kind == "fp8e5" else kind


def size_of(dim, values):
    """of a name, a number or a text such as `BLOCK // 2`"""
    return eval(str(dim), {}, dict(values))


def sizes(r, draft, warps):
    """Values of the constexprs, such that no value is unreasonably large; None when none was found."""
    choices = [(name, values) for name, kind, values in draft.arguments if kind == "constexpr"]
    for _ in range(60):
        drawn = {name: r.choice(values) for name, values in choices}
        try:
            elements = [size_of("*".join(f"({dim})" for dim in dims), drawn) for dims in draft.tiles]
        except TypeError:
            continue
        if all(e <= LARGEST and e <= FOR_A_THREAD * 32 * warps for e in elements) and all(rule(drawn) for rule in draft.rules):
            return drawn
    return None


def divisible(r, draft, constants):
    """The names of arguments that are multiples of 16; mostly all pointers, and whole numbers as chance has it"""
    names = lambda kind: [n for n, k, _ in draft.arguments if k == kind and n not in constants]
    ints, pointers = names("int"), names("pointer") + names("optional")
    form = r.random()
    if form < .55:
        return pointers + ints
    if form < .75:
        return pointers + [n for n in ints if r.random() < .6]
    if form < .9:
        return pointers
    return [n for n in pointers if r.random() < .5] + [n for n in ints if r.random() < .3]


def cell(r, draft):
    """One question about the kernel in the form of recorded answers, without an answer; None when its sizes do not go together."""
    device = r.choice(draft.only) if draft.only and r.random() < .8 else weighted(r, {d: w for d, w in DEVICES.items() if d not in draft.never})
    described = any(kind == "descriptor" for _, kind, _ in draft.arguments) or any("make_tensor_descriptor" in line for line in draft.body)
    warps = weighted(r, WARPS)
    constants = sizes(r, draft, warps)
    if constants is None:
        return None
    types = {group: element(r, family, device) for group, family in draft.groups.items()}
    signature = {}
    for name, kind, detail in draft.arguments:
        if kind == "optional" and r.random() < .4:
            constants[name] = None
        elif kind in ("pointer", "optional"):
            signature[name] = "*" + types[detail]
        elif kind == "descriptor":
            signature[name] = f"tensordesc<{types[detail[0]]}[{','.join(str(size_of(dim, constants)) for dim in detail[1])}]>"
        elif kind == "dtype":
            constants[name] = {"fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", "fp64": "tl.float64"}.get(types[detail], "tl.float32")
        elif kind == "int":
            signature[name] = "i64" if r.random() < .03 and not described else "i32"
        elif kind == "float":
            signature[name] = "fp32"
    for name, kind, _ in draft.arguments:  # a stride of 1 is compiled in
        if kind == "int" and ("stride" in name or name.startswith("s_")) and r.random() < .12:
            constants[name] = 1
            signature.pop(name)
    options = {"num_warps": warps, "num_stages": weighted(r, STAGES)}
    options = {k: constants.get(k, v) for k, v in options.items()}  # the launcher reads a keyword for a parameter as its option, too
    if "num_stages" not in constants and r.random() < .06:
        del options["num_stages"]
    return dict(target=device, options=options, signature=signature, constexprs=constants, divisible=divisible(r, draft, constants))
