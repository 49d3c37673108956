"""The recorder of the Python module, under a Python that has Triton and needs no torch.

    PYTHONPATH=packaging/python PYTHON_WITH_TRITON -m unittest tests/python/test_record.py
"""
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "packaging" / "python"
sys.path.insert(0, str(PACKAGE))
from tilefit import _launches, _sources, _texts  # noqa: E402

TRITON, PYTEST, TORCH = (importlib.util.find_spec(name) for name in ("triton", "pytest", "torch"))

KERNELS = """\
import triton
import triton.language as tl

EPS = tl.constexpr(1e-06)
UNUSED = tl.constexpr(2)


@triton.jit
def helper(x):
    return x + EPS


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, DTYPE: tl.constexpr, MODE: tl.constexpr = "none"):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at[:, None] * n + at[None, :])
    y = tl.dot(x, x).to(DTYPE)
    tl.store(y_ptr + at[:, None] * n + at[None, :], helper(y))  # a comment


class Pointer:
    def __init__(self, dtype, address=0):
        self.dtype, self.address = dtype, address

    def data_ptr(self):
        return self.address


def launch(n=64, block=64, address=0, **options):
    return kernel[(1,)](Pointer("fp16"), Pointer("fp32", address), n, BLOCK=block, DTYPE=tl.float32, **options)
"""


