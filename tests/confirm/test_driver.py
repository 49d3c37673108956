"""Faults of the author's file, of the asker and of the compiler: each is answered, and the next question is too.

    python3 -m unittest tests/confirm/test_driver.py

No compiler is needed: the driver's own `triton_compiler.py` is replaced by one that loads the author's file and answers
with its `SHARED`. All else is the driver as it is.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from driver import SOURCE, Driver  # noqa: E402

COMPILER = """
import os
from types import SimpleNamespace
from . import question as asking

def load():
    pass

def answer(question, found, report):
    report({"by": {"name": "triton", "version": "0"}, "phase": "import"})
    module = asking.load(question, SimpleNamespace(name="GPU", major=9, minor=0))
    report({**asking.what_was_loaded(), "phase": "compile"})
    getattr(module, "compile", lambda: None)()
    return {"shared": module.SHARED}
"""
GOOD = "SHARED = 4096\n"
STRAY = "SLEEP = 'import time; time.sleep(600)'\n"

# (what the file does, the file, the kind of the answer or None for a good one)
FAULTS = [
    ("sys.exit", "import sys; sys.exit(3)", "exit"),
    ("os._exit", "import os; os._exit(0)", "exit"),
    ("raises", "x = 1\nraise ValueError('seven')", "module"),
    ("is no Python", "def f(:", "module"),
    ("interrupts itself", "raise KeyboardInterrupt", "module"),
    ("loops", "while True: pass", "timeout"),
    ("sleeps", "import time; time.sleep(600)", "timeout"),
    ("stops itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "timeout"),
    ("recurses", "def f(): f()\nf()", "module"),
    ("prints 1 GB", "import os\nfor _ in range(1024):\n    os.write(1, bytes(1 << 20))\nSHARED = 4096", None),
    ("prints 1 GB of errors", "import os\nfor _ in range(1024):\n    os.write(2, bytes(1 << 20))\nSHARED = 4096", None),
    ("writes to all descriptors", "import os\nfor end in range(1024):\n    try: os.write(end, b'{\"id\": 1}\\n[[[')\n    except OSError: pass\nSHARED = 4096", None),
    ("floods all descriptors", "import os\nfor end in range(3, 1024):\n    try:\n        while True: os.write(end, bytes(1 << 20))\n    except OSError: pass\n", "killed"),
    ("closes all descriptors", "import os\nos.closerange(0, 4096)\nSHARED = 4096", "exit"),
    ("allocates 64 GiB", "x = bytearray(64 << 30)", "memory"),
    ("writes a large file", "f = open('large', 'wb')\nfor _ in range(1024): f.write(bytes(1 << 20))", "module"),
    ("segfaults", "import ctypes; ctypes.string_at(0)", "killed"),
    ("aborts", "import os; os.abort()", "killed"),
    ("ends itself", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed"),
    ("replaces what Python has", "import builtins, json, os, sys, io\nbuiltins.print = builtins.open = json.dumps = json.loads = io.open = None\nSHARED = 4096", None),
    ("empties sys.modules", "import sys\nsys.modules.clear()\nSHARED = 4096", None),
    ("replaces os.write", "import os\nos.write = None\nSHARED = 4096", "exit"),
    ("starts threads", "import threading, time\nfor _ in range(8): threading.Thread(target=time.sleep, args=(600,)).start()\nSHARED = 4096", None),
    ("hangs at exit", "import atexit, time\natexit.register(time.sleep, 600)\nSHARED = 4096", None),
    ("leaves a process", STRAY + "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', SLEEP])\nSHARED = 4096", None),
    ("leaves a process of another session", STRAY + "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', SLEEP], start_new_session=True)\nSHARED = 4096", None),
    ("leaves orphans that fork", """
        import os, time
        def orphan(depth):
            if os.fork() == 0:
                os.setsid()
                if depth < 6:
                    orphan(depth + 1)
                    orphan(depth + 1)
                time.sleep(600)
        orphan(0)
        SHARED = 4096
        """, None),
    ("forks without end", """
        import os, time
        made = 0
        while made < 100000:
            if os.fork() == 0:
                os.setsid()
                time.sleep(0.01)
                if os.fork():
                    os._exit(0)
                time.sleep(600)
            made += 1
            time.sleep(0.002)
        """, "timeout"),
    ("ignores signals", "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\ntime.sleep(600)", "timeout"),
    ("has a compiler that asserts", "import os\ndef compile():\n    os.write(2, b'kernel.cpp:7: Assertion `x > 0` failed.\\n')\n    os.abort()", "killed"),
    ("has a compiler that refuses and aborts", "import os\ndef compile():\n    os.write(2, b'/k.py:7:3: error: no such shape\\n')\n    os.abort()", "refused"),
    ("has a compiler out of memory", "import os\ndef compile():\n    os.write(2, b'std::bad_alloc\\n')\n    os.abort()", "memory"),
    ("imports nothing that there is", "import nowhere_at_all\nx = nowhere_at_all.y.z(1)\n@x.jit\ndef f(): pass\nclass C(x.Base, x.Other): pass\nSHARED = 4096 if f is not None and C.apply is not None else 0", None),
    ("tries an import", "try:\n    import nowhere_at_all\n    SHARED = 1\nexcept ImportError:\n    SHARED = 4096", None),
]


def processes():
    """Everything that has a command line or not, but is no zombie of somebody else's."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def children_of(pid):
    found = set()
    for other in processes():
        try:
            if int(Path(f"/proc/{other}/stat").read_bytes().rpartition(b")")[2].split()[1]) == pid:
                found.add(other)
        except OSError:
            pass
    return found


