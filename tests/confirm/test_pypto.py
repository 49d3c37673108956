"""The recorded plans of PyPTO's kernels, asked again of the compiler that the running Python has.

    PYTHON_WITH_PYPTO -m unittest tests/confirm/test_pypto.py
"""
import json
import statistics
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from driver import Driver  # noqa: E402

RECORDED = HERE.parent / "conformance" / "pypto"
OF_TILE = ("name", "ssa", "line", "space", "shape", "dtype", "bytes", "buffer", "address", "inserted")
LINE = OF_TILE.index("line")


def recorded(result, lines):
    """What has to be the same: the functions with their tiles, and the bytes used of each memory.

    Some records give a line of the compiler's own files, behind the end of the kernel's, which has `lines`: that is no line.
    """
    for function in result["functions"].values():
        for tile in function["tiles"]:
            tile["line"] = tile["line"] if 0 < tile["line"] <= lines else None
    return {name: ([[tile.get(part) for part in OF_TILE] for tile in function["tiles"]],
                   {space: row["used"] for space, row in function["spaces"].items()}, function.get("reserved", []))
            for name, function in result["functions"].items()}


def differs(answer, result, lines):
    if "error" in answer:
        return result["ok"] or answer["error"]["kind"] != "refused"
    if not result["ok"]:
        return True
    then, here = recorded(result, lines), now(answer)
    for name in then.keys() & here.keys():
        for one, other in zip(then[name][0], here[name][0]):
            other[LINE] = other[LINE] if one[LINE] is not None else None
    return then != here


def now(answer):
    functions = [function for program in answer["programs"] for function in program["functions"]]
    return {function["name"]: ([[tile[part] for part in OF_TILE] for tile in function["tiles"]], function["spaces"], function["reserved"])
            for function in functions}


class Recorded(unittest.TestCase):
    def test_all(self):
        driver = Driver()
        self.addCleanup(driver.close)
        if driver.hello["packages"].get("pypto", {}).get("what") != "compiler":
            self.skipTest("this Python has no PyPTO compiler")
        total, wrong, seconds = 0, [], []
        for path in sorted(RECORDED.glob("*.json")):
            for result in json.loads(path.read_text())["results"]:
                total += 1
                answer = driver.ask(path.with_suffix(".py"), ask="pypto", kernel=None, target=result["backend"], planner=result["planner"])
                seconds.append(answer["seconds"])
                if differs(answer, result, len(path.with_suffix(".py").read_text().splitlines())):
                    wrong.append(f"{path.stem} {result['backend']} {result['planner']}: {answer.get('error')} {result['error']}")
        print(f"\nPyPTO: confirmed {total - len(wrong)} of {total}, differs {len(wrong)}")
        print(f"seconds: first {seconds[0]}, second {seconds[1]}, median {statistics.median(seconds)}, longest {max(seconds)}")
        self.assertEqual([], wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
