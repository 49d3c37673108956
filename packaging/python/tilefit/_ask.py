"""Asks the program: `tilefit ask` is one child process of this Python process, which answers lines of JSON in their order."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Optional

SECONDS, SECONDS_EACH = 5.0, 0.05  # for one question, and for each launch that it is about: compiling that one would take longer
MOST_BYTES = 1 << 28  # of an answer
PIPE = 4096  # a pipe that can be written to takes that much at once


class NoAnswer(Exception):
    """The program could not answer: it is not there, died, or took too long."""


class Refused(ValueError):
    """The program read the question, and says what is wrong with it."""


class Child:
    """The program as a child process. Its pipes are bare descriptors, so that a fork of this process can close them without a lock."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        theirs, self.to_program = os.pipe()
        self.from_program, ours = os.pipe()
        no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        apart: Dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": no_window}  # from Ctrl-C
        try:
            self.process = subprocess.Popen([program(), "ask"], stdin=theirs, stdout=ours, stderr=subprocess.DEVNULL, **apart)
        except BaseException:
            os.close(self.to_program)
            os.close(self.from_program)
            raise
        finally:
            os.close(theirs)
            os.close(ours)
        self.unread = b""

    def send(self, line: bytes, end: float) -> None:
        """A program that hangs reads nothing, and a pipe holds less than a long question."""
        while line:
            wait_to_write(self.to_program, end - time.monotonic())
            line = line[os.write(self.to_program, line[:PIPE]):]

    def receive(self, end: float) -> bytes:
        """The next line. It raises EOFError where the program has ended, TimeoutError at the time `end`."""
        parts = [self.unread]
        size = len(self.unread)
        while b"\n" not in parts[-1]:
            part = self.read(end - time.monotonic())
            size += len(part)
            if not part or size > MOST_BYTES:
                raise EOFError
            parts.append(part)
        line, _, self.unread = b"".join(parts).partition(b"\n")
        return line

    def read(self, seconds: float) -> bytes:
        if seconds <= 0:
            raise TimeoutError
        return read_in_time(self.from_program, seconds)

    def close(self) -> None:
        """In a fork, the program goes on: it is the parent's."""
        for descriptor in (self.to_program, self.from_program):
            try:
                os.close(descriptor)
            except OSError:
                pass
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        else:
            self.process.returncode = 0  # so that nobody waits for it


def wait_to_write(descriptor: int, seconds: float) -> None:
    if os.name == "posix":
        import select
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        if not poll.poll(max(seconds, 0) * 1000):
            raise TimeoutError


def read_in_time(descriptor: int, seconds: float) -> bytes:
    if os.name == "posix":
        import select
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(seconds * 1000):
            raise TimeoutError
        return os.read(descriptor, 1 << 16)
    found: List[bytes] = []  # Windows cannot wait for a pipe: a thread reads
    reader = threading.Thread(target=lambda: found.append(os.read(descriptor, 1 << 16)), daemon=True)
    reader.start()
    reader.join(seconds)
    if not found:
        raise TimeoutError
    return found[0]


def program() -> str:
    named = os.environ.get("TILEFIT")
    if named:
        return named
    from . import find_tilefit
    try:
        return find_tilefit()
    except FileNotFoundError:
        on_path = shutil.which("tilefit")
        if on_path is None:
            raise
        return on_path


class Asker:
    """All threads ask the same child, one at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child: Optional[Child] = None
        self.count = 0
        self.too_slow: Dict[Any, str] = {}

    def ask(self, question: Dict[str, Any], seconds: float) -> Dict[str, Any]:
        about = (question.get("file"), question.get("kernel"))
        with self.lock:
            if about in self.too_slow:
                raise NoAnswer(self.too_slow[about])
            try:
                answer = self.answer(question, time.monotonic() + seconds)
            except TimeoutError:
                self.too_slow[about] = f"tilefit did not answer within {seconds:g} seconds"  # once is enough: tuning has to go on
                raise NoAnswer(self.too_slow[about]) from None
        if "error" in answer:
            raise Refused(str(answer["error"]))
        return answer

    def answer(self, question: Dict[str, Any], end: float) -> Dict[str, Any]:
        for last in (False, True):
            try:
                return self.tried(question, end)
            except (EOFError, OSError, ValueError) as error:
                if isinstance(error, TimeoutError):
                    raise
                if last or self.cannot_start(error):
                    raise NoAnswer(f"tilefit cannot be asked: {error or 'it ended'}") from None
        raise AssertionError

    def cannot_start(self, error: Exception) -> bool:
        return isinstance(error, (FileNotFoundError, PermissionError))

    def tried(self, question: Dict[str, Any], end: float) -> Dict[str, Any]:
        child = self.running()
        self.count += 1
        try:
            child.send(json.dumps({"id": self.count, **question}).encode() + b"\n", end)
            answer = json.loads(child.receive(end))
            if not isinstance(answer, dict) or answer.get("id") != self.count:
                raise ValueError("its answer is to another question")
            return answer
        except BaseException:  # also KeyboardInterrupt: the answer would be taken for that to the next question
            self.end()
            raise

    def running(self) -> Child:
        """The child of this process, not that of the process that it was forked from."""
        if self.child is not None and self.child.owner != os.getpid():
            self.end()
        if self.child is not None and self.child.process.poll() is not None:
            self.end()
        if self.child is None:
            self.child = Child()
        return self.child

    def end(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.close()


asker = Asker()


def forget_parent() -> None:
    """In the child of a fork: another thread of the parent may hold the lock."""
    asker.lock = threading.Lock()
    asker.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_parent)
atexit.register(lambda: asker.end())


def fits(file: str, kernel: str, devices: List[str], launches: List[Dict[str, Any]], seconds: Optional[float] = None,
         triton: Optional[str] = None) -> List[List[Dict[str, Any]]]:
    """For each device, what each launch takes there, compiled by a release of Triton such as "3.6.0". It raises `NoAnswer` or `Refused`."""
    question = {"file": os.path.abspath(file), "kernel": kernel, "devices": devices, "launches": launches, **({"triton": triton} if triton else {})}
    found = asker.ask(question, SECONDS + SECONDS_EACH * len(launches) * len(devices) if seconds is None else seconds).get("fits")
    if not isinstance(found, list) or len(found) != len(devices) or any(len(one) != len(launches) for one in found):
        raise NoAnswer("tilefit cannot be asked: its answer has another form")
    return found


def run(*arguments: str) -> Dict[str, Any]:
    """What a command of the program prints as JSON. Its exit code says no more than that does."""
    try:
        ended = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise NoAnswer(f"tilefit cannot be asked: {error}") from None
    try:
        return json.loads(ended.stdout)
    except ValueError:
        said = ended.stderr.decode(sys.getfilesystemencoding(), "replace").strip()
        raise Refused(said or f"tilefit ended with {ended.returncode}") from None
