"""The target of a question, and stand-ins for its GPU: none is touched."""
import re
from types import SimpleNamespace

from . import stand_ins
from .question import Fault

# Bytes of shared memory that a block may have.
LIMITS = {75: 65536, 80: 166912, 86: 101376, 87: 166912, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 110: 232448, 120: 101376,
          "gfx942": 65536, "gfx950": 163840, "gfx1250": 327680}


def parse(text, compiler):
    cuda, amd = re.fullmatch(r"cuda:(\d+)", text), re.fullmatch(r"hip:(gfx\w+)", text)
    if cuda:
        return compiler.GPUTarget("cuda", int(cuda[1]), 32)
    if amd:
        return compiler.GPUTarget("hip", amd[1], 32 if amd[1].startswith("gfx1") else 64)
    raise Fault("argument", f"Triton has no target {text}: targets are written cuda:90 or hip:gfx942.")


def gpu_of(target):
    """The properties of a GPU that files ask for, in torch's names."""
    cuda = target.backend == "cuda"
    major, minor = divmod(target.arch, 10) if cuda else (int(target.arch[3:-2] or 0), int(target.arch[-2], 16))
    shared = LIMITS.get(target.arch, 65536)
    return SimpleNamespace(name="GPU", major=major, minor=minor, gcnArchName="" if cuda else target.arch, warp_size=target.warp_size,
                           multi_processor_count=132, total_memory=80 << 30, L2_cache_size=50 << 20, shared_memory_per_block=49152,
                           shared_memory_per_block_optin=shared, shared_memory_per_multiprocessor=shared + 1024,
                           regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048)


def take_gpu_away(target, compiler):
    """No GPU is touched, and what a file asks of one at import is answered for the target."""
    compiler.triton.runtime.driver.set_active(NoDevice(target))
    cublas = getattr(getattr(compiler.libtriton, "nvidia", None), "cublas", None)
    if cublas is not None:
        cublas.CublasLt = stand_ins.StandIn("CublasLt")


class NoDevice:
    """In place of the driver of a GPU: knows the target, and answers anything else that a file asks at import."""

    def __init__(self, target):
        self.target = target
        self.utils = SimpleNamespace(get_device_properties=self.properties)

    def get_current_target(self):
        return self.target

    def properties(self, *_):
        shared = LIMITS.get(self.target.arch, 65536)
        return {"max_shared_mem": shared, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": self.target.warp_size,
                "sm_clock_rate": 1_700_000, "mem_clock_rate": 2_600_000, "mem_bus_width": 5120}

    def get_current_device(self):
        return 0

    def get_current_stream(self, *_):
        return 0

    def get_device_capability(self, *_):
        return divmod(self.target.arch, 10) if self.target.backend == "cuda" else (self.target.arch, 0)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_ins.StandIn("driver." + name)
