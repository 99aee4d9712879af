"""Load folders of dumps into a graph.

Find the dumps, ask the graph which compilations of their runs it has, reject conflicts,
prepare each compilation that is new or has changed, write its rows to the graph, and
remove or report compilations whose files no longer exist.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path

from xlagraph.graph.engine import Load, LoadTarget
from xlagraph.ingest.files.addresses import is_address
from xlagraph.ingest.files.contents import FileStates
from xlagraph.ingest.files.dump_files import DumpFiles, FoundDumps
from xlagraph.ingest.files.packed_dumps import UnpackedFolders
from xlagraph.ingest.files.remote_folders import RemoteFolders
from xlagraph.ingest.loading.conflicts import reject_conflicts
from xlagraph.ingest.loading.fetching import Fetcher, reading
from xlagraph.ingest.loading.interruption import Interruption
from xlagraph.ingest.loading.pending import PendingIngest, first_paths
from xlagraph.ingest.loading.row_folder import temporary_row_folder
from xlagraph.ingest.loading.summary import IngestSummary, Meter, Progress, Tally
from xlagraph.ingest.loading.worker_pool import prepare_all
from xlagraph.ingest.options import IngestOptions


def ingest(
    graph: LoadTarget | None,
    paths: str | Path | Iterable[str | Path],
    options: IngestOptions | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    origin: Path | None = None,
) -> IngestSummary:
    """Ingest the dumps below some folders, or single files, into a graph or an export.

    An archive, a packed file or ``-`` for standard input is unpacked into a temporary folder.
    The files of an address (``s3://…``, ``gs://…``, ``https://…``) are fetched into one, a few
    dumps at a time; that needs `pip install 'xlagraph[remote]'`.

    Unchanged compilations are skipped, changed ones replaced. Problems with a file are in the
    summary and do not stop the ingest, unless the options ask for that. ``graph`` may be None
    only in a dry run, and means an empty graph. ``jobs`` is the number of processes that parse,
    by default one for each processor; 1 parses in this process. ``origin`` is the folder in whose
    name a folder of links is ingested.

    Raises `GraphError` if the graph fails. After Ctrl-C the graph contains what was finished.
    """
    options = options or IngestOptions()
    if graph is None and not options.dry_run:
        raise ValueError("graph may be None in a dry run only")
    started = time.monotonic()
    searched = [paths] if isinstance(paths, str | Path) else list(paths)
    with UnpackedFolders() as folders, RemoteFolders(folders) as remote:
        if origin is not None:
            folders.name_folders(searched, origin)
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
        work = PendingIngest(
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


def _find_all(
    paths: Iterable[str | Path], run: str | None, folders: UnpackedFolders, remote: RemoteFolders
) -> FoundDumps:
    return FoundDumps.together(
        remote.find_dumps(path, run)
        if isinstance(path, str) and is_address(path)
        else folders.find_dumps(Path(path), run)
        for path in paths
    )


def _load(
    load: Load | None, work: PendingIngest, tally: Tally, meter: Meter, interruption: Interruption
) -> None:
    """Prepare the dumps that are new or have changed and write their rows to the load, if any.

    Ctrl-C ends this between two batches and is delayed afterwards, so that the load ends normally
    and keeps the batches that are finished.
    """
    meter.begin()
    dumps = _not_known_unchanged(work, tally, meter)
    if load is not None:
        if any(work.stored_compilation(dump) is None for dump in dumps):
            load.expect_rows()
        load.watch(
            lambda share: None if interruption.has_occurred else meter.set_written_share(share)
        )
    written_runs: set[str] = set()
    of_outcomes = iter(dumps)
    with (
        _row_folder(load) as folder,
        closing(
            prepare_all(
                work.jobs(dumps),
                work.process_count(dumps),
                folder,
                one_by_one=work.options.fail_fast,
                fetcher=work.fetcher,
            )
        ) as prepared_dumps,
    ):
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


def _row_folder(load: Load | None) -> AbstractContextManager[Path | None]:
    """Provide the folder for files of rows; None in a dry run."""
    if load is None or load.row_folder is not None:
        return nullcontext(None if load is None else load.row_folder)
    return temporary_row_folder()


def _not_known_unchanged(work: PendingIngest, tally: Tally, meter: Meter) -> list[DumpFiles]:
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


def _finish_runs(
    load: Load | None, work: PendingIngest, tally: Tally, written_runs: Collection[str]
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
