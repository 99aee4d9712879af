# ruff: noqa: D102  the protocols in engine.py document the methods
"""Load compilations into Neo4j in parallel with other loads; each becomes visible at once.

A batch of compilations goes through these transactions:

    1. claim      its compilations, as `Loading` nodes; those of another load are left out
    2. clear      relationships and parts that are replaced or were left by a crash, a few
                  thousand at a time
    3. merge      the shared nodes, sorted, with the relationships that start at them
    4. chunks     parts and their relationships; repeated from 3 if a shared node was removed
    5. describe   the properties of the compilations
    6. complete   `Loading` becomes `Compilation`, with COMPILED and OF_MODULE

`transactions` describes how loads detect each other.
"""

import contextlib
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from neo4j.exceptions import (
    ClientError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from xlagraph.graph.engine import Load, WrittenKeys
from xlagraph.graph.errors import GraphBusy, GraphUnreachable, GraphUnwritable
from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.neo4j.batch_writer import BatchWriter
from xlagraph.graph.neo4j.chunks import CompilationBatch
from xlagraph.graph.neo4j.connections import ServerDatabase
from xlagraph.graph.neo4j.removal import Removal
from xlagraph.graph.neo4j.transactions import (
    SERVER_ERRORS,
    LoadState,
    OutOfMemory,
    Transactions,
)
from xlagraph.graph.row_tables import CompilationRows
from xlagraph.graph.statement_files import load_statement

_COUNT_CONSTRAINTS: Final = load_statement(__file__, "count-constraints")
_AWAIT_INDEXES: Final = load_statement(__file__, "await-indexes")
_FAILED_INDEXES: Final = load_statement(__file__, "failed-indexes")
_SET_TAGS: Final = load_statement(__file__, "set-tags")
_SET_SNAPSHOTS: Final = load_statement(__file__, "set-snapshots")

BATCH_ROWS: Final = 20_000
"""Rows of the compilations that are collected for one batch."""

WORKERS: Final = 2
_REPORT_SECONDS: Final = 0.2
HEARTBEAT_SECONDS: Final = 10.0

_LOOK_SECONDS: Final = 0.2
"""Seconds between two checks of what another load holds."""


@contextlib.contextmanager
def loading(database: ServerDatabase, notify: Callable[[str], None]) -> Iterator["Neo4jLoad"]:
    """Run a load; compilations that were not completed are removed at its end."""
    load = Neo4jLoad(database, notify)
    try:
        load.begin()
        yield load
        load.finish()
    except (ServiceUnavailable, SessionExpired, GraphUnreachable):
        # this load has waited long enough for the server; the next load cleans up
        raise
    except BaseException as error:
        load.discard()
        if isinstance(error, OutOfMemory):
            raise GraphUnwritable(f"the server has too little memory: {error}") from error
        raise
    finally:
        load.release()


class Neo4jLoad(Load):
    """A load that collects compilations into batches, which its workers write."""

    def __init__(self, database: ServerDatabase, notify: Callable[[str], None]) -> None:
        self._state = LoadState(uuid.uuid4().hex, database)
        self._notify = notify
        self._waiting: list[CompilationRows] = []
        self._waiting_rows = 0
        self._handed_over_rows = 0
        self._report: Callable[[float], None] | None = None
        self._reported_rows = 0
        self._written = WrittenKeys()
        self._batches: queue.SimpleQueue[CompilationBatch | None] = queue.SimpleQueue()
        """Batches to write; a worker ends at None."""
        self._slot = threading.Semaphore()
        """Taken by the batch that waits for a worker."""
        self._workers: list[threading.Thread] = []
        self._failure: BaseException | None = None
        self._is_over = threading.Event()
        self._own = Transactions(self._state)
        self._removal = Removal(self._own)

    # methods of the protocol

    def watch(self, report: Callable[[float], None]) -> None:
        self._report = report
        report(0.0)

    def write(self, rows: CompilationRows) -> None:
        self._raise_failure()
        self._written.add(rows.origins)
        self._waiting.append(rows)
        self._waiting_rows += rows.count()
        self._handed_over_rows += rows.count()
        if self._waiting_rows >= BATCH_ROWS:
            self._send()

    def remove(self, compilation: str) -> None:
        self._raise_failure()
        self._written.check_removal(compilation)
        self._finish_writing()
        self._removal.remove(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._raise_failure()
        self._own.write(_SET_TAGS, run=run, tags=list(tags))

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        self._raise_failure()
        self._own.write(_SET_SNAPSHOTS, run=run, snapshots=list(snapshots))

    # steps of a load

    def begin(self) -> None:
        """Prepare the database, register the load, and remove what crashed loads left."""
        self._prepare()
        self._own.register()
        threading.Thread(
            target=self._send_heartbeats, name="xlagraph-heartbeat", daemon=True
        ).start()
        self._removal.clear_stale_loads()

    def finish(self) -> None:
        """Write the collected rows, wait for other loads, and unregister."""
        self._finish_writing()
        for name in sorted(self._state.dropped_indexes):
            self._notify(
                f"the index {name} is dropped: Neo4j indexes strings up to 8 kB, and one is longer;"
                " lookups by it read all nodes"
            )
        with contextlib.suppress(*SERVER_ERRORS):  # everything is written; the next load cleans up
            self._own.unregister()

    def discard(self) -> None:
        """Remove incomplete compilations, if the server still answers, and unregister."""
        self._state.given_up.set()
        self._stop_workers()
        with contextlib.suppress(*SERVER_ERRORS, GraphBusy):
            self._removal.discard_incomplete()
            self._own.unregister()

    def release(self) -> None:
        """Stop the heartbeats, and the workers without waiting for them."""
        self._is_over.set()
        self._state.given_up.set()
        self._dismiss_workers()

    def _finish_writing(self) -> None:
        """Wait until this load or others have completed all compilations."""
        if self._waiting:
            self._send()
        self._dismiss_workers()
        for thread in self._workers:
            while thread.is_alive():
                thread.join(_REPORT_SECONDS)
                self._report_written()
        self._raise_failure()
        self._workers.clear()
        while self._state.held_elsewhere:
            self._await_other(min(self._state.held_elsewhere))

    def _send(self) -> None:
        batch = CompilationBatch(CompilationRows.joined(self._waiting))
        self._waiting, self._waiting_rows = [], 0
        if len(self._workers) < WORKERS:
            transactions = Transactions(self._state, str(len(self._workers)))
            thread = threading.Thread(
                target=self._work, args=(transactions,), name="xlagraph-load", daemon=True
            )
            thread.start()
            self._workers.append(thread)
        while not self._slot.acquire(timeout=_REPORT_SECONDS):
            self._raise_failure()
            self._report_written()
        self._batches.put(batch)

    def _report_written(self) -> None:
        rows = self._state.written_rows.rows
        if self._report is not None and rows > self._reported_rows:
            self._reported_rows = rows
            self._report(rows / self._handed_over_rows)

    def _work(self, transactions: Transactions) -> None:
        try:
            transactions.register()
            writer = BatchWriter(transactions)
            while (batch := self._batches.get()) is not None:
                self._slot.release()
                if not self._state.given_up.is_set():
                    writer.write(batch)
        except BaseException as error:  # noqa: BLE001  raised again in the thread that uses the load
            self._failure = self._failure or error
            self._state.given_up.set()

    def _dismiss_workers(self) -> None:
        for _ in self._workers:
            self._batches.put(None)

    def _stop_workers(self) -> None:
        self._dismiss_workers()
        for thread in self._workers:
            thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _prepare(self) -> None:
        """Create constraints and indexes before the first write to this database."""
        wanted = schema_statements.constraints()
        # a graph imported from an export has no constraints yet
        if self._own.read_column(int, _COUNT_CONSTRAINTS)[0] >= len(wanted):
            return
        for statement in (*schema_statements.indexes(), *wanted):
            try:
                self._own.write(statement)
            except ClientError as error:  # another load may create it at the same time
                if "AlreadyExists" not in (error.code or ""):
                    raise
        try:
            self._own.write(_AWAIT_INDEXES)
        except Neo4jError:
            failed = self._own.read_column(str, _FAILED_INDEXES)
            if not failed:
                raise
            for name in failed:  # imported strings are too long for it
                self._state.dropped_indexes.add(name)
                self._own.write(schema_statements.drop_index(name))

    def _send_heartbeats(self) -> None:
        heartbeat = Transactions(self._state)  # `self._own` may be busy
        while not self._is_over.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(*SERVER_ERRORS):
                heartbeat.send_heartbeat()

    def _await_other(self, key: str) -> None:
        """Wait until another load has completed what it holds; GraphBusy if it gave up."""
        was_notified = False
        while True:
            found = self._own.state_of(key)
            if found.is_complete:
                self._state.held_elsewhere.discard(key)
                return
            if found.load is None or found.load in self._own.stale_loads():
                raise GraphBusy(
                    f"{key} was being loaded by another process, which did not complete it: "
                    "ingest it again"
                )
            if not was_notified:
                self._notify(f"{key} is being loaded by another process; waiting for it")
                was_notified = True
            time.sleep(_LOOK_SECONDS)
