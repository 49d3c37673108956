"""Which text a kernel was compiled from: hashes of its functions, by file and name."""
import ast
import functools
import hashlib
import inspect
import os
import tokenize
from collections import namedtuple
from types import FunctionType, ModuleType

from ._texts import text

Function = namedtuple("Function", "file name line sha256")  # `file` from the root, with `/`
Definition = namedtuple("Definition", "node name lines")
MARKS = (".git",), ("pyproject.toml", "setup.py")
INSTALLED = {"site-packages", "dist-packages", "__pycache__"}
JITTED = {"JITCallable", "JITFunction", "ConstexprFunction"}
MOST_FUNCTIONS = 500


def root_of(folder):
    """The folder of the repository that a folder belongs to."""
    folder = os.path.realpath(folder)
    for marks in MARKS:
        above = folder
        while True:
            if any(os.path.exists(os.path.join(above, mark)) for mark in marks):
                return above
            if os.path.dirname(above) == above:
                break
            above = os.path.dirname(above)
    return folder


def is_jitted(value):
    return any(base.__name__ in JITTED for base in type(value).__mro__)


# ---- one function
def described(function, root):
    """None where the function stands in no file below the root."""
    code = getattr(getattr(function, "fn", None), "__code__", None)
    if code is None:
        return None
    file = from_root(code.co_filename, root)
    found = definition(function) if file else None
    return found and Function(file, found.name, found.node.lineno, compiled_hash(function, found))


def from_root(path, root):
    path = os.path.realpath(path)
    if not path.startswith(root.rstrip(os.sep) + os.sep) or not os.path.isfile(path):
        return None
    parts = os.path.relpath(path, root).split(os.sep)
    return None if INSTALLED.intersection(parts) else "/".join(parts)


def definition(function):
    """Where the function is defined in its file; the first line of its code is that of its first decorator."""
    code = function.fn.__code__
    return definitions(code.co_filename).get((code.co_name, code.co_firstlineno))


@functools.lru_cache(maxsize=512)
def definitions(path):
    """{(name, first line): Definition}"""
    try:
        with tokenize.open(path) as file:
            source = file.read()  # line ends are "\n" from here on
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return {}
    lines = source.split("\n")
    found = {}

    def visit(node, classes):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                found[(child.name, first)] = Definition(child, ".".join([*classes, child.name]), lines)
            visit(child, [*classes, child.name] if isinstance(child, ast.ClassDef) else classes)

    visit(tree, [])
    return found


def compiled_hash(function, found):
    """Of the text in the file, unless another text was put in its place: then nothing in the file has that hash."""
    compiled = getattr(function, "src", None)
    if not isinstance(compiled, str) or without_margins(compiled).startswith(without_margins(text_of(found))):
        return sha256(found)
    return hashlib.sha256(compiled.encode()).hexdigest()


def without_margins(written):
    return "\n".join(line.strip() for line in written.splitlines())


def sha256(found):
    return hashlib.sha256(text_of(found).encode()).hexdigest()


def text_of(found):
    """From `def` to the end of the last statement, without the indentation that `def` has."""
    node = found.node
    lines = found.lines[node.lineno - 1:node.end_lineno]
    lines[-1] = lines[-1].encode()[:node.end_col_offset].decode()  # columns count bytes
    return "\n".join([lines[0][node.col_offset:], *(outdented(line, node.col_offset) for line in lines[1:])])


def outdented(line, columns):
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(blanks, columns):]


# ---- what it calls
def called(function, given):
    """The function, those that it calls, and those that it is given as compile-time values."""
    found, waiting = [], [function, *(value for value in given if is_jitted(value))]
    while waiting and len(found) < MOST_FUNCTIONS:
        one = waiting.pop(0)
        one = getattr(one, "__func__", one)
        if any(one is other for other in found) or not isinstance(getattr(one, "fn", None), FunctionType):
            continue
        found.append(one)
        waiting += named(one)
    return found


def named(function):
    """The jitted functions that the text of a function names."""
    place = definition(function)
    if place is None:
        return []
    scope = {**function.fn.__globals__, **inspect.getclosurevars(function.fn).nonlocals}
    values = [resolved(node, scope) for node in ast.walk(place.node) if isinstance(node, (ast.Name, ast.Attribute))]
    methods = [method for value in values if isinstance(value, type) and hasattr(value, "__triton_aggregate__") for method in vars(value).values()]
    return [value for value in values + methods if is_jitted(value)]


def resolved(node, scope):
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = resolved(node.value, scope)
    return getattr(owner, node.attr, None) if isinstance(owner, (ModuleType, type)) else None


def hashes(functions, root):
    """{file: {name: sha256}} of those below the root"""
    found = {}
    for one in filter(None, (described(function, root) for function in functions)):
        found.setdefault(one.file, {}).setdefault(one.name, one.sha256)  # of two with a name, the one that is nearer to the kernel
    return {file: dict(sorted(found[file].items())) for file in sorted(found)}


def globals_of(functions):
    """{name: text or None} of what the compiler took from modules; the kernel's own come first."""
    found = {}
    for function in functions:
        for (name, _), (value, _) in getattr(function, "used_global_vals", {}).items():
            if name not in found and not isinstance(value, (ModuleType, FunctionType, type)) and not is_jitted(value):
                found[name] = text(value)
    return dict(sorted(found.items()))
