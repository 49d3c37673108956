"""Texts of compile-time values, as tilefit reads them back: `1024`, `fp16`, `(64, 32)`, `relu`."""
import ast
import dataclasses
import math

LONGEST = 4096


def text(value):
    """None where the value has no text that gives it back."""
    found = written(value)
    return found if found is not None and len(found) <= LONGEST else None


def written(value):
    value = bare(value)
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, (bool, int)):
        return repr(plain(value))
    if isinstance(value, float):
        return written_float(float(value))
    if isinstance(value, (tuple, list)):
        return written_sequence(value)
    return name_of_dtype(value) or name_of_function(value) or written_layout(value)


def bare(value):
    """The value in a tl.constexpr."""
    for _ in range(10):
        if not is_of(value, "constexpr"):
            break
        value = value.value
    return value


def plain(value):
    """Kinds of int such as IntEnum are written as a number."""
    return value if value is None or isinstance(value, bool) else int(value)


def written_float(value):
    return repr(value) if math.isfinite(value) else f"float('{value}')"


def written_sequence(values):
    texts = [repr(str(inner)) if isinstance(inner := bare(one), str) else written(inner) for one in values]
    if None in texts:
        return None
    inside = ", ".join(texts)
    if isinstance(values, list):
        return f"[{inside}]"
    return f"({inside},)" if len(texts) == 1 else f"({inside})"


def name_of_dtype(value):
    """In the words of a signature: `fp16`."""
    if not is_of(value, "dtype") or not hasattr(value, "primitive_bitwidth"):
        return None
    return value.name


def name_of_function(value):
    if not any(base.__name__ in ("JITFunction", "JITCallable", "ConstexprFunction") for base in type(value).__mro__):
        return None
    return getattr(getattr(value, "fn", None), "__name__", None)


def written_layout(value):
    """Gluon's layouts: `BlockedLayout(size_per_thread=[1], …)`."""
    if isinstance(value, type) or not type(value).__module__.startswith("triton.") or not dataclasses.is_dataclass(value):
        return None
    try:
        ast.parse(repr(value), mode="eval")
    except SyntaxError:
        return None
    return repr(value)


def is_of(value, name):
    """Whether it is one of Triton's, told by name: Triton need not be there."""
    return any(base.__name__ == name and base.__module__.startswith("triton.") for base in type(value).__mro__)
