"""The process that answers one question."""
import importlib
import os
import signal
import sys
from json import dumps

from . import packages, processes, question as asking

COMPILERS = {"triton": "triton_compiler", "pypto": "pypto_compiler", "tilelang": "tilelang_compiler"}
TEXTS = ("ask", "file", "sha256", "target")


def checked(message):
    """The question, if it has the parts without which it cannot be asked."""
    for name in TEXTS:
        if not isinstance(message[name], str):
            raise TypeError(f"`{name}` is not a text")
    if message["ask"] not in COMPILERS:
        raise ValueError(f"no compiler is called {message['ask']}")
    return message | {"id": message["id"], "seconds": float(message["seconds"]), "bytes": int(message["bytes"])}


def compiler(ask):
    return importlib.import_module("." + COMPILERS[ask], __package__)


def run(question, parent, answers, log):
    """Answers and ends, whatever happens: nothing of the parent's may run here."""
    try:
        os.setsid()
        processes.die_with(parent)
        take_descriptors(log, answers)
        restore_signals()
        processes.hold_within(question["seconds"], question["bytes"])
        answer(question, lambda fact: report(answers, fact))
    finally:
        os._exit(0)


def take_descriptors(log, answers):
    """Leaves nothing, the log and the pipe of answers: the parent's other descriptors are closed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.dup2(log, 2)
    os.closerange(3, answers)
    os.closerange(answers + 1, 1024)


def restore_signals():
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def report(answers, fact):
    """A line of its own, also behind something that the author's file wrote."""
    data = b"\n" + dumps(fact).encode() + b"\n"
    while data:
        data = data[os.write(answers, data):]


def answer(question, report):
    try:
        found = packages.find(question["ask"])
        asking.check_file(question)
        report(compiler(question["ask"]).answer(question, found, report))
        asking.check_file(question)
        report({"done": True})
    except asking.Fault as fault:
        report({"error": fault.as_data(), "done": True, **asking.what_was_loaded()})
    except MemoryError:
        report({"error": asking.Fault("memory", asking.TOO_LITTLE_MEMORY).as_data(), "done": True})
    except BaseException as error:
        fault = asking.fault_of_driver(error)
        report({"error": fault.as_data(), "done": True, **asking.what_was_loaded()})
    sys.stderr.flush()
