"""What a kernel takes as machine code: registers, stack and spills of a thread, as the assembler says.

All of the backend's own stages run, as they do for a launch, so that the numbers are those of the binary that a GPU would be
given. None of them needs a GPU. The kernel is compiled once more from its source for it: a module that has been allocated is
not allocated again.
"""
import contextlib
import io
import os
import re

from . import question as asking
from .question import Fault

# What ptxas prints with -v, which Triton always gives.
FUNCTION = re.compile(r"info\s*: Function properties for (\S+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
ENTRY = re.compile(r"info\s*: Compiling entry function '([^']+)' for '(\w+)'")
USED = re.compile(r"info\s*: Used (\d+) registers(.*)")
RELEASE = re.compile(r"release [\d.]+, V([\d.]+)")


def of(module, metadata, stages, target, compiler):
    """The answer's `machine`, from a module that no stage has seen."""
    if target.backend == "cuda":
        return of_nvidia(module, metadata, stages, target, compiler)
    return of_amd(module, metadata, stages)


def of_nvidia(module, metadata, stages, target, compiler):
    os.environ["TRITON_DUMP_PTXAS_LOG"] = "1"  # prints what the assembler said
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for stage in stages.values():
            module = stage(module, metadata)
    return {"by": assembler(target, compiler), "warps": metadata["num_warps"]} | read(said.getvalue())


def read(said):
    """What ptxas said of one kernel and the functions that it calls."""
    entry, used = ENTRY.search(said), USED.findall(said)
    functions = {name: tuple(map(int, sizes)) for name, *sizes in FUNCTION.findall(said)}
    if entry is None or len(used) != 1 or entry[1] not in functions:
        raise Fault("driver", "The assembler's words are not those that this check was made for.", details=said)
    registers, rest = used[0]
    barriers, shared, stack = (re.search(words, rest) for words in (r"used (\d+) barriers", r"(\d+) bytes smem", r"(\d+) bytes cumulative stack"))
    stores, loads = (sum(sizes[nth] for sizes in functions.values()) for nth in (1, 2))
    return {"registers": int(registers), "stack": int(stack[1]) if stack else functions[entry[1]][0],
            "spills": {"stored": stores, "loaded": loads},
            "barriers": int(barriers[1]) if barriers else 0, "static_shared": int(shared[1]) if shared else 0}


def assembler(target, compiler):
    """`ptxas 13.0.88`; the name alone where this Triton does not say which it runs."""
    try:
        from triton.backends.nvidia.compiler import get_ptxas_version
        found = RELEASE.search(get_ptxas_version(target.arch))
    except Exception:
        found = None
    return f"ptxas {found[1]}" if found else "ptxas"


def of_amd(module, metadata, stages):
    """From the metadata of the kernel in the assembly: nothing that follows changes a register."""
    for name, stage in stages.items():
        module = stage(module, metadata)
        if name == "amdgcn":
            break
    kernels = module.rpartition("amdhsa.kernels:")[2]
    count = {name: re.findall(rf"^[ -]+\.{name}:\s+(\d+)$", kernels, re.M)
             for name in ("vgpr_count", "vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size")}
    if any(len(found) != 1 for found in count.values()):
        raise Fault("driver", "The metadata of the code object is not what this check was made for.", details=kernels)
    count = {name: int(found[0]) for name, found in count.items()}
    return {"by": "LLVM", "warps": metadata["num_warps"], "registers": count["vgpr_count"], "stack": count["private_segment_fixed_size"],
            "spills": {"registers": count["vgpr_spill_count"] + count["sgpr_spill_count"]}, "barriers": 0, "static_shared": 0}


def why_not(error):
    """Why there is a plan and no machine code, in a sentence."""
    if isinstance(error, Fault):
        return error.message
    if isinstance(error, MemoryError):
        return asking.TOO_LITTLE_MEMORY
    said = re.search(r"^ptxas\S* \S*\s*:? ?(?:fatal|error)[^\n]*|^ptxas[^\n]*error[^\n]*", str(error), re.M)
    return said[0].strip()[:400] if said else f"{type(error).__name__}: {str(error).strip().splitlines()[0][:400] if str(error).strip() else 'no words'}"
