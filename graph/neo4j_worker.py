"""Takes batches of compilations into Neo4j, through the steps told in `neo4j_load`."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal

import neo4j

from xlagraph.graph import neo4j_texts as texts
from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j_chunks import Batch, Parameters, keyed_pairs
from xlagraph.graph.neo4j_removal import Removal
from xlagraph.graph.neo4j_transactions import TooLarge
from xlagraph.graph.rows import CompilationRows, keys_of

_REPEATS: Final = 20
_CHUNK_TEXT: Final = texts.chunk()

_Fate = Literal["ours", "stays", "wait"]


class _NotWritten(Exception):
    """A chunk did not find what it looks up; its transaction is rolled back."""


class Worker(Removal):
    """What writes, one batch after another."""

    def write(self, batch: Batch) -> None:
        """Take a batch through all steps; compilations that need not be written are left."""
        fates = self._claim(batch.compilations)
        if len(fates) < len(batch.compilations) or set(fates.values()) != {"ours"}:
            ours = [rows for rows in batch.compilations if fates.get(rows.compilation) == "ours"]
            if not ours:
                return
            batch = Batch(ours)
        self._merge(batch, again=False)
        for start, end in batch.spans():
            self._write_chunk(batch, start, end)
        self._complete(batch)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        """Set the tags of a run."""
        self.once(
            lambda tx: tx.run(
                "MATCH (r:Run {key: $run}) SET r.tags = $tags", run=run, tags=list(tags)
            ).consume()
        )

    def _claim(self, compilations: Sequence[CompilationRows]) -> dict[str, _Fate]:
        wanted = {
            rows.compilation: rows.nodes["Compilation"].column("sha256")[0].as_py()
            for rows in compilations
        }
        fates: dict[str, _Fate] = {}
        while left := sorted(wanted.keys() - fates.keys()):
            claimed = self.once(partial(self._claim_in, keys=left, digests=wanted))
            if claimed is None:
                # done, but the answer was lost: what is ours carries our mark
                claimed = self.retried(partial(self._claimed, keys=left))
            found, stale = claimed
            fates |= {key: fate for key, fate in found.items() if fate != "wait"}
            for key in stale:
                self.clear_parts(key)
            if len(fates) < len(wanted):
                # another load is taking them out; it may have died over that
                self.clear_dead_loads()
                time.sleep(0.1)
        return fates

    def _claim_in(
        self,
        tx: neo4j.Transaction,
        keys: list[str],
        digests: Mapping[str, str | None],
    ) -> tuple[dict[str, _Fate], list[str]]:
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
        fates: dict[str, _Fate] = {}
        stale: list[str] = []
        for key, state, load, digest, lives in found:
            if load == self.state.key and state == "loading":
                fates[key] = "ours"
            elif state == "complete":
                if digest is not None and digest == digests[key]:
                    fates[key] = "stays"
                else:
                    stale.append(key)
                    fates[key] = "ours"
            elif not lives:
                stale.append(key)
                fates[key] = "ours"
            elif state == "removing":
                fates[key] = "wait"
            else:
                fates[key] = "stays"
                self.state.held_elsewhere.append(key)
        if stale:
            self.hide(tx, stale, "loading")
        return fates, stale

    def _claimed(
        self, tx: neo4j.Transaction, keys: list[str]
    ) -> tuple[dict[str, _Fate], list[str]]:
        found = tx.run(
            "UNWIND $keys AS key MATCH (c:Compilation {key: key}) RETURN key, c.load AS load",
            keys=keys,
        ).values()
        ours = [str(key) for key, load in found if load == self.state.key]
        fates: dict[str, _Fate] = {str(key): "stays" for key, _ in found}
        fates.update(dict.fromkeys(ours, "ours"))
        return fates, ours

    def _merge(self, batch: Batch, *, again: bool) -> None:
        """Make the shared nodes of a batch, with what leaves them; ``again``: all of them."""
        known = self.state.known
        rows: dict[str, dict[str, list[object]]] = {}
        for node in texts.MERGED:
            fresh: dict[str, list[object]] = {}
            for compilation in batch.compilations:
                table = compilation.nodes[node.label]
                keys = keys_of(table)
                wanted = [
                    place
                    for place, key in enumerate(keys)
                    if key not in fresh and (again or key not in known[node.label])
                ]
                if wanted:
                    columns = [column.take(wanted).to_pylist() for column in table.columns]
                    fresh.update({str(row[0]): list(row) for row in zip(*columns, strict=True)})
            if fresh:
                rows[node.label] = fresh
        if not rows:
            return
        between = {
            item.name: sorted(
                {
                    (source, target)
                    for compilation in batch.compilations
                    for source, target in keyed_pairs(
                        compilation, item.name, item.source, item.target
                    )
                    if source in rows.get(item.source, ())
                }
            )
            for item in texts.BETWEEN_SHARED
        }

        def merge(tx: neo4j.Transaction) -> None:
            for node in texts.MERGED:
                if fresh := rows.get(node.label):
                    tx.run(
                        texts.merge_nodes(node), rows=[fresh[key] for key in sorted(fresh)]
                    ).consume()
            for item in texts.BETWEEN_SHARED:
                if pairs := between[item.name]:
                    tx.run(
                        texts.merge_relationships(item), rows=[list(pair) for pair in pairs]
                    ).consume()

        self.once(merge)
        for label, fresh in rows.items():
            known[label].update(fresh)

    def _write_chunk(self, batch: Batch, start: int, end: int) -> None:
        for _ in range(_REPEATS):
            try:
                self._try_chunk(batch.parameters(start, end), batch.relationships(start, end))
            except _NotWritten:
                # a sweep took a shared node between its merge and its use
                self._merge(batch, again=True)
            except TooLarge:
                if end - start == 1:
                    raise
                middle = (start + end) // 2
                self._write_chunk(batch, start, middle)
                self._write_chunk(batch, middle, end)
                return
            else:
                return
        raise GraphUnwritable("what a compilation shares with others is deleted again and again")

    def _try_chunk(self, parameters: Parameters, expected: int) -> None:
        self._count += 1
        count = self._count

        def write(tx: neo4j.Transaction) -> None:
            written = tx.run(_CHUNK_TEXT, parameters, worker=self._key, chunk=count).single()
            if written is None:
                claim = tx.run(
                    "MATCH (l:Load {key: $worker}) RETURN l.chunk AS done", worker=self._key
                ).single()
                if claim is None:
                    raise self.given_up()
                if claim["done"] < count:
                    raise _NotWritten
            elif written["relationships"] != expected:
                raise _NotWritten

        self.retried(write)

    def _complete(self, batch: Batch) -> None:
        rows = [dict(item.nodes["Compilation"].to_pylist()[0]) for item in batch.compilations]
        for row in rows:
            row["state"] = "complete"

        def complete(tx: neo4j.Transaction) -> None:
            held = tx.run(
                "UNWIND $rows AS row MATCH (c:Compilation {key: row.key}) WHERE c.load = $load "
                "SET c = row RETURN count(*) AS held",
                rows=rows,
                load=self.state.key,
            ).single()
            if held is None or held["held"] != len(rows):
                raise self.given_up()
            for label in ("Run", "Module"):
                ends = {
                    str(row["key"]): row
                    for item in batch.compilations
                    for row in item.nodes[label].to_pylist()
                }
                if ends:
                    tx.run(
                        (f"UNWIND $rows AS row MERGE (n:{label} {{key: row.key}}) SET n = row"),
                        rows=[ends[key] for key in sorted(ends)],
                    ).consume()
            for item in texts.OF_COMPILATIONS:
                pairs = [
                    pair
                    for compilation in batch.compilations
                    for pair in keyed_pairs(compilation, item.name, item.source, item.target)
                ]
                tx.run(texts.merge_relationships(item), rows=sorted(pairs)).consume()

        self.once(complete)
