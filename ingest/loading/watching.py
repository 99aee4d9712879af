"""Follow folders while a job writes into them, and ingest each compilation once it is complete.

Look at names and sizes, skip compilations that have changed since the last look,
ingest complete ones that are new or changed, wait, repeat.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.ingest.errors import Problem, UnreadableDump
from xlagraph.ingest.files.addresses import is_address
from xlagraph.ingest.files.contents import FileStates, file_states
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.files.dump_files import DumpFiles, FoundDumps
from xlagraph.ingest.files.remote_folders import RemoteFolders
from xlagraph.ingest.loading.load import ingest_found
from xlagraph.ingest.loading.readiness import HeldBack, Readiness
from xlagraph.ingest.loading.summary import IngestSummary
from xlagraph.ingest.options import IngestOptions
from xlagraph.runtime.memory import trim_memory

LOOK_SECONDS: Final = 5.0
"""Seconds between two looks."""


@dataclass(slots=True)
class WatchSummary:
    """The results of a watch so far."""

    looks: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    held_back: Sequence[HeldBack] = field(default_factory=list)
    """Compilations that are not in the graph in the state that the last look found."""


def watch(
    graph: Graph,
    paths: Sequence[str | Path],
    options: IngestOptions | None = None,
    *,
    stop: Event | None = None,
    jobs: int | None = None,
    look_seconds: float = LOOK_SECONDS,
    on_ingest: Callable[[IngestSummary], None] = lambda _: None,
    on_problem: Callable[[Problem], None] = lambda _: None,
) -> WatchSummary:
    """Ingest compilations below some folders or addresses as they become complete.

    Ends when ``stop`` is set, or at Ctrl-C, once the rows in progress are in the graph.
    ``on_ingest`` is called after each ingest, ``on_problem`` once for each problem.

    A compilation is complete when its files were the same in two looks, it has all the kinds of
    files that others of its folder have, and its allocations add up to XLA's total. Nothing is
    removed from the graph except compilations that are replaced.

    Raises `GraphError` if the graph fails.
    """
    stop = stop or Event()
    watched = WatchedFolders(
        graph, paths, options or IngestOptions(), jobs=jobs, on_ingest=on_ingest
    )
    known: set[Problem] = set()
    with suppress(KeyboardInterrupt):
        while not stop.is_set():
            problems = set(watched.look())
            for problem in problems - known:
                on_problem(problem)
            known = problems
            stop.wait(look_seconds)
    watched.note_held_back()  # Ctrl-C may have ended a look
    return watched.summary


@dataclass(eq=False)
class WatchedFolders:
    """Folders that are searched repeatedly for complete compilations."""

    graph: Graph
    paths: Sequence[str | Path]
    options: IngestOptions
    jobs: int | None = None
    on_ingest: Callable[[IngestSummary], None] = lambda _: None

    def __post_init__(self) -> None:
        self.summary = WatchSummary()
        self._readiness = Readiness()

    def look(self) -> list[Problem]:
        """Look once, ingest the complete compilations, and return the problems with others."""
        with RemoteFolders(as_listed=True) as remote:
            found = _find_all(self.paths, self.options.run, remote)
            remote_states = {dump.key: remote.versions(dump) for dump in found.dumps}
            local = [dump for dump in found.dumps if not remote_states[dump.key]]
            states = {dump.key: _states(dump) for dump in local}
            ready = self._readiness.ready(found.dumps, {**remote_states, **states})
            problems = list(found.problems)
            if ready:
                problems += self._ingest(ready, found, states, remote)
        self.summary.looks += 1
        self.note_held_back()
        return problems

    def note_held_back(self) -> None:
        """Update the compilations that are held back in the summary."""
        self.summary.held_back = self._readiness.held_back()

    def _ingest(
        self,
        ready: Sequence[DumpFiles],
        found: FoundDumps,
        states: dict[str, FileStates],
        remote: RemoteFolders,
    ) -> list[Problem]:
        done = ingest_found(
            self.graph,
            _with_moved(ready, found, self._readiness),
            self.options,
            jobs=self.jobs,
            fetcher=remote,
            expected=states,
        )
        self._readiness.done((*done.added, *done.updated, *done.unchanged))
        self._readiness.forget(done.moved)
        problems = [remote.name_origins(problem) for problem in done.problems]
        _note_failures(ready, done, problems, self._readiness)
        self.summary.added += len(done.added)
        self.summary.updated += len(done.updated)
        self.summary.unchanged += len(done.unchanged)
        self.on_ingest(replace(done, problems=()))
        trim_memory()
        return problems


def _states(dump: DumpFiles) -> FileStates:
    try:
        return file_states(dump)
    except UnreadableDump:  # removed meanwhile
        return ()


def _find_all(paths: Sequence[str | Path], run: str | None, remote: RemoteFolders) -> FoundDumps:
    dumps: dict[str, DumpFiles] = {}
    problems: list[Problem] = []
    searched: set[str] = set()
    for path in paths:
        if isinstance(path, str) and is_address(path):
            found = remote.find_dumps(path, run)
        else:
            found = find_dumps(Path(path), run)
        for dump in found.dumps:
            dumps.setdefault(dump.key, dump)
        problems += found.problems
        searched |= found.searched
    return FoundDumps(tuple(dumps.values()), tuple(problems), frozenset(searched))


def _with_moved(ready: Sequence[DumpFiles], found: FoundDumps, readiness: Readiness) -> FoundDumps:
    """Return the dumps to ingest, with all ingested dumps of a run in which a key has changed.

    The key of a dump changes when a second process dumps a module of the same name.
    """
    keys = {dump.key for dump in found.dumps}
    moved = {
        dump.run
        for dump in ready
        if dump.other_key is not None
        and dump.other_key not in keys
        and readiness.is_done(dump.other_key)
    }
    if not moved:
        return FoundDumps(tuple(ready), (), frozenset())
    wanted = {dump.key for dump in ready}
    dumps = [
        dump
        for dump in found.dumps
        if dump.key in wanted or (dump.run in moved and readiness.is_done(dump.key))
    ]
    paths = {dump.run_path for dump in dumps if dump.run in moved}
    return FoundDumps(tuple(dumps), (), found.searched & paths)


def _note_failures(
    ready: Sequence[DumpFiles],
    done: IngestSummary,
    problems: Sequence[Problem],
    readiness: Readiness,
) -> None:
    """Record the dumps that were ready but could not be ingested."""
    entered = {*done.added, *done.updated, *done.unchanged}
    for dump in ready:
        if dump.key not in entered:
            files = {part.path.name for source in dump.sources for part in source.parts}
            reasons = [each.message for each in problems if each.file.rpartition("/")[2] in files]
            readiness.failed(dump.key, reasons[0] if reasons else "it could not be ingested")
