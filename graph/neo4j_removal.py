"""Takes compilations out of Neo4j, and what nothing uses any more, beside other loads.

A shared node is swept in the transaction that takes its last user away: it is write-locked
first, so that nobody can begin to use it before we commit. Who wanted to finds it gone, and
makes it again.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

import neo4j

from xlagraph.graph import neo4j_texts as texts
from xlagraph.graph.neo4j_transactions import TooLarge, Transactions
from xlagraph.graph.schema import SCHEMA

_DELETED_AT_ONCE: Final = 5_000


class Removal(Transactions):
    """What takes away."""

    def remove(self, compilation: str) -> None:
        """Take a complete compilation out."""

        def hide(tx: neo4j.Transaction) -> bool:
            tx.run("MATCH (c:Compilation {key: $key}) SET c.key = $key", key=compilation).consume()
            found = tx.run(
                "MATCH (c:Compilation {key: $key}) RETURN c.state AS state", key=compilation
            ).single()
            if found is None or found["state"] != "complete":
                return False
            self.hide(tx, [compilation], "removing")
            return True

        if self.once(hide) is not False:
            self._drop(compilation)

    def take_back(self) -> None:
        """Remove what this load began and did not complete."""
        self._drop_all_of(self.state.key)

    def clear_dead_loads(self) -> None:
        """Take away what these left."""
        dead = self.dead_loads()
        for load in dead:
            self.clear(load)
        if dead:
            self.sweep_all()

    def clear(self, load: str) -> None:
        """Give another load up, and remove what it did not complete."""
        self.once(
            lambda tx: tx.run(
                "MATCH (l:Load {load: $load}) WHERE l.key <> $load DELETE l", load=load
            ).consume()
        )
        self._drop_all_of(load)
        self.once(lambda tx: tx.run("MATCH (l:Load {key: $load}) DELETE l", load=load).consume())

    def sweep_all(self) -> None:
        """Sweep every shared node that nothing uses: a crash may have come before its first use."""
        for node in texts.SHARED:
            unused = self.retried(partial(_values, text=texts.unused_keys(node.label)))
            for first in range(0, len(unused), _DELETED_AT_ONCE):
                keys = set(unused[first : first + _DELETED_AT_ONCE])
                self.once(partial(_sweep, keys={node.label: keys}))

    def hide(self, tx: neo4j.Transaction, keys: list[str], state: str) -> None:
        """Make compilations invisible and ours; what they led to is swept if unused."""
        led: dict[str, set[str]] = {}
        for item in texts.OF_COMPILATIONS:
            ours, other = ("a", "b") if item.source == "Compilation" else ("b", "a")
            label = item.target if ours == "a" else item.source
            found = tx.run(
                (
                    "UNWIND $keys AS key "
                    f"MATCH (a:{item.source})-[r:{item.name}]->(b:{item.target}) "
                    f"WHERE {ours}.key = key WITH r, {other}.key AS other DELETE r "
                    "RETURN DISTINCT other"
                ),
                keys=keys,
            ).value()
            led.setdefault(label, set()).update(found)
        tx.run(
            "UNWIND $keys AS key MATCH (c:Compilation {key: key}) "
            "SET c.state = $state, c.load = $load",
            keys=keys,
            state=state,
            load=self.state.key,
        ).consume()
        if state == "loading":
            led.pop("Run", None)  # it comes back in a moment, and has its tags
        _sweep(tx, led)

    def clear_parts(self, compilation: str) -> None:
        """Delete the parts of a compilation, some thousand at a time, and what only they used."""
        limit = _DELETED_AT_ONCE
        for node in reversed(texts.PARTS):
            text = texts.delete_parts(node)
            while True:

                def delete(tx: neo4j.Transaction, text: str = text, limit: int = limit) -> int:
                    found = tx.run(text, compilation=compilation, limit=limit).single()
                    if found is None:  # an aggregate has always one row
                        return 0
                    led: dict[str, set[str]] = {}
                    for name in found.keys()[1:]:
                        label = SCHEMA.relationship(name).target
                        led.setdefault(label, set()).update(found[name])
                    _sweep(tx, led)
                    return int(found["deleted"])

                try:
                    deleted = self.once(delete)
                except TooLarge:
                    if limit == 1:
                        raise
                    limit = max(1, limit // 2)
                    continue
                if deleted is not None and deleted < limit:
                    break

    def _drop(self, compilation: str) -> None:
        self.clear_parts(compilation)
        self.once(
            lambda tx: tx.run(
                "MATCH (c:Compilation {key: $key}) WHERE c.load = $load AND c.state <> 'complete' "
                "DETACH DELETE c",
                key=compilation,
                load=self.state.key,
            ).consume()
        )

    def _drop_all_of(self, load: str) -> None:
        """Make the unfinished compilations of a load ours first, so that nobody else begins."""

        def take(tx: neo4j.Transaction) -> list[str]:
            keys = tx.run(
                "MATCH (c:Compilation) WHERE c.load = $load RETURN c.key AS key ORDER BY key",
                load=load,
            ).value()
            tx.run(
                "UNWIND $keys AS key MATCH (c:Compilation {key: key}) SET c.key = key", keys=keys
            ).consume()
            taken: list[str] = tx.run(
                "UNWIND $keys AS key MATCH (c:Compilation {key: key}) WHERE c.load = $load "
                "SET c.load = $own, c.state = 'removing' RETURN key",
                keys=keys,
                load=load,
                own=self.state.key,
            ).value()
            return taken

        for compilation in self.once(take) or []:
            self._drop(compilation)


def _sweep(tx: neo4j.Transaction, keys: Mapping[str, set[str]]) -> None:
    """Delete those of the shared nodes that nothing uses, and what only they used."""
    left = {label: set(some) for label, some in keys.items() if some}
    while left:
        label = min(left)
        some = sorted(left.pop(label))
        tx.run(texts.lock_shared(label), keys=some).consume()
        found = tx.run(texts.sweep(label), keys=some).single()
        if found is None:
            continue
        for name in found.keys()[1:]:
            if found[name]:
                left.setdefault(SCHEMA.relationship(name).target, set()).update(found[name])


def _values(tx: neo4j.Transaction, text: str) -> list[str]:
    values: list[str] = tx.run(text).value()
    return values
