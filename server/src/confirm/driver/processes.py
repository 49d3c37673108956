"""Keeping the processes of a question together, holding them within limits, and leaving none behind."""
import ctypes
import os
import resource
import signal
import sys
import time

LARGEST_FILE = 256 << 20
MORE_PROCESSES, MOST_PROCESSES = 512, 1 << 22
LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans():
    """A process whose parent dies becomes ours, whatever session it went to, and can be found."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent):
    """Ends this process when its parent dies, even if that has happened already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def parents():
    """Parent of each process; empty where there is no /proc."""
    found = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                pass  # it has ended meanwhile
    return found


def descendants():
    parent_of = parents()
    found, before = {os.getpid()}, 0
    while len(found) > before:
        before = len(found)
        found |= {pid for pid, parent in parent_of.items() if parent in found}
    return found - {os.getpid()}


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def kill_group(pid):
    """The child itself too: it may not have got to a group of its own."""
    send(pid, signal.SIGKILL)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def reap():
    """Collects dead children; False when no child is left, dead or alive."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


def clean_up(group):
    """Ends all that a child has left. Those are stopped first, so that none makes another meanwhile."""
    kill_group(group)
    while reap():
        stopped = set()
        while new := descendants() - stopped:
            for pid in new:
                send(pid, signal.SIGSTOP)
            stopped |= new
        for pid in stopped:
            send(pid, signal.SIGKILL)
        if not LINUX:
            return
        time.sleep(0.001)


def limit(kind, most):
    """Sets a limit where the platform has it, never above the one that holds already."""
    number = getattr(resource, kind, None)
    if number is None:
        return
    try:
        hard = resource.getrlimit(number)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))
    except (OSError, ValueError):
        pass


def count_of_user():
    """How many processes and threads the user has: the limit of the system counts both."""
    total = 0
    for pid in parents():
        try:
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                total += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass
    return total


def hold_within(seconds, size):
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_FSIZE", LARGEST_FILE)
    limit("RLIMIT_CPU", int(seconds) + 1)
    limit("RLIMIT_AS", size)
    if LINUX and os.getuid() != 0:
        hold_processes()


def hold_processes():
    """Room for some more than the user has now.

    The system counts also those that are not to be seen here: of the same user in other containers.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = count_of_user() + MORE_PROCESSES
    while most < (soft if soft != resource.RLIM_INFINITY else MOST_PROCESSES):
        resource.setrlimit(resource.RLIMIT_NPROC, (most, hard))
        if can_fork():
            limit("RLIMIT_NPROC", most)
            return
        most *= 2
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def can_fork():
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True
