"""Find checkpoints that exist on one side only, by op names."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from xlagraph.comparison.held_values import HeldValue
from xlagraph.comparison.op_parts import (
    has_checkpoint,
    names_before_checkpoint,
    stem,
)

__all__ = ["ChangedCheckpoints", "changed_checkpoints"]

Scope = tuple[str, ...]
"""Names of nested scopes, outermost first; empty for the whole program."""


class ChangedCheckpoints(NamedTuple):
    """Scopes that exist on both sides and have a checkpoint on one only."""

    gone: frozenset[Scope]
    new: frozenset[Scope]

    def around(self, value: HeldValue) -> Literal["gone", "new"] | None:
        """Return the change that applies to a value: the one of its innermost scope."""
        if not (self.gone or self.new):
            return None
        names = stem(value.op_name)
        for end in range(len(names), -1, -1):
            if names[:end] in self.new:
                return "new"
            if names[:end] in self.gone:
                return "gone"
        # values that a loop stacks for the backward pass belong to the checkpoint in its body
        if names and names[-1] == "while":
            for scopes, change in ((self.new, "new"), (self.gone, "gone")):
                if any(scope[: len(names)] == names for scope in scopes):
                    return "new" if change == "new" else "gone"
        return None


def changed_checkpoints(a: Iterable[HeldValue], b: Iterable[HeldValue]) -> ChangedCheckpoints:
    """Return the scopes whose checkpoints were removed or added."""
    inside_a, all_a = _scopes(a)
    inside_b, all_b = _scopes(b)
    return ChangedCheckpoints(
        frozenset((inside_a - inside_b) & all_b), frozenset((inside_b - inside_a) & all_a)
    )


def _scopes(values: Iterable[HeldValue]) -> tuple[set[Scope], set[Scope]]:
    """Return the scopes with a checkpoint, and all scopes."""
    inside: set[Scope] = set()
    every: set[Scope] = {()}
    for op_name in {value.op_name for value in values}:
        names = stem(op_name)
        every |= {names[:end] for end in range(1, len(names))}
        if has_checkpoint(op_name):
            inside.add(names_before_checkpoint(op_name))
    return inside, every
