"""Random code of the host beside Python: what it launches kernels with has to be among the ways that tilefit names.

    python3 host_code.py DIR -n 300 --seed 7 --bin target/release/tilefit

Each file has a kernel and a function that launches it. Python runs the function with tensors of many shapes, in which only `shape` and the like are real,
and a kernel that writes down its arguments. A launch that is in none of the rows is wrong. A table that says that there is more is not judged.
"""

import argparse
import csv
import io
import pathlib
import random
import subprocess
import sys
import types

KERNEL = '''import math

import torch
import triton
import triton.language as tl


@triton.jit
def turned(x, y, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, A)
    k = tl.arange(0, B)
    at = i[:, None] * B + k[None, :]
    tl.store(y + at, tl.trans(tl.trans(tl.load(x + at)) + 1.0))


'''


class Writer:
    """Writes a function of the host. What it may not know is what tilefit can do."""

    def __init__(self, rng, with_options=False):
        self.rng, self.with_options = rng, with_options
        self.helpers = []

    def power(self, least=0, most=9):
        return 2 ** self.rng.randint(least, most)

    def limit(self):
        """A number that code compares with: mostly a power of two."""
        return self.rng.choice([self.power(3, 12), self.power(3, 12), self.power(3, 12) + 1, self.power(3, 12) - 1, 3 * self.power(3, 8), self.rng.randint(2, 3000)])

    def number(self):
        """An expression of the numbers that are known by now."""
        name = self.rng.choice(self.numbers)
        return self.rng.choice([
            name, name, name, f"{name} // {self.power(1, 3)}", f"{name} + {self.rng.randint(1, 64)}", f"{name} * {self.rng.randint(2, 4)}",
            f"triton.cdiv({name}, {self.rng.choice([2, 3, 8, 64])})", f"min({name}, {self.limit()})", f"max({name}, {self.limit()})", f"{name} - 1",
            f"abs({name} - {self.limit()})", "min(x.shape)", "max(*x.shape)", f"math.ceil({name} / {self.power(1, 6)})", f"len(range({name}))",
            f"{name}.bit_length()", f"sum([{name}, {self.rng.choice(self.numbers)}])", f"({name}, {self.limit()})[0]", f"-(-{name} // {self.power(1, 4)})", f"{name} % {self.limit()}", f"int({name} / 2)",
        ])

    def block(self):
        """A power of two that no tensor is too large for."""
        rounded = f"{self.rng.choice(self.rounding)}({self.number()})"
        most, least = self.power(5, 7), self.power(0, 4)
        return self.rng.choice([
            f"min({most}, {rounded})", f"max({least}, min({most}, {rounded}))", f"min(max({rounded}, {least}), {most})",
            f"{most} if {self.condition()} else {least}", f"{most} if {self.condition()} else min({least}, {rounded})",
            f"{self.rng.choice(self.rounding)}(min({most}, {self.number()}))", str(most),
            f"{{{least}: {most}, {most}: {least}}}.get({self.rng.choice(self.numbers)}, 16)", self.helper(),
            f"({least}, {most})[{self.condition()}]", f"min({most}, 1 << ({self.number()}).bit_length())",
            f"[{most}, {least}, 16][{self.number()} % 3]", f"max([b for b in ({least}, 16, {most}) if b <= {self.number()}] or [8])",
            f"next((b for b in ({most}, 16) if b <= {self.number()}), {least})", f"sizes(x)[{self.rng.randint(0, 1)}]",
            f"settings({self.number()}, x)[{self.rng.randint(0, 1)}]",
        ])

    def condition(self, depth=0):
        name = self.rng.choice(self.numbers)
        plain = f"{name} {self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.limit()}"
        if depth or self.rng.random() < 0.7:
            return self.rng.choice([
                plain, plain, plain, f"{name} in ({self.power()}, {self.power()})", f"{name} % {self.power(1, 4)} == 0", f"not {plain}",
                f"{self.power(2, 5)} < {name} <= {self.limit()}", "x.is_contiguous()", f"{name} > {self.rng.choice(self.numbers)}",
            ])
        return f"{self.condition(1)} {self.rng.choice(['and', 'or'])} {self.condition(1)}"

    def helper(self):
        """A function with a table of cases."""
        name = f"table_{len(self.helpers)}"
        outer, self.numbers = self.numbers, ["n"]
        if self.rng.random() < 0.6:
            lines = [f"    if {self.condition(1)}:\n        return {self.power(0, 7)}\n" for _ in range(self.rng.randint(1, 4))]
            body = "".join(lines) + f"    return {self.power(0, 7)}\n"
        else:
            body = f"    found = {self.power(0, 7)}\n    if {self.condition(1)}:\n        found = {self.power(0, 7)}\n"
            body += f"    elif {self.condition(1)}:\n        found = {self.power(0, 7)}\n" * self.rng.randint(0, 1)
            body += "    return found\n"
        body = body.replace("x.is_contiguous()", "n")
        self.numbers = outer
        self.helpers.append(f"def {name}(n):\n{body}\n\n")
        return f"{name}({self.number()})"

    def shape(self):
        one, two = self.rng.sample(["rows", "width", "m", "hidden"], 2)
        self.numbers = [one, two]
        return self.rng.choice([
            f"    {one}, {two} = x.shape\n", f"    {one} = x.shape[0]\n    {two} = x.shape[-1]\n", f"    {one}, {two} = x.shape[0], x.size(1)\n",
            f"    {one}, {two} = x.size()\n", f"    {one}, {two} = x.numel(), x.shape[1]\n", f"    {one} = x.shape[1]\n    {two} = x.shape[1]\n",
        ])

    def check(self):
        name = self.rng.choice(self.numbers)
        return self.rng.choice([
            f"    if {self.condition()}:\n        raise ValueError({name})\n", f"    assert {name} <= {self.limit()}\n",
            f"    assert {name} in {{{self.power(4, 6)}, {self.power(5, 7)}, {self.power(6, 8)}}}\n", f"    assert {self.condition()}, 'no'\n",
            f"    if {self.condition()}:\n        return None\n", f"    {name} = {self.number()}\n", "", "", "",
        ])

    def assigned(self, name):
        kind = self.rng.randrange(9)
        if kind == 5:
            most = self.power(4, 7)
            return f"    {name} = {self.power(0, 3)}\n    while {name} < {self.number()} and {name} < {most}:\n        {name} *= 2\n"
        if kind == 6:
            tried = ", ".join(str(self.power(0, 7)) for _ in range(3))
            return f"    {name} = {self.power(0, 5)}\n    for one in ({tried}):\n        if one <= {self.number()}:\n            {name} = one\n            break\n"
        if kind == 7:
            return f"    {name}, other = settings({self.number()}, x)\n    if {self.condition()}:\n        {name} = other\n"
        if kind == 8:
            return f"    options = dict({name}={self.block()})\n    if {self.condition()}:\n        options['{name}'] = {self.power(0, 7)}\n    {name} = options['{name}']\n"
        if kind < 2:
            return f"    {name} = {self.block()}\n"
        if kind == 2:
            return f"    if {self.condition()}:\n        {name} = {self.block()}\n    else:\n        {name} = {self.block()}\n"
        if kind == 3:
            return f"    {name} = {self.block()}\n    if {self.condition()}:\n        {name} = {self.power(0, 7)}\n"
        least = self.power(0, 3)
        return f"    {name} = {self.power(4, 7)}\n    while {name} > {self.number()} and {name} > {least}:\n        {name} //= 2\n"

    def file(self):
        self.rounding = ["triton.next_power_of_2"]
        shape = self.shape()
        if self.rng.random() < 0.3:
            self.rounding = ["rounded"]
            shape = "    rounded = triton.next_power_of_2\n" + shape
        if self.with_options:
            body = shape + self.check() + self.options()
            return KERNEL + self.settings() + "".join(self.helpers) + f"def go(x, y):\n{body}"
        body = shape + self.check() + self.assigned("a") + self.check() + self.assigned("b")
        if self.rng.random() < 0.3:
            body += "    b = a\n" if self.rng.random() < 0.5 else "    b = min(a, b)\n"
        warps = ""
        if self.rng.random() < 0.5:
            body += f"    warps = {self.rng.choice([4, 8])} if {self.condition()} else {self.rng.choice([1, 2, 4])}\n"
            warps = ", num_warps=warps"
        body += f"    turned[(1,)](x, y, {self.numbers[0]}, A=a, B=b{warps})\n"
        return KERNEL + self.settings() + "".join(self.helpers) + f"def go(x, y):\n{body}"

    def options(self):
        """A dictionary that the launch unpacks: chosen, looked up, changed on the way. Some have keys that others have not."""
        def row():
            more = f", 'num_warps': {self.rng.choice([1, 2, 8])}" * (self.rng.random() < 0.4)
            return f"{{'A': {self.power(0, 6)}, 'B': {self.power(0, 6)}{more}}}"

        self.helpers.append("def chosen(n):\n" + self.ways_to_choose(row) + "\n\n")
        nearest = "nearest[min(nearest.keys(), key=lambda k: abs(k - {0}))]"
        keys = sorted({self.power(0, 12) for _ in range(3)})
        table = "{" + ", ".join(f"{key}: {row()}" for key in keys) + "}"
        by_case = f"    options = {row()}\n    if {self.condition()}:\n        options = {row()}\n"
        start = self.rng.choice([
            f"    options = chosen({self.number()})\n", f"    options = chosen({self.number()})\n", by_case, f"    options = {row()} if {self.condition()} else {row()}\n",
            f"    nearest = {table}\n    options = {nearest.format(self.numbers[0])}\n", f"    options = {table}.get({self.numbers[0]}, {row()})\n",
            f"    found = maybe({self.number()})\n    if found:\n        options = found\n    else:\n        options = {row()}\n",
            f"    found = maybe({self.number()})\n    options = {row()} if found is None else found\n",
        ])
        steps = [
            "    options = options.copy()\n", f"    options['B'] = {self.power(0, 6)}\n", f"    options = {{**options, 'B': {self.power(0, 6)}}}\n",
            f"    options = dict(options, num_warps={self.rng.choice([1, 8])})\n", f"    options.update({{'A': {self.power(0, 6)}}})\n",
            f"    if {self.condition()}:\n        options['A'] = {self.power(0, 6)}\n", "    options.pop('num_warps', None)\n",
            f"    options['num_warps'] = 8 if options['A'] > {self.power(1, 5)} else 2\n", f"    options['A'] = max(options['A'], {self.power(0, 5)})\n",
            f"    if options['B'] >= {self.power(0, 6)}:\n        options = {row()}\n", "    options.setdefault('num_warps', 2)\n",
            "    warps = options.pop('num_warps', 4)\n    options['num_warps'] = warps\n", f"    if 'num_warps' not in options:\n        options['num_warps'] = 2\n",
        ]
        self.helpers.append("def maybe(n):\n" + f"    if {self.condition_of_n()}:\n        return None\n    return {row()}\n\n\n")
        body = start + "".join(self.rng.choice(steps) for _ in range(self.rng.randint(0, 3)))
        if self.rng.random() < 0.3:
            return body + f"    first = options.pop('A')\n    turned[(1,)](x, y, {self.numbers[0]}, A=min(first, {self.power(3, 6)}), **options)\n"
        if self.rng.random() < 0.3:
            self.helpers.append("def launched(x, y, n, A, B, **more):\n    turned[(1,)](x, y, n, A=A, B=B, **more)\n\n\n")
            return body + f"    launched(x, y, {self.numbers[0]}, **options)\n"
        return body + f"    turned[(1,)](x, y, {self.numbers[0]}, **options)\n"

    def ways_to_choose(self, row):
        outer, self.numbers = self.numbers, ["n"]
        if self.rng.random() < 0.5:
            body = "".join(f"    if {self.condition(1)}:\n        return {row()}\n" for _ in range(self.rng.randint(1, 3))) + f"    return {row()}\n"
        else:
            body = f"    found = {row()}\n    if {self.condition(1)}:\n        found = {row()}\n    elif {self.condition(1)}:\n        found['A'] = {self.power(0, 6)}\n    return found\n"
        self.numbers = outer
        return body.replace("x.is_contiguous()", "n")

    def condition_of_n(self):
        outer, self.numbers = self.numbers, ["n"]
        condition, self.numbers = self.condition(1).replace("x.is_contiguous()", "n"), outer
        return condition

    def settings(self):
        """Functions that give several numbers, by a number or by a tensor."""
        self.numbers = ["n"]
        rows = "".join(f"    if {self.condition(1)}:\n        return {self.power(0, 7)}, {self.power(0, 7)}\n" for _ in range(self.rng.randint(1, 4)))
        by_number = f"def settings(n, x):\n{rows}    return {self.power(0, 7)}, {self.power(0, 7)}\n\n\n"
        small = f"min({self.power(3, 7)}, triton.next_power_of_2(n))"
        by_tensor = f"def sizes(x):\n    m, n = x.shape\n    if {self.condition(1)}:\n        return {small}, {self.power(0, 7)}\n    return {self.power(0, 7)}, {small}\n\n\n"
        return by_number + by_tensor


