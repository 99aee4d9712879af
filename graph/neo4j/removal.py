"""Takes compilations out of Neo4j, and what nothing uses any more, beside other loads.

A shared node is swept in the transaction that takes its last user away: it is write-locked
first, so that nobody can begin to use it before we commit. Who wanted to finds it gone, and
makes it again.
"""

from collections.abc import Mapping
from functools import partial

import neo4j

from xlagraph.graph.neo4j import statements
from xlagraph.graph.neo4j.transactions import OutOfMemory, Transactions
from xlagraph.graph.schema import PARTS, SCHEMA, SHARED


class Removal(Transactions):
    """What takes away."""

    def remove(self, compilation: str) -> None:
        """Take a complete compilation out."""

        def hide_if_complete(tx: neo4j.Transaction) -> bool:
            tx.run("MATCH (c:Compilation {key: $key}) SET c.key = $key", key=compilation).consume()
            found = tx.run(
                "MATCH (c:Compilation {key: $key}) RETURN c.state AS state", key=compilation
            ).single()
            if found is None or found["state"] != "complete":
                return False
            self.hide(tx, [compilation], "removing")
            return True

        if self.once(hide_if_complete) is not False:
            self._drop(compilation)

    def take_back(self) -> None:
        """Remove what this load began and did not complete."""
        self._drop_all_of(self.state.key)
        if any(self.state.known.values()):
            self._delete_all_orphans()

    def clear_stale_loads(self) -> None:
        """Take away what loads left that ended without signing off."""
        dead = self.stale_loads()
        for load in dead:
            self._clear(load)
        if dead:
            self._delete_all_orphans()

    def _clear(self, load: str) -> None:
        """Give another load up, and remove what it did not complete."""
        self.once(
            lambda tx: tx.run(
                "MATCH (l:Load {load: $load}) WHERE l.key <> $load DELETE l", load=load
            ).consume()
        )
        self._drop_all_of(load)
        self.once(lambda tx: tx.run("MATCH (l:Load {key: $load}) DELETE l", load=load).consume())

    def _delete_all_orphans(self) -> None:
        """Sweep every shared node that nothing uses: a load may end before it uses what it made."""
        at_once = self.state.deletions.most
        for node in SHARED:
            unused = self.retried(partial(_values, text=statements.unused_keys(node.label)))
            for first in range(0, len(unused), at_once):
                keys = set(unused[first : first + at_once])
                self.once(partial(_delete_orphans, keys={node.label: keys}))

    def hide(self, tx: neo4j.Transaction, keys: list[str], state: str) -> None:
        """Make compilations invisible and ours; what they led to is swept if unused."""
        led: dict[str, set[str]] = {}
        for item in statements.OF_COMPILATIONS:
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
        _delete_orphans(tx, led)

    def clear_parts(self, compilation: str) -> None:
        """Delete the parts of a compilation, some thousand at a time, and what only they used."""
        for node in reversed(PARTS):
            text = statements.delete_parts(node)
            is_left = True
            while is_left:
                limit = self.state.deletions.most
                delete = partial(_delete, text=text, compilation=compilation, limit=limit)
                try:
                    deleted = self.once(delete)
                except OutOfMemory:
                    if limit == 1:
                        raise
                    self.state.deletions.halve(limit)
                else:
                    is_left = deleted is None or deleted == limit

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

        def take(tx: neo4j.Transaction) -> None:
            keys = tx.run(
                "MATCH (c:Compilation) WHERE c.load = $load RETURN c.key AS key ORDER BY key",
                load=load,
            ).value()
            tx.run(
                "UNWIND $keys AS key MATCH (c:Compilation {key: key}) SET c.key = key", keys=keys
            ).consume()
            tx.run(
                "UNWIND $keys AS key MATCH (c:Compilation {key: key}) WHERE c.load = $load "
                "SET c.load = $own, c.state = 'removing'",
                keys=keys,
                load=load,
                own=self.state.key,
            ).consume()

        self.once(take)
        taken = "MATCH (c:Compilation) WHERE c.load = $own AND c.state = 'removing' RETURN c.key"
        for compilation in self.retried(partial(_values, text=taken, own=self.state.key)):
            self._drop(compilation)


def _delete(tx: neo4j.Transaction, text: str, compilation: str, limit: int) -> int:
    """Delete some parts, and the shared nodes that only they used; say how many parts."""
    found = tx.run(text, compilation=compilation, limit=limit).single(strict=True)
    _delete_orphans(tx, _led_to(found))
    return int(found["deleted"])


def _led_to(found: neo4j.Record) -> dict[str, set[str]]:
    """Give by label the keys to which what was deleted led; a column for each type."""
    led: dict[str, set[str]] = {}
    for name in found.keys()[1:]:
        led.setdefault(SCHEMA.relationship(name).target, set()).update(found[name])
    return led


def _delete_orphans(tx: neo4j.Transaction, keys: Mapping[str, set[str]]) -> None:
    """Delete those of the shared nodes that nothing uses, and what only they used."""
    left = dict(keys)
    while left:
        label = min(left)
        some = sorted(left.pop(label))
        if some:
            tx.run(statements.lock_shared(label), keys=some).consume()
            found = tx.run(statements.delete_orphans(label), keys=some).single(strict=True)
            for other, led in _led_to(found).items():
                left[other] = left.get(other, set()) | led


def _values(tx: neo4j.Transaction, text: str, **parameters: str) -> list[str]:
    values: list[str] = tx.run(text, parameters).value()
    return values
