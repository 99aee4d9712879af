"""Writes batches of compilations into Neo4j, through the steps listed in `load`."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal

import neo4j

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j import statements
from xlagraph.graph.neo4j.chunks import Batch, Parameters, key_pairs
from xlagraph.graph.neo4j.removal import Removal
from xlagraph.graph.neo4j.transactions import OutOfMemory, Transactions, run
from xlagraph.graph.rows.tables import keys_of
from xlagraph.graph.schema import BETWEEN_SHARED

_REPEATS: Final = 20
_CHUNK: Final = statements.chunk()
_NOTHING: Final[Mapping[str, Collection[str]]] = {node.label: () for node in statements.MERGED}

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
        run(tx, statements.LOCK_KEYS, keys=keys).consume()
        run(tx, statements.LOCK_INCOMPLETE, keys=keys).consume()
        complete = dict(run(tx, statements.COMPLETE_DIGESTS, keys=keys).values())
        statuses: dict[str, _ClaimStatus] = {
            key: "stays" if digest is not None and digest == digests[key] else "ours"
            for key, digest in complete.items()
        }
        replaced = sorted(key for key, status in statuses.items() if status == "ours")
        abandoned = []
        for key, state, load, lives in run(tx, statements.HOLDERS, keys=keys).values():
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
            run(tx, statements.DELETE_UNCLAIMED, keys=incomplete).consume()
        if abandoned:
            run(tx, statements.CLAIM_INCOMPLETE, keys=abandoned, load=own).consume()
        if replaced:
            self._removal.hide(tx, replaced, "loading")
        if new:
            run(tx, statements.CLAIM_NEW, keys=new, load=own).consume()
        return statuses | dict.fromkeys(new, "ours"), replaced + abandoned

    def _ids(self, batch: Batch) -> dict[str, str]:
        """Return by key what the server calls the nodes of the claimed compilations."""
        keys = list(batch.rows.digests)
        found = self._transactions.retried(
            lambda tx: run(tx, statements.CLAIMED_IDS, keys=keys, load=self._state.key).values()
        )
        if len(found) < len(keys):
            raise self._transactions.lease_expired()
        return dict(found)

    def _merge(self, batch: Batch, *, again: bool = False) -> None:
        """Make the shared nodes of a batch that were not seen yet; ``again``: all of them."""
        repeats = 0
        while True:
            rows = self._state.rows.most
            try:
                return self._merge_unknown(batch, _NOTHING if again else self._state.known, rows)
            except OutOfMemory:
                if rows == 1:
                    raise
                self._state.rows.halve(rows)
            except _NotWritten:
                repeats += 1
                if repeats == _REPEATS:
                    raise _deleted_repeatedly() from None
                again = True

    def _merge_unknown(
        self, batch: Batch, known: Mapping[str, Collection[str]], at_once: int
    ) -> None:
        """Make the shared nodes whose keys are not known, then what leaves them."""
        fresh: dict[str, dict[str, list[object]]] = {node.label: {} for node in statements.MERGED}
        for label, rows_by_key in fresh.items():
            table = batch.rows.nodes[label]
            wanted = [index for index, key in enumerate(keys_of(table)) if key not in known[label]]
            if wanted:
                columns = [column.take(wanted).to_pylist() for column in table.columns]
                rows_by_key.update((row[0], list(row)) for row in zip(*columns, strict=True))
        merges = [
            (statements.merge_nodes(node), [row for _, row in sorted(fresh[node.label].items())])
            for node in statements.MERGED
        ]
        for relationship in BETWEEN_SHARED:
            pairs: list[list[object]] = [
                [source, target]
                for source, target in key_pairs(batch.rows.relationships[relationship.name])
                if source in fresh[relationship.source]
            ]
            merges.append((statements.merge_relationships(relationship), pairs))
        for portion in _portions(merges, at_once):
            self._transactions.once(partial(_merge_in, merges=portion))
        for label, rows_by_key in fresh.items():
            self._state.known[label].update(rows_by_key)

    def _write_chunk(self, batch: Batch, ids: Mapping[str, str], start: int) -> int:
        """Write the chunk that begins at an index; return where the next one begins."""
        repeats = 0
        while True:
            rows = self._state.rows.most
            end = batch.chunk_end(start, rows)
            try:
                parameters = batch.parameters(start, end)
                keys = parameters["old_Compilation"]
                parameters["old_Compilation"] = [ids[key] for key in keys]
                self._try_chunk(parameters, batch.relationships(start, end))
            except OutOfMemory:
                if end == start + 1:
                    raise
                self._state.rows.halve(rows)
            except _NotWritten:
                repeats += 1
                if repeats == _REPEATS:
                    raise _deleted_repeatedly() from None
                self._merge(batch, again=True)
            else:
                return end

    def _try_chunk(self, parameters: Parameters, expected: int) -> None:
        """Write a chunk, exactly once; the statement counts it itself."""
        worker, count = self._transactions.key, self._transactions.next_count()

        def write(tx: neo4j.Transaction) -> None:
            written = run(tx, _CHUNK, **parameters, worker=worker, count=count).single()
            if written is None:
                claim = run(tx, statements.COUNTED, key=worker).single()
                if claim is None:
                    raise self._transactions.lease_expired()
                if claim["done"] < count:
                    raise _NotWritten
            elif written["relationships"] != expected:
                raise _NotWritten

        self._transactions.retried(write)

    def _complete(self, batch: Batch) -> None:
        """Make the compilations of a batch visible."""
        rows = {
            row["key"]: row | {"state": "complete"}
            for row in batch.rows.nodes["Compilation"].to_pylist()
        }

        def complete(tx: neo4j.Transaction) -> None:
            held = run(
                tx, statements.SHOW_COMPLETE, keys=sorted(rows), rows=rows, load=self._state.key
            ).single(strict=True)
            if held["held"] < len(rows):
                raise self._transactions.lease_expired()
            for node in statements.MERGED_LAST:
                shared = batch.rows.nodes[node.label].sort_by("key").to_pylist()
                if shared:
                    run(tx, statements.replace_nodes(node), rows=shared).consume()
            for relationship in statements.OF_COMPILATIONS:
                pairs = key_pairs(batch.rows.relationships[relationship.name])
                run(tx, statements.merge_relationships(relationship), rows=pairs).consume()

        self._transactions.once(complete)


def _deleted_repeatedly() -> GraphUnwritable:
    return GraphUnwritable("what a compilation shares with others is deleted again and again")


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
