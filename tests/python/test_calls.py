"""The calls of the Python package, with a program that answers what a test wants, and with the real one.

    TILEFIT=target/release/tilefit PYTHONPATH=packaging/python PYTHON -m unittest tests/python/test_calls.py

What needs Triton, pytest or the program is skipped where there is none.
"""
import contextlib
import importlib.util
import inspect
import io
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "python"))
import tilefit  # noqa: E402
from tilefit import _arguments, _ask, _kernels, _prune  # noqa: E402
from tilefit._kernels import MISSING, Parameter  # noqa: E402

PROGRAM = os.environ.get("TILEFIT")
TRITON = importlib.util.find_spec("triton")
EXAMPLE = ROOT / "docs" / "examples" / "tuned_matmul.py"

# Answers by SIZE: more than 100 does not fit, 0 is not known, 1 is refused. It notes each question. HOW: it dies or hangs at first, or always.
FAKE = """\
#!{python}
import json, os, sys, time
how, folder = os.environ.get("HOW", ""), os.environ["FOLDER"]
with open(os.path.join(folder, "starts"), "a") as file:
    file.write("start\\n")
starts = len(open(os.path.join(folder, "starts")).readlines())
def answer(launch):
    size = int(launch["constexprs"].get("SIZE", 0))
    verdict = "unknown" if size == 0 else "refused" if size == 1 else "fits" if size <= 100 else "does not fit"
    return dict(low=size, high=size or None, capacity=100, verdict=verdict, reason=None, buffers=[])
for line in sys.stdin:
    question = json.loads(line)
    if how == "dies" or (how == "dies at first" and starts == 1):
        sys.exit(3)
    if how == "hangs":
        time.sleep(60)
    if how == "raves":
        print("what?", flush=True)
        continue
    with open(os.path.join(folder, "questions"), "a") as file:
        file.write(line)
    if question["kernel"] == "absent":
        print(json.dumps({{"id": question["id"], "error": "there is no kernel `absent`"}}), flush=True)
        continue
    print(json.dumps({{"id": question["id"], "fits": [[answer(one) for one in question["launches"]] for _ in question["devices"]]}}), flush=True)
"""
KERNEL = """\
def kernel(x, n, SIZE, FLAG=True):
    pass
"""


