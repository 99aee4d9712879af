"""Identify a process, so that another one can find out whether it still runs."""

import contextlib
import os
import socket
from pathlib import Path
from typing import Final, NamedTuple

PROCESSES: Final = Path("/proc")
"""Folder in which the system lists its processes."""


def this_process() -> str:
    """Return an identity that lets other processes of this machine see whether this one ended."""
    status = _status(os.getpid(), PROCESSES)
    started = "" if status is None else status.started
    return f"{_machine()} {os.getpid()} {started}".strip()


def has_ended(process: str, shown_in: Path = PROCESSES) -> bool:
    """Return whether a process of this machine has ended; False for one of another machine."""
    machine, _, rest = process.partition(" ")
    number, _, started = rest.partition(" ")
    if machine != _machine() or not number.isdigit():
        return False
    if (status := _status(int(number), shown_in)) is not None:
        return status.has_ended or started not in ("", status.started)
    # /proc may hide the processes of other users
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _machine() -> str:
    """Return an identity of the machine, its boot and its process namespace, if known."""
    named = [socket.gethostname()]
    with contextlib.suppress(OSError):
        named.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        named.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(named).replace(" ", "_")


class _Status(NamedTuple):
    """A process's status in the system's process list."""

    has_ended: bool
    """True if the process ended and its exit status was not collected yet."""
    started: str
    """Start time in clock ticks of the system."""


def _status(process: int, shown_in: Path) -> _Status | None:
    """Read a process's status; None if the system does not list it."""
    try:
        text = (shown_in / str(process) / "stat").read_text()
    except OSError:
        return None
    # the name is in brackets and may contain any character; the start is the 20th field after it
    fields = text.rpartition(")")[2].split()
    return _Status(has_ended=fields[0] == "Z", started=fields[19])
