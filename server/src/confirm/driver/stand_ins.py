"""Names in place of packages that are not installed.

A file of kernels often imports packages that only its host code needs. Where such a package is not found anywhere, the file
gets an object that gives another such object for everything: as an attribute, a decorator, a base class, a type.
"""
import ast
import importlib.machinery
import sys
import types
from abc import ABCMeta

from . import files

packages = set()  # names of the packages that something stands for
VERSION = "2.9.0"  # of every package: files choose between interfaces by it
OTHER_DEVICES = {"torch.mlu", "torch.musa", "torch.npu", "torch.corex", "torch.gcu"}  # torch has these where such a device is
FOR_AUTHORS = {"triton._internal_testing"}  # imports packages of tests; files of kernels ask it for the kind of GPU


class StandIn:
    def __init__(self, name):
        self.__dict__["__name__"] = self.__dict__["__qualname__"] = name

    def __getattr__(self, name):
        if name == "__version__":
            return VERSION
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__[name] = StandIn(f"{self.__name__}.{name}")
        return self.__dict__[name]

    def __call__(self, *args, **kwargs):
        """As a decorator it changes nothing."""
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorates else StandIn(self.__name__ + "()")

    def __mro_entries__(self, bases):
        first = next(base for base in bases if isinstance(base, StandIn))
        return (Base,) if first is self else ()

    def __instancecheck__(self, value):
        return False

    def __subclasscheck__(self, value):
        return False

    def __getitem__(self, key):
        return StandIn(self.__name__ + "[]")

    def __setitem__(self, key, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __bool__(self):
        return False

    def __contains__(self, value):
        return False

    def __repr__(self):
        return self.__name__

    def result(self, *_):
        return StandIn(self.__name__)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = result
    __mod__ = __or__ = __ror__ = __and__ = __rand__ = __neg__ = __invert__ = __pow__ = __matmul__ = result

    # A version, mostly: taken for a new one.
    def __ge__(self, other):
        return True

    def __lt__(self, other):
        return False

    __gt__, __le__ = __ge__, __lt__


class OfClass(ABCMeta):
    """Gives a class that is derived from a stand-in the names that it would inherit."""

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return StandIn(name)


class Base(metaclass=OfClass):
    pass


class Module(types.ModuleType):
    """What an import of a missing package gives."""

    def __getattr__(self, name):
        if name == "__version__":
            return VERSION
        if name.startswith("__") or f"{self.__name__}.{name}" in OTHER_DEVICES:
            raise AttributeError(name)
        value = StandIn(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class Finder:
    """Comes last: finds what nothing else has found."""

    def __init__(self, gpu):
        self.gpu = gpu

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != name and top not in packages:
            return None
        if top == name and (name in sys.stdlib_module_names or not self.is_host_import(importer())):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def is_host_import(self, frame):
        """An import by the author's file, and not one that reckons with its failing."""
        path = frame.f_code.co_filename
        asks = files.is_authors(path) or frame.f_globals.get("__name__") in FOR_AUTHORS
        return asks and not is_in_try(path, frame.f_lineno)

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        packages.add(module.__name__.partition(".")[0])
        if module.__name__ == "torch" and self.gpu is not None:
            imitate_gpu(module, self.gpu)


def importer():
    """The frame that imports: the nearest that is not the import system."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame


def is_in_try(path, line):
    """Whether a line stands in a `try` that goes on when an import fails."""
    tree = ast.parse(files.read_bytes(path))
    return any(isinstance(node, ast.Try) and node.body[0].lineno <= line <= node.body[-1].end_lineno
               and any(catches_import_errors(handler.type) for handler in node.handlers) for node in ast.walk(tree))


def catches_import_errors(types_written):
    caught = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    return types_written is None or any(getattr(node, "id", None) in caught for node in ast.walk(types_written))


def install(gpu):
    sys.meta_path.append(Finder(gpu))


def imitate_gpu(torch, gpu):
    """Files ask torch at import which GPU there is, and fail or choose other kernels where there is none: these functions
    of torch.cuda answer for the target instead. Everything else of torch stays as it is."""
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_name = lambda *_: gpu.name
    torch.cuda.get_device_capability = lambda *_: (gpu.major, gpu.minor)
    torch.cuda.get_device_properties = lambda *_: gpu
