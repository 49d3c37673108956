"""Asks PyPTO where the tiles of a file's kernels lie.

The default passes are run up to the one that gives addresses. A program is a class under @pl.program, or what a function
under @pl.jit becomes for the shapes of its signature.
"""
import importlib
import inspect
import re
import sys
from types import SimpleNamespace

from . import files, pypto_tiles
from . import question as asking
from .question import Fault

LAST_PASS = "AllocateMemoryAddr"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OWN_ERRORS = ("pypto.", "pypto_core")


def answer(question, found, report):
    check_installed(found)
    compiler = load()
    report({"by": {"name": "pypto", "version": found["version"] or compiler.version, "with": []}, "imported": ["pypto"], "phase": "import"})
    settings = settings_of(question, compiler)
    module = loaded(question)
    report({**asking.what_was_loaded(), "phase": "compile", "imported": ["pypto", *asking.what_was_loaded()["imported"]]})
    written = pypto_tiles.Written(files.read_bytes(question["file"]))
    programs = [plan(name, program, settings, written, compiler) for name, program in asked_for(module, question, compiler)]
    return {"programs": programs}


def check_installed(found):
    if found is None:
        raise Fault("no-compiler", f"PyPTO is not installed in {sys.executable}. Install it there, or select the Python that has it.")
    if found["what"] != "compiler":
        raise Fault("no-compiler", f"The package pypto {found['version']} in {sys.executable} is {found['what']}, which has the same name. "
                    "The compiler of kernels is hw-native-sys/pypto: select a Python that has it.")


def load():
    """The compiler's inside, as far as it is used here."""
    try:
        pypto = importlib.import_module("pypto")
    except Exception as error:
        raise Fault("no-compiler", f"PyPTO is installed, but cannot be imported: {error}", details=asking.said_by(error)) from None
    import pypto.language as language
    from pypto import backend, ir
    from pypto.ir.pass_manager import OptimizationStrategy, PassManager
    from pypto.pypto_core import passes
    return SimpleNamespace(language=language, backend=backend, ir=ir, passes=passes, PassManager=PassManager,
                           strategy=OptimizationStrategy.Default, version=getattr(pypto, "__version__", None))


def settings_of(question, compiler):
    """(backend, planner) by the names of the question."""
    kind = getattr(compiler.backend.BackendType, "Ascend" + question["target"], None)
    planner = getattr(compiler.passes.MemoryPlanner, question.get("planner") or "PYPTO", None)
    if kind is None:
        raise Fault("argument", f"PyPTO has no target {question['target']}: there are 910B and 950.")
    if planner is None:
        raise Fault("argument", f"This PyPTO has no memory planner {question['planner']}.")
    return kind, planner


# ---- programs of a file
def loaded(question):
    """The author's module. The compiler reads programs while the file is imported, so that may be a refusal."""
    try:
        return asking.load(question, None)
    except Fault as fault:
        if fault.kind == "module" and is_compilers(fault.__cause__):
            raise refusal(fault.__cause__, None) from None
        raise


def asked_for(module, question, compiler):
    """(name, program) of each program that the question is about"""
    wanted = question.get("kernel")
    found = [(name, value) for name, value in vars(module).items() if is_program(value, module, compiler)]
    if wanted is not None:
        found = [(name, value) for name, value in found if name == wanted]
    if not found:
        what = f"program or function {wanted}" if wanted else "program"
        raise Fault("no-kernel", f"The file has no {what} under @pl.program or @pl.jit at its top level.", question["file"])
    for name, value in found:
        if isinstance(value, compiler.ir.Program):
            yield name, value
        elif (program := specialised(name, value, question, wanted is not None, compiler)) is not None:
            yield name, program


def is_program(value, module, compiler):
    if isinstance(value, compiler.ir.Program):
        return True
    return hasattr(type(value), "_resolve_specialization") and getattr(value, "__module__", None) == module.__name__


def specialised(name, function, question, is_asked, compiler):
    """The program of a function for the shapes of its signature; None if the signature leaves one open and nobody asked for it."""
    open_values = {one.name: compiler.language.RUNTIME for one in inspect.signature(function._func).parameters.values()
                   if one.default is inspect.Parameter.empty}
    try:
        spec, _ = function._resolve_specialization((), open_values | given(question), allow_signature_mode=True)
    except TypeError as error:
        if not is_asked:
            return None
        raise Fault("argument", f"The shapes of {name} are not known from its signature: write them as pl.Tensor[[...], dtype].",
                    *place_of(function), str(error)) from None
    try:
        return function._compile_to_program_with_rename_map(spec.tensor_meta, spec.scalar_values, spec.scalar_dtypes,
                                                            spec.per_func_dyn, compiler.language)[0]
    except Exception as error:
        raise refusal(error, place_of(function)) from None


def given(question):
    """Values of scalar parameters that the question gives; the others are open until the kernel is launched."""
    try:
        return {name: eval(text, {}) if isinstance(text, str) else text for name, text in question.get("constexprs", {}).items()}
    except Exception as error:
        raise Fault("argument", f"A value of a parameter cannot be computed: {error}.", question["file"]) from None


def place_of(function):
    code = function._func.__code__
    return code.co_filename, code.co_firstlineno


# ---- plans
def plan(name, program, settings, written, compiler):
    kind, planner = settings
    passes = compiler.passes
    compiler.backend.reset_for_testing()
    compiler.backend.set_backend_type(kind)
    quiet = passes.DiagnosticCheckSet()
    quiet.insert(passes.DiagnosticCheck.UnusedControlFlowResult)
    context = passes.PassContext([], passes.get_default_verification_level(), passes.DiagnosticPhase.NONE, quiet, planner)
    with context:
        pipeline = pipeline_to_addresses(compiler)
        try:
            final = pipeline.run(program)
        except Exception as error:
            raise refusal(error, None) from None
    functions = [pypto_tiles.of_function(function, written, kind, compiler.ir) for function in final.functions.values()]
    return {"name": name, "functions": [function for function in functions if function]}


def pipeline_to_addresses(compiler):
    """Made within the context: the planner decides which passes there are."""
    pipeline = compiler.passes.PassPipeline()
    for step in compiler.PassManager.get_strategy(compiler.strategy).passes:
        pipeline.add_pass(step)
        if step.get_name() == LAST_PASS:
            return pipeline
    raise AttributeError(f"there is no pass {LAST_PASS}")


# ---- refusals
def is_compilers(error):
    return error is not None and type(error).__module__.startswith(OWN_ERRORS)


def refusal(error, place):
    """What the compiler raised, at the line that it is about, if it says so."""
    while error.__cause__ is not None and getattr(error, "span", None) is None:
        error = error.__cause__
    span = getattr(error, "span", None)
    if isinstance(span, dict) and span.get("begin_line", 0) > 0:
        place = span.get("filename"), span["begin_line"]
    said = COLOURS.sub("", str(error)).strip()
    first = said.splitlines()[0] if said else type(error).__name__
    return Fault("refused", f"The compiler refuses the kernel: {first[:400]}", *(place or (None, None)), said)
