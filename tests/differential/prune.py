"""Random configurations of autotuned kernels: what `tilefit.prune` removes must be too large for the compiler.

    TILEFIT=target/release/tilefit PYTHONPATH=packaging/python PYTHON prune.py TRUTH.jsonl --sources FOLDER -n 2000 --seed 7

PYTHON has triton and need not have torch. FOLDER has checkouts of public repositories. The autotuner of each kernel is given configurations at random and asked
which of them it would compile, with arguments as its own launch passes them. The judge compiles each of them up to the allocation of shared memory, with what
Triton itself makes of the arguments. Its answers are kept in TRUTH.jsonl, so that a run goes on where one ended, and another tilefit is judged in no time.
"""

import argparse
import collections
import importlib
import json
import os
import pathlib
import random
import select
import signal
import sys
import time

os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # what is in the cache of Triton was not stopped
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server" / "src" / "confirm"))
DEVICES = {"sm_80": "cuda:80", "sm_86": "cuda:86", "sm_89": "cuda:89", "sm_90": "cuda:90", "sm_100": "cuda:100", "gfx942": "hip:gfx942"}
SECONDS = 60  # for one compilation
AT_ONCE = 20  # configurations of a call


class DType:
    def __init__(self, name, itemsize):
        self.name, self.itemsize, self.is_floating_point = name, itemsize, True

    def __str__(self):
        return "torch." + self.name

    def __repr__(self):
        return "torch." + self.name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


TYPES = [DType("float16", 2), DType("float16", 2), DType("bfloat16", 2), DType("float32", 4), DType("float8_e5m2", 1)]
HALF, FLOAT, INTEGERS = DType("float16", 2), DType("float32", 4), DType("int32", 4)


class Tensor:
    def __init__(self, dtype, aligned=True):
        self.dtype, self.address = dtype, 4096 if aligned else 4098

    def data_ptr(self):
        return self.address

    def ptr_range(self):
        return 1 << 20

    def numel(self):
        return 1 << 16

    def element_size(self):
        return self.dtype.itemsize


# ---- launches
def tensor(rng, dtype):
    return Tensor(dtype, aligned=rng.random() < 0.85)


def extent(rng):
    return rng.choice([64, 256, 512, 1024, 4096, 4096, 100, 1000, 1, 777])


def tuned(rng, device):
    dtype, out = rng.choice(TYPES), rng.choice(TYPES[:3])
    return [tensor(rng, dtype), tensor(rng, dtype), tensor(rng, out), extent(rng), extent(rng), extent(rng)], {"BLOCK_M": rng.choice([32, 64, 128, 256])}


def tuned_config(rng):
    return {"BLOCK_N": rng.choice([32, 64, 128, 256]), "BLOCK_K": rng.choice([16, 32, 64, 128])}


def tutorial(rng, device):
    dtype = rng.choice(TYPES)
    m, n, k = extent(rng), extent(rng), extent(rng)
    left, right = rng.choice([(k, 1), (1, m)]), rng.choice([(n, 1), (1, k)])
    return [tensor(rng, dtype), tensor(rng, dtype), tensor(rng, HALF), m, n, k, *left, *right, n, 1], {"ACTIVATION": rng.choice(["", "leaky_relu"])}


def tutorial_config(rng):
    sizes = {f"BLOCK_SIZE_{axis}": rng.choice([32, 64, 128, 256]) for axis in "MN"}
    return {**sizes, "BLOCK_SIZE_K": rng.choice([16, 32, 64, 128]), "GROUP_SIZE_M": 8}


def attention(rng, device):
    """With descriptors from sm_90 on, whose blocks a hook gives their shape."""
    from triton.tools.tensor_descriptor import TensorDescriptor
    width, stage = rng.choice([64, 128, 256]), rng.choice([1, 3])
    given = [Tensor(HALF) for _ in range(4)]
    if device in ("sm_90", "sm_100"):
        given = [TensorDescriptor(one, [4096, width], [width, 1], [1, 1]) for one in given]
    options = {"HEAD_DIM": width, "FP8_OUTPUT": False, "STAGE": stage, "warp_specialize": False, "IS_HOPPER": device == "sm_90"}
    return [0.5, Tensor(FLOAT), 4, 16, *given], {"N_CTX": 1024, **options}


def attention_config(rng):
    return {"BLOCK_M": rng.choice([64, 128, 256]), "BLOCK_N": rng.choice([32, 64, 128])}


def chunks(rng, device):
    """By names, with arguments that are None, under @triton.heuristics."""
    dtype, sequences = rng.choice(TYPES[:4]), rng.random() < 0.3
    names = {name: tensor(rng, dtype) for name in ("q", "k", "v", "h", "o")}
    flags = {"g": Tensor(FLOAT) if rng.random() < 0.5 else None, "g_gamma": Tensor(FLOAT) if rng.random() < 0.3 else None}
    lengths = {"cu_seqlens": Tensor(INTEGERS), "chunk_indices": Tensor(INTEGERS)} if sequences else {"cu_seqlens": None, "chunk_indices": None}
    sizes = {"T": extent(rng), "H": 4, "HV": rng.choice([4, 8]), "K": rng.choice([64, 128, 256]), "V": rng.choice([64, 128, 256])}
    sizes["BT"] = rng.choice([16, 32, 64, 128])
    return [], {**names, **flags, **lengths, "scale": 0.125, **sizes, "STATE_V_FIRST": rng.random() < 0.5}


