"""Asks Triton for the shared and tensor memory of a kernel in Triton, Gluon or TLX.

The backend's own passes are run and stopped behind those that allocate: no PTX, no GPU. The module then says where every
buffer lies. Where the question is `full`, the stages run once more, to machine code. What is used of the compiler's inside
is bound in `load`, so that a version that lacks it is told apart from a kernel that is wrong.
"""
import builtins
import importlib
import sys
import traceback
from collections import namedtuple
from types import SimpleNamespace

from . import files, packages, stand_ins, triton_machine, triton_module, triton_target
from . import question as asking
from .question import Fault

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
INNER = ("fn", "__wrapped__")  # where decorators keep what they decorate
Compiler = namedtuple("Compiler", "triton GPUTarget ASTSource make_backend libtriton ir JITFunction CompilationError gluon with_packages")


class Allocated(Exception):
    """Ends the backend's pipeline behind the last pass that allocates."""


def answer(question, found, report):
    if found is None:
        raise Fault("no-compiler", f"Triton is not installed in {sys.executable}. Install it there, or select the Python that has it.")
    compiler = load()
    report({"by": named(compiler, found), "imported": ["triton"], "phase": "import"})
    target = triton_target.parse(question["target"], compiler)
    triton_target.take_gpu_away(target, compiler)
    module, stopped = loaded(question, target, compiler)
    facts = asking.what_was_loaded()
    report({**facts, "phase": "compile", "imported": ["triton", *facts["imported"]]})
    function = kernel(module, question["kernel"], compiler)
    source = source_of(function, question, compiler, module)
    try:
        plan = planned(source, function, target, question, compiler)
    except Fault as refused:
        raise (behind(stopped, refused) if stopped else refused) from None
    plan |= {"limit": triton_target.LIMITS.get(target.arch)} | ({"stopped": stopped.as_data()} if stopped else {})
    if not question.get("full"):
        return plan
    report({**plan, "phase": "machine"})  # whatever becomes of the machine code, this is answered
    return assembled(source, target, question, compiler)


def behind(stopped, refused):
    """What the compiler misses may be what the rest of the file would have given, so the file comes first."""
    stopped.details += f"\n{refused.message}\n{refused.details}"
    return stopped


def loaded(question, target, compiler):
    """(the author's module, why its top level stopped before its end or None)

    Files often launch their kernels at the top level, which cannot work here. A kernel that is defined above that can be
    asked about all the same.
    """
    try:
        return asking.load(question, triton_target.gpu_of(target)), None
    except Fault as fault:
        if fault.module is None or find_kernel(fault.module, question["kernel"], compiler) is None:
            raise
        return fault.module, fault


def load():
    """The compiler's inside, as far as it is used here."""
    with_packages = load_plugin()
    try:
        triton = importlib.import_module("triton")
    except Exception as error:
        raise Fault("no-compiler", f"Triton is installed, but cannot be imported: {error}", details=asking.said_by(error)) from None
    from triton._C import libtriton
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend
    from triton.compiler.errors import CompilationError
    from triton.runtime.jit import JITFunction
    return Compiler(triton, GPUTarget, ASTSource, make_backend, libtriton, libtriton.ir, JITFunction, CompilationError, load_gluon(), with_packages)


def load_plugin():
    """TLX as a package of its own must be there before Triton."""
    found = packages.find("triton-utlx")
    if found is None:
        return []
    try:
        importlib.import_module("utlx_plugin")
    except Exception:
        return []
    return [f"triton-utlx {found['version']}"]


def load_gluon():
    """(source, function, language names); None where this Triton has no Gluon."""
    try:
        from triton.experimental.gluon import language
        from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
        from triton.experimental.gluon.language.nvidia import blackwell, hopper
    except ImportError:
        return None
    names = vars(hopper) | vars(blackwell) | vars(language) | {"gl": language, "ttgl": language}
    return SimpleNamespace(source=GluonASTSource, function=GluonJITFunction, names=names)


