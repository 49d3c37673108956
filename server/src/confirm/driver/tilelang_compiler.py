"""Asks TileLang for the shared memory of a kernel.

The wheel's own passes are run and watched where they give buffers their places: no code, no GPU. Its passes want to know a device only by name,
and `torch` is needed for little more than its import, so that names stand in for it where it is not installed.
"""
import importlib
import importlib.util
import sys
import traceback
from collections import namedtuple
from types import SimpleNamespace

from . import files, stand_ins, triton_target
from . import question as asking
from .question import Fault

MERGE = "tl.MergeSharedMemoryAllocations"
SHARED = "shared.dyn"
ACCELERATED = (100, 103)  # known by the features of the architecture alone
Device = namedtuple("Device", "backend arch warp_size")


def answer(question, found, report):
    if found is None:
        raise Fault("no-compiler", f"TileLang is not installed in {sys.executable}. Install it there, or select the Python that has it.")
    device = triton_target.parse(question["target"], SimpleNamespace(GPUTarget=Device))
    gpu = triton_target.gpu_of(device)
    compiler = load(gpu)
    by = {"name": "tilelang", "version": found["version"] or compiler.tilelang.__version__, "with": [], "known": found["known"]}
    report({"by": by, "imported": ["tilelang"], "phase": "import"})
    target = target_of(device, compiler)
    module = asking.load(question, gpu)
    facts = asking.what_was_loaded()
    report({**facts, "phase": "compile", "imported": ["tilelang", *facts["imported"]]})
    with target:
        function, configs = primitive(module, question, compiler)
        return planned(function, configs, target, compiler, question)


def load(gpu):
    """The compiler's inside, as far as it is used here."""
    if importlib.util.find_spec("torch") is None:
        stand_ins.install(gpu)
        stand_ins.packages.add("torch")
        sys.modules["torch"] = stand_ins.Module("torch")
    try:
        tilelang = importlib.import_module("tilelang")
    except Exception as error:
        raise Fault("no-compiler", f"TileLang is installed, but cannot be imported: {error}", details=asking.said_by(error)) from None
    import tilelang.language as language
    from tilelang import tvm
    from tilelang.backend.module import create_backend_context
    from tilelang.engine.lower import lower_to_host_device_ir
    return SimpleNamespace(tilelang=tilelang, language=language, tvm=tvm, context=create_backend_context, lower=lower_to_host_device_ir)


def target_of(device, compiler):
    if device.backend == "hip":
        return compiler.tvm.target.Target({"kind": "hip", "mcpu": device.arch})
    return compiler.tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.arch}{'a' if device.arch in ACCELERATED else ''}"})


# ---- the kernel
def primitive(module, question, compiler):
    """(the primitive function that the kernel's function gives for these arguments, what its decorator says to the passes)"""
    function = module
    for part in question["kernel"].split("."):
        function = getattr(function, part, None)
    if function is None:
        raise Fault("no-kernel", f"{module.__file__.rpartition('/')[2]} has no function {question['kernel']} after its import.", module.__file__)
    tuned = getattr(function, "jit_impl", None)
    function = tuned if tuned is not None else function
    given = {name: value(name, text, module, compiler) for name, text in question.get("constexprs", {}).items()}
    try:
        if hasattr(function, "get_tir"):
            return function.get_tir(**given), getattr(function, "pass_configs", None) or {}
        made = function(**given)
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(error) from None
    if hasattr(made, "get_tir"):
        return made.get_tir(), made.pass_configs or {}
    return made, {}


def value(name, text, module, compiler):
    names = {**vars(module), "T": compiler.language, "tilelang": compiler.tilelang, "torch": sys.modules.get("torch"), "tensor": tensor}
    try:
        return eval(text, names)
    except Fault:
        raise
    except Exception as error:
        raise Fault("argument", f"The value {text} of {name} cannot be computed: {type(error).__name__}: {error}", details=asking.said_by(error)) from None


def tensor(shape, dtype):
    """One of which only shape and type are there."""
    torch = sys.modules["torch"]
    if "torch" in stand_ins.packages:
        raise Fault("argument", "The kernel is made for tensors, and PyTorch is not installed here.")
    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