def chunks_config(rng):
    return {"BK": rng.choice([32, 64, 128, 256]), "BV": rng.choice([32, 64, 128, 256])}


# name: (file below the sources, kernel, arguments, configuration); a file that starts with / is of this repository
KERNELS = {
    "tuned_matmul": ("/docs/examples/tuned_matmul.py", "matmul", tuned, tuned_config),
    "tutorial_03": ("fbtriton/python/tutorials/03-matrix-multiplication.py", "matmul_kernel", tutorial, tutorial_config),
    "tutorial_06": ("fbtriton/python/tutorials/06-fused-attention.py", "_attn_fwd", attention, attention_config),
    "fla_chunk_o": ("flash-linear-attention/fla/ops/common/chunk_o.py", "chunk_fwd_kernel_o", chunks, chunks_config),
}


class Subject:
    """A kernel with its decorators, as its module has them on a device."""

    def __init__(self, name, device, sources, compiler, is_older):
        import hashlib
        from driver import triton_compiler, triton_target
        from tilefit import _kernels
        file, kernel, self.arguments, self.configuration = KERNELS[name]
        path = ROOT / file[1:] if file.startswith("/") else pathlib.Path(sources) / file
        self.name, self.device, self.compiler, self.is_older = name, device, compiler, is_older
        self.target = triton_target.parse(DEVICES[device], compiler)
        self.limit = triton_target.LIMITS[self.target.arch]
        triton_target.take_gpu_away(self.target, compiler)
        question = {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "kernel": kernel}
        module, _ = triton_compiler.loaded(question, self.target, compiler)
        self.layers = _kernels.layers_of(getattr(module, kernel))
        self.own = self.layers[-1]
        self.tuner = next(layer for layer in self.layers if hasattr(layer, "prune_configs"))
        self.hook = next((one.pre_hook for one in self.tuner.configs if one.pre_hook), None)
        self.tuner.early_config_prune = self.tuner.perf_model = None
        if is_older:
            self.hash_compiler()

    def call(self, rng):
        """(positional arguments, arguments by name with those of heuristics, configurations)"""
        given, named = self.arguments(rng, self.device)
        outer = self.layers[:self.layers.index(self.tuner)]
        for layer in outer:
            for name, compute in layer.values.items():
                named[name] = compute({**dict(zip(self.own.arg_names, given)), **named})
        config = self.compiler.triton.Config
        configs = [config(self.configuration(rng), num_warps=rng.choice([2, 4, 4, 8, 8]), num_stages=rng.randint(1, 6), pre_hook=self.hook)
                   for _ in range(AT_ONCE)]
        return given, named, configs

    def kept(self, given, named, configs):
        self.tuner.configs, self.tuner.nargs = configs, dict(zip(self.own.arg_names, given))
        return self.tuner.prune_configs(named)

    def compiled(self, given, named, config):
        """Bytes of shared memory, by Triton's own reading of the arguments."""
        from driver import triton_compiler
        current = {**named, **config.all_kwargs()}
        if config.pre_hook:
            config.pre_hook({**dict(zip(self.own.arg_names, given)), **current})
        if self.is_older:
            return self.until_allocation(given, current)
        from triton.runtime.jit import create_function_from_signature
        backend = self.compiler.make_backend(self.target)
        bound, specialization, options = create_function_from_signature(self.own.signature, self.own.params, backend)(*given, **current)
        _, signature, constexprs, attrs = self.own._pack_args(backend, current, bound, specialization, options)
        source = self.compiler.ASTSource(self.own, signature, constexprs, attrs)
        module, context = triton_compiler.allocated(source, self.target, {"options": options}, self.compiler)
        return module.get_int_attr("ttg.shared")

    def hash_compiler(self):
        """Once: each child of a fork would read hundreds of megabytes."""
        for module in ("triton.compiler.compiler", "triton.runtime.cache"):
            getattr(importlib.import_module(module), "triton_key", lambda: None)()
        self.compiler.make_backend(self.target).hash()

    def until_allocation(self, given, current):
        """As a launch compiles it, up to the pass that allocates shared memory."""
        for owner in (self.compiler.libtriton.passes.ttgpuir, getattr(self.compiler.libtriton.nvidia.passes, "ttgpuir", None)):
            for name in ("add_allocate_shared_memory", "add_allocate_shared_memory_nv"):
                if hasattr(owner, name):
                    setattr(owner, name, stopping(getattr(owner, name)))
        return self.own.run(*given, grid=(1,), warmup=True, **current).metadata.shared


def stopping(add):
    def add_and_run(passes, *options):
        add(passes, *options)
        module = sys._getframe(1).f_locals["mod"]
        run(passes, module)
        shared = module.get_int_attr("ttg.shared")
        raise Planned(module.get_int_attr("triton_gpu.shared") if shared is None else shared)

    return add_and_run


