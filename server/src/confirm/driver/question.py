"""Loading the author's file, and what is wrong with it as data."""
import importlib
import importlib.util
import os
import sys
import traceback

from . import files, stand_ins, unrun_packages

LONGEST_DETAILS = 4000
TOO_LITTLE_MEMORY = "The memory that a question may take was not enough. Allow more, or keep big data out of the file's top level."


class Fault(Exception):
    """Why there is no answer, for the author of the file."""

    def __init__(self, kind, message, file=None, line=None, details=""):
        super().__init__(message)
        self.kind, self.message, self.file, self.line, self.details = kind, message, file, line, details
        self.module = None  # what there is of the author's module, where its top level did not come to its end

    def as_data(self):
        return {"kind": self.kind, "message": self.message, "file": self.file, "line": self.line,
                "details": self.details[-LONGEST_DETAILS:]}


# ---- files
def check_file(question):
    """The answer is about the text that the asker has, before and behind the work."""
    path = question["file"]
    try:
        same = files.digest(path) == question["sha256"]
    except OSError as error:
        raise Fault("changed", f"{os.path.basename(path)} cannot be read: {error.strerror}.", path) from None
    if not same:
        raise Fault("changed", f"{os.path.basename(path)} is not what was asked about: save it and ask again.", path)


def what_was_loaded():
    """The facts of an answer that the author's modules decide."""
    facts = {"files": files.authors(), "imported": [name for name in ("numpy", "torch") if is_real(name)]}
    if stand_ins.packages:
        facts["stood_in"] = sorted(stand_ins.packages)
    return facts


def is_real(name):
    return name in sys.modules and name not in stand_ins.packages


# ---- loading
def load(question, gpu):
    """The author's module; `gpu` is what it is told when it asks which GPU there is, None for the truth."""
    path = os.path.abspath(question["file"])
    files.asked.add(path)
    source = files.read_bytes(path)
    root, name = place_in_package(path)
    sys.path[:0] = [root]
    sys.path += project_folders(root)
    stand_ins.install(gpu)
    try:
        if gpu is not None and b"torch" in source and "torch" not in stand_ins.packages and importlib.util.find_spec("torch"):
            stand_ins.imitate_gpu(importlib.import_module("torch"), gpu)
        return loaded(path, source, name)
    except MemoryError:
        raise Fault("memory", TOO_LITTLE_MEMORY) from None
    except BaseException as error:
        fault = fault_of_module(path, error)
        fault.module = sys.modules.get(name)
        raise fault from error


def loaded(path, source, name):
    package = name.rpartition(".")[0]
    if package:
        try:
            importlib.import_module(package)
        except Exception:
            unrun_packages.leave_out(path, package)
    there = sys.modules.get(name)
    if there is not None and os.path.realpath(getattr(there, "__file__", None) or "") == os.path.realpath(path):
        return there
    return execute(path, source, name if package or there is None else name + "_kernels")


def execute(path, source, name):
    """Runs exactly these bytes, not what an old .pyc holds."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return sys.modules.get(name, module)


def place_in_package(path):
    """The folder to import from, and the dotted name of the file there."""
    folder, stem = os.path.split(os.path.splitext(path)[0])
    names = [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, parent = os.path.split(folder)
        names.insert(0, parent)
    return folder, ".".join(names)


def project_folders(folder):
    """Where a project that is not installed keeps its packages: its top folder, or `src` or `python` in it."""
    while not any(os.path.exists(os.path.join(folder, mark)) for mark in ("pyproject.toml", "setup.py", ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return []
    return [place for inner in ("", "src", "python") if os.path.isdir(place := os.path.join(folder, inner))]


# ---- what went wrong
def authors_place(error):
    """(file, line) of the innermost of the author's lines in an exception; (None, None) if there is none."""
    if isinstance(error, SyntaxError) and error.filename and files.is_authors(error.filename):
        return error.filename, error.lineno
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__) if files.is_authors(frame.filename)]
    return places[-1] if places else (None, None)


def said_by(error):
    """The traceback without the driver's own lines."""
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if not frame.filename.startswith(files.HERE)])
    return "".join(told.format())


def fault_of_module(path, error):
    name = os.path.basename(path)
    kind = "exit" if isinstance(error, SystemExit) else "module"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if kind == "exit":
        message = f"{name} calls sys.exit when it is imported. Put that under `if __name__ == \"__main__\":`."
    elif missing:
        message = f"{name} imports {missing}, which {sys.executable} does not find. Install it there, or select the Python that has it."
    else:
        message = f"{name} cannot be imported: {type(error).__name__}: {str(error)[:400]}"
    return Fault(kind, message, *authors_place(error), said_by(error))


def fault_of_driver(error):
    """An error that is neither the author's nor a refusal: the compiler's inner interface is not the one we know."""
    message = ("The installed compiler works differently inside from the versions that this check was made for: "
               f"{type(error).__name__}: {str(error)[:400]}")
    return Fault("driver", message, details=said_by(error))
