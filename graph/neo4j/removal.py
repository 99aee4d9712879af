"""Remove compilations and unused shared nodes from Neo4j, in parallel with other loads.

An orphan is a shared node that is no longer used. The transaction that removes its last user
deletes it. The node is write-locked first, so that no load can start to use it before the commit. A
load that waited for the lock finds no node and creates it again.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, Literal

import neo4j

from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.neo4j.transactions import OutOfMemory, Transactions, run_statement
from xlagraph.graph.schema import PARTS, SCHEMA, SHARED
from xlagraph.graph.statement_files import load_statement

_LOCK_COMPILATION: Final = load_statement(__file__, "lock-compilation")
_LOCK_CLAIMS: Final = load_statement(__file__, "lock-claims")
_COMPLETE_ORIGINS: Final = load_statement(__file__, "complete-origins")
_HIDE_COMPLETE: Final = load_statement(__file__, "hide-complete")
_INCOMPLETE_OF_LOAD: Final = load_statement(__file__, "incomplete-of-load")
_CLAIM_ALL_OF_LOAD: Final = load_statement(__file__, "claim-all-of-load")
_KEYS_TO_REMOVE: Final = load_statement(__file__, "keys-to-remove")
_DELETE_INCOMPLETE: Final = load_statement(__file__, "delete-incomplete")
_DELETE_WORKERS: Final = load_statement(__file__, "delete-workers")
_DELETE_LOAD: Final = load_statement(__file__, "delete-load")


ClaimPurpose = Literal["loading", "removing"]
"""Why a load claims a compilation that is not complete."""


class Removal:
    """Removes compilations in the transactions of one worker."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._state = transactions.state

    def remove(self, compilation: str) -> None:
        """Remove a complete compilation."""

        def hide_if_complete(tx: neo4j.Transaction) -> bool:
            run_statement(tx, _LOCK_COMPILATION, key=compilation).consume()
            if not run_statement(tx, _COMPLETE_ORIGINS, keys=[compilation]).values():
                return False
            self.hide(tx, [compilation], "removing")
            return True

        if self._transactions.once(hide_if_complete) is not False:
            self._delete(compilation)

    def discard_incomplete(self) -> None:
        """Remove the compilations that this load began and did not complete."""
        self._delete_all_of(self._state.key)
        if any(self._state.known.values()):
            self._delete_all_orphans()

    def clear_stale_loads(self) -> None:
        """Remove the incomplete compilations of loads whose lease has expired."""
        stale = self._transactions.stale_loads()
        for load in stale:
            self._clear(load)
        if stale:
            self._delete_all_orphans()

    def hide(self, tx: neo4j.Transaction, keys: list[str], purpose: ClaimPurpose) -> None:
        """Hide and claim complete compilations; nothing else of them changes yet."""
        run_statement(
            tx, _HIDE_COMPLETE, keys=keys, purpose=purpose, load=self._state.key
        ).consume()

    def detach(self, keys: list[str], *, keeps_runs: bool) -> None:
        """Delete the relationships of hidden compilations to runs and modules, and new orphans."""
        self._transactions.once(partial(_detach, keys=keys, keeps_runs=keeps_runs))

    def clear_parts(self, compilation: str) -> None:
        """Delete a compilation's parts, some thousand at a time, and new orphans."""
        for node in reversed(PARTS):
            statement = schema_statements.delete_parts(node)
            is_left = True
            while is_left:
                limit = self._state.delete_limit.limit
                delete = partial(
                    _delete_some, statement=statement, compilation=compilation, limit=limit
                )
                try:
                    deleted = self._transactions.once(delete)
                except OutOfMemory:
                    if limit == 1:
                        raise
                    self._state.delete_limit.halve(limit)
                else:
                    is_left = deleted is None or deleted == limit

    def _delete(self, compilation: str) -> None:
        """Delete a compilation that is hidden and claimed."""
        self.detach([compilation], keeps_runs=False)
        self.clear_parts(compilation)
        self._write_once(_DELETE_INCOMPLETE, key=compilation, load=self._state.key)

    def _delete_all_of(self, load: str) -> None:
        """Delete the incomplete compilations of a load, after claiming them."""

        def claim(tx: neo4j.Transaction) -> None:
            keys = run_statement(tx, _INCOMPLETE_OF_LOAD, load=load).value()
            run_statement(tx, _LOCK_CLAIMS, keys=keys).consume()
            run_statement(tx, _CLAIM_ALL_OF_LOAD, load=load, own=self._state.key).consume()

        self._transactions.once(claim)
        for compilation in self._transactions.read_column(
            str, _KEYS_TO_REMOVE, own=self._state.key
        ):
            self._delete(compilation)

    def _clear(self, load: str) -> None:
        """End another load and remove its incomplete compilations."""
        self._write_once(_DELETE_WORKERS, load=load)
        self._delete_all_of(load)
        self._write_once(_DELETE_LOAD, load=load)

    def _delete_all_orphans(self) -> None:
        """Delete all orphans: a load may end before it uses the nodes that it created."""
        at_once = self._state.delete_limit.limit
        for node in SHARED:
            unused = self._transactions.read_column(str, schema_statements.unused_keys(node.label))
            for first in range(0, len(unused), at_once):
                keys = set(unused[first : first + at_once])
                self._transactions.once(partial(_delete_orphans, keys={node.label: keys}))

    def _write_once(self, statement: str, **given: object) -> None:
        self._transactions.once(lambda tx: run_statement(tx, statement, **given).consume())


def _detach(tx: neo4j.Transaction, keys: list[str], *, keeps_runs: bool) -> None:
    reached: dict[str, set[str]] = {}
    for relationship in schema_statements.COMPILATION_RELATIONSHIPS:
        label = relationship.target if relationship.source == "Compilation" else relationship.source
        statement = schema_statements.delete_relationships(relationship)
        found = run_statement(tx, statement, keys=keys).value()
        reached.setdefault(label, set()).update(found)
    if keeps_runs:
        reached.pop("Run", None)  # the new compilation belongs to it, and it has tags
    _delete_orphans(tx, reached)


def _delete_some(tx: neo4j.Transaction, statement: str, compilation: str, limit: int) -> int:
    """Delete some parts and new orphans; return the number of parts."""
    found = run_statement(tx, statement, compilation=compilation, limit=limit).single(strict=True)
    _delete_orphans(tx, _reached(found))
    return int(found["deleted"])


def _reached(found: neo4j.Record) -> dict[str, set[str]]:
    """Return the keys of the nodes that deleted nodes referred to, by label."""
    reached: dict[str, set[str]] = {}
    for name in found.keys()[1:]:
        reached.setdefault(SCHEMA.relationship(name).target, set()).update(found[name])
    return reached


def _delete_orphans(tx: neo4j.Transaction, keys: Mapping[str, set[str]]) -> None:
    """Delete the shared nodes that are orphans, and the orphans that this creates."""
    left = dict(keys)
    while left:
        label = min(left)
        some = sorted(left.pop(label))
        if some:
            run_statement(tx, schema_statements.lock_shared(label), keys=some).consume()
            deleted = run_statement(tx, schema_statements.delete_orphans(label), keys=some)
            for other, reached in _reached(deleted.single(strict=True)).items():
                left[other] = left.get(other, set()) | reached
