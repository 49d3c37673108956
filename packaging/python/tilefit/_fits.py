"""What a kernel takes, and whether it fits, as values of Python."""
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union

from . import _arguments, _ask, _kernels
from ._arguments import OPTIONS
from ._texts import is_of

# What `tilefit configs` calls them, and what a question about one launch is answered with.
VERDICTS = {"exceeds": "does not fit", "depends": "may not fit"}


@dataclass(frozen=True)
class Fit:
    """The shared memory of one block, in bytes, between `low` and `high`; None where there is no such bound.

    `verdict`: "fits", "does not fit", "may not fit", "refused" (the compiler would not take the kernel) or "unknown".
    """
    low: Optional[int]
    high: Optional[int]
    capacity: Optional[int]
    verdict: str
    reason: Optional[str] = None
    buffers: Tuple[Dict[str, Any], ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        # There are more answers than two. True for each of them would let through what does not fit, and an error for some
        # only would be met late: so it is met at the first try.
        raise TypeError("a Fit is neither true nor false: compare its verdict, as in fit.verdict != 'does not fit'")


@dataclass(frozen=True)
class Row:
    """A configuration of a kernel on a device. `possible`: not in the code, but one of the ways that it leaves open."""
    file: str
    line: int
    kernel: str
    device: str
    values: Dict[str, str]
    low: Optional[int]
    high: Optional[int]
    capacity: Optional[int]
    verdict: str
    reason: Optional[str]
    possible: bool


@dataclass(frozen=True)
class Finding:
    file: str
    line: int
    column: int
    code: str
    message: str
    severity: str


@dataclass(frozen=True)
class Report:
    """`failures` are sentences about what could not be checked."""
    findings: List[Finding]
    failures: List[str]

    @property
    def errors(self) -> List[Finding]:
        return [one for one in self.findings if one.severity == "error"]


def fits(kernel: Any, /, device: Any = None, **values: Any) -> Fit:
    """What the kernel takes if it is launched with these values: tensors, numbers, types as texts, num_warps, num_stages, num_ctas.

    What is not given is what its file says. Without a device, it is the GPU at hand.
    """
    found = _kernels.of(kernel)
    target = _kernels.device_of(device) if device is not None else _kernels.device_at_hand()
    names = {one.name for one in found.parameters}
    for name in values:
        if name not in names and name not in OPTIONS:
            raise TypeError(f"{found.name} has no parameter {name}: it has {', '.join(sorted(names))}")
    options = {name: int(values[name]) for name in OPTIONS if values.get(name) is not None}
    question = _arguments.launch(found.parameters, with_heuristics(found.layers, values), options)
    why = _kernels.why_other_text(found) if found.own is not None else ""
    if why:
        return Fit(None, None, None, "unknown", why)
    try:
        return fit_of(_ask.fits(found.file, found.name, [target], [question])[0][0])
    except _ask.NoAnswer as error:
        return Fit(None, None, None, "unknown", str(error))


def fit_of(answer: Dict[str, Any]) -> Fit:
    return Fit(answer.get("low"), answer.get("high"), answer.get("capacity"), str(answer.get("verdict", "unknown")), answer.get("reason"),
               tuple(answer.get("buffers") or ()))


def with_heuristics(layers: Sequence[Any], values: Dict[str, Any], strictly: bool = False) -> Dict[str, Any]:
    """The values, and those that `@triton.heuristics` computes from them. One that cannot be computed is left to the program."""
    values = dict(values)
    for layer in layers:
        if not is_of(layer, "Heuristics"):
            continue
        for name, compute in layer.values.items():
            try:
                values[name] = compute(values)
            except Exception:
                if strictly:
                    raise
                values.pop(name, None)
    return values


def configs(kernel: Any, /, devices: Iterable[Any] = ()) -> List[Row]:
    """What each configuration takes on each device, as the file has them; of all kernels of a file where only that is named."""
    names = [_kernels.device_of(one) for one in devices]
    if isinstance(kernel, (str, os.PathLike)) and os.path.exists(kernel):
        file, only = os.fspath(kernel), []
    else:
        found = _kernels.of(kernel)
        file, only = found.file, ["--kernel", found.name]
    tables = _ask.run("configs", file, *only, "--format", "json", "--sort", "source", *(["--device", ",".join(names)] if names else []))
    return [row for file in tables["files"] for table in file["kernels"] for row in rows_of(file["file"], table, set(names))]


def rows_of(file: str, table: Dict[str, Any], names: Set[str]) -> Iterable[Row]:
    """Of the devices that were asked for; else of the kernel's own."""
    for row in table["configurations"]:
        for device, on in zip(table["devices"], row["on"]):
            if not names or device in names:
                yield Row(file, table["line"], table["kernel"], device, row["values"], on["low"], on["high"], on["capacity"],
                          VERDICTS.get(on["verdict"], on["verdict"]), on["reason"], row["possible"])


def check(paths: Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]) -> Report:
    """What `tilefit check` finds in files, and below directories."""
    named = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    said = _ask.run("check", "--format", "json", *named)
    return Report([finding_of(one) for one in said["diagnostics"]], list(said["failures"]))


def finding_of(one: Dict[str, Any]) -> Finding:
    place = one["place"]
    return Finding(place["file"], place["line"], place["column"], one["code"], one["message"], one["severity"])