class Asked(unittest.TestCase):
    """With a program of the test's own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        program = self.folder / "fake"
        program.write_text(FAKE.format(python=sys.executable))
        program.chmod(0o755)
        self.environment(TILEFIT=str(program), FOLDER=str(self.folder), HOW=None, TILEFIT_PRUNE=None, TRITON_DEBUG=None)
        self.forget()
        self.addCleanup(self.forget)

    def environment(self, **values):
        for name, value in values.items():
            self.addCleanup(set_variable, name, os.environ.get(name))
            set_variable(name, value)

    def forget(self):
        _ask.asker.end()
        _ask.asker.too_slow.clear()
        _prune.warned.clear()

    def noted(self, name="questions"):
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def ask(self, size=50, kernel="kernel"):
        return _ask.fits("kernels.py", kernel, ["sm_90"], [{"constexprs": {"SIZE": str(size)}}], seconds=2)[0][0]["verdict"]


def set_variable(name, value):
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


@unittest.skipIf(os.name != "posix", "the program of the test is a script")
class TheChild(Asked):
    def test_one_child_answers_all(self):
        self.assertEqual([self.ask(50), self.ask(200), self.ask(0)], ["fits", "does not fit", "unknown"])
        self.assertEqual(len(self.noted("starts")), 1)

    def test_what_it_refuses(self):
        with self.assertRaisesRegex(_ask.Refused, "there is no kernel"):
            self.ask(kernel="absent")
        self.assertEqual(self.ask(), "fits")
        self.assertEqual(len(self.noted("starts")), 1)

    def test_one_that_died_is_started_again(self):
        self.ask()
        _ask.asker.child.process.kill()
        _ask.asker.child.process.wait()
        self.assertEqual(self.ask(), "fits")
        self.assertEqual(len(self.noted("starts")), 2)

    def test_one_that_dies_at_a_question_is_asked_again(self):
        self.environment(HOW="dies at first")
        self.assertEqual(self.ask(), "fits")
        self.assertEqual(len(self.noted("starts")), 2)

    def test_one_that_always_dies_is_started_twice(self):
        self.environment(HOW="dies")
        with self.assertRaises(_ask.NoAnswer):
            self.ask()
        self.assertEqual(len(self.noted("starts")), 2)

    def test_one_that_writes_something_else(self):
        self.environment(HOW="raves")
        with self.assertRaises(_ask.NoAnswer):
            self.ask()

    def test_one_that_hangs_costs_its_time_once(self):
        self.environment(HOW="hangs")
        began = time.monotonic()
        for _ in range(3):
            with self.assertRaisesRegex(_ask.NoAnswer, "within 2 seconds"):
                self.ask()
        self.assertLess(time.monotonic() - began, 4)

    def test_one_that_hangs_before_it_has_read_a_long_question(self):
        self.environment(HOW="hangs")
        launches = [{"constexprs": {"SIZE": str(number)}} for number in range(20_000)]
        with self.assertRaisesRegex(_ask.NoAnswer, "within 1 seconds"):
            _ask.fits("kernels.py", "kernel", ["sm_90"], launches, seconds=1)

    def test_a_long_question(self):
        launches = [{"constexprs": {"SIZE": str(number)}} for number in range(20_000)]
        self.assertEqual(len(_ask.fits("kernels.py", "kernel", ["sm_90"], launches)[0]), 20_000)

    def test_no_program(self):
        self.environment(TILEFIT=str(self.folder / "absent"))
        with self.assertRaisesRegex(_ask.NoAnswer, "cannot be asked"):
            self.ask()

    def test_threads_get_their_own_answers(self):
        found = {}

        def ask(number):
            found[number] = [self.ask(size) for size in (number + 1, 1000)]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 20)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(set(map(tuple, found.values())), {("fits", "does not fit")})
        self.assertEqual(len(self.noted("starts")), 1)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_fork_starts_its_own(self):
        self.ask()
        with _ask.asker.lock:  # as another thread may hold it at that time
            context = multiprocessing.get_context("fork")
            answers = context.SimpleQueue()
            child = context.Process(target=lambda: answers.put([self.ask(50), self.ask(200)]))
            child.start()
        self.assertEqual(answers.get(), ["fits", "does not fit"])
        child.join(10)
        self.assertEqual(self.ask(), "fits")
        self.assertEqual(len(self.noted("starts")), 2)

    def test_it_ends_with_its_parent(self):
        code = "import os, tilefit._ask as a; a.fits('k.py', 'k', ['sm_90'], [dict(constexprs=dict())]); print(a.asker.child.process.pid, flush=True); {}"
        for end in ("pass", "os._exit(1)", "os.kill(os.getpid(), 9)"):
            ended = subprocess.run([sys.executable, "-c", code.format(end)], stdout=subprocess.PIPE, cwd=ROOT / "packaging" / "python", check=False)
            self.assertTrue(is_gone(int(ended.stdout)), end)


def is_gone(process, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
            if Path(f"/proc/{process}/stat").exists() and Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # nobody collects it in a container without init
        except OSError:
            return True
        time.sleep(0.05)
    return False


# ---- a Triton of the test's own, so that any Python can run it
def of_triton(name, **attributes):
    return type(name, (), {"__module__": "triton.of_the_test", **attributes})


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, pre_hook=None):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas, self.pre_hook = kwargs, num_warps, num_stages, 1, pre_hook

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas}

    def __repr__(self):
        return str(self.kwargs)


def parameter(name, is_constexpr=False, default=MISSING):
    return SimpleNamespace(name=name, is_constexpr=is_constexpr, do_not_specialize=False, do_not_specialize_on_alignment=False, annotation_type="",
                           is_const=False, has_default=default is not MISSING, default=default)


def autotuner(folder, sizes, earlier=None, text=KERNEL, **config):
    file = folder / "kernels.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("kernels", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["kernels"] = module
    own = of_triton("JITFunction")()
    own.fn, own.debug, own.arg_names = module.kernel, False, ["x", "n", "SIZE", "FLAG"]
    own.src = inspect.getsource(module.kernel)
    own.params = [parameter("x"), parameter("n"), parameter("SIZE", True), parameter("FLAG", True, True)]
    tuner = of_triton("Autotuner")()
    tuner.fn, tuner.early_config_prune, tuner.user_defined_pre_hook = own, earlier, False
    tuner.configs = [Config({"SIZE": size}, **config) for size in sizes]
    return tuner


def sizes_of(configs):
    return [config.kwargs["SIZE"] for config in configs]


def left(tuner, *more, **given):
    return sizes_of(tuner.early_config_prune(tuner.configs, {"x": FakeTensor(), "n": 64}, *more, **given))


class FakeTensor:
    dtype = "torch.float16"

    def __init__(self, address=256):
        self.address = address

    def data_ptr(self):
        return self.address


@unittest.skipIf(os.name != "posix", "the program of the test is a script")
class Prune(Asked):
    def setUp(self):
        super().setUp()
        self.triton("3.9.0")

    def triton(self, version):
        before = mock.patch.dict(sys.modules, triton=SimpleNamespace(__version__=version))
        before.start()
        self.addCleanup(before.stop)

    def test_a_triton_that_plans_otherwise(self):
        for version in ("3.1.0", "3.10.0", "3.8.0+fb"):
            self.triton(version)
            tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
            with self.assertWarnsRegex(RuntimeWarning, f"removes nothing: .*Triton {version[:-3]}"):
                self.assertEqual(left(tuner), [50, 200])
        self.assertEqual(self.noted(), [])

    def test_the_question_names_the_triton(self):
        for version in ("3.2.0", "3.6.0", "3.9.0"):
            self.triton(version)
            self.assertEqual(left(tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")), [50])
        self.assertEqual([json.loads(one)["triton"] for one in self.noted()], ["3.2.0", "3.6.0", "3.9.0"])

    def test_only_what_does_not_fit_is_removed(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200, 0, 1, 100, 101]), device="sm_90")
        self.assertEqual(left(tuner, grid=(1,)), [50, 0, 1, 100])

    def test_the_question(self):
        left(tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90"))
        question = json.loads(self.noted()[0])
        self.assertEqual((question["file"], question["kernel"], question["devices"]), (str(self.folder / "kernels.py"), "kernel", ["sm_90"]))
        self.assertEqual(question["launches"][0], {"signature": {"x": "*fp16", "n": "i32"}, "constexprs": {"SIZE": "50", "FLAG": "True"},
                                                   "divisible": ["x", "n"], "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}})

    def test_one_question_for_all_and_none_for_the_same(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        for n in (64, 128, 65, 64):
            tuner.early_config_prune(tuner.configs, {"x": FakeTensor(), "n": n})
        self.assertEqual(len(self.noted()), 2)  # 16 divides n, or not

    def test_the_authors_function_comes_first(self):
        seen = []

        def earlier(configs, named, **given):
            seen.append((sizes_of(configs), sorted(named), given))
            return configs[1:]

        tuner = tilefit.prune(device="sm_90")(autotuner(self.folder, [50, 60, 200], earlier))
        self.assertEqual(left(tuner, grid=(1,)), [60])
        self.assertEqual(seen, [([50, 60, 200], ["n", "x"], {"grid": (1,)})])

    def test_what_the_authors_function_raises_is_the_authors(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200], lambda *_, **__: 1 / 0), device="sm_90")
        with self.assertRaises(ZeroDivisionError):
            left(tuner)

    def test_never_all(self):
        tuner = tilefit.prune(autotuner(self.folder, [300, 200, 400]), device="sm_90")
        with self.assertWarnsRegex(RuntimeWarning, "no configuration fits sm_90; the smallest one needs 200 of 100 bytes"):
            self.assertEqual(left(tuner), [200])

    def test_off(self):
        self.environment(TILEFIT_PRUNE="0")
        self.assertEqual(left(tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")), [50, 200])
        self.assertEqual(self.noted(), [])

    def test_verbose(self):
        self.environment(TILEFIT_PRUNE="verbose")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            left(tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90"))
        self.assertEqual(said.getvalue(), "tilefit: kernel on sm_90: 1 of 2 configurations removed: SIZE=200 num_warps=4 num_stages=3 (needs 200 of 100 bytes)\n")

    def test_without_a_program_it_warns_once(self):
        self.environment(TILEFIT=str(self.folder / "absent"))
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        with self.assertWarnsRegex(RuntimeWarning, "cannot be asked"):
            self.assertEqual(left(tuner), [50, 200])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(left(tuner), [50, 200])

    def test_a_warning_that_is_an_error_does_not_end_the_program(self):
        self.environment(TILEFIT=str(self.folder / "absent"))
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("error")
            self.assertEqual(left(tuner), [50, 200])

    def test_a_hung_program_costs_its_time_once(self):
        self.environment(HOW="hangs")
        limit, _ask.SECONDS = _ask.SECONDS, 1
        self.addCleanup(setattr, _ask, "SECONDS", limit)
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        began = time.monotonic()
        with self.assertWarns(RuntimeWarning):
            for n in range(2, 9):
                tuner.early_config_prune(tuner.configs, {"x": FakeTensor(n), "n": n})
        self.assertLess(time.monotonic() - began, 3)

    def test_an_argument_of_a_strange_kind(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        self.assertEqual(sizes_of(tuner.early_config_prune(tuner.configs, {"x": object(), "n": 1})), [50, 200])

    def test_an_option_that_may_change_the_plan(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        self.assertEqual(left(tuner, schedule_hint="attention"), [50, 200])
        self.assertEqual(left(tuner, waves_per_eu=2), [50])

    def test_a_file_that_was_changed_says_nothing_about_what_runs(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200]), device="sm_90")
        self.assertEqual(left(tuner), [50])
        for edited in (KERNEL.replace("pass", "return x"), KERNEL + "    return x\n", KERNEL.replace("n, SIZE", "SIZE, n"), "def other(): pass\n"):
            (self.folder / "kernels.py").write_text(edited)
            self.assertEqual(left(tuner), [50, 200])
        (self.folder / "kernels.py").write_text("import math\n" + KERNEL + "\n    # what it does\n\n\ndef other():\n    pass\n")
        self.assertEqual(left(tuner), [50])

    def test_two_functions_of_the_name(self):
        tuner = tilefit.prune(autotuner(self.folder, [50, 200], text=KERNEL + "\n\nif not kernel:\n    def kernel(x): pass\n"), device="sm_90")
        self.assertEqual(left(tuner), [50, 200])

    def test_without_an_autotuner(self):
        tuner = autotuner(self.folder, [50])
        with self.assertWarnsRegex(RuntimeWarning, "no @triton.autotune"):
            self.assertIs(tilefit.prune(tuner.fn), tuner.fn)

    def test_under_another_decorator(self):
        tuner = autotuner(self.folder, [50, 200])
        outer = of_triton("Heuristics")()
        outer.fn, outer.values = tuner, {}
        self.assertIs(tilefit.prune(tilefit.prune(outer, device="sm_90"), device="sm_90"), outer)
        self.assertEqual(left(tuner), [50])

    def test_heuristics_below(self):
        tuner = autotuner(self.folder, [50, 200])
        below = of_triton("Heuristics")()
        below.fn, below.values, tuner.fn = tuner.fn, {"FLAG": lambda args: args["SIZE"] > 100}, below
        tilefit.prune(tuner, device="sm_90")
        self.assertEqual(left(tuner), [50])
        self.assertEqual([one["constexprs"]["FLAG"] for one in json.loads(self.noted()[0])["launches"]], ["False", "True"])
        below.values = {"FLAG": lambda args: args["absent"]}
        self.assertEqual(left(tuner), [50, 200])

    def test_a_hook_gives_descriptors_their_shape(self):
        descriptor = of_triton("TensorDescriptor")()
        descriptor.base, descriptor.block_shape = FakeTensor(), [1, 1]

        def hook(named):
            named["x"].block_shape = [named["SIZE"], 64]

        tuner = tilefit.prune(autotuner(self.folder, [50, 200], pre_hook=hook), device="sm_90")
        self.assertEqual(sizes_of(tuner.early_config_prune(tuner.configs, {"x": descriptor, "n": 64})), [50])
        self.assertEqual([one["signature"]["x"] for one in json.loads(self.noted()[0])["launches"]],
                         ["tensordesc<fp16[50, 64]>", "tensordesc<fp16[200, 64]>"])
        self.assertEqual(descriptor.block_shape, [1, 1])

    def test_a_hook_that_touches_a_tensor_is_not_run_on_it(self):
        descriptor = of_triton("TensorDescriptor")()
        descriptor.base, descriptor.block_shape, touched = FakeTensor(), [1, 1], []

        def hook(named):
            touched.append(named["n"].address)

        tuner = tilefit.prune(autotuner(self.folder, [50, 200], pre_hook=hook), device="sm_90")
        self.assertEqual(sizes_of(tuner.early_config_prune(tuner.configs, {"x": descriptor, "n": FakeTensor()})), [50, 200])
        self.assertEqual(touched, [])


class Arguments(unittest.TestCase):
    def kind(self, value, **changed):
        one = Parameter("x", False, True, True, "", False, MISSING)._replace(**changed)
        return _arguments.specialized(value, one)

    def test_as_triton_does(self):
        for value, expected in [(16, ("i32", None, True)), (17, ("i32", None, False)), (0, ("i32", None, True)), (1, (None, 1, False)), (-1, ("i32", None, False)),
                                (1 << 31, ("i64", None, True)), ((1 << 31) - 1, ("i32", None, False)), (1 << 63, ("u64", None, True)), (1.5, ("fp32", None, False)),
                                (None, (None, None, False)), (FakeTensor(), ("*fp16", None, True)), (FakeTensor(2), ("*fp16", None, False))]:
            self.assertEqual(self.kind(value), expected, value)

    def test_what_the_author_excludes(self):
        self.assertEqual(self.kind(16, specialize=False), ("i32", None, False))
        self.assertEqual(self.kind(1, specialize=False), ("i32", None, False))
        self.assertEqual(self.kind(16, align=False), ("i32", None, False))
        self.assertEqual(self.kind(1, align=False), (None, 1, False))
        self.assertEqual(self.kind(16, annotated="i64"), ("i64", None, True))
        self.assertEqual(self.kind(FakeTensor(), is_const=True), ("*kfp16", None, True))

    def test_texts(self):
        for text, expected in [("*fp16", ("*fp16", None, True)), ("i32", ("i32", None, False)), ("i32:16", ("i32", None, True)),
                               ("tensordesc<fp16[64, 64]>", ("tensordesc<fp16[64, 64]>", None, False))]:
            self.assertEqual(self.kind(text), expected)

    @unittest.skipIf(TRITON is None, "this Python has no Triton")
    def test_beside_the_installed_triton(self):
        try:
            from triton._C.libtriton import native_specialize_impl
            from triton.backends.compiler import BaseBackend
        except ImportError:
            self.skipTest("this Triton specializes in Python")
        for value in (0, 1, 2, 16, -16, 1 << 31, -(1 << 31), (1 << 31) - 16, 1 << 40, (1 << 63) + 16, True, False, 1.0, None):
            for specialize in (True, False):
                for align in (True, False):
                    kind, attributes = native_specialize_impl(BaseBackend, value, False, specialize, align)
                    expected = (None, attributes, False) if kind == "constexpr" else (kind, None, bool(attributes) and "D" in attributes)
                    self.assertEqual(self.kind(value, specialize=specialize, align=align), expected, (value, specialize, align))


class Values(unittest.TestCase):
    def test_importing_is_quick(self):
        code = "import os, sys; before = set(sys.modules); import tilefit; print(sorted(set(sys.modules) - before))"
        loaded = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT / "packaging" / "python", check=True).stdout.decode()
        self.assertEqual(loaded.strip(), "['tilefit']")

    def test_a_fit_is_neither_true_nor_false(self):
        with self.assertRaisesRegex(TypeError, "compare its verdict"):
            bool(tilefit.Fit(1, 2, 3, "fits"))

    def test_parameters_by_the_text_of_a_file(self):
        found = _kernels.of(f"{EXAMPLE}:matmul")
        self.assertEqual([one.name for one in found.parameters if one.is_constexpr], ["BLOCK_M", "BLOCK_N", "BLOCK_K"])
        with self.assertRaisesRegex(_kernels.NotFound, "names no kernel"):
            _kernels.of("matmul")
        with self.assertRaisesRegex(_kernels.NotFound, "has no function"):
            _kernels.of(f"{EXAMPLE}:absent")


@unittest.skipIf(PROGRAM is None, "TILEFIT names no program")
class TheProgram(unittest.TestCase):
    def setUp(self):
        _ask.asker.end()
        _ask.asker.too_slow.clear()
        self.addCleanup(_ask.asker.end)

    def fit(self, **changed):
        values = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": 4096, "N": 4096, "K": 4096, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8,
                  "num_stages": 3}
        return tilefit.fits(f"{EXAMPLE}:matmul", **{"device": "sm_86", **values, **changed})

    def test_fits(self):
        fit = self.fit()
        self.assertEqual((fit.low, fit.high, fit.capacity, fit.verdict), (98304, 98304, 101376, "fits"))
        self.assertEqual(max(one["offset"] + one["size"] for one in fit.buffers), 98304)
        self.assertEqual((self.fit(num_stages=6).low, self.fit(num_stages=6).verdict), (245760, "does not fit"))
        self.assertEqual(self.fit(a="*fp32", b="*fp32").verdict, "does not fit")

    def test_what_is_wrong_with_a_question(self):
        with self.assertRaisesRegex(TypeError, "matmul has no parameter BLOCK_X"):
            self.fit(BLOCK_X=1)
        with self.assertRaises(ValueError):
            self.fit(device="sm_1")

    def test_configs(self):
        rows = tilefit.configs(EXAMPLE, devices=["sm_90", "sm_86"])
        self.assertEqual([(row.device, row.values["num_stages"], row.verdict) for row in rows if row.values["BLOCK_N"] == "256"],
                         [("sm_90", "3", "fits"), ("sm_86", "3", "fits"), ("sm_90", "6", "does not fit"), ("sm_86", "6", "does not fit")])
        self.assertEqual(len(tilefit.configs(f"{EXAMPLE}:matmul")), 4)

    def test_check(self):
        report = tilefit.check([EXAMPLE.parent / "overflow.py"])
        self.assertEqual([(Path(one.file).name, one.line, one.code) for one in report.errors], [("overflow.py", 22, "capacity-exceeded")])
        self.assertEqual(len(tilefit.check(str(EXAMPLE.parent / "absent.py")).failures), 1)

    @unittest.skipIf(TRITON is None, "this Python has no Triton")
    def test_with_triton(self):
        from triton.runtime import driver
        driver.set_active(SimpleNamespace(get_benchmarker=lambda: None))  # Triton 3.2 asks for it at once
        spec = importlib.util.spec_from_file_location("tuned_matmul", EXAMPLE)
        module = importlib.util.module_from_spec(spec)
        sys.modules["tuned_matmul"] = module
        spec.loader.exec_module(module)
        tuner = tilefit.prune(module.matmul, device="sm_86")
        tuner.nargs = dict(zip(tuner.arg_names, [FakeTensor()] * 3 + [4096] * 3))
        left = tuner.prune_configs({"BLOCK_M": 128, "grid": (1,)})
        expected = [(128, 2), (128, 3), (256, 3)]
        self.assertEqual([(one.kwargs["BLOCK_N"], one.num_stages) for one in left], expected)
        tuner.perf_model, tuner.configs_top_k = lambda **given: given["BLOCK_N"], 1
        self.assertEqual(len(tuner.prune_configs({"BLOCK_M": 128, "grid": (1,)})), 1)
        fit = tilefit.fits(tuner, "sm_86", a=FakeTensor(), b=FakeTensor(), c=FakeTensor(), M=4096, N=4096, K=4096, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64,
                           num_warps=8, num_stages=6)
        self.assertEqual(fit.low, 245760)


@unittest.skipIf(PROGRAM is None, "TILEFIT names no program")
class ThePage(unittest.TestCase):
    """Examples of the guide that print something print that."""

    def test_it_is_true(self):
        page = (ROOT / "docs" / "guide" / "python.md").read_text()
        examples = re.findall(r"```python\n([^`]*)```\n\n```text\n([^`]*)```", page)
        examples = [(code, expected) for code, expected in examples if "print(" in code]
        self.assertEqual(len(examples), 3)
        for code, expected in examples:
            ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=True,
                                   env={**os.environ, "PYTHONPATH": str(ROOT / "packaging" / "python"), "TILEFIT": PROGRAM})
            self.assertEqual(ended.stdout.decode(), expected)


@unittest.skipIf(PROGRAM is None or importlib.util.find_spec("pytest") is None, "no pytest, or TILEFIT names no program")
class Marker(unittest.TestCase):
    """The marker of a test that fails says which kernel does not fit."""

    def run_pytest(self, test, *options):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "kernels.py").write_text(EXAMPLE.read_text().replace("num_stages=2", "num_stages=9").replace("num_stages=3", "num_stages=9"))
        (folder / "ops" / "fine").mkdir(parents=True)
        for package in ("ops", "ops/fine"):
            (folder / package / "__init__.py").write_text("raise RuntimeError('this needs a GPU')\n")
        (folder / "ops" / "fine" / "kernels.py").write_text(EXAMPLE.read_text())
        (folder / "test_it.py").write_text("import pytest\n" + textwrap.dedent(test))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "packaging" / "python"), "TILEFIT": PROGRAM}
        options = ["-q", "-p", "tilefit.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", *options]
        ended = subprocess.run([sys.executable, "-m", "pytest", *options, str(folder)], cwd=folder, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        return ended.stdout.decode()

    def test_a_kernel_that_cannot_fit(self):
        said = self.run_pytest("""
            @pytest.mark.tilefit(devices=["sm_86", "sm_90"], paths=["kernels.py"])
            def test_it(): pass
        """)
        self.assertRegex(said, "kernels.py:21: matmul does not fit sm_86: the smallest of 4 configurations, .* needs 131072 of 101376 bytes")
        self.assertNotIn("matmul does not fit sm_90", said)

    def test_one_that_can(self):
        self.assertIn("2 passed", self.run_pytest("""
            pytestmark = pytest.mark.tilefit(devices="sm_90", module=["ops.fine.kernels", "ops.fine", "ops"])
            def test_it(): pass
            def test_other(): pass
        """))

    def test_it_fails_without_a_gpu_as_well(self):
        self.assertRegex(self.run_pytest("""
            @pytest.mark.tilefit(devices=["sm_86"], module="kernels")
            def test_it(): pass
        """, "--tilefit-dry=sm_90"), r"(?s)matmul does not fit sm_86.*1 error")

    def test_what_is_wrong_with_the_marker(self):
        self.assertIn("names no devices", self.run_pytest("@pytest.mark.tilefit()\ndef test_it(): pass\n"))
        self.assertIn("which is not there", self.run_pytest("@pytest.mark.tilefit(devices=['sm_90'], module='absent.kernels')\ndef test_it(): pass\n"))


if __name__ == "__main__":
    unittest.main()
