"""Reads buffers and their places from the text of a Triton module behind allocation.

The Python interface of the compiler's modules shows neither types nor places in the source, so the text is what there is.
"""
import re

from . import triton_lives

BITS = {"i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8E4M3FN": 8, "f8E5M2": 8,
        "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8}
KINDS = {"ttg.warp_specialize": "captures", "tt.func": "warp states", "tt.call": "call"}
ALIGNMENTS = {"captures": 8, "warp states": 4}
SCRATCH_ALIGNMENT = 128
SWIZZLE_ALIGNMENTS = {128: 1024, 64: 512, 32: 256, 0: 128}
DESCRIPTOR = re.compile(r"!ttg\.memdesc<([0-9x]+)x([A-Za-z]\w*), (#[\w.]+(?:<(?:[^<>]|<[^<>]*>)*>)?)")
OPERATION = re.compile(r'(?:(%[\w#:]+(?:, %[\w#:]+)*) = )?"?([a-z_]+\.[\w.]+)"?')


def read(text, file):
    """(buffers, tensor memory) of a module, in the order of the program; `line` is a line of `file`."""
    return Reader(text, file).read()


class Reader:
    def __init__(self, text, file):
        self.text, self.file = text, file
        self.places = Places(text)
        self.encodings = dict(re.findall(r"^(#\w+) = (#(?!loc).*)$", text, re.M))
        self.ctas = int((re.search(r'"ttg\.num-ctas" = (\d+)', text) or [0, 1])[1])
        self.barriers = barriers(text)
        self.buffers, self.tensor_memory = [], []
        self.made = []  # for each buffer its row, the number of the line of the text that makes it, and its name there
        self.regions = []  # the row of the operation that each open brace belongs to; None for a further region of one
        self.function = None

    def read(self):
        lines = self.text.splitlines()
        for self.number, line in enumerate(lines):
            self.take(line.strip())
        self.add_lives(lines)
        return self.buffers, self.tensor_memory

    def add_lives(self, lines):
        """Of the buffers of the kernel itself: those of other functions live in their calls."""
        made = sorted((number, result, nth) for nth, (row, number, result) in enumerate(self.made) if "function" not in row)
        lives = triton_lives.lives(lines, [(number, result) for number, result, _ in made])
        for (_, _, nth), (start, end, last) in zip(made, lives):
            frames = self.places.of(lines[last].strip())
            own = [line for file, line in frames if file == self.file]
            row = self.made[nth][0]
            row |= {"live": [start, end], "last_line": own[0] if own else row["line"]}

    def take(self, line):
        closed = self.regions.pop() if line.startswith("}") and self.regions else None
        if closed:
            self.close(closed, line)
        if line.startswith("tt.func"):
            self.function = None if " public " in line else re.search(r"@([\w.$]+)", line)[1]
        found = OPERATION.match(line)
        row = {"op": found[2] if found else None, "line": None, "tasks": 0}
        if found and not line.startswith("module"):
            self.place(row, line)
            self.allocation(row, found[1], line)
        if line.endswith("{") and not line.startswith("module"):
            self.open(row, line)
        elif row["op"] == "ttg.warp_specialize":
            row["number"] = self.number
            self.regions.append(row)  # its regions follow on lines of their own

    def open(self, row, line):
        row["number"] = self.number
        warps = re.match(r"partition\d+\(.*num_warps\((\d+)\)", line)
        group = self.specialized()
        if warps and group:
            group["tasks"] += int(warps[1])
        is_region = row["op"] is None or bool(warps)
        self.regions.append({"op": None} if is_region else row)

    def specialized(self):
        return next((row for row in reversed(self.regions) if row["op"] == "ttg.warp_specialize"), None)

    def close(self, row, line):
        """Operations with regions say behind the last one where they stand and what they are given."""
        if row["op"] == "tt.func":
            self.place(row, line)
        elif row["op"] is None and (given := re.match(r"\} : \((.*)\) -> \(", line)) and self.specialized():
            group = self.regions.pop()
            self.place(group, line)
            if group.get("kind") == "captures":
                group["size"] = sum(map(capture_size, triton_lives.split_types(given[1])))
            self.widest_tasks(group.pop("tasks"))
        elif row["op"]:
            self.place(row, line)
            self.allocation(row, None, line)

    def widest_tasks(self, warps):
        """Warp states take a byte for each warp of the largest group of tasks."""
        for row in self.regions:
            if row.get("kind") == "warp states":
                row["size"] = max(row["size"] or 0, warps)

    def place(self, row, line):
        frames = self.places.of(line)
        own = [number for file, number in frames if file == self.file]
        row["line"] = own[0] if own else None
        if len(frames) > 1:
            row["frames"] = [f"{file}:{number}" for file, number in frames]

    def allocation(self, row, result, line):
        offset, column = number("allocation.offset", line), number("tensor_memory_col_offset", line)
        if row["op"] != "ttg.warp_specialize":
            row.pop("tasks", None)
        if offset is None and column is None:
            return
        if self.function:
            row["function"] = self.function
        if column is not None:
            dims, dtype, _ = self.descriptor(line)
            row |= {"column": column, "row": number("tensor_memory_row_offset", line), "shape": dims, "dtype": dtype}
            self.tensor_memory.append(row)
            return
        row["offset"] = offset
        if row["op"] == "ttg.local_alloc":
            dims, dtype, encoding = self.descriptor(line)
            row["size"], row["alignment"] = Explicit(dims, dtype, encoding, self.ctas).size_and_alignment(number("alignment", line))
            row |= {"kind": "barrier" if result in self.barriers else "explicit", "shape": dims, "dtype": dtype}
        else:
            kind = KINDS.get(row["op"], "scratch")
            size = None if kind == "warp states" else number("allocation.size", line)
            row |= {"kind": kind, "size": size, "alignment": ALIGNMENTS.get(kind, SCRATCH_ALIGNMENT)}
        self.buffers.append(row)
        self.made.append((row, row.pop("number", self.number), result if row["op"] == "ttg.local_alloc" else None))

    def descriptor(self, line):
        """(dimensions, element type, encoding) of the last memory descriptor of a line"""
        dims, dtype, encoding = DESCRIPTOR.findall(line)[-1]
        return [int(dim) for dim in dims.split("x")], dtype, self.encodings.get(encoding, encoding)


def number(name, line):
    found = re.search(rf"(?<![\w.]){re.escape(name)} = (\d+)", line)
    return int(found[1]) if found else None


def barriers(text):
    """Names of the buffers in which barriers are made, whole or as an element of them."""
    part_of = dict(re.findall(r"(%\S+) = ttg\.memdesc_index (%[\w#]+)", text))
    found = set()
    for name in re.findall(r"ttng\.init_barrier (%[\w#]+)", text):
        while name in part_of:
            name = part_of[name]
        found.add(name)
    return found


class Places:
    """Places in the source that a module's locations stand for."""

    def __init__(self, text):
        self.written = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))
        self.known = {}

    def of(self, line):
        """[(file, line)] of an operation, the innermost function first"""
        found = re.search(r"loc\((#loc\d*)\)(?: \{)?$", line)
        return self.frames(found[1]) if found else []

    def frames(self, written):
        written = written.strip()
        if written in self.written:
            if written not in self.known:
                self.known[written] = self.frames(self.written[written])
            return self.known[written]
        if found := re.fullmatch(r"callsite\((.*) at (.*)\)", written):
            return self.frames(found[1]) + self.frames(found[2])
        if found := re.fullmatch(r'"((?:[^"\\]|\\.)*)":(\d+):\d+(?: to .*)?', written):
            return [(unescaped(found[1]), int(found[2]))]
        found = re.fullmatch(r'"[^"]*"\((.*)\)', written)  # a place with the name of a variable
        return self.frames(found[1]) if found else []