class Tensor:
    def __init__(self, *shape):
        self.shape, self.dtype = shape, "torch.float32"

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def numel(self):
        return self.shape[0] * self.shape[1]

    def is_contiguous(self):
        return sum(self.shape) % 3 > 0


def launches(text, shapes):
    """What the function launches the kernel with, for each shape that it takes."""
    found = set()

    class Kernel:
        def __getitem__(self, _):
            return lambda *args, **given: found.add((given["A"], given["B"], given.get("num_warps", 4)))

    def next_power_of_2(n):
        n -= 1
        for shift in (1, 2, 4, 8, 16, 32):
            n |= n >> shift
        return n + 1

    triton = types.ModuleType("triton")
    triton.language = types.ModuleType("triton.language")
    triton.jit, triton.cdiv, triton.next_power_of_2 = lambda _: Kernel(), lambda a, b: -(-a // b), next_power_of_2
    triton.language.constexpr = int
    sys.modules.update({"triton": triton, "triton.language": triton.language, "torch": types.ModuleType("torch")})
    scope = {}
    exec(compile(text, "host", "exec"), scope)
    for shape in shapes:
        before = set(found)
        try:
            scope["go"](Tensor(*shape), Tensor(*shape))
        except (ValueError, AssertionError, LookupError):
            continue
        for launch in found - before:
            yield shape, launch


def is_block(launch):
    return all(0 < extent <= 1 << 20 and extent & (extent - 1) == 0 for extent in launch)


def rows(path, binary):
    answer = subprocess.run([binary, "configs", "--format", "csv", "--device", "sm_90", str(path)], capture_output=True, text=True)
    return [row for row in csv.DictReader(io.StringIO(answer.stdout)) if row["device"] == "sm_90"]


def is_way(told, row):
    """Whether it is one of the ways of a stated row, or a stated row that has but one."""
    behind = told[told.index(row) + 1:][:1]
    return row["possible"] == "true" or not any(other["possible"] == "true" for other in behind)


def values(row):
    return dict(word.split("=") for word in row["configuration"].split() if "=" in word)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("dir", type=pathlib.Path)
    options.add_argument("-n", type=int, default=100)
    options.add_argument("--seed", default="0")
    options.add_argument("--options", action="store_true", help="what is launched with is in a dictionary")
    options.add_argument("--bin", required=True)
    options = options.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    counts = dict(files=0, told=0, open=0, launches=0, wrong=0, more=0)
    for nth in range(options.n):
        rng = random.Random(f"{options.seed}/{nth}")
        text = Writer(rng, options.options).file()
        path = options.dir / f"host_{nth}.py"
        path.write_text(text)
        sizes = [2 ** power + more for power in range(14) for more in (-1, 0, 1) if 2 ** power + more > 0]
        shapes = [(rng.choice(sizes + [rng.randint(1, 5000)]), rng.choice(sizes + [rng.randint(1, 5000)])) for _ in range(400)]
        told = rows(path, options.bin)
        stated = [row for row in told if row["possible"] != "true"]
        ways = [values(row) for row in told if is_way(told, row)]
        counts["files"] += 1
        # A long table is cut.
        if not stated or not all(row["high"] for row in stated) or len(ways) > 100:
            counts["open"] += 1
            continue
        counts["told"] += 1
        met = set()
        for shape, launch in launches(text, shapes):
            if not is_block(launch):
                continue
            counts["launches"] += 1
            wanted = dict(zip(("A", "B", "num_warps"), map(str, launch)))
            # What is the same in all ways, and what memory does not depend on, has no column.
            agrees = [way for way in ways if all(way.get(name, value) in ("", value) for name, value in wanted.items())]
            met.update(map(str, agrees))
            if not agrees:
                counts["wrong"] += 1
                print(f"{path}: x of {shape} launches {wanted}, which is no way of {len(ways)}")
                break
        # Ways that no shape led to: more than there are.
        counts["more"] += max(len(ways) - len(met), 0)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    return counts["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
