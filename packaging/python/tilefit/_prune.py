"""`@tilefit.prune`: an autotuner does not compile what cannot fit.

Only what the program is sure about is removed. Whatever goes wrong here, tuning goes on with all configurations.
"""
import copy
import functools
import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, TypeVar, overload

from . import _arguments, _ask, _kernels
from ._fits import with_heuristics
from ._texts import is_of, text

Decorated = TypeVar("Decorated")
MOST_KEPT = 1000  # answers of one kernel
OLDEST, NEWEST = (3, 2), (3, 9)  # Tritons that the program was compared with. Of those before 3.7 it knows only what they need at least
warned: Set[str] = set()


@overload
def prune(kernel: Decorated, *, device: Any = ...) -> Decorated: ...
@overload
def prune(kernel: None = ..., *, device: Any = ...) -> Callable[[Decorated], Decorated]: ...


def prune(kernel: Any = None, *, device: Any = None) -> Any:
    """Above `@triton.autotune`: leaves out the configurations that cannot fit the device, the GPU at hand unless it is named.

    An `early_config_prune` that the autotuner has comes first. `TILEFIT_PRUNE=0` turns it off, `TILEFIT_PRUNE=verbose` says what
    was removed.
    """
    if kernel is None:
        return functools.partial(prune, device=device)
    tuners = [layer for layer in _kernels.layers_of(kernel) if is_of(layer, "Autotuner")]
    if not tuners:
        warn("tilefit.prune has nothing to do: there is no @triton.autotune below it")
    elif not isinstance(tuners[0].early_config_prune, Pruner):
        tuners[0].early_config_prune = Pruner(tuners[0], device, tuners[0].early_config_prune)
    return kernel


