"""Launches without a GPU: Triton compiles for a device that is not there, up to where memory is allocated, and nothing runs."""
import atexit
import functools
import os
import re
import shutil
import tempfile
import threading
from collections import namedtuple
from types import SimpleNamespace

from . import _record

Device = namedtuple("Device", "backend arch warp_size shared name")
# Bytes of shared memory that a block may have.
SHARED = {75: 65536, 80: 166912, 86: 101376, 87: 166912, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 110: 232448, 120: 101376, 121: 101376,
          "gfx942": 65536, "gfx950": 163840, "gfx1250": 327680}
NAMES = {75: "Tesla T4", 80: "NVIDIA A100", 86: "NVIDIA A40", 89: "NVIDIA L40", 90: "NVIDIA H100", 100: "NVIDIA B200", 103: "NVIDIA B300",
         120: "NVIDIA GeForce RTX 5090", "gfx942": "AMD Instinct MI300X", "gfx950": "AMD Instinct MI355X"}
CACHE, OWN_CACHE = "TRITON_CACHE_DIR", "TILEFIT_RECORD_CACHE"
device = None  # the one that launches are compiled for


def device_of(name):
    """`sm_90`, `gfx942`; also `cuda:90` and `hip:gfx942`, as records name targets."""
    cuda = re.fullmatch(r"(?:sm_|cuda:)(\d+)a?", name)
    amd = re.fullmatch(r"(?:hip:)?(gfx[0-9a-f]+)", name)
    if cuda:
        arch = int(cuda[1])
        return Device("cuda", arch, 32, SHARED.get(arch, 101376), NAMES.get(arch, f"NVIDIA sm_{arch}"))
    if amd:
        return Device("hip", amd[1], 32 if amd[1].startswith("gfx1") else 64, SHARED.get(amd[1], 65536), NAMES.get(amd[1], amd[1]))
    raise ValueError(f"{name} is no device that Triton compiles for: devices are written sm_90 or gfx942")


def capability(of):
    if of.backend == "cuda":
        return divmod(of.arch, 10)
    return int(of.arch[3:-2] or 0), int(of.arch[-2], 16)


def properties(of):
    """In torch's names."""
    major, minor = capability(of)
    is_cuda = of.backend == "cuda"
    return SimpleNamespace(name=of.name, major=major, minor=minor, gcnArchName="" if is_cuda else of.arch, warp_size=of.warp_size,
                           multi_processor_count=132 if is_cuda else 304, total_memory=80 << 30, L2_cache_size=50 << 20, is_integrated=0,
                           is_multi_gpu_board=0, shared_memory_per_block=49152, shared_memory_per_block_optin=of.shared,
                           shared_memory_per_multiprocessor=of.shared + 1024, regs_per_multiprocessor=65536,
                           max_threads_per_multi_processor=2048, max_threads_per_block=1024)


def begin(name):
    global device
    device = device_of(name)
    os.environ.update(own_cache())
    _record.when_imported("triton", replace_gpu)
    from . import _dry_torch
    _record.when_imported("torch", _dry_torch.begin)


def own_cache():
    """What is compiled here is cut short: it must not be found by a run on a GPU. The variables give it to child processes."""
    if os.environ.get(OWN_CACHE):
        return {}
    folder, owner = tempfile.mkdtemp(prefix="tilefit-dry-"), os.getpid()
    atexit.register(lambda: owner == os.getpid() and shutil.rmtree(folder, ignore_errors=True))
    return {OWN_CACHE: folder, CACHE: folder}


# ---- Triton
def replace_gpu():
    import triton
    from triton.backends import backends
    driver = triton.runtime.driver
    gpu = NoGpu()
    driver.set_active(gpu)
    for name in ("_default", "default"):
        if name in vars(driver):
            setattr(driver, name, gpu)
    for backend in {id(one.compiler): one.compiler for one in backends.values()}.values():
        cut_short(backend)
    end_before_llvm()
    triton.testing.do_bench = run_once
    triton.testing.do_bench_cudagraph = run_once
    cublas = getattr(getattr(triton._C.libtriton, "nvidia", None), "cublas", None)
    if cublas is not None:
        cublas.CublasLt = Nothing


