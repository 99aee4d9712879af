"""From the files of one compilation to its rows, in this process or in several.

    read, parse, join and derive, make rows

Other processes are plain interpreters that get jobs on their input and give outcomes on
their output: unlike `multiprocessing` they need nothing of the caller's main module, and
an interpreter without a caller ends by itself.
"""

import os
import pickle
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Lock
from typing import IO, Final, NamedTuple, cast

import pyarrow as pa

from xlagraph.graph.rows.tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS, RowBatch
from xlagraph.ingest.dump.module_text import parse_module_text
from xlagraph.ingest.dump.parser import parse_plan
from xlagraph.ingest.dump.plan import Plan
from xlagraph.ingest.errors import ParseError
from xlagraph.ingest.files.contents import DumpContents, UnreadableDump, read_dump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.measures.compilation_facts import (
    CompilationFacts,
    instruction_names,
    join_facts,
)
from xlagraph.ingest.rows.batch import Identity, row_batch
from xlagraph.ingest.summary import Problem, readable
from xlagraph.runtime.collector import collector_paused
from xlagraph.runtime.memory import trim_memory

__all__ = ["ENVIRONMENT", "Job", "Outcome", "Prepared", "prepare_all", "serve"]

ENVIRONMENT: Final[Mapping[str, str]] = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""Of processes that prepare, unless it is set already.

Large pages: of 100 MB, to read and decode took 35 ms in place of 100.
"""

_BATCH_BYTES: Final = 2**20
"""Of dumps whose rows are made together: larger batches are no faster."""
_BATCH_DUMPS: Final = 50
"""A megabyte of the smallest takes seconds, for which other processes would be idle."""
_WAITING_BYTES: Final = 16 * 2**20
"""Of dumps whose rows are made or being made and not yet taken: bounds the memory."""
_MANY_BYTES: Final = 32 * 2**20
"""Of rows: it takes milliseconds to give memory back."""
_KNOWN_BYTES: Final = 8 * 2**20
"""Of dumps whose facts are kept for others of the same content."""


class Job(NamedTuple):
    """One compilation to prepare."""

    files: DumpFiles
    ingested_at: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: rows, among those of others, or problems alone."""

    has_rows: bool = False
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()
    """Parts that the dump does not have."""
    bytes_read: int = 0
    total_bytes: int | None = None
    """As printed."""
    allocation_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """What came of some jobs, in their order, and the rows of those that have some."""

    outcomes: tuple[Outcome, ...]
    rows: RowBatch


