"""Runs the driver as the server does, for tests."""
import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "server", "src", "confirm", "driver")


class Driver:
    def __init__(self, source=SOURCE, python=sys.executable, user=None):
        self.folder = tempfile.mkdtemp(prefix="tilefit-confirm-")
        if user is not None:
            os.chown(self.folder, user, user)
        self.errors = open(os.path.join(self.folder, "stderr"), "wb")
        self.process = subprocess.Popen([python, "-I", "-B", os.path.join(source, "main.py")], cwd=self.folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, user=user)
        self.unread = b""
        self.count = 0
        self.hello = self.receive()

    def send(self, message):
        self.write(json.dumps(message).encode())

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds=60):
        """The next line as data; None at the end of the output."""
        end = time.monotonic() + seconds
        while b"\n" not in self.unread:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("no answer")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    def question(self, file, **parts):
        with open(file, "rb") as text:
            digest = hashlib.sha256(text.read()).hexdigest()
        self.count += 1
        return {"id": self.count, "ask": "triton", "file": str(file), "sha256": digest, "kernel": "kernel", "target": "cuda:90",
                "seconds": 60, "bytes": 8 << 30} | parts

    def ask(self, file, **parts):
        self.send(self.question(file, **parts))
        return self.receive()

    def stderr(self):
        with open(self.errors.name, errors="replace") as file:
            return file.read()

    def close(self):
        """End of input; returns how the process ended."""
        self.process.stdin.close()
        status = self.process.wait(20)
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status
