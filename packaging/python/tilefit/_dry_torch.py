"""Tensors on a GPU that is not there.

A tensor that says it is on the GPU lies on the CPU where its values may steer what is launched (small integers, such as the lengths of
sequences), else on `meta`, where it has a shape and no values. What an operation gives has values if all that it is given has.
"""
import contextlib
import functools
import math
import os
import re
import weakref
from types import FunctionType

from . import _dry

MOST_VALUES = 1 << 20
ALIGNMENT = 256  # of what PyTorch allocates
STEP = 1 << 36  # addresses of one tensor's storage
torch = None


class NoValue(Exception):
    """The program asks for a value that only the GPU would have computed."""


def begin():
    global torch
    import torch as imported
    torch = imported
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    places = Places()
    functions, operations = modes(places)
    answer_for_device()
    take_compilers_away()
    pass_comparisons()
    operations.__enter__()
    functions.__enter__()


# ---- where a tensor is, and where it says it is
class Places:
    """By storage, so that views are where their base is."""

    def __init__(self):
        self.devices, self.addresses = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.next = STEP

    def of(self, tensor):
        """The device that the tensor says it is on."""
        default = "cuda" if tensor.device.type == "meta" else None
        named = self.devices.get(tensor.untyped_storage(), default) if is_dense(tensor) else default
        return torch.device("cuda", 0) if named == "cuda" else torch.device("cpu") if named == "cpu" else tensor.device

    def put(self, tensor, device):
        if is_dense(tensor):
            self.devices[tensor.untyped_storage()] = device

    def address(self, tensor):
        storage = tensor.untyped_storage()
        if storage not in self.addresses:
            self.addresses[storage] = self.next
            self.next += STEP + ALIGNMENT
        return self.addresses[storage] + tensor.storage_offset() * tensor.element_size()


def is_dense(tensor):
    return tensor.layout is torch.strided


def has_values(dtype, shape):
    return not (dtype.is_floating_point or dtype.is_complex) and math.prod(shape) <= MOST_VALUES


def is_unknown(value):
    if not isinstance(value, torch.Tensor):
        return False
    with torch._C.DisableTorchFunction():
        return value.device.type == "meta"


