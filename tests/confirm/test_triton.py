"""The recorded plans of kernels, asked again of the compiler that the running Python has.

    PYTHON_WITH_TRITON -m unittest tests/confirm/test_triton.py
"""
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from driver import Driver  # noqa: E402

RECORDED = HERE.parent / "conformance" / "triton"
TRITON = importlib.util.find_spec("triton")


def cases():
    """(path of the record, kernel's file, kernel, case, compiler) of every record whose source is here"""
    for path in sorted(RECORDED.glob("*/*.json")):
        record = json.loads(path.read_text())
        if "file" in record and (path.parent / record["file"]).is_file():
            for case in record["cases"]:
                yield path, path.parent / record["file"], record["kernel"], case, case.get("compiler", record.get("compiler"))


def seen(answer, columns):
    """What has to be the same."""
    if answer.get("error"):
        return "error"
    buffers = [(one["line"], one["offset"], one["kind"]) for one in answer["buffers"]]
    tensor_memory = [(one["line"], one["column"], one["row"]) for one in answer["tensor_memory"]]
    return answer["shared"], answer[columns], buffers, tensor_memory


def sharing(answer):
    """Pairs of buffers that have the same bytes at the same time."""
    known = [one for one in answer.get("buffers", ()) if one["size"] and "live" in one]

    def meet(one, other):
        (start, end), (since, until) = one["live"], other["live"]
        bytes_meet = one["offset"] < other["offset"] + other["size"] and other["offset"] < one["offset"] + one["size"]
        return bytes_meet and start < until and since < end

    return [(one, other) for nth, one in enumerate(known) for other in known[:nth] if meet(one, other)]


def other_sizes(case, answer):
    """Triton 3.8 does not print the size of scratch: that is no difference."""
    return [(then, now) for then, now in zip(case["buffers"], answer["buffers"]) if now["size"] not in (None, then["size"])]


@unittest.skipIf(TRITON is None, "this Python has no Triton")
class Recorded(unittest.TestCase):
    def test_all(self):
        driver = Driver()
        self.addCleanup(driver.close)
        version = driver.hello["packages"]["triton"]["version"]
        total, skipped, wrong, seconds = 0, 0, [], []
        for path, file, kernel, case, compiler in cases():
            if not compiler.startswith(f"triton {version}") or ("utlx" in compiler) != ("triton-utlx" in driver.hello["packages"]):
                skipped += 1
                continue
            total += 1
            parts = {name: case[name] for name in ("target", "signature", "constexprs", "divisible", "options")}
            answer = driver.ask(file, kernel=kernel, **parts)
            seconds.append(answer["seconds"])
            wrong += [f"{path.parent.name}/{path.stem}: {one} and {other} share bytes and time" for one, other in sharing(answer)]
            if seen(answer, "tensor_columns") != seen(case, "tmem_columns"):
                wrong.append(f"{path.parent.name}/{path.stem} {case['target']} {case['constexprs']}: {case.get('shared')} is now "
                             f"{answer.get('shared')} {answer.get('error', '')} {case.get('error') or ''}")
            elif not case.get("error") and other_sizes(case, answer):
                wrong.append(f"{path.parent.name}/{path.stem}: {other_sizes(case, answer)}")
        print(f"\ntriton {version}: confirmed {total - len(wrong)} of {total}, differs {len(wrong)}, "
              f"skipped (other version) {skipped}")
        if seconds:
            print(f"seconds: first {seconds[0]}, second {seconds[1]}, median {statistics.median(seconds)}, longest {max(seconds)}")
        self.assertEqual([], wrong, "\n".join(wrong))


HEAD = """\
import triton
import triton.language as tl
"""
COPY = """\
@triton.jit
def copy(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y_ptr + at, tl.load(x_ptr + at))
"""
ARGUMENTS = {"signature": {"x_ptr": "*fp32", "y_ptr": "*fp32"}, "constexprs": {"N": "128"}}


