"""What a checkpoint around a scope would free: what is made forward there and read backward.

A value is made forward or backward as its op name says (`transpose(…)` is backward). Of the
forward values of the scope those that another scope reads are kept, they are its inputs and
outputs; the others end with their last forward reader. A loop that stacks values for the
backward loop (`lax.scan`) loses the stacks, but for the smallest, which stands for its carry.

The compiler makes the values again when they are read backward. When, the plan cannot tell:
the least is that they take nothing, the most that each lives from its first reader on.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from xlagraph.plan.program import Program, Value
from xlagraph.plan.value_changes import shortened, without
from xlagraph.queries.errors import NoSuchName
from xlagraph.queries.planning.compiled import Compiled
from xlagraph.queries.planning.patterns import in_scope

__all__ = ["Checkpoint", "checkpoint", "defer", "recompute"]

REMATTED = "rematted_computation"
"""Part of the op name of what JAX computes again."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A program with a checkpoint: what it takes at least, and at most."""

    least: Program
    most: Program
    freed: int
    """Values that are no longer kept for the backward pass."""
    stacked: frozenset[int] = frozenset()
    """Ids of those that a loop stacks: from one turn to the next no compiler merges."""

    @property
    def is_of_loops(self) -> bool:
        """Whether all of them are stacks of loops."""
        return 0 < len(self.stacked) == self.freed


def checkpoint(compiled: Compiled, program: Program, scope: str) -> Checkpoint:
    """Return a program with a checkpoint around a scope; NoSuchName if it would free nothing."""
    made = [value for value in program.values if _is_forward(compiled, value, scope)]
    if not made:
        raise NoSuchName(f"no value is made forward in a scope that is called '{scope}'", ())
    inner = {value.value_id for value in made}
    dropped = set()
    for value in made:
        _, forward = _readers(compiled, program, value)
        if all(reader.value_id in inner for reader in forward):
            dropped.add(value.value_id)
    found = recompute(compiled, program, dropped)
    if not found.freed:
        raise NoSuchName(f"nothing that '{scope}' makes is kept for the backward pass", ())
    return found


def recompute(compiled: Compiled, program: Program, value_ids: Collection[int]) -> Checkpoint:
    """Return the program that computes these values again for the backward pass."""
    made = [program.by_id[value_id] for value_id in sorted(value_ids) if value_id in program.by_id]
    stacks = _stacks(compiled, program, made)
    kept_until: dict[int, int] = {}
    recomputed: list[Value] = []
    unused_id = max(program.by_id, default=0) + 1
    for value in made:
        if value.buffer_set in stacks or value.is_stored or value.is_table or value.lives_out:
            continue
        backward, forward = _readers(compiled, program, value)
        if not backward:
            continue
        kept_until[value.value_id] = max((reader.first for reader in forward), default=value.first)
        recomputed.append(
            value._replace(
                value_id=unused_id + len(recomputed),
                buffer_set=unused_id + len(recomputed),
                first=min(reader.first for reader in backward),
                last=max(reader.first for reader in backward),
            )
        )
    removed = {value.value_id for value in program.values if value.buffer_set in stacks}
    least = without(shortened(program, kept_until), removed)
    most = without(shortened(program, kept_until), removed - _smallest_stack(program, stacks))
    most = replace(most, values=(*most.values, *recomputed))
    stacked = [value.value_id for value in made if value.buffer_set in stacks]
    return Checkpoint(least, most, len(kept_until) + len(stacked), frozenset(stacked))


def defer(compiled: Compiled, program: Program, value_ids: Collection[int]) -> Checkpoint:
    """Return the program that computes values again no earlier than the backward pass reads them.

    Those that something is made again from in another scope stay: a checkpoint keeps its inputs.
    """
    least: set[int] = set()
    first_by_id: dict[int, int] = {}
    for value_id in sorted(value_ids & program.by_id.keys()):
        value = program.by_id[value_id]
        readers, _ = _readers(compiled, program, value)
        recomputing = [reader for reader in readers if REMATTED in _op_name(compiled, reader)]
        if any(_scope(compiled, reader) != _scope(compiled, value) for reader in recomputing):
            continue
        least.add(value_id)
        needed = [reader.first for reader in readers if reader not in recomputing]
        first_by_id[value_id] = max(value.first, min(needed, default=value.last))
    deferred = tuple(
        [
            value._replace(first=first_by_id.get(value.value_id, value.first))
            for value in program.values
        ]
    )
    return Checkpoint(without(program, least), replace(program, values=deferred), len(least))


def _op_name(compiled: Compiled, value: Value) -> str:
    facts = compiled.facts.get(value.value_id)
    return (facts.op_name if facts is not None else None) or ""


def _scope(compiled: Compiled, value: Value) -> str:
    return _op_name(compiled, value).rpartition("/")[0]


def _is_forward(compiled: Compiled, value: Value, scope: str) -> bool:
    facts = compiled.facts.get(value.value_id)
    op_name = facts.op_name if facts is not None else None
    return op_name is not None and "transpose(" not in op_name and in_scope(scope, op_name)


def _is_backward(compiled: Compiled, value: Value) -> bool:
    facts = compiled.facts.get(value.value_id)
    return facts is not None and "transpose(" in (facts.op_name or "")


def _readers(compiled: Compiled, program: Program, value: Value) -> tuple[list[Value], list[Value]]:
    """Return the values that are made from a value, backward and forward."""
    by_id = program.by_id
    readers = [
        by_id[reader] for reader in compiled.readers.get(value.value_id, ()) if reader in by_id
    ]
    arrays = [reader for reader in readers if not reader.is_table]
    backward = [reader for reader in arrays if _is_backward(compiled, reader)]
    return backward, [reader for reader in arrays if not _is_backward(compiled, reader)]


def _stacks(compiled: Compiled, program: Program, made: Collection[Value]) -> set[int]:
    """Return the buffer sets that a forward loop of the scope fills for a backward one."""
    found = set()
    for name in {value.buffer_set for value in made}:
        if len(program.sets[name]) == 1:
            continue
        members = program.sets[name]
        if any(value.lives_out or value.is_stored for value in members):
            continue
        fills = any(
            "dynamic_update_slice" in (compiled.facts[value.value_id].op_name or "")
            for value in members
            if value.value_id in compiled.facts
        )
        reads_back = any(
            _is_backward(compiled, program.by_id[reader])
            for value in members
            for reader in compiled.readers.get(value.value_id, ())
            if reader in program.by_id
        )
        if fills and reads_back:
            found.add(name)
    return found


def _smallest_stack(program: Program, stacks: Collection[int]) -> set[int]:
    """Return the values of one stack: what the loop carries must be kept in any case."""
    if not stacks:
        return set()
    name = min(stacks, key=lambda name: (program.sets[name][0].size_bytes, name))
    return {value.value_id for value in program.sets[name]}
