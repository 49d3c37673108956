"""`@pytest.mark.tilefit(devices=["sm_80", "sm_90"])`: a test fails where a kernel of its module cannot fit one of the devices."""
import functools
import importlib.util
import os
from typing import Any, Dict, List, Tuple

from . import _ask, _fits

LINE = ("tilefit(devices, paths=None, module=None): fails where a kernel of the test's file (or of these paths, or of this module) "
        "cannot fit one of the devices.")
OURS = "of_tilefit"


def register(config: Any) -> None:
    config.addinivalue_line("markers", LINE)


def check_item(item: Any) -> None:
    """Before a test runs: nothing of it is needed to know."""
    import pytest
    for marker in item.iter_markers("tilefit"):
        try:
            problems = problems_of(marker, item)
        except (_ask.NoAnswer, _ask.Refused, TypeError, ValueError) as error:
            problems = [str(error)]
        if problems:
            failure = pytest.fail.Exception("\n".join(problems), pytrace=False)
            setattr(failure, OURS, True)
            raise failure


def is_of_marker(error: BaseException) -> bool:
    """Such a failure needs no GPU: it stays one where a test is not run."""
    return hasattr(error, OURS)


def problems_of(marker: Any, item: Any) -> List[str]:
    devices, files = told(marker, item)
    return [problem for file in files for problem in in_file(file, stamp(file), devices)]


def told(marker: Any, item: Any) -> Tuple[Tuple[str, ...], List[str]]:
    """(devices, files)"""
    unknown = set(marker.kwargs) - {"devices", "paths", "module"}
    if unknown or len(marker.args) > 1 or (marker.args and "devices" in marker.kwargs):
        raise TypeError("the marker is written @pytest.mark.tilefit(devices=['sm_90']), with module='package.kernels' or paths=['kernels.py']")
    devices = marker.args[0] if marker.args else marker.kwargs.get("devices")
    devices = (devices,) if isinstance(devices, str) else tuple(devices or ())
    if not devices:
        raise TypeError("@pytest.mark.tilefit names no devices: write devices=['sm_90']")
    files = [beside(item, path) for path in listed(marker.kwargs.get("paths"))] + [file_of(name) for name in listed(marker.kwargs.get("module"))]
    return devices, files or [str(item.path if hasattr(item, "path") else item.fspath)]


def listed(value: Any) -> List[Any]:
    return [] if value is None else [value] if isinstance(value, (str, os.PathLike)) else list(value)


def beside(item: Any, path: Any) -> str:
    """Paths are relative to where pytest's configuration is."""
    found = os.path.join(str(item.config.rootpath), os.fspath(path))
    if not os.path.exists(found):
        raise ValueError(f"@pytest.mark.tilefit names {found}, which is not there")
    return found


def file_of(module: Any) -> str:
    """The file of a module, or the folder of a package. Nothing is imported, as that may need a GPU."""
    if not isinstance(module, str):
        return str(module.__file__)
    top, *inner = module.split(".")
    spec = importlib.util.find_spec(top)  # which would import what is above, of a name with dots
    places = [] if spec is None else list(spec.submodule_search_locations or ()) or [str(spec.origin)]
    for part in inner:
        places = [found for place in places for found in (os.path.join(place, part), os.path.join(place, part + ".py")) if os.path.exists(found)]
    if not places:
        raise ValueError(f"@pytest.mark.tilefit names the module {module}, which is not there")
    return places[0]


def stamp(file: str) -> int:
    return os.stat(file).st_mtime_ns


@functools.lru_cache(maxsize=1000)
def in_file(file: str, _stamp: int, devices: Tuple[str, ...]) -> Tuple[str, ...]:
    """The same for all tests of a module."""
    return tuple(problem for device in devices for problem in on_device(_fits.configs(file, devices=[device]), device))


def on_device(rows: List[_fits.Row], device: str) -> List[str]:
    """A kernel cannot fit if each of its configurations is known to be too large."""
    kernels: Dict[Tuple[str, int, str], List[_fits.Row]] = {}
    for row in rows:
        kernels.setdefault((row.file, row.line, row.kernel), []).append(row)
    return [f"{file}:{line}: {kernel} does not fit {device}: {said(rows)}" for (file, line, kernel), rows in kernels.items()
            if all(row.verdict == "does not fit" for row in rows)]


def said(rows: List[_fits.Row]) -> str:
    least = min(rows, key=lambda row: row.low or 0)
    if (least.low or 0) <= (least.capacity or 0):
        return least.reason or "every configuration is too large"
    needs = f"needs {least.low} of {least.capacity} bytes of shared memory"
    named = " ".join(f"{name}={value}" for name, value in least.values.items())
    return needs if len(rows) == 1 else f"the smallest of {len(rows)} configurations, {named}, {needs}"
