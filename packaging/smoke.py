"""Tries an installed tilefit: its version, a check, and a session with an editor that has no editor.

    PYTHON packaging/smoke.py docs/examples/overflow.py COMMAND...

COMMAND starts tilefit: the program, or `python -m tilefit`.
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ERROR = 1
PATIENCE = 60  # seconds
LATE = 3  # what the guard below exits with


def main():
    example, command = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    guard = threading.Timer(PATIENCE, late)
    guard.daemon = True
    guard.start()

    version = subprocess.run([*command, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    print(version.strip())
    expect(version.startswith("tilefit "), "the version is told", version)
    check = subprocess.run([*command, "check", str(example)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(check.returncode == 1 and b"capacity-exceeded" in check.stdout, "`check` reports the overflow", check)

    started = time.monotonic()
    errors = session(command, example)
    expect(any(error["code"] == "capacity-exceeded" for error in errors), "the server reports it", errors)
    print("from the start of the server to its diagnostics: {:.0f} ms".format((time.monotonic() - started) * 1000))


def session(command, example):
    """The errors that the server publishes about a file that is opened."""
    server = subprocess.Popen([*command, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    folder = {"uri": example.parent.as_uri(), "name": "example"}
    send(server, id=1, method="initialize", params={"capabilities": {}, "processId": None, "workspaceFolders": [folder]})
    receive(server, lambda message: message.get("id") == 1)
    send(server, method="initialized", params={})
    document = {"uri": example.as_uri(), "languageId": "python", "version": 1, "text": example.read_text("utf-8")}
    send(server, method="textDocument/didOpen", params={"textDocument": document})
    published = receive(server, lambda message: message.get("method") == "textDocument/publishDiagnostics")
    send(server, id=2, method="shutdown")
    receive(server, lambda message: message.get("id") == 2)
    send(server, method="exit")
    expect(server.wait() == 0, "the server ends when it is told to", server.returncode)
    return [one for one in published["params"]["diagnostics"] if one["severity"] == ERROR]


def send(server, **message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive(server, wanted):
    while True:
        length = None
        for line in iter(server.stdout.readline, b"\r\n"):
            if not line:
                sys.exit("not ok - the server has ended")
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message = json.loads(server.stdout.read(length))
        if wanted(message):
            return message


def expect(condition, name, detail):
    print("{} - {}".format("ok" if condition else "not ok", name))
    if not condition:
        sys.exit(str(detail))


def late():
    print("not ok - it takes longer than {} s".format(PATIENCE), flush=True)
    os._exit(LATE)


main()
