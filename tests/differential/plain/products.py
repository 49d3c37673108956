"""Kernels around matrix products: plain, gated, quantised, grouped by expert, attention, chunked linear attention, convolutions."""
from .writing import Draft

MANY = (16, 32, 32, 64, 64, 64, 128, 128, 128, 256)
SOME = (16, 32, 32, 64, 64, 128, 128)
DEPTH = (16, 32, 32, 32, 64, 64, 64, 128)
HEAD = (16, 32, 64, 64, 64, 128, 128)
CHUNK = (16, 32, 64, 64, 64, 128)


# ---- program ids ---------------------------------------------------------------------------------------------------------
def tile_ids(d, pid, M, N, BM, BN):
    """pid_m and pid_n out of one program id, as written for better reuse of the second cache"""
    form = d.r.random()
    if form < .3:
        d(f"num_pid_n = tl.cdiv({N}, {BN})", f"pid_m = {pid} // num_pid_n", f"pid_n = {pid} % num_pid_n")
        return
    group = d.constant(d.pick("GROUP_M", "GROUP_SIZE_M"), 1, 4, 8, 8)
    d(f"num_pid_m = tl.cdiv({M}, {BM})", f"num_pid_n = tl.cdiv({N}, {BN})")
    if form < .5:
        d(f"pid_m, pid_n = {d.use('grouped')}_pids({pid}, num_pid_m, num_pid_n, {group})")
    elif form < .65:
        d(f"pid_m, pid_n = tl.swizzle2d({pid} // num_pid_n, {pid} % num_pid_n, num_pid_m, num_pid_n, {group})")
    else:
        d(f"num_pid_in_group = {group} * num_pid_n", f"group_id = {pid} // num_pid_in_group", f"first_pid_m = group_id * {group}",
          f"group_size_m = {d.pick('min', 'tl.minimum')}(num_pid_m - first_pid_m, {group})",
          f"pid_m = first_pid_m + (({pid} % num_pid_in_group) % group_size_m)", f"pid_n = ({pid} % num_pid_in_group) // group_size_m")


def program_tiles(d, M, N, BM, BN):
    if d.chance(.35):
        d(f"pid_m = tl.program_id({d.pick('0', 'axis=0')})", f"pid_n = tl.program_id({d.pick('1', 'axis=1')})")
    else:
        d(f"pid = tl.program_id({d.pick('0', 'axis=0')})")
        tile_ids(d, "pid", M, N, BM, BN)


def side(d, word, pid, block, size):
    """(offsets, mask or None) of one side of the result; the wrap-around and its hints are common in tutorials"""
    start = f"{pid} * {block}"
    form = d.r.random()
    if form < .3:
        name = d.named("offsets", word)
        d(f"{name} = ({start} + tl.arange(0, {block})) % {size}")
        if d.chance(.4):
            d(f"{name} = tl.max_contiguous(tl.multiple_of({name}, {block}), {block})")
        return name, None
    offsets = d.arange(word, block, start)
    if d.chance(.08):
        d(f"{offsets} = {offsets}.to(tl.int64)")
    return offsets, d.mask(word, offsets, size) if d.chance(.6) else None


def tile_of_product(d, M, N):
    """The blocks of a product, and where a tile of its result is"""
    BM, BN, BK = d.block("M", *SOME), d.block("N", *SOME), d.block("K", *DEPTH)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    return (BM, BN, BK), (rows, row_mask), (cols, col_mask), depth


# ---- epilogues -----------------------------------------------------------------------------------------------------------
def activation(d, acc):
    name = d.pick("relu", "leaky_relu", "silu", "gelu", None, None)
    if name is None:
        return
    if d.chance(.5):
        switch = d.constant("ACTIVATION", "relu", "none", "silu")
        with d.indented(f'if {switch} == "{d.pick("relu", "silu")}":'):
            d(f"{acc} = {d.use(name)}({acc})")
    else:
        d(f"{acc} = {d.use(name)}({acc})")


def epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, group, stride=None):
    """What happens between the product and the store"""
    both = d.both(row_mask, col_mask)
    if d.chance(.1):
        bias = d.optional("bias", group)
        with d.indented(f"if {bias} is not None:"):
            d(f"{acc} += tl.load({bias} + {cols}{f', mask={col_mask}, other=0.0' if col_mask else ''}).to(tl.float32)[None, :]")
    elif d.chance(.2):
        bias = d.pointer("bias", group)
        d(f"bias = {d.load(f'{bias} + {cols}', col_mask, '0.0' if col_mask else None)}", f"{acc} = {acc} + bias[None, :].to(tl.float32)")
    if d.chance(.12):
        scale = d.pointer("row_scale", d.group("fp32"))
        d(f"row_scale = {d.load(f'{scale} + {rows}', row_mask, '1.0' if row_mask else None)}", f"{acc} *= row_scale[:, None]")
    if d.chance(.1):
        d(f"{acc} = {acc} * {d.number('alpha')}")
    if d.chance(.15):
        residual = d.pointer("residual", group)
        row_stride = stride or d.stride("r", "m")
        d(f"residual = {d.load(d.address(residual, rows, cols, row_stride), both, '0.0' if both else None)}", f"{acc} += residual.to(tl.float32)")
    activation(d, acc)
    if d.chance(.06):
        sums = d.pointer("row_max", d.group("fp32"))
        d(f"peak = tl.max(tl.abs({acc}), axis=1)")
        d.store(f"{sums} + {rows}", "peak", row_mask)
        if d.chance(.5):
            d(f"{acc} = {acc} / peak[:, None]")
    if d.chance(.05):
        total = d.pointer("total", d.group("fp32"))
        d(f"tl.atomic_add({total}, tl.sum({d.pick(acc, acc + ' * ' + acc)}))")
    if d.chance(.05):
        sums = d.pointer("col_sum", d.group("fp32"))
        d.store(f"{sums} + pid_m * 4096 + {cols}", f"tl.sum({acc}, axis=0)", col_mask)


def cast_to(d, value, out):
    return d.r.choices([f"{value}.to({out}.dtype.element_ty)", f"{value}.to(tl.float16)", value, f"{value}.to(tl.bfloat16)"], (6, 2, 2, 1))[0]


def write_result(d, acc, c, rows, cols, row_mask, col_mask, row_stride, col_stride, BM, BN):
    both = d.both(row_mask, col_mask)
    if d.chance(.06):  # the result and its transpose
        other = d.pointer("ct", d.group("out"))
        d.store(d.address(other, cols, rows, row_stride), cast_to(d, f"tl.trans({acc})", other), d.both(col_mask, row_mask))
    value = cast_to(d, acc, c)
    if d.chance(.4):
        word = d.named("tile", "out")
        d(f"{word} = {value}")
        value = word
    d.store(d.address(c, rows, cols, row_stride, col_stride), value, both)


# ---- matmul --------------------------------------------------------------------------------------------------------------
def operand(d, pointer, kind, outer, depth, outer_stride, depth_stride):
    """Addresses of an operand. kind: rows 'm' outer × depth, 'k' depth × outer"""
    return d.address(pointer, outer, depth, outer_stride, depth_stride) if kind == "m" else d.address(pointer, depth, outer, depth_stride, outer_stride)


def strides_of(d, tensor, outer, inner, size):
    """(stride of outer, stride of inner): the inner one is often 1 and left out, the outer one may be a size"""
    form = d.r.random()
    if form < .35:
        return d.stride(tensor, outer), d.stride(tensor, inner)
    if form < .7:
        return d.stride(tensor, outer), None
    return size, None


def matmul(r):
    d = Draft(r, r.choice(["matmul_kernel", "gemm_kernel", "mm_kernel", "linear_fwd", "_matmul"]))
    group = d.group("dot")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K") if d.chance(.85) else d.constant("K", 64, 128, 256, 512, 1024)
    a_rows, a_cols = strides_of(d, "a", "m", "k", K)
    transposed_b = d.chance(.35)
    b_rows, b_cols = strides_of(d, "b", "n" if transposed_b else "k", "k" if transposed_b else "n", K if transposed_b else N)
    c_rows, c_cols = strides_of(d, "c", "m", "n", N)
    BM, BN, BK = d.block("M", *MANY), d.block("N", *MANY), d.block("K", *DEPTH)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    persistent, split = d.chance(.12), d.chance(.1)
    if persistent:
        sms = d.constant("NUM_SMS", 132, 108)
        d(f"start_pid = tl.program_id(0)", f"num_tiles = tl.cdiv({M}, {BM}) * tl.cdiv({N}, {BN})")
        words = [] if d.chance(.4) else d.loop_options()
        with d.indented(f"for tile_id in {'tl.range' if words else d.pick('range', 'tl.range')}(start_pid, num_tiles, {sms}{''.join(', ' + w for w in words)}):"):
            tile_ids(d, "tile_id", M, N, BM, BN)
            matmul_tile(d, a, b, c, M, N, K, a_rows, a_cols, b_rows, b_cols, transposed_b, c_rows, c_cols, BM, BN, BK, False)
        return d
    if d.chance(.1):
        batch = d.stride("a", "b")
        d("pid_b = tl.program_id(2)" + d.pick("", ".to(tl.int64)"), f"{a} += pid_b * {batch}", f"{b} += pid_b * {d.stride('b', 'b')}", f"{c} += pid_b * {d.stride('c', 'b')}")
    program_tiles(d, M, N, BM, BN)
    matmul_tile(d, a, b, c, M, N, K, a_rows, a_cols, b_rows, b_cols, transposed_b, c_rows, c_cols, BM, BN, BK, split)
    return d