class Pruner:
    """In the place of an autotuner's `early_config_prune`."""

    def __init__(self, tuner: Any, device: Any, earlier: Optional[Callable[..., Any]]) -> None:
        self.tuner, self.device, self.earlier = tuner, device, earlier
        self.known: Dict[Tuple[str, str], Any] = {}
        self.is_traced = tracing()

    def __call__(self, configs: Any, named: Any, /, **given: Any) -> Any:
        if self.earlier is not None:
            configs = self.earlier(configs, named, **given)
        if self.is_traced is not None and self.is_traced():
            return configs
        return self.kept(configs, named, given)

    def kept(self, configs: Any, named: Any, given: Dict[str, Any]) -> Any:
        mode = os.environ.get("TILEFIT_PRUNE", "")
        if mode in ("0", "off") or not configs or len(configs) < 2:
            return configs
        try:
            return self.fitting(configs, {**(named or {}), **given}, mode == "verbose")
        except (LookupError, _ask.Refused, _arguments.Unwritten, _kernels.NotFound) as error:  # nothing is known of this kernel here
            say(mode == "verbose", f"nothing removed: {error}")
        except Exception as error:
            warn(f"tilefit.prune removes nothing: {error if isinstance(error, _ask.NoAnswer) else repr(error)}")
        return configs

    def fitting(self, configs: Sequence[Any], values: Dict[str, Any], verbose: bool) -> Sequence[Any]:
        kernel = _kernels.of(self.tuner)
        other = why_other_plan()
        if other:
            warn(f"tilefit.prune removes nothing: {other}")
            return configs
        why = why_not_judged(kernel, values)
        if why:
            say(verbose, f"{kernel.name}: nothing removed: {why}")
            return configs
        device = _kernels.device_of(self.device) if self.device is not None else _kernels.device_at_hand()
        limit = _kernels.limit_at_hand() if self.device is None else None
        launches = [self.launch(kernel, config, values, device) for config in configs]
        answers = iter(self.answers(kernel, device, [one for one in launches if one is not None]))
        found = [None if one is None else next(answers) for one in launches]
        removed = {at: one for at, one in enumerate(found) if one is not None and cannot_fit(one, limit)}
        if len(removed) == len(configs):
            least = min(removed, key=lambda at: removed[at]["low"])
            warn(f"{kernel.name}: no configuration fits {device}; the smallest one needs {removed[least]['low']} of "
                 f"{removed[least]['capacity']} bytes of shared memory")
            del removed[least]
        say(verbose, f"{kernel.name} on {device}: {len(removed)} of {len(configs)} configurations removed"
            + "".join(f"{'; ' if at else ': '}{named_config(configs[one])} ({needs(removed[one])})" for at, one in enumerate(removed)))
        return [config for at, config in enumerate(configs) if at not in removed] if removed else configs

    def launch(self, kernel: _kernels.Kernel, config: Any, values: Dict[str, Any], device: str) -> Optional[Dict[str, Any]]:
        """What the program is asked about a configuration; None where something about it cannot be told."""
        inner = kernel.layers[1:]
        try:
            values = {**values, **config.all_kwargs()}
            values = with_heuristics(inner, self.after_hook(config, values), strictly=True)
            names = {one.name for one in kernel.parameters}
            if any(is_of(one, "Autotuner") for one in inner) or any(has_effect(name, values[name]) for name in values if name not in names):
                return None
            usual = {"num_warps": 4, "num_stages": 3 if device.startswith("sm_") else 2, "num_ctas": 1}
            options = {name: int(value if values.get(name) is None else values[name]) for name, value in usual.items()}
            defaults = {one.name: one.default for one in kernel.parameters if one.default is not _kernels.MISSING}
            return _arguments.launch(kernel.parameters, {**defaults, **values}, options)
        except Exception:  # also of the author's own functions, which will be met again where they are needed
            return None

    def after_hook(self, config: Any, values: Dict[str, Any]) -> Dict[str, Any]:
        """A `pre_hook` gives descriptors the shape of their blocks. It is run on copies of them, and sees nothing else that it could change."""
        descriptors = {name: copy.copy(one) for name, one in values.items() if is_of(one, "TensorDescriptor")}
        if not descriptors:
            return values
        if self.tuner.user_defined_pre_hook:
            raise _arguments.Unwritten("a pre_hook of the autotuner may change descriptors")
        if config.pre_hook is not None:
            config.pre_hook({**{name: one if text(one) is not None else Untouchable() for name, one in values.items()}, **descriptors})
        return {**values, **descriptors}

    def answers(self, kernel: _kernels.Kernel, device: str, launches: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        if not launches:
            return []
        asked = device, json.dumps(launches)
        if asked not in self.known:
            if len(self.known) >= MOST_KEPT:
                self.known.clear()
            try:
                self.known[asked] = _ask.fits(kernel.file, kernel.name, [device], launches, triton=_kernels.triton_release())[0]
            except (_ask.NoAnswer, _ask.Refused) as error:
                self.known[asked] = error
        found = self.known[asked]
        if isinstance(found, Exception):
            raise found
        return found


class Untouchable:
    """In the place of a tensor: a hook that uses it fails, and its configuration stays."""


def why_other_plan() -> str:
    """Why the compiler here may plan otherwise than the program says."""
    triton = sys.modules.get("triton")
    version = getattr(triton, "__version__", "")
    if "+fb" in version:
        return f"Triton {version} is a fork, and what it plans is not known"
    if version and not OLDEST <= _kernels.triton_version() <= NEWEST:
        return f"what Triton {version} plans is not known, but that of {written(OLDEST)} to {written(NEWEST)} is"
    return ""


def written(version: Tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def why_not_judged(kernel: _kernels.Kernel, values: Dict[str, Any]) -> str:
    if kernel.own is None or not is_of(kernel.layers[-1], "JITFunction"):
        return "it is not a kernel of Triton"
    if values.get("debug") or getattr(kernel.own, "debug", False) or os.environ.get("TRITON_DEBUG", "0") not in ("", "0"):
        return "with `debug` the compiler plans otherwise"
    return _kernels.why_other_text(kernel)


def has_effect(option: str, value: Any) -> bool:
    return option not in _arguments.OPTIONS and option not in _arguments.WITHOUT_EFFECT and value not in (None, False)


def cannot_fit(answer: Dict[str, Any], limit: Optional[int]) -> bool:
    """`limit` is what the device at hand says, which may be more than others of its kind have."""
    if answer.get("verdict") != "does not fit" or answer.get("low") is None:
        return False
    return limit is None or answer["low"] > limit or answer["low"] <= (answer.get("capacity") or 0)


def named_config(config: Any) -> str:
    numbers = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return " ".join(f"{name}={value}" for name, value in numbers.items())


def needs(answer: Dict[str, Any]) -> str:
    if answer["low"] <= (answer.get("capacity") or 0):
        return str(answer.get("reason") or "does not fit")
    return f"needs {answer['low']} of {answer['capacity']} bytes"


def tracing() -> Optional[Callable[[], bool]]:
    """torch.compile traces what an autotuner calls, and cannot trace a question to a program."""
    torch = sys.modules.get("torch")
    return getattr(getattr(torch, "compiler", None), "is_compiling", None)


def say(verbose: bool, sentence: str) -> None:
    if verbose:
        print(f"tilefit: {sentence}", file=sys.stderr, flush=True)


def warn(sentence: str) -> None:
    """Once; and never as an error, which would end the author's program."""
    if sentence in warned:
        return
    warned.add(sentence)
    try:
        warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        print(f"tilefit: {sentence}", file=sys.stderr)
