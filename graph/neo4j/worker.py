"""Takes batches of compilations into Neo4j, through the steps told in `neo4j_load`."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal

import neo4j

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j import statements
from xlagraph.graph.neo4j.chunks import Batch, Parameters, keyed_pairs
from xlagraph.graph.neo4j.removal import Removal
from xlagraph.graph.neo4j.transactions import OutOfMemory
from xlagraph.graph.rows.tables import CompilationRows, keys_of
from xlagraph.graph.schema import BETWEEN_SHARED

_REPEATS: Final = 20
_CHUNK_TEXT: Final = statements.chunk()
_NOTHING: Final[Mapping[str, Collection[str]]] = {node.label: () for node in statements.MERGED}

_ClaimStatus = Literal["ours", "stays", "elsewhere", "wait"]
_Merge = tuple[str, list[list[object]]]
"""A statement, and its rows."""


class _NotWritten(Exception):
    """Something that is looked up was not found; the transaction is rolled back."""


class Worker(Removal):
    """What writes, one batch after another."""

    def write(self, batch: Batch) -> None:
        """Take a batch through all steps; compilations that need not be written are left."""
        statuses = self._claim(batch.compilations)
        ours = [rows for rows in batch.compilations if statuses.get(rows.compilation) == "ours"]
        if not ours:
            return
        if len(ours) < len(batch.compilations):
            batch = Batch(ours)
        self._merge(batch)
        start = 0
        while start < batch.length:
            if self.state.given_up.is_set():
                return
            start = self._write_chunk(batch, start)
        self._complete(batch)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        """Set the tags of a run."""
        self.once(
            lambda tx: tx.run(
                "MATCH (r:Run {key: $run}) SET r.tags = $tags", run=run, tags=list(tags)
            ).consume()
        )

    def _claim(self, compilations: Sequence[CompilationRows]) -> dict[str, _ClaimStatus]:
        """Make compilations ours where they are to be written, and clear what they had before."""
        digests = {
            rows.compilation: rows.nodes["Compilation"].column("sha256")[0].as_py()
            for rows in compilations
        }
        statuses: dict[str, _ClaimStatus] = {}
        answer_was_lost = False
        while left := sorted(digests.keys() - statuses.keys()):
            if self.state.given_up.is_set():
                break
            claimed = self.once(partial(self._claim_in, keys=left, digests=digests))
            if claimed is None:
                answer_was_lost = True
                continue
            found, stale = claimed
            if answer_was_lost:
                # which of them had parts nobody can say any more
                stale = [key for key, status in found.items() if status == "ours"]
                answer_was_lost = False
            for key in stale:
                self.clear_parts(key)
            statuses |= {key: status for key, status in found.items() if status != "wait"}
            if "wait" in found.values():
                # another load is taking them out; it may have died over that
                self.clear_stale_loads()
                time.sleep(0.1)
        self.state.held_elsewhere.update(
            key for key, status in statuses.items() if status == "elsewhere"
        )
        return statuses

    def _claim_in(
        self,
        tx: neo4j.Transaction,
        keys: list[str],
        digests: Mapping[str, str | None],
    ) -> tuple[dict[str, _ClaimStatus], list[str]]:
        """Say what becomes of each compilation, and of which parts must be cleared first."""
        tx.run(
            "UNWIND $keys AS key MERGE (c:Compilation {key: key}) "
            "ON CREATE SET c.state = 'loading', c.load = $load "
            "SET c.key = key",  # locks what was there before
            keys=keys,
            load=self.state.key,
        ).consume()
        found = tx.run(
            "UNWIND $keys AS key MATCH (c:Compilation {key: key}) "
            "RETURN key, c.state AS state, c.load AS load, c.sha256 AS digest, "
            "EXISTS { MATCH (l:Load {key: c.load}) } AS lives",
            keys=keys,
        ).values()
        statuses: dict[str, _ClaimStatus] = {}
        stale: list[str] = []
        for key, state, load, digest, lives in found:
            if load == self.state.key and state == "loading":
                statuses[key] = "ours"
            elif state == "complete" and digest is not None and digest == digests[key]:
                statuses[key] = "stays"
            elif state == "complete" or not lives:
                stale.append(key)
                statuses[key] = "ours"
            else:
                statuses[key] = "wait" if state == "removing" else "elsewhere"
        if stale:
            self.hide(tx, stale, "loading")
        return statuses, stale

    def _merge(self, batch: Batch, *, again: bool = False) -> None:
        """Make the shared nodes of a batch that were not seen yet; ``again``: all of them."""
        repeats = 0
        while True:
            rows = self.state.rows.most
            try:
                return self._merge_unknown(batch, _NOTHING if again else self.state.known, rows)
            except OutOfMemory:
                if rows == 1:
                    raise
                self.state.rows.halve(rows)
            except _NotWritten:
                repeats += 1
                if repeats == _REPEATS:
                    raise _deleted_again() from None
                again = True

    def _merge_unknown(
        self, batch: Batch, known: Mapping[str, Collection[str]], at_once: int
    ) -> None:
        """Make the shared nodes whose keys are not known, then what leaves them."""
        fresh: dict[str, dict[str, list[object]]] = {node.label: {} for node in statements.MERGED}
        for label, rows_by_key in fresh.items():
            for compilation in batch.compilations:
                table = compilation.nodes[label]
                wanted = [
                    place
                    for place, key in enumerate(keys_of(table))
                    if key not in rows_by_key and key not in known[label]
                ]
                if wanted:
                    columns = [column.take(wanted).to_pylist() for column in table.columns]
                    rows_by_key.update((row[0], list(row)) for row in zip(*columns, strict=True))
        merges = [
            (statements.merge_nodes(node), [row for _, row in sorted(fresh[node.label].items())])
            for node in statements.MERGED
        ]
        for item in BETWEEN_SHARED:
            pairs = {
                (source, target)
                for compilation in batch.compilations
                for source, target in keyed_pairs(compilation, item.name, item.source, item.target)
                if source in fresh[item.source]
            }
            merges.append(
                (statements.merge_relationships(item), [list(pair) for pair in sorted(pairs)])
            )
        for portion in _portions(merges, at_once):
            self.once(partial(_merge_in, merges=portion))
        for label, rows_by_key in fresh.items():
            self.state.known[label].update(rows_by_key)

    def _write_chunk(self, batch: Batch, start: int) -> int:
        """Write the chunk that begins at a place in the line; say where the next one begins."""
        repeats = 0
        while True:
            rows = self.state.rows.most
            end = batch.chunk_end(start, rows)
            try:
                self._try_chunk(batch.parameters(start, end), batch.relationships(start, end))
            except OutOfMemory:
                if end == start + 1:
                    raise
                self.state.rows.halve(rows)
            except _NotWritten:
                repeats += 1
                if repeats == _REPEATS:
                    raise _deleted_again() from None
                self._merge(batch, again=True)
            else:
                return end

    def _try_chunk(self, parameters: Parameters, expected: int) -> None:
        """Write a chunk, exactly once; the statement counts it itself."""
        self._count += 1
        count = self._count

        def write(tx: neo4j.Transaction) -> None:
            written = tx.run(_CHUNK_TEXT, parameters, worker=self._key, chunk=count).single()
            if written is None:
                claim = tx.run(
                    "MATCH (l:Load {key: $worker}) RETURN l.chunk AS done", worker=self._key
                ).single()
                if claim is None:
                    raise self.lease_expired()
                if claim["done"] < count:
                    raise _NotWritten
            elif written["relationships"] != expected:
                raise _NotWritten

        self.retried(write)

    def _complete(self, batch: Batch) -> None:
        """Make the compilations of a batch visible."""
        rows = [
            item.nodes["Compilation"].to_pylist()[0] | {"state": "complete"}
            for item in batch.compilations
        ]

        def complete(tx: neo4j.Transaction) -> None:
            held = tx.run(
                "UNWIND $rows AS row MATCH (c:Compilation {key: row.key}) WHERE c.load = $load "
                "SET c = row RETURN count(*) AS held",
                rows=rows,
                load=self.state.key,
            ).single(strict=True)
            if held["held"] < len(rows):
                raise self.lease_expired()
            for node in statements.MERGED_LAST:
                ends = {
                    row["key"]: row
                    for item in batch.compilations
                    for row in item.nodes[node.label].to_pylist()
                }
                if ends:
                    tx.run(
                        f"UNWIND $rows AS row MERGE (n:{node.label} {{key: row.key}}) SET n = row",
                        rows=[ends[key] for key in sorted(ends)],
                    ).consume()
            for item in statements.OF_COMPILATIONS:
                pairs = [
                    pair
                    for compilation in batch.compilations
                    for pair in keyed_pairs(compilation, item.name, item.source, item.target)
                ]
                tx.run(statements.merge_relationships(item), rows=sorted(pairs)).consume()

        self.once(complete)


def _deleted_again() -> GraphUnwritable:
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
        merged = tx.run(text, rows=rows).single(strict=True)
        if merged["merged"] < len(rows):
            raise _NotWritten
