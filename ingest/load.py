"""From folders of dumps into a graph.

find the dumps, ask the graph what it holds of their runs, refuse strangers,
prepare each compilation that is new or has changed, hand it over, see to what is gone
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

from xlagraph.graph.engine import Graph, Load
from xlagraph.graph.schema import SCHEMA
from xlagraph.ingest.files.contents import UnreadableDump, read_dump
from xlagraph.ingest.files.discovery import DumpFiles, FoundDumps, find_dumps
from xlagraph.ingest.files.shards import Shard
from xlagraph.ingest.interruption import Interruption
from xlagraph.ingest.preparation import Job, Outcome, prepare_all
from xlagraph.ingest.summary import Disagreement, IngestSummary, Problem, Progress, readable

__all__ = ["ingest"]

_OWN_LABELS: Final = tuple(node.label for node in SCHEMA.nodes if not node.shared)
_RELATIONSHIP_TYPES: Final = tuple(item.name for item in SCHEMA.relationships)
_BYTES_WORTH_A_PROCESS: Final = 2 * 2**20
"""To start one takes as long as to prepare a dump of this size."""
_BYTES_WORTH_THEIR_MEMORY: Final = 32 * 2**20
"""A single dump of this size is prepared in a process that gives its memory back."""


def ingest(
    graph: Graph | None,
    paths: str | Path | Iterable[str | Path],
    *,
    run: str | None = None,
    tags: Sequence[str] = (),
    replace: bool = False,
    fail_fast: bool = False,
    dry_run: bool = False,
    shard: Shard | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> IngestSummary:
    """Bring the dumps below some folders, or single files, into a graph.

    The same content again is left alone, changed content replaced. What is wrong with a
    file is in the summary and never stops the others, unless ``fail_fast`` asks for that.

    ``run`` names the run where there is a single one; ``tags`` (``name=value``) are added
    to those that a run has. ``replace`` takes compilations out whose files are gone, and
    lets another folder take the place of the one that a run came from. ``dry_run`` writes
    nothing; only then ``graph`` may be None, as if it were empty. Of a ``shard`` only the
    dumps that it holds are taken. ``jobs`` is the number of processes that parse, by
    default one for each processor; 1 parses in this one.

    Raises `GraphError` if the graph fails, ValueError if a tag has no ``=``.
    After Ctrl-C what was finished is in the graph.
    """
    if graph is None and not dry_run:
        raise ValueError("graph may be None in a dry run only")
    started = time.monotonic()
    new_tags = _tags_by_name(tags)
    found = _find_all([paths] if isinstance(paths, str | Path) else paths, run)
    interruption = Interruption()
    # Begun before the graph is asked what it holds: it does not change meanwhile, and what
    # a crash left is cleared even if there is nothing to write.
    writes = graph is not None and not dry_run and bool(found.dumps)
    with (
        interruption.handled(),
        graph.load() if graph is not None and writes else nullcontext() as load,
    ):
        stored = _stored_runs(graph, {dump.run for dump in found.dumps})
        dumps, refusals = _reject_conflicts(found.dumps, stored, replace=replace)
        if shard is not None:
            dumps = [dump for dump in dumps if shard.holds(dump.key)]
        tally = _Tally(problems=[*found.problems, *refusals])
        # what other shards hold is not gone
        searched = found.searched if shard is None else frozenset()
        work = _Work(dumps, stored, new_tags, searched, replace)
        if fail_fast and tally.has_left_out:
            tally.has_stopped = True
        else:
            _load(load, work, tally, jobs, fail_fast, progress, interruption)
    if interruption.came:
        raise KeyboardInterrupt
    return tally.summary(work, time.monotonic() - started, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _StoredCompilation:
    sha256: str
    total_bytes: int | None
    allocation_bytes: int


@dataclass(frozen=True, slots=True)
class _StoredRun:
    """What the graph holds of a run."""

    path: str
    tags: tuple[str, ...]
    compilations: dict[str, _StoredCompilation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done."""

    dumps: Sequence[DumpFiles]
    stored: Mapping[str, _StoredRun]
    new_tags: Mapping[str, str]
    searched: frozenset[str]
    replace: bool

    def tags(self, run: str) -> tuple[str, ...]:
        """Give the tags that a run shall have, each ``name=value``."""
        stored = self.stored[run].tags if run in self.stored else ()
        return tuple(
            f"{name}={value}" for name, value in {**_by_name(stored), **self.new_tags}.items()
        )

    def stored_compilation(self, dump: DumpFiles) -> _StoredCompilation | None:
        """Give what the graph holds under the key of a dump."""
        run = self.stored.get(dump.run)
        return None if run is None else run.compilations.get(dump.key)

    def gone(self) -> list[str]:
        """Give the keys of compilations whose run was searched and whose files were not found."""
        moved = set(self.moved())
        return [key for key in self._not_found() if key not in moved]

    def moved(self) -> list[str]:
        """Give the keys of compilations that have another key now.

        One in a folder that XLA made does when the first other one of its stem comes, or the
        last one goes.
        """
        other_keys = {dump.other_key for dump in self.dumps}
        return [key for key in self._not_found() if key in other_keys]

    def _not_found(self) -> list[str]:
        """Give the stored keys of the runs that were searched that no dump has.

        Another folder of the same name says nothing of them, unless it takes the place.
        """
        found = {dump.key for dump in self.dumps}
        paths = {(dump.run, dump.run_path) for dump in self.dumps}
        return [
            key
            for run, path in sorted(paths)
            if run in self.stored and path in self.searched
            if self.replace or path == self.stored[run].path
            for key in self.stored[run].compilations
            if key not in found
        ]


