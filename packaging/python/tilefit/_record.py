"""Notes what Triton compiles and launches in this process.

Triton says so itself, to hooks of which there is one each. So that the user's own hooks stay where they are, what calls them is wrapped.
"""
import atexit
import contextlib
import functools
import importlib.abc
import importlib.util
import inspect
import os
import sys
import threading
from typing import Iterator, Optional

from . import _launches, _sources
from ._texts import text

FILE, ROOT, DRY = "TILEFIT_RECORD", "TILEFIT_RECORD_ROOT", "TILEFIT_RECORD_DRY"
ABOVE = "TILEFIT_RECORDED_BY"  # the process that merges what its children record
OPTIONS = ("num_warps", "num_ctas", "num_stages")
DIVISIBLE = ["tt.divisibility", 16]
MOST_NOTES = 100_000  # of one process
recorder = None  # the one that is at work
test = None  # the pytest test that runs
complaints = set()


def complain(message):
    """Once. The user's program goes on."""
    if message not in complaints and len(complaints) < 10:
        complaints.add(message)
        print(f"tilefit: {message}", file=sys.stderr, flush=True)


def careful(function):
    """A recorder that fails must not break what it records."""
    @functools.wraps(function)
    def without_errors(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            complain(f"the recorder failed, and the program goes on: {type(error).__name__}: {error}")
    return without_errors


# ---- beginning and end
@contextlib.contextmanager
def record(output: Optional[str] = None, dry: Optional[str] = None) -> Iterator[None]:
    """Records what Triton compiles within: `with tilefit.record():`. `output` is a file, `dry` a device such as "sm_90"."""
    mine = start(output, dry)
    try:
        yield
    finally:
        if mine:
            finish()


def start(output=None, dry=None):
    """Whether this has begun a recording: within another one it has not."""
    global recorder
    if recorder is not None:
        return False
    if dry:  # a wrong name of a device is an error of the user's
        from . import _dry
        _dry.device_of(dry)
    begun(output, dry)
    return recorder is not None


@careful
def begun(output, dry):
    global recorder
    recorder = Recorder(output, dry)
    when_imported("triton", install)
    if dry:
        from . import _dry
        _dry.begin(dry)


def start_from_environment():
    """`TILEFIT_RECORD=1`, or a file."""
    named = os.environ.get(FILE, "")
    if named in ("", "0"):
        return False
    return start(None if named == "1" else named, os.environ.get(DRY))


@careful
def flush():
    """What is known so far lies in the part file, which others may take."""
    if recorder is not None:
        recorder.flush()


@careful
def finish():
    global recorder
    ended, recorder = recorder, None
    if ended is not None:
        ended.finish()


atexit.register(finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: recorder and recorder.forked())


class Note:
    """One specialisation, as this process has seen it."""

    def __init__(self, owner, line):
        self.owner, self.line = owner, line
        self.tests, self.last_test, self.launched = set(), None, False
        self.runs = -1  # that are not written yet: the first one was written before it ended

    def seen(self, kernel):
        self.runs += 1
        if test is not self.last_test:
            self.last_test = test
            self.tests.add(test)
        if not self.launched:
            self.launched = True
            self.line.update(registers_of(kernel) if "shared" in self.line and not self.owner.is_dry else {})
            self.tests.add(test)


class Recorder:
    def __init__(self, output=None, dry=None):
        self.root = os.environ.get(ROOT) or _sources.root_of(os.getcwd())
        self.file = os.path.abspath(output or _launches.default_file(self.root))
        self.part = _launches.Part(self.file)
        self.is_dry = bool(dry)
        self.notes, self.left_out, self.lock = [], set(), threading.Lock()
        self.is_top = ABOVE not in os.environ
        self.before = {name: os.environ.get(name) for name in (FILE, ROOT, DRY, ABOVE)}
        given = {FILE: self.file, ROOT: self.root, DRY: dry, ABOVE: str(os.getpid())}
        os.environ.update({name: value for name, value in given.items() if value and (self.is_top or name not in os.environ)})

    def forked(self):
        self.part.close()
        self.lock = threading.Lock()
        self.is_top = False
        for note in self.notes:
            note.runs, note.tests, note.last_test = 0, set(), None  # those are the parent's

    def note(self, line, kernel):
        note = Note(self, line)
        with self.lock:
            if len(self.notes) >= MOST_NOTES:
                return
            self.notes.append(note)
            self.part.write(dict(line, tests=shown_tests([test or test_in_environment()], self.root), runs=1))
        kernel.__dict__["_tilefit"] = note

    def leave_out(self, kernel):
        if kernel not in self.left_out:
            self.left_out.add(kernel)
            self.part.write({"left_out": kernel})

    def flush(self):
        with self.lock:
            for note in self.notes:
                if note.runs > 0 or note.tests:
                    self.part.write(dict(note.line, tests=shown_tests(note.tests, self.root), runs=max(note.runs, 0)))
                    note.tests, note.last_test, note.runs = set(), None, 0
            self.part.close()

    def finish(self):
        self.flush()
        if not self.is_top:
            return
        for name, value in self.before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _launches.said(_launches.merge(self.file), self.file, self.root)


def test_in_environment():
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or None


def shown_tests(tests, root):
    """No absolute path is written, not even one in the name of a test."""
    private = (root, os.path.expanduser("~") + os.sep, "/tmp/")
    return sorted(one for one in tests if one and not os.path.isabs(one) and len(one) < 300 and not any(path in one for path in private))


# ---- hooks
def install():
    """Wraps what calls Triton's hooks, and what launches a kernel. Both are there in each of 3.2 to 3.9."""
    from triton.runtime.jit import JITFunction
    if hasattr(JITFunction, "_tilefit"):
        return
    JITFunction._tilefit = True
    calls_hooks = JITFunction._call_hook
    names = inspect.signature(calls_hooks)

    @functools.wraps(calls_hooks)
    def call_hook(self, *args, **kwargs):
        answer = calls_hooks(self, *args, **kwargs)
        if recorder is not None:
            compiled(self, names, args, kwargs)
        return answer

    JITFunction._call_hook = call_hook
    count_launches(JITFunction)


def count_launches(JITFunction):
    """A launch asks its kernel for `run`: to count there costs a tenth of what it costs to pass all arguments on."""
    from triton.compiler.compiler import CompiledKernel
    asks = vars(CompiledKernel).get("run")
    if isinstance(asks, property):
        CompiledKernel.run = property(lambda kernel: counted(kernel, asks.fget(kernel)))
        return
    runs = JITFunction.run  # Triton 3.2 to 3.4

    @functools.wraps(runs)
    def run(self, *args, **kwargs):
        kernel = runs(self, *args, **kwargs)
        counted(kernel, None)
        return kernel

    JITFunction.run = run


def counted(kernel, given):
    if recorder is not None:
        try:
            note = kernel.__dict__["_tilefit"]
            if note.owner is recorder and note.last_test is test and note.launched:
                note.runs += 1  # this is all that most launches pay
            else:
                launched(kernel, note)
        except (AttributeError, KeyError):
            pass
    return given


@careful
def launched(kernel, note):
    if note.owner is not recorder:  # it was compiled in an earlier recording
        recorder.note(note.line, kernel)
        note = kernel._tilefit
    note.seen(kernel)


@careful
def compiled(function, names, args, kwargs):
    """Behind compilation, and behind what Triton finds in its own cache. Before that, there is no kernel."""
    given = names.bind(function, *args, **kwargs).arguments
    kernel = cached(function, given["device"], given["key"])
    if kernel is None or type(kernel).__name__ == "FutureKernel":
        return
    note(function, kernel, given["signature"], given["constants"], given["options"], given["configs"][0])


def cached(function, device, key):
    caches = getattr(function, "device_caches", None)
    return function.cache[device].get(key) if caches is None else caches[device][0].get(key)


def note(function, kernel, signature, constants, options, attributes):
    place = _sources.described(function, recorder.root)
    if place is None:
        code = function.fn.__code__
        recorder.leave_out(_launches.digest(f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"))
        return
    functions = _sources.called(function, constants.values())
    arguments = [parameter.name for parameter in function.params]
    constexprs = {named(path, arguments): written(value) for path, value in constants.items()}
    known = {name: value for name, value in constexprs.items() if value is not None}
    unwritten = sorted(constexprs.keys() - known.keys())
    line = {
        "v": _launches.VERSION, "file": place.file, "kernel": place.name, "line": place.line,
        "sources": _sources.hashes(functions, recorder.root), "globals": _sources.globals_of(functions),
        "target": target_of(kernel),
        "signature": {name: type_text(kind) for name, kind in signature.items() if kind != "constexpr" and name not in constexprs},
        "constexprs": known, "divisible": divisible(attributes, arguments, constexprs),
        "options": {name: getattr(options, name) for name in OPTIONS if isinstance(getattr(options, name, None), int)},
        "by": compiler(),
    }
    recorder.note({**line, "unwritten": unwritten} if unwritten else {**line, **memory_of(kernel)}, kernel)


def named(path, arguments):
    """`x`, or `x.1` within a tuple; Triton 3.2 gives names."""
    if isinstance(path, str):
        return path
    first, *within = path if isinstance(path, tuple) else (path,)
    return ".".join([arguments[first], *map(str, within)])


def written(value):
    found = text(value)
    return None if found is not None and os.path.isabs(found) else found


def type_text(kind):
    return f"({', '.join(map(type_text, kind))})" if isinstance(kind, (tuple, list)) else str(kind)


def divisible(attributes, arguments, constexprs):
    if isinstance(attributes, dict):
        paths = [path for path, found in attributes.items() if DIVISIBLE in map(list, found)]
    else:  # Triton 3.2
        paths = getattr(attributes, "arg_properties", {}).get("tt.divisibility", ())
    return sorted({named(path, arguments) for path in paths} - constexprs.keys())


def target_of(kernel):
    target = kernel.metadata.target
    return f"{target.backend}:{target.arch}"


def memory_of(kernel):
    return {"shared": kernel.metadata.shared, "tensor_columns": getattr(kernel.metadata, "tmem_size", None) or 0}


def registers_of(kernel):
    """Known once a GPU has loaded the kernel."""
    found = {"registers": getattr(kernel, "n_regs", None), "spills": getattr(kernel, "n_spills", None)}
    return {name: value for name, value in found.items() if isinstance(value, int)}


@functools.lru_cache(maxsize=None)
def compiler():
    import triton
    found = {"name": "triton", "version": triton.__version__}
    is_tlx = importlib.util.find_spec("triton.language.extra.tlx") is not None
    return {**found, "fork": "TLX"} if is_tlx else found


# ---- imports
def when_imported(name, act):
    """Now, or once the module has been imported."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        act()
        return
    if not any(isinstance(finder, Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, Waiting())
    Waiting.acts.setdefault(name, []).append(act)


class Waiting(importlib.abc.MetaPathFinder):
    """Finds nothing itself: it acts once others have found and run a module."""
    acts = {}

    def find_spec(self, name, path=None, target=None):
        if name not in self.acts:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find and find(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = Acting(spec.loader)  # many only ask whether there is such a module
                return spec
        return None


class Acting(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(vars(self)["loader"], name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        for act in Waiting.acts.pop(module.__name__, ()):
            careful(act)()
