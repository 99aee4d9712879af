"""A lock that allows one writer of a graph file at a time, across processes.

The lock file is never removed: otherwise two writers could lock two files of the same name. The
operating system releases the lock when its process ends for any reason.
"""

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from xlagraph.graph.errors import GraphBusy, GraphUnwritable


def check_folder(path: Path) -> None:
    """Raise GraphUnwritable if the folder of a graph file is missing or not writable."""
    if not path.parent.is_dir():
        raise GraphUnwritable(f"cannot write {path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise GraphUnwritable(f"cannot write next to {path}: Permission denied")


@contextmanager
def write_lock(path: Path, *, wait: bool, notify: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock next to ``path``; without ``wait``, GraphBusy names the holder."""
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise GraphUnwritable(f"cannot write next to {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
            busy = f"{path} is being written by {holder or 'another process'}"
            if not wait:
                raise GraphBusy(f"{busy}; try again when it is done, or wait for it") from None
            notify(f"{busy}; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        holder = f"process {os.getpid()} on {socket.gethostname()} since {now}\n"
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, holder.encode(), 0)
        except OSError as error:
            raise GraphUnwritable(f"cannot write {lock}: {error.strerror}") from error
        yield
    finally:
        os.close(descriptor)
