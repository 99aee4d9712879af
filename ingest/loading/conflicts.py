"""Reject folders whose run was ingested from another folder, with other content."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xlagraph.graph.engine import StoredRun
from xlagraph.hlo.grouping import grouped
from xlagraph.ingest.errors import Problem, UnreadableDump
from xlagraph.ingest.files.contents import DumpContents, read_dump
from xlagraph.ingest.files.dump_files import DumpFiles


@dataclass(slots=True)
class AcceptedDumps:
    """The dumps that may be ingested."""

    dumps: list[DumpFiles]
    problems: list[Problem]
    """Problems with folders that are skipped, and notes on folders that join a run."""
    digests: Mapping[str, str | None]
    """Digests of the dumps that were compared, by key; None if a dump could not be read."""


@dataclass(slots=True)
class _Known:
    """The dumps of a run that are known from another folder."""

    path: str | None = None
    digests: dict[str, str | None] = field(default_factory=dict)
    """Digest of each dump, by key; None if it could not be read."""


def reject_conflicts(
    dumps: Sequence[DumpFiles],
    stored: Mapping[str, StoredRun],
    *,
    joined: str | None,
    read: Callable[[DumpFiles], DumpContents] = read_dump,
) -> AcceptedDumps:
    """Reject a folder if its run came from another one, unless the run has all its dumps.

    The run named ``joined`` accepts the dumps that it does not have yet, such as those of another
    host of the job. A dump with the same content in two folders of one search counts once.
    """
    folders = grouped(((dump.run, dump.run_path), dump) for dump in dumps)
    kept: dict[str, DumpFiles] = {}
    problems = []
    digests = _Digests(read)
    for (run, path), in_folder in folders.items():
        known = _Known()
        new = None
        if run in stored and path not in stored[run].folders:
            compilations = stored[run].compilations
            known = _Known(stored[run].path, {key: one.sha256 for key, one in compilations.items()})
            new = next((dump for dump in in_folder if dump.key not in compilations), None)
        for dump in in_folder:
            if dump.key in kept:
                known.digests[dump.key] = digests.of(kept[dump.key])
                known.path = kept[dump.key].run_path
        conflict = next((dump for dump in in_folder if digests.differs(dump, known)), None)
        if conflict is not None:
            problems.append(_refusal(conflict, known, is_kept=conflict.key in kept))
            continue
        if new is not None:
            problems.append(_addition(new, known, is_joined=run == joined))
        if new is None or run == joined:
            for dump in in_folder:
                kept.setdefault(dump.key, dump)
    return AcceptedDumps(
        list(kept.values()),
        problems,
        {dump.key: digests.of(dump) for dump in kept.values() if digests.has(dump)},
    )


def _refusal(dump: DumpFiles, known: _Known, *, is_kept: bool) -> Problem:
    message = (
        f"the run {dump.run} exists already, from {known.path}, with other content of "
        f"{dump.stem}; give this one another name (option `run`)"
    )
    if not is_kept:
        message += ", or replace the stored run (option `replace`)"
    return Problem(dump.run_path, None, message)


def _addition(dump: DumpFiles, known: _Known, *, is_joined: bool) -> Problem:
    there = f"the run {dump.run}, which exists already, from {known.path}"
    if is_joined:
        return Problem(dump.run_path, None, f"is added to {there}", left_out=False)
    message = (
        f"has more dumps than {there}: {dump.stem}; give option `run` this name to add them, or"
        " another name to keep both runs, or option `replace` to replace the stored run"
    )
    return Problem(dump.run_path, None, message)


class _Digests:
    """Digests of dumps; each dump is read once."""

    def __init__(self, read: Callable[[DumpFiles], DumpContents]) -> None:
        self._read = read
        self._known: dict[DumpFiles, str | None] = {}

    def has(self, dump: DumpFiles) -> bool:
        return dump in self._known

    def of(self, dump: DumpFiles) -> str | None:
        """Return the digest of a dump; None if it cannot be read, which the ingest will report."""
        if dump not in self._known:
            try:
                self._known[dump] = self._read(dump).sha256
            except UnreadableDump:
                self._known[dump] = None
        return self._known[dump]

    def differs(self, dump: DumpFiles, known: _Known) -> bool:
        """Return whether the content of a dump differs from the known content of its key."""
        expected = known.digests.get(dump.key)
        return expected is not None and self.of(dump) not in (expected, None)
