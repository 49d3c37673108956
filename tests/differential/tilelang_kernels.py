#!/usr/bin/env python3
"""Random TileLang kernels in the style that people write, each with the values that its file gives it and the devices to ask about.

usage: tilelang_kernels.py DIR [-n 100] [--seed 1] [--family NAME…]        then: tilelang_judge.py

Number n of a seed is the same kernel whatever was written before. A family is a function that fills a `Draft`; it must not look at what tilefit can do.
"""
import argparse
import json
import os
import random

from kernel_writer import Lines

TARGETS = ["sm_80", "sm_90", "sm_100", "gfx942", "gfx950"]
BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "int8": 8, "uint8": 8, "float8_e4m3fn": 8, "float8_e5m2": 8, "int32": 32}


class Draft:
    def __init__(self, r, family):
        self.r, self.family = r, family
        self.params, self.consts, self.derived, self.helpers, self.tensors, self.annotations = [], [], [], [], [], []
        self.given, self.configs, self.symbols, self.imports = {}, [], {}, []
        self.body = Lines(0)
        self.grid, self.threads, self.blocks = [], "128", ["bx", "by", "bz"]
        self.kernel = r.choice(["matmul", "kernel_fn", "fused", "run", "make", "op", "fwd", "get_kernel"])
        self.names = iter(range(1000))
        self.targets = TARGETS
        self.is_eager = r.random() < .2
        self.uses_dtype = {}

    # -- values of the host
    def size(self, name, value, shape=False):
        """A number, as authors pass it about."""
        r = self.r
        taken = {p for p, _ in self.params} | {c.split(" ")[0] for c in self.consts + self.derived}
        if name in taken:
            return name
        kind = r.choice(["given"] * 3 + ["default"]) if shape else r.choice(["default"] * 4 + ["given", "given", "overridden", "const", "literal", "derived"])
        if kind == "literal":
            return str(value)
        if kind == "const":
            self.consts.append(f"{name} = {value}")
        elif kind == "derived":
            self.derived.append(f"{name} = {r.choice([str(value), f'{value * 2} // 2', f'max({value}, 1)', f'min({value}, {value + 7})'])}")
        elif kind == "default":
            self.params.append((name, repr(value)))
        else:
            self.params.append((name, repr(r.choice([16, 32, 64])) if kind == "overridden" else None))
            self.given[name] = repr(value)
        return name

    def dim(self, name, value):
        """A size of a tensor; now and then one that only the launch has."""
        if name in self.symbols or name in self.given:
            return name
        if not self.is_eager and self.r.random() < .06:
            self.symbols[name] = value
            return name
        if self.is_eager:
            self.given[name] = repr(value)
            return name
        return self.size(name, value, shape=True)

    def dtype(self, name):
        """An element type as text."""
        r = self.r
        kind = r.choice(["string", "object", "object", "param", "param_object"])
        if kind == "string":
            return repr(name).replace("'", '"')
        if kind == "object":
            return f"T.{name}"
        key = f"dtype_{name}" if r.random() < .3 else ("dtype" if self.uses_dtype.get("dtype", name) == name else f"dtype_{name}")
        if key not in self.uses_dtype:
            self.uses_dtype[key] = name
            self.params.append((key, f'"{name}"' if kind == "param" else f"T.{name}"))
        return key

    def tensor(self, name, shape, dtype):
        self.tensors.append((name, shape, dtype))
        return name

    def flag(self, name, likely=.5):
        value = self.r.random() < likely
        self.params.append((name, repr(value)))
        if self.r.random() < .4:
            value = self.r.random() < likely
            self.given[name] = repr(value)
        return name, value

    def helper(self, text):
        if text not in self.helpers:
            self.helpers.append(text)

    def new(self, base):
        return f"{base}{next(self.names)}"

    def shared(self, name, shape, dtype):
        """Allocates a tile in shared memory."""
        r = self.r
        if r.random() < .06:
            self.helper("def tile(shape, ty):\n    return T.alloc_shared(shape, ty)")
            self.body(f"{name} = tile({shape}, {dtype})")
        elif r.random() < .08:
            self.body(f'{name} = T.alloc_shared({shape}, {dtype}, scope="shared.dyn")')
        else:
            self.body(f"{name} = T.alloc_shared({r.choice([shape, '[' + shape[1:-1].rstrip(',') + ']'])}, {dtype})")
        return name

    def fragment(self, name, shape, dtype="T.float32"):
        self.body(f"{name} = T.alloc_fragment({shape}, {dtype})")
        return name

    def pipelined(self, extent, stages):
        r = self.r
        return r.choice([f"T.Pipelined({extent}, num_stages={stages})"] * 5 + [f"T.Pipelined(0, {extent}, num_stages={stages})", f"T.Pipelined({extent}, {stages})" if False else f"T.Pipelined({extent}, num_stages={stages})"])

    # -- the file
    def render(self):
        r = self.r
        head = ["import tilelang", r.choice(["import tilelang.language as T", "from tilelang import language as T", "import tilelang.language as T"])] + self.imports
        params = sorted(self.params, key=lambda p: p[1] is not None)
        signature = [p if d is None else f"{p}={d}" for p, d in params]
        configs = f"pass_configs={{{', '.join(self.configs)}}}" if self.configs else ""
        decorator = "@tilelang.jit" + (f"({configs})" if configs else r.choice(["", "", "()"]) if False else (f"({configs})" if configs else ""))
        out = Lines()
        for line in head:
            out(line)
        out("")
        for line in self.consts:
            out(line)
        for text in self.helpers:
            out("\n")
            out(text)
        out("\n")
        comment = None
        launched = ""
        where = r.choice(["main", "main", "comment", "test"])
        if self.is_eager:
            where = "comment"
        if where == "comment" and all("T." not in v and "[" not in v for v in self.given.values()):
            if self.given:
                comment = "# tilefit: " + " ".join(f"{k}={v}" for k, v in self.given.items()).replace("'", '"')
        else:
            call = f"{self.kernel}({', '.join(f'{k}={v}' for k, v in self.given.items())})"
            launched = f"\n\nif __name__ == \"__main__\":\n    {call}\n" if where != "test" else f"\n\ndef main():\n    kernel = {call}\n    return kernel\n\n\nif __name__ == \"__main__\":\n    main()\n"
        if comment:
            out(comment)
        out(decorator)
        grid = ", ".join(self.grid)
        blocks = self.blocks[:len(self.grid)]
        blocks = blocks[0] if len(blocks) == 1 else f"({', '.join(blocks)})"
        if self.is_eager:
            names = [name for name, _, _ in self.tensors]
            out(f"def {self.kernel}({', '.join(names + signature)}):")
            out.depth = 1
            consts = [k for k in self.given if k not in {p for p, _ in params}]
            if consts:
                out(f"{', '.join(consts)} = T.const(\"{', '.join(consts)}\")")
            for line in self.derived:
                out(line)
            for name, shape, dtype in self.tensors:
                out(f"{name}: T.Tensor({shape}, {dtype})")
            with out.under(f"with T.Kernel({grid}, threads={self.threads}) as {blocks}:"):
                out(self.body.text())
        else:
            out(f"def {self.kernel}({', '.join(signature)}):")
            out.depth = 1
            for name in self.symbols:
                out(f"{name} = T.{r.choice(['dynamic', 'symbolic'])}(\"{name.lower()}\")")
            for line in self.derived:
                out(line)
            out("@T.prim_func")
            tensors = ", ".join(f"{name}: T.Tensor({shape}, {dtype})" for name, shape, dtype in self.tensors)
            with out.under(f"def main({tensors}):"):
                with out.under(f"with T.Kernel({grid}, threads={self.threads}) as {blocks}:"):
                    out(self.body.text())
            out("")
            out("return main")
        return out.text() + "\n" + launched


