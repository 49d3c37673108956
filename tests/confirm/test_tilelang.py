"""The driver against recorded answers of TileLang (tests/conformance/tilelang), under a Python that has it.

    PYTHON_WITH_TILELANG -m unittest tests/confirm/test_tilelang.py

One answer of each `TILEFIT_EVERY` (40 if it is not set) is asked for: each takes a second.
"""
import importlib.util
import itertools
import json
import os
import statistics
import tempfile
import unittest
from pathlib import Path

try:
    from driver import Driver
except ImportError:
    from tests.confirm.driver import Driver

RECORDED = Path(__file__).resolve().parents[1] / "conformance" / "tilelang"
TILELANG = importlib.util.find_spec("tilelang")


def questions():
    """(file, case, answer) of every answer that asks for no other passes"""
    for path in sorted(RECORDED.glob("*.json")):
        record = json.loads(path.read_text())
        for case in record.get("cases", ()) if isinstance(record, dict) else ():
            for answer in case.get("answers", ()):
                if not answer.get("pass_configs") and is_of_constants(answer):
                    yield path.with_suffix(".py"), case, answer


def is_of_constants(answer):
    return all(isinstance(kernel["launch_dynamic" if "launch_dynamic" in kernel else "dynamic"], int) for kernel in answer.get("kernels", ()))


def largest(kernels):
    total = [(kernel.get("launch_dynamic", kernel["dynamic"]), kernel) for kernel in kernels]
    return max(total, key=lambda one: one[0])


def target_of(name):
    return "cuda:" + name[3:].rstrip("a") if name.startswith("sm_") else "hip:" + name


def python(value):
    """Types and lists were recorded as texts."""
    return value if isinstance(value, str) and value.startswith(("T.", "[")) else repr(value)


@unittest.skipIf(TILELANG is None, "this Python has no TileLang")
class Recorded(unittest.TestCase):
    def test_all(self):
        driver = Driver()
        self.addCleanup(driver.close)
        total, wrong, seconds = 0, [], []
        every = int(os.environ.get("TILEFIT_EVERY", "40"))
        for file, case, recorded in itertools.islice(questions(), 0, None, every):
            total += 1
            given = {name: python(value) for name, value in case["args"].items()}
            answer = driver.ask(file, ask="tilelang", kernel=case["function"], target=target_of(recorded["target"]), constexprs=given)
            seconds.append(answer["seconds"])
            title = f"{file.name} {case['function']} {case['args']} {recorded['target']}"
            if recorded.get("error") or answer.get("error"):
                if not (recorded.get("error") and answer.get("error")):
                    wrong.append(f"{title}: {answer.get('error')}, then {recorded.get('error')}")
                continue
            shared, kernel = largest(recorded["kernels"])
            ours = sorted((one["op"], one["size"], one["offset"]) for one in answer["buffers"])
            theirs = sorted((one["name"], one["bytes"], one["offset"]) for one in kernel["buffers"])
            if (answer["shared"], ours) != (shared, theirs):
                wrong.append(f"{title}: {answer['shared']} {ours}, then {shared} {theirs}")
        print(f"\ntilelang: the same {total - len(wrong)} of {total}, seconds: median {statistics.median(seconds)}, longest {max(seconds)}")
        self.assertGreater(total * every, 900)
        self.assertEqual([], wrong, "\n".join(wrong))


HEAD = "import tilelang\nimport tilelang.language as T\n\n\n@tilelang.jit\n"


@unittest.skipIf(TILELANG is None, "this Python has no TileLang")
class Kernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilefit-kernels-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.driver = Driver()
        self.addCleanup(self.driver.close)

    def ask(self, text, **given):
        path = self.folder / "kernels.py"
        path.write_text(HEAD + text)
        return self.driver.ask(path, ask="tilelang", kernel="made", constexprs=given)

    def check_error(self, kind, line, text, **given):
        error = self.ask(text, **given).get("error", {})
        self.assertEqual((kind, line), (error.get("kind"), error.get("line")), error)

    def test_a_refusal_has_the_line_of_the_author(self):
        self.check_error("refused", 9, """\
def made(N):
    @T.prim_func
    def main(X: T.Tensor((N, N), "float16")):
        a = T.alloc_share((N, N), "float16")
    return main
""", N="64")

    def test_what_is_missing_is_named(self):
        self.check_error("refused", None, "def made(N):\n    return None\n")
        self.assertEqual("argument", self.ask("def made(N):\n    return None\n", N="1 / 0")["error"]["kind"])

    def test_another_kernel(self):
        path = self.folder / "kernels.py"
        path.write_text(HEAD + "def made():\n    return None\n")
        self.assertEqual("no-kernel", self.driver.ask(path, ask="tilelang", kernel="other")["error"]["kind"])


if __name__ == "__main__":
    unittest.main()