@dataclass(slots=True)
class _Tally:
    """What has been done so far."""

    problems: list[Problem]
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    agreeing: int = 0
    disagreeing: list[Disagreement] = field(default_factory=list)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: int = 0
    nodes: int = 0
    relationships: int = 0
    bytes_read: int = 0
    has_stopped: bool = False

    @property
    def has_left_out(self) -> bool:
        return any(problem.left_out for problem in self.problems)

    def count(self, dump: DumpFiles, stored: _StoredCompilation | None, outcome: Outcome) -> None:
        """Take note of what came of one dump."""
        self.problems.extend(outcome.problems)
        self.bytes_read += outcome.bytes_read
        if outcome.has_rows:
            (self.added if stored is None else self.updated).append(dump.key)
            if outcome.missing:
                self.missing[dump.key] = outcome.missing
            self._compare_totals(dump.key, outcome.total_bytes, outcome.allocation_bytes)

    def count_rows(self, counts: Mapping[str, int]) -> None:
        """Take note of the rows of a compilation, by label or type."""
        self.values += counts.get("Value", 0)
        self.nodes += sum(counts.get(label, 0) for label in _OWN_LABELS)
        self.relationships += sum(counts.get(name, 0) for name in _RELATIONSHIP_TYPES)

    def count_unchanged(self, dump: DumpFiles, stored: _StoredCompilation) -> None:
        """Take note of a dump that the graph holds as it is."""
        self.unchanged.append(dump.key)
        self.bytes_read += dump.size_bytes
        self._compare_totals(dump.key, stored.total_bytes, stored.allocation_bytes)

    def _compare_totals(self, key: str, total_bytes: int | None, allocation_bytes: int) -> None:
        if total_bytes == allocation_bytes:
            self.agreeing += 1
        elif total_bytes is not None:
            self.disagreeing.append(Disagreement(key, total_bytes, allocation_bytes))

    def summary(self, work: _Work, seconds: float, *, dry_run: bool) -> IngestSummary:
        loaded = {*self.added, *self.updated, *self.unchanged}
        return IngestSummary(
            runs=tuple(dict.fromkeys(dump.run for dump in work.dumps if dump.key in loaded)),
            added=tuple(sorted(self.added)),
            updated=tuple(sorted(self.updated)),
            unchanged=tuple(sorted(self.unchanged)),
            moved=tuple(self.moved),
            gone=tuple(self.gone),
            dropped=tuple(self.dropped),
            problems=tuple(self.problems),
            agreeing=self.agreeing,
            disagreeing=tuple(sorted(self.disagreeing)),
            missing=dict(sorted(self.missing.items())),
            values=self.values,
            nodes=self.nodes,
            relationships=self.relationships,
            bytes_read=self.bytes_read,
            seconds=seconds,
            dry_run=dry_run,
            stopped=self.has_stopped,
        )