def sizes(r):
    return r.choice([(32, 32), (64, 64), (64, 64), (128, 64), (64, 128), (128, 128), (128, 128), (128, 256), (256, 128), (16, 64), (64, 32), (96, 64), (64, 96), (48, 48), (192, 64), (128, 24), (80, 80)])


def ceil(r, a, b):
    return r.choice([f"T.ceildiv({a}, {b})"] * 3 + [f"{a} // {b}", f"({a} + {b} - 1) // {b}", f"tilelang.cdiv({a}, {b})" if r.random() < .3 else f"T.ceildiv({a}, {b})"])


def region(r, name, at, extent):
    """Of rows and columns: by the place of its first element, or as slices."""
    if r.random() < .6:
        return f"{name}[{', '.join(at)}]"
    return f"{name}[{', '.join(f'{a} : {a} + {e}' for a, e in zip(at, extent))}]"


def epilogue(d, acc, to, bm, bn, at, dtype):
    """The result of a product to global memory."""
    r, b = d.r, d.body
    kind = r.choice(["plain", "plain", "staged", "staged", "staged_late", "cast", "parallel", "guarded", "atomic"])
    target = f"{to}[{', '.join(at)}]"
    if r.random() < .3:
        with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
            b(f"{acc}[i, j] = {r.choice([f'T.max({acc}[i, j], 0)', f'{acc}[i, j] * 0.5', f'T.if_then_else({acc}[i, j] > 0, {acc}[i, j], 0)'])}")
    if kind == "plain":
        b(f"T.copy({acc}, {target})")
    elif kind in ("staged", "staged_late"):
        out = d.shared("C_shared", f"({bm}, {bn})", dtype)
        if r.random() < .3:
            d.imports = ["from tilelang.layout import make_swizzled_layout"]
            b(f"T.annotate_layout({{{out}: make_swizzled_layout({out})}})")
        b(f"T.copy({acc}, {out})")
        b(f"T.copy({out}, {target})")
    elif kind == "cast":
        out = d.fragment("C_cast", f"({bm}, {bn})", dtype)
        b(f"T.copy({acc}, {out})")
        b(f"T.copy({out}, {target})")
    elif kind == "parallel":
        with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
            b(f"{to}[{at[0]} + i, {at[1]} + j] = {acc}[i, j]")
    elif kind == "guarded":
        with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
            with b.under(f"if {at[0]} + i < 1000:"):
                b(f"{to}[{at[0]} + i, {at[1]} + j] = {acc}[i, j]")
    else:
        out = d.shared("C_shared", f"({bm}, {bn})", dtype) if r.random() < .5 else acc
        if out != acc:
            b(f"T.copy({acc}, {out})")
            with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
                b(f"T.atomic_add({to}[{at[0]} + i, {at[1]} + j], {out}[i, j])")
        else:
            b(r.choice([f"T.atomic_add({target}, {acc})", f"for i, j in T.Parallel({bm}, {bn}):\n    T.atomic_add({to}[{at[0]} + i, {at[1]} + j], {acc}[i, j])"]))


# ---- one product ---------------------------------------------------------------------------------------------------------
def product(d):
    r, b = d.r, d.body
    vm, vn = sizes(r)
    ty = r.choice(["float16"] * 4 + ["bfloat16"] * 2 + ["float32", "int8", "float8_e4m3fn", "float8_e5m2"])
    vk = r.choice([16, 32, 32, 64, 64, 128] if BITS[ty] < 32 else [8, 16, 32])
    if BITS[ty] == 8:
        vk = r.choice([32, 64, 128])
    acc_ty = "int32" if ty == "int8" else "float32"
    M, N, K = (d.dim(name, value) for name, value in zip("MNK", r.choice([(1024, 1024, 1024), (512, 768, 256), (4096, 4096, 512), (1000, 1000, 1000), (256, 1004, 192), (64, 96, 24)])))
    words = r.choice([("block_M", "block_N", "block_K"), ("BM", "BN", "BK"), ("tile_m", "tile_n", "tile_k")])
    bm, bn, bk = d.size(words[0], vm), d.size(words[1], vn), d.size(words[2], vk)
    stages = d.size("num_stages", r.choice([0, 1, 2, 2, 3, 3, 4]))
    d.threads = d.size("threads", r.choice([128] * 4 + [256] * 3 + [64, 32, 384, 512]))
    ta, tb = r.random() < .25, r.random() < (.4 if BITS[ty] == 16 else .8)
    dt = d.dtype(ty)
    d.tensor("A", f"({K}, {M})" if ta else f"({M}, {K})", dt)
    d.tensor("B", f"({N}, {K})" if tb else f"({K}, {N})", dt)
    out_ty = d.dtype(r.choice([acc_ty, ty if BITS[ty] > 8 else acc_ty]))
    bias = r.random() < .2
    if bias:
        d.tensor("bias", f"({N},)", dt)
    d.tensor("C", f"({M}, {N})", out_ty)
    style = r.choice(["plain"] * 4 + ["splitk", "persistent", "guarded", "regs", "serial_outer", "wide"])
    if style == "persistent":
        d.grid = [str(r.choice([64, 108, 132]))]
    elif style == "splitk":
        d.grid = [ceil(r, N, bn), ceil(r, M, bm), d.size("split", r.choice([1, 2, 4]))]
    else:
        d.grid = [ceil(r, N, bn), ceil(r, M, bm)]
    a_shape, b_shape = (f"({bk}, {bm})" if ta else f"({bm}, {bk})"), (f"({bn}, {bk})" if tb else f"({bk}, {bn})")
    before = r.random() < .15
    if before:
        b("T.use_swizzle(panel_size=10)")
    d.shared("A_shared", a_shape, dt)
    d.shared("B_shared", b_shape, dt)
    if bias:
        d.shared("bias_shared", f"({bn},)", dt)
    d.fragment("C_local", f"({bm}, {bn})", f"T.{acc_ty}")
    if style == "regs":
        d.fragment("A_local", a_shape, dt)
    if r.random() < .12:
        d.imports = ["from tilelang.layout import make_swizzled_layout"]
        b("T.annotate_layout({A_shared: make_swizzled_layout(A_shared), B_shared: make_swizzled_layout(B_shared)})")
    if bias and r.random() < .5:
        b(f"T.copy(bias[bx * {bn}], bias_shared)" if style != "persistent" else "T.copy(bias[0], bias_shared)")
        bias_first = True
    else:
        bias_first = False
    y, x = "by", "bx"
    closes = []
    if style == "persistent":
        head = b.under(f"for w in {r.choice(['T.serial', 'range'])}({ceil(r, f'(T.ceildiv({M}, {bm}) * T.ceildiv({N}, {bn}))', '64')}):")
        head.__enter__()
        closes.append(head)
        b(f"tile_id = w * 64 + bx")
        b(f"y = tile_id // T.ceildiv({N}, {bn})")
        b(f"x = tile_id % T.ceildiv({N}, {bn})")
        y, x = "y", "x"
        if r.random() < .5:
            head = b.under(f"if y * {bm} < {M}:")
            head.__enter__()
            closes.append(head)
    elif style == "guarded":
        d.tensor("mask", f"(T.ceildiv({M}, {bm}),)", "T.int32")
        head = b.under(r.choice([f"if mask[{y}] > 0:", f"if {y} * {bm} < {M}:", f"if {x} + {y} > 0:"]))
        head.__enter__()
        closes.append(head)
    elif style == "serial_outer":
        head = b.under(f"for rep in {r.choice(['T.serial(2)', 'range(3)', 'T.unroll(2)', 'T.serial(1)'])}:")
        head.__enter__()
        closes.append(head)
    b(r.choice(["T.clear(C_local)", "T.fill(C_local, 0)"]))
    extent = ceil(r, K, bk)
    offset = "k"
    if style == "splitk":
        extent = f"T.ceildiv({K}, {bk} * {d.grid[2]})"
        offset = f"(bz * {extent} + k)"
    policy = r.choice(["", "", "", ", policy=T.GemmWarpPolicy.FullRow", ", policy=T.GemmWarpPolicy.FullCol", ", policy=T.GemmWarpPolicy.Square"])
    flags = (", transpose_A=True" if ta else "") + (", transpose_B=True" if tb else "") + policy
    if r.random() < .08:
        flags += ", clear_accum=(k == 0)"
    loop = d.pipelined(extent, stages)
    with b.under(f"for k in {loop}:"):
        a_at, b_at = ([f"{offset} * {bk}", f"{y} * {bm}"] if ta else [f"{y} * {bm}", f"{offset} * {bk}"]), ([f"{x} * {bn}", f"{offset} * {bk}"] if tb else [f"{offset} * {bk}", f"{x} * {bn}"])
        copy_a = f"T.copy({region(r, 'A', a_at, a_shape[1:-1].split(', '))}, A_shared)"
        if r.random() < .15:
            rows, cols = a_shape[1:-1].split(", ")
            value = f"A[{a_at[0]} + i, {a_at[1]} + j]"
            if r.random() < .5:
                value = f"T.if_then_else({a_at[0]} + i < 1000, {value}, 0)"
            copy_a = f"for i, j in T.Parallel({rows}, {cols}):\n    A_shared[i, j] = {value}"
        copies = [copy_a, f"T.copy({region(r, 'B', b_at, b_shape[1:-1].split(', '))}, B_shared)"]
        if r.random() < .2:
            copies.reverse()
        if r.random() < .08:
            which = r.randrange(2)
            copies[which] = f"if {x} + k > 0:\n" + "\n".join("    " + row for row in copies[which].split("\n"))
        for text in copies:
            b(text)
        left = "A_shared"
        if style == "regs":
            b("T.copy(A_shared, A_local)")
            if r.random() < .5:
                with b.under(f"for i, j in T.Parallel({a_shape[1:-1]}):"):
                    b("A_local[i, j] = A_local[i, j] * 2")
            left = "A_local"
        gemm = f"T.gemm({left}, B_shared, C_local{flags})"
        if r.random() < .06:
            d.helper(f"@T.macro\ndef step(x, y, z):\n    T.gemm(x, y, z{flags.replace(', clear_accum=(k == 0)', '')})")
            gemm = f"step({left}, B_shared, C_local)"
        if r.random() < .08:
            gemm = f"if k >= 0:\n    {gemm}" if r.random() < .5 else f"if k % 2 == 0:\n    {gemm}"
        b(gemm)
    if bias:
        if not bias_first:
            b(f"T.copy(bias[{x} * {bn}], bias_shared)")
        with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
            b("C_local[i, j] += bias_shared[j]")
    epilogue(d, "C_local", "C", bm, bn, [f"{y} * {bm}", f"{x} * {bn}"], out_ty)
    for head in reversed(closes):
        head.__exit__(None, None, None)


