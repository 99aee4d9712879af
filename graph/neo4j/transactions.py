"""Transactions of a load: each runs exactly once, or raises its error.

A load is a `Load` node with a heartbeat, and one more for each of its workers. Every writing
transaction also writes to its worker's node: it counts the transaction, so that one whose
confirmation was lost is not done twice, and it fails if another process ended the load. The
lease of a load has expired when its process is gone, or its last heartbeat is a minute old.
"""

import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import neo4j
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError

from xlagraph.graph.errors import GraphBusy
from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.neo4j.connections import Outcome, ServerDatabase, call_uninterrupted
from xlagraph.graph.statement_files import load_statement
from xlagraph.runtime.process_identity import has_ended, this_process

_REGISTER_WORKER: Final = load_statement(__file__, "register-worker")
_UNREGISTER_LOAD: Final = load_statement(__file__, "unregister-load")
_SEND_HEARTBEAT: Final = load_statement(__file__, "send-heartbeat")
_OTHER_LOADS: Final = load_statement(__file__, "other-loads")
LOCK_KEYS: Final = load_statement(__file__, "lock-keys")
DELETE_UNCLAIMED: Final = load_statement(__file__, "delete-unclaimed")
_COMPILATION_STATE: Final = load_statement(__file__, "compilation-state")
_COUNT_TRANSACTION: Final = load_statement(__file__, "count-transaction")

_TOO_LONG_FOR_INDEX: Final = re.compile(
    r"Property value is too large to index.*name='(?P<index>xlagraph_\w+)'", re.DOTALL
)
"""Error of the server for an indexed text beyond 8 kB; op names can be that long."""

LEASE_SECONDS: Final = 60.0
RETRY_SECONDS: Final = 120.0
"""Seconds that a load waits for a server that restarts."""

_LAST_RETRY_SECONDS: Final = 5.0
"""Seconds for which an aborted load retries a transaction."""

WRITE_LIMIT: Final = 10_000
"""Nodes and relationships in one transaction; 194,000 took three times as long."""

DELETE_LIMIT: Final = 5_000
"""Nodes that one transaction deletes, with their relationships."""

Work = Callable[[neo4j.Transaction], Outcome]


class OutOfMemory(Exception):
    """The server ran out of memory over a transaction."""


SERVER_ERRORS: Final = (Neo4jError, DriverError, OutOfMemory)
"""Errors that a rejected transaction raises."""


class BatchLimit:
    """The size limit of transactions in a load; it shrinks if the server is out of memory."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()

    def halve(self, tried: int) -> None:
        """Halve the limit, unless another worker has just done so."""
        with self._lock:
            if self.limit == tried:
                self.limit = max(1, tried // 2)


class RowCounter:
    """A count of the rows that the workers of a load have written."""

    def __init__(self) -> None:
        self.rows = 0
        self._lock = threading.Lock()

    def add(self, rows: int) -> None:
        """Add to the count."""
        with self._lock:
            self.rows += rows


@dataclass(frozen=True)
class LoadState:
    """State that the workers of a load share."""

    key: str
    database: ServerDatabase
    known: Mapping[str, set[str]] = field(
        default_factory=lambda: {node.label: set() for node in schema_statements.MERGED}
    )
    """Keys of shared nodes that this load has seen in the graph."""
    held_elsewhere: set[str] = field(default_factory=set)
    """Compilations that other loads were writing when this load reached them."""
    dropped_indexes: set[str] = field(default_factory=set)
    """Indexes that were dropped because a text is too long for them."""
    written_rows: RowCounter = field(default_factory=RowCounter)
    write_limit: BatchLimit = field(default_factory=lambda: BatchLimit(WRITE_LIMIT))
    delete_limit: BatchLimit = field(default_factory=lambda: BatchLimit(DELETE_LIMIT))
    given_up: threading.Event = field(default_factory=threading.Event)
    """Set when the load is aborted: no worker waits for the server any longer."""


class CompilationState(NamedTuple):
    """A compilation's state on the server."""

    is_complete: bool
    load: str | None
    """The load that claims it until it is complete; None if there is none."""


def run_statement(tx: neo4j.Transaction, statement: str, **given: object) -> neo4j.Result:
    """Run a statement; its parameters are one map, see `schema_statements`."""
    return tx.run(statement, given=given)


