"""Writes batches of compilations into Neo4j, through the steps listed in `load`."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeVar

import neo4j

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.neo4j.chunks import CompilationBatch, key_pairs
from xlagraph.graph.neo4j.removal import Removal
from xlagraph.graph.neo4j.transactions import (
    DELETE_UNCLAIMED,
    LOCK_KEYS,
    OutOfMemory,
    Transactions,
    run_statement,
)
from xlagraph.graph.row_tables import Origin, keys_of
from xlagraph.graph.schema import SHARED_RELATIONSHIPS
from xlagraph.graph.statement_files import load_statement

_LOCK_CLAIMS: Final = load_statement(__file__, "lock-claims")
_COMPLETE_ORIGINS: Final = load_statement(__file__, "complete-origins")
_CLAIMS: Final = load_statement(__file__, "claims")
_CLAIM_INCOMPLETE: Final = load_statement(__file__, "claim-incomplete")
_CLAIM_NEW: Final = load_statement(__file__, "claim-new")
_INCOMPLETE_ELEMENT_IDS: Final = load_statement(__file__, "incomplete-element-ids")
_WRITE_CHUNK: Final = schema_statements.write_chunk()
_COUNTED_TRANSACTIONS: Final = load_statement(__file__, "counted-transactions")
_DESCRIBE_INCOMPLETE: Final = load_statement(__file__, "describe-incomplete")
_RELEASE_CLAIMS: Final = load_statement(__file__, "release-claims")
_SHOW_COMPLETE: Final = load_statement(__file__, "show-complete")

_MAX_MISSES: Final = 20
_DELETED_AGAIN: Final = "what a compilation shares with others is deleted again and again"
_NOTHING: Final[Mapping[str, Collection[str]]] = {
    node.label: () for node in schema_statements.MERGED
}

_ClaimStatus = Literal["claimed", "unchanged", "held", "being removed"]
_Result = TypeVar("_Result")
_Merge = tuple[str, list[list[object]]]
"""A statement and its rows."""


class _LookupMissed(Exception):
    """A node that a chunk refers to was not found; the transaction is rolled back."""


class BatchWriter:
    """Writes one batch after another in the transactions of one worker."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._removal = Removal(transactions)
        self._state = transactions.state

    def write(self, batch: CompilationBatch) -> None:
        """Write a batch through all steps, without compilations that are already stored."""
        left = batch.rows.count()
        for rows in self._write_chunks(batch):
            self._state.written_rows.add(rows)
            left -= rows
        self._state.written_rows.add(left)  # shared nodes and skipped rows

    def _write_chunks(self, batch: CompilationBatch) -> Iterator[int]:
        """Write a batch and yield the number of rows of each chunk."""
        origins = batch.rows.origins
        statuses = self._claim(origins)
        claimed = [key for key in origins if statuses.get(key) == "claimed"]
        if not claimed:
            return
        if len(claimed) < len(origins):
            batch = CompilationBatch(batch.rows.of(claimed))
        self._merge(batch, self._state.known)
        ids = self._element_ids(batch)
        start = 0
        while start < batch.length:
            if self._state.given_up.is_set():
                return
            end = self._write_chunk(batch, ids, start)
            yield end - start + batch.relationships(start, end)
            start = end
        self._complete(batch)

    def _claim(self, origins: Mapping[str, Origin]) -> dict[str, _ClaimStatus]:
        """Claim the compilations to write, and delete their earlier contents."""
        statuses: dict[str, _ClaimStatus] = {}
        answer_was_lost = False
        while left := sorted(origins.keys() - statuses.keys()):
            if self._state.given_up.is_set():
                break
            answer = self._transactions.once(
                partial(self._claim_in_transaction, keys=left, origins=origins)
            )
            if answer is None:
                answer_was_lost = True
                continue
            found, stale = answer
            if answer_was_lost:
                # the lost answer said which of them had parts
                stale = [key for key, status in found.items() if status == "claimed"]
                answer_was_lost = False
            if stale:
                self._removal.detach(stale, keeps_runs=True)
            for key in stale:
                self._removal.clear_parts(key)
            statuses |= {key: status for key, status in found.items() if status != "being removed"}
            if "being removed" in found.values():
                # another load removes them; its lease may have expired
                self._removal.clear_stale_loads()
                time.sleep(0.1)
        self._state.held_elsewhere.update(
            key for key, status in statuses.items() if status == "held"
        )
        return statuses

    def _claim_in_transaction(
        self,
        tx: neo4j.Transaction,
        keys: list[str],
        origins: Mapping[str, Origin],
    ) -> tuple[dict[str, _ClaimStatus], list[str]]:
        """Return the claim status of each compilation, and which ones have stale parts."""
        own = self._state.key
        run_statement(tx, LOCK_KEYS, keys=keys).consume()
        run_statement(tx, _LOCK_CLAIMS, keys=keys).consume()
        complete = {
            key: Origin(*origin)
            for key, *origin in run_statement(tx, _COMPLETE_ORIGINS, keys=keys).values()
        }
        statuses: dict[str, _ClaimStatus] = {
            key: "claimed" if origins[key].replaces(stored) else "unchanged"
            for key, stored in complete.items()
        }
        replaced = sorted(key for key, status in statuses.items() if status == "claimed")
        abandoned = []
        claims = run_statement(tx, _CLAIMS, keys=keys).values()
        for key, purpose, load, load_exists in claims:
            if load == own and purpose == "loading":
                statuses[key] = "claimed"
            elif not load_exists:
                statuses[key] = "claimed"
                abandoned.append(key)
            else:
                statuses[key] = "being removed" if purpose == "removing" else "held"
        incomplete = sorted(statuses.keys() - complete.keys())
        new = sorted(set(keys) - statuses.keys())
        if incomplete:
            run_statement(tx, DELETE_UNCLAIMED, keys=incomplete).consume()
        if abandoned:
            run_statement(tx, _CLAIM_INCOMPLETE, keys=abandoned, load=own).consume()
        if replaced:
            self._removal.hide(tx, replaced, "loading")
        if new:
            run_statement(tx, _CLAIM_NEW, keys=new, load=own).consume()
        return statuses | dict.fromkeys(new, "claimed"), replaced + abandoned

    def _element_ids(self, batch: CompilationBatch) -> dict[str, str]:
        """Return the element ids of the claimed compilations by key."""
        keys = list(batch.rows.origins)
        found = self._transactions.retried(
            lambda tx: run_statement(tx, _INCOMPLETE_ELEMENT_IDS, keys=keys).values()
        )
        if len(found) < len(keys):
            raise self._transactions.lease_expired()
        return dict(found)

    def _merge(self, batch: CompilationBatch, known: Mapping[str, Collection[str]]) -> None:
        """Create the unknown shared nodes of a batch; all of them if a known one was removed."""

        def merge(limit: int, misses: int) -> None:
            self._merge_unknown(batch, _NOTHING if misses else known, limit)

        self._repeated(merge)

    def _repeated(self, write: Callable[[int, int], _Result]) -> _Result:
        """Return what a function writes with the current limit of rows.

        It is called again with half the limit if the server has not enough memory, and with the
        number of misses so far if a shared node was not found.
        """
        misses = 0
        while True:
            limit = self._state.write_limit.limit
            try:
                return write(limit, misses)
            except OutOfMemory:
                if limit == 1:
                    raise
                self._state.write_limit.halve(limit)
            except _LookupMissed:
                misses += 1
                if misses == _MAX_MISSES:
                    raise GraphUnwritable(_DELETED_AGAIN) from None

    def _merge_unknown(
        self, batch: CompilationBatch, known: Mapping[str, Collection[str]], limit: int
    ) -> None:
        """Create the shared nodes with unknown keys, then the relationships that start at them."""
        fresh: dict[str, dict[str, list[object]]] = {
            node.label: {} for node in schema_statements.MERGED
        }
        for label, rows_by_key in fresh.items():
            table = batch.rows.nodes[label]
            wanted = [index for index, key in enumerate(keys_of(table)) if key not in known[label]]
            if wanted:
                columns = [column.take(wanted).to_pylist() for column in table.columns]
                rows_by_key.update((row[0], list(row)) for row in zip(*columns, strict=True))
        merges = [
            (
                schema_statements.merge_nodes(node),
                [row for _, row in sorted(fresh[node.label].items())],
            )
            for node in schema_statements.MERGED
        ]
        for relationship in SHARED_RELATIONSHIPS:
            pairs: list[list[object]] = [
                [source, target]
                for source, target in key_pairs(batch.rows.relationships[relationship.name])
                if source in fresh[relationship.source]
            ]
            merges.append((schema_statements.merge_relationships(relationship), pairs))
        for portion in _portions(merges, limit):
            self._transactions.once(partial(_merge_in, merges=portion))
        for label, rows_by_key in fresh.items():
            self._state.known[label].update(rows_by_key)

    def _write_chunk(self, batch: CompilationBatch, ids: Mapping[str, str], start: int) -> int:
        """Write the chunk that begins at an index; return where the next one begins."""

        def write(limit: int, misses: int) -> int:
            if misses:
                self._merge(batch, _NOTHING)
            end = batch.chunk_end(start, limit)
            self._try_chunk(batch, ids, start, end)
            return end

        return self._repeated(write)

    def _try_chunk(
        self, batch: CompilationBatch, ids: Mapping[str, str], start: int, end: int
    ) -> None:
        """Write a chunk, exactly once; the statement counts it itself."""
        expected = batch.relationships(start, end)
        parameters = batch.parameters(start, end)
        parameters["old_Compilation"] = [ids[key] for key in parameters["old_Compilation"]]
        worker, count = self._transactions.key, self._transactions.next_count()

        def write(tx: neo4j.Transaction) -> None:
            written = run_statement(
                tx, _WRITE_CHUNK, **parameters, worker=worker, count=count
            ).single()
            if written is None:
                claim = run_statement(tx, _COUNTED_TRANSACTIONS, key=worker).single()
                if claim is None:
                    raise self._transactions.lease_expired()
                if claim["counted"] < count:
                    raise _LookupMissed
            elif written["relationships"] != expected:
                raise _LookupMissed

        self._transactions.retried(write)

    def _complete(self, batch: CompilationBatch) -> None:
        """Make the compilations of a batch visible after their properties are written."""
        rows = {
            row["key"]: row | {"state": "complete"}
            for row in batch.rows.nodes["Compilation"].to_pylist()
        }
        keys = sorted(rows)

        def describe(tx: neo4j.Transaction) -> None:
            run_statement(tx, _DESCRIBE_INCOMPLETE, keys=keys, rows=rows).consume()

        def complete(tx: neo4j.Transaction) -> None:
            released = run_statement(tx, _RELEASE_CLAIMS, keys=keys, load=self._state.key)
            if released.single(strict=True)["released"] < len(keys):
                raise self._transactions.lease_expired()
            run_statement(tx, _SHOW_COMPLETE, keys=keys).consume()
            for node in schema_statements.REPLACED:
                shared = batch.rows.nodes[node.label].sort_by("key").to_pylist()
                if shared:
                    run_statement(tx, schema_statements.replace_nodes(node), rows=shared).consume()
            for relationship in schema_statements.COMPILATION_RELATIONSHIPS:
                pairs = key_pairs(batch.rows.relationships[relationship.name])
                statement = schema_statements.merge_relationships(relationship)
                run_statement(tx, statement, rows=pairs).consume()

        self._transactions.once(describe)
        self._transactions.once(complete)


def _portions(merges: Sequence[_Merge], limit: int) -> Iterator[list[_Merge]]:
    """Split statements with their rows into transactions of limited size."""
    portion: list[_Merge] = []
    room = limit
    for text, rows in merges:
        first = 0
        while first < len(rows):
            some = rows[first : first + room]
            portion.append((text, some))
            first += len(some)
            room -= len(some)
            if not room:
                yield portion
                portion, room = [], limit
    if portion:
        yield portion


def _merge_in(tx: neo4j.Transaction, merges: Sequence[_Merge]) -> None:
    for text, rows in merges:
        merged = run_statement(tx, text, rows=rows).single(strict=True)
        if merged["merged"] < len(rows):
            raise _LookupMissed
