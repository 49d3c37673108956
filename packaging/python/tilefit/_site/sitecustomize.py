"""Found by the Python processes below `tilefit record`. It waits for what is recorded, and runs the sitecustomize that it hides."""
import os
import sys
from importlib.machinery import PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))


class Elsewhere:
    """Finds this package, in a Python that has none."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [os.path.dirname(os.path.dirname(HERE))]) if name == "tilefit" else None


def wait():
    sys.meta_path.append(Elsewhere)
    try:
        import tilefit._beginning  # noqa: F401
    except Exception as error:
        print("tilefit: nothing is recorded in this process: {}: {}".format(type(error).__name__, error), file=sys.stderr)


def run_hidden():
    folders = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != HERE]
    spec = PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        import importlib.util
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


wait()
run_hidden()
