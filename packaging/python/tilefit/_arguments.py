"""Arguments of a launch as Triton's compiler sees them: their types, which are constants, and which 16 divides.

The rules are those of `specialize_impl` in Triton 3.3 to 3.9, and of `mangle_type` and `AttrsDescriptor` in 3.2.
"""
from typing import Any, Dict, Iterable, List, Optional, Tuple

from ._kernels import MISSING, Parameter, triton_version
from ._texts import bare, is_of, text

# Words of torch, numpy and Triton.
ELEMENTS = {
    "bool": "i1", "int1": "i1", "uint1": "i1", "i1": "i1", "u1": "i1",
    "float8e4nv": "fp8e4nv", "float8_e4m3fn": "fp8e4nv", "float8e5": "fp8e5", "float8_e5m2": "fp8e5", "float8e4b15": "fp8e4b15",
    "float8e4b8": "fp8e4b8", "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16",
    "half": "fp16", "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}
ELEMENTS.update({short: short for short in list(ELEMENTS.values())})
OPTIONS = ("num_warps", "num_stages", "num_ctas")
# Options that shared memory does not depend on.
WITHOUT_EFFECT = {"grid", "warmup", "maxnreg", "waves_per_eu", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl", "extern_libs",
                  "sanitize_overflow", "stream", "device"}


class Unwritten(ValueError):
    """An argument that cannot be told to the program."""


def launch(parameters: Iterable[Parameter], values: Dict[str, Any], options: Dict[str, Any]) -> Dict[str, Any]:
    """A launch as the program takes it. What is in none of the values is left to the program."""
    signature: Dict[str, str] = {}
    constexprs: Dict[str, str] = {}
    divisible: List[str] = []
    for one in parameters:
        value = values.get(one.name, MISSING)
        if value is MISSING:
            continue
        if one.is_constexpr:
            constexprs[one.name] = written(one.name, value)
            continue
        kind, constant, is_divisible = specialized(value, one)
        if kind is None:
            constexprs[one.name] = written(one.name, constant)
        else:
            signature[one.name] = kind
            divisible += [one.name] if is_divisible else []
    found = {"signature": signature, "constexprs": constexprs, "divisible": divisible, "options": options}
    return {key: value for key, value in found.items() if value or (key == "divisible" and signature)}


def written(name: str, value: Any) -> str:
    found = text(value)
    if found is None:
        raise Unwritten(f"the value of {name} has no text")
    return found


def specialized(value: Any, one: Parameter) -> Tuple[Optional[str], Any, bool]:
    """(type, or None for a constant; the constant; whether 16 divides it)"""
    kind, constant, is_divisible = by_value(value, one)
    if not one.annotated:
        return kind, constant, is_divisible
    if one.annotated == "u1" or one.annotated[:2] in ("fp", "bf"):
        return one.annotated, None, False
    return (one.annotated if kind is not None else None), constant, is_divisible


def by_value(value: Any, one: Parameter) -> Tuple[Optional[str], Any, bool]:
    if value is None or is_of(value, "constexpr") or is_of(value, "JITCallable") or is_of(value, "JITFunction"):
        return None, bare(value), False
    if isinstance(value, bool):
        return by_bool(value, one)
    if isinstance(value, int):
        return by_int(value, one)
    if isinstance(value, float):
        return "fp32", None, False
    if isinstance(value, str):
        return by_text(value, one)
    if is_of(value, "TensorDescriptor"):
        return descriptor(value), None, False
    if hasattr(value, "tma_desc_cpu_ptr"):
        return "nvTmaDesc", None, False
    if hasattr(value, "data_ptr"):
        return pointer(value.dtype, one), None, one.specialize and one.align and is_aligned(value, one)
    if element(value):
        return pointer(value, one), None, one.specialize and one.align
    raise Unwritten(f"the type of {one.name} is not known: {type(value).__name__}")


def by_bool(value: bool, one: Parameter) -> Tuple[Optional[str], Any, bool]:
    if triton_version() < (3, 3) and one.specialize:  # where a bool was an int
        return (None, 1, False) if value else ("i1", None, one.align)
    return "u1" if triton_version() >= (3, 3) else "i1", None, False


def by_int(value: int, one: Parameter) -> Tuple[Optional[str], Any, bool]:
    if value == 1 and one.specialize:
        return None, 1, False
    if not -(1 << 63) <= value < 1 << 64:
        raise Unwritten(f"{one.name} is too large for an integer of the device")
    width = "i32" if -(1 << 31) <= value < 1 << 31 else "u64" if value >= 1 << 63 else "i64"
    return width, None, one.specialize and one.align and value % 16 == 0


def by_text(value: str, one: Parameter) -> Tuple[Optional[str], Any, bool]:
    """`*fp16`, `i32`, and `i32:16` for one that 16 divides. Pointers are taken to be aligned, as those are that torch allocates."""
    kind, _, hint = value.partition(":") if "<" not in value else (value, "", "")
    is_divisible = kind.startswith("*") or hint == "16"
    return kind.strip(), None, is_divisible and one.specialize and one.align


def is_aligned(value: Any, one: Parameter) -> bool:
    try:
        return value.data_ptr() % 16 == 0
    except Exception:
        raise Unwritten(f"the address of {one.name} is not known") from None


def pointer(dtype: Any, one: Parameter) -> str:
    found = element(dtype)
    if not found:
        raise Unwritten(f"the type of {one.name} is not known: {dtype}")
    return ("*k" if one.is_const else "*") + found


def element(dtype: Any) -> str:
    """`fp16` of `torch.float16`; "" of what is not a type."""
    return ELEMENTS.get(str(dtype).rpartition(".")[2], "")


def descriptor(value: Any) -> str:
    inner = element(value.base.dtype)
    layout = getattr(value, "layout", None)
    return f"tensordesc<{inner}{[int(one) for one in value.block_shape]}" + (f",{layout!r}>" if layout is not None else ">")
