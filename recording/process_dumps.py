"""The dumps of each process of a recorded program: equal ones, and why there are none.

Each Python process dumps into `process-PID/` of the recording, and describes itself in
`process-PID.json` (`sitecustomize.py`). Other programs dump into the recording's folder.
"""

import contextlib
import json
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.runtime.process_identity import has_ended, this_process

_PREFIX: Final = "xlagraph-record-"
_OWNER: Final = "recorded-by"
"""File with the identity of the process that removes the folder."""


@contextmanager
def temporary_dump_folder(notify_kept: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a folder that is removed at the end; after an error, it is kept if it has dumps.

    Folders of processes that were killed are removed first. ``notify_kept`` gets a kept folder.
    """
    for owner in Path(gettempdir()).glob(f"{_PREFIX}*/{_OWNER}"):
        with contextlib.suppress(OSError):  # of another user, or removed meanwhile
            if has_ended(owner.read_text(encoding="utf-8")):
                shutil.rmtree(owner.parent)
    folder = Path(mkdtemp(prefix=_PREFIX))
    owner = folder / _OWNER
    owner.write_text(this_process(), encoding="utf-8")
    try:
        yield folder
    except BaseException:
        owner.unlink(missing_ok=True)
        found = find_dumps(folder)
        if found.dumps or found.problems:
            notify_kept(folder)
        else:
            shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)


_READ_AT_ONCE: Final = 1 << 20
_MAIN_ENDING: Final = "-buffer-assignment.txt"
_PROCESS_FOLDER: Final = re.compile(r"process-[0-9]+(-[0-9]+)?")
_FROM_CACHE: Final = re.compile(r"module_[0-9]+[.](?P<name>.+)[.]after_optimizations[.]txt")
"""Name of the dump that jaxlib 0.7 and newer write of a program read from a cache, without a
platform."""


@dataclass(frozen=True, slots=True)
class ProcessDumps:
    """The dumps that a process wrote, or that several processes wrote with equal plans."""

    folder: Path
    """Folder of the first of these processes."""
    processes: int
    """Number of processes with these plans."""


@dataclass(frozen=True, slots=True)
class _Process:
    """Facts that a process wrote about itself."""

    folder: Path
    started: float
    """Seconds since the epoch."""
    has_ended: bool
    """False if it was killed or aborted."""
    frameworks: frozenset[str]
    has_flags: bool
    """False if the program replaced ``XLA_FLAGS``."""
    has_cache: bool
    """True if the program turned JAX's compilation cache on again."""


def recorded_processes(recording: Path, started: float, links: Path) -> tuple[ProcessDumps, ...]:
    """Return the dumps that the processes of a recording wrote, by the start of the processes.

    Processes with equal plans, byte for byte, are one entry. Files directly in the folder that
    are not older than ``started``, seconds since the epoch, come from programs other than Python:
    they are the last entry, through links in the empty folder ``links``.
    """
    found: dict[frozenset[tuple[str, str]], ProcessDumps] = {}
    for process in _processes(recording):
        if process.started < started or not process.folder.is_dir():
            continue
        plans = _plans(process.folder)
        if equal := found.get(plans):
            found[plans] = ProcessDumps(equal.folder, equal.processes + 1)
        elif plans:
            found[plans] = ProcessDumps(process.folder, 1)
    for path in recording.iterdir():
        if path.is_file() and path.stat().st_mtime >= started:
            (links / path.name).symlink_to(path.absolute())
    if find_dumps(links).dumps:
        found[frozenset()] = ProcessDumps(links, 1)
    return tuple(found.values())


class OverwrittenDumps:
    """Dumps that one process wrote over another's, because both ignore PYTHONPATH.

    Such processes, started by `python -E` for example, share the recording's folder. Processes
    that write at the same time, within a second, are not distinguished.
    """

    def __init__(self, recording: Path, started: float) -> None:
        self._recording = recording
        self._started = started
        self._times: dict[str, float] = {}
        self._complete: set[str] = set()
        self.names: set[str] = set()
        """Names of the files that were overwritten."""

    def look(self) -> None:
        """Compare the times of the files directly in the folder with those of earlier looks."""
        for path in self._recording.glob(f"*{_MAIN_ENDING}"):
            with suppress(FileNotFoundError):  # the program removed it
                self._compare(path.name, path.stat().st_mtime)

    def _compare(self, name: str, written: float) -> None:
        if written < self._started:
            return
        if self._times.get(name, written) != written and name in self._complete:
            self.names.add(name)
        elif self._times.get(name) == written:
            self._complete.add(name)
        self._times[name] = written


def move_up(group: ProcessDumps, recording: Path) -> ProcessDumps:
    """Move the only dumps of a recording into its folder, and remove the folders of processes."""
    for path in sorted(group.folder.iterdir()):
        shutil.move(path, recording / path.name)
    for process in _processes(recording):
        shutil.rmtree(process.folder, ignore_errors=True)  # equal dumps
    return ProcessDumps(recording, group.processes)


def remove_descriptions(recording: Path) -> None:
    """Remove what the processes of a recording wrote about themselves."""
    for path in recording.glob("process-*.json"):
        path.unlink()


def is_of_process(folder: str) -> bool:
    """Return whether a run's folder is that of one process of a recording."""
    return _PROCESS_FOLDER.fullmatch(Path(folder).name) is not None


def modules_from_cache(recording: Path) -> tuple[str, ...]:
    """Return the names of the modules that processes read from JAX's cache, which have no plan."""
    paths = [
        path
        for process in _processes(recording)
        if process.has_cache
        for path in process.folder.glob("module_*.after_optimizations.txt")
    ]
    found = [match["name"] for path in paths if (match := _FROM_CACHE.fullmatch(path.name))]
    return tuple(sorted(set(found)))


def why_nothing_was_recorded(recording: Path, exit_code: int, flags: str) -> str:
    """Return why a program that ended with an exit code left no dumps; ``flags`` are the user's."""
    processes = _processes(recording)
    frameworks = frozenset().union(*(process.frameworks for process in processes))
    is_ended_by_xla = exit_code == 128 + signal.SIGABRT or (
        exit_code == 1 and any(not process.has_ended for process in processes)
    )
    if is_ended_by_xla and flags:
        return f"the program was aborted; XLA does this if a flag in XLA_FLAGS is unknown: {flags}"
    if exit_code:
        return f"the program failed with exit code {exit_code} before it compiled anything"
    if not processes:
        return (
            "no Python process that reads PYTHONPATH was started, and no other program wrote dumps;"
            " a program that replaces its environment needs XLA_FLAGS from `record --print`"
        )
    if any(not process.has_flags for process in processes):
        return (
            "the program replaced XLA_FLAGS; add to the variable in place of setting it,"
            " before the framework is imported"
        )
    if any(process.has_cache for process in processes):
        return (
            "the program turned JAX's compilation cache on, and what is in the cache is not"
            " compiled; run it without jax_compilation_cache_dir"
        )
    if frameworks == {"tensorflow"}:
        return "TensorFlow compiled nothing with XLA: use tf.function(jit_compile=True)"
    if not frameworks and all(process.has_ended for process in processes):
        return "no process imported JAX, TensorFlow or PyTorch/XLA"
    return "the program compiled nothing"


def _processes(recording: Path) -> list[_Process]:
    """Read the descriptions of all processes, the first one to start first."""
    found = []
    for path in recording.glob("process-*.json"):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:  # the process was killed while it wrote
            continue
        found.append(
            _Process(
                folder=Path(facts["folder"]),
                started=facts["started"],
                has_ended=facts.get("ended", False),
                frameworks=frozenset(facts.get("frameworks", ())),
                has_flags=facts.get("has_flags", True),
                has_cache=facts.get("has_cache", False),
            )
        )
    return sorted(found, key=lambda process: (process.started, process.folder))


def _plans(folder: Path) -> frozenset[tuple[str, str]]:
    """Return name and digest of the main file of each dump in a folder.

    Module texts differ in their call stacks: a spawned process is started by its pipe's number.
    """
    paths = (dump.path for dump in find_dumps(folder).dumps)
    return frozenset((path.relative_to(folder).as_posix(), _digest(path)) for path in paths)


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()
