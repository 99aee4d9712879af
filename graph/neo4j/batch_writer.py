"""Writes batches of compilations into Neo4j, through the steps listed in `load`."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal

import neo4j

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j.chunks import Batch, key_pairs
from xlagraph.graph.neo4j.removal import Removal
from xlagraph.graph.neo4j.schema_statements import (
    COMPILATION_RELATIONSHIPS,
    MERGED,
    REPLACED,
    merge_nodes,
    merge_relationships,
    replace_nodes,
    write_chunk,
)
from xlagraph.graph.neo4j.transactions import OutOfMemory, Transactions, run
from xlagraph.graph.neo4j.uninterrupted_calls import Outcome
from xlagraph.graph.rows.tables import keys_of
from xlagraph.graph.schema_tables import SHARED_RELATIONSHIPS
from xlagraph.graph.statement_files import load_statement

_LOCK_KEYS: Final = load_statement(__file__, "lock-keys")
_LOCK_INCOMPLETE: Final = load_statement(__file__, "lock-incomplete")
_COMPLETE_DIGESTS: Final = load_statement(__file__, "complete-digests")
_HOLDERS: Final = load_statement(__file__, "incomplete-holders")
_DELETE_UNCLAIMED: Final = load_statement(__file__, "delete-unclaimed")
_CLAIM_INCOMPLETE: Final = load_statement(__file__, "claim-incomplete")
_CLAIM_NEW: Final = load_statement(__file__, "claim-new")
_CLAIMED_IDS: Final = load_statement(__file__, "claimed-ids")
_CHUNK: Final = write_chunk()
_COUNTED: Final = load_statement(__file__, "counted-transactions")
_SHOW_COMPLETE: Final = load_statement(__file__, "show-complete")

_REPEATS: Final = 20
_NOTHING: Final[Mapping[str, Collection[str]]] = {node.label: () for node in MERGED}

_ClaimStatus = Literal["ours", "stays", "elsewhere", "wait"]
_Merge = tuple[str, list[list[object]]]
"""A statement, and its rows."""


class _NotWritten(Exception):
    """Something that is looked up was not found; the transaction is rolled back."""


class BatchWriter:
    """Writes one batch after another in the transactions of one worker."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._removal = Removal(transactions)
        self._state = transactions.state

    def write(self, batch: Batch) -> None:
        """Write a batch through all steps; compilations that need not be written are left."""
        left = batch.rows.count()
        for rows in self._written(batch):
            self._state.done.add(rows)
            left -= rows
        self._state.done.add(left)  # shared nodes, and what need not be written

    def _written(self, batch: Batch) -> Iterator[int]:
        """Write a batch, and yield how many rows each chunk had."""
        digests = batch.rows.digests
        statuses = self._claim(digests)
        ours = [key for key in digests if statuses.get(key) == "ours"]
        if not ours:
            return
        if len(ours) < len(digests):
            batch = Batch(batch.rows.of(ours))
        self._merge(batch)
        ids = self._ids(batch)
        start = 0
        while start < batch.length:
            if self._state.given_up.is_set():
                return
            end = self._write_chunk(batch, ids, start)
            yield end - start + batch.relationships(start, end)
            start = end
        self._complete(batch)

    def _claim(self, digests: Mapping[str, str | None]) -> dict[str, _ClaimStatus]:
        """Make compilations ours where they are to be written, and clear what they had before."""
        statuses: dict[str, _ClaimStatus] = {}
        answer_was_lost = False
        while left := sorted(digests.keys() - statuses.keys()):
            if self._state.given_up.is_set():
                break
            claimed = self._transactions.once(partial(self._claim_in, keys=left, digests=digests))
            if claimed is None:
                answer_was_lost = True
                continue
            found, stale = claimed
            if answer_was_lost:
                # it is not known any more which of them had parts
                stale = [key for key, status in found.items() if status == "ours"]
                answer_was_lost = False
            for key in stale:
                self._removal.clear_parts(key)
            statuses |= {key: status for key, status in found.items() if status != "wait"}
            if "wait" in found.values():
                # another load is taking them out; it may have died over that
                self._removal.clear_stale_loads()
                time.sleep(0.1)
        self._state.held_elsewhere.update(
            key for key, status in statuses.items() if status == "elsewhere"
        )
        return statuses

    def _claim_in(
        self,
        tx: neo4j.Transaction,
        keys: list[str],
        digests: Mapping[str, str | None],
    ) -> tuple[dict[str, _ClaimStatus], list[str]]:
        """Return the claim status of each compilation, and of which the parts are stale."""
        own = self._state.key
        run(tx, _LOCK_KEYS, keys=keys).consume()
        run(tx, _LOCK_INCOMPLETE, keys=keys).consume()
        complete = dict(run(tx, _COMPLETE_DIGESTS, keys=keys).values())
        statuses: dict[str, _ClaimStatus] = {
            key: "stays" if digest is not None and digest == digests[key] else "ours"
            for key, digest in complete.items()
        }
        replaced = sorted(key for key, status in statuses.items() if status == "ours")
        abandoned = []
        for key, state, load, lives in run(tx, _HOLDERS, keys=keys).values():
            if load == own and state == "loading":
                statuses[key] = "ours"
            elif not lives:
                statuses[key] = "ours"
                abandoned.append(key)
            else:
                statuses[key] = "wait" if state == "removing" else "elsewhere"
        incomplete = sorted(statuses.keys() - complete.keys())
        new = sorted(set(keys) - statuses.keys())
        if incomplete:
            run(tx, _DELETE_UNCLAIMED, keys=incomplete).consume()
        if abandoned:
            run(tx, _CLAIM_INCOMPLETE, keys=abandoned, load=own).consume()
        if replaced:
            self._removal.hide(tx, replaced, "loading")
        if new:
            run(tx, _CLAIM_NEW, keys=new, load=own).consume()
        return statuses | dict.fromkeys(new, "ours"), replaced + abandoned

    def _ids(self, batch: Batch) -> dict[str, str]:
        """Return by key what the server calls the nodes of the claimed compilations."""
        keys = list(batch.rows.digests)
        found = self._transactions.retried(
            lambda tx: run(tx, _CLAIMED_IDS, keys=keys, load=self._state.key).values()
        )
        if len(found) < len(keys):
            raise self._transactions.lease_expired()
        return dict(found)

    def _merge(self, batch: Batch) -> None:
        """Make the shared nodes of a batch that were not seen yet."""
        self._repeated(
            partial(self._merge_unknown, batch, self._state.known),
            after_miss=partial(self._merge_all, batch),
        )

    def _merge_all(self, batch: Batch) -> None:
        """Make the shared nodes of a batch that are not there, seen or not."""
        self._repeated(partial(self._merge_unknown, batch, _NOTHING), after_miss=lambda: None)

    def _repeated(
        self,
        write: Callable[[int], Outcome],
        *,
        after_miss: Callable[[], None],
        is_least: Callable[[int], bool] = lambda rows: rows == 1,
    ) -> Outcome:
        """Write so many rows in a transaction as it may have; less where memory is short.

        ``after_miss`` is called where something that is looked up was deleted meanwhile;
        ``is_least`` is asked whether so few rows cannot be divided further.
        """
        misses = 0
        while True:
            at_once = self._state.rows.most
            try:
                return write(at_once)
            except OutOfMemory:
                if is_least(at_once):
                    raise
                self._state.rows.halve(at_once)
            except _NotWritten:
                misses += 1
                if misses == _REPEATS:
                    raise GraphUnwritable(
                        "what a compilation shares with others is deleted again and again"
                    ) from None
                after_miss()

    def _merge_unknown(
        self, batch: Batch, known: Mapping[str, Collection[str]], at_once: int
    ) -> None:
        """Make the shared nodes whose keys are not known, then what leaves them."""
        fresh: dict[str, dict[str, list[object]]] = {node.label: {} for node in MERGED}
        for label, rows_by_key in fresh.items():
            table = batch.rows.nodes[label]
            wanted = [index for index, key in enumerate(keys_of(table)) if key not in known[label]]
            if wanted:
                columns = [column.take(wanted).to_pylist() for column in table.columns]
                rows_by_key.update((row[0], list(row)) for row in zip(*columns, strict=True))
        merges = [
            (merge_nodes(node), [row for _, row in sorted(fresh[node.label].items())])
            for node in MERGED
        ]
        for relationship in SHARED_RELATIONSHIPS:
            pairs: list[list[object]] = [
                [source, target]
                for source, target in key_pairs(batch.rows.relationships[relationship.name])
                if source in fresh[relationship.source]
            ]
            merges.append((merge_relationships(relationship), pairs))
        for portion in _portions(merges, at_once):
            self._transactions.once(partial(_merge_in, merges=portion))
        for label, rows_by_key in fresh.items():
            self._state.known[label].update(rows_by_key)

    def _write_chunk(self, batch: Batch, ids: Mapping[str, str], start: int) -> int:
        """Write the chunk that begins at an index; return where the next one begins."""
        return self._repeated(
            partial(self._try_chunk, batch, ids, start),
            after_miss=partial(self._merge_all, batch),
            is_least=lambda rows: batch.chunk_end(start, rows) == start + 1,
        )

    def _try_chunk(self, batch: Batch, ids: Mapping[str, str], start: int, at_once: int) -> int:
        """Write a chunk, exactly once; the statement counts it itself."""
        end = batch.chunk_end(start, at_once)
        expected = batch.relationships(start, end)
        parameters = batch.parameters(start, end)
        parameters["old_Compilation"] = [ids[key] for key in parameters["old_Compilation"]]
        worker, count = self._transactions.key, self._transactions.next_count()

        def write(tx: neo4j.Transaction) -> None:
            written = run(tx, _CHUNK, **parameters, worker=worker, count=count).single()
            if written is None:
                claim = run(tx, _COUNTED, key=worker).single()
                if claim is None:
                    raise self._transactions.lease_expired()
                if claim["done"] < count:
                    raise _NotWritten
            elif written["relationships"] != expected:
                raise _NotWritten

        self._transactions.retried(write)
        return end

    def _complete(self, batch: Batch) -> None:
        """Make the compilations of a batch visible."""
        rows = {
            row["key"]: row | {"state": "complete"}
            for row in batch.rows.nodes["Compilation"].to_pylist()
        }

        def complete(tx: neo4j.Transaction) -> None:
            held = run(
                tx, _SHOW_COMPLETE, keys=sorted(rows), rows=rows, load=self._state.key
            ).single(strict=True)
            if held["held"] < len(rows):
                raise self._transactions.lease_expired()
            for node in REPLACED:
                shared = batch.rows.nodes[node.label].sort_by("key").to_pylist()
                if shared:
                    run(tx, replace_nodes(node), rows=shared).consume()
            for relationship in COMPILATION_RELATIONSHIPS:
                pairs = key_pairs(batch.rows.relationships[relationship.name])
                run(tx, merge_relationships(relationship), rows=pairs).consume()

        self._transactions.once(complete)


def _portions(merges: Sequence[_Merge], at_once: int) -> Iterator[list[_Merge]]:
    """Cut statements with their rows into transactions of so many rows at most."""
    portion: list[_Merge] = []
    room = at_once
    for text, rows in merges:
        first = 0
        while first < len(rows):
            some = rows[first : first + room]
            portion.append((text, some))
            first += len(some)
            room -= len(some)
            if not room:
                yield portion
                portion, room = [], at_once
    if portion:
        yield portion


def _merge_in(tx: neo4j.Transaction, merges: Sequence[_Merge]) -> None:
    for text, rows in merges:
        merged = run(tx, text, rows=rows).single(strict=True)
        if merged["merged"] < len(rows):
            raise _NotWritten