# ---- operations
def tensors(values):
    """Faster than PyTorch's own walk, which is most of what operations without values cost."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (list, tuple)):
        return []
    return [tensor for one in values if one is not None for tensor in tensors(one)]


def mapped(act, values):
    if isinstance(values, torch.Tensor):
        return act(values)
    if isinstance(values, dict):
        return {name: mapped(act, value) for name, value in values.items()}
    return type(values)(mapped(act, value) for value in values) if type(values) in (list, tuple) else values


@functools.lru_cache(maxsize=None)
def written_arguments(function):
    """(position, name) of what an operation changes"""
    return [(position, argument.name) for position, argument in enumerate(function._schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write]


def modes(places):
    """(what is asked of tensors, what computes)"""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    def move(tensor):
        return tensor.to("meta") if tensor.device.type == "cpu" else tensor

    def wanted(kwargs):
        device = kwargs.get("device")
        return torch.device(device).type if device is not None else None

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if function.namespace not in ("aten", "prims", "prim", "profiler", "_c10d_functional"):
                launches = of_gpu(function)
                if launches is not None:
                    with functions, self:
                        return launches(*args, **kwargs)
            with torch._C.DisableTorchFunction():  # where a tensor really lies counts here
                return self.compute(function, args, kwargs)

        def compute(self, function, args, kwargs):
            given = tensors((args, kwargs))
            device = wanted(kwargs)
            said = device or ("cuda" if any(places.of(one).type == "cuda" for one in given) else None)
            if device == "cuda" or (device is not None and any(map(is_unknown, given))):
                kwargs["device"] = lies(function, args, kwargs, given)
            if any(map(is_unknown, given)) or kwargs.get("device") == torch.device("meta"):
                found = without_values(function, args, kwargs, given)
            else:
                found = function(*args, **kwargs)
                if function.overloadpacket in EMPTY:
                    found.zero_()  # what a kernel should fill: the same in each run
            if said == "cuda" or any(map(is_unknown, tensors(found))):
                for one in tensors(found):
                    if not any(one is other for other in given):
                        places.put(one, said or "cpu")
            return found

    def lies(function, args, kwargs, given):
        """Where a new tensor on the GPU, or a copy, really lies."""
        if any(map(is_unknown, given)):
            return torch.device("meta")
        dtype = kwargs.get("dtype") or (given[0].dtype if given else None)
        if given:
            known = has_values(dtype, given[0].shape)
        else:
            with torch.utils._python_dispatch._disable_current_modes():
                shape = function(*args, **{**kwargs, "device": torch.device("meta")})
            known = has_values(shape.dtype, shape.shape)
        return torch.device("cpu" if known else "meta")

    def without_values(function, args, kwargs, given):
        if function is torch.ops.aten._local_scalar_dense.default:
            return scalar(args[0])
        if function is torch.ops.aten.equal.default:
            return True
        if function.overloadpacket in INDEXED:
            args = (args[0], places_of_masks(args[1]), *args[2:])
        changed = changed_by(function, args, kwargs)
        if any(not is_unknown(one) for one in changed):  # stays what it was
            return changed[0] if len(changed) == 1 else tuple(changed)
        args, kwargs = mapped(move, (args, kwargs))
        try:
            return function(*args, **kwargs)
        except NotImplementedError as error:
            name = getattr(function, "__name__", function)
            raise NoValue(f"{name} needs the values of a tensor that a GPU would have computed") from error

    def changed_by(function, args, kwargs):
        found = []
        for position, name in written_arguments(function):
            found += tensors(args[position] if position < len(args) else kwargs.get(name))
        return found

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            answer = ANSWERS.get(function)
            if kwargs and kwargs.get("device") is not None:
                kwargs = {**kwargs, "device": with_index(kwargs["device"])}
            if function is torch.Tensor.backward:
                with self:  # what a program does there is asked as well
                    return backward(*args, **(kwargs or {}))
            if function in FROM_DATA:
                return from_data(function, args, dict(kwargs or {}))
            if answer is not None and args and isinstance(args[0], torch.Tensor):
                found = answer(places, function, args, kwargs or {})
                if found is not NotImplemented:
                    return found
            return function(*args, **(kwargs or {}))

    functions = Functions()
    fill_answers(places)
    aten = torch.ops.aten
    EMPTY.update((aten.empty, aten.empty_like, aten.new_empty, aten.empty_strided, aten.new_empty_strided))
    INDEXED.update((aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_))
    FROM_DATA.update((torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor))
    return functions, Operations()


EMPTY, INDEXED = set(), set()


def places_of_masks(indices):
    """A mask whose values are known says how many places it has."""
    found = []
    for one in indices:
        is_mask = isinstance(one, torch.Tensor) and one.dtype == torch.bool and not is_unknown(one)
        found += one.nonzero().unbind(1) if is_mask else [one]
    return found


def backward(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    return torch.autograd.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


FROM_DATA = set()


def from_data(function, args, kwargs):
    """Tensors of Python values: on the CPU first, as PyTorch copies them to a GPU by itself."""
    device = kwargs.pop("device", None)
    if device is None:
        given = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        device = given.device if isinstance(given, torch.Tensor) else torch.get_default_device()
    device, needs_gradient = with_index(device), kwargs.pop("requires_grad", False)
    found = function(*args, **kwargs, device=device if device.type == "meta" else "cpu").to(device)
    return found.requires_grad_() if needs_gradient else found


def with_index(device):
    """PyTorch would ask the GPU for the current index."""
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    return torch.device("cuda", 0) if device.type == "cuda" and device.index is None else device


def of_gpu(function):
    """What a library has registered for the GPU: it is what launches kernels."""
    for key in ("CUDA", "CompositeExplicitAutograd"):
        if torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), key):
            return functools.partial(function._op_dk, getattr(torch._C.DispatchKey, key))
    return None


# ---- what is asked of a tensor
ANSWERS = {}


def scalar(tensor):
    if tensor.dtype.is_floating_point:
        return AnyFloat(1.0)
    if tensor.dtype == torch.bool:
        return True
    raise NoValue("the program reads an integer that a GPU would have computed")


class AnyFloat(float):
    """A number that nobody knows: every comparison holds, as tests compare what was computed with what was expected."""

    def __lt__(self, _):
        return True

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = float.__hash__

    def __int__(self):
        raise NoValue("the program makes an integer of a number that a GPU would have computed")

    __trunc__ = __round__ = __floor__ = __ceil__ = __int__


def any_float(name):
    method = getattr(float, name)

    def unknown(self, *others):
        try:
            found = method(self, *others)
        except ArithmeticError:
            found = 1.0
        return AnyFloat(found) if isinstance(found, float) else found

    return unknown


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "neg", "abs"):
    setattr(AnyFloat, f"__{_name}__", any_float(f"__{_name}__"))


def fill_answers(places):
    tensor = torch.Tensor

    def device(places, function, args, kwargs):
        with torch._C.DisableTorchFunctionSubclass():
            return places.of(args[0])

    def is_kind(kind):
        return lambda places, function, args, kwargs: places.of(args[0]).type == kind

    def address(places, function, args, kwargs):
        return places.address(args[0]) if places.of(args[0]).type == "cuda" else NotImplemented

    def index(places, function, args, kwargs):
        return 0 if places.of(args[0]).type == "cuda" else -1

    def to(places, function, args, kwargs):
        """A tensor that is there already is not copied."""
        target = next((torch.device(one) for one in (*args[1:], kwargs.get("device")) if isinstance(one, (str, torch.device))), None)
        if target is None or isinstance(args[1] if len(args) > 1 else None, torch.Tensor):
            return NotImplemented
        if kwargs.get("copy") or target.type != places.of(args[0]).type:
            args = [with_index(one) if isinstance(one, (str, torch.device)) else one for one in args]
            lies_there = target.type == "cpu" and args[0].device.type == "cpu"  # PyTorch would give the tensor itself
            return function(*args, **{**kwargs, "copy": True} if lies_there else kwargs)
        dtype = kwargs.get("dtype") or next((one for one in args[1:] if isinstance(one, torch.dtype)), None)
        return args[0] if dtype is None else args[0].to(dtype)

    def cuda(places, function, args, kwargs):
        return to(places, torch.Tensor.to, (args[0], torch.device("cuda", 0)), {})

    def cpu(places, function, args, kwargs):
        return to(places, torch.Tensor.to, (args[0], torch.device("cpu")), {})

    def itself(places, function, args, kwargs):
        return args[0]

    def set_data(places, function, args, kwargs):
        """PyTorch lets a tensor of the CPU become one of the GPU, and does not let it become one without values."""
        changed, data = args
        if not isinstance(data, torch.Tensor) or is_unknown(changed) == is_unknown(data):
            return NotImplemented
        needs_gradient = changed.requires_grad
        torch.utils.swap_tensors(changed, torch.nn.Parameter(data.detach(), False) if isinstance(changed, torch.nn.Parameter) else data.detach())
        changed.requires_grad_(needs_gradient)
        return None

    def yes(places, function, args, kwargs):
        return True if any(is_unknown(one) for one in args) else NotImplemented

    def truth(places, function, args, kwargs):
        """What is asserted of all holds, and of any does not."""
        if not is_unknown(args[0]):
            return NotImplemented
        if args[0].numel() != 1:
            return NotImplemented
        return getattr(args[0], "_tilefit_truth", True)

    def remember(value):
        def asked(places, function, args, kwargs):
            found = function(*args, **kwargs)
            if is_unknown(found) and found.numel() == 1:
                found._tilefit_truth = value
            return found
        return asked

    def values(places, function, args, kwargs):
        if is_unknown(args[0]):
            raise NoValue(f"the program reads the values of a tensor ({function.__name__}) that a GPU would have computed")
        return NotImplemented

    def shown(places, function, args, kwargs):
        if not is_unknown(args[0]):
            return NotImplemented
        return f"tensor(..., size={tuple(args[0].shape)}, dtype={args[0].dtype})"

    ANSWERS.update({
        tensor.device.__get__: device, tensor.is_cuda.__get__: is_kind("cuda"), tensor.is_cpu.__get__: is_kind("cpu"),
        tensor.is_meta.__get__: is_kind("meta"), tensor.get_device: index, tensor.data_ptr: address, tensor.to: to, tensor.cuda: cuda,
        tensor.cpu: cpu, tensor.data.__set__: set_data, tensor.pin_memory: itself, tensor.record_stream: lambda *_: None, tensor.allclose: yes, torch.allclose: yes,
        tensor.equal: yes, torch.equal: yes, tensor.__bool__: truth, tensor.all: remember(True), torch.all: remember(True),
        tensor.any: remember(False), torch.any: remember(False), tensor.isnan: remember(False),
        torch.isnan: remember(False), tensor.isinf: remember(False), torch.isinf: remember(False),
        tensor.tolist: values, tensor.numpy: values, tensor.__array__: values,
        tensor.__repr__: shown, tensor.__format__: shown, torch.get_device: index,
    })


# ---- the device
def answer_for_device():
    """What programs ask of torch.cuda."""
    found = _dry.properties(_dry.device)
    pair, memory = _dry.capability(_dry.device), found.total_memory
    cuda, device = torch.cuda, torch.device("cuda", 0)

    def gives(value):
        return lambda *_, **__: value

    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_name": found.name, "get_device_capability": pair,
        "get_device_properties": found, "is_bf16_supported": pair >= (8, 0), "is_initialized": True, "synchronize": None, "empty_cache": None,
        "set_device": None, "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
        "reset_peak_memory_stats": None, "reset_max_memory_allocated": None, "mem_get_info": (memory, memory), "init": None, "_lazy_init": None,
        "manual_seed": None, "manual_seed_all": None, "seed": None, "seed_all": None, "ipc_collect": None, "is_current_stream_capturing": False,
        "set_stream": None, "can_device_access_peer": False, "memory_stats": {}, "utilization": 0, "current_blas_handle": 0,
        "get_arch_list": [f"sm_{_dry.device.arch}"], "set_rng_state": None, "set_rng_state_all": None, "_lazy_call": None,
        "_exchange_device": 0, "_maybe_exchange_device": 0,
    }
    for name, value in answers.items():
        if hasattr(cuda, name):
            setattr(cuda, name, gives(value))
    cuda.get_rng_state = lambda *_: torch.get_rng_state()
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, Stream, Event
    cuda.current_stream = cuda.default_stream = lambda *_: Stream()
    cuda.stream = cuda.StreamContext = cuda.device = cuda.device_of = Within
    torch.Generator = generator(torch.Generator)
    torch._C._cuda_getCurrentRawStream = gives(0)
    if hasattr(torch, "accelerator"):
        for name, value in {"is_available": True, "device_count": 1, "current_accelerator": torch.device("cuda"), "synchronize": None,
                            "current_device_index": 0, "current_device_idx": 0, "set_device_index": None, "set_device_idx": None}.items():
            setattr(torch.accelerator, name, gives(value))
    is_cuda = _dry.device.backend == "cuda"
    torch.version.cuda = (torch.version.cuda or "13.0") if is_cuda else None
    torch.version.hip = None if is_cuda else (torch.version.hip or "7.0")
    return device


class Within(contextlib.ContextDecorator):
    """A device or a stream as a context."""

    def __init__(self, *given, **_):
        self.given, self.idx = given, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Stream(Within):
    cuda_stream = stream_id = 0
    priority = device_index = 0

    @property
    def device(self):
        return torch.device("cuda", 0)

    def query(self):
        return True

    def record_event(self, event=None):
        return event or Event()

    def synchronize(self, *_):
        return None

    wait_stream = wait_event = synchronize


class Event:
    def __init__(self, *_, **__):
        pass

    def elapsed_time(self, _):
        return 1.0

    def query(self):
        return True

    def record(self, *_):
        return None

    wait = synchronize = record


def generator(of_torch):
    class Generator(of_torch):
        def __new__(cls, device="cpu"):
            return super().__new__(cls, "cpu")
    return Generator


def take_compilers_away():
    """`torch.compile` gives the function as it is."""
    def compile(model=None, **_):
        return (lambda function: function) if model is None else model

    torch.compile = compile
    if hasattr(torch, "compiler"):
        torch.compiler.compile = compile


COMPARISON = re.compile(r"_?(assert|check|compare|verify)\w*(close|equal|match|same)\w*|\w*all_?close")


def pass_comparisons():
    """They are about values that do not exist."""
    torch.testing.assert_close = passing(torch.testing.assert_close)


def pass_comparisons_of(module):
    """Those that a module of tests has of its own."""
    for name, value in list(vars(module).items()) if module is not None else ():
        if isinstance(value, FunctionType) and COMPARISON.fullmatch(name) and not hasattr(value, "_tilefit"):
            setattr(module, name, passing(value))


def passing(compare):
    @functools.wraps(compare)
    def compare_known(*args, **kwargs):
        return True if mentions_gpu((args, kwargs)) else compare(*args, **kwargs)

    compare_known._tilefit = True
    return compare_known


def mentions_gpu(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(mentions_gpu, value))
    return isinstance(value, AnyFloat) or isinstance(value, torch.Tensor) and (value.device.type == "cuda" or is_unknown(value))