def named(compiler, found):
    by = {"name": "triton", "version": found["version"] or compiler.triton.__version__, "with": compiler.with_packages, "known": found["known"]}
    return by | ({"fork": found["fork"]} if "fork" in found else {})


# ---- kernel
def kernel(module, name, compiler):
    found = find_kernel(module, name, compiler)
    if found is None:
        raise Fault("no-kernel", f"{module.__file__.rpartition('/')[2]} has no function {name} under @triton.jit or @gluon.jit after "
                    "its import. One that another function makes while it runs cannot be asked about: move it to the top level of "
                    "the file or of a class.",
                    module.__file__)
    return found


def find_kernel(module, name, compiler):
    return undecorated(attribute(module, name), compiler) or by_own_name(module, name, compiler)


def attribute(module, name):
    value = module
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def undecorated(value, compiler):
    """The function that @jit made, under the decorators above it."""
    for _ in range(20):
        if isinstance(value, compiler.JITFunction):
            return value
        value = next((vars(value)[name] for name in INNER if name in getattr(value, "__dict__", ())), None)
    return None


def by_own_name(module, name, compiler):
    """A kernel that the module holds under another name."""
    last = name.rpartition(".")[2]
    found = (undecorated(value, compiler) for value in list(vars(module).values()) if hasattr(value, "__dict__"))
    return next((one for one in found if one is not None and one.fn.__name__ == last), None)


# ---- arguments
def source_of(function, question, compiler, module):
    constants = constants_of(function, question, compiler, module)
    signature = question.get("signature", {})
    types = {name: "constexpr" if name in constants else signature.get(name)
             for name in function.arg_names}
    missing = [name for name, written in types.items() if written is None]
    if missing:
        raise Fault("argument", f"There is no type or value for {', '.join(missing)}: give one of each argument of {function.fn.__name__}.",
                    *place_of(function))
    positions = [function.arg_names.index(name) for name in question.get("divisible", ()) if name in function.arg_names]
    attributes = {(position,): [["tt.divisibility", 16]] for position in positions}
    is_gluon = compiler.gluon is not None and isinstance(function, compiler.gluon.function)
    make = compiler.gluon.source if is_gluon else compiler.ASTSource
    return make(fn=function, signature=types, constexprs=constants, attrs=attributes)


def constants_of(function, question, compiler, module):
    given = question.get("constexprs", {})
    for key in given:
        if key.split(".")[0] not in function.arg_names:
            raise Fault("argument", f"{function.fn.__name__} has no argument {key}.", *place_of(function))
    language = compiler.triton.language
    names = (compiler.gluon.names if compiler.gluon else {}) | {"triton": compiler.triton, "tl": language} | vars(module)
    constants = {one.name: one.default for one in function.params if one.is_constexpr and one.has_default and one.name not in given}
    for key, text in given.items():
        name, *within = key.split(".")
        constants[(function.arg_names.index(name), *map(int, within)) if within else name] = value(key, text, names, function)
    for key, constant in constants.items():
        if isinstance(constant, stand_ins.StandIn):
            package = constant.__name__.partition(".")[0]
            raise Fault("module", f"The value of {key} comes from {package}, which {sys.executable} does not find. Install it there, "
                        "or select the Python that has it.", *place_of(function))
    return constants


# Others are the names of what a parameter chooses: "max" is a way to reduce.
WORDS = {name: getattr(builtins, name) for name in ("bool", "float", "frozenset", "int", "list", "range", "set", "str", "tuple")}


def value(key, text, names, function):
    if not isinstance(text, str):
        return text
    try:
        return eval(text, {**names, "__builtins__": WORDS})
    except (NameError, SyntaxError):
        return text  # a word, such as the name of a precision
    except Exception as error:
        raise Fault("argument", f"The value {text} of {key} cannot be computed: {type(error).__name__}: {error}",
                    *place_of(function), asking.said_by(error)) from None


