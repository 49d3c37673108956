"""Found by the Python processes below `tilefit record`. It begins the recording once it is needed, and runs the sitecustomize that it hides.

Most processes never import Triton: they pay for nothing more than this file.
"""
import os
import sys
from importlib.machinery import PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))


class Beginning:
    """Finds nothing itself but this package, in a Python that has none."""
    awaited = {"triton", "torch"}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "tilefit":
            return PathFinder.find_spec(name) or PathFinder.find_spec(name, [os.path.dirname(os.path.dirname(HERE))])
        if name not in cls.awaited:
            return None
        cls.awaited = ()
        begin()
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not cls)
        return next((spec for spec in found if spec is not None), None)


def begin():
    try:
        from tilefit import _record
        _record.start_from_environment()
    except Exception as error:
        print(f"tilefit: nothing is recorded in this process: {type(error).__name__}: {error}", file=sys.stderr)


def run_hidden():
    folders = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != HERE]
    spec = PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        import importlib.util
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, Beginning)
run_hidden()
