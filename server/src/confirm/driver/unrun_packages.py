"""Packages above a file, in place of ones whose own code fails for reasons that need not be the file's.

The code of such an `__init__.py` is read, not run: it gives the constants that it assigns, and what it imports from its
own modules when somebody asks for that.
"""
import ast
import importlib
import os
import sys
import types

from . import files


class Parent(types.ModuleType):
    def __init__(self, name, folder):
        super().__init__(name)
        self.__path__ = [folder]
        self.__package__ = name
        self.__file__ = os.path.join(folder, "__init__.py")
        self.__dict__["imported_from"] = {}
        for node in ast.parse(files.read_bytes(self.__file__)).body:
            self.take(node)

    def take(self, node):
        if isinstance(node, ast.ImportFrom) and (node.level or is_within(node.module, self.__name__)):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                self.imported_from[alias.asname or alias.name] = module, alias.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                self.__dict__[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                pass  # computed

    def __getattr__(self, name):
        if name not in self.__dict__.get("imported_from", ()):
            raise AttributeError(name)
        module, there = self.imported_from[name]
        source = importlib.import_module(module, self.__name__)
        value = getattr(source, there) if source is not self else importlib.import_module("." + there, self.__name__)
        self.__dict__[name] = value
        return value


def is_within(module, package):
    return module is not None and (module + ".").startswith(package + ".")


def leave_out(path, package):
    """Forgets the packages above a file, as far as they were imported, and puts these in their place."""
    names = package.split(".")
    for name in [name for name in sys.modules if name.split(".")[0] == names[0]]:
        del sys.modules[name]
    folder = os.path.dirname(path)
    for depth in range(len(names), 0, -1):
        name = ".".join(names[:depth])
        sys.modules[name] = Parent(name, folder)
        folder = os.path.dirname(folder)
