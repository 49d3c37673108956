"""Asks Triton of which element type a result is, where numbers are named, written down, annotated or passed on: element_types.py OUT.json (tests/conformance/triton/element_types.json)."""
import contextlib, importlib.util, io, itertools, json, os, sys, tempfile

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

TYPES = ["bf16", "fp16", "fp32", "fp64", "i8", "i16", "i32", "i64", "u8", "fp8e5"]
# What stands for `c` in the operations below, and what goes before them.
NUMBERS = {
    "named": ["c = {}"], "written": [], "annotated": ["c: tl.constexpr = {}"], "unpacked": ["c, d = {}, 2.0"],
    "computed": ["d = {}", "c = d * 2"], "chosen": ["c = {} if B > 1 else 3"], "renamed": ["d = {}", "c = d"],
    "looped": ["for c in range(2, 3):", "    pass", "c = {}"], "grown": ["c = {}", "c += 1"],
}
VALUES = ["1.0", "1e-40", "2", "3000000000", "-1", "True", "float('-inf')"]
OPERATIONS = ["x + c", "c * x", "x / c", "x // c", "x % c", "tl.where(x > 0, x, c)", "tl.maximum(x, c)", "x - 2 * c", "c - tl.sum(x, 0)", "helped(x, c)", "given(x)", "x & c"]
HELPERS = """
@triton.jit
def helped(x, c):
    return x * c


@triton.jit
def given(x, c={}):
    return x + c


"""


def rows():
    for kind, value, operation in itertools.product(NUMBERS, VALUES, OPERATIONS):
        if kind == "written":
            yield value, [], operation.replace("c * x", f"{value} * x").replace(", c)", f", {value})").replace(" c", f" {value}").replace("c - ", f"{value} - ")
        elif operation != "given(x)":
            yield value, [line.format(value) for line in NUMBERS[kind]], operation


def asked(folder, nth, value, body, of):
    text = "import triton\nimport triton.language as tl\n" + HELPERS.format(value) + "@triton.jit\ndef kernel(p, B: tl.constexpr):\n    x = tl.load(p + tl.arange(0, B))\n"
    text += "".join(f"    {line}\n" for line in body) + "    tl.static_print('type', y.dtype)\n"
    path = os.path.join(folder, f"k{nth}.py")
    open(path, "w").write(text)
    spec = importlib.util.spec_from_file_location(f"k{nth}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})
    source = ASTSource(module.kernel, {"p": f"*{of}", "B": "constexpr"}, {(1,): 64}, {})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    except Exception:
        return None
    words = said.getvalue().split()
    return words[-1] if words else None


def main():
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for nth, (value, before, operation) in enumerate(rows()):
            body = before + [f"y = {operation}"]
            types = {of: asked(folder, f"{nth}_{of}", value, body, of) for of in TYPES}
            found.append({"given": value, "body": body, "types": {of: given for of, given in types.items() if given}})
    with open(sys.argv[1], "w") as out:
        lines = ",\n".join("  " + json.dumps(row) for row in found if row["types"])
        out.write(f'{{"compiler": "triton {triton.__version__}", "helpers": {json.dumps(HELPERS)}, "rows": [\n{lines}\n]}}\n')


main()
