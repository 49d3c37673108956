"""The recorded plans of kernels, asked again of the compiler that the running Python has.

    PYTHON_WITH_TRITON -m unittest tests/confirm/test_triton.py
"""
import importlib.util
import json
import os
import statistics
import sys
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


if __name__ == "__main__":
    unittest.main()
