"""What the generators of GPU kernels share: lines of source, the names that people use, one kernel with its cases, and the compiler that is asked.

A generator is a function `make(random) -> Kernel | None`. `generate` writes its kernels as NAME.py and NAME.json (kernel, cases with the compiler's
answers) into a folder. The kernel of number n of a seed depends on the two numbers alone.
"""
import argparse, contextlib, dataclasses, importlib.util, json, os, random, signal, sys, textwrap, time

FLOATS = {"fp16": 2, "bf16": 2, "fp32": 4}
TL_NAMES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "i8": "int8", "i32": "int32", "i64": "int64", "fp64": "float64"}
BYTES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp8e4nv": 1, "fp8e5": 1, "i8": 1, "i32": 4, "i64": 8, "fp64": 8}


class Lines:
    """Source text that knows its depth."""

    def __init__(self, depth=0):
        self.rows, self.depth = [], depth

    def __call__(self, text=""):
        for row in textwrap.dedent(text).strip("\n").split("\n"):
            self.rows.append(" " * 4 * self.depth + row if row.strip() else "")

    @contextlib.contextmanager
    def under(self, head):
        self(head)
        self.depth += 1
        yield
        self.depth -= 1

    def text(self):
        return "\n".join(self.rows)


@dataclasses.dataclass
class Kernel:
    """A file with one kernel to judge. `cases` have target, options, signature, constexprs, divisible; `refused` says that the compiler must refuse them."""
    family: str
    text: str
    cases: list
    name: str = "kernel"
    language: str = "triton"
    refused: bool = False


class Names:
    """One author's words for the same things."""

    def __init__(self, r):
        self.M, self.N, self.K = r.choice([("BLOCK_M", "BLOCK_N", "BLOCK_K"), ("BM", "BN", "BK"), ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), ("TILE_M", "TILE_N", "TILE_K"), ("M_TILE", "N_TILE", "K_TILE")])
        self.stages = r.choice(["NUM_STAGES", "STAGES", "NUM_BUFFERS", "NUM_SMEM_BUFFERS", "DEPTH", "RING"])
        self.groups = r.choice(["NUM_MMA_GROUPS", "GROUPS", "CONSUMERS", "REPLICAS"])
        self.subtiles = r.choice(["EPILOGUE_SUBTILE", "SUBTILES", "SLICES"])
        self.head = r.choice(["HEAD_DIM", "D", "HEAD", "BLOCK_D"])
        self.kernel = r.choice(["kernel", "_kernel", "matmul_kernel", "fused_kernel", "fwd_kernel", "run"])
        self.a, self.b, self.c, self.d = r.choice([("a", "b", "c", "d"), ("x", "w", "y", "z"), ("lhs", "rhs", "out", "aux"), ("A", "B", "C", "D"), ("inp", "weight", "result", "extra")])
        self.i = r.choice(["i", "k", "it", "step", "idx"])
        self.acc = r.choice(["acc", "accumulator", "total", "res"])

    def desc(self, name):
        return f"{name}_desc" if len(name) < 4 else f"desc_{name}"

    def ptr(self, name):
        return f"{name}_ptr"


def keep(path, record):
    """Written whole, or not at all where that is interrupted."""
    beside = path + ".part"
    with open(beside, "w") as out:
        json.dump(record, out, indent=1)
    os.replace(beside, path)


def load_oracle(path):
    spec = importlib.util.spec_from_file_location("oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(oracle, path, kernel, case, seconds=40):
    """The compiler's answer for one case, {"error"} when it refuses, None when it takes too long."""
    try:
        fn, types, constants, attrs = oracle.prepare(path, kernel, case["target"], case["signature"], case["constexprs"], case["divisible"])
    except (SystemExit, Exception) as error:  # the file itself does not run
        return dict(error=f"{type(error).__name__}: {error}")

    def work():
        signal.alarm(seconds)
        return oracle.plan(fn, oracle.parse_target(case["target"]), case["options"], types, constants, attrs, os.path.basename(path))[0]
    answer = oracle.guarded(work)
    return None if "SIGALRM" in str(answer.get("error")) else answer


def generate(make, language, describe):
    """The command line of a generator."""
    ap = argparse.ArgumentParser(description=describe)
    ap.add_argument("out"); ap.add_argument("--seed", type=int, default=1); ap.add_argument("--cells", type=int, default=100)
    ap.add_argument("--oracle", required=True); ap.add_argument("--family"); ap.add_argument("--refusals", help="a file for what the compiler refuses")
    ap.add_argument("--first", type=int, default=0); ap.add_argument("--deadline", type=float, default=0, help="seconds of work")
    args = ap.parse_args()
    os.makedirs(args.out, exist_ok=True)
    oracle = load_oracle(args.oracle)
    version, begun, cells, tried, refused, number = oracle.version(), time.time(), 0, 0, 0, args.first
    while cells < args.cells and not (args.deadline and time.time() - begun > args.deadline):
        r = random.Random(f"{language} {args.seed} {number}")
        number += 1
        kernel = make(r, args.family)
        if not kernel:
            continue
        stem = f"{kernel.family}_{args.seed}_{number - 1}"
        path = os.path.join(args.out, stem + ".py")
        with open(path, "w") as out:
            out.write(kernel.text)
        good = []
        for case in kernel.cases:
            tried += 1
            answer = ask(oracle, path, kernel.name, case)
            if answer is None or bool(answer["error"]) != kernel.refused:
                refused += 1
                if args.refusals:
                    with open(args.refusals, "a") as out:
                        out.write(f"{stem} {case['target']} {case['options']} {case['constexprs']} {answer and answer['error']}\n")
                continue
            good.append(dict(case, **answer))
        if not good:
            os.remove(path)
            continue
        cells += len(good)
        keep(path[:-3] + ".json", dict(file=stem + ".py", kernel=kernel.name, language=language, compiler=version, kind=kernel.family, cases=good))
    print(f"{cells} cells of {tried} tried ({refused} refused), next number {number}, {time.time() - begun:.0f} s; {version}", flush=True)
