"""The process that lives as long as the server: takes questions, starts a child for each, ends it in time, answers."""
import importlib
import os
import selectors
import signal
import time
from collections import deque
from json import dumps, loads

from . import child, deaths, packages, processes

LONGEST_LINE = 16 << 20
LOG_KEPT = 64 << 10
CHUNK = 64 << 10
LIBRARIES = ("numpy", "torch")


class Running:
    """A child and what it has said so far."""

    def __init__(self, question, pid, answers, log):
        self.question, self.pid, self.answers, self.log = question, pid, answers, log
        self.started = time.monotonic()
        self.deadline = self.started + question["seconds"]
        self.said = bytearray()
        self.head, self.tail = bytearray(), bytearray()
        self.ended_for = None

    def hear(self, data):
        self.said += data

    def note(self, data):
        """Keeps the beginning and the end of what is printed to standard error."""
        room = LOG_KEPT - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-LOG_KEPT:] if room < len(data) else self.tail

    def log_text(self):
        return (self.head + self.tail).decode(errors="replace")

    def facts(self):
        """All that the child reported; what the author's file wrote to this pipe is no report."""
        facts = {}
        for line in self.said.splitlines():
            try:
                fact = loads(line)
            except ValueError:
                continue
            if isinstance(fact, dict):
                facts |= fact
        return facts

    def end(self, why):
        if self.ended_for is None:
            self.ended_for = why
        processes.kill_group(self.pid)


class Parent:
    def __init__(self, protocol):
        self.protocol = protocol
        self.queue = deque()
        self.running = None
        self.unread = bytearray()
        self.preloaded = set()
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ, self.read_questions)

    def serve(self):
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = "1"  # a process with threads cannot be forked safely
        os.environ["TMPDIR"] = os.getcwd()
        os.environ["TRITON_CACHE_DIR"] = os.path.join(os.getcwd(), "triton-cache")
        self.watch_children()
        processes.adopt_orphans()
        self.write(packages.hello())
        while True:
            self.start_next()
            for key, _ in self.selector.select(self.time_left()):
                key.data(key.fd)
            if self.running and time.monotonic() > self.running.deadline:
                self.running.end("timeout")
            self.finish_if_dead()

    def watch_children(self):
        """The death of a child wakes the loop."""
        wake, waking = os.pipe()
        for end in (wake, waking):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, lambda end: os.read(end, CHUNK))

    def time_left(self):
        return max(0.0, self.running.deadline - time.monotonic()) if self.running else None

    # ---- questions
    def read_questions(self, _):
        data = os.read(0, CHUNK)
        if not data:
            self.leave()
        self.unread += data
        *lines, self.unread = self.unread.split(b"\n")
        for line in lines:
            self.take(line)
        if len(self.unread) > LONGEST_LINE:
            self.leave()

    def take(self, line):
        try:
            message = loads(line)
            if "cancel" in message:
                self.cancel(message["cancel"])
            else:
                self.queue.append(child.checked(message))
        except (ValueError, TypeError, KeyError) as error:
            asked = message.get("id") if "message" in locals() and isinstance(message, dict) else None
            self.write({"id": asked, "error": {"kind": "driver", "message": "The question has not the form that the driver reads.",
                                               "file": None, "line": None, "details": repr(error)[:4000]}})

    def cancel(self, asked):
        """There is no answer to a cancelled question."""
        self.queue = deque(question for question in self.queue if question["id"] != asked)
        if self.running and self.running.question["id"] == asked:
            self.running.end("cancel")

    def leave(self):
        if self.running:
            processes.kill_group(self.running.pid)
            processes.clean_up(self.running.pid)
        os._exit(0)

    # ---- children
    def start_next(self):
        if self.running or not self.queue:
            return
        question = self.queue.popleft()
        answers, answers_in = os.pipe()
        log, log_in = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            child.run(question, parent, answers_in, log_in)
        os.close(answers_in)
        os.close(log_in)
        self.running = Running(question, pid, answers, log)
        for end, take in ((answers, self.read_answer), (log, self.read_log)):
            os.set_blocking(end, False)
            self.selector.register(end, selectors.EVENT_READ, take)

    def read_answer(self, end):
        data = self.read_or_close(end)
        self.running.hear(data)
        if len(self.running.said) > LONGEST_LINE:
            self.running.end("too much")
            self.running.said.clear()

    def read_log(self, end):
        self.running.note(self.read_or_close(end))

    def read_or_close(self, end):
        try:
            data = os.read(end, CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self.selector.unregister(end)
        return data

    def finish_if_dead(self):
        """Answers when the child is dead. Its pipes may stay open in processes that it left, so their end is no sign."""
        if not self.running:
            return
        pid, status = os.waitpid(self.running.pid, os.WNOHANG)
        if pid == 0:
            return
        processes.clean_up(pid)
        running, self.running = self.running, None
        for end, take in ((running.answers, running.hear), (running.log, running.note)):
            self.drain(end, take)
        if running.ended_for != "cancel":
            facts = running.facts()
            imported = facts.get("imported", ())
            self.write(deaths.answer(running, facts, status))
            self.preload(running.question["ask"], imported)

    def drain(self, end, take):
        if end in self.selector.get_map():
            left = LONGEST_LINE
            while left > 0 and (data := self.read_or_close(end)):
                take(data)
                left -= len(data)
            if end in self.selector.get_map():
                self.selector.unregister(end)
        os.close(end)

    def preload(self, ask, imported):
        """Imports here what a child has imported without harm, so that the next child has it from the start."""
        for name in imported:
            if name in self.preloaded:
                continue
            self.preloaded.add(name)
            try:
                if name in LIBRARIES:
                    importlib.import_module(name)
                else:
                    child.compiler(ask).load()
            except Exception:
                pass  # the child that needs it will say what is wrong

    def write(self, message):
        data = (dumps(message) + "\n").encode()
        try:
            while data:
                data = data[os.write(self.protocol, data):]
        except BrokenPipeError:
            self.leave()