class _KnownContents:
    """CompilationFacts of contents that were read lately, by digest.

    Hosts of one job and runs of one program compile much the same: of 356 dumps of seven
    runs, 211 had the content of another. The largest dumps come first, so that those of
    the same content come close together.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Outcome, CompilationFacts]] = OrderedDict()
        self._bytes = 0

    def find(self, sha256: str) -> tuple[Outcome, CompilationFacts] | None:
        """Give what came of a content; None if it is not known."""
        found = self._known.get(sha256)
        if found is not None:
            self._known.move_to_end(sha256)
        return found

    def keep(self, sha256: str, outcome: Outcome, facts: CompilationFacts) -> None:
        """Keep what came of a content, and drop what was longest not asked for."""
        self._known[sha256] = outcome, facts
        self._bytes += outcome.bytes_read
        while self._bytes > _KNOWN_BYTES:
            _, (dropped, _) = self._known.popitem(last=False)
            self._bytes -= dropped.bytes_read


@collector_paused(has_many=True)
def _prepare(jobs: Sequence[Job], known: _KnownContents) -> Prepared:
    found = [_read_and_join(job, known) for job in jobs]
    compilations = [compilation for _, compilation in found if compilation is not None]
    return Prepared(tuple([outcome for outcome, _ in found]), row_batch(compilations))


def _without_rows(*outcomes: Outcome) -> Prepared:
    return Prepared(outcomes, row_batch([]))


def _read_and_join(
    job: Job, known: _KnownContents
) -> tuple[Outcome, tuple[Identity, CompilationFacts] | None]:
    try:
        contents = read_dump(job.files)
        sha256 = contents.sha256
        found = known.find(sha256)
        outcome, facts = found or _parse_and_join(job.files, contents)
        if found is None and not outcome.problems:  # these name files
            known.keep(sha256, outcome, facts)
        return outcome, (Identity(job.files, sha256, job.ingested_at, job.tags), facts)
    except UnreadableDump as error:
        return Outcome(problems=(error.problem,)), None
    except ParseError as error:
        return Outcome(problems=(Problem(error.file, error.line, error.message),)), None
    except MemoryError:
        return _left_out(job, "takes more memory than there is"), None
    except RecursionError:
        return _left_out(job, "is nested too deep"), None


def _left_out(job: Job, message: str) -> Outcome:
    return Outcome(problems=(Problem(readable(job.files.allocations), None, message),))


def _parse_and_join(files: DumpFiles, contents: DumpContents) -> tuple[Outcome, CompilationFacts]:
    parts, problems = contents.take_parts()
    plan = parse_plan(parts)
    del parts
    names = instruction_names(plan)
    module_text = None
    try:
        text = contents.take_module_text()
        module_text = parse_module_text(text, names) if text is not None else None
        del text
    except UnreadableDump as error:  # the dump is whole without it
        problems.append(error.problem._replace(left_out=False))
    facts = join_facts(plan, module_text, names)
    missing = _missing(plan, has_module_text=module_text is not None)
    problems.extend(_missing_companions(files, plan, problems))
    outcome = Outcome(
        has_rows=True,
        problems=tuple(problems),
        missing=missing,
        bytes_read=contents.bytes_read,
        total_bytes=plan.total.bytes if plan.total is not None else None,
        allocation_bytes=sum(allocation.size_bytes for allocation in plan.allocations),
    )
    return outcome, facts


def _missing(plan: Plan, *, has_module_text: bool) -> tuple[str, ...]:
    parts = {
        "total bytes": plan.total is not None,
        "used values": plan.used_values is not None,
        "instruction texts": bool(plan.instructions) or not plan.values,
        "live ranges": plan.live_ranges is not None,
        "module text": has_module_text,
    }
    return tuple(part for part, is_there in parts.items() if not is_there)


def _missing_companions(
    files: DumpFiles, plan: Plan, named: Sequence[Problem]
) -> Iterator[Problem]:
    """Name companions that a split dump should have; older ones are not split.

    A dump without addresses (TensorFlow 2.11, jaxlib 0.4.1 and later) always has a total
    and live ranges: what its allocation file does not say is in a companion. (Up to
    jaxlib 0.9 it can also be a file cut between two sections: nothing tells.)
    """
    if any(allocation.address is not None for allocation in plan.allocations):
        return
    empty = {problem.file for problem in named}
    for part, is_there, path, ending in (
        ("total and used values", plan.total is not None, files.values, "buffer-assignment-values"),
        ("live ranges", plan.live_ranges is not None, files.live_range, "live-range"),
    ):
        if not is_there and (path is None or readable(path) not in empty):
            message = f"has no {part}, nor is {files.stem}-{ending}.txt beside it"
            yield Problem(readable(files.allocations), None, message, left_out=False)


def prepare_all(
    jobs: Sequence[Job], processes: int, *, one_by_one: bool = False
) -> Generator[Prepared, None, None]:
    """Prepare jobs in their order, small ones together; with several processes, side by side.

    Closing the iterator ends the processes.
    """
    batches = deque([job] for job in jobs) if one_by_one else deque(_batches(jobs))
    if processes <= 1:
        known = _KnownContents()
        while batches:
            yield _prepare(batches.popleft(), known)
        return
    idle: SimpleQueue[_Worker] = SimpleQueue()
    workers = [_Worker() for _ in range(min(processes, len(batches)))]
    for worker in workers:
        idle.put(worker)

    def run(batch: Sequence[Job]) -> list[Prepared]:
        worker = idle.get()
        try:
            return worker.prepare(batch)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(len(workers) or 1)
    waiting: deque[tuple[Future[list[Prepared]], int]] = deque()
    waiting_bytes = 0
    try:
        while batches or waiting:
            while batches and (len(waiting) <= len(workers) or waiting_bytes < _WAITING_BYTES):
                batch = batches.popleft()
                size_bytes = sum(job.files.size_bytes for job in batch)
                waiting.append((threads.submit(run, batch), size_bytes))
                waiting_bytes += size_bytes
            future, size_bytes = waiting.popleft()
            parts = future.result()
            waiting_bytes -= size_bytes
            del future
            yield from parts
    finally:
        for worker in workers:
            worker.end()
        threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.close()


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size_bytes = 0
    for job in jobs:
        batch.append(job)
        size_bytes += job.files.size_bytes
        if size_bytes >= _BATCH_BYTES or len(batch) >= _BATCH_DUMPS:
            yield batch
            batch = []
            size_bytes = 0
    if batch:
        yield batch


_SERVE: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from xlagraph.runtime.block_imports import block_imports; block_imports(); "
    "from xlagraph.ingest.preparation import serve; serve()"
)


class _Worker:
    """Another process that prepares batches, one at a time; starts when needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._has_ended = False
        self._starting = Lock()

    def prepare(self, batch: Sequence[Job]) -> list[Prepared]:
        """Prepare a batch; of a dump that the process dies of, the outcome says so."""
        prepared = self._ask(batch)
        if prepared is not None:
            return [prepared]
        if len(batch) > 1:  # one of them is to blame: which?
            return [alone for job in batch for alone in self.prepare([job])]
        return [_without_rows(_left_out(batch[0], "the process that read it has ended"))]

    def _ask(self, batch: Sequence[Job]) -> Prepared | None:
        with self._starting:
            if self._has_ended:
                return _without_rows(*[Outcome()] * len(batch))
            process = self._process = self._process or _start_process()
        try:
            pickle.dump(batch, _pipe(process.stdin))
            _pipe(process.stdin).flush()
            return _receive(_pipe(process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process = None
            _close(process)
            process.wait()
            return None

    def end(self) -> None:
        """End the process, whatever it does."""
        with self._starting:
            self._has_ended = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Let go of the process, which must have ended and be used by no thread."""
        if self._process is not None:
            _close(self._process)
            self._process.wait()


def _start_process() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 - this interpreter, a fixed text
        [sys.executable, "-P", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**ENVIRONMENT, **os.environ},
        stderr=subprocess.DEVNULL,  # an error of our own shows where this process prepares
        start_new_session=True,  # Ctrl-C is for the caller, who then ends this one
    )
    pickle.dump(sys.path, _pipe(process.stdin))
    return process


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("no pipe")
    return pipe


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what could not be written any more
            _pipe(pipe).close()


def serve() -> None:
    """Prepare the batches that come on standard input until it ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    known = _KnownContents()
    with suppress(EOFError, BrokenPipeError):
        while True:
            batch = cast("list[Job]", pickle.load(source))  # noqa: S301 - our caller wrote it
            _send(_prepare(batch, known), target)


def _send(prepared: Prepared, target: IO[bytes]) -> None:
    """Write what came of some jobs, and let go of each table once it is written.

    First all but the tables, then each table in the order of the schema: a record batch,
    None where it is empty.
    """
    rows = prepared.rows
    _write(replace(prepared, rows=RowBatch({}, {}, rows.counts)), target)
    tables = deque([*rows.nodes.values(), *rows.relationships.values()])
    if sum(table.nbytes for table in tables) > _MANY_BYTES:
        trim_memory()  # of texts and records, before there is a copy of each table
    del prepared, rows
    while tables:
        table = tables.popleft()
        _write(table.to_batches()[0].serialize() if table.num_rows else None, target)
    target.flush()


def _write(item: object, target: IO[bytes]) -> None:
    pickle.dump(item, target, protocol=pickle.HIGHEST_PROTOCOL)


def _receive(source: IO[bytes]) -> Prepared:
    prepared = cast("Prepared", pickle.load(source))  # noqa: S301 - ours
    nodes, relationships = (
        {name: _receive_table(schema, source) for name, schema in columns.items()}
        for columns in (NODE_COLUMNS, RELATIONSHIP_COLUMNS)
    )
    return replace(prepared, rows=RowBatch(nodes, relationships, prepared.rows.counts))


def _receive_table(schema: pa.Schema, source: IO[bytes]) -> pa.Table:
    buffer = cast("pa.Buffer | None", pickle.load(source))  # noqa: S301 - ours
    if buffer is None:
        return schema.empty_table()
    return pa.Table.from_batches([pa.ipc.read_record_batch(buffer, schema)])
