"""Checkpoints that one side has and the other lacks, as op names show them."""

from collections.abc import Iterable
from typing import NamedTuple

from xlagraph.queries.growth.held_values import HeldValue
from xlagraph.queries.growth.op_parts import (
    is_recomputed,
    names_before_checkpoint,
    stem,
)

__all__ = ["ChangedCheckpoints", "changed_checkpoints"]

Scope = tuple[str, ...]
"""Names of nested scopes, outermost first; empty for the whole program."""


class ChangedCheckpoints(NamedTuple):
    """Scopes that are recomputed in the backward pass of one side only, and exist in both."""

    gone: frozenset[Scope]
    new: frozenset[Scope]

    def are_around(self, value: HeldValue) -> bool:
        """Whether a value belongs to one of these scopes."""
        names = stem(value.op_name)
        scopes = self.gone | self.new
        return any(names[:end] in scopes for end in range(len(names) + 1)) if scopes else False


def changed_checkpoints(a: Iterable[HeldValue], b: Iterable[HeldValue]) -> ChangedCheckpoints:
    """Return the scopes whose checkpoints are gone or new."""
    recomputed_a, all_a = _scopes(a)
    recomputed_b, all_b = _scopes(b)
    return ChangedCheckpoints(
        frozenset((recomputed_a - recomputed_b) & all_b),
        frozenset((recomputed_b - recomputed_a) & all_a),
    )


def _scopes(values: Iterable[HeldValue]) -> tuple[set[Scope], set[Scope]]:
    """Return the scopes that are recomputed, and all scopes."""
    recomputed: set[Scope] = set()
    every: set[Scope] = {()}
    for op_name in {value.op_name for value in values}:
        names = stem(op_name)
        every |= {names[:end] for end in range(1, len(names))}
        if is_recomputed(op_name):
            recomputed.add(names_before_checkpoint(op_name))
    return recomputed, every