def refusal(error):
    """What the compiler says of the kernel, and the line of the author's that leads there."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if files.is_authors(frame.filename)]
    place = (frames[-1].filename, frames[-1].lineno) if frames else (None, None)
    said = [line for line in str(error).strip().splitlines() if line.strip()] or [type(error).__name__]
    return Fault("refused", f"The compiler refuses the kernel: {said[-1].strip()}", *place, asking.said_by(error))


# ---- the plan
class Watch:
    """Reads the buffers before they have places, and their places behind that."""

    def __init__(self, tirx):
        self.tirx, self.buffers, self.offsets = tirx, {}, {}

    def run_before_pass(self, module, info):
        if info.name == MERGE:
            self.each(module, self.take_buffer)

    def run_after_pass(self, module, info):
        if info.name == MERGE:
            self.each(module, self.take_offset)

    def each(self, module, take):
        for name, function in module.functions.items():
            if isinstance(function, self.tirx.PrimFunc):
                self.tirx.stmt_functor.post_order_visit(function.body, lambda node: take(name.name_hint, node))

    def take_buffer(self, function, node):
        if isinstance(node, self.tirx.AllocBuffer):
            self.buffers.setdefault(function, []).append(node.buffer)

    def take_offset(self, function, node):
        call = node.value if type(node).__name__ == "Bind" else None
        if isinstance(call, self.tirx.Call) and "handle_add_byte_offset" in str(call.op):
            self.offsets.setdefault(function, []).append((node.var.name, constant(call.args[1])))


def constant(value):
    """`None` for a number that only the launch has."""
    return int(value) if isinstance(value, int) or type(value).__name__ == "IntImm" else None


def planned(function, configs, target, compiler, question):
    tvm = compiler.tvm
    tirx = tvm.tirx
    watch = Watch(tirx)
    instrument = tvm.ir.instrument.pass_instrument(type("Watching", (), {
        "run_before_pass": lambda _, module, info: watch.run_before_pass(module, info),
        "run_after_pass": lambda _, module, info: watch.run_after_pass(module, info)}))()
    configs = {str(getattr(key, "value", key)): one for key, one in configs.items()}
    try:
        context = compiler.context(target, None, "auto")
        with tvm.transform.PassContext(opt_level=3, config=configs, instruments=[instrument]), target:
            device = compiler.lower(function, context)[1]
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(error) from None
    plans = [plan_of(name.name_hint, one, watch, tvm) for name, one in device.functions.items()]
    if not plans:
        raise Fault("refused", "The compiler makes no kernel of it.")
    return max(plans, key=lambda plan: plan["shared"])


def plan_of(name, function, watch, tvm):
    total = constant(function.attrs.get("dyn_shared_memory_buf", 0)) if function.attrs else 0
    if total is None:
        raise Fault("argument", "How much shared memory the kernel takes is known at its launch only.")
    offsets = list(watch.offsets.get(name, ()))
    buffers = [placed(buffer, offsets, tvm) for buffer in watch.buffers.get(name, ()) if buffer.scope() == SHARED]
    return {"shared": total, "buffers": buffers}


def placed(buffer, offsets, tvm):
    """A buffer that has the memory for itself is not placed, and lies at its start."""
    name = buffer.data.name
    at = next((nth for nth, (other, _) in enumerate(offsets) if other == name), None)
    offset = offsets.pop(at)[1] if at is not None else 0
    dtype = tvm.DataType(buffer.dtype)
    bits = dtype.bits * dtype.lanes
    count = 1
    for extent in buffer.shape:
        count *= constant(extent) or 0
    size = -(-count * bits // 8) if dtype.bits < 8 else count * -(-dtype.bits // 8) * dtype.lanes
    kind = "scratch" if name == "workspace" else "explicit"
    return {"op": name, "line": None, "offset": offset, "size": size, "kind": kind, "shape": [constant(extent) or 0 for extent in buffer.shape],
            "dtype": str(buffer.dtype)}
