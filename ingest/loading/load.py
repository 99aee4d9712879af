"""Load folders of dumps into a graph.

Find the dumps, ask the graph which compilations of their runs it has, reject conflicts,
prepare each compilation that is new or has changed, write its rows to the graph, and
remove or report compilations whose files no longer exist.
"""

import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from xlagraph.graph.engine import CompilationDigest, Load, LoadTarget, StoredRun
from xlagraph.ingest.files.addresses import is_address
from xlagraph.ingest.files.contents import FileStates
from xlagraph.ingest.files.discovery import DumpFiles, FoundDumps
from xlagraph.ingest.files.packed_dumps import UnpackedFolders
from xlagraph.ingest.files.remote_folders import RemoteFolders
from xlagraph.ingest.loading.conflicts import reject_conflicts
from xlagraph.ingest.loading.fetching import Fetcher, reading
from xlagraph.ingest.loading.interruption import Interruption
from xlagraph.ingest.loading.job import Job, Prepared
from xlagraph.ingest.loading.row_folder import temporary_row_folder
from xlagraph.ingest.loading.summary import IngestSummary, Progress
from xlagraph.ingest.loading.tally import Meter, Tally
from xlagraph.ingest.loading.worker_pool import prepare_all
from xlagraph.ingest.options import IngestOptions
from xlagraph.ingest.problem import Problem

__all__ = ["first_paths", "ingest", "ingest_found", "ingest_time"]

_BYTES_WORTH_A_PROCESS: Final = 2 * 2**20
"""Size of a dump that takes as long to prepare as a process takes to start."""
_BYTES_WORTH_THEIR_MEMORY: Final = 32 * 2**20
"""Size from which a single dump is prepared in another process, to free its memory."""
_READING_SHARE: Final = 16
"""Ratio of the time to prepare a dump to the time to read and compare it."""