# ---- attention -----------------------------------------------------------------------------------------------------------
def attention(d):
    r, b = d.r, d.body
    ty = r.choice(["float16", "float16", "bfloat16"])
    dt = d.dtype(ty)
    B, H, S, D = d.dim("batch", r.choice([1, 2, 8])), d.dim("heads", r.choice([1, 4, 32])), d.dim("seq_len", r.choice([512, 1024, 4096])), d.size("dim", r.choice([32, 64, 64, 128, 128, 96, 256]))
    m, n = d.size("block_M", r.choice([32, 64, 64, 128])), d.size("block_N", r.choice([32, 64, 64, 128]))
    stages = d.size("num_stages", r.choice([0, 1, 1, 2, 2, 3]))
    d.threads = d.size("threads", r.choice([128, 128, 128, 256, 256, 64]))
    causal, _ = d.flag("is_causal")
    order = r.choice(["bhsd", "bshd"])
    shape = f"[{B}, {H}, {S}, {D}]" if order == "bhsd" else f"[{B}, {S}, {H}, {D}]"
    for name in ("Q", "K", "V"):
        d.tensor(name, shape, dt)
    d.tensor("Output", shape, dt)
    at = (lambda t, a, e: f"{t}[bz, by, {a} : {a} + {e}, :]") if order == "bhsd" else (lambda t, a, e: f"{t}[bz, {a} : {a} + {e}, by, :]")
    d.grid = [ceil(r, S, m), H, B]
    d.shared("Q_shared", f"[{m}, {D}]", dt)
    d.shared("K_shared", f"[{n}, {D}]", dt)
    d.shared("V_shared", f"[{n}, {D}]", dt)
    staged = r.random() < .6
    if staged:
        d.shared("O_shared", f"[{m}, {D}]", dt)
    d.fragment("acc_s", f"[{m}, {n}]")
    p_shared = r.random() < .3
    if p_shared:
        d.shared("P_shared", f"[{m}, {n}]", dt)
    else:
        d.fragment("acc_p", f"[{m}, {n}]", dt)
    d.fragment("acc_o", f"[{m}, {D}]")
    for name in ("m_i", "m_prev", "scale", "row", "l_i"):
        d.fragment(name, f"[{m}]")
    if r.random() < .2:
        d.imports = ["from tilelang.layout import make_swizzled_layout"]
        b("T.annotate_layout({Q_shared: make_swizzled_layout(Q_shared)})")
    b(f"T.copy({at('Q', f'bx * {m}', m)}, Q_shared)")
    b("T.fill(acc_o, 0)\nT.fill(l_i, 0)\nT.fill(m_i, -T.infinity(T.float32))")
    if r.random() < .2:
        with b.under(f"for i, j in T.Parallel({m}, {D}):"):
            b("Q_shared[i, j] *= 2")
    policy = r.choice(["", ", policy=T.GemmWarpPolicy.FullRow", ", policy=T.GemmWarpPolicy.FullRow"])
    b(f"last = T.ceildiv((bx + 1) * {m}, {n}) if {causal} else T.ceildiv({S}, {n})")
    with b.under(f"for t in {d.pipelined('last', stages)}:"):
        b(f"T.copy({at('K', f't * {n}', n)}, K_shared)")
        both_first = r.random() < .25
        if both_first:
            b(f"T.copy({at('V', f't * {n}', n)}, V_shared)")
        with b.under(f"if {causal}:"):
            with b.under(f"for i, j in T.Parallel({m}, {n}):"):
                b(f"acc_s[i, j] = T.if_then_else(bx * {m} + i >= t * {n} + j, 0, -T.infinity(acc_s.dtype))")
        with b.under("else:"):
            b("T.clear(acc_s)")
        b(f"T.gemm(Q_shared, K_shared, acc_s, transpose_B=True{policy})")
        b("T.copy(m_i, m_prev)")
        b(r.choice(["T.reduce_max(acc_s, m_i, dim=1, clear=False)", "T.fill(m_i, -T.infinity(T.float32))\nT.reduce_max(acc_s, m_i, dim=1, clear=True)"]))
        with b.under(f"for i in T.Parallel({m}):"):
            b("scale[i] = T.exp2(m_prev[i] - m_i[i])")
        with b.under(f"for i, j in T.Parallel({m}, {n}):"):
            b("acc_s[i, j] = T.exp2(acc_s[i, j] - m_i[i])")
        b("T.reduce_sum(acc_s, row, dim=1)")
        with b.under(f"for i in T.Parallel({m}):"):
            b("l_i[i] = l_i[i] * scale[i] + row[i]")
        b("T.copy(acc_s, P_shared)" if p_shared else "T.copy(acc_s, acc_p)")
        with b.under(f"for i, j in T.Parallel({m}, {D}):"):
            b("acc_o[i, j] *= scale[i]")
        if not both_first:
            b(f"T.copy({at('V', f't * {n}', n)}, V_shared)")
        b(f"T.gemm({'P_shared' if p_shared else 'acc_p'}, V_shared, acc_o{policy})")
    with b.under(f"for i, j in T.Parallel({m}, {D}):"):
        b("acc_o[i, j] /= l_i[i]")
    if staged:
        b(f"T.copy(acc_o, O_shared)\nT.copy(O_shared, {at('Output', f'bx * {m}', m)})")
    else:
        b(f"T.copy(acc_o, {at('Output', f'bx * {m}', m)})")