def strays(folder):
    """Processes that still work in a driver's folder."""
    found = set()
    for pid in processes():
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder):
                found.add(pid)
        except OSError:
            pass
    return found


def resident(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="tilefit-faults-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.source = cls.folder / "driver"
        shutil.copytree(SOURCE, cls.source, ignore=shutil.ignore_patterns("__pycache__"))
        (cls.source / "triton_compiler.py").write_text(COMPILER)
        cls.good = cls.file("good", GOOD)

    @classmethod
    def file(cls, name, text):
        path = cls.folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return path

    def setUp(self):
        self.driver = Driver(self.source)
        self.addCleanup(self.driver.close)

    def is_well(self):
        """Nothing is left of what was asked, and the next question is answered."""
        self.assertEqual(set(), children_of(self.driver.process.pid))
        self.assertEqual({self.driver.process.pid}, strays(self.driver.folder))
        self.assertEqual(4096, self.driver.ask(self.good).get("shared"))

    def test_faults(self):
        self.driver.ask(self.good)
        for does, text, kind in FAULTS:
            with self.subTest(does):
                path = self.file(does.replace(" ", "_").replace(".", "_"), text)
                seconds = 1 if kind == "timeout" else 20
                asked = time.monotonic()
                answer = self.driver.ask(path, seconds=seconds, bytes=2 << 30)
                self.assertLess(time.monotonic() - asked, seconds + 2)
                self.assertEqual(self.driver.count, answer["id"])
                self.assertEqual(kind, answer.get("error", {}).get("kind"), answer)
                if kind is None:
                    self.assertEqual(4096, answer["shared"])
                self.is_well()
        self.assertEqual("", self.driver.stderr())

    def test_memory_of_the_parent_is_stable(self):
        loud = self.file("loud", "import os\nfor _ in range(64):\n    os.write(2, bytes(1 << 20))\nSHARED = 4096")
        for _ in range(3):
            self.driver.ask(loud)
        before = resident(self.driver.process.pid)
        for _ in range(40):
            self.driver.ask(loud)
        self.assertLess(resident(self.driver.process.pid) - before, 2 << 20)

    def test_place_of_an_error(self):
        self.file("helper", "def f():\n    raise ValueError('seven')")
        answer = self.driver.ask(self.file("uses_helper", "import helper\n\nhelper.f()"))
        self.assertEqual((str(self.folder / "helper.py"), 2), (answer["error"]["file"], answer["error"]["line"]))
        self.assertEqual(["helper.py", "uses_helper.py"], sorted(Path(one["path"]).name for one in answer["files"]))

    def test_stand_ins_are_named(self):
        self.assertEqual(["nowhere"], self.driver.ask(self.file("host", "import nowhere.at.all\n" + GOOD))["stood_in"])

    def test_packages_whose_own_code_fails(self):
        package = self.folder / "whole" / "inner"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").write_text("raise RuntimeError('needs a GPU')")
        (package / "__init__.py").write_text("")
        (package / "sizes.py").write_text(GOOD)
        (package / "kernel.py").write_text("from .sizes import SHARED\nfrom whole.inner import sizes")
        self.assertEqual(4096, self.driver.ask(package / "kernel.py").get("shared"))

    def test_a_file_that_changed(self):
        question = self.driver.question(self.good)
        self.driver.send(question | {"sha256": "0" * 64})
        self.assertEqual("changed", self.driver.receive()["error"]["kind"])
        while_running = self.file("changes", "SHARED = 1\nopen(__file__, 'a').write('# more')")
        self.assertEqual("changed", self.driver.ask(while_running)["error"]["kind"])
        self.is_well()

    def test_bad_lines(self):
        for line in (b"{", b"[]", b"7", b"null", b'"x"', b"{}", b'{"id": 3}', b"\xff\xfe", b'{"id": 4, "ask": "gcc"}'):
            self.driver.write(line)
            self.assertEqual("driver", self.driver.receive()["error"]["kind"], line)
        self.is_well()

    def test_questions_in_a_row(self):
        for _ in range(5):
            self.driver.count += 1
            self.driver.send(self.driver.question(self.good) | {"id": f"q{self.driver.count}"})
        self.assertEqual(5, len({self.driver.receive()["id"] for _ in range(5)}))

    def test_cancel(self):
        slow = self.driver.question(self.file("slow", "import time; time.sleep(600)"))
        waiting = self.driver.question(self.good)
        self.driver.send(slow)
        self.driver.send(waiting)
        self.driver.send({"cancel": waiting["id"]})
        time.sleep(0.3)
        self.driver.send({"cancel": slow["id"]})
        answer = self.driver.ask(self.good)
        self.assertEqual((self.driver.count, 4096), (answer["id"], answer["shared"]))
        self.is_well()

    def test_end_of_input_while_running(self):
        self.driver.send(self.driver.question(self.file("slow", STRAY + """
import subprocess, sys, time
subprocess.Popen([sys.executable, '-c', SLEEP], start_new_session=True)
time.sleep(600)""")))
        time.sleep(0.5)
        self.assertEqual(3, len(strays(self.driver.folder)))
        ended = time.monotonic()
        self.assertEqual(0, self.driver.close())
        self.assertLess(time.monotonic() - ended, 1)
        self.assertEqual(set(), strays(self.driver.folder))

    def test_a_file_that_kills_the_parent(self):
        """The child ends with it; the server starts another."""
        self.driver.send(self.driver.question(self.file("murder", "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(600)")))
        self.assertIsNone(self.driver.receive())
        time.sleep(0.1)
        self.driver.process.wait()
        self.assertEqual(set(), strays(self.driver.folder))


NOBODY = 65534
SYSTEMS_PYTHON = "/usr/bin/python3"  # that of a virtual environment may be root's alone


@unittest.skipUnless(os.getuid() == 0 and os.path.exists(SYSTEMS_PYTHON), "only root can be somebody else")
class AnotherUser(unittest.TestCase):
    """Root's processes are not counted, those of others are."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tilefit-user-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        self.source = self.folder / "driver"
        shutil.copytree(SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        (self.source / "triton_compiler.py").write_text(COMPILER)
        self.kernel = self.folder / "forks.py"
        self.kernel.write_text("import os\npid = os.fork()\nif pid == 0:\n    os._exit(0)\nos.waitpid(pid, 0)\n" + GOOD)
        script = "import os, time\nfor _ in range(700):\n    if os.fork() == 0:\n        time.sleep(600)\nprint(1, flush=True)\ntime.sleep(600)"
        others = subprocess.Popen([SYSTEMS_PYTHON, "-c", script], stdout=subprocess.PIPE, user=NOBODY, start_new_session=True)
        self.addCleanup(lambda: (os.killpg(others.pid, signal.SIGKILL), others.wait(), others.stdout.close()))
        self.assertEqual(b"1\n", others.stdout.readline())

    def ask(self):
        driver = Driver(self.source, SYSTEMS_PYTHON, NOBODY)
        self.addCleanup(driver.close)
        return driver.ask(self.kernel)

    def test_with_many_processes(self):
        self.assertEqual(4096, self.ask().get("shared"))

    def test_with_many_that_are_not_to_be_seen(self):
        file = self.source / "processes.py"
        file.write_text(file.read_text().replace("for pid in parents():", "for pid in ():"))
        self.assertEqual(4096, self.ask().get("shared"))

    def test_a_fork_bomb_has_an_end(self):
        self.kernel.write_text("import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(600)\n")
        self.assertEqual("module", self.ask().get("error", {}).get("kind"))


class NoCompiler(unittest.TestCase):
    def test_the_other_pypto_is_named(self):
        """Of 0.2.0 on PyPI only the names of its files are looked at."""
        folder = Path(tempfile.mkdtemp(prefix="tilefit-other-pypto-"))
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        site = next((folder / "venv" / "lib").glob("python*")) / "site-packages"
        for name in ("pypto/__init__.py", "pypto/frontend/__init__.py"):
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).write_text("raise RuntimeError('needs CANN')\n")
        (site / "pypto-0.2.0.dist-info").mkdir()
        (site / "pypto-0.2.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: pypto\nVersion: 0.2.0\n")
        kernel = folder / "kernel.py"
        kernel.write_text(GOOD)
        driver = Driver(python=str(folder / "venv" / "bin" / "python"))
        self.addCleanup(driver.close)
        error = driver.ask(kernel, ask="pypto", target="910B")["error"]
        self.assertEqual("no-compiler", error["kind"])
        self.assertIn("pypto 0.2.0", error["message"])
        self.assertIn("is CANN's tensor framework", error["message"])

    def test_another_package_of_that_name(self):
        folder = Path(tempfile.mkdtemp(prefix="tilefit-no-compiler-"))
        self.addCleanup(shutil.rmtree, folder)
        kernel = folder / "kernel.py"
        kernel.write_text(GOOD)
        driver = Driver()
        self.addCleanup(driver.close)
        for ask in ("triton", "pypto"):
            if ask not in driver.hello["packages"]:
                self.assertEqual("no-compiler", driver.ask(kernel, ask=ask)["error"]["kind"])


if __name__ == "__main__":
    unittest.main()
