"""How long each buffer of a Triton module behind allocation is needed, from its text.

Times are numbers of lines of the text. A buffer is needed from the operation that makes it to after the last one that uses it or a view of it, and
to the end of a loop that uses it and began without it. The scratch of an operation is needed while that runs.
"""
import re

RESULTS = re.compile(r"(%[\w#:]+(?:, %[\w#:]+)*) = ")
NAME = re.compile(r"%[\w-]+(?:#\d+)?")
LABEL = re.compile(r"\^(bb\d+)(?:\((.*)\))?:")
BRANCH = re.compile(r"\^(bb\d+)(?:\(([^:]*) : )?")
LOCATION = re.compile(r" loc\(.*?\)(?=[,): ]|$)")


def lives(lines, made):
    """Of each buffer, [from, to) and the number of the line that reads or writes it last. `made` is a list of (number of the line that makes it, its name or None)
    in the order of the lines."""
    return Lives(lines, made).found()


class Lives:
    def __init__(self, lines, made):
        self.lines, self.made = lines, made
        self.views = {}  # names by which buffers go, in the function that is read: those buffers
        self.last = [number for number, _ in made]
        self.touched = list(self.last)
        self.labels, self.jumps_back = {}, []
        self.specialized = []  # those that tasks are given, for each group of tasks around the line

    def found(self):
        starts = {}
        for nth, (number, name) in enumerate(self.made):
            starts.setdefault(number, []).append((nth, name))
        for number, line in enumerate(self.lines):
            self.take(number, LOCATION.sub("", line.strip()))
            for nth, name in starts.get(number, ()):
                if name:
                    self.views[name] = {nth}
        self.extend_over_loops()
        return [(number, last + 1, touched) for (number, _), last, touched in zip(self.made, self.last, self.touched)]

    def take(self, number, line):
        if line.startswith("tt.func"):
            self.views, self.labels = {}, {}
        elif label := LABEL.match(line):
            self.labels.setdefault(label[1], [None, []])[0] = number
            self.give(label[1], NAME.findall(re.sub(r": [^,]*", "", label[2] or "")))
        elif " ttg.warp_specialize" in " " + line:
            self.specialized.append(self.used(line))
        elif line.startswith("} :") and self.specialized:
            for nth in self.specialized.pop():
                self.last[nth] = number
        else:
            self.operation(number, line)

    def operation(self, number, line):
        results = RESULTS.match(line)
        used = self.used(line[results.end():] if results else line)
        for nth in used:
            self.last[nth] = number
            self.touched[nth] = self.touched[nth] if line.startswith(("ttg.local_dealloc", "cf.")) else number
        if results and used:
            types = split_types(line.rpartition(" : ")[2].rpartition("->")[2].strip("() "))
            for name, written in zip(names_of(results[1]), types):
                if written.startswith("!ttg.memdesc"):
                    self.views.setdefault(name, set()).update(used)
        if line.startswith("cf."):
            for label, values in BRANCH.findall(line):
                self.jump(number, label, NAME.findall(values))

    def used(self, text):
        return set().union(*(self.views.get(name, ()) for name in NAME.findall(text)))

    def jump(self, number, label, values):
        start, given = self.labels.setdefault(label, [None, []])
        given[:] = [one | self.views.get(name, set()) for one, name in zip(given or [set()] * len(values), values)]
        if start is not None and start < number:
            self.jumps_back.append((start, number))

    def give(self, label, names):
        for name, buffers in zip(names, self.labels[label][1]):
            if buffers:
                self.views[name] = set(buffers)

    def extend_over_loops(self):
        for start, end in sorted(self.jumps_back, key=lambda jump: jump[1]):
            for nth, (number, name) in enumerate(self.made):
                if name and number < start <= self.last[nth]:
                    self.last[nth] = max(self.last[nth], end)


def names_of(results):
    """The names of `%a, %b:2`: `%a`, `%b#0` and `%b#1`."""
    for name in results.split(", "):
        name, _, count = name.partition(":")
        yield from [f"{name}#{nth}" for nth in range(int(count))] if count else [name]


def split_types(text):
    """Types between the commas that are not within one of them."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "<([{") - (sign in ">)]}")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [one.strip() for one in found if one.strip()]