# ---- rows and reductions -------------------------------------------------------------------------------------------------
def rows(d):
    r, b = d.r, d.body
    ty = r.choice(["float16", "float32", "float32", "bfloat16"])
    dt = d.dtype(ty)
    M, N = d.dim("M", r.choice([512, 1024, 1000])), d.dim("N", r.choice([512, 1024, 4096, 768, 1000]))
    bm, bn = d.size("blk_m", r.choice([1, 1, 2, 4, 8, 16, 32, 64, 128])), d.size("blk_n", r.choice([32, 64, 128, 256, 512, 1024, 48, 96, 16]))
    d.threads = d.size("threads", r.choice([32, 64, 128, 128, 128, 256, 256, 512, 1024]))
    d.tensor("X", f"({M}, {N})", dt)
    axis = r.choice([1, 1, 1, 0])
    d.tensor("Y", f"({M}, {N})", dt)
    d.tensor("S", f"({M},)" if axis else f"({N},)", "T.float32")
    d.grid = [ceil(r, M, bm)] if r.random() < .6 else [ceil(r, M, bm), ceil(r, N, bn)]
    x0 = "by * " + bn if len(d.grid) == 2 else "0"
    through = r.choice(["both", "both", "shared", "fragment", "fragment"])
    if through != "fragment":
        d.shared("xs", f"({bm}, {bn})", dt)
    d.fragment("x", f"({bm}, {bn})", r.choice(["T.float32", "T.float32", dt]))
    length = bm if axis else bn
    d.fragment("s", f"({length},)")
    d.fragment("t", f"({length},)")
    op = r.choice(["reduce_sum", "reduce_max", "reduce_min", "reduce_absmax", "reduce_abssum", "reduce_sum"])
    body = Lines(0)

    def load(at):
        if through == "both":
            return f"T.copy(X[bx * {bm}, {at}], xs)\nT.copy(xs, x)"
        if through == "shared":
            return f"T.copy(X[bx * {bm}, {at}], xs)\nfor i, j in T.Parallel({bm}, {bn}):\n    x[i, j] = xs[i, j] * 2"
        return r.choice([f"T.copy(X[bx * {bm}, {at}], x)", f"for i, j in T.Parallel({bm}, {bn}):\n    x[i, j] = X[bx * {bm} + i, {at} + j]"])
    looped = r.random() < .5
    b("T.clear(t)")
    if looped:
        loop = r.choice([d.pipelined(f"T.ceildiv({N}, {bn})", r.choice([0, 1, 2, 3])), f"T.serial(T.ceildiv({N}, {bn}))", f"range(T.ceildiv({N}, {bn}))"])
        with b.under(f"for k in {loop}:"):
            b(load(f"k * {bn}"))
            b(f"T.{op}(x, s, dim={axis if r.random() < .8 else axis - 2})")
            with b.under(f"for i in T.Parallel({length}):"):
                b("t[i] += s[i]")
    else:
        b(load(x0))
        if r.random() < .4:
            with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
                b("x[i, j] = x[i, j] * x[i, j]")
        b(f"T.{op}(x, t, dim={axis}{r.choice(['', '', ', clear=False' if op == 'reduce_max' else ''])})")
    extra = r.random()
    if extra < .2:
        d.fragment("one", "(1,)")
        b("T.reduce_max(t, one, dim=0)")
        with b.under(f"for i in T.Parallel({length}):"):
            b("t[i] = t[i] / one[0]")
    elif extra < .35:
        b(f"T.cumsum(x, dim={r.choice([0, 1])}{r.choice(['', ', reverse=True'])})")
    elif extra < .45 and through != "fragment":
        b(f"T.cumsum(xs, dim={r.choice([0, 1])})")
    if axis:
        if not looped and r.random() < .7:
            with b.under(f"for i, j in T.Parallel({bm}, {bn}):"):
                b("x[i, j] = x[i, j] / t[i]")
            if r.random() < .4:
                d.shared("ys", f"({bm}, {bn})", dt)
                b(f"T.copy(x, ys)\nT.copy(ys, Y[bx * {bm}, {x0}])")
            else:
                b(f"T.copy(x, Y[bx * {bm}, {x0}])")
        b(f"T.copy(t, S[bx * {bm}])" if r.random() < .7 else f"for i in T.Parallel({bm}):\n    S[bx * {bm} + i] = t[i]")
    else:
        b(f"T.copy(t, S[{x0}])" if r.random() < .5 else f"for i in T.Parallel({bn}):\n    T.atomic_add(S[{x0} + i], t[i])")


