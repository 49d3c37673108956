"""`python -m tilefit record [--dry DEVICE] [--output FILE] -- COMMAND …`: runs a command, and notes what Triton compiles in it."""
import argparse
import functools
import os
import signal
import subprocess
import sys

from . import _launches, _record, _sources

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_site")


def arguments(given):
    parser = argparse.ArgumentParser(prog="tilefit record", usage="tilefit record [--dry DEVICE] [--output FILE] -- COMMAND ...",
                                     description="Runs a command, and notes the launches that Triton compiles in it.")
    parser.add_argument("--dry", metavar="DEVICE", help="without a GPU: launches are compiled for this device, such as sm_90, and not run")
    parser.add_argument("--output", metavar="FILE", help="instead of .tilefit/launches.jsonl in the folder of the repository")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    found = parser.parse_args(given)
    found.command = found.command[found.command[:1] == ["--"]:]
    if not found.command:
        parser.error("the command is missing: tilefit record -- pytest tests")
    if found.dry:
        from . import _dry
        try:
            _dry.device_of(found.dry)
        except ValueError as error:
            parser.error(str(error))
    return found


def environment(file, root, dry):
    found = dict(os.environ)
    below = {"PYTHONPATH": (SITE, os.pathsep), "PYTEST_PLUGINS": ("tilefit._late_plugin", ",")}
    for name, (ours, separator) in below.items():
        found[name] = ours + separator + found[name] if found.get(name) else ours
    found.update({_record.FILE: file, _record.ROOT: root, _record.ABOVE: str(os.getpid())})
    if dry:
        from . import _dry
        found.update({_record.DRY: dry, **_dry.own_cache()})
    return found


def main(given):
    asked = arguments(given)
    root = _sources.root_of(os.getcwd())
    file = os.path.abspath(asked.output or _launches.default_file(root))
    status = run(asked.command, environment(file, root, asked.dry))
    try:
        _launches.said(_launches.merge(file), file, root)
    except Exception as error:
        print(f"tilefit: {error}", file=sys.stderr)
    return status


def run(command, variables):
    """The exit status, as a shell gives it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the command's
    restore = functools.partial(signal.signal, signal.SIGINT, before)
    try:
        with subprocess.Popen(command, env=variables, preexec_fn=restore if os.name == "posix" else None) as process:
            status = process.wait()
    except OSError as error:
        print(f"tilefit: {command[0]} cannot be run: {error.strerror}", file=sys.stderr)
        return 127
    finally:
        restore()
    return status if status >= 0 else 128 - status
