# ruff: noqa: D102  what the methods do is said in engine.py
"""Loads compilations into Neo4j beside other loads, so that each becomes visible at once.

A batch of compilations goes through these transactions:

    1. claim      its Compilation nodes, `state: 'loading'`; what another load holds is left
    2. clear      the parts of what is replaced or was left by a crash, a few thousand at a time
    3. merge      the shared nodes, sorted, with what leaves them
    4. chunks     parts and their relationships; repeated from 3 if a shared node is gone
    5. complete   `state: 'complete'`, COMPILED and OF_MODULE

How loads know of each other is told in `neo4j_transactions`.
"""

import contextlib
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import neo4j
from neo4j.exceptions import (
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from xlagraph.graph.errors import GraphBusy, GraphUnreachable, GraphUnwritable
from xlagraph.graph.neo4j import statements
from xlagraph.graph.neo4j.chunks import Batch
from xlagraph.graph.neo4j.transactions import LoadState, OutOfMemory
from xlagraph.graph.neo4j.worker import Worker
from xlagraph.graph.rows.tables import CompilationRows, RowBatch
from xlagraph.graph.schema import VERSION

BATCH_ROWS: Final = 20_000
"""Compilations are gathered until they have so many rows together."""

WORKERS: Final = 2
HEARTBEAT_SECONDS: Final = 10.0


@contextlib.contextmanager
def loading(
    driver: neo4j.Driver, database: str, notify: Callable[[str], None]
) -> Iterator["Neo4jLoad"]:
    """Begin a load, and end it; what was not completed is taken away again."""
    load = Neo4jLoad(driver, database, notify)
    try:
        load.begin()
        yield load
        load.finish()
    except (ServiceUnavailable, SessionExpired, GraphUnreachable):
        # the next load clears: this one has waited long enough for the server
        raise
    except BaseException as error:
        load.take_back()
        if isinstance(error, OutOfMemory):
            raise GraphUnwritable(f"the server has too little memory: {error}") from error
        raise
    finally:
        load.release()


class Neo4jLoad:
    """One load: it gathers compilations into batches, which its workers write."""

    def __init__(self, driver: neo4j.Driver, database: str, notify: Callable[[str], None]) -> None:
        self._state = LoadState(uuid.uuid4().hex, driver, database)
        self._notify = notify
        self._waiting: list[CompilationRows] = []
        self._waiting_rows = 0
        self._written: set[str] = set()
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        """What is to be written; a worker ends at None."""
        self._place = threading.Semaphore()
        """Taken by the batch that waits for a worker."""
        self._workers: list[threading.Thread] = []
        self._failure: BaseException | None = None
        self._is_over = threading.Event()
        self._own = Worker(self._state)

    # what the load is told

    def expect_rows(self) -> None:
        pass  # the server is ready

    def write(self, rows: CompilationRows) -> None:
        self._raise_failure()
        if rows.compilation in self._written:
            raise ValueError(f"{rows.compilation} is written twice in one load")
        self._written.add(rows.compilation)
        self._waiting.append(rows)
        self._waiting_rows += rows.count()
        if self._waiting_rows >= BATCH_ROWS:
            self._send()

    def write_batch(self, batch: RowBatch) -> None:
        for rows in batch.split():
            self.write(rows)

    def remove(self, compilation: str) -> None:
        self._raise_failure()
        if compilation in self._written:
            raise ValueError(f"{compilation} is removed after it was written")
        self._own.remove(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._raise_failure()
        self._own.tag(run, tags)

    # its course

    def begin(self) -> None:
        """Make the database ready, register, and clear what crashed loads left."""
        self._prepare()
        self._own.register()
        threading.Thread(
            target=self._send_heartbeats, name="xlagraph-heartbeat", daemon=True
        ).start()
        self._own.clear_stale_loads()

    def finish(self) -> None:
        """Write what waits, see to it that what other loads hold is there, and sign off."""
        if self._waiting:
            self._send()
        self._stop_workers()
        self._raise_failure()
        for key in sorted(self._state.held_elsewhere):
            self._await_other(key)
        with contextlib.suppress(Neo4jError, DriverError):  # all is there; the next load clears
            self._own.sign_off()

    def take_back(self) -> None:
        """Take back what is not complete, as far as the server still answers, and sign off."""
        self._state.given_up.set()
        self._stop_workers()
        with contextlib.suppress(Neo4jError, DriverError, OutOfMemory, GraphBusy):
            self._own.take_back()
            self._own.sign_off()

    def release(self) -> None:
        """Stop the heart, and the workers without waiting for them."""
        self._is_over.set()
        self._state.given_up.set()
        self._dismiss_workers()

    def _send(self) -> None:
        batch = Batch(self._waiting)
        self._waiting, self._waiting_rows = [], 0
        if len(self._workers) < WORKERS:
            worker = Worker(self._state, str(len(self._workers)))
            thread = threading.Thread(
                target=self._work, args=(worker,), name="xlagraph-load", daemon=True
            )
            thread.start()
            self._workers.append(thread)
        while not self._place.acquire(timeout=1):
            self._raise_failure()
        self._batches.put(batch)

    def _work(self, worker: Worker) -> None:
        try:
            worker.register()
            while (batch := self._batches.get()) is not None:
                self._place.release()
                if not self._state.given_up.is_set():
                    worker.write(batch)
        except BaseException as error:  # noqa: BLE001  raised again where the load is used
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
        """Make constraints and indexes, before the first write to this database."""
        run = self._own.retried
        ready = run(
            lambda tx: tx.run(
                "MATCH (s:Schema {key: 'xlagraph'}) RETURN s.version AS version"
            ).single()
        )
        # a graph that was imported from an export has the node, but no constraint yet
        found = run(
            lambda tx: tx.run(
                "SHOW INDEXES YIELD name WHERE name STARTS WITH 'xlagraph_' RETURN count(*) AS made"
            ).single(strict=True)
        )
        if ready is not None and found["made"] >= len(statements.constraints()):
            return
        for text in statements.constraints():
            try:
                run(partial(_run, text=text))
            except ClientError as error:  # several loads may begin at once
                if "AlreadyExists" not in (error.code or ""):
                    raise
        run(partial(_run, text="CALL db.awaitIndexes(300)"))
        run(
            lambda tx: tx.run(
                "MERGE (s:Schema {key: 'xlagraph'}) ON CREATE SET s.version = $version",
                version=VERSION,
            ).consume()
        )

    def _send_heartbeats(self) -> None:
        heart = Worker(self._state)  # the other may be busy
        while not self._is_over.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(Neo4jError, DriverError):
                heart.send_heartbeat()

    def _await_other(self, key: str) -> None:
        """Wait until another load has completed what it holds; GraphBusy if it gave up."""
        told = False
        while True:
            found = self._own.state_of(key)
            if found is not None and found[0] == "complete":
                return
            if found is None or found[1] in self._own.stale_loads():
                raise GraphBusy(
                    f"{key} was being loaded by another process, which did not complete it: "
                    "ingest it again"
                )
            if not told:
                self._notify(f"{key} is being loaded by another process; waiting for it")
                told = True
            time.sleep(0.2)


def _run(tx: neo4j.Transaction, text: str) -> None:
    tx.run(text).consume()
