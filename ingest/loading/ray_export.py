"""Export dumps on a Ray cluster: tasks list folders, read dumps and write parts of the export.

The driver lists the top of each folder, and tasks list the rest. The driver decides by file names
what is a dump. Each task then reads some dumps and writes a part, which is a complete export,
under a name that no other attempt uses. A task is repeated if its worker dies. Only the parts that
tasks report are merged into one export, which contains each row that compilations share once.
"""

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from xlagraph.graph.neo4j.export import open_export
from xlagraph.graph.neo4j.manifest import Manifest
from xlagraph.ingest.errors import ClusterUnreachable, ExtraMissing, Problem, readable
from xlagraph.ingest.files.addresses import is_address, without_secrets
from xlagraph.ingest.files.discovery import ENDINGS, find_dumps
from xlagraph.ingest.files.dump_files import DumpFiles, FoundDumps
from xlagraph.ingest.files.remote_folders import LentDumps, RemoteFolders
from xlagraph.ingest.files.store import Store, StoredFile
from xlagraph.ingest.loading.conflicts import reject_conflicts
from xlagraph.ingest.loading.fetching import reading
from xlagraph.ingest.loading.load import ingest_found
from xlagraph.ingest.loading.pending import first_paths, ingest_time
from xlagraph.ingest.loading.shared_folder import SharedFolder
from xlagraph.ingest.loading.summary import IngestSummary, merged_summary
from xlagraph.ingest.options import IngestOptions

_TRIES: Final = 5
"""Number of times that a task is repeated if its worker dies."""
_LEAST_BYTES: Final = 2**20
_MOST_BYTES: Final = 64 * 2**20
"""Size of the dumps of one task, which are read again if its worker dies."""
_MOST_PARTS: Final = 256
"""Number of parts above which they become larger: each adds files to the importer's command."""
_TASKS_EACH: Final = 4
"""Tasks for each processor, if there are enough dumps, so that none is idle at the end."""


@dataclass(frozen=True, slots=True)
class _TaskArguments:
    """The arguments that all tasks share."""

    target: SharedFolder
    options: IngestOptions
    run_paths: Mapping[str, str]
    """Folder of each run; a task sees only some dumps of the run."""


@dataclass(frozen=True, slots=True)
class _ExportPart:
    """A part that was written; its name is None if it has no rows."""

    name: str | None
    summary: IngestSummary


def export_on_ray(
    output: str,
    paths: Sequence[str],
    options: IngestOptions,
    *,
    cluster: str | None = None,
    processors: int | None = None,
    on_part: Callable[[int, int], None] = lambda _, __: None,
) -> tuple[Manifest | None, IngestSummary]:
    """Export the dumps below folders or addresses into a folder or address, on a cluster.

    ``cluster`` is ``ray://host:port`` or another address that `ray.init` accepts. None means the
    cluster that RAY_ADDRESS names, or a new one on this machine with that many ``processors``.
    All machines must share the file system of the paths. ``on_part`` receives the number of parts
    written and the total. The manifest is None if there is no compilation.

    Raises `ExtraMissing`, `ClusterUnreachable` also if the cluster is lost, and `GraphUnwritable`
    if the output is not empty or cannot be written.
    """
    started = time.monotonic()
    target = SharedFolder(output if is_address(output) else str(Path(output).resolve()))
    target.check_is_empty()
    ray = _connected_ray(cluster, processors)
    options = replace(options, ingested_at=options.ingested_at or ingest_time())
    with translated_errors(), RemoteFolders() as remote:
        found = _find(ray, paths, options.run, remote)
        accepted = reject_conflicts(found.dumps, {}, joined=options.run, read=reading(remote))
        processors = int(ray.cluster_resources().get("CPU", 1))
        batches = [remote.lend(batch) for batch in _batches(accepted.dumps, processors)]
        order = _TaskArguments(target, options, first_paths(accepted.dumps))
        parts = list(_written(ray, batches, order, 2 * processors, on_part))
        summary = merged_summary(
            [part.summary for part in parts],
            [*found.problems, *accepted.problems],
            time.monotonic() - started,
        )
    names = sorted(part.name for part in parts if part.name is not None)
    if not names:
        return None, summary
    manifest = target.merge(names)
    seconds = time.monotonic() - started
    return manifest, replace(
        summary, nodes=manifest.nodes, relationships=manifest.relationships, seconds=seconds
    )


def _find(ray: Any, paths: Sequence[str], run: str | None, remote: RemoteFolders) -> FoundDumps:  # noqa: ANN401
    """Search all paths; tasks list the folders below an address."""

    def find(path: str) -> FoundDumps:
        if not is_address(path):
            return find_dumps(Path(path), run)
        listed = _listed(ray, path)
        return (
            remote.find_dumps(path, run)
            if listed is None
            else remote.find_listed(path, listed, run)
        )

    return FoundDumps.together(map(find, paths))


def _listed(ray: Any, address: str) -> dict[str, StoredFile] | None:  # noqa: ANN401
    """List the files below an address; None if it is a single file or cannot be listed."""
    try:
        store = Store(address)
        if store.is_file():
            return None
        folders, files = store.folders()
    except Exception:  # noqa: BLE001 - find_dumps reports the error
        return None
    task = ray.remote(max_retries=_TRIES, num_cpus=0.5)(_list_folder)
    listed = ray.get([task.remote(address, folder) for folder in folders])
    for folder, below in zip(folders, listed, strict=True):
        files |= {f"{folder}/{path}": file for path, file in below.items()}
    return files


