"""What fits on the chip, asked of the program `tilefit` that is installed with this package."""
import os
import sys

TYPE_CHECKING = False  # so that `typing` need not be imported
if TYPE_CHECKING:
    from ._fits import Finding as Finding, Fit as Fit, Report as Report, Row as Row, check as check, configs as configs, fits as fits
    from ._prune import prune as prune
    from ._record import record as record

MODULES = {"fits": "_fits", "configs": "_fits", "check": "_fits", "Fit": "_fits", "Row": "_fits", "Report": "_fits", "Finding": "_fits",
           "prune": "_prune", "record": "_record"}
__all__ = ["find_tilefit", *MODULES]


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    found = getattr(import_module("." + MODULES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> "list[str]":
    return sorted({*globals(), *MODULES})


def find_tilefit() -> str:
    """The path of the program that was installed with this package."""
    import sysconfig
    name = "tilefit" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else os.name + "_user"
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),  # pip install --user
        os.path.join(os.path.dirname(package), "bin"),  # pip install --target
    ]
    for folder in folders:
        program = os.path.join(folder, name)
        if os.path.isfile(program):
            return program
    raise FileNotFoundError("no {} in {}: install tilefit again".format(name, ", ".join(folders)))
