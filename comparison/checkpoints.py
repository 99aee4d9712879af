"""Find checkpoints that exist on one side only, by op names."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.changed_loops import ChangedLoops
from xlagraph.comparison.held_values import HeldValue, Reserved
from xlagraph.comparison.loop_ops import BODY
from xlagraph.comparison.reasons import ReasonKind
from xlagraph.hlo.op_names import (
    OF_ANY_LOOP,
    has_all_transformations,
    has_checkpoint,
    is_backward,
    is_recomputed,
    loop_depth,
    names_before_checkpoint,
    stem,
)

Scope = tuple[str, ...]
"""Names of nested scopes, outermost first; empty for the whole program."""


class ChangedCheckpoints(NamedTuple):
    """Scopes that exist on both sides and have a checkpoint on one only."""

    gone: frozenset[Scope]
    new: frozenset[Scope]

    def around(self, value: HeldValue) -> ReasonKind | None:
        """Return the change that applies to a value: the one of its innermost scope."""
        changes = (
            (self.new, ReasonKind.CHECKPOINTED),
            (self.gone, ReasonKind.UNCHECKPOINTED),
        )
        names = stem(value.op_name) if self.gone or self.new else ()
        for end in range(len(names), -1, -1):
            for scopes, kind in changes:
                if names[:end] in scopes:
                    return kind
        # values that a loop stacks for the backward pass belong to the checkpoint in its body
        if names and names[-1] == "while":
            for scopes, kind in changes:
                if any(scope[: len(names)] == names for scope in scopes):
                    return kind
        return None


def are_gradients_of_one(a: Iterable[HeldValue], b: Iterable[HeldValue]) -> bool:
    """Return True if only one program has a backward pass, or a forward pass for one."""
    sides = [{value.op_name or "" for value in side} for side in (a, b)]
    has_gradients = [any("jvp(" in name or is_backward(name) for name in side) for side in sides]
    return has_gradients[0] is not has_gradients[1] and all(map(has_all_transformations, sides))


def changed_checkpoints(
    a: Reserved, b: Reserved, loops: ChangedLoops, *, are_unrolled: bool = False
) -> ChangedCheckpoints:
    """Return the scopes whose checkpoints were removed or added.

    If loops are unrolled, one in such a loop may be gone with the loop.
    None if only one program computes gradients, which keep the values, not the checkpoint.
    """
    if are_gradients_of_one(a.values, b.values):
        return ChangedCheckpoints(frozenset(), frozenset())
    inside_a, all_a = _scopes(a)
    inside_b, all_b = _scopes(b)
    gone, new = inside_a - inside_b, inside_b - inside_a
    fewer, more = _in_other_numbers_of_loops(inside_a & inside_b, a.values, b.values)
    gone, new = gone | fewer, new | more
    moved = {_without_loops(scope) for scope in gone} & {_without_loops(scope) for scope in new}
    if are_unrolled:
        gone |= set() if inside_b else {_without_loops(scope) for scope in gone}
        new |= set() if inside_a else {_without_loops(scope) for scope in new}
    else:
        gone -= _in_lost_loops(gone, a.values, loops)
        new -= _in_lost_loops(new, b.values, loops)
    return ChangedCheckpoints(
        frozenset(scope for scope in gone & all_b if _without_loops(scope) not in moved),
        frozenset(scope for scope in new & all_a if _without_loops(scope) not in moved),
    )


def checkpointed_parts(values: Iterable[HeldValue], scopes: Iterable[Scope]) -> set[str]:
    """Return the scopes of checkpoints by name, or the repeated parts that they recompute.

    ``model`` if a checkpoint is in it, but ``model/block_0`` and ``model/block_1`` if these are all
    that checkpoints in it contain.
    """
    found = set()
    op_names = {value.op_name for value in values if has_checkpoint(value.op_name)}
    for scope in scopes:
        depth = len(scope)
        inside = {
            names[: depth + 1]
            for op_name in op_names
            if names_before_checkpoint(op_name) == scope and len(names := stem(op_name)) > depth + 1
        }
        patterns = {pattern(names[-1]) for names in inside}
        is_repeated = len(patterns) == 1 and patterns.isdisjoint(names[-1] for names in inside)
        found |= {"/".join(names) for names in (inside if is_repeated else [scope])}
    return found


def _in_lost_loops(
    scopes: Iterable[Scope], values: Iterable[HeldValue], loops: ChangedLoops
) -> set[Scope]:
    """Return the scopes whose loop the other program does not have.

    It computes most of what their checkpoints contain in fewer loops.
    """
    moved: Counter[Scope] = Counter()
    for value in values:
        if has_checkpoint(value.op_name) and value.is_computed:
            depths = loops.moved(value)
            is_fewer = depths is not None and min(depths) < loop_depth(value.op_name)
            moved[names_before_checkpoint(value.op_name)] += 1 if is_fewer else -1
    return {scope for scope in scopes if "while" in scope and moved[scope] > 0}


def _in_other_numbers_of_loops(
    scopes: Iterable[Scope], a: Iterable[HeldValue], b: Iterable[HeldValue]
) -> tuple[set[Scope], set[Scope]]:
    """Return the scopes of which fewer loops have a checkpoint, and those of which more have one.

    Loops of one function have the same scopes, such as one over layers and one over parts of a
    loss. Both programs have as many of them.
    """
    counts = [_loops_of_scopes(scopes, values) for values in (a, b)]
    fewer, more = set[Scope](), set[Scope]()
    for scope in scopes:
        (with_a, all_a), (with_b, all_b) = (each[scope] for each in counts)
        if all_a == all_b and with_a != with_b:
            (fewer if with_b < with_a else more).add(scope)
    return fewer, more


def _loops_of_scopes(
    scopes: Iterable[Scope], values: Iterable[HeldValue]
) -> dict[Scope, tuple[int, int]]:
    """Return how many backward loops with these scopes recompute values, and their number."""
    loops, checkpointed = defaultdict[Scope, set[str]](set), defaultdict[Scope, set[str]](set)
    for value in values:
        if value.opcode == "while" and is_backward(value.op_name):
            loops[*stem(value.op_name), BODY].add(value.name)
        elif value.loop and is_recomputed(value.op_name):
            checkpointed[names_before_checkpoint(value.op_name)].add(value.loop)
    return {scope: (len(checkpointed[scope] & loops[scope]), len(loops[scope])) for scope in scopes}


def _without_loops(scope: Scope) -> Scope:
    """Return a scope without the names of loops; it stays the same if a loop is added around it."""
    return tuple(name for name in scope if name not in OF_ANY_LOOP)


def _scopes(side: Reserved) -> tuple[set[Scope], set[Scope]]:
    """Return the scopes with a checkpoint, and all scopes."""
    inside: set[Scope] = {()} if side.mentions.is_recomputing else set()
    every: set[Scope] = {()}
    for op_name in {value.op_name for value in side.values}:
        names = stem(op_name)
        every |= {names[:end] for end in range(1, len(names))}
        if has_checkpoint(op_name):
            inside.add(names_before_checkpoint(op_name))
    return inside, every