def _list_folder(address: str, folder: str) -> dict[str, StoredFile]:
    """List the files of dumps below a folder of an address; runs as a task."""
    slash = "" if address.endswith("/") else "/"
    store = Store(f"{address}{slash}{folder}/")
    return {path: file for path, file in store.below() if path.endswith(ENDINGS)}


def _batches(dumps: Sequence[DumpFiles], processors: int) -> Iterator[list[DumpFiles]]:
    """Split dumps into batches for tasks, in order, so that a run stays together if it fits."""
    total = sum(dump.size_bytes for dump in dumps)
    wanted = min(max(total // (processors * _TASKS_EACH), _LEAST_BYTES), _MOST_BYTES)
    most_bytes = max(wanted, total // _MOST_PARTS)
    batch: list[DumpFiles] = []
    size = 0
    for dump in dumps:
        batch.append(dump)
        size += dump.size_bytes
        if size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _written(
    ray: Any,  # noqa: ANN401
    batches: Sequence[LentDumps],
    order: _TaskArguments,
    most_at_once: int,
    on_part: Callable[[int, int], None],
) -> Iterator[_ExportPart]:
    """Write a part for each batch; a batch whose worker dies in every try is split."""
    from ray.exceptions import OutOfMemoryError, WorkerCrashedError

    task = ray.remote(max_retries=_TRIES)(write_part)
    waiting = deque(batches)
    running: dict[Any, LentDumps] = {}
    done = 0
    while waiting or running:
        while waiting and len(running) < most_at_once:
            batch = waiting.popleft()
            running[task.remote(batch, order)] = batch
        (ended, *_), _ = ray.wait(list(running), num_returns=1)
        batch = running.pop(ended)
        try:
            part = ray.get(ended)
        except (WorkerCrashedError, OutOfMemoryError):
            if len(batch.dumps) == 1:
                part = _ExportPart(None, _of_dead_worker(batch.dumps[0]))
            else:
                waiting.extendleft(_alone(batch))
                continue
        done += 1
        on_part(done, done + len(waiting) + len(running))
        yield part


def write_part(lent: LentDumps, order: _TaskArguments) -> _ExportPart:
    """Export some dumps as one part; runs as a task, which may be repeated."""
    name = uuid4().hex
    with ExitStack() as stack:
        remote = stack.enter_context(RemoteFolders())
        found = FoundDumps(tuple(remote.borrow(lent)), (), frozenset())
        folder = stack.enter_context(order.target.new_part(name))
        with open_export(folder) as part:
            summary = ingest_found(
                part,
                found,
                order.options,
                jobs=1,
                fetcher=remote,
                run_paths=order.run_paths,
            )
        problems = tuple(remote.name_origins(each) for each in summary.problems)
    return _ExportPart(name if part.manifest.nodes else None, replace(summary, problems=problems))


def _alone(batch: LentDumps) -> list[LentDumps]:
    """Return one batch for each dump of a batch."""
    return [batch._replace(dumps=(dump,)) for dump in batch.dumps]


def _of_dead_worker(dump: DumpFiles) -> IngestSummary:
    message = f"{_TRIES + 1} workers that read it died"
    problem = Problem(without_secrets(readable(f"{dump.run_path}/{dump.stem}")), None, message)
    return merged_summary([], [problem], 0.0)


def _connected_ray(cluster: str | None, processors: int | None) -> Any:  # noqa: ANN401 - a module
    """Return Ray, connected to a cluster; see `export_on_ray` for the arguments.

    Raises `ExtraMissing` and `ClusterUnreachable`.
    """
    try:
        import ray
    except ImportError:
        raise ExtraMissing("--on ray needs Ray: pip install 'xlagraph[ray]'") from None
    if not ray.is_initialized():
        address = cluster or os.environ.get("RAY_ADDRESS")
        local: dict[str, Any] = (
            {} if address else {"num_cpus": processors, "include_dashboard": False}
        )
        try:
            # without an address, ray.init joins a cluster that others started on this machine
            ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **local)
        except Exception as error:
            raise ClusterUnreachable(_connection_message(address, error)) from error
    return ray


def _connection_message(address: str | None, error: Exception) -> str:
    reason = _first_line(error)
    if address is None:
        return (
            f"Ray cannot be started on this machine: {reason}; name a running cluster with"
            " --on ray://HOST:PORT or RAY_ADDRESS, or export without --on"
        )
    return (
        f"the Ray cluster at {without_secrets(address)} cannot be reached: {reason}; check that"
        " its head is running and that --on or RAY_ADDRESS names it, and set RAY_AUTH_MODE=token"
        " and RAY_AUTH_TOKEN if the cluster asks for a token"
    )


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise `ClusterUnreachable` if the cluster is lost, or if a package is missing on its workers.

    Exceptions of a task that have another cause pass unchanged.
    """
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        if not isinstance(error.cause, ImportError):
            raise
        reason = _first_line(error.cause)
        raise ClusterUnreachable(
            f"the workers of the Ray cluster cannot run xlagraph: {reason}; install the same"
            " version, with the same extras, on each machine"
        ) from error
    except (RayError, ConnectionError) as error:
        raise ClusterUnreachable(
            f"the Ray cluster stopped during the export: {_first_line(error)}; the output has no"
            " export.json: empty it, and export again"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = without_secrets(str(error)).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".;: ")
