"""The file of recorded launches, a launch a line, and the parts of it that running processes write."""
import hashlib
import json
import os
import sys
import time
from collections import namedtuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

VERSION = 1
MOST_LINES = 20_000
MOST_BYTES = 4 << 20  # tilefit reads no larger file of a repository
MOST_TESTS = 8
SECONDS_FOR_LOCK = 60
MEASURED = ("shared", "tensor_columns", "registers", "spills")
NO_IDENTITY = {*MEASURED, "line", "tests", "runs"}  # what may change while a launch is the same
ORDER = ("v", "file", "kernel", "line", "sources", "globals", "target", "signature", "constexprs", "unwritten", "divisible", "options", "by",
         *MEASURED, "tests", "runs")
IGNORED = "# Of running processes.\nlaunches.*.jsonl\nlaunches.*.tmp\nlaunches.lock\n"
Merged = namedtuple("Merged", "launches kernels left_out")


def default_file(root):
    return os.path.join(root, ".tilefit", "launches.jsonl")


def beside(file, ending):
    """`launches.jsonl` → `launches.ENDING`"""
    return os.path.splitext(file)[0] + "." + ending


# ---- parts
class Part:
    """What one process has recorded. Its lock says that the process lives, also where process numbers mean nothing, as between containers."""

    def __init__(self, file):
        self.file = file
        self.descriptor, self.owner = None, None

    def write(self, line):
        if self.owner != os.getpid():
            self.close()
            self.open()
        os.write(self.descriptor, (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode())

    def open(self):
        prepare_folder(self.file)
        self.owner = os.getpid()
        path = beside(self.file, f"{self.owner}.jsonl")
        for _ in range(100):
            self.descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if lock(self.descriptor) and os.fstat(self.descriptor).st_nlink:
                break
            os.close(self.descriptor)  # it is being merged
            time.sleep(0.01)
        else:
            raise TimeoutError(f"{os.path.basename(path)} is held by another process")
        os.write(self.descriptor, b"\n")  # behind half a line of a process that crashed and had the same number

    def close(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor, self.owner = None, None


def prepare_folder(file):
    folder = os.path.dirname(file)
    os.makedirs(folder, exist_ok=True)
    if os.path.basename(folder) == ".tilefit" and not os.path.exists(os.path.join(folder, ".gitignore")):
        with open(os.path.join(folder, ".gitignore"), "w") as ignored:
            ignored.write(IGNORED)


def lock(descriptor):
    """Whether nobody else holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def parts_of(file):
    """Those of processes that have ended, and of this one, the oldest first."""
    folder, (stem, _) = os.path.dirname(file), os.path.splitext(os.path.basename(file))
    names = [name for name in os.listdir(folder) if name.startswith(stem + ".") and name.endswith(".jsonl") and name[len(stem) + 1:-6].isdigit()]
    return sorted((os.path.join(folder, name) for name in names), key=os.path.getmtime)


def take(path):
    """The lines of a part, which is then gone; none while its process runs."""
    try:
        if fcntl is None:  # Windows renames no file that is open
            path = rename(path, path + ".tmp")
        with open(path, "rb") as part:
            if not lock(part.fileno()):
                return []
            found = part.read()
            if fcntl is not None:
                os.unlink(path)  # while it is held
        if fcntl is None:
            os.unlink(path)
    except OSError:
        return []
    return read(found)


def rename(path, to):
    os.replace(path, to)
    return to


# ---- the file
def merge(file):
    """Takes the parts into the file. Says what was in them."""
    if not os.path.isdir(os.path.dirname(file)):
        return Merged(0, 0, 0)
    descriptor = os.open(beside(file, "lock"), os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        if not wait_for(descriptor):
            raise TimeoutError(f"another process holds {os.path.basename(beside(file, 'lock'))}; what was recorded is merged by the next run")
        return merge_alone(file)
    finally:
        os.close(descriptor)


def wait_for(descriptor):
    end = time.monotonic() + SECONDS_FOR_LOCK
    while not lock(descriptor):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def merge_alone(file):
    old = {}
    add(old, read_file(file))
    parts = [line for path in parts_of(file) for line in take(path)]
    new = {}
    add(new, parts)
    write_file(file, limited(together(old, new)))
    left_out = {line["left_out"] for line in parts if isinstance(line.get("left_out"), str)}
    return Merged(len(new), len({(line["file"], line["kernel"]) for line in new.values()}), len(left_out))


def read_file(file):
    try:
        with open(file, "rb") as text:
            return read(text.read(4 * MOST_BYTES))
    except OSError:
        return []


def read(text):
    """What is no line of a record is left out: half of one behind a crash, or marks of a conflict."""
    found = []
    for line in text.split(b"\n"):
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            found.append(data)
    return found


def is_launch(line):
    return (line.get("v") == VERSION and all(isinstance(line.get(name), str) for name in ("file", "kernel", "target"))
            and isinstance(line.get("tests", []), list) and all(isinstance(test, str) for test in line.get("tests", []))
            and type(line.get("runs", 0)) is int)


def identity(line):
    return json.dumps({name: line[name] for name in line if name not in NO_IDENTITY}, sort_keys=True)


def add(launches, lines):
    """Later lines know better what was measured."""
    for line in filter(is_launch, lines):
        key = identity(line)
        known = launches.setdefault(key, {})
        tests, runs = {*known.get("tests", ()), *line.get("tests", ())}, known.get("runs", 0) + line.get("runs", 0)
        known.update(line, tests=sorted(tests), runs=runs)


def together(old, new):
    """Tests of the last run go before those of earlier ones, which may be gone. So are launches of a text that the last run has seen changed."""
    seen = {}
    for line in new.values():
        seen.setdefault((line["file"], line["kernel"]), {}).update(hashes_of(line))
    for key in [key for key, line in old.items() if is_outdated(line, seen.get((line["file"], line["kernel"]), {}))]:
        del old[key]
    for key, line in new.items():
        known = old.setdefault(key, {})
        tests = (line["tests"] + [test for test in known.get("tests", ()) if test not in line["tests"]])[:MOST_TESTS]
        known.update(line, tests=sorted(tests), runs=known.get("runs", 0) + line["runs"])
    return old


def hashes_of(line):
    sources = line.get("sources")
    files = sources.items() if isinstance(sources, dict) else ()
    return {(file, name): found for file, functions in files if isinstance(functions, dict) for name, found in functions.items()}


def is_outdated(line, seen):
    return any(seen.get(function, found) != found for function, found in hashes_of(line).items())


def limited(launches):
    """The texts of lines in the order of the file. The most used stay where they are too many."""
    texts = {key: json.dumps(ordered(line), ensure_ascii=False, separators=(",", ":")) + "\n" for key, line in launches.items()}
    kept, size = [], 0
    for key in sorted(launches, key=lambda key: (-launches[key]["runs"], key)):
        size += len(texts[key].encode())
        if len(kept) == MOST_LINES or size > MOST_BYTES:
            break
        kept.append(key)
    kept.sort(key=lambda key: (launches[key]["file"], launches[key]["kernel"], launches[key]["target"], key))
    return [texts[key] for key in kept]


def ordered(line):
    line = dict(line, tests=line["tests"][:MOST_TESTS])
    return {name: line[name] for name in (*ORDER, *sorted(line.keys() - set(ORDER))) if name in line}


def write_file(file, lines):
    """Nobody sees half of it."""
    text = "".join(lines).encode()
    if not text and not os.path.exists(file):
        return
    temporary = beside(file, f"{os.getpid()}.tmp")
    with open(temporary, "wb") as new:
        new.write(text)
    os.replace(temporary, file)


def said(merged, file, root):
    """For the person who recorded."""
    shown = os.path.relpath(file, root) if file.startswith(root + os.sep) else file
    line = f"tilefit: {count(merged.launches, 'launch', 'launches')} of {count(merged.kernels, 'kernel')} recorded in {shown}"
    if merged.left_out:
        line += f" ({count(merged.left_out, 'kernel')} outside of this repository left out)"
    print(line, file=sys.stderr, flush=True)


def count(number, one, many=None):
    return f"{number} {one if number == 1 else many or one + 's'}"


def digest(name):
    """Of a kernel whose place is not written down, so that it is counted once."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]