def _tags_by_name(tags: Iterable[str]) -> dict[str, str]:
    for tag in tags:
        if not tag.partition("=")[0] or "=" not in tag:
            raise ValueError(f"expected a tag `name=value`, found {tag!r}")
    return _by_name(tags)


def _by_name(tags: Iterable[str]) -> dict[str, str]:
    return {name: value for name, _, value in (tag.partition("=") for tag in tags)}


def _find_all(paths: Iterable[str | Path], run: str | None) -> FoundDumps:
    """Search all paths; a file that two of them lead to counts once."""
    dumps: dict[str, DumpFiles] = {}
    problems: dict[Problem, None] = {}
    searched: set[str] = set()
    for path in paths:
        found = find_dumps(Path(path), run)
        for dump in found.dumps:
            dumps.setdefault(os.path.realpath(dump.allocations), dump)
        problems.update(dict.fromkeys(found.problems))
        searched |= found.searched
    return FoundDumps(tuple(dumps.values()), tuple(problems), frozenset(searched))


def _stored_runs(graph: Graph | None, runs: set[str]) -> dict[str, _StoredRun]:
    if graph is None or graph.is_new or not runs:
        return {}
    rows = graph.query(
        "UNWIND $runs AS name MATCH (r:Run {key: name})-[:COMPILED]->(c:Compilation) "
        "WHERE c.state = 'complete' "
        "RETURN r.key AS run, r.path AS path, r.tags AS tags, c.key AS compilation, "
        "c.sha256 AS sha256, c.totalBytes AS totalBytes, c.allocationBytes AS allocationBytes "
        "ORDER BY compilation",
        {"runs": sorted(runs)},
    ).rows
    stored: dict[str, _StoredRun] = {}
    for run, path, tags, key, sha256, total_bytes, allocation_bytes in rows:
        entry = _StoredCompilation(
            str(sha256), cast("int | None", total_bytes), cast("int", allocation_bytes)
        )
        of_run = stored.setdefault(
            str(run), _StoredRun(str(path), tuple(cast("Sequence[str]", tags or ())))
        )
        of_run.compilations[str(key)] = entry
    return stored


def _reject_conflicts(
    dumps: Sequence[DumpFiles], stored: Mapping[str, _StoredRun], *, replace: bool
) -> tuple[list[DumpFiles], list[Problem]]:
    """Refuse folders whose run is there from another folder, with other contents.

    What two folders of one search have in common, and alike, counts once.
    """
    folders: dict[tuple[str, str], list[DumpFiles]] = defaultdict(list)
    for dump in dumps:
        folders[dump.run, dump.run_path].append(dump)
    kept: dict[str, DumpFiles] = {}
    problems = []
    for (run, path), dumps_here in folders.items():
        known: dict[str, str | None] = {}
        other = None
        if run in stored and stored[run].path != path and not replace:
            known = {key: item.sha256 for key, item in stored[run].compilations.items()}
            other = stored[run].path
        for dump in dumps_here:
            if dump.key in kept:
                known[dump.key] = _sha256(kept[dump.key])
                other = kept[dump.key].run_path
        strange = next((dump for dump in dumps_here if _differs(dump, known)), None)
        if strange is None:
            for dump in dumps_here:
                kept.setdefault(dump.key, dump)
        else:
            message = (
                f"the run {run} is there already, from {other}, with other content of "
                f"{strange.stem}; give this one another name with --run NAME"
            )
            if strange.key not in kept:
                message += ", or let it take the place with --replace"
            problems.append(Problem(path, None, message))
    return list(kept.values()), problems


