"""Names a process, so that another can find out whether it still runs."""

import contextlib
import os
import socket
from pathlib import Path


def this_process() -> str:
    """Return a name by which another process of this machine sees whether this one has ended."""
    return f"{_machine()} {os.getpid()} {_started(os.getpid()) or ''}".strip()


def has_ended(process: str) -> bool:
    """Whether a process of this machine has ended; False for one of another machine."""
    machine, _, rest = process.partition(" ")
    number, _, started = rest.partition(" ")
    if machine != _machine() or not number.isdigit():
        return False
    if started:
        return _started(int(number)) != started
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _machine() -> str:
    """Return a name of the machine, its boot and the space of its process numbers, if known."""
    named = [socket.gethostname()]
    with contextlib.suppress(OSError):
        named.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        named.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(named).replace(" ", "_")


def _started(process: int) -> str | None:
    """Return when a process began, in the system's count; None if it has ended or is unknown."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    # its name stands in brackets and may hold anything; the 20th field after it is the start
    fields = status.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]