def run(passes, module):
    """Newer ones want a name."""
    try:
        passes.run(module, "allocate")
    except TypeError:
        passes.run(module)


class Planned(Exception):
    """The bytes of shared memory."""


# ---- the judge
def judged(subject, given, named, config):
    """{"shared": bytes} or {"error": text}, from a child: a compiler may crash or hang."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            found = {"shared": subject.compiled(given, named, config)}
        except Planned as planned:
            found = {"shared": planned.args[0]}
        except BaseException as error:
            found = {"error": f"{type(error).__name__}: {error}"[:300]}
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    try:
        if not select.select([reader], [], [], SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
            return {"error": "too slow"}
        said = os.read(reader, 1 << 16)
        return json.loads(said) if said else {"error": "crash"}
    finally:
        os.close(reader)
        os.waitpid(child, 0)


class Truth:
    """What the judge said, by the place of a configuration in the run."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if os.path.exists(path):
            for line in open(path):
                record = json.loads(line)
                self.known[tuple(record["at"])] = record["said"]

    def of(self, at, ask):
        if at not in self.known:
            self.known[at] = ask()
            with open(self.path, "a") as file:
                file.write(json.dumps({"at": at, "said": self.known[at]}) + "\n")
        return self.known[at]


# ---- one device
def on_device(args, device, count):
    from driver import triton_compiler
    import tilefit
    from tilefit import _ask
    compiler = triton_compiler.load()
    compiler.GPUTarget.is_cuda_backend = lambda target: target.backend == "cuda"  # the tutorials are of a fork, which has it
    asked, _ask.SECONDS = watched(), 120
    truth, results = Truth(args.truth), []
    for name in args.kernel or KERNELS:
        subject = Subject(name, device, args.sources, compiler, args.is_older)
        if args.with_tilefit:
            tilefit.prune(subject.tuner, device=device)
        for number in range(-(-count // (AT_ONCE * len(args.kernel or KERNELS)))):
            place = (compiler.triton.__version__, args.seed, device, name, number)
            given, named, configs = subject.call(random.Random(repr(place[1:])))
            asked.clear()
            kept = subject.kept(given, named, configs)
            answers = asked if len(asked) == len(configs) else [{"verdict": "not asked"}] * len(configs)
            for index, (config, answer) in enumerate(zip(configs, answers)):
                said = truth.of((*place, index), lambda: judged(subject, given, named, config))
                results.append({"kernel": name, "device": device, "kept": config in kept, "limit": subject.limit, "answer": answer, "said": said,
                                "at": [*place, index], "config": str(config)})
    return results


def watched():
    """What the program answers, as it comes."""
    from tilefit import _ask
    answers, ask = [], _ask.fits

    def fits(*question, **about):
        found = ask(*question, **about)
        answers.extend(found[0])
        return found

    _ask.fits = fits
    return answers


def kind(result):
    """What became of a configuration."""
    said, verdict = result["said"], result["answer"]["verdict"]
    if "error" in said:
        return f"compiler refuses: {'kept' if result['kept'] else 'removed'} ({verdict})"
    fits = said["shared"] <= result["limit"]
    if not result["kept"]:
        return "removed wrongly" if fits else "removed rightly"
    return f"{'fits' if fits else 'too large'}, kept ({verdict})"


def outside(result):
    """Whether the compiler needs less or more than the program says it may."""
    low, high, shared = result["answer"].get("low"), result["answer"].get("high"), result["said"].get("shared")
    return shared is not None and ((low is not None and shared < low) or (high is not None and shared > high))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("truth"), options.add_argument("--sources", required=True), options.add_argument("-n", type=int, default=2000)
    options.add_argument("--seed", type=int, default=7), options.add_argument("--device", nargs="*", default=list(DEVICES))
    options.add_argument("--kernel", nargs="*"), options.add_argument("-v", action="store_true")
    options.add_argument("--judge-only", dest="with_tilefit", action="store_false", help="ask the compiler, and not tilefit")
    options.add_argument("--older", dest="is_older", action="store_true", help="compile as a launch does, which works with each Triton from 3.2 on")
    args = options.parse_args()
    results = []
    for device in args.device:  # each in a process of its own, because what a module defines depends on the device
        results += in_child(lambda: on_device(args, device, args.n // len(args.device)))
        print(f"{time.strftime('%H:%M:%S')} {device}: {len(results)} configurations so far", flush=True)
    counts = collections.Counter(kind(result) for result in results)
    print("\n".join(f"{number:6}  {what}" for what, number in sorted(counts.items())))
    print(f"{sum(map(outside, results)):6}  not within what tilefit says")
    for result in results:
        if kind(result) == "removed wrongly" or (args.v and (outside(result) or kind(result).startswith("too large"))):
            print(json.dumps({**result, "answer": {key: value for key, value in result["answer"].items() if key != "buffers"}}))
    sys.exit(counts["removed wrongly"] > 0)


def in_child(compute):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            json.dump(compute(), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    if not text:
        sys.exit("the run ended early; start it again to go on")
    return json.loads(text)


if __name__ == "__main__":
    main()