def _differs(dump: DumpFiles, known: Mapping[str, str | None]) -> bool:
    """Whether a dump has other content than what is known of its key."""
    expected = known.get(dump.key)
    return expected is not None and _sha256(dump) not in (expected, None)


def _sha256(dump: DumpFiles) -> str | None:
    try:
        return read_dump(dump).sha256
    except UnreadableDump:  # named when it is its turn
        return None


def _load(
    load: Load | None,
    work: _Work,
    tally: _Tally,
    processes: int | None,
    fail_fast: bool,
    progress: Callable[[Progress], None] | None,
    interruption: Interruption,
) -> None:
    """Prepare what is new or has changed and hand its rows to the load, if there is one.

    Ctrl-C ends it between two batches, and is held back from then on: leaving the load
    in peace keeps the finished ones.
    """
    meter = _Meter(work.dumps, progress)
    dumps = []
    for dump in work.dumps:
        stored = work.stored_compilation(dump)
        if stored is not None and _sha256(dump) == stored.sha256:
            tally.count_unchanged(dump, stored)
            meter.advance(dump)
        else:
            dumps.append(dump)
    if dumps and load is not None:
        load.expect_rows()
    # The largest first: last, it would keep one processor busy and the others idle.
    dumps.sort(key=lambda dump: (-dump.size_bytes, dump.key))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    jobs = [Job(dump, now, work.tags(dump.run)) for dump in dumps]
    written_runs: set[str] = set()
    of_outcomes = iter(dumps)
    with closing(prepare_all(jobs, _processes(dumps, processes), one_by_one=fail_fast)) as batches:
        for prepared in interruption.until_interrupted(batches):
            if load is not None and prepared.rows.counts:
                load.write_batch(prepared.rows)
            counts = iter(prepared.rows.counts)
            for outcome in prepared.outcomes:
                dump = next(of_outcomes)
                tally.count(dump, work.stored_compilation(dump), outcome)
                if outcome.has_rows:
                    tally.count_rows(next(counts))
                    written_runs.add(dump.run)
                meter.advance(dump)
            del prepared  # it may be as large as the next
            if fail_fast and tally.has_left_out:
                tally.has_stopped = True
                break
    if not (interruption.came or tally.has_stopped):
        _tidy(load, work, tally, written_runs)


def _processes(dumps: Sequence[DumpFiles], wanted: int | None) -> int:
    """Give as many processes as are wanted, and worth their start."""
    if wanted is None:
        has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
        wanted = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    size_bytes = sum(dump.size_bytes for dump in dumps)
    worth = _BYTES_WORTH_A_PROCESS if len(dumps) > 1 else _BYTES_WORTH_THEIR_MEMORY
    return min(wanted, 1 + size_bytes // worth)


def _tidy(load: Load | None, work: _Work, tally: _Tally, written_runs: Collection[str]) -> None:
    """Say or drop what is gone, and tag runs of which nothing was written."""
    for key in work.moved():
        tally.moved.append(key)
        if load is not None:
            load.remove(key)
    for key in work.gone():
        if work.replace:
            tally.dropped.append(key)
            if load is not None:
                load.remove(key)
        else:
            tally.gone.append(key)
    if load is not None:
        for run in work.stored:
            if run not in written_runs and work.tags(run) != work.stored[run].tags:
                load.tag(run, work.tags(run))


class _Meter:
    """Tells how far an ingest is."""

    def __init__(
        self, dumps: Sequence[DumpFiles], progress: Callable[[Progress], None] | None
    ) -> None:
        self._progress = progress
        self._bytes_total = sum(dump.size_bytes for dump in dumps)
        self._compilations_total = len(dumps)
        self._bytes_done = self._compilations_done = 0

    def advance(self, dump: DumpFiles) -> None:
        """Count one dump as done."""
        self._bytes_done += dump.size_bytes
        self._compilations_done += 1
        if self._progress is not None:
            self._progress(
                Progress(
                    self._bytes_done,
                    self._bytes_total,
                    self._compilations_done,
                    self._compilations_total,
                    readable(dump.allocations),
                )
            )
