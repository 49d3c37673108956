"""The answer to a question, from what its child reported, what it printed, and how it ended."""
import os
import re
import signal
import time

from .question import Fault, TOO_LITTLE_MEMORY

DIAGNOSTIC = re.compile(r"^(?:(?P<file>[^\n:]+):(?P<line>\d+):\d+: )?error: (?P<message>.+)$", re.M)
LAST_WORDS = re.compile(r"^.*(?:Assertion|LLVM ERROR|UNREACHABLE|Check failed).*$", re.M)
OUT_OF_MEMORY = re.compile(r"bad_alloc|MemoryError|[Oo]ut of memory|Cannot allocate memory")


def answer(running, facts, status):
    seconds = time.monotonic() - running.started
    done, phase = facts.pop("done", False), facts.pop("phase", "import")
    importing = phase == "import"
    log = running.log_text()
    own = {"id": running.question["id"], "seconds": round(seconds, 3), "target": running.question["target"]}
    if (running.ended_for or not done) and phase == "machine" and running.ended_for != "too much":
        facts["no_machine"] = death(running, status, log, importing).message  # the plan was said before
    elif running.ended_for or not done:
        facts = {name: facts[name] for name in ("by", "files", "stood_in") if name in facts}
        facts["error"] = death(running, status, log, importing).as_data()
    elif "no_machine" in facts and (found := DIAGNOSTIC.search(log)):
        facts["no_machine"] += f": {found['message']}"  # passes print what they refuse, and raise only that they have failed
    elif facts.get("error", {}).get("kind") == "refused":
        add_diagnostic(facts["error"], log)
    facts.pop("imported", None)
    return {"files": [], **facts, **own}


def death(running, status, log, importing):
    """Why a child ended without an answer."""
    doing = "importing the file" if importing else "the compiler"
    name = os.path.basename(running.question["file"])
    if running.ended_for == "too much":
        return Fault("killed", f"The answer about {name} is larger than can be read.", details=log)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if running.ended_for == "timeout" or number == getattr(signal, "SIGXCPU", 0):
        return Fault("timeout", f"No answer within {running.question['seconds']:g} s: {doing} takes longer. "
                     "Allow more time, or keep work that is not needed for the kernel out of the file's top level.", details=log)
    if OUT_OF_MEMORY.search(log) and not importing:
        return Fault("memory", TOO_LITTLE_MEMORY, details=log)
    if number is None:
        return Fault("exit", f"{name} ends the process when it is imported, or closes the descriptors that an answer needs. "
                     "Put that under `if __name__ == \"__main__\":`.", details=log)
    diagnostic = DIAGNOSTIC.search(log)
    if number == signal.SIGABRT and diagnostic and not importing:
        fault = Fault("refused", "", details=log).as_data()
        add_diagnostic(fault, log)
        return Fault(**fault)
    words = LAST_WORDS.search(log)
    said = f": {words[0].strip()[:400]}" if words else ""
    return Fault("killed", f"The process ended with {name_of(number)} while {doing} was running{said}.", details=log)


def name_of(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def add_diagnostic(error, log):
    """The compiler's passes print what they refuse and where, and raise only that they have failed."""
    found = DIAGNOSTIC.search(log)
    if found and error["line"] is None:
        error["message"] = f"The compiler refuses the kernel: {found['message']}"
        error["file"] = found["file"] or error["file"]
        error["line"] = int(found["line"]) if found["line"] else None
        error["details"] = log[:4000]
