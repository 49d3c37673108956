"""Kernels as objects of Triton, which need not be installed: where they are written, what is wrapped around them, and their parameters."""
import ast
import os
import re
import sys
import textwrap
from collections import namedtuple
from typing import Any, Dict, List, Set, Tuple

from ._texts import is_of

MISSING = object()
# `annotated` is the type that the author wrote, "" where there is none.
Parameter = namedtuple("Parameter", "name is_constexpr specialize align annotated is_const default")
# `name` is what the program calls it; `own` is the function of `@triton.jit`, None where only the file is known.
Kernel = namedtuple("Kernel", "file name parameters layers own")


class NotFound(ValueError):
    """There is no kernel, or none of which the program can read the text."""


def of(value: Any) -> Kernel:
    """The kernel of a function of Triton, or of a text `file.py:kernel`."""
    if isinstance(value, (str, os.PathLike)):
        return of_text(os.fspath(value))
    layers = layers_of(value)
    if not is_of(layers[-1], "JITFunction"):
        raise NotFound(f"{value!r} is not a kernel of Triton, nor a text such as 'kernels.py:matmul'")
    own = layers[-1]
    return Kernel(own.fn.__code__.co_filename, name_of(own), [parameter_of(one) for one in own.params], layers, own)


def layers_of(value: Any) -> List[Any]:
    """What is wrapped around a kernel, from the outside, and the kernel."""
    layers = [value]
    while not is_of(layers[-1], "JITFunction") and hasattr(layers[-1], "fn") and len(layers) < 20:
        layers.append(layers[-1].fn)
    return layers


def name_of(own: Any) -> str:
    return own.fn.__qualname__.replace(".<locals>", "")


def parameter_of(one: Any) -> Parameter:
    annotated = one.annotation_type if isinstance(one.annotation_type, str) else ""
    default = one.default if one.has_default else MISSING
    return Parameter(one.name, one.is_constexpr, not one.do_not_specialize, not one.do_not_specialize_on_alignment, annotated, one.is_const, default)


# ---- kernels by the text of their file
def of_text(place: str) -> Kernel:
    file, colon, name = place.rpartition(":")
    if not colon or os.path.isfile(place):
        raise NotFound(f"{place!r} names no kernel: write 'kernels.py:matmul'")
    return Kernel(os.path.abspath(file), name, parameters_in(read(file), file, name), [], None)


def read(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as text:
            return text.read()
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{file} cannot be read: {error}") from None


def parameters_in(text: str, file: str, name: str) -> List[Parameter]:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise NotFound(f"{file} cannot be read: {error}") from None
    last = name.rpartition(".")[2]
    found = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == last]
    if not found:
        raise NotFound(f"{file} has no function {last}")
    function = found[0]
    unspecialized, unaligned = words_of(function, "do_not_specialize"), words_of(function, "do_not_specialize_on_alignment")
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [Parameter(one.arg, "constexpr" in (ast.unparse(one.annotation) if one.annotation else ""), not {one.arg, at} & unspecialized,
                      not {one.arg, at} & unaligned, "", False, MISSING) for at, one in enumerate(arguments)]


def words_of(function: ast.FunctionDef, option: str) -> Set[Any]:
    """The names and numbers of a list that a decorator is given."""
    given = [word.value for one in function.decorator_list if isinstance(one, ast.Call) for word in one.keywords if word.arg == option]
    return {inner.value for one in given if isinstance(one, (ast.List, ast.Tuple)) for inner in one.elts if isinstance(inner, ast.Constant)}


# ---- the text that runs, and the text that the program reads
checked: Dict[Any, Tuple[Any, str]] = {}


def why_other_text(kernel: Kernel) -> str:
    """Why the file does not say what runs; "" where it does. A file may have been edited since it was imported, or be none at all."""
    try:
        at = os.stat(kernel.file)
    except OSError:
        return "its source is not a file"
    stamp = (at.st_mtime_ns, at.st_size, kernel.own.src)
    known = checked.get(id(kernel.own))
    if known is None or known[0] != stamp:
        known = checked[id(kernel.own)] = (stamp, compared(kernel))
    return known[1]


def compared(kernel: Kernel) -> str:
    text, name = without_blanks(read(kernel.file)), kernel.own.fn.__name__
    found = list(re.finditer(rf"^([ \t]*)def\s+{re.escape(name)}\s*\(", text, re.MULTILINE))
    if len(found) > 1:
        return f"its file has several functions {name}"
    if not found or not is_text_of(kernel.own.src, text[found[0].start():], found[0][1]):
        return "its file was changed since it was imported"
    return ""


def is_text_of(source: str, text: str, indentation: str) -> bool:
    """Whether the function with which the text begins is this source, from which Triton took the indentation, and is no longer."""
    written = textwrap.indent(without_blanks(source), indentation).rstrip()
    if not text.startswith(written):
        return False
    rest, *lines = text[len(written):].split("\n")
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return (not rest.strip() or rest.lstrip().startswith("#")) and (not code or not code[0].startswith((indentation + " ", indentation + "\t")))


def without_blanks(text: str) -> str:
    return re.sub(r"^[ \t]+$", "", text, flags=re.MULTILINE)


# ---- the device at hand
def device_at_hand() -> str:
    """It raises `LookupError` where there is none."""
    try:
        return device_of(driver().get_current_target())
    except Exception as error:  # of Triton, of its driver, or of a Python without Triton
        raise LookupError(f"no GPU is at hand ({error}): name a device, such as device='sm_90'") from None


def driver() -> Any:
    from triton.runtime import driver as drivers
    return drivers.active


def device_of(target: Any) -> str:
    """`sm_90` or `gfx942`, of a text or of Triton's own `GPUTarget`."""
    if isinstance(target, str):
        return target
    arch = str(target.arch)
    return f"sm_{arch}" if target.backend == "cuda" else arch.partition(":")[0]


def limit_at_hand() -> Any:
    """Bytes of shared memory that a block may have, as Triton asks the device for them; None where it does not say."""
    try:
        found = driver()
        return int(found.utils.get_device_properties(found.get_current_device())["max_shared_mem"])
    except Exception:
        return None


def triton_release() -> str:
    return str(getattr(sys.modules.get("triton"), "__version__", ""))


def triton_version() -> Tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", triton_release())[:2]) or (99,)