def unescaped(text):
    """MLIR writes a byte that is not printable as a backslash and two hexadecimal digits."""
    raw = re.sub(rb"\\([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode())
    return raw.replace(b"\\\\", b"\\").decode(errors="replace")


class Explicit:
    """A buffer of the kernel's own: bytes of each CTA, by its layout."""

    def __init__(self, dims, dtype, encoding, ctas):
        self.dims, self.bits, self.encoding, self.ctas = list(dims), BITS.get(dtype), encoding, ctas

    def size_and_alignment(self, said):
        """`said` is the alignment that the operation itself gives. The size is None for a layout that is not known here."""
        name = re.match(r"#(?:ttg\.)?(\w+)", self.encoding)
        known = getattr(self, name[1], None) if name and self.bits else None
        if known is None:
            return None, said or 16
        elements, alignment = known()
        return (elements * self.bits // 8 if elements is not None else None), said or alignment

    def nvmma_shared(self):
        if "fp4Padded = true" in self.encoding:
            self.dims[0 if "transposed = true" in self.encoding else -1] *= 2
        return self.of_each_cta(), SWIZZLE_ALIGNMENTS[number("swizzlingByteWidth", self.encoding)]

    def swizzled_shared(self):
        return self.of_each_cta(), 16

    amd_rotating_shared = swizzled_shared

    def shared_linear(self):
        bases = re.findall(r"\[[\d, ]+\]", re.search(r"offset = \[(.*?)\](?:, block|\})", self.encoding)[1])
        rank = bases[0].count(",") + 1 if bases else len(self.dims)
        return product(self.dims[:-rank]) << len(bases), number("alignment", self.encoding) or 16

    def padded_shared(self):
        if self.ctas > 1:
            return None, 16
        elements = product(self.dims)
        padding = re.findall(r"(\d+):\+(\d+)", self.encoding)
        return elements + sum(int(pad) * ((elements - 1) // int(every)) for every, pad in padding), 16

    def of_each_cta(self):
        """Each basis of the layout of CTAs halves the dimension that it goes along."""
        layout = re.search(r"CGALayout = \[(.*?)\]\]", self.encoding + "]]")
        for basis in re.findall(r"\[([\d, ]+)\]", layout[0]) if layout and self.ctas > 1 else ():
            steps = [int(step) for step in basis.split(",")]
            for axis, step in enumerate(steps, len(self.dims) - len(steps)):
                if step:
                    self.dims[axis] = max(1, self.dims[axis] // 2)
        return product(self.dims)


def product(numbers):
    total = 1
    for one in numbers:
        total *= one
    return total


def capture_size(written):
    """Bytes that a value takes on its way into a task."""
    shared = re.match(r"!ttg\.memdesc<([0-9x]+)x", written)
    if shared and "tensor_memory" not in written:
        return 8 + 4 * len(shared[1].split("x"))
    return (BITS[written] + 7) // 8 if written in BITS else 8