def place_of(function):
    code = function.fn.__code__
    return code.co_filename, code.co_firstlineno


# ---- compilation
def planned(source, function, target, question, compiler):
    try:
        module, context = allocated(source, target, question, compiler)
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(error, compiler) from None
    buffers, tensor_memory = triton_module.read(module.str(), function.fn.__code__.co_filename)
    return {"shared": module.get_int_attr("ttg.shared"), "tensor_columns": module.get_int_attr("ttg.tensor_memory_size") or 0,
            "total_warps": module.get_int_attr("ttg.total-num-warps") or module.get_int_attr("ttg.num-warps"),
            "buffers": buffers, "tensor_memory": tensor_memory}


def assembled(source, target, question, compiler):
    """The numbers of the machine code, or why there are none."""
    try:
        module, metadata, stages, _context = begun(source, target, question, compiler)
        return {"machine": triton_machine.of(module, metadata, stages, target, compiler)}
    except Exception as error:
        return {"no_machine": triton_machine.why_not(error)}


def allocated(source, target, question, compiler):
    """The module behind allocation, and the context that it lives in."""
    module, metadata, stages, context = begun(source, target, question, compiler)
    for name, stage in stages.items():
        if name == "llir":
            run_to_allocation(stage, module, metadata, *last_to_allocate(target, compiler))
            break
        module = stage(module, metadata)
    return module, context


def begun(source, target, question, compiler):
    """(the kernel's module before any stage, what stages say of it, the stages by name, the context that it lives in)"""
    given = {name: value for name, value in question.get("options", {}).items() if name in OPTIONS and value is not None}
    backend = compiler.make_backend(target)
    options = backend.parse_options(given | source.parse_options())
    context = compiler.ir.context()
    compiler.ir.load_dialects(context)
    backend.load_dialects(context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    return module, {"hash": "", "target": target, **vars(options)}, stages, context


def last_to_allocate(target, compiler):
    """(owner, name) of what adds the last pass that allocates"""
    if target.backend == "cuda":
        return compiler.libtriton.nvidia.passes.ttnvgpuir, "add_allocate_tensor_memory"
    return compiler.libtriton.amd.passes.ttgpuir, "add_allocate_shared_memory"


def run_to_allocation(stage, module, metadata, owner, name):
    """Runs a stage up to a pass, by letting what adds this pass run the pipeline as far as it has got."""
    add = getattr(owner, name)

    def add_and_run(passes, *args):
        add(passes, *args)
        passes.run(module, "allocate")
        raise Allocated

    setattr(owner, name, add_and_run)
    try:
        stage(module, metadata)
    except Allocated:
        pass
    finally:
        setattr(owner, name, add)


# ---- refusals
def refusal(error, compiler):
    """What the compiler raised, at the author's line that it is about; an error of the driver's own stays what it is."""
    if traceback.extract_tb(error.__traceback__)[-1].filename.startswith(files.HERE) and not isinstance(error, compiler.CompilationError):
        if isinstance(error, (AttributeError, ImportError, TypeError, KeyError)):
            return asking.fault_of_driver(error)
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    places = [place for one in reversed(chain) if (place := place_in_kernel(one))]
    authors = [place for place in places if files.is_authors(place[0])]
    file, line = (authors or places or [(None, None)])[0]
    innermost = chain[-1]
    said = getattr(innermost, "error_message", None) or str(innermost)
    return Fault("refused", f"The compiler refuses the kernel: {said.strip()[:400]}", file, line, str(error))


def place_in_kernel(error):
    """(file, line) of an error of the front end: its line counts within the function that was being read."""
    line = getattr(getattr(error, "node", None), "lineno", None)
    if line is None:
        return None
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        reader = frame.f_locals.get("self")
        if hasattr(reader, "begin_line") and hasattr(reader, "jit_fn"):
            return reader.jit_fn.fn.__code__.co_filename, reader.begin_line + line
    return None