class Nothing:
    """Takes every call and attribute."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *_, **__):
        return Nothing()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class Launcher:
    """In place of what launches a compiled kernel."""

    def __init__(self, *_):
        self.launch_cooperative_grid = False

    def __call__(self, *_, **__):
        return None


class NoGpu:
    """In place of the driver of a GPU."""
    launcher_cls = Launcher

    def __init__(self):
        self.utils = Utils()

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget(device.backend, device.arch, device.warp_size)

    def get_current_device(self):
        return 0

    def set_current_device(self, *_):
        pass

    def get_current_stream(self, *_):
        return 0

    def get_device_capability(self, *_):
        return capability(device)

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_benchmarker(self):
        return run_once

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, *_):
        pass

    def assemble_tensormap_to_arg(self, _, args):
        return args

    def map_python_to_cpp_type(self, kind):
        return "void*" if kind.startswith("*") else kind

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Utils:
    def get_device_properties(self, *_):
        found = {"max_shared_mem": device.shared, "max_num_regs": 65536, "multiprocessor_count": properties(device).multi_processor_count,
                 "warpSize": device.warp_size, "sm_clock_rate": 1_700_000, "mem_clock_rate": 2_600_000, "mem_bus_width": 5120}
        return {**found, "arch": device.arch} if device.backend == "hip" else found

    def load_binary(self, *_):
        """(module, function, registers, spills, threads); the last is new in 3.4. Programs compute grids from the registers."""
        return (None, 1, 64, 0, 1024)[:values_of_load()]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


@functools.lru_cache(maxsize=None)
def values_of_load():
    from triton.compiler.compiler import CompiledKernel
    return 5 if "n_max_threads" in CompiledKernel._init_handles.__code__.co_names else 4


def run_once(call, *_, quantiles=None, return_mode="mean", **__):
    """In place of a benchmark: every configuration is launched once, and all are as fast."""
    call()
    if quantiles is not None:
        return [1.0] * len(quantiles) if len(quantiles) > 1 else 1.0
    return [1.0] if return_mode == "all" else 1.0


# ---- compilation
class Allocated(Exception):
    """Ends a pipeline of passes before what it has got goes to LLVM."""


here = threading.local()  # the module that is being compiled in this thread


def cut_short(backend):
    """Stages behind allocation give nothing: no LLVM, no ptxas."""
    if hasattr(backend, "_tilefit"):
        return
    backend._tilefit = True
    add = backend.add_stages

    @functools.wraps(add)
    def add_stages(self, stages, options, *args, **kwargs):
        add(self, stages, options, *args, **kwargs)
        names = list(stages)
        if device is None or "llir" not in names:
            return
        stages["llir"] = functools.partial(allocate, stages["llir"])
        for name in names[names.index("llir") + 1:]:
            stages[name] = functools.partial(nothing, name == self.binary_ext)

    backend.add_stages = add_stages
    backend.hash = lambda self: "nothing behind allocation"  # it would ask an assembler or linker for its version


def nothing(is_binary, module, metadata):
    return b"" if is_binary else ""


def end_before_llvm():
    """What adds the conversion to LLVM runs the passes that were added before it instead."""
    from triton._C import libtriton
    for backend in ("nvidia", "amd"):
        owner = getattr(getattr(getattr(libtriton, backend, None), "passes", None), "ttgpuir", None)
        if owner is not None and not hasattr(owner.add_to_llvmir, "_tilefit"):
            owner.add_to_llvmir = ending(owner.add_to_llvmir)


def ending(add):
    def add_or_run(passes, *args, **kwargs):
        module = getattr(here, "module", None)
        if module is None:
            return add(passes, *args, **kwargs)
        try:
            passes.run(module, "allocate")
        except TypeError:  # before Triton 3.6
            passes.run(module)
        raise Allocated

    add_or_run._tilefit = True
    return add_or_run


def allocate(stage, module, metadata):
    here.module = module
    try:
        stage(module, metadata)
        return ""
    except Allocated:
        pass
    finally:
        here.module = None
    found = functools.partial(attribute, module)
    metadata["shared"] = found("shared") or 0
    metadata["tmem_size"] = found("tensor_memory_size")
    metadata["num_warps"] = found("total-num-warps") or metadata["num_warps"]
    for kind in ("global", "profile"):
        metadata[f"{kind}_scratch_size"] = found(f"{kind}_scratch_memory_size") or 0
        metadata[f"{kind}_scratch_align"] = found(f"{kind}_scratch_memory_alignment") or 1
    metadata.setdefault("cluster_dims", (1, 1, 1))
    metadata["name"] = "kernel"
    return ""


def attribute(module, name):
    for prefix in ("ttg.", "triton_gpu."):
        found = module.get_int_attr(prefix + name)
        if found is not None:
            return found
    return None


# ---- what cannot run
def reason(error):
    """Why something did not run that way, in a line."""
    from . import _dry_torch
    said = str(error).strip().split("\n")[0][:200]
    if isinstance(error, _dry_torch.NoValue):
        return said
    if isinstance(error, ImportError):
        return f"a package is missing: {said}"
    if isinstance(error, AssertionError):
        return f"an assertion about values or compiled code: {said}" if said else "an assertion about values or compiled code"
    return f"{type(error).__name__}: {said}"