@unittest.skipIf(TRITON is None, "this Python has no Triton")
class Kernels(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tilefit-kernels-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.driver = Driver()
        self.addCleanup(self.driver.close)

    def ask(self, text, kernel="copy", name="kernels.py", **parts):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return self.driver.ask(path, kernel=kernel, **(ARGUMENTS | parts))

    def check(self, text, kernel="copy", **parts):
        answer = self.ask(text, kernel, **parts)
        self.assertEqual(0, answer.get("shared"), answer)
        return answer

    def check_error(self, kind, line, text, kernel="copy", **parts):
        answer = self.ask(text, kernel, **parts)
        self.assertEqual((kind, line), (answer.get("error", {}).get("kind"), answer.get("error", {}).get("line")), answer)
        return answer["error"]

    def test_an_answer(self):
        answer = self.check(HEAD + COPY)
        self.assertEqual((4, 232448, 0, []), (answer["total_warps"], answer["limit"], answer["tensor_columns"], answer["buffers"]))
        self.assertEqual(("triton", "cuda:90"), (answer["by"]["name"], answer["target"]))
        self.assertEqual(["kernels.py"], [Path(one["path"]).name for one in answer["files"]])

    def test_how_long_buffers_are_needed(self):
        answer = self.ask(HEAD + """\
@triton.jit
def product(a, b, c, K):
    at = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 64):
        x = tl.load(a + at[:, None] * K + at[None, :] + k)
        y = tl.load(b + at[:, None] * K + at[None, :] + k)
        acc += tl.dot(x, y)
    tl.store(c + at, tl.max(acc, 1))
""", "product", signature={"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"}, constexprs={}, divisible=["a", "b", "c", "K"], target="cuda:80")
        x, y, *scratch = answer["buffers"]
        self.assertEqual([(8, 8), (9, 9), (11, 11)], [(one["line"], one["last_line"]) for one in (x, y, scratch[0])])
        self.assertEqual([0] * len(scratch), [one["offset"] for one in scratch])
        self.assertLessEqual(max(x["live"][1], y["live"][1]), scratch[0]["live"][0])

    def test_machine_code(self):
        self.assertNotIn("machine", self.check(HEAD + COPY))
        for target, by in (("cuda:80", "ptxas"), ("cuda:90", "ptxas"), ("cuda:100", "ptxas"), ("cuda:120", "ptxas"), ("hip:gfx942", "LLVM")):
            machine = self.check(HEAD + COPY, target=target, full=True)["machine"]
            self.assertIn(by, machine["by"])
            self.assertEqual((4, 0, {0}), (machine["warps"], machine["stack"], set(machine["spills"].values())), machine)
            self.assertTrue(2 <= machine["registers"] <= 32, machine)

    def test_spills(self):
        text = COPY.replace("    tl.store(y_ptr + at, tl.load(x_ptr + at))\n", """\
    x = tl.load(x_ptr + at[:, None] * N + at[None, :])
    for _ in range(4):
        x = tl.dot(x, x) + x
    tl.store(y_ptr + at[:, None] * N + at[None, :], x)
""")
        for target in ("cuda:80", "hip:gfx942"):
            machine = self.ask(HEAD + text, target=target, full=True, options={"num_warps": 1})["machine"]
            self.assertTrue(machine["stack"] > 0 and max(machine["spills"].values()) > 0, machine)

    def test_an_assembler_that_fails_costs_no_plan(self):
        broken = "from triton.backends.nvidia.compiler import CUDABackend\ndef make_cubin(*_): BODY\nCUDABackend.make_cubin = make_cubin\n"
        for body, said in (("raise OSError('no ptxas here')", "no ptxas here"), ("import os; os.abort()", "SIGABRT"),
                           ("import time; time.sleep(60)", "No answer within 6 s")):
            answer = self.check(HEAD + broken.replace("BODY", body) + COPY, full=True, seconds=6)
            self.assertNotIn("machine", answer)
            self.assertIn(said, answer["no_machine"])

    def test_decorators_above_jit(self):
        tuned = "@triton.autotune([triton.Config({'N': 64})], key=[])\n@triton.heuristics({'N': lambda args: 64})\n"
        self.check(HEAD + tuned + COPY)

    def test_methods(self):
        self.check(HEAD + "class Outer:\n  class Inner:\n" + textwrap.indent(COPY, "    "), "Outer.Inner.copy")

    def test_another_name(self):
        self.check(HEAD + COPY + "renamed = copy\ndel copy\n")

    def test_made_in_a_function(self):
        self.check_error("no-kernel", None, HEAD + "def make():\n" + textwrap.indent(COPY, "    ") + "    return copy\n")

    def test_arguments(self):
        self.assertIn("y_ptr", self.check_error("argument", 3, HEAD + COPY, signature={"x_ptr": "*fp32"})["message"])
        self.check_error("argument", 3, HEAD + COPY, constexprs={"N": "1 / 0"})
        self.check_error("argument", 3, HEAD + COPY, constexprs={"M": "1"})
        self.check_error("argument", None, HEAD + COPY, target="tpu:5")

    def test_words_and_names_as_values(self):
        text = "SIZE = 64\n" + COPY.replace("N: tl", "W: tl.constexpr, C: tl.constexpr, R: tl.constexpr, N: tl")
        self.check(HEAD + text, constexprs={"N": "SIZE * 2", "W": "ieee", "C": ".cg", "R": "max"})

    def test_refused_in_a_helper(self):
        self.check_error("refused", 5, HEAD + "@triton.jit\ndef at(N: tl.constexpr):\n    return tl.arange(0, N + 1)\n" + COPY.replace("tl.arange(0, N)", "at(N)"))

    def test_host_code_that_cannot_run(self):
        answer = self.check(HEAD + "import torch\n" + COPY + "x, y = torch.rand(128), torch.rand(128)\ncopy[(1,)](x, y, 128)\nint(x)\n")
        self.assertEqual("module", answer["stopped"]["kind"])

    def test_what_is_no_constant(self):
        error = self.check_error("module", 4, HEAD + "import not_there_at_all as nothing\n" + COPY, constexprs={"N": "nothing.SIZE"})
        self.assertIn("not_there_at_all", error["message"])

    def test_a_path_that_is_written_with_escapes(self):
        text = HEAD + COPY.replace("    tl.store", "    at = tl.sum(tl.load(x_ptr + at), 0).to(tl.int32) + at\n    tl.store")
        answer = self.ask(text, name='größe "a\\b"/kernels.py')
        self.assertEqual(6, answer.get("buffers", [{}])[0].get("line"), answer)

    def test_which_gpu(self):
        for target, major in (("cuda:80", 8), ("cuda:100", 10), ("hip:gfx942", 9)):
            text = "import torch\nassert torch.cuda.get_device_capability()[0] == MAJOR\nassert triton.runtime.driver.active.get_current_target().arch\n"
            self.check(HEAD + text.replace("MAJOR", str(major)) + COPY, target=target)

    def test_relative_imports(self):
        (self.folder / "package").mkdir()
        (self.folder / "package" / "__init__.py").write_text("raise RuntimeError('no GPU')")
        (self.folder / "package" / "sizes.py").write_text("SIZE = 128")
        answer = self.check(HEAD + "from .sizes import SIZE\n" + COPY, name="package/kernels.py", constexprs={"N": "SIZE"})
        self.assertEqual(["__init__.py", "kernels.py", "sizes.py"], [Path(one["path"]).name for one in answer["files"]])


if __name__ == "__main__":
    unittest.main()