class Repository(unittest.TestCase):
    """A folder with a kernel, and Python processes that run in it."""

    def setUp(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="tilefit-record-")))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / ".git").mkdir()
        self.write("ops/kernels.py", KERNELS)
        self.file = self.root / ".tilefit" / "launches.jsonl"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def begin(self, command, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TILEFIT", "TRITON", "PYTEST"))}
        environment = {**kept, "PYTHONPATH": f"{PACKAGE}{os.pathsep}{self.root}", **variables}
        return subprocess.Popen(command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_command(self, *command, status=0, **variables):
        process = self.begin(command, **variables)
        output, errors = process.communicate(timeout=300)
        self.assertEqual(status, process.returncode, output + errors)
        return output, errors

    def run_python(self, text, **variables):
        return self.run_command(sys.executable, "-c", textwrap.dedent(text), **variables)

    def dry(self, text, **variables):
        """A program within a recording for sm_90."""
        program = "import tilefit\nwith tilefit.record(dry='sm_90'):\n    from ops.kernels import launch\n"
        program += textwrap.indent(textwrap.dedent(text), "    ")
        return self.run_python(program, **variables)

    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def only(self):
        lines = self.lines()
        self.assertEqual(1, len(lines), lines)
        return lines[0]


@unittest.skipIf(TRITON is None, "this Python has no Triton")
class Records(Repository):
    def test_line(self):
        _, errors = self.dry("launch()\nlaunch()")
        line = self.only()
        functions = {name: line["sources"]["ops/kernels.py"].pop(name) for name in ("helper", "kernel")}
        by = line.pop("by")
        self.assertEqual({
            "v": 1, "file": "ops/kernels.py", "kernel": "kernel", "line": 14, "sources": {"ops/kernels.py": {}}, "globals": {"EPS": "1e-06"},
            "target": "cuda:90", "signature": {"x_ptr": "*fp16", "y_ptr": "*fp32", "n": "i32"},
            "constexprs": {"BLOCK": "64", "DTYPE": "fp32", "MODE": "none"}, "divisible": ["n", "x_ptr", "y_ptr"],
            "options": {"num_warps": 4, "num_ctas": 1, "num_stages": 3}, "shared": line["shared"], "tensor_columns": 0, "tests": [], "runs": 2,
        }, line)
        self.assertEqual("triton", by["name"])
        self.assertGreaterEqual(line["shared"], 64 * 64 * 2)
        self.assertEqual(hashlib.sha256(b"def helper(x):\n    return x + EPS").hexdigest(), functions["helper"])
        self.assertIn("tilefit: 1 launch of 1 kernel recorded in .tilefit/launches.jsonl\n", errors)

    def test_whole_compilation_has_the_same_memory(self):
        self.dry("launch()\nlaunch(block=128, num_warps=8)")
        cut_short = {line["constexprs"]["BLOCK"]: line["shared"] for line in self.lines()}
        self.file.unlink()
        self.run_python("""
            import tilefit
            from tilefit import _dry
            _dry.cut_short = lambda backend: None
            with tilefit.record(dry="sm_90"):
                from ops.kernels import launch
                assert "ptx" in launch().asm and "ld.global" in launch().asm["ptx"]
                launch(block=128, num_warps=8)
        """)
        self.assertEqual(cut_short, {line["constexprs"]["BLOCK"]: line["shared"] for line in self.lines()})

    def test_what_specialises(self):
        self.dry("launch(n=63)\nlaunch(n=1)\nlaunch(address=8)\nlaunch(num_warps=8)")
        seen = {(" ".join(line["divisible"]), line["constexprs"].get("n"), line["options"]["num_warps"]) for line in self.lines()}
        self.assertEqual({("x_ptr y_ptr", None, 4), ("x_ptr y_ptr", "1", 4), ("n x_ptr", None, 4), ("n x_ptr y_ptr", None, 8)}, seen)

    def test_other_devices(self):
        for device, target in (("sm_80", "cuda:80"), ("gfx942", "hip:gfx942")):
            with self.subTest(device):
                self.run_python(f"""
                    import tilefit
                    with tilefit.record(dry="{device}"):
                        from ops.kernels import launch, Pointer
                        Pointer.ptr_range = lambda self: 0
                        launch()
                """)
                self.assertEqual(1, sum(line["target"] == target and line["shared"] > 0 for line in self.lines()))

    def test_device_that_is_none(self):
        self.run_command(sys.executable, "-m", "tilefit", "record", "--dry", "sm90", "--", "true", status=2)

    def test_too_much_memory_is_refused_as_on_the_device(self):
        output, _ = self.run_python("""
            import tilefit
            with tilefit.record(dry="sm_86"):
                from ops.kernels import launch
                from triton.runtime.errors import OutOfResources
                try:
                    launch(block=256, num_warps=8)
                except OutOfResources as refused:
                    print(refused.required > refused.limit == 101376)
        """)
        self.assertEqual("True\n", output)
        self.assertGreater(self.only()["shared"], 101376)

    def test_configurations(self):
        self.write("ops/tuned.py", KERNELS.replace("@triton.jit\ndef kernel", textwrap.dedent("""\
            @triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=8)], key=["n"])
            @triton.jit
            def kernel""")).replace("BLOCK=block, ", ""))
        self.dry("from ops.tuned import launch\nlaunch()")
        self.assertEqual([("32", 4), ("64", 8)], [(line["constexprs"]["BLOCK"], line["options"]["num_warps"]) for line in self.lines()])

    def test_own_hooks_are_called(self):
        output, _ = self.dry("""
            from triton.runtime.jit import JITFunction
            try:
                from triton import knobs
                knobs.runtime.jit_post_compile_hook = lambda **given: print("post", given["fn"].name)
            except ImportError:
                JITFunction.compiled_hook = lambda **given: print("post", given["fn"].name)
            launch()
        """)
        self.assertEqual("post kernel\n", output)
        self.assertEqual("kernel", self.only()["kernel"])

    def test_a_text_in_place_of_the_written_one(self):
        self.dry("""
            from ops.kernels import kernel
            launch()
            kernel._unsafe_update_src(kernel.src.replace("tl.dot(x, x)", "tl.dot(x, x + 1)"))
            kernel.device_caches.clear()
            launch(block=32)
        """)
        hashes = {line["constexprs"]["BLOCK"]: line["sources"]["ops/kernels.py"]["kernel"] for line in self.lines()}
        self.assertEqual(2, len(set(hashes.values())))

    def test_elsewhere_is_left_out(self):
        elsewhere = Path(tempfile.mkdtemp(prefix="tilefit-elsewhere-"))
        self.addCleanup(shutil.rmtree, elsewhere)
        (elsewhere / "others.py").write_text(KERNELS)
        _, errors = self.dry("launch()\nfrom others import launch\nlaunch()\nlaunch(block=32)",
                             PYTHONPATH=os.pathsep.join(map(str, (PACKAGE, self.root, elsewhere))))
        self.assertEqual("ops/kernels.py", self.only()["file"])
        self.assertIn("(1 kernel outside of this repository left out)", errors)
        self.assertNotIn("others", self.file.read_text())

    def test_no_absolute_path(self):
        self.dry(f"from ops.kernels import kernel, Pointer, tl\nkernel[(1,)](Pointer('fp16'), Pointer('fp32'), 64, 64, tl.float32, '{self.root}/x')")
        self.assertNotIn(str(self.root), self.file.read_text())
        self.assertEqual(["MODE"], self.only()["unwritten"])
        self.assertNotIn("shared", self.only())

    def test_a_recorder_that_fails_breaks_nothing(self):
        output, errors = self.dry("from tilefit import _sources\n_sources.described = None\nlaunch()\nlaunch(block=32)\nprint('still here')")
        self.assertEqual("still here\n", output)
        self.assertEqual(1, errors.count("the recorder failed"))

    def test_nothing_is_imported(self):
        self.run_python("""
            import sys, tilefit
            with tilefit.record():
                assert not {"triton", "torch"} & sys.modules.keys()
        """)
        self.assertFalse(self.file.exists())

    def test_own_cache_of_triton_stays_clean(self):
        cache = self.root / "cache"
        self.dry("launch()", TRITON_CACHE_DIR=str(cache))
        self.assertFalse(cache.exists())


@unittest.skipIf(TRITON is None, "this Python has no Triton")
class Processes(Repository):
    PROGRAM = "import sys\nfrom ops.kernels import launch\nlaunch(block=int(sys.argv[1]))\n"

    def record(self, *command, status=0, **variables):
        return self.run_command(sys.executable, "-m", "tilefit", "record", "--dry", "sm_90", "--", *command, status=status, **variables)

    def test_two_at_once(self):
        program = self.write("launches.py", self.PROGRAM)
        commands = [[sys.executable, "-m", "tilefit", "record", "--dry", "sm_90", "--", sys.executable, str(program), block] for block in ("32", "64")]
        processes = [self.begin(command) for command in commands * 2]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(0, process.returncode, errors)
        self.assertEqual([("32", 2), ("64", 2)], [(line["constexprs"]["BLOCK"], line["runs"]) for line in self.lines()])
        self.assertEqual({".gitignore", "launches.jsonl", "launches.lock"}, set(os.listdir(self.file.parent)))

    def test_children(self):
        self.write("launches.py", self.PROGRAM)
        self.write("parent.py", "import subprocess, sys\nfor block in ('32', '64'):\n"
                                "    subprocess.run([sys.executable, 'launches.py', block], check=True)\n")
        _, errors = self.record(sys.executable, "parent.py")
        self.assertEqual(["32", "64"], [line["constexprs"]["BLOCK"] for line in self.lines()])
        self.assertEqual(1, errors.count("tilefit:"))

    def test_crash(self):
        self.write("crash.py", "import os, signal\nfrom ops.kernels import launch\nlaunch()\nos.kill(os.getpid(), signal.SIGKILL)\n")
        self.record(sys.executable, "crash.py", status=128 + signal.SIGKILL)
        self.assertEqual(1, self.only()["runs"])

    def test_crash_is_merged_by_the_next_run(self):
        process = self.begin([sys.executable, "-c", "import os, signal, tilefit\nwith tilefit.record(dry='sm_90'):\n"
                              "    from ops.kernels import launch\n    launch()\n    os.kill(os.getpid(), signal.SIGKILL)"])
        process.communicate(timeout=300)
        self.assertEqual(-signal.SIGKILL, process.returncode)
        self.assertFalse(self.file.exists())
        self.dry("launch(block=32)")
        self.assertEqual(["32", "64"], [line["constexprs"]["BLOCK"] for line in self.lines()])

    def test_own_sitecustomize_runs(self):
        self.write("sitecustomize.py", "import os\nif 'TILEFIT_RECORD' in os.environ:\n    print('own')\n")
        self.write("launches.py", self.PROGRAM)
        output, _ = self.record(sys.executable, "launches.py", "32")
        self.assertEqual("own\n", output)
        self.assertEqual("32", self.only()["constexprs"]["BLOCK"])

    def started(self, program, **variables):
        """A program in a Python that has the wheel: what the wheel has it do at its start is done first."""
        folder = PACKAGE / "tilefit.data" / "platlib"
        self.assertEqual(["tilefit-record.pth"], os.listdir(folder))
        return self.run_python(f"import site\nsite.addsitedir({str(folder)!r})\n" + program, **variables)

    def test_a_program_by_the_variable_alone(self):
        _, errors = self.started("from ops.kernels import launch\nlaunch()\n", TILEFIT_RECORD="1", TILEFIT_RECORD_DRY="sm_90")
        self.assertEqual(("64", 1), (self.only()["constexprs"]["BLOCK"], self.only()["runs"]))
        self.assertEqual(1, errors.count("tilefit: 1 launch of 1 kernel recorded in .tilefit/launches.jsonl\n"), errors)

    def test_children_by_the_variable_alone(self):
        self.write("launches.py", "import site\nsite.addsitedir(%r)\n" % str(PACKAGE / "tilefit.data" / "platlib") + self.PROGRAM)
        _, errors = self.started("import triton, subprocess, sys\nfor block in ('32', '64'):\n"
                                 "    subprocess.run([sys.executable, 'launches.py', block], check=True)\n",
                                 TILEFIT_RECORD="here.jsonl", TILEFIT_RECORD_DRY="sm_90")
        self.assertEqual(2, len((self.root / "here.jsonl").read_text().splitlines()))
        self.assertEqual(1, errors.count("tilefit:"), errors)

    def test_without_the_variable_nothing_is_looked_for(self):
        for value in ({}, {"TILEFIT_RECORD": "0"}, {"TILEFIT_RECORD": ""}):
            output, errors = self.started("import sys, triton\nprint([name for name in sys.modules if name.startswith('tilefit')])\n", **value)
            self.assertEqual(("[]\n", ""), (output, errors))

    def test_without_the_package_the_line_does_nothing(self):
        output, errors = self.started("import sys\nprint('here')\n", TILEFIT_RECORD="1", PYTHONPATH="")
        self.assertEqual(("here\n", ""), (output, errors))

    def test_status_of_the_command(self):
        self.record(sys.executable, "-c", "raise SystemExit(3)", status=3)

    @unittest.skipIf(PYTEST is None, "this Python has no pytest")
    def test_pytest(self):
        self.write("tests/test_kernels.py", textwrap.dedent("""\
            import pytest
            from ops.kernels import launch

            @pytest.mark.parametrize("block", [32, 64])
            def test_launch(block):
                launch(block=block)

            def test_again():
                launch(block=32)

            def test_value():
                launch(block=64)
                assert launch(block=64).asm["ptx"], "no text"
        """))
        output, _ = self.record(sys.executable, "-m", "pytest", "-q", "tests")
        self.assertIn("3 passed, 1 skipped", output)
        self.assertIn("an assertion about values or compiled code: no text", output)
        self.assertEqual([["tests/test_kernels.py::test_again", "tests/test_kernels.py::test_launch[32]"],
                          ["tests/test_kernels.py::test_launch[64]", "tests/test_kernels.py::test_value"]], [line["tests"] for line in self.lines()])
        self.assertEqual([2, 3], [line["runs"] for line in self.lines()])

    @unittest.skipIf(PYTEST is None, "this Python has no pytest")
    def test_pytest_options(self):
        self.write("tests/test_kernels.py", "from ops.kernels import launch\n\ndef test_launch():\n    launch()\n")
        plugin = [] if "tilefit" in {one.name for one in entry_points()} else ["-p", "tilefit.pytest_plugin"]
        output, errors = self.run_command(sys.executable, "-m", "pytest", *plugin, "-q", "--tilefit-record=here.jsonl", "--tilefit-dry=sm_90", "tests")
        self.assertIn("1 passed", output)
        self.assertIn("1 launch of 1 kernel recorded in here.jsonl", errors)
        self.assertEqual(1, len((self.root / "here.jsonl").read_text().splitlines()))


@unittest.skipIf(TRITON is None or TORCH is None, "this Python has no Triton, or no torch")
class Torch(Repository):
    def test_a_parameter_of_the_cpu_gets_a_tensor_of_the_gpu(self):
        output, _ = self.run_python("""
            import tilefit
            with tilefit.record(dry="sm_90"):
                import torch
                layer = torch.nn.Linear(4, 8)
                weight = layer.weight
                layer.weight.data = torch.randn(8, 4, device="cuda")
                layer.bias.data = torch.zeros(8, device="cuda")
                layer(torch.randn(2, 4, device="cuda")).sum().backward()
                print(weight.device, weight is layer.weight, weight.requires_grad, tuple(weight.grad.shape))
                layer.weight.data = torch.zeros(8, 4)
                print(layer.weight.device)
        """)
        self.assertEqual("cuda:0 True True (8, 4)\ncpu\n", output)


def entry_points():
    from importlib import metadata
    if sys.version_info < (3, 10):
        return metadata.entry_points().get("pytest11", ())
    return metadata.entry_points(group="pytest11")


class Merging(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tilefit-launches-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = str(self.folder / ".tilefit" / "launches.jsonl")

    def part(self, number, *lines):
        _launches.prepare_folder(self.file)
        texts = [line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines]
        Path(_launches.beside(self.file, f"{number}.jsonl")).write_text("".join(texts))

    def line(self, kernel="kernel", **parts):
        return {"v": 1, "file": "a.py", "kernel": kernel, "line": 1, "target": "cuda:90", "shared": 1, "tests": [], "runs": 1, **parts}

    def merged(self):
        _launches.merge(self.file)
        return [json.loads(line) for line in Path(self.file).read_text().splitlines()]

    def test_the_newest_measurement_wins(self):
        self.part(1, self.line(shared=1, registers=32, line=4, tests=["a"]))
        self.merged()
        self.part(2, self.line(shared=2, line=9, tests=["b"], runs=5))
        self.assertEqual([self.line(shared=2, registers=32, line=9, tests=["a", "b"], runs=6)], self.merged())

    def test_other_launches_stay_apart(self):
        self.part(1, self.line(target="cuda:80"), self.line(), self.line("another"))
        self.assertEqual([("another", "cuda:90"), ("kernel", "cuda:80"), ("kernel", "cuda:90")],
                         [(line["kernel"], line["target"]) for line in self.merged()])

    def test_launches_of_an_older_text_go(self):
        of = lambda own, **rest: self.line(sources={"k.py": {"kernel": own, "helper": "h"}}, **rest)  # noqa: E731
        self.part(1, of("old"), of("old", target="cuda:80"), self.line("another", sources={"k.py": {"another": "a"}}))
        self.merged()
        self.part(1, of("new"))
        self.assertEqual([("another", {"another": "a"}), ("kernel", {"kernel": "new", "helper": "h"})],
                         [(line["kernel"], line["sources"]["k.py"]) for line in self.merged()])

    def test_tests_of_the_last_run_go_first(self):
        self.part(1, self.line(tests=[f"old{number}" for number in range(9)]))
        self.assertEqual(8, len(self.merged()[0]["tests"]))
        self.part(1, self.line(tests=["the new one"]))
        self.assertEqual([*(f"old{number}" for number in range(7)), "the new one"], self.merged()[0]["tests"])

    def test_what_is_no_line_is_dropped(self):
        self.part(1, self.line(), "<<<<<<< HEAD\n", '{"v":1,"file"', "\n", "[]\n", '{"v":1,"runs":"x"}\n', self.line("b", tests=3), self.line("c"))
        self.assertEqual(["c", "kernel"], [line["kernel"] for line in self.merged()])

    def test_the_most_used_stay(self):
        self.part(1, *(self.line(f"k{number}", runs=number + 1) for number in range(30)))
        self.addCleanup(setattr, _launches, "MOST_LINES", _launches.MOST_LINES)
        _launches.MOST_LINES = 2
        self.assertEqual(["k28", "k29"], [line["kernel"] for line in self.merged()])

    def test_bytes_are_limited(self):
        self.part(1, *(self.line(f"k{number}", runs=number + 1) for number in range(30)))
        self.addCleanup(setattr, _launches, "MOST_BYTES", _launches.MOST_BYTES)
        _launches.MOST_BYTES = 400
        self.merged()
        self.assertLessEqual(os.path.getsize(self.file), 400)
        self.assertIn('"k29"', Path(self.file).read_text())

    def test_a_living_process_keeps_its_part(self):
        part = _launches.Part(self.file)
        part.write(self.line("living"))
        self.part(1, self.line("dead"))
        self.assertEqual(["dead"], [line["kernel"] for line in self.merged()])
        part.write(self.line("later"))
        part.close()
        self.assertEqual(["dead", "later", "living"], [line["kernel"] for line in self.merged()])

    def test_one_process_merges(self):
        self.part(1, self.line())
        self.addCleanup(setattr, _launches, "SECONDS_FOR_LOCK", _launches.SECONDS_FOR_LOCK)
        _launches.SECONDS_FOR_LOCK = 0.1
        with open(_launches.beside(self.file, "lock"), "w") as held:
            self.assertTrue(_launches.lock(held.fileno()))
            with self.assertRaises(TimeoutError):
                _launches.merge(self.file)
        self.assertEqual(["kernel"], [line["kernel"] for line in self.merged()])

    def test_only_parts_are_ignored(self):
        self.part(1, self.line())
        self.merged()
        ignored = Path(self.file).with_name(".gitignore").read_text().splitlines()
        self.assertIn("launches.*.jsonl", ignored)
        self.assertNotIn("*", ignored)
        self.assertNotIn("launches.jsonl", ignored)


class Texts(unittest.TestCase):
    def test_values(self):
        for value, expected in ((1, "1"), (True, "True"), (None, "None"), (1e-6, "1e-06"), ("ieee", "ieee"), ((1, 2), "(1, 2)"), ((1,), "(1,)"),
                                ([1, "a"], "[1, 'a']"), (object(), None), ((1, object()), None), (float("inf"), "float('inf')")):
            self.assertEqual(expected, _texts.text(value))

    @unittest.skipIf(TRITON is None, "this Python has no Triton")
    def test_values_of_triton(self):
        import triton.language as tl
        for value, expected in ((tl.float16, "fp16"), (tl.constexpr(3), "3"), (tl.constexpr(tl.bfloat16), "bf16"), (tl.cdiv, "cdiv"),
                                ((tl.constexpr(1), 2), "(1, 2)")):
            self.assertEqual(expected, _texts.text(value))


class Sources(unittest.TestCase):
    def sha256(self, source, name="f"):
        with tempfile.NamedTemporaryFile("w", suffix=".py", newline="") as file:
            file.write(source)
            file.flush()
            found = _sources.definitions(file.name)
        return {known[0]: (one.name, _sources.sha256(one)) for known, one in found.items()}[name]

    def test_what_does_not_count(self):
        plain = self.sha256("def f(x):\n    y = x\n\n    return y\n")
        for same in ("@a\n@b(1,\n   2)\ndef f(x):\n    y = x\n\n    return y\n", "def f(x):\n    y = x\n\n    return y  # comment\n    # after\n\nz = 1\n",
                     "def f(x):\r\n    y = x\r\n\r\n    return y\r\n", "if 1:\n    def f(x):\n        y = x\n\n        return y\n"):
            self.assertEqual(plain, self.sha256(same))

    def test_what_counts(self):
        plain = self.sha256("def f(x):\n    y = x\n\n    return y\n")
        for other in ("def f(x):\n    y = x  # comment\n\n    return y\n", "def f(x):\n    y = x\n    return y\n",
                      "def f(x, z=1):\n    y = x\n\n    return y\n"):
            self.assertNotEqual(plain, self.sha256(other))

    def test_known_hash(self):
        text = "def f(x):\n    return 'ä', x"
        self.assertEqual(("f", hashlib.sha256(text.encode()).hexdigest()), self.sha256(text + " # ä\n"))

    def test_names(self):
        self.assertEqual("A.f", self.sha256("class A:\n    def f(self):\n        pass\n")[0])
        self.assertEqual("f", self.sha256("def g():\n    def f():\n        pass\n")[0])


if __name__ == "__main__":
    unittest.main()
