"""Which compilers this Python has, found without importing them."""
import os
import platform
import sys
from importlib import metadata, util

TESTED = {"triton": ("3.8", "3.9"), "triton-utlx": ("3.8",), "pypto": ("0.1",), "tilelang": ("0.1.15",)}
MODULE_OF = {"triton-utlx": "utlx_plugin"}


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def folder_of(module):
    """The folder of an importable package, or None."""
    try:
        spec = util.find_spec(module)
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return folders[0] if folders else None


def find(package):
    """What is known of an installed package; None if it is not there."""
    folder = folder_of(MODULE_OF.get(package, package))
    if folder is None:
        return None
    version = version_of(package)
    is_known = any(f"{version}.".startswith(f"{tested}.") for tested in TESTED[package])
    found = {"version": version, "path": folder, "known": is_known}
    if package == "triton" and os.path.isdir(os.path.join(folder, "language", "extra", "tlx")):
        found |= {"fork": "TLX", "known": False}
    if package == "pypto":
        found["what"] = "compiler" if is_pypto_compiler(folder) else "CANN's tensor framework"
    return found


def is_pypto_compiler(folder):
    """PyPI's pypto is another project of the same name: it has neither a language nor a core."""
    files = os.listdir(folder)
    return "language" in files and any(name.startswith("pypto_core") for name in files)


def found_here():
    return {package: found for package in TESTED if (found := find(package))}


def hello():
    return {"hello": 1, "python": platform.python_version(), "executable": sys.executable, "packages": found_here()}