# ---- two products --------------------------------------------------------------------------------------------------------
def chain(d):
    """Two loops of products with what is between them."""
    r, b = d.r, d.body
    ty = r.choice(["float16", "float16", "bfloat16"])
    dt = d.dtype(ty)
    v = r.choice([32, 64, 64, 128])
    vn = r.choice([64, 128, 256])
    M, K, N = d.dim("M", 1024), d.dim("K", r.choice([256, 512])), d.size("N", vn)
    m, k = d.size("bm", v), d.size("bk", r.choice([32, 64]))
    s1, s2 = d.size("stages", r.choice([0, 1, 2, 2, 3])), str(r.choice([0, 1, 2, 3]))
    if r.random() < .6:
        s2 = s1
    d.threads = d.size("threads", r.choice([128, 128, 256]))
    d.tensor("A", f"({M}, {K})", dt)
    d.tensor("B", f"({K}, {N})", dt)
    d.tensor("D", f"({N}, {K})", dt)
    d.tensor("E", f"({M}, {K})", dt)
    d.grid = [ceil(r, M, m)]
    reuse = r.random() < .15
    d.shared("a", f"({m}, {k})", dt)
    d.shared("w1", f"({k}, {N})", dt)
    if not reuse:
        d.shared("w2", f"({N}, {k})", dt)
    d.shared("mid", f"({m}, {N})", dt)
    d.fragment("c1", f"({m}, {N})")
    d.fragment("c2", f"({m}, {k})")
    late = r.random() < .4
    if not late:
        d.shared("out", f"({m}, {k})", dt)
    b("T.clear(c1)")
    with b.under(f"for i0 in {d.pipelined(ceil(r, K, k), s1)}:"):
        b(f"T.copy(A[bx * {m}, i0 * {k}], a)\nT.copy(B[i0 * {k}, 0], w1)\nT.gemm(a, w1, c1)")
    if r.random() < .4:
        with b.under(f"for i, j in T.Parallel({m}, {N}):"):
            b("c1[i, j] = c1[i, j] / (1 + T.exp(-c1[i, j]))")
    b("T.copy(c1, mid)")
    kind = r.choice(["pipelined"] * 3 + ["serial", "guarded", "nested"])
    if late:
        d.shared("out", f"({m}, {k})", dt)
    if reuse:
        b("w2 = w1" if False else "")
    loop = d.pipelined(f"T.ceildiv({K}, {k})", s2) if kind != "serial" else f"T.serial(T.ceildiv({K}, {k}))"
    heads = []
    if kind == "guarded":
        heads.append(b.under("if bx > 0:"))
    if kind == "nested":
        heads.append(b.under("for rep in T.serial(2):"))
    for head in heads:
        head.__enter__()
    source = "w2"
    with b.under(f"for k0 in {loop}:"):
        if reuse:
            b(f"T.copy(B[0, 0], w1)\nT.gemm(a, w1, c1)\nT.copy(c1, E[bx * {m}, 0])")
        else:
            b(f"T.copy(D[0, k0 * {k}], {source})")
            if r.random() < .5:
                b("T.clear(c2)")
                b(f"T.gemm(mid, {source}, c2)")
            else:
                b(f"T.gemm(mid, {source}, c2, clear_accum=True)")
            b(r.choice([f"T.copy(c2, out)\nT.copy(out, E[bx * {m}, k0 * {k}])", f"T.copy(c2, E[bx * {m}, k0 * {k}])"]))
    for head in reversed(heads):
        head.__exit__(None, None, None)


# ---- weights of few bits -------------------------------------------------------------------------------------------------
def dequantised(d):
    r, b = d.r, d.body
    dt = d.dtype(r.choice(["float16", "bfloat16"]))
    M, N, K = d.dim("M", r.choice([128, 1024])), d.dim("N", 1024), d.dim("K", r.choice([512, 1024]))
    m, n, k = d.size("block_M", r.choice([16, 64, 64, 128])), d.size("block_N", r.choice([64, 128])), d.size("block_K", r.choice([32, 64, 128]))
    stages = d.size("num_stages", r.choice([0, 1, 2, 2, 3]))
    d.threads = d.size("threads", r.choice([128, 128, 256]))
    d.tensor("A", f"({M}, {K})", dt)
    d.tensor("W", f"({N}, {K} // 2)", "T.uint8")
    scaled = r.random() < .5
    if scaled:
        d.tensor("scales", f"({N}, {K} // 32)", dt)
    d.tensor("C", f"({M}, {N})", "T.float32")
    d.grid = [ceil(r, N, n), ceil(r, M, m)]
    d.shared("A_shared", f"({m}, {k})", dt)
    d.shared("W_shared", f"({n}, {k} // 2)", "T.uint8")
    where = r.choice(["shared", "shared_via_regs", "regs"])
    d.fragment("W_local", f"({n}, {k} // 2)", "T.uint8")
    d.fragment("W_wide", f"({n}, {k})", dt)
    if where != "regs":
        d.shared("W_deq", f"({n}, {k})", dt)
    if scaled and r.random() < .5:
        d.shared("scale_shared", f"({n}, {k} // 32)", dt)
        in_shared = True
    else:
        in_shared = False
    d.fragment("acc", f"({m}, {n})")
    cast = r.choice(["helper", "inline", "macro"]) if where != "shared" else "inline"
    unpack = lambda source: f"T.cast(({source} >> T.cast((j % 2) * 4, T.uint8)) & T.cast(15, T.uint8), {dt})"
    if cast == "helper":
        d.helper("def nibble(byte, pos, ty):\n    return T.cast((byte >> T.cast(pos * 4, T.uint8)) & T.cast(15, T.uint8), ty)")
        unpack = lambda source: f"nibble({source}, j % 2, {dt})"
    b("T.clear(acc)")
    scale = ""
    if scaled:
        scale = f" * scale_shared[i, j // 32]" if in_shared else f" * scales[bx * {n} + i, (k0 * {k} + j) // 32]"
    with b.under(f"for k0 in {d.pipelined(ceil(r, K, k), stages)}:"):
        b(f"T.copy(A[by * {m}, k0 * {k}], A_shared)")
        b(f"T.copy(W[bx * {n}, k0 * {k} // 2], W_shared)")
        if in_shared:
            b(f"T.copy(scales[bx * {n}, k0 * {k} // 32], scale_shared)")
        if where == "shared":
            with b.under(f"for i, j in T.Parallel({n}, {k}):"):
                b(f"W_deq[i, j] = {unpack('W_shared[i, j // 2]')}{scale}")
        else:
            b("T.copy(W_shared, W_local)")
            with b.under(f"for i, j in T.Parallel({n}, {k}):"):
                b(f"W_wide[i, j] = {unpack('W_local[i, j // 2]')}{scale}")
            if where == "shared_via_regs":
                b("T.copy(W_wide, W_deq)")
        if where == "regs":
            b("T.gemm(A_shared, W_wide, acc, transpose_B=True)" if r.random() < .5 else "T.gemm(W_wide, A_shared, acc_t, transpose_B=True)")
        else:
            b("T.gemm(A_shared, W_deq, acc, transpose_B=True)")
    if "acc_t" in b.text():
        b.rows = [row.replace("acc_t", "acc") for row in b.rows]
        b.rows = [row.replace(f"acc = T.alloc_fragment(({m}, {n})", f"acc = T.alloc_fragment(({n}, {m})") for row in b.rows]
        b(f"for i, j in T.Parallel({n}, {m}):\n    C[by * {m} + j, bx * {n} + i] = acc[i, j]")
    else:
        b(f"T.copy(acc, C[by * {m}, bx * {n}])")


