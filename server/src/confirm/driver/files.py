"""Files that an answer hangs on: the author's, not those of Python or of installed packages."""
import hashlib
import io
import os
import site
import sys
import sysconfig
import types

from . import packages

HERE = os.path.dirname(os.path.abspath(__file__))


def read_bytes(path):
    with io.FileIO(path) as file:
        return file.readall()


def digest(path):
    return hashlib.sha256(read_bytes(path)).hexdigest()


def installed_folders():
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), HERE}
    folders |= {found["path"] for found in packages.found_here().values()}  # a compiler may be installed from its sources
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


INSTALLED = installed_folders()
asked = set()  # the file of the question is the author's wherever it lies


def is_authors(path):
    return path in asked or os.path.isfile(path) and not os.path.realpath(path).startswith(INSTALLED)


def authors():
    """[{path, sha256}] of every module of the author's that is loaded"""
    found = set(asked)
    for module in list(sys.modules.values()):
        path = vars(module).get("__file__") if isinstance(module, types.ModuleType) else None
        if isinstance(path, str) and is_authors(path):
            found.add(os.path.abspath(path))
    return [{"path": path, "sha256": digest(path)} for path in sorted(found)]