def matmul_tile(d, a, b, c, M, N, K, a_rows, a_cols, b_rows, b_cols, transposed_b, c_rows, c_cols, BM, BN, BK, split):
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    step = BK
    if split:
        parts = d.constant("SPLIT_K", 1, 2, 4, 8)
        d(f"pid_z = tl.program_id(axis={d.pick('1', '2')})", f"{depth} = pid_z * {BK} + {depth}")
        step = f"{BK} * {parts}"
    b_by_trans = transposed_b and d.chance(.5)
    moved = d.chance(.5)
    acc = d.zeros(d.pick("acc", "accumulator", "total"), (BM, BN))
    a_kind, b_kind = "m", "m" if b_by_trans else "k"
    b_outer, b_inner = (b_rows, b_cols) if transposed_b else (b_cols, b_rows)  # strides of n and of k
    if moved:
        a_at, b_at = d.named("pointers", "a"), d.named("pointers", "b")
        d(f"{a_at} = {d.address(a, rows, depth, a_rows, a_cols)}")
        d(f"{b_at} = {operand(d, b, b_kind, cols, depth, b_outer or '1', b_inner or '1')}")
    guard = d.chance(.55)
    guard_side = d.chance(.5)
    with d.loop("k", K, step if " " not in step else f"({step})") as at:
        if not moved:
            here = d.fresh("kk")
            d(f"{here} = {at} + {depth}")
            a_at, b_at = d.address(a, rows, here, a_rows, a_cols), operand(d, b, b_kind, cols, here, b_outer or "1", b_inner or "1")
            bound = f"{here}{{}} < {K}"
        else:
            bound = f"{depth}{{}} < {K} - {at}"
        masks = [None, None]
        if guard:
            deep = ["[None, :]", "[None, :]" if b_by_trans else "[:, None]"]
            sides = [row_mask and f"{row_mask}[:, None]", col_mask and (f"{col_mask}[:, None]" if b_by_trans else f"{col_mask}[None, :]")]
            masks = [bound.format(deep[i]) if not (guard_side and sides[i]) else f"{sides[i]} & ({bound.format(deep[i])})" for i in (0, 1)]
        elif guard_side:
            masks = [row_mask and f"{row_mask}[:, None]", col_mask and (f"{col_mask}[:, None]" if b_by_trans else f"{col_mask}[None, :]")]
        other = "0.0" if d.chance(.8) else None
        tile_a, tile_b = d.named("tile", "a"), d.named("tile", "b")
        d(f"{tile_a} = {d.load(a_at, masks[0], masks[0] and other)}", f"{tile_b} = {d.load(b_at, masks[1], masks[1] and other)}")
        if d.chance(.07):
            low = d.pick("float16", "bfloat16")
            d(f"{tile_a} = {tile_a}.to(tl.{low})", f"{tile_b} = {tile_b}.to(tl.{low})")
        elif d.chance(.08):
            d(f"{tile_a} = {d.use(d.pick('relu', 'silu'))}({tile_a}.to(tl.float32)).to({b}.dtype.element_ty)")
        right = f"{d.pick('tl.trans({})', '{}.T').format(tile_b)}" if b_by_trans else tile_b
        d.dot(tile_a, right, acc, d.precision())
        if moved:
            d(f"{a_at} += {step}{f' * {a_cols}' if a_cols else ''}", f"{b_at} += {step}{f' * {b_inner}' if b_inner else ''}")
        if d.chance(.04):
            d(f"{acc} = {acc} * 0.99")
    if row_mask is None or d.chance(.5):
        rows = d.arange("cm", BM, f"pid_m * {BM}")
        row_mask = d.mask("cm", rows, M)
    if col_mask is None or d.chance(.5):
        cols = d.arange("cn", BN, f"pid_n * {BN}")
        col_mask = d.mask("cn", cols, N)
    if d.chance(.1):
        row_mask = col_mask = None
    if split:
        d(f"tl.atomic_add({d.address(c, rows, cols, c_rows, c_cols)}, {cast_to(d, acc, c) if d.chance(.9) else acc}{', mask=' + d.both(row_mask, col_mask) if row_mask else ''}{d.pick('', ', sem=' + repr('relaxed'))})")
        d.groups = {g: "atomic" if f == "out" else f for g, f in d.groups.items()}
        return
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"), None)
    if d.chance(.05):
        halves(d, acc, c, rows, BM, BN, c_rows, row_mask)
        return
    write_result(d, acc, c, rows, cols, row_mask, col_mask, c_rows, c_cols, BM, BN)


def halves(d, acc, c, rows, BM, BN, stride, row_mask):
    """The result is cut into two halves: gates that lie beside each other, or a store in two parts"""
    half = d.arange("half", f"{BN} // 2")
    if d.chance(.5):
        d(f"gate, up = tl.split(tl.reshape({acc}, ({BM}, {BN} // 2, 2)))", f"out = {d.use('silu')}(gate) * up")
        d.store(d.address(c, rows, half, stride), cast_to(d, "out", c), d.both(row_mask, None))
    else:
        d(f"parts = tl.permute(tl.reshape({acc}, ({BM}, 2, {BN} // 2)), (0, 2, 1))", "left, right = tl.split(parts)")
        d.store(d.address(c, rows, half, stride), cast_to(d, "left", c), d.both(row_mask, None))
        d.store(d.address(f"{c} + {BN} // 2", rows, half, stride), cast_to(d, "right", c), d.both(row_mask, None))


# ---- several products of one accumulator ------------------------------------------------------------------------------------
def joined_products(r):
    """Two or three products a round that add to one accumulator, one after the other or as a sum, and those of the next round to what they gave"""
    d = Draft(r, r.choice(["dual_matmul_kernel", "low_rank_update", "real_imag_gemm", "residual_gemm"]))
    group = d.group("dot")
    out = d.pointer("c", d.group("out"))
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    (BM, BN, BK), (rows, row_mask), (cols, col_mask), depth = tile_of_product(d, M, N)
    acc = d.zeros(d.pick("acc", "accumulator"), (BM, BN))
    other_acc = d.zeros("acc_2", (BM, BN)) if d.chance(.2) else None
    pairs = []
    for word in ("ab", "cd", "ef")[:d.pick(2, 2, 2, 3)]:
        is_shared = pairs and d.chance(.25)  # the left side of the first one
        left = None if is_shared else (d.pointer(word[0], group), *strides_of(d, word[0], "m", "k", K))
        pairs.append((left, (d.pointer(word[1], group), *strides_of(d, word[1], "k", "n", N))))
    with d.loop("k", K, BK) as at:
        here = d.fresh("kk")
        d(f"{here} = {at} + {depth}")
        tiles = []
        for left, (right, *of_right) in pairs:
            if left:
                tile_a = d.fresh(f"{left[0]}_tile")
                d(f"{tile_a} = {d.load(d.address(left[0], rows, here, *left[1:]))}")
            else:
                tile_a = tiles[0][0]
            tile_b = d.fresh(f"{right}_tile")
            d(f"{tile_b} = {d.load(d.address(right, here, cols, *of_right))}")
            if d.chance(.1):
                d(f"{tile_b} = ({tile_b} * 2).to({right}.dtype.element_ty)")
            tiles.append((tile_a, tile_b))
        form = d.r.random()
        if form < .3:
            d(f"{acc} += {' + '.join(f'tl.dot({one}, {two})' for one, two in tiles)}")
        elif form < .4:
            d(f"first = tl.dot({tiles[0][0]}, {tiles[0][1]})", f"{acc} += tl.dot({tiles[1][0]}, {tiles[1][1]}, first)")
        else:
            for number, (one, two) in enumerate(tiles):
                d.dot(one, two, other_acc if other_acc and number else acc, d.precision())
    if other_acc:
        d(f"{acc} = {acc} {d.pick('+', '*', '-')} {other_acc}")
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("float"), None)
    write_result(d, acc, out, rows, cols, row_mask, col_mask, *strides_of(d, "c", "m", "n", N), BM, BN)
    return d


# ---- quantised products --------------------------------------------------------------------------------------------------
def int4_matmul(r):
    """Weights of four bits, two or eight in an integer, with scales by group"""
    d = Draft(r, r.choice(["w4a16_kernel", "gptq_matmul_kernel", "int4_gemm", "awq_gemm"]))
    act = d.group("half")
    words = d.pick(2, 8)
    a, b, c = d.pointer("a", act), d.pointer("qweight" if d.chance(.5) else "b", d.group("byte" if words == 2 else "i32")), d.pointer("c", d.group("out"))
    scales = d.pointer("scales", act)
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    am, bk = d.stride("a", "m"), d.stride("b", "k")
    group_size = d.constant("GROUP_SIZE", 32, 64, 128)
    BM, BN, BK = d.block("M", 16, 32, 64, 128), d.block("N", 32, 64, 128, 256), d.block("K", 32, 64, 64, 128)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    acc = d.zeros("accumulator", (BM, BN))
    by_joining = words == 2 and d.chance(.35)
    packed = d.arange("packed", f"{BK} // 2") if by_joining else None
    if not by_joining:
        d(f"shifter = ({depth}[:, None] % {words}) * 4")
    with d.loop("k", K, BK) as at:
        x = d.load_into("x", d.address(a, rows, d_at(d, depth, at), am), d.both(row_mask, None), "0.0" if row_mask else None)
        if by_joining:
            q = d.load_into("q", f"{b} + ({at} // 2 + {packed}[:, None]) * {bk} + {cols}[None, :]")
            d(f"low = ({q} & 0xF).to(tl.float32)", f"high = (({q} >> 4) & 0xF).to(tl.float32)")
            d(f"w = tl.reshape(tl.permute(tl.join(low, high), (0, 2, 1)), ({BK}, {BN}))")
        else:
            q = d.load_into("q", f"{b} + (({at} + {depth}[:, None]) // {words}) * {bk} + {cols}[None, :]")
            d(f"w = (({q} >> shifter) & 0xF).to(tl.float32)")
        if d.chance(.5):
            d(f"scale = {d.load(f'{scales} + ({at} // {group_size}) * {N} + {cols}')}", "w = (w - 8.0) * scale[None, :].to(tl.float32)")
        else:
            d(f"scale = {d.load(f'{scales} + (({at} + {depth}[:, None]) // {group_size}) * {N} + {cols}[None, :]')}", f"w = (w - {d.pick('8', '8.0')}) * scale")
        d.dot(x, f"w.to({a}.dtype.element_ty)", acc)
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, act)
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def d_at(d, depth, at):
    return f"({at} + {depth})" if d.chance(.7) else f"({depth} + {at})"