# ---- no pattern ----------------------------------------------------------------------------------------------------------
class Free:
    """Buffers and statements at random: lives, loops, branches."""

    def __init__(self, d):
        self.d, self.r, self.b = d, d.r, d.body
        self.rows, self.columns = d.r.choice([(32, 32), (64, 64), (64, 32), (128, 64), (16, 64), (64, 128), (32, 24)])
        self.ty = d.r.choice(["float16", "float16", "float32", "bfloat16", "int8"])
        self.dt = d.dtype(self.ty)
        self.filled, self.fragments, self.depth, self.loops = [], [], 0, []
        self.pipelined_depth = 0

    def place(self):
        return self.r.choice([f"bx * {self.rows}, by * {self.columns}"] + [f"({v} % 4) * {self.rows}, by * {self.columns}" for v in self.loops] * 2 + ["0, 0"])

    def allocate(self):
        r = self.r
        name = self.d.new(r.choice(["s", "buf", "tile_", "x"]))
        shape = r.choice([(self.rows, self.columns)] * 6 + [(self.rows * 2, self.columns), (self.rows, self.columns * 2)])
        self.d.shared(name, f"({shape[0]}, {shape[1]})", self.dt)
        return name, shape

    def any(self):
        return self.r.choice(self.filled)

    def fill(self):
        r, b = self.r, self.b
        (name, (m, n)) = self.allocate() if r.random() < .7 or not self.filled else self.any()
        how = r.choice(["copy"] * 5 + ["clear", "compute", "compute", "parallel_copy", "fragment"])
        if how == "copy":
            b(f"T.copy({r.choice('XZ')}[{self.place()}], {name})")
        elif how == "clear" or not self.filled and how == "compute":
            b(f"T.{r.choice(['clear(' + name + ')', 'fill(' + name + ', 1)'])}")
        elif how == "parallel_copy":
            at = self.place().split(", ")
            b(f"for i, j in T.Parallel({m}, {n}):\n    {name}[i, j] = X[{at[0]} + i, {at[1]} + j]{r.choice(['', '', ' + 1'])}")
        elif how == "fragment" and self.fragments:
            f = r.choice(self.fragments)
            b(f"for i, j in T.Parallel({self.rows}, {self.columns}):\n    {name}[i, j] = {f}[i, j]")
        elif self.filled:
            other, (om, on) = self.any()
            value = f"{other}[i % {om}, ({on} - 1 - j) % {on}]"
            if r.random() < .4:
                another, (am, an) = self.any()
                value += f" + {another}[i % {am}, j % {an}]"
            b(f"for i, j in T.Parallel({m}, {n}):\n    {name}[i, j] = {value}")
        else:
            b(f"T.clear({name})")
        if (name, (m, n)) not in self.filled:
            self.filled.append((name, (m, n)))

    def use(self):
        if not self.filled:
            return self.fill()
        r, b = self.r, self.b
        name, (m, n) = self.any()
        how = r.choice(["store", "store", "parallel", "regs", "accumulate", "atomic", "scalar"])
        if how == "store":
            b(f"T.copy({name}, Y[{self.place()}])")
        elif how == "parallel":
            b(f"for i, j in T.Parallel({m}, {n}):\n    Y[i, j] = {name}[i, {n} - 1 - j]")
        elif how == "atomic":
            b(f"for i, j in T.Parallel({m}, {n}):\n    T.atomic_add(F[i, j], T.cast({name}[i, j], T.float32))")
        elif how == "scalar":
            b(f"for i in T.serial({r.choice([1, 2, 4])}):\n    Y[i, 0] = {name}[i, 1]")
        else:
            if self.fragments and how == "accumulate":
                f = r.choice(self.fragments)
                b(f"for i, j in T.Parallel({self.rows}, {self.columns}):\n    {f}[i, j] += {name}[i, j]")
            else:
                f = self.d.new("f")
                self.d.fragment(f, f"({self.rows}, {self.columns})", "T.float32")
                self.fragments.append(f)
                b(f"for i, j in T.Parallel({self.rows}, {self.columns}):\n    {f}[i, j] = {name}[i, j]")

    def scoped(self, head, statements):
        filled, fragments = list(self.filled), list(self.fragments)
        self.depth += 1
        with self.b.under(head):
            for _ in range(statements):
                self.statement()
        self.depth -= 1
        self.filled, self.fragments = filled, fragments

    def statement(self):
        r = self.r
        kinds = ["fill"] * 3 + ["use"] * 4
        if self.depth < 3:
            kinds += ["loop", "loop", "if", "if_else"]
        kind = r.choice(kinds)
        if kind in ("fill", "use"):
            return getattr(self, kind)()
        if kind == "loop":
            v = self.d.new("k")
            head = r.choice([f"T.serial({r.choice([1, 2, 4])})", f"range({r.choice([2, 4])})", f"T.unroll({r.choice([2, 3])})"])
            if self.pipelined_depth == 0 and r.random() < .55:
                head = self.d.pipelined(r.choice([2, 4, 8, 16]), r.choice([0, 1, 2, 2, 3, 4]))
                self.pipelined_depth += 1
            was = self.pipelined_depth
            self.loops.append(v)
            self.scoped(f"for {v} in {head}:", r.randint(1, 5))
            self.loops.pop()
            if "Pipelined" in head:
                self.pipelined_depth = was - 1
            return
        condition = r.choice(["bx > 0", "bx + by < 4", "flag[bx] > 0"] + [f"{v} % 2 == 0" for v in self.loops] * 2 + [f"{v} < 1" for v in self.loops])
        self.scoped(f"if {condition}:", r.randint(1, 3))
        if kind == "if_else":
            self.scoped("else:", r.randint(1, 3))


def free(d):
    f = Free(d)
    d.threads = d.size("threads", d.r.choice([128, 128, 128, 256, 64]))
    d.is_eager = False
    for name in "XZY":
        d.tensor(name, f"({f.rows * 8}, {f.columns * 8})", f.dt)
    d.tensor("F", f"({f.rows * 8}, {f.columns * 8})", "T.float32")
    d.tensor("flag", "(8,)", "T.int32")
    d.grid = ["4", "4"]
    for _ in range(d.r.randint(3, 9)):
        f.statement()
    f.use()