def ingest(
    graph: LoadTarget | None,
    paths: str | Path | Iterable[str | Path],
    options: IngestOptions | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> IngestSummary:
    """Ingest the dumps below some folders, or single files, into a graph or an export.

    An archive, a packed file or ``-`` for standard input is unpacked into a temporary folder.
    The files of an address (``s3://…``, ``gs://…``, ``https://…``) are fetched into one, a few
    dumps at a time; that needs `pip install 'xlagraph[remote]'`.

    Unchanged compilations are skipped, changed ones replaced. Problems with a file are in the
    summary and do not stop the ingest, unless the options ask for that. ``graph`` may be None
    only in a dry run, and means an empty graph. ``jobs`` is the number of processes that parse,
    by default one for each processor; 1 parses in this process.

    Raises `GraphError` if the graph fails. After Ctrl-C the graph contains what was finished.
    """
    options = options or IngestOptions()
    if graph is None and not options.dry_run:
        raise ValueError("graph may be None in a dry run only")
    started = time.monotonic()
    searched = [paths] if isinstance(paths, str | Path) else list(paths)
    with UnpackedFolders() as folders, RemoteFolders(folders) as remote:
        found = _find_all(searched, options.run, folders, remote)
        summary = ingest_found(
            graph,
            found,
            options,
            jobs=jobs,
            progress=progress,
            started=started,
            fetcher=remote if any(map(is_address, searched)) else None,
        )
        problems = map(remote.name_origins, map(folders.name_origins, summary.problems))
        return replace(summary, problems=tuple(problems))


def ingest_found(
    graph: LoadTarget | None,
    found: FoundDumps,
    options: IngestOptions,
    *,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    started: float | None = None,
    fetcher: Fetcher | None = None,
    expected: Mapping[str, FileStates] | None = None,
    run_paths: Mapping[str, str] | None = None,
) -> IngestSummary:
    """Ingest the dumps that a search has found, as `ingest` does.

    ``started`` is the `time.monotonic` at which the search began; ``fetcher`` fetches remote
    files. ``expected`` maps keys to the states in which the files of dumps were found complete;
    a dump is skipped if they have changed, or if its allocations do not add up to its total.
    ``run_paths`` gives the folders of new runs if these are only some of their dumps.
    """
    started = time.monotonic() if started is None else started
    interruption = Interruption()
    # The load begins before the graph is queried: nothing else can change the graph meanwhile,
    # and the remains of a crash are removed even if there is nothing to write.
    writes = graph is not None and not options.dry_run and bool(found.dumps)
    with (
        interruption.handled(),
        graph.load() if graph is not None and writes else nullcontext() as load,
    ):
        stored = graph.stored_runs({dump.run for dump in found.dumps}) if graph else {}
        accepted = reject_conflicts(
            found.dumps,
            {} if options.replace else stored,
            joined=None if options.replace else options.run,
            read=reading(fetcher),
        )
        shard = options.shard
        dumps = [dump for dump in accepted.dumps if shard is None or shard.holds(dump.key)]
        tally = Tally(problems=[*found.problems, *accepted.problems])
        # a dump of another shard is not missing
        searched = found.searched if shard is None else frozenset()
        work = _PendingIngest(
            dumps,
            stored,
            accepted.digests,
            searched,
            options,
            jobs,
            fetcher,
            expected,
            run_paths or first_paths(accepted.dumps),
        )
        if options.fail_fast and tally.has_left_out:
            tally.has_stopped = True
        else:
            _load(load, work, tally, Meter(dumps, progress), interruption)
    if interruption.has_occurred:
        raise KeyboardInterrupt
    return tally.summary(dumps, time.monotonic() - started, dry_run=options.dry_run)


@dataclass(frozen=True, slots=True)
class _PendingIngest:
    """The dumps to ingest, with all that decides how."""

    dumps: Sequence[DumpFiles]
    stored: Mapping[str, StoredRun]
    digests: Mapping[str, str | None]
    """Digests of the dumps that were read already, by key."""
    searched: frozenset[str]
    options: IngestOptions
    processes: int | None
    """Number of processes requested; None for one on each processor."""
    fetcher: Fetcher | None = None
    expected: Mapping[str, FileStates] | None = None
    run_paths: Mapping[str, str] = field(default_factory=dict)
    """First folder of each new run."""

    def tags(self, run: str) -> tuple[str, ...]:
        """Return the tags of a run after the ingest, each ``name=value``."""
        return self.options.tags_of_run(self.stored[run].tags if run in self.stored else ())

    def run_path(self, dump: DumpFiles) -> str | None:
        """Return the first folder of the run of a dump; None if it is the folder of the dump."""
        is_new = self.options.replace or dump.run not in self.stored
        return self.run_paths.get(dump.run) if is_new else self.stored[dump.run].path

    def stored_compilation(self, dump: DumpFiles) -> CompilationDigest | None:
        """Return the stored compilation with the key of a dump; None if there is none."""
        run = self.stored.get(dump.run)
        return None if run is None else run.compilations.get(dump.key)

    def unchanged_sha256(self, dump: DumpFiles) -> str | None:
        """Return the digest with which a dump is unchanged and need not be written.

        None if no compilation of its key and level of detail is stored, or if the stored one is
        from a folder that this one replaces.
        """
        stored = self.stored_compilation(dump)
        if stored is None or stored.detail != self.options.detail:
            return None
        if self.options.replace and stored.path != dump.run_path:
            return None
        return stored.sha256

    def is_known_unchanged(self, dump: DumpFiles) -> bool:
        """Return whether a dump was read already and has the stored content."""
        sha256 = self.unchanged_sha256(dump)
        return sha256 is not None and self.digests.get(dump.key) == sha256

    def gone(self) -> list[str]:
        """Return the keys of compilations of searched runs whose files were not found."""
        moved = set(self.moved())
        return [key for key in self._not_found() if key not in moved]

    def moved(self) -> list[str]:
        """Return the stored keys of compilations whose dumps now have another key.

        The key of a dump in XLA's ``NAME/HOST_PID/`` folder contains that folder only if another
        dump has the same stem.
        """
        other_keys = {dump.other_key for dump in self.dumps}
        return [key for key in self._not_found() if key in other_keys]

    def _not_found(self) -> list[str]:
        """Return the stored keys of searched runs for which no dump was found.

        Keys that were ingested from another folder count only if this folder replaces it.
        """
        found = {dump.key for dump in self.dumps}
        paths = {(dump.run, dump.run_path) for dump in self.dumps}
        return [
            key
            for run, path in sorted(paths)
            if run in self.stored and path in self.searched
            for key, compilation in self.stored[run].compilations.items()
            if key not in found and (self.options.replace or path == compilation.path)
        ]


def first_paths(dumps: Iterable[DumpFiles]) -> Mapping[str, str]:
    """Return one folder for each run of some dumps, the same in all shards."""
    paths: dict[str, str] = {}
    for dump in dumps:
        paths[dump.run] = min(paths.get(dump.run, dump.run_path), dump.run_path)
    return paths


def _find_all(
    paths: Iterable[str | Path], run: str | None, folders: UnpackedFolders, remote: RemoteFolders
) -> FoundDumps:
    """Search all paths; a file that is found by two of them counts once."""
    dumps: dict[tuple[str, int], DumpFiles] = {}
    problems: dict[Problem, None] = {}
    searched: set[str] = set()
    for path in paths:
        if isinstance(path, str) and is_address(path):
            found = remote.find_dumps(path, run)
        else:
            found = folders.find_dumps(Path(path), run)
        for dump in found.dumps:
            dumps.setdefault(dump.place, dump)
        problems.update(dict.fromkeys(found.problems))
        searched |= found.searched
    return FoundDumps(tuple(dumps.values()), tuple(problems), frozenset(searched))


def _load(
    load: Load | None, work: _PendingIngest, tally: Tally, meter: Meter, interruption: Interruption
) -> None:
    """Prepare the dumps that are new or have changed and write their rows to the load, if any.

    Ctrl-C ends this between two batches and is delayed afterwards, so that the load ends normally
    and keeps the batches that are finished.
    """
    dumps = _not_known_unchanged(work, tally, meter)
    if load is not None:
        if any(work.stored_compilation(dump) is None for dump in dumps):
            load.expect_rows()
        load.watch(
            lambda share: None if interruption.has_occurred else meter.set_written_share(share)
        )
    written_runs: set[str] = set()
    of_outcomes = iter(dumps)
    with _row_folder(load) as folder, closing(_prepared(dumps, work, folder)) as prepared_dumps:
        for prepared in interruption.until_interrupted(prepared_dumps):
            if load is not None and prepared.files is not None:
                load.expect_rows()
                load.write_files(prepared.files)
            tally.rows.add(prepared.counts)
            for outcome in prepared.outcomes:
                dump = next(of_outcomes)
                tally.count(dump, work.stored_compilation(dump), outcome)
                if outcome.has_rows:
                    written_runs.add(dump.run)
                meter.advance(dump, is_handed_over=outcome.has_rows)
            if work.options.fail_fast and tally.has_left_out:
                tally.has_stopped = True
                break
    if not (interruption.has_occurred or tally.has_stopped):
        _finish_runs(load, work, tally, written_runs)


def _not_known_unchanged(work: _PendingIngest, tally: Tally, meter: Meter) -> list[DumpFiles]:
    """Count the dumps that are known to be unchanged; return the others, largest first."""
    dumps = []
    for dump in work.dumps:
        stored = work.stored_compilation(dump)
        if stored is not None and work.is_known_unchanged(dump):
            tally.count_unchanged(dump, stored)
            meter.advance(dump)
        else:
            dumps.append(dump)
    # A large dump at the end would keep one processor busy and the others idle.
    return sorted(dumps, key=lambda dump: (-dump.size_bytes, dump.key))


def _prepared(
    dumps: Sequence[DumpFiles], work: _PendingIngest, folder: Path | None
) -> Generator[Prepared, None, None]:
    """Prepare dumps, in their order, in as many processes as save time."""
    return prepare_all(
        _jobs(dumps, work),
        _process_count(dumps, work),
        folder,
        one_by_one=work.options.fail_fast,
        fetcher=work.fetcher,
    )


@contextmanager
def _row_folder(load: Load | None) -> Iterator[Path | None]:
    """Provide the folder for files of rows; None in a dry run."""
    if load is None or load.row_folder is not None:
        yield load.row_folder if load is not None else None
        return
    with temporary_row_folder() as folder:
        yield folder


def _jobs(dumps: Sequence[DumpFiles], work: _PendingIngest) -> list[Job]:
    now = (work.options.ingested_at or ingest_time()).isoformat(timespec="seconds")
    return [
        Job(
            dump,
            now,
            work.tags(dump.run),
            work.unchanged_sha256(dump),
            work.run_path(dump),
            work.options.detail,
            expected=None if work.expected is None else work.expected.get(dump.key, ()),
        )
        for dump in dumps
    ]


def ingest_time() -> datetime:
    """Return the time of an ingest that begins now.

    It is SOURCE_DATE_EPOCH (seconds) if that is set, so that exports can be reproduced.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)


def _process_count(dumps: Sequence[DumpFiles], work: _PendingIngest) -> int:
    """Return the number of processes: at most those requested, and no more than save time."""
    wanted = work.processes
    if wanted is None:
        has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
        wanted = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    size_bytes = sum(
        # a stored dump has most likely not changed, and is only read
        dump.size_bytes // (1 if work.stored_compilation(dump) is None else _READING_SHARE)
        for dump in dumps
    )
    worth = _BYTES_WORTH_A_PROCESS if len(dumps) > 1 else _BYTES_WORTH_THEIR_MEMORY
    return min(wanted, 1 + size_bytes // worth)


def _finish_runs(
    load: Load | None, work: _PendingIngest, tally: Tally, written_runs: Collection[str]
) -> None:
    """Report or remove compilations without files, and update tags of runs without new rows."""
    for key in work.moved():
        tally.moved.append(key)
        if load is not None:
            load.remove(key)
    for key in work.gone():
        if work.options.replace:
            tally.dropped.append(key)
            if load is not None:
                load.remove(key)
        else:
            tally.gone.append(key)
    if load is not None:
        for run in work.stored:
            if run not in written_runs and work.tags(run) != work.stored[run].tags:
                load.tag(run, work.tags(run))