class Transactions:
    """The transactions of one worker, which a `Load` node represents; the first has no name."""

    def __init__(self, state: LoadState, name: str | None = None) -> None:
        self.state = state
        self.key = state.key if name is None else f"{state.key}/{name}"
        """Key of the `Load` node."""
        self._count = 0
        self._lock = threading.Lock()

    def register(self) -> None:
        """Create the node that represents this worker."""
        self.write(_REGISTER_WORKER, key=self.key, load=self.state.key, process=this_process())

    def unregister(self) -> None:
        """Delete the nodes that represent the load, unless something of it is left."""
        self.write(_UNREGISTER_LOAD, load=self.state.key)

    def send_heartbeat(self) -> None:
        """Renew the lease of this load."""
        self.write(_SEND_HEARTBEAT, key=self.key)

    def stale_loads(self) -> list[str]:
        """Return the loads whose lease has expired."""
        found = self.retried(
            lambda tx: run_statement(tx, _OTHER_LOADS, own=self.state.key).values()
        )
        return [
            str(load)
            for load, process, silent_milliseconds in found
            if silent_milliseconds > 1000 * LEASE_SECONDS or has_ended(str(process))
        ]

    def state_of(self, compilation: str) -> CompilationState:
        """Return a compilation's state, read while its key is locked."""

        def look(tx: neo4j.Transaction) -> CompilationState:
            run_statement(tx, LOCK_KEYS, keys=[compilation]).consume()
            found = run_statement(tx, _COMPILATION_STATE, key=compilation).single(strict=True)
            run_statement(tx, DELETE_UNCLAIMED, keys=[compilation]).consume()
            return CompilationState(*found.values())

        return self.retried(look)

    def write(self, statement: str, **given: object) -> None:
        """Run one statement that may be repeated."""
        self.retried(lambda tx: run_statement(tx, statement, **given).consume())

    def read_column(
        self, kind: Callable[[str], Outcome], statement: str, **given: object
    ) -> list[Outcome]:
        """Return the first column of a statement, with its cells converted to one kind."""
        found = self.retried(lambda tx: run_statement(tx, statement, **given).value())
        return list(map(kind, found))

    def once(self, work: "Work[Outcome]") -> Outcome | None:
        """Run work in a transaction exactly once.

        Return None if the transaction was already committed and only its confirmation was lost.
        """
        count = self.next_count()

        def counted(tx: neo4j.Transaction) -> Outcome | None:
            claim = run_statement(tx, _COUNT_TRANSACTION, key=self.key, count=count).single()
            if claim is None:
                raise self.lease_expired()
            return None if claim["counted"] >= count else work(tx)

        return self.retried(counted)

    def next_count(self) -> int:
        """Return the number of the next transaction that counts itself."""
        self._count += 1
        return self._count

    def retried(self, work: "Work[Outcome]") -> Outcome:
        """Run a transaction and repeat it after errors that may be temporary.

        Not left to the driver: it would repeat for minutes what is too large for the server,
        and gives up where a commit was not confirmed. Work that must not be done twice counts
        itself, see `once`.
        """
        return call_uninterrupted(partial(self._retried, work))

    def _retried(self, work: "Work[Outcome]") -> Outcome:
        began = time.monotonic()
        pause = 0.02
        # one transaction at a time, even if Ctrl-C ended the wait for the previous one
        with self._lock:
            while True:
                try:
                    return self._transact(work)
                except (Neo4jError, DriverError) as error:
                    code = (error.code if isinstance(error, Neo4jError) else None) or ""
                    if "OutOfMemory" in code:
                        raise OutOfMemory(str(error)) from error
                    if too_long := _TOO_LONG_FOR_INDEX.search(str(error)):
                        self._drop_index(too_long["index"])
                        continue
                    may_succeed = (
                        error.is_retryable()
                        or isinstance(error, IncompleteCommit)
                        # another load deleted the node as an orphan before it was locked
                        or "EntityNotFound" in code
                    )
                    is_given_up = self.state.given_up.is_set()
                    retry_seconds = _LAST_RETRY_SECONDS if is_given_up else RETRY_SECONDS
                    if not may_succeed or time.monotonic() > began + retry_seconds:
                        raise
                time.sleep(random.uniform(0, pause))  # noqa: S311  spreads the retries
                pause = min(2 * pause, 2.0)

    def _drop_index(self, name: str) -> None:
        """Drop an index whose property has a value that is too long for it."""
        self.state.dropped_indexes.add(name)
        with self.state.database.session() as session:
            session.run(schema_statements.drop_index(name)).consume()

    def _transact(self, work: "Work[Outcome]") -> Outcome:
        with (
            self.state.database.session() as session,
            session.begin_transaction() as transaction,
        ):
            done = work(transaction)
            transaction.commit()
            return done

    def lease_expired(self) -> GraphBusy:
        """Return the error for a load that another process ended."""
        return GraphBusy(
            "the lease of this load expired and another process removed what it had not completed: "
            "ingest again"
        )