# ---- pipelines whose order is written ------------------------------------------------------------------------------------
def staged(d):
    """A pipelined loop with many statements: products, copies used late, index buffers, written orders."""
    r, b = d.r, d.body
    dt = d.dtype(r.choice(["float16", "bfloat16"]))
    n = r.choice([32, 64, 64, 128])
    size = d.size("block", n)
    stages = d.size("num_stages", r.choice([1, 2, 2, 3, 3, 4]))
    d.threads = d.size("threads", r.choice([128, 128, 256]))
    L = d.dim("L", r.choice([512, 1024]))
    count = r.randint(2, 4)
    for i in range(count):
        d.tensor(f"X{i}", f"({L}, {L})", dt)
    d.tensor("idx", f"({L},)", "T.int32")
    d.tensor("V", f"({L},)", "T.float32")
    d.tensor("Y", f"({L}, {L})", dt)
    d.grid = [ceil(r, L, size), ceil(r, L, size)]
    for i in range(count):
        d.shared(f"s{i}", f"({size}, {size})", dt)
    d.shared("mix", f"({size}, {size})", dt)
    d.shared("v", f"({size},)", "T.float32")
    d.fragment("acc", f"({size}, {size})")
    d.fragment("acc2", f"({size}, {size})")
    d.fragment("rowmax", f"({size},)")
    indexed = r.random() < .25
    if indexed:
        d.shared("at", f"({size},)", "T.int32")
    b("T.clear(acc)\nT.clear(acc2)")
    statements = []
    loaded = []
    for i in range(count):
        copy = f"T.copy(X{i}[bx * {size}, k * {size}], s{i})"
        if indexed and i == 0:
            copy = f"for i, j in T.Parallel({size}, {size}):\n    s0[i, j] = X0[at[i], k * {size} + j]"
            statements.append(f"T.copy(idx[k * {size}], at)")
        statements.append(copy)
        loaded.append(f"s{i}")
        kind = r.choice(["gemm", "gemm", "none", "mix", "vector", "reduce"])
        if kind == "gemm" and len(loaded) > 1:
            x, y = r.sample(loaded, 2)
            statements.append(f"T.gemm({x}, {y}, {r.choice(['acc', 'acc2'])}{r.choice(['', ', transpose_B=True'])})")
        elif kind == "mix":
            statements.append(f"for i, j in T.Parallel({size}, {size}):\n    mix[i, j] = {r.choice(loaded)}[i, j] * 2")
            statements.append(f"T.gemm(mix, {r.choice(loaded)}, acc)")
        elif kind == "vector":
            statements.append(f"T.copy(V[k * {size}], v)")
            statements.append(f"for i, j in T.Parallel({size}, {size}):\n    acc[i, j] *= v[j]")
        elif kind == "reduce":
            statements.append(f"T.reduce_max(acc, rowmax, dim=1)")
            statements.append(f"for i, j in T.Parallel({size}, {size}):\n    acc[i, j] -= rowmax[i]")
    x, y = r.choice(loaded), loaded[-1]
    statements.append(f"T.gemm({x}, {y}, acc)")
    if r.random() < .2:
        statements.append(f"T.copy(acc, Y[bx * {size}, k * {size}])")
    outer = r.random() < .25
    heads = [b.under(f"for o in {r.choice(['T.serial(2)', 'range(4)'])}:")] if outer else []
    for head in heads:
        head.__enter__()
    written = ""
    if r.random() < .2:
        copies = [i for i, s in enumerate(statements) if s.startswith("T.copy(X") or s.startswith("T.copy(V")]
        order = copies + [i for i in range(len(statements)) if i not in copies]
        place = {s: i for i, s in enumerate(order)}
        written = f", order={[place[i] for i in range(len(statements))]}, stage={[0 if i in copies else 1 for i in range(len(statements))]}"
    with b.under(f"for k in T.Pipelined(T.ceildiv({L}, {size}), num_stages={stages}{written}):"):
        for text in statements:
            b(text)
    for head in reversed(heads):
        head.__exit__(None, None, None)
    if r.random() < .3:
        with b.under(f"for k in {d.pipelined(f'T.ceildiv({L}, {size})', stages)}:"):
            b(f"T.copy(X1[bx * {size}, k * {size}], s1)\nT.gemm(s1, mix, acc2)")
    b(f"for i, j in T.Parallel({size}, {size}):\n    acc[i, j] += acc2[i, j]")
    epilogue(d, "acc", "Y", size, size, [f"bx * {size}", f"by * {size}"], dt)


# ---- lists, macros, views, host code -------------------------------------------------------------------------------------
def composed(d):
    """How buffers get into a kernel: lists, helpers, macros with their own buffers, reshapes, views, Python's branches and loops."""
    r, b = d.r, d.body
    d.is_eager = False
    dt = d.dtype(r.choice(["float16", "float32", "bfloat16"]))
    M = d.dim("M", 1024)
    n = d.size("n", r.choice([32, 64, 128]))
    d.threads = d.size("threads", r.choice([64, 128, 256]))
    d.tensor("X", f"({M}, {n} * 4)", dt)
    d.tensor("Y", f"({M}, {n} * 4)", dt)
    d.grid = [ceil(r, M, n)]
    count = r.randint(1, 3)
    kinds = r.sample(["list", "macro", "reshape", "pick", "plain", "loop_local", "closure", "dead", "view"], count)
    for kind in kinds:
        u = d.new("_")
        if kind == "list":
            k = d.size("copies", r.choice([1, 2, 3]))
            b(f"bufs{u} = [T.alloc_shared(({n}, {n}), {dt}) for _ in range({k})]")
            b(r.choice([f"T.copy(X[bx * {n}, 0], bufs{u}[0])\nT.copy(bufs{u}[0], Y[bx * {n}, 0])",
                        f"for q{u} in T.unroll({k}):\n    T.copy(X[bx * {n}, q{u} * {n}], bufs{u}[0])\n    T.copy(bufs{u}[0], Y[bx * {n}, 0])"]))
        elif kind == "macro":
            d.helper(f"@T.macro\ndef through(src, dst, row, size, ty):\n    stage = T.alloc_shared((size, size), ty)\n    T.copy(src[row, 0], stage)\n    T.copy(stage, dst[row, 0])")
            for _ in range(r.randint(1, 2)):
                b(f"through(X, Y, bx * {n}, {n}, {dt})")
        elif kind == "reshape":
            b(f"r{u} = T.alloc_shared(({n}, {n}), {dt})\nflat{u} = T.{r.choice(['reshape', 'view'])}(r{u}, ({n} * {n},))\nT.copy(X[bx * {n}, 0], r{u})\nfor i in T.Parallel({n}):\n    Y[bx * {n} + i, 0] = flat{u}[i]")
        elif kind == "view":
            b(f"v{u} = T.alloc_shared(({n}, {n}), {dt})\nT.copy(X[bx * {n}, 0], v{u})\nw{u} = T.view(v{u}, ({n} // 2, {n} * 2), dtype={dt})\nT.copy(w{u}, Y[bx * {n}, 0])")
        elif kind == "pick":
            d.flag("wide")
            b(f"p{u} = T.alloc_shared(({n}, {n} * 2 if wide else {n}), {dt})\nT.copy(X[bx * {n}, 0], p{u})")
            with b.under("if wide:"):
                b(f"T.copy(p{u}, Y[bx * {n}, {n}])")
            with b.under("else:"):
                b(f"T.copy(p{u}, Y[bx * {n}, 0])")
        elif kind == "plain":
            d.shared(f"a{u}", f"({n}, {n})", dt)
            b(f"T.copy(X[bx * {n}, 0], a{u})\nT.copy(a{u}, Y[bx * {n}, 0])")
        elif kind == "loop_local":
            with b.under(f"for q{u} in {r.choice(['T.serial(4)', 'range(4)', 'T.Pipelined(4, num_stages=2)', 'T.unroll(4)'])}:"):
                b(f"z{u} = T.alloc_shared(({n}, {n}), {dt})\nT.copy(X[bx * {n}, q{u} * {n}], z{u})\nT.copy(z{u}, Y[bx * {n}, q{u} * {n}])")
        elif kind == "closure":
            d.derived.append(f"def shape{u}(extra):\n    return [{n} + extra, {n}]")
            b(f"c{u} = T.alloc_shared(shape{u}({r.choice([0, 8, 16])}), {dt})\nT.copy(X[bx * {n}, 0], c{u}[0:{n}, 0:{n}])\nT.copy(c{u}[0:{n}, 0:{n}], Y[bx * {n}, 0])")
        else:
            b(f"unused{u} = T.alloc_shared(({n}, {n}), {dt})")
    if not any(k != "dead" for k in kinds):
        b(f"one = T.alloc_shared(({n}, {n}), {dt})\nT.copy(X[bx * {n}, 0], one)\nT.copy(one, Y[bx * {n}, 0])")