def scaled_matmul(r):
    """8-bit operands: fp8 with scales by block, or int8 with an integer accumulator"""
    d = Draft(r, r.choice(["w8a8_block_matmul", "fp8_gemm_kernel", "scaled_mm_kernel", "int8_matmul"]))
    integers = d.chance(.4)
    group = d.group("i8" if integers else "fp8")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("half"))
    a_scale, b_scale = d.pointer("a_scale", d.group("fp32", "S")), d.pointer("b_scale", "S")
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    am, bn = d.stride("a", "m"), d.stride("b", "n")
    BM, BN, BK = d.block("M", *MANY), d.block("N", *MANY), d.block("K", 32, 64, 64, 128, 128)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    by_block = d.chance(.5)
    acc = d.zeros("acc", (BM, BN), "tl.int32" if integers and not by_block else "tl.float32")
    with d.loop("k", K, BK) as at:
        here = d.fresh("kk")
        d(f"{here} = {at} + {depth}")
        masks = [f"{here}[None, :] < {K}", f"{here}[:, None] < {K}"] if d.chance(.5) else [None, None]
        other = "0" if integers else "0.0"
        x = d.load_into("x", d.address(a, rows, here, am), masks[0], masks[0] and other)
        w = d.load_into("w", d.address(b, here, cols, "1", bn), masks[1], masks[1] and other)
        if by_block:
            d(f"x_s = tl.load({a_scale} + {rows} * {d.pick('K // 128', '8')} + {at} // 128)".replace("K //", f"{K} //"), f"w_s = tl.load({b_scale} + {cols} // 128 + {at} // 128)")
            product = f"tl.dot({x}, {w}{', out_dtype=tl.int32' if integers and d.chance(.3) else ''})"
            product = f"{product}.to(tl.float32)" if integers else product
            d(f"{acc} += {product} * x_s[:, None] * w_s[None, :]")
        elif integers:
            d(f"{acc} = tl.dot({x}, {w}, {acc})" if d.chance(.6) else f"{acc} += tl.dot({x}, {w}, out_dtype=tl.int32)")
        else:
            d.dot(x, w, acc, d.pick("", "", ", max_num_imprecise_acc=32"))
    if not by_block:
        if d.chance(.5):
            d(f"x_s = tl.load({a_scale})", f"w_s = tl.load({b_scale})", f"result = {acc}.to(tl.float32) * x_s * w_s")
        else:
            d(f"x_s = tl.load({a_scale} + {rows})", f"w_s = tl.load({b_scale} + {cols})", f"result = {acc}.to(tl.float32) * x_s[:, None] * w_s[None, :]")
        acc = "result"
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, d.group("half"))
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def weight_only_8bit(r):
    d = Draft(r, r.choice(["w8a16_gemm", "dequant_matmul", "mixed_mm"]))
    act = d.group("half")
    a, b, c = d.pointer("a", act), d.pointer("b", d.group(d.pick("i8", "i8", "fp8"))), d.pointer("c", act)
    scale = d.pointer("scale", act)
    M, N, K, am = d.integer("M"), d.integer("N"), d.integer("K"), d.stride("a", "m")
    BM, BN, BK = d.block("M", *SOME), d.block("N", 32, 64, 128, 256), d.block("K", 32, 64, 128)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    cols, col_mask = side(d, "n", "pid_n", BN, N)
    depth = d.arange("k", BK)
    acc = d.zeros("acc", (BM, BN))
    late = d.chance(.5)
    with d.loop("k", K, BK) as at:
        x = d.load_into("x", d.address(a, rows, d_at(d, depth, at), am))
        w = d.load_into("w", d.address(b, d_at(d, depth, at), cols, N))
        if late:
            right = f"{w}.to({x}.dtype)"
        else:
            d(f"s = tl.load({scale} + {cols})", f"deq = {w}.to(tl.float32) * s[None, :].to(tl.float32)")
            right = f"deq.to({a}.dtype.element_ty)"
        d.dot(x, right, acc)
    if late:
        d(f"s = tl.load({scale} + {cols})", f"{acc} = {acc} * s[None, :]")
    epilogue(d, acc, rows, cols, row_mask, col_mask, BM, BN, act)
    write_result(d, acc, c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def microscaled(r):
    """tl.dot_scaled: operands of 4 or 8 bits with a scale for 32 elements"""
    d = Draft(r, r.choice(["mxfp_matmul", "block_scaled_kernel"]))
    form = d.pick("e4m3", "e5m2", "e2m1")
    factor = 2 if form == "e2m1" else 1
    group = d.group("byte" if form == "e2m1" else "fp8e4" if form == "e4m3" else "fp8e5")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", d.group("out"))
    a_scale = d.pointer("a_scale", d.group("byte", "SC"))
    b_scale = d.pointer("b_scale", "SC") if d.chance(.7) else None
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    BM, BN, BK = d.block("M", 32, 64, 128), d.block("N", 32, 64, 128), d.block("K", 64, 128, 128)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    program_tiles(d, M, N, BM, BN)
    rows, _ = side(d, "m", "pid_m", BM, M)
    cols, _ = side(d, "n", "pid_n", BN, N)
    depth, scaled = d.arange("k", f"{BK} // {factor}" if factor > 1 else BK), d.arange("s", f"{BK} // 32")
    acc = d.zeros("acc", (BM, BN))
    with d.loop("k", K, BK) as at:
        x = d.load_into("x", d.address(a, rows, f"({at} // {factor} + {depth})" if factor > 1 else f"({at} + {depth})", f"({K} // {factor})" if factor > 1 else K))
        w = d.load_into("w", d.address(b, f"({at} // {factor} + {depth})" if factor > 1 else f"({at} + {depth})", cols, N))
        d(f"x_s = tl.load({a_scale} + {rows}[:, None] * ({K} // 32) + {at} // 32 + {scaled}[None, :])")
        if b_scale:
            d(f"w_s = tl.load({b_scale} + {cols}[:, None] * ({K} // 32) + {at} // 32 + {scaled}[None, :])")
        d(f'{acc} = tl.dot_scaled({x}, x_s, "{form}", {w}, {"w_s" if b_scale else "None"}, "{form}", {acc})')
    write_result(d, acc, c, rows, cols, None, None, N, None, BM, BN)
    return d


# ---- gated MLP -----------------------------------------------------------------------------------------------------------
def gated_mlp(r):
    """x @ gate and x @ up in one loop: the left tile is used twice"""
    d = Draft(r, r.choice(["swiglu_fwd", "gate_up_kernel", "fused_mlp", "geglu_kernel", "gated_linear"]))
    group = d.group("half" if d.chance(.8) else "dot")
    x, gate_w, up_w, c = d.pointer("x", group), d.pointer("w1", group), d.pointer("w3", group), d.pointer("out", d.group("out"))
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    xm = d.stride("x", "m")
    (BM, BN, BK), (rows, row_mask), (cols, col_mask), depth = tile_of_product(d, M, N)
    gate, up = d.zeros(d.pick("acc_gate", "gate_acc", "acc1"), (BM, BN)), d.zeros(d.pick("acc_up", "up_acc", "acc2"), (BM, BN))
    moved = d.chance(.4)
    transposed = d.chance(.3)  # weights lie N × K
    column = (lambda base, k: d.address(base, k, cols, "1", K)) if transposed else (lambda base, k: d.address(base, k, cols, N))
    if moved:
        d(f"x_at = {d.address(x, rows, depth, xm)}", f"gate_at = {column(gate_w, depth)}", f"up_at = {column(up_w, depth)}")
    with d.loop("k", K, BK) as at:
        here = f"({at} + {depth})"
        mask = f"{depth}[None, :] < {K} - {at}" if d.chance(.4) else None
        mask_w = f"{depth}[:, None] < {K} - {at}" if mask else None
        xt = d.load_into("x", "x_at" if moved else d.address(x, rows, here, xm), mask, mask and "0.0")
        order = d.r.random()
        if order < .6:
            g = d.load_into("g", "gate_at" if moved else column(gate_w, here), mask_w, mask_w and "0.0")
            u = d.load_into("u", "up_at" if moved else column(up_w, here), mask_w, mask_w and "0.0")
            options = d.precision()
            d.dot(xt, g, gate, options)
            d.dot(xt, u, up, options)
        else:
            g = d.load_into("g", "gate_at" if moved else column(gate_w, here), mask_w, mask_w and "0.0")
            d.dot(xt, g, gate)
            u = d.load_into("u", "up_at" if moved else column(up_w, here), mask_w, mask_w and "0.0")
            d.dot(xt, u, up)
        if moved:
            d(f"x_at += {BK}")
            step = BK if transposed else f"{BK} * {N}"
            d(f"gate_at += {step}", f"up_at += {step}")
    gate_name = d.use(d.pick("silu", "gelu", "relu"))
    d(d.pick(f"hidden = {gate_name}({gate}) * {up}", f"hidden = {up} * {gate_name}({gate})"))
    if d.chance(.2):
        return down_projection(d, c, group, rows, row_mask, BM, BN)
    if d.chance(.25):
        saved = d.pointer("gate_out", d.group("out"))
        d.store(d.address(saved, rows, cols, N), cast_to(d, gate, saved), d.both(row_mask, col_mask))
    write_result(d, "hidden", c, rows, cols, row_mask, col_mask, N, None, BM, BN)
    return d


def down_projection(d, c, group, rows, row_mask, BM, BN):
    """hidden @ down within the same kernel"""
    down = d.pointer("w2", group)
    BD = d.block("D", 16, 32, 64, 128)
    d.tile_of(BN, BD)
    inner, outer = d.arange("inner", BN, f"pid_n * {BN}"), d.arange("d", BD)
    w = d.load_into("w2", d.address(down, inner, outer, BD))
    d(f"y = tl.dot(hidden.to({w}.dtype), {w})")
    if d.chance(.5):
        d.groups = {g: "atomic" if f == "out" else f for g, f in d.groups.items()}
        d(f"tl.atomic_add({d.address(c, rows, outer, BD)}, y.to({c}.dtype.element_ty){', mask=' + d.both(row_mask, None) if row_mask else ''})")
    else:
        d.store(d.address(c, rows, outer, BD), cast_to(d, "y", c), d.both(row_mask, None))
    return d


def mlp_backward(r):
    """Gradients of x or of the weights: dgate and dup share loads, a tile meets itself transposed"""
    d = Draft(r, r.choice(["swiglu_bwd", "mlp_bwd_dx", "fused_mlp_backward", "dw_kernel"]))
    group = d.group("half")
    dy, x, w1, w3 = d.pointer("dy", group), d.pointer("x", group), d.pointer("w1", group), d.pointer("w3", group)
    dx, dw = d.pointer("dx", d.group("out")), d.pointer("dw", d.group("out"))
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    BM, BN, BK = d.block("M", *SOME), d.block("N", *SOME), d.block("K", 16, 32, 64, 64)
    d.tile_of(BM, BK), d.tile_of(BK, BN), d.tile_of(BM, BN)
    program_tiles(d, M, K, BM, BK)
    rows, row_mask = side(d, "m", "pid_m", BM, M)
    inner = d.arange("k", BK, f"pid_n * {BK}")
    cols = d.arange("n", BN)
    acc = d.zeros("acc_dx", (BM, BK))
    xt = d.load_into("x", d.address(x, rows, inner, K), d.both(row_mask, None), "0.0" if row_mask else None)
    with_dw = d.chance(.6)
    with d.loop("n", N, BN) as at:
        here = f"({at} + {cols})"
        g = d.load_into("dy", d.address(dy, rows, here, N), d.both(row_mask, None), "0.0" if row_mask else None)
        a = d.load_into("wa", d.address(w1, inner, here, N))
        b = d.load_into("wb", d.address(w3, inner, here, N))
        d(f"h1 = tl.dot({xt}, {a})", f"h3 = tl.dot({xt}, {b})", "sig = tl.sigmoid(h1)")
        d(f"d3 = ({g} * h1 * sig).to({g}.dtype)", f"d1 = ({g} * h3 * sig * (1 + h1 * (1 - sig))).to({g}.dtype)")
        d.dot("d1", f"tl.trans({a})", acc)
        d.dot("d3", f"tl.trans({b})", acc)
        if with_dw:
            d(f"part = tl.dot({d.pick(f'tl.trans({xt})', f'{xt}.T')}, d1)")
            d(f"tl.{d.pick('store', 'atomic_add')}({d.address(dw, inner, here, N)}, part.to({dw}.dtype.element_ty))")
            d.groups = {n: "atomic" if f == "out" else f for n, f in d.groups.items()}
    write_result(d, acc, dx, rows, inner, row_mask, None, K, None, BM, BK)
    return d


# ---- experts -------------------------------------------------------------------------------------------------------------
def moe(r):
    """Rows gathered by token, the weights of one expert"""
    d = Draft(r, r.choice(["fused_moe_kernel", "moe_gemm", "grouped_gemm_kernel", "expert_matmul"]))
    group = d.group("half")
    a, b, c = d.pointer("a", group), d.pointer("b", group), d.pointer("c", group)
    weights, tokens, experts = d.pointer("topk_weights", d.group("fp32")), d.pointer("sorted_token_ids", d.group("i32", "I")), d.pointer("expert_ids", "I")
    padded = d.pointer("num_tokens_post_padded", "I")
    N, K, valid = d.integer("N"), d.integer("K"), d.integer("num_valid_tokens")
    am, be, bk, bn, cm = d.stride("a", "m"), d.stride("b", "e"), d.stride("b", "k"), d.stride("b", "n"), d.stride("c", "m")
    top_k, routed = d.constant("top_k", 1, 2, 8), d.constant("MUL_ROUTED_WEIGHT", True, False)
    BM, BN, BK = d.block("M", 16, 32, 64, 64, 128), d.block("N", 32, 64, 64, 128, 256), d.block("K", *DEPTH)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    d("pid = tl.program_id(axis=0)", f"num_post = tl.load({padded})")
    tile_ids(d, "pid", "num_post", N, BM, BN)
    if d.chance(.8):
        with d.indented(f"if pid_m * {BM} >= num_post:"):
            d("return")
    d(f"offs_token_id = pid_m * {BM} + tl.arange(0, {BM}){d.pick('', '.to(tl.int64)')}", f"offs_token = tl.load({tokens} + offs_token_id)", f"token_mask = offs_token < {valid}")
    expert = f"tl.load({experts} + pid_m)" + d.pick("", ".to(tl.int64)")
    d(f"off_experts = {expert}", f"offs_bn = (pid_n * {BN} + tl.arange(0, {BN}){d.pick('', '.to(tl.int64)')}) % {N}")
    depth = d.arange("k", BK)
    gated = d.chance(.3)
    d(f"a_at = {a} + (offs_token[:, None] // {top_k} * {am} + {depth}[None, :])", f"b_at = {b} + off_experts * {be} + ({depth}[:, None] * {bk} + offs_bn[None, :] * {bn})")
    acc = d.zeros("accumulator", (BM, BN))
    acc_up = d.zeros("acc_up", (BM, BN)) if gated else None
    with d.loop("k", K, BK) as at:
        x = d.load_into("a", "a_at", f"token_mask[:, None] & ({depth}[None, :] < {K} - {at})" if d.chance(.8) else "token_mask[:, None]", "0.0")
        w = d.load_into("b", "b_at", *((f"{depth}[:, None] < {K} - {at}", "0.0") if d.chance(.7) else ()))
        d.dot(x, w, acc)
        if gated:
            u = d.load_into("up", f"b_at + {N} * {bn}")
            d.dot(x, u, acc_up)
        d(f"a_at += {BK}", f"b_at += {BK} * {bk}")
    if gated:
        d(f"{acc} = {d.use('silu')}({acc}) * {acc_up}")
    with d.indented(f"if {routed}:"):
        d(f"moe_weight = tl.load({weights} + offs_token, mask=token_mask, other=0)", f"{acc} = {acc} * moe_weight[:, None]")
    if d.chance(.5):
        d(f"{acc} = {acc}.to({d.dtype_constant('compute_type', group)})")
    cols = d.arange("cn", BN, f"pid_n * {BN}")
    value = f"{acc}.to({c}.dtype.element_ty)" if d.chance(.7) else acc
    if d.chance(.12):
        d(f"tl.atomic_add({c} + {cm} * offs_token[:, None] + {cols}[None, :], {acc}.to({c}.dtype.element_ty), mask=token_mask[:, None] & ({cols}[None, :] < {N}))")
    else:
        d.store(f"{c} + {cm} * offs_token[:, None] + {cols}[None, :]", value, f"token_mask[:, None] & ({cols}[None, :] < {N})")
    return d


# ---- attention -----------------------------------------------------------------------------------------------------------
def exp_of(d):
    return d.r.choices(["tl.math.exp2", "tl.exp2", "tl.exp", "exp2"], (4, 3, 4, 1))[0]


def attention(r):
    """Forward pass with an online softmax"""
    d = Draft(r, r.choice(["_attn_fwd", "flash_attn_fwd", "attention_kernel", "_fwd_kernel", "parallel_attn_fwd"]))
    group = d.group("half" if d.chance(.8) else "attn")
    q, k, v, o = d.pointer("q", group), d.pointer("k", group), d.pointer("v", group), d.pointer("o", d.group("out"))
    lse = d.pointer("lse", d.group("fp32")) if d.chance(.6) else None
    scale = d.number(d.pick("sm_scale", "scale", "softmax_scale"))
    ctx = d.integer(d.pick("N_CTX", "seqlen_k", "T"))
    qm, kn = d.stride("q", "m"), d.stride("k", "n")
    BM, BN, D = d.block("M", *SOME), d.block("N", *SOME), d.constant(d.pick("HEAD_DIM", "BLOCK_D", "D"), *HEAD)
    d.tile_of(BM, D), d.tile_of(BN, D), d.tile_of(BM, BN)
    exp = exp_of(d)
    log2e = d.global_constant("LOG2E", "1.4426950408889634") if d.chance(.25) else None
    if log2e:
        d(f"{scale} = {scale} * {log2e}")
    exp = d.use("exp2") if exp == "exp2" else exp
    d("start_m = tl.program_id(0)", "off_hz = tl.program_id(1)" + d.pick("", ".to(tl.int64)"))
    if d.chance(.5):
        group_heads = d.constant("GROUPS", 1, 4, 8)
        d(f"off_kv = off_hz // {group_heads}", f"{q} += off_hz * {ctx} * {D}", f"{k} += off_kv * {ctx} * {D}", f"{v} += off_kv * {ctx} * {D}", f"{o} += off_hz * {ctx} * {D}")
    rows = d.arange("m", BM, f"start_m * {BM}")
    cols, dims = d.arange("n", BN), d.arange("d", D)
    row_mask = d.mask("m", rows, ctx) if d.chance(.6) else None
    qt = d.load_into("q", d.address(q, rows, dims, qm), d.both(row_mask, None), "0.0" if row_mask else None)
    if d.chance(.3):
        d(f"{qt} = ({qt} * {scale}).to({qt}.dtype)" if d.chance(.5) else f"{qt} = ({qt}.to(tl.float32) * {scale}).to({k}.dtype.element_ty)")
    m_i, l_i = d.fresh("m_i"), d.fresh("l_i")
    d(f'{m_i} = tl.zeros([{BM}], dtype=tl.float32) - float("inf")' if d.chance(.6) else f'{m_i} = tl.full(({BM},), float("-inf"), tl.float32)', f"{l_i} = tl.zeros([{BM}], dtype=tl.float32)" + d.pick("", " + 1.0"))
    acc = d.zeros("acc", (BM, D))
    state = dict(d=d, q=q, k=k, v=v, qt=qt, acc=acc, m_i=m_i, l_i=l_i, rows=rows, cols=cols, dims=dims, ctx=ctx, kn=kn, scale=scale, exp=exp, BM=BM, BN=BN, D=D)
    form = d.r.random()
    causal = d.constant("CAUSAL" if d.chance(.5) else "IS_CAUSAL", True, False) if form < .8 else None
    if form < .35:
        attention_by_helper(state, causal)
    elif form < .6:
        stop = d.fresh("hi")
        d(f"{stop} = {d.pick('min', 'tl.minimum')}((start_m + 1) * {BM}, {ctx}) if {causal} else {ctx}")
        attention_loop(state, stop, causal)
    elif form < .8:  # off the diagonal first, then on it
        attention_loop(state, f"start_m * {BM}", None)
        attention_loop(dict(state, again=True), f"(start_m + 1) * {BM}", "True", start=f"start_m * {BM}")
    else:
        attention_loop(state, ctx, None)
    if d.chance(.8):
        d(f"{acc} = {acc} / {l_i}[:, None]")
    if lse:
        d(f"{m_i} += {d.pick('tl.math.log2', 'tl.log2', 'tl.log')}({l_i})")
        d.store(f"{lse} + off_hz * {ctx} + {rows}", m_i, row_mask)
    write_result(d, acc, o, rows, dims, row_mask, None, qm, None, BM, D)
    return d


def attention_step(s, at, causal, masked=True):
    """One block of keys: scores, softmax so far, accumulation"""
    d, acc, m_i, l_i, exp = s["d"], s["acc"], s["m_i"], s["l_i"], s["exp"]
    here = d.fresh("kv")
    d(f"{here} = {at} + {s['cols']}")
    guard = d.chance(.45)
    k_mask = f"{here}[None, :] < {s['ctx']}" if guard else None
    v_mask = f"{here}[:, None] < {s['ctx']}" if guard else None
    plain_k = d.chance(.4)  # keys are loaded as they lie and transposed by the product
    if plain_k:
        kt = d.load_into("k", d.address(s["k"], here, s["dims"], s["kn"]), v_mask, v_mask and "0.0")
        right = d.pick(f"tl.trans({kt})", f"{kt}.T")
    else:
        kt = d.load_into("k", d.address(s["k"], s["dims"], here, "1", s["kn"]), k_mask, k_mask and "0.0")
        right = kt
    late_v = d.chance(.6)
    if not late_v:
        vt = d.load_into("v", d.address(s["v"], here, s["dims"], s["kn"]), v_mask, v_mask and "0.0")
    if d.chance(.25):
        d(f"qk = tl.zeros([{s['BM']}, {s['BN']}], dtype=tl.float32)")
        d.dot(s["qt"], right, "qk")
    else:
        d(f"qk = tl.dot({s['qt']}, {right})")
    d(d.pick(f"qk = qk * {s['scale']}", f"qk *= {s['scale']}"))
    if d.chance(.08):
        bias = d.pointer("bias", d.group("float"))
        d(f"qk += {d.load(d.address(bias, s['rows'], here, s['ctx']))}")
    if d.chance(.05):
        d(f"qk = {d.use('tanh')}(qk)")
    if causal:
        with d.indented(f"if {causal}:") if causal != "True" else nothing():
            d(d.pick(f'qk = tl.where({s["rows"]}[:, None] >= {here}[None, :], qk, float("-inf"))', f"qk += tl.where({s['rows']}[:, None] >= {here}[None, :], 0, -1.0e6)"))
    if guard and d.chance(.6):
        d(f'qk = tl.where({here}[None, :] < {s["ctx"]}, qk, float("-inf"))')
    d(f"m_new = tl.maximum({m_i}, {d.pick('tl.max(qk, 1)', 'tl.max(qk, axis=1)')})")
    order = d.chance(.5)
    if order:
        d(f"alpha = {exp}({m_i} - m_new)")
    d(f"p = {exp}(qk - m_new[:, None])")
    if not order:
        d(f"alpha = {exp}({m_i} - m_new)")
    d(f"l_new = {l_i} * alpha + tl.sum(p, {d.pick('1', 'axis=1')})")
    if late_v:
        vt = d.load_into("v", d.address(s["v"], here, s["dims"], s["kn"]), v_mask, v_mask and "0.0")
    d(d.pick(f"{acc} = {acc} * alpha[:, None]", f"{acc} *= alpha[:, None]"))
    if d.chance(.05):
        seed = d.integer("dropout_seed")
        d(f"keep = tl.rand({seed}, {s['rows']}[:, None] * {s['ctx']} + {here}[None, :]) > 0.1", "p = tl.where(keep, p / 0.9, 0.0)")
    d.dot(f"p.to({d.pick(vt + '.dtype', s['v'] + '.dtype.element_ty')})", vt, acc)
    d(f"{m_i} = m_new", f"{l_i} = l_new")


class nothing:
    def __enter__(self): pass
    def __exit__(self, *_): pass


def attention_loop(s, stop, causal, start="0"):
    d = s["d"]
    with d.loop(d.pick("start_n", "j", "i_s"), stop, s["BN"], start, forms=("offsets", "while") if start != "0" or "start_m" in stop else ("offsets", "steps", "while")) as at:
        if d.chance(.2):
            d(f"{at} = tl.multiple_of({at}, {s['BN']})") if " " not in at else None
        attention_step(s, at, causal)


def attention_by_helper(s, causal):
    """The loop is a function of its own that is called once or twice"""
    d = s["d"]
    twice = d.chance(.6)
    inner = d.fresh(d.pick("_attn_fwd_inner", "inner_loop"))
    known = list(d.arguments)
    names = dict(acc=s["acc"], l_i=s["l_i"], m_i=s["m_i"], qt=s["qt"], k=s["k"], v=s["v"], rows=s["rows"], cols=s["cols"], dims=s["dims"], ctx=s["ctx"], kn=s["kn"], scale=s["scale"])
    with d.function(inner, "__PARAMETERS__"):
        if twice:
            with d.indented("if STAGE == 1:"):
                d(f"lo, hi = 0, start_m * {s['BM']}")
            with d.indented("else:"):
                d(f"lo, hi = start_m * {s['BM']}, tl.minimum((start_m + 1) * {s['BM']}, {s['ctx']})")
        else:
            d(f"lo = 0", f"hi = {s['ctx']}")
        attention_loop(s, "hi", "STAGE == 2", start="lo")
        d(f"return {s['acc']}, {s['l_i']}, {s['m_i']}")
    fresh = [(n, kind) for n, kind, _ in d.arguments if (n, kind) not in [(a, b) for a, b, _ in known]]
    constants = [s["BM"], s["BN"], s["D"]] + [n for n, kind in fresh if kind == "constexpr"]
    plain = list(names.values()) + ["start_m"] + [n for n, kind in fresh if kind != "constexpr"]
    d.extra[-1] = d.extra[-1].replace("__PARAMETERS__", ", ".join(plain) + "".join(f", {c}: tl.constexpr" for c in constants) + ", STAGE: tl.constexpr")
    call = lambda stage: f"{s['acc']}, {s['l_i']}, {s['m_i']} = {inner}({', '.join(plain + constants)}, {stage})"
    if twice:
        d(call(1))
        with d.indented(f"if {causal}:"):
            d(call(2))
    else:
        d(call(d.pick(f"2 if {causal} else 3", "3")))


def decoding(r):
    """A few queries against cached keys, by pages or in parts"""
    d = Draft(r, r.choice(["paged_attention", "flash_decoding", "_fwd_grouped_kernel", "decode_attn_stage1"]))
    group = d.group("half")
    cached = d.group(d.pick("fp8", "i8")) if d.chance(.25) else group  # a cache of eight bits
    q, k, v, o = d.pointer("q", group), d.pointer("k_cache", cached), d.pointer("v_cache", cached), d.pointer("o", d.group("out"))
    table = d.pointer("block_tables", d.group("i32"))
    scale, length = d.number("scale"), d.integer("seq_len")
    BH, BN, D = d.block("H", 16, 16, 32, 64), d.block("N", 16, 32, 64, 128), d.constant("HEAD_DIM", *HEAD)
    DV = d.constant("HEAD_DIM_V", 64, 128) if d.chance(.3) else D
    page = d.constant("PAGE_SIZE", 1, 16, 64)
    d.tile_of(BH, D), d.tile_of(BN, D)
    heads, dims = d.arange("h", BH), d.arange("d", D)
    dims_v = d.arange("dv", DV) if DV != D else dims
    qt = d.load_into("q", d.address(q + " + tl.program_id(0) * 4096", heads, dims, D), f"{heads}[:, None] < {d.pick('4', '8', '16')}", "0.0")
    rope = None
    if d.chance(.3):  # a second part of the head that only carries positions
        BR, k_pe, q_pe = d.constant("ROPE_DIM", 16, 32, 64), d.pointer("k_rope", group), d.pointer("q_rope", group)
        rope = (k_pe, d.arange("pe", BR), BR)
        d(f"q_pe = tl.load({d.address(q_pe, heads, rope[1], BR)})")
    if cached != group:
        d(f"k_scale = {d.number('kv_scale')}")
    d(f'e_max = tl.zeros([{BH}], dtype=tl.float32) - float("inf")', f"e_sum = tl.zeros([{BH}], dtype=tl.float32)")
    acc = d.zeros("acc", (BH, DV))
    if d.chance(.5):
        splits = d.constant("NUM_SPLITS", 1, 4, 8)
        d(f"per = tl.cdiv({length}, {splits})", "lo = tl.program_id(2) * per", f"hi = tl.minimum(lo + per, {length})")
    else:
        d("lo = 0", f"hi = {length}")
    with d.loop("start_n", "hi", BN, "lo", forms=("offsets", "while")) as at:
        d(f"offs_n = {at} + tl.arange(0, {BN})", f"slot = tl.load({table} + offs_n // {page}, mask=offs_n < hi, other=0)", f"where = slot * {page} + offs_n % {page}")
        transposed = d.chance(.5)
        kt = d.load_into("k", d.address(k, dims, "where", "1", D) if transposed else d.address(k, "where", dims, D), "offs_n[None, :] < hi" if transposed else "offs_n[:, None] < hi", "0.0")
        if cached != group:
            d(f"{kt} = ({kt}.to(tl.float32) * k_scale).to({qt}.dtype)" if d.chance(.5) else f"{kt} = {kt}.to({qt}.dtype)")
        d(f"qk = tl.dot({qt}, {kt if transposed else f'tl.trans({kt})'}) * {scale}")
        if rope:
            pe = d.load_into("k_pe", d.address(rope[0], rope[1], "where", "1", rope[2]), "offs_n[None, :] < hi", "0.0")
            d(f"qk += tl.dot(q_pe, {pe})" if d.chance(.6) else f"qk = tl.dot(q_pe, {pe}, qk)")
        d('qk = tl.where(offs_n[None, :] < hi, qk, float("-inf"))')
        shared_v = DV == D and d.chance(.3)  # keys are the values, too
        vt = kt if shared_v and not transposed else f"tl.trans({kt})" if shared_v else d.load_into("v", d.address(v, "where", dims_v, DV), "offs_n[:, None] < hi", "0.0")
        if cached != group and not shared_v:
            d(f"{vt} = {vt}.to({qt}.dtype)")
        d("n_e_max = tl.maximum(tl.max(qk, 1), e_max)", "re_scale = tl.exp(e_max - n_e_max)", "p = tl.exp(qk - n_e_max[:, None])", f"{acc} *= re_scale[:, None]")
        d.dot(f"p.to({qt}.dtype)", vt, acc)
        d("e_sum = e_sum * re_scale + tl.sum(p, 1)", "e_max = n_e_max")
    d(f"{acc} = {acc} / e_sum[:, None]")
    write_result(d, acc, o, heads, dims_v, None, None, DV, None, BH, DV)
    return d


def attention_backward(r):
    """dq, or dk and dv, or all of them in one kernel"""
    d = Draft(r, r.choice(["_attn_bwd", "_bwd_dkdv", "attn_bwd_dq", "flash_bwd_kernel", "parallel_attn_bwd"]))
    group = d.group("half" if d.chance(.9) else "attn")
    q, k, v, do = (d.pointer(w, group) for w in ("q", "k", "v", "do"))
    lse, delta = d.pointer("lse", d.group("fp32", "L")), d.pointer("delta", "L")
    scale, ctx = d.number("sm_scale"), d.integer("N_CTX")
    stride = d.stride("q", "t") if d.chance(.7) else None
    BM, BN, D = d.block("M", 16, 32, 64, 64, 128), d.block("N", 16, 32, 64, 64, 128), d.constant("HEAD_DIM", *HEAD)
    stride = stride or D
    d.tile_of(BM, D), d.tile_of(BN, D), d.tile_of(BM, BN)
    d("pid = tl.program_id(0)")
    dims = d.arange("d", D)
    s = dict(d=d, q=q, k=k, v=v, do=do, lse=lse, delta=delta, scale=scale, ctx=ctx, stride=stride, BM=BM, BN=BN, D=D, dims=dims, exp=d.pick("tl.math.exp2", "tl.exp"), causal=d.chance(.5), guard=d.chance(.5))
    form = d.r.random()
    if form < .45 or form > .85:
        backward_dkdv(s)
    if form >= .45:
        backward_dq(s)
    return d


def backward_dkdv(s):
    d, stride, dims = s["d"], s["stride"], s["dims"]
    dk, dv = d.pointer("dk", d.group("out")), d.pointer("dv", d.group("out"))
    keys = d.arange("kn", s["BN"], f"pid * {s['BN']}")
    guard = f"{keys}[:, None] < {s['ctx']}" if s["guard"] else None
    kt, vt = d.load_into("k", d.address(s["k"], keys, dims, stride), guard, guard and "0.0"), d.load_into("v", d.address(s["v"], keys, dims, stride), guard, guard and "0.0")
    acc_v, acc_k = d.zeros("dv", (s["BN"], s["D"])), d.zeros("dk", (s["BN"], s["D"]))
    steps = d.arange("qm", s["BM"])
    transposed = d.chance(.5)  # the tutorial works on the transposed scores
    also_dq = d.chance(.2)
    dq = d.pointer("dq", d.group("fp32")) if also_dq else None
    start = f"pid * {s['BN']}" if s["causal"] and d.chance(.6) else "0"
    with d.loop(d.pick("start_m", "curr_m", "i"), s["ctx"], s["BM"], start, forms=("offsets", "while")) as at:
        rows = d.fresh("offs_qm")
        d(f"{rows} = {at} + {steps}")
        mask = f"{rows}[:, None] < {s['ctx']}" if s["guard"] else None
        if transposed and d.chance(.6):
            qT = d.load_into("qT", d.address(s["q"], dims, rows, "1", stride), mask and f"{rows}[None, :] < {s['ctx']}", mask and "0.0")
            plain_q = f"tl.trans({qT})"
        else:
            qt = d.load_into("q", d.address(s["q"], rows, dims, stride), mask, mask and "0.0")
            qT, plain_q = f"tl.trans({qt})", qt
        d(f"m = tl.load({s['lse']} + {rows})" if not mask or d.chance(.5) else f"m = tl.load({s['lse']} + {rows}, mask={rows} < {s['ctx']}, other=0.0)")
        do_early = d.chance(.5)
        if do_early:
            dot_ = d.load_into("do", d.address(s["do"], rows, dims, stride), mask, mask and "0.0")
        causal = f"{rows}{{}} >= {keys}{{}}"
        if transposed:
            d(f"qkT = tl.dot({kt}, {qT})", f"pT = {s['exp']}(qkT * {s['scale']} - m[None, :])")
            if s["causal"]:
                d(f"pT = tl.where({rows}[None, :] >= {keys}[:, None], pT, 0.0)")
        else:
            d(f"qk = tl.dot({plain_q}, tl.trans({kt}))", f"p = {s['exp']}(qk * {s['scale']} - m[:, None])")
            if s["causal"]:
                d(f"p = tl.where({rows}[:, None] >= {keys}[None, :], p, 0.0)")
        if not do_early:
            dot_ = d.load_into("do", d.address(s["do"], rows, dims, stride), mask, mask and "0.0")
        element = f"{s['q']}.dtype.element_ty"
        d.dot(f"pT.to({element})" if transposed else d.pick(f"tl.trans(p.to({element}))", f"tl.trans(p).to({element})"), dot_, acc_v)
        d(f"Di = tl.load({s['delta']} + {rows})")
        if transposed:
            d(f"dpT = tl.dot({vt}, tl.trans({dot_}))", f"dsT = (pT * (dpT - Di[None, :])).to({element})")
            d.dot("dsT", plain_q, acc_k)
            if also_dq:
                d(f"part = tl.dot(tl.trans(dsT), {kt})")
        else:
            d(f"dp = tl.dot({dot_}, tl.trans({vt}))", f"ds = (p * (dp - Di[:, None])).to({element})")
            d.dot("tl.trans(ds)", plain_q, acc_k)
            if also_dq:
                d(f"part = tl.dot(ds, {kt})")
        if also_dq:
            d(f"tl.atomic_add({d.address(dq, rows, dims, stride)}, part{', mask=' + mask if mask else ''})")
    d(f"{acc_k} *= {s['scale']}")
    d.store(d.address(dv, keys, dims, stride), cast_to(d, acc_v, dv), guard)
    d.store(d.address(dk, keys, dims, stride), cast_to(d, acc_k, dk), guard)


def backward_dq(s):
    d, stride, dims = s["d"], s["stride"], s["dims"]
    dq = d.pointer("dq", d.group("out"))
    rows = d.arange("m", s["BM"], f"pid * {s['BM']}")
    guard = f"{rows}[:, None] < {s['ctx']}" if s["guard"] else None
    qt, dot_ = d.load_into("q", d.address(s["q"], rows, dims, stride), guard, guard and "0.0"), d.load_into("do", d.address(s["do"], rows, dims, stride), guard, guard and "0.0")
    d(f"m_row = tl.load({s['lse']} + {rows})", f"delta_row = tl.load({s['delta']} + {rows})")
    acc = d.zeros("dq", (s["BM"], s["D"]))
    cols = d.arange("n", s["BN"])
    stop = f"(pid + 1) * {s['BM']}" if s["causal"] else s["ctx"]
    with d.loop(d.pick("start_n", "curr_n", "j"), stop, s["BN"], forms=("offsets", "while")) as at:
        keys = d.fresh("offs_kv")
        d(f"{keys} = {at} + {cols}")
        plain = d.chance(.5)
        if plain:
            kt = d.load_into("k", d.address(s["k"], keys, dims, stride))
            vt = d.load_into("v", d.address(s["v"], keys, dims, stride))
            kT, vT, plain_k = f"tl.trans({kt})", f"tl.trans({vt})", kt
        else:
            kT = d.load_into("kT", d.address(s["k"], dims, keys, "1", stride))
            vT = d.load_into("vT", d.address(s["v"], dims, keys, "1", stride))
            plain_k = f"tl.trans({kT})"
        d(f"qk_q = tl.dot({qt}, {kT})", f"p_q = {s['exp']}(qk_q * {s['scale']} - m_row[:, None])")
        if s["causal"]:
            d(f"p_q = tl.where({rows}[:, None] >= {keys}[None, :], p_q, 0.0)")
        d(f"dp_q = tl.dot({dot_}, {vT})", f"ds_q = p_q * (dp_q - delta_row[:, None])", f"ds_q = ds_q.to({s['k']}.dtype.element_ty)")
        d.dot("ds_q", plain_k, acc)
    d.store(d.address(dq, rows, dims, stride), cast_to(d, acc, dq), guard)


# ---- linear attention ----------------------------------------------------------------------------------------------------
def chunk_state(r):
    """A state that the loop over chunks carries, optionally decayed; outputs of each chunk"""
    d = Draft(r, r.choice(["chunk_fwd_kernel_h", "chunk_linear_attn", "fused_chunk_fwd", "chunk_delta_h"]))
    group = d.group("half" if d.chance(.85) else "float")
    k, v = d.pointer("k", group), d.pointer("v", group)
    q = d.pointer("q", group) if d.chance(.6) else None
    h = d.pointer("h", d.group("out"))
    T = d.integer("T")
    use_g = d.constant("USE_G", True, False)
    g = d.pointer("g", d.group("fp32"))
    BT, BK, BV = d.constant("BT", *CHUNK), d.constant("BK", 16, 32, 64, 128), d.constant("BV", 16, 32, 64, 128)
    K, V = d.constant("K", 64, 128), d.constant("V", 64, 128)
    d.tile_of(BT, BK), d.tile_of(BT, BV)
    d("i_k, i_v, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)")
    ok, ov, ot = d.arange("k", BK, f"i_k * {BK}"), d.arange("v", BV, f"i_v * {BV}"), d.arange("t", BT)
    state = d.zeros("b_h", (BK, BV))
    if d.chance(.4):
        h0 = d.pointer("h0", d.group("fp32"))
        with d.indented(f"if {d.constant('USE_INITIAL_STATE', True, False)}:"):
            d(f"{state} += tl.load({d.address(h0, ok, ov, V)}).to(tl.float32)")
    o = d.pointer("o", d.group("out")) if q else None
    delta = d.chance(.35)
    w = d.pointer("w", group) if delta else None
    mask_t = d.chance(.6)
    with d.indented(f"for i_t in {d.pick('range', 'tl.range')}({d.pick('0, ', '')}tl.cdiv({T}, {BT})):"):
        here = d.fresh("tt")
        d(f"{here} = i_t * {BT} + {ot}")
        mask, mask_T = (f"{here}[:, None] < {T}", f"{here}[None, :] < {T}") if mask_t else (None, None)
        if d.chance(.5):
            d.store(d.address(f"{h} + i_t * {K} * {V}", ok, ov, V), f"{state}.to({h}.dtype.element_ty)")
        kT = d.load_into("kT", d.address(k, ok, here, "1", K), mask_T, mask_T and "0.0")
        vt = d.load_into("v", d.address(v, here, ov, V), mask, mask and "0.0")
        if delta:
            wt = d.load_into("w", d.address(w, here, ok, K), mask, mask and "0.0")
            d(f"fresh_v = {vt} - tl.dot({wt}, {state}.to({wt}.dtype))", f"fresh_v = fresh_v.to({vt}.dtype)")
            vt = "fresh_v"
        if q:
            qt = d.load_into("q", d.address(q, here, ok, K), mask, mask and "0.0")
            d(f"b_s = tl.dot({qt}, {kT})", f"b_s = tl.where({ot}[:, None] >= {ot}[None, :], b_s, 0)")
            d(f"b_o = tl.dot(b_s.to({qt}.dtype), {vt})")
            d.dot(qt, f"{state}.to({qt}.dtype)", "b_o")
            d.store(d.address(o, here, ov, V), f"b_o.to({o}.dtype.element_ty)", mask)
        with d.indented(f"if {use_g}:"):
            d(f"g_last = tl.load({g} + (i_t + 1) * {BT} - 1)", f"{state} *= tl.exp(g_last)")
            if d.chance(.5):
                d(f"g_t = tl.load({g} + {here})", f"{vt} = ({vt} * tl.exp(g_last - g_t)[:, None]).to({vt}.dtype)")
        d.dot(kT, vt, state, d.pick("", "", ", allow_tf32=False") )
    if d.chance(.4):
        d.store(d.address(h, ok, ov, V), f"{state}.to({h}.dtype.element_ty)")
    else:
        ht = d.pointer("ht", d.group("fp32"))
        d.store(d.address(ht, ok, ov, V), state)
    return d


def chunk_output(r):
    """o = q h + (q kT, masked) v, sums over blocks of the head"""
    d = Draft(r, r.choice(["chunk_fwd_kernel_o", "chunk_o", "chunk_gla_fwd_o"]))
    group = d.group("half" if d.chance(.85) else "float")
    q, k, v, h, o = d.pointer("q", group), d.pointer("k", group), d.pointer("v", group), d.pointer("h", group), d.pointer("o", d.group("out"))
    g, scale, T = d.pointer("g", d.group("fp32")), d.number("scale"), d.integer("T")
    K, V = d.constant("K", 32, 64, 128, 256), d.constant("V", 64, 128)
    BT, BK, BV = d.constant("BT", *CHUNK), d.constant("BK", 16, 32, 64, 128), d.constant("BV", 16, 32, 64, 128)
    use_g = d.constant("USE_G", True, False)
    d.tile_of(BT, BK), d.tile_of(BK, BV), d.tile_of(BT, BT)
    d("i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)" + d.pick("", ".to(tl.int64)"))
    ot, ov = d.arange("t", BT, f"i_t * {BT}"), d.arange("v", BV, f"i_v * {BV}")
    mt = d.mask("t", ot, T)
    out, scores = d.zeros("b_o", (BT, BV)), d.zeros("b_A", (BT, BT))
    with d.indented(f"for i_k in range({d.pick('', '0, ')}tl.cdiv({K}, {BK})):"):
        ok = d.arange("kk", BK, f"i_k * {BK}")
        mk = f"({ok} < {K})"
        qt = d.load_into("q", d.address(q, ot, ok, K), f"{mt}[:, None] & {mk}[None, :]", "0.0")
        kT = d.load_into("k", d.address(k, ok, ot, "1", K), f"{mk}[:, None] & {mt}[None, :]", "0.0")
        if d.chance(.7):
            ht = d.load_into("h", d.address(h, ok, ov, V), f"{mk}[:, None]", "0.0")
        else:
            hh = d.load_into("h", d.address(h, ov, ok, K))
            ht = f"tl.trans({hh})"
        if d.chance(.5):
            d(f"{out} += tl.dot({qt}, {ht})", f"{scores} += tl.dot({qt}, {kT})")
        else:
            d.dot(qt, ht, out)
            d.dot(qt, kT, scores)
    with d.indented(f"if {use_g}:"):
        d(f"g_t = tl.load({g} + {ot}, mask={mt}, other=0.0)", f"{out} = {out} * tl.exp(g_t)[:, None]", f"{scores} = {scores} * tl.exp(g_t[:, None] - g_t[None, :])")
    d(f"{scores} = tl.where({ot}[:, None] >= {ot}[None, :], {scores}, 0)")
    vt = d.load_into("v", d.address(v, ot, ov, V), f"{mt}[:, None]", "0.0")
    d(f"{out} = {out} * {scale} + tl.dot({scores}.to({vt}.dtype), {vt}) * {scale}")
    d.store(d.address(o, ot, ov, V), f"{out}.to({o}.dtype.element_ty)", f"{mt}[:, None]")
    return d


def chunk_backward(r):
    """dq, dk and gate gradients of a chunk"""
    d = Draft(r, r.choice(["chunk_bwd_dqkwg", "chunk_bwd_dv", "chunk_bwd_kernel"]))
    group = d.group("half")
    q, k, v, h, do, dh = (d.pointer(w, group) for w in ("q", "k", "v", "h", "do", "dh"))
    dq, dk = d.pointer("dq", d.group("out")), d.pointer("dk", d.group("out"))
    dv, dg = (d.pointer("dv", d.group("out")) if d.chance(.5) else None), (d.pointer("dg", d.group("fp32")) if d.chance(.5) else None)
    scale, T = d.number("scale"), d.integer("T")
    K, V = d.constant("K", 64, 128), d.constant("V", 32, 64, 128)
    BT, BK, BV = d.constant("BT", *CHUNK), d.constant("BK", 16, 32, 64, 128), d.constant("BV", 16, 32, 64)
    d.tile_of(BT, BK), d.tile_of(BK, BV), d.tile_of(BT, BT)
    d("i_k, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)")
    ot, ok = d.arange("t", BT, f"i_t * {BT}"), d.arange("k", BK, f"i_k * {BK}")
    mt = d.mask("t", ot, T)
    b_dq, b_dk, b_ds = d.zeros("b_dq", (BT, BK)), d.zeros("b_dk", (BT, BK)), d.zeros("b_ds", (BT, BT))
    if dg:
        d("b_dg_last = tl.zeros([1], dtype=tl.float32)" if d.chance(.5) else "b_dg_last = 0.0")
    with d.indented(f"for i_v in range(tl.cdiv({V}, {BV})):"):
        ov = d.arange("v", BV, f"i_v * {BV}")
        vt, dot_ = (d.load_into(w, d.address(p, ot, ov, V), f"{mt}[:, None]", "0.0") for w, p in (("v", v), ("do", do)))
        if d.chance(.5):
            ht, dht = (d.load_into(w, d.address(p, ov, ok, "1", V)) for w, p in (("h", h), ("dh", dh)))
        else:
            ht, dht = (f"tl.trans({d.load_into(w, d.address(p, ok, ov, V))})" for w, p in (("h", h), ("dh", dh)))
        if dg:
            d(f"b_dg_last += tl.sum({ht} * {dht})")
        d.dot(dot_, f"tl.trans({vt})", b_ds)
        d.dot(dot_, f"{ht}" if d.chance(.5) else f"{ht}.to({dot_}.dtype)", b_dq)
        d.dot(vt, dht, b_dk)
    qt, kt = (d.load_into(w, d.address(p, ot, ok, K), f"{mt}[:, None]", "0.0") for w, p in (("q", q), ("k", k)))
    if d.chance(.3):
        d("tl.debug_barrier()")
    d(f"{b_ds} = tl.where({ot}[:, None] >= {ot}[None, :], {b_ds} * {scale}, 0)", f"low = {b_ds}.to({kt}.dtype)")
    d.dot("low", kt, b_dq)
    d.dot("tl.trans(low)", qt, b_dk)
    if dv:
        ov = d.arange("vv", BV)
        d(f"b_dv = tl.dot(tl.trans(low), tl.load({d.address(do, ot, ov, V)}))")
        d.store(d.address(dv, ot, ov, V), f"b_dv.to({dv}.dtype.element_ty)", f"{mt}[:, None]")
    if dg:
        d(f"b_dg = tl.sum({b_dq} * {qt}, axis=1) - tl.sum({b_dk} * {kt}, axis=1)", f"tl.store({dg} + {ot}, b_dg + b_dg_last, mask={mt})")
    d.store(d.address(dq, ot, ok, K), f"{b_dq}.to({dq}.dtype.element_ty)", f"{mt}[:, None]")
    d.store(d.address(dk, ot, ok, K), f"{b_dk}.to({dk}.dtype.element_ty)", f"{mt}[:, None]")
    return d


def triangular_inverse(r):
    """Forward substitution in blocks, then products of small blocks"""
    d = Draft(r, r.choice(["solve_tril_kernel", "chunk_scaled_dot_kkt", "merge_inverse", "prepare_wy_repr"]))
    group = d.group("half")
    k, beta, out = d.pointer("k", group), d.pointer("beta", d.group("fp32")), d.pointer("A", d.group("out"))
    T, K = d.integer("T"), d.constant("K", 64, 128)
    BT, BK = d.constant("BT", 16, 32, 64), d.constant("BK", 32, 64)
    d.tile_of(BT, BK), d.tile_of(BT, BT)
    d("i_t, i_bh = tl.program_id(0), tl.program_id(1)")
    ot = d.arange("t", BT, f"i_t * {BT}")
    d(f"b_beta = tl.load({beta} + {ot}, mask={ot} < {T}, other=0.0)")
    acc = d.zeros("b_A", (BT, BT))
    with d.indented(f"for i_k in range(tl.cdiv({K}, {BK})):"):
        ok = d.arange("kk", BK, f"i_k * {BK}")
        kt = d.load_into("k", d.address(k, ot, ok, K), f"{ot}[:, None] < {T}", "0.0")
        scaled = d.chance(.5)
        if scaled:
            d(f"kb = {kt} * b_beta[:, None]")
        d.dot(f"kb.to({kt}.dtype)" if scaled else kt, f"tl.trans({kt})", acc)
    d(f"{acc} = -tl.where({ot}[:, None] > {ot}[None, :], {acc} * b_beta[:, None], 0)", f"inner = tl.arange(0, {BT})")
    if d.chance(.7):
        with d.indented(f"for i in range(1, {d.pick(BT, f'tl.minimum({BT}, {T} - i_t * {BT})')}):"):
            d(f"row = tl.sum(tl.where((inner == i)[:, None], {acc}, 0), 0)", f"row = row + tl.sum(row[:, None] * {acc}, 0)", f"{acc} = tl.where((inner == i)[:, None], row, {acc})")
    d(f"{acc} += inner[:, None] == inner[None, :]")
    if d.chance(.6):
        u, v, BV = d.pointer("u", d.group("out")), d.pointer("v", group), d.constant("BV", 32, 64)
        d.tile_of(BT, BV)
        ov = d.arange("v", BV)
        vt = d.load_into("v", d.address(v, ot, ov, BV))
        precision = d.precision()
        high = d.chance(.4)
        d(f"b_u = tl.dot({acc}, {vt}.to(tl.float32){precision})" if high else f"b_u = tl.dot({acc}.to({vt}.dtype), ({vt} * b_beta[:, None]).to({vt}.dtype))")
        d.store(d.address(u, ot, ov, BV), f"b_u.to({u}.dtype.element_ty)")
    d.store(d.address(out, ot, "inner", BT), f"{acc}.to({out}.dtype.element_ty)", f"{ot}[:, None] < {T}")
    return d


# ---- descriptors ---------------------------------------------------------------------------------------------------------
def made(d, word, group, sizes, strides, block):
    """A descriptor that the kernel makes out of a pointer"""
    pointer = d.pointer(word, group)
    name = d.fresh(f"{word}_desc")
    d.tile_of(*block)
    shape, step, tile = ", ".join(sizes), ", ".join(strides), ", ".join(block)
    if d.chance(.5):
        d(f"{name} = tl.make_tensor_descriptor({pointer}, shape=[{shape}], strides=[{step}], block_shape=[{tile}])")
    else:
        d(f"{name} = tl.make_tensor_descriptor(", f"    {pointer},", f"    [{shape}],", f"    [{step}],", f"    [{tile}],", ")")
    return name


def descriptor_load(d, desc, *at):
    return f"{desc}.load([{', '.join(at)}])" if d.chance(.85) else f"tl.load_tensor_descriptor({desc}, [{', '.join(at)}])"


def descriptor_store(d, desc, at, value):
    d(f"{desc}.store([{', '.join(at)}], {value})" if d.chance(.85) else f"tl.store_tensor_descriptor({desc}, [{', '.join(at)}], {value})")


def tma_matmul(r):
    d = Draft(r, r.choice(["matmul_kernel_tma", "matmul_kernel_descriptor_persistent", "tma_gemm"]))
    group = d.group("dot_tma")
    M, N, K = d.integer("M"), d.integer("N"), d.integer("K")
    BM, BN, BK = d.block("M", 32, 64, 128, 128, 256), d.block("N", 32, 64, 128, 128, 256), d.block("K", 32, 64, 64, 128)
    on_host = d.chance(.5)
    nk = d.chance(.6)  # b lies N × K
    b_block = (BN, BK) if nk else (BK, BN)
    subtiles = d.chance(.25)
    c_block = (BM, f"{BN} // 2") if subtiles and not on_host else (BM, BN)
    subtiles = subtiles and not on_host
    if on_host:
        a, b = d.descriptor("a", group, (BM, BK)), d.descriptor("b", group, b_block)
        c = d.descriptor("c", d.group("half"), (BM, BN))
    else:
        a = made(d, "a", group, (M, K), (K, "1"), (BM, BK))
        b = made(d, "b", group, (N, K) if nk else (K, N), (K, "1") if nk else (N, "1"), b_block)
        c = made(d, "c", d.group("half"), (M, N), (N, "1"), c_block)
    persistent = d.chance(.4)
    if persistent:
        sms = d.constant("NUM_SMS", 132)
        d("start_pid = tl.program_id(axis=0)", f"num_tiles = tl.cdiv({M}, {BM}) * tl.cdiv({N}, {BN})")
        words = [] if d.chance(.3) else d.loop_options()
        with d.indented(f"for tile_id in tl.range(start_pid, num_tiles, {sms}{''.join(', ' + w for w in words)}):"):
            tile_ids(d, "tile_id", M, N, BM, BN)
            tma_tile(d, a, b, c, K, BM, BN, BK, nk, subtiles)
    else:
        program_tiles(d, M, N, BM, BN)
        tma_tile(d, a, b, c, K, BM, BN, BK, nk, subtiles)
    return d


def tma_tile(d, a, b, c, K, BM, BN, BK, nk, subtiles):
    d(f"offs_am = pid_m * {BM}", f"offs_bn = pid_n * {BN}")
    acc = d.zeros("accumulator", (BM, BN))
    with d.loop("k", K, BK, forms=("steps", "offsets")) as at:
        d(f"offs_k = {at}")
        x, w = d.named("tile", "a"), d.named("tile", "b")
        d(f"{x} = {descriptor_load(d, a, 'offs_am', 'offs_k')}", f"{w} = {descriptor_load(d, b, *(('offs_bn', 'offs_k') if nk else ('offs_k', 'offs_bn')))}")
        d.dot(x, d.pick(f"{w}.T", f"tl.trans({w})") if nk else w, acc)
    if d.chance(.25):
        d(f"{acc} = {d.use(d.pick('relu', 'silu'))}({acc})")
    if subtiles:
        d(f"parts = tl.permute(tl.reshape({acc}, ({BM}, 2, {BN} // 2)), (0, 2, 1))", "acc0, acc1 = tl.split(parts)")
        descriptor_store(d, c, ("offs_am", "offs_bn"), f"acc0.to({c}.dtype)")
        descriptor_store(d, c, ("offs_am", f"offs_bn + {BN} // 2"), f"acc1.to({c}.dtype)")
    elif d.chance(.1):
        d.groups["T1"] = "half"
        d(f"{c}.atomic_add([offs_am, offs_bn], {acc}.to({c}.dtype))")
    else:
        descriptor_store(d, c, ("offs_am", "offs_bn"), f"{acc}.to({c}.dtype)")


def tma_attention(r):
    d = Draft(r, r.choice(["_attn_fwd_tma", "attn_fwd_desc"]))
    group = d.group("half")
    ctx, scale = d.integer("N_CTX"), d.number("sm_scale")
    BM, BN, D = d.block("M", 64, 128, 128), d.block("N", 32, 64, 128), d.constant("HEAD_DIM", 32, 64, 64, 128)
    on_host = d.chance(.5)
    describe = (lambda w, block: d.descriptor(w, group, block)) if on_host else (lambda w, block: made(d, w, group, (ctx, D), (D, "1"), block))
    q, k, v, o = describe("q", (BM, D)), describe("k", (BN, D)), describe("v", (BN, D)), describe("o", (BM, D))
    d.tile_of(BM, BN)
    d("start_m = tl.program_id(0)", f"row = start_m * {BM}", f"qt = {descriptor_load(d, q, 'row', '0')}")
    rows, cols = d.arange("m", BM, "row"), d.arange("n", BN)
    d(f'm_i = tl.zeros([{BM}], dtype=tl.float32) - float("inf")', f"l_i = tl.zeros([{BM}], dtype=tl.float32) + 1.0")
    acc = d.zeros("acc", (BM, D))
    causal = d.constant("CAUSAL", True, False)
    d(f"hi = row + {BM} if {causal} else {ctx}")
    with d.loop("start_n", "hi", BN, forms=("offsets",), plain=.5) as at:
        d(f"kt = {descriptor_load(d, k, at, '0')}{d.pick('.T', '')}")
        right = "kt" if d.body[-1].endswith(".T") else "tl.trans(kt)"
        d(f"qk = tl.dot(qt, {right}) * {scale}")
        with d.indented(f"if {causal}:"):
            d(f'qk = tl.where({rows}[:, None] >= ({at} + {cols})[None, :], qk, float("-inf"))')
        d("m_ij = tl.maximum(m_i, tl.max(qk, 1))", "p = tl.math.exp2(qk - m_ij[:, None])", "alpha = tl.math.exp2(m_i - m_ij)", "l_ij = tl.sum(p, 1)")
        if d.chance(.3):
            d(f"acc0, acc1 = {acc}.reshape([{BM}, 2, {D} // 2]).permute(0, 2, 1).split()", "acc0 = acc0 * alpha[:, None]", "acc1 = acc1 * alpha[:, None]",
              f"{acc} = tl.join(acc0, acc1).permute(0, 2, 1).reshape([{BM}, {D}])")
        else:
            d(f"{acc} = {acc} * alpha[:, None]")
        d(f"vt = {descriptor_load(d, v, at, '0')}")
        d.dot("p.to(vt.dtype)", "vt", acc)
        d("l_i = l_i * alpha + l_ij", "m_i = m_ij")
    d(f"{acc} = {acc} / l_i[:, None]")
    descriptor_store(d, o, ("row", "0"), f"{acc}.to({o}.dtype)")
    return d


def tma_rows(r):
    """Descriptors without a product: copies, sums, softmax, transposes"""
    d = Draft(r, r.choice(["tma_copy", "tma_softmax", "desc_reduce"]))
    M, N = d.integer("M"), d.integer("N")
    BM, BN = d.block("M", 16, 32, 64, 128), d.block("N", 32, 64, 128, 256)
    group, out = d.group("tma"), d.group("tma")
    describe = (lambda w, g, block: d.descriptor(w, g, block)) if d.chance(.5) else (lambda w, g, block: made(d, w, g, (M, N), (N, "1"), block))
    x = describe("x", group, (BM, BN))
    form = d.pick("scale", "softmax", "transpose", "sum", "gather", "add")
    y = describe("y", out, (BN, BM) if form == "transpose" else (BM, BN))
    pid = "tl.program_id(0)"
    d(f"row = {pid} * {BM}")
    in_loop = d.chance(.5)
    with (d.loop("col", N, BN, forms=("offsets",), plain=.4) if in_loop else plainly("0")) as at:
        d(f"x = {descriptor_load(d, x, 'row', at)}.to(tl.float32)")
        if form == "softmax":
            d("x = x - tl.max(x, axis=1)[:, None]", "x = tl.exp(x)", "x = x / tl.sum(x, axis=1, keep_dims=True)")
        elif form == "sum":
            d("x = x - tl.sum(x, axis=0)[None, :]")
        elif form == "add":
            d(f"z = {descriptor_load(d, x, 'row + 1', at)}", "x = x + z")
        else:
            d("x = x * 2.0")
        if form == "transpose":
            descriptor_store(d, y, (at, "row"), f"tl.trans(x).to({y}.dtype)")
        else:
            descriptor_store(d, y, ("row", at), f"x.to({y}.dtype)")
    return d


class plainly:
    def __init__(self, at): self.at = at
    def __enter__(self): return self.at
    def __exit__(self, *_): pass


# ---- the rest ------------------------------------------------------------------------------------------------------------
def convolution(r):
    """Implicit product: the loop runs over taps and channels"""
    d = Draft(r, r.choice(["conv2d_forward_kernel", "implicit_gemm_conv", "conv1d_kernel"]))
    group = d.group("half" if d.chance(.7) else "float")
    x, w, y = d.pointer("input", group), d.pointer("weight", group), d.pointer("output", d.group("out"))
    n_rows, C, N, width = d.integer("n_rows"), d.integer("in_c"), d.integer("out_c"), d.integer("in_width")
    KW = d.constant("KW", 1, 3, 5)
    BM, BN, BK = d.block("M", *SOME), d.block("N", 16, 32, 64, 128), d.block("K", 16, 32, 64)
    d.tile_of(BM, BK), d.tile_of(BK, BN)
    d("pid_m = tl.program_id(0)", "pid_n = tl.program_id(1)")
    rows, cols, depth = d.arange("m", BM, f"pid_m * {BM}"), d.arange("n", BN, f"pid_n * {BN}"), d.arange("c", BK)
    d(f"row = {rows} // {width}", f"col = {rows} % {width}")
    acc = d.zeros("acc", (BM, BN))
    form = d.chance(.5)
    outer = f"for t in tl.static_range({KW}):" if form else f"for t in range({KW} * {KW}):"
    with d.indented(outer):
        d(f"at_col = col + {'t' if form else f't % {KW}'} - 1", f"at_row = row + {'0' if form else f't // {KW}'}", f"inside = (at_col >= 0) & (at_col < {width})")
        with d.loop("c", C, BK, forms=("offsets",), plain=.8) as at:
            xt = d.load_into("x", f"{x} + (at_row * {width} + at_col)[:, None] * {C} + ({at} + {depth})[None, :]", f"inside[:, None] & (({at} + {depth})[None, :] < {C})", "0.0")
            wt = d.load_into("w", f"{w} + (t * {C} + {at} + {depth})[:, None] * {N} + {cols}[None, :]", f"({at} + {depth})[:, None] < {C}", "0.0")
            d.dot(xt, wt, acc, d.precision())
    epilogue(d, acc, rows, cols, None, None, BM, BN, group)
    write_result(d, acc, y, rows, cols, f"({rows} < {n_rows})", f"({cols} < {N})", N, None, BM, BN)
    return d


def small_products(r):
    """Products outside of loops over a few tiles, each used as often as chance has it: same side, both sides, transposed"""
    d = Draft(r, r.choice(["fused_block", "lora_block", "low_rank_update", "tile_algebra", "gram_kernel"]))
    in_loop = d.chance(.35)
    group = d.group("dot_64" if not in_loop and d.chance(.07) else "dot" if d.chance(.5) else "half")
    n = d.pick(2, 2, 3, 4)
    sizes = d.block("N", 16, 32, 64, 64, 128)
    square = d.chance(.7)
    deep = sizes if square else d.block("K", 16, 32, 64, 128)
    d.tile_of(sizes, deep)
    d("pid = tl.program_id(0)")
    rows = d.arange("r", sizes)
    cols = rows if square else d.arange("c", deep)
    pointers = [d.pointer(w, group) for w in "abcd"[:n]]
    out = d.pointer("out", d.group("out"))
    tiles = {}

    def load_all(at=None):
        for word, p in zip("abcd", pointers):
            base = f"{p} + {at or 'pid'} * {sizes} * {deep}"
            mask = d.chance(.3)
            tiles[d.load_into(word, d.address(base, rows, cols, deep), f"({rows} < 100)[:, None]" if mask else None, "0.0" if mask else None)] = (sizes, deep)

    def multiply():
        """A product of two random tiles whose sides meet"""
        x = d.pick(*tiles)
        y = d.pick(*tiles)
        xr, xc = tiles[x]
        yr, yc = tiles[y]
        options = [(f"{x}", f"tl.trans({y})", xr, yr)] if xc == yc else []
        options += [(f"tl.trans({x})", y, xc, yc)] if xr == yr else []
        options += [(x, y, xr, yc)] if xc == yr else []
        options += [(f"tl.trans({x})", f"{y}.T", xc, yr)] if xr == yc and d.chance(.3) else []
        left, right, m, k = d.pick(*options)
        return left, right, (m, k)

    def some_products(count, accumulate):
        element = f"{pointers[0]}.dtype.element_ty"
        for i in range(count):
            left, right, dims = multiply()
            name = d.fresh(f"p{i}")
            if accumulate and accumulate[0] == dims and d.chance(.7):
                d.dot(left, right, accumulate[1], "")
                continue
            d.tile_of(*dims)
            d(f"{name} = tl.dot({left}, {right}{d.precision()})")
            if d.chance(.35):
                d(d.pick(f"{name} = tl.where({name} > 0, {name}, 0.0)", f"{name} = tl.exp({name} - tl.max({name}, 1)[:, None])", f"{name} = {name} * 0.5", f"{name} = {name} / tl.sum({name}, axis=1)[:, None]"))
            results.append((name, dims))
            if d.chance(.6):
                low = d.fresh(f"t{i}")
                d(f"{low} = {name}.to({element})")
                tiles[low] = dims

    results = []
    acc = None
    if in_loop:
        dims = (sizes, sizes)
        acc = (dims, d.zeros("acc", dims))
        n_iter = d.integer("n_iter")
        early = d.chance(.4)
        if early:
            kept = list(pointers)
            pointers = kept[:1]
            load_all()
            pointers = kept[1:]
        with d.indented(f"for i in {d.pick('range', 'range', 'tl.range')}({n_iter}):"):
            load_all("i")
            pointers = [p for p in d_pointers(d, group)]
            some_products(d.pick(1, 2, 2, 3), acc)
            for name, shape in results:
                if shape == dims:
                    d(f"{acc[1]} += {name}")
                elif shape == dims[::-1]:
                    d(f"{acc[1]} += tl.trans({name})")
                else:
                    d.store(d.address(out, "tl.arange(0, %s)" % shape[0], "tl.arange(0, %s)" % shape[1], shape[1]), cast_to(d, name, out))
        results = [(acc[1], dims)]
    else:
        load_all()
        some_products(d.pick(1, 2, 2, 3, 4), None)
    for i, (name, (m, k)) in enumerate(results):
        if i == 0 or d.chance(.7):
            d.store(d.address(f"{out} + pid * {m} * {k} * {i + 1}", f"tl.arange(0, {m})", f"tl.arange(0, {k})", k), cast_to(d, name, out))
    return d


def d_pointers(d, group):
    return [n for n, kind, detail in d.arguments if kind == "pointer" and detail == group]


KINDS = {matmul: 17, joined_products: 5, int4_matmul: 4, scaled_matmul: 4, weight_only_8bit: 3, microscaled: 1, gated_mlp: 6, mlp_backward: 4, moe: 4, attention: 11, decoding: 3,
         attention_backward: 9, chunk_state: 5, chunk_output: 3, chunk_backward: 4, triangular_inverse: 3, tma_matmul: 6, tma_attention: 3, tma_rows: 2,
         convolution: 3, small_products: 10}