# ---- roles by hand -------------------------------------------------------------------------------------------------------
def roles(d):
    """Branches by the thread's index with barriers, for sm_90 and later."""
    r, b = d.r, d.body
    d.is_eager = False
    dt = d.dtype(r.choice(["float16", "bfloat16"]))
    m, n, k = d.size("bm", r.choice([64, 128])), d.size("bn", r.choice([64, 128, 256])), d.size("bk", r.choice([32, 64]))
    slots = d.size("slots", r.choice([1, 2, 3, 4]))
    M, N, K = d.dim("M", 1024), d.dim("N", 1024), d.dim("K", 1024)
    groups = r.choice([1, 1, 2])
    d.threads = str(128 * (groups + 1))
    d.tensor("A", f"({M}, {K})", dt)
    d.tensor("B", f"({K}, {N})", dt)
    d.tensor("C", f"({M}, {N})", dt)
    d.grid = [f"{N} // {n}", f"{M} // {m}"]
    b(f"a = T.alloc_shared(({slots}, {m}, {k}), {dt})\nb = T.alloc_shared(({slots}, {k}, {n}), {dt})\nc = T.alloc_fragment(({m}, {n}), T.float32)")
    staged_out = r.random() < .5
    if staged_out:
        d.shared("out", f"({m}, {n})", dt)
    reduces = r.random() < .4
    if reduces:
        b(f"top = T.alloc_fragment(({m},), T.float32)")
    b(f"full = T.alloc_barrier([128] * {slots})\nempty = T.alloc_barrier([{128 * groups}] * {slots})\ntx = T.get_thread_binding()")
    producer_first = r.random() < .5
    # The compiler wants to know which threads a branch has.
    first = f"tx < {128 if producer_first else 128 * groups}"

    def produce():
        if r.random() < .3:
            b("T.set_max_nreg(24, 0)")
        with b.under(f"for k in T.serial({K} // {k}):"):
            b(f"T.mbarrier_wait_parity(empty[k % {slots}], ((k // {slots}) & 1) ^ 1)")
            b(f"T.{copy}(A[by * {m} : (by + 1) * {m}, k * {k} : (k + 1) * {k}], a[k % {slots}, :, :]{bar})")
            b(f"T.{copy}(B[k * {k} : (k + 1) * {k}, bx * {n} : (bx + 1) * {n}], b[k % {slots}, :, :]{bar})")
            b(f"T.mbarrier_arrive(full[k % {slots}])")

    def consume():
        b("T.clear(c)")
        with b.under(f"for k in T.serial({K} // {k}):"):
            b(f"T.mbarrier_wait_parity(full[k % {slots}], (k // {slots}) & 1)")
            b(f"T.gemm(a[k % {slots}, :, :], b[k % {slots}, :, :], c)")
            if reduces:
                b("T.reduce_max(c, top, dim=1)")
            b(f"T.mbarrier_arrive(empty[k % {slots}])")
        if staged_out:
            b(f"T.copy(c, out)\nT.copy(out, C[by * {m}, bx * {n}])")
        else:
            b(f"T.copy(c, C[by * {m}, bx * {n}])")
    copy = r.choice(["tma_copy", "tma_copy", "copy"])
    bar = f", barrier=full[k % {slots}]" if copy == "tma_copy" else ""
    parts = [produce, consume] if producer_first else [consume, produce]
    with b.under(f"if {first}:"):
        parts[0]()
    with b.under(r.choice(["else:"] * 3 + [f"elif tx < {d.threads}:"])):
        parts[1]()
    d.targets = ["sm_90", "sm_100"]


def tensor_memory(d):
    r, b = d.r, d.body
    d.is_eager = False
    dt = d.dtype("bfloat16")
    m, n, k = d.size("bm", r.choice([64, 128, 128])), d.size("bn", r.choice([32, 64, 128, 256, 16])), d.size("bk", r.choice([32, 64, 128]))
    stages = d.size("stages", r.choice([0, 1, 2, 3, 4]))
    d.threads = d.size("threads", r.choice([128, 128, 256]))
    M, N, K = d.dim("M", 1024), d.dim("N", 1024), d.dim("K", 512)
    d.tensor("A", f"({M}, {K})", dt)
    d.tensor("B", f"({N}, {K})", dt)
    d.tensor("C", f"({M}, {N})", "T.float32")
    d.grid = [ceil(r, N, n), ceil(r, M, m)]
    count = r.choice([1, 1, 1, 2])
    b(f"a = T.alloc_shared(({m}, {k}), {dt})\nb = T.alloc_shared(({n}, {k}), {dt})")
    for i in range(count):
        b(f"acc{i} = T.alloc_tmem([{m}, {n}], T.float32)\ndone{i} = T.alloc_barrier(1)")
    b(f"reg = T.alloc_fragment(({m}, {n}), T.float32)")
    loop = d.pipelined(ceil(r, K, k), stages)
    with b.under(f"for k in {loop}:"):
        b(f"T.copy(A[by * {m}, k * {k}], a)\nT.copy(B[bx * {n}, k * {k}], b)")
        for i in range(count):
            b(f"T.tcgen05_gemm(a, b, acc{i}, transpose_B=True, mbar=done{i}, clear_accum=(k == 0))")
            b(f"T.mbarrier_wait_parity(done{i}, k % 2)")
    for i in range(count):
        b(f"T.copy(acc{i}, reg)")
    if r.random() < .5:
        d.shared("out", f"({m}, {n})", "T.float32")
        b(f"T.copy(reg, out)\nT.copy(out, C[by * {m}, bx * {n}])")
    else:
        b(f"T.copy(reg, C[by * {m}, bx * {n}])")
    d.targets = ["sm_100", "sm_90"]


FAMILIES = {"product": (product, 4), "attention": (attention, 1), "rows": (rows, 5), "chain": (chain, 2), "dequantised": (dequantised, 2), "free": (free, 6), "staged": (staged, 3),
            "composed": (composed, 2), "roles": (roles, 1), "tensor_memory": (tensor_memory, 1)}


def options(d):
    """What a few authors tell the passes."""
    r = d.r
    key = "tilelang.PassConfigKey."
    if r.random() < .07:
        d.configs.append(key + r.choice(["TL_DISABLE_WARP_SPECIALIZED: True", "TL_DISABLE_TMA_LOWER: True", "TL_ENABLE_FAST_MATH: True", "TL_DISABLE_SHARED_MEMORY_REUSE: True", "TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE: True"]))


def written(seed, number, families=None):
    r = random.Random(f"tilelang {seed} {number}")
    names = [name for name, (_, weight) in FAMILIES.items() for _ in range(weight) if not families or name in families]
    d = Draft(r, r.choice(names))
    FAMILIES[d.family][0](d)
    options(d)
    return d


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("-n", type=int, default=100)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--seed", default="1")
    ap.add_argument("--family", nargs="*", choices=sorted(FAMILIES))
    ap.add_argument("--targets", type=int, default=5, help="devices for each kernel")
    args = ap.parse_args()
    os.makedirs(args.out, exist_ok=True)
    for number in range(args.first, args.first + args.n):
        d = written(args.seed, number, args.family)
        stem = f"{d.family}_{args.seed}_{number}"
        with open(os.path.join(args.out, stem + ".py"), "w") as out:
            out.write(d.render())
        targets = sorted(d.r.sample(d.targets, min(args.targets, len(d.targets))))
        record = dict(file=stem + ".py", kernel=d.kernel, family=d.family, cases=[dict(target=target, constexprs=d.given) for target in targets])
        with open(os.path.join(args.out, stem + ".json"), "w") as out:
            json.dump(record, out, indent=1)


if __name__ == "__main__":
    main()
