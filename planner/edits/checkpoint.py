"""Predict what a checkpoint frees: forward values of a scope that the backward pass reads.

Op names tell which pass a value belongs to (`op_names`). Forward values of the scope that another
scope reads are kept, because they are its inputs and outputs. The others end with their last
forward reader. A loop that stacks values for the backward loop (`lax.scan`) stacks fewer of them
(`loop_stacks`).

The compiler recomputes the values for the backward pass; the plan cannot predict at which step.
At least, recomputed values take nothing. At most, each one lives from its first backward reader on.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

from xlagraph.hlo.op_names import is_recomputed
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.edits.patterns import in_scope, similar_scopes
from xlagraph.planner.edits.stacked_values import stacks_of_scope
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue
from xlagraph.planner.value_changes import (
    with_shortened_values,
    with_shrunk_values,
    without_values,
)
from xlagraph.queries.errors import NoSuchName

__all__ = ["Checkpoint", "checkpoint", "defer", "move", "recompute"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A program with a checkpoint, with the least and the most memory that it may need."""

    least: PlannedProgram
    most: PlannedProgram
    value_count: int
    """Number of values that are no longer kept for the backward pass."""
    stacked_ids: frozenset[int] = frozenset()
    """Ids of values stacked by a loop. Compilers do not merge computations across iterations."""

    @property
    def is_of_loops(self) -> bool:
        """True if all of them are stacks of loops."""
        return 0 < len(self.stacked_ids) == self.value_count


def checkpoint(stored: PlannableCompilation, program: PlannedProgram, scope: str) -> Checkpoint:
    """Return a program with a checkpoint around a scope; raise NoSuchName if it frees nothing."""
    made = [value for value in program.values if _is_forward(stored, value, scope)]
    stacks = stacks_of_scope(stored, program, scope)
    if not made and not stacks:
        op_names = {
            facts.op_name
            for facts in stored.facts.values()
            if facts.op_name is not None and not facts.is_backward
        }
        raise NoSuchName(
            f"no forward value of {stored.key} has a scope called '{scope}'",
            similar_scopes(scope, op_names),
        )
    inner = {value.value_id for value in made}
    dropped = set(stacks)
    for value in made:
        _, forward = _readers(stored, program, value)
        if all(reader.value_id in inner for reader in forward):
            dropped.add(value.value_id)
    found = recompute(stored, program, dropped)
    if not found.value_count:
        raise NoSuchName(f"scope '{scope}' of {stored.key} keeps no value for the backward pass")
    return found


def recompute(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Checkpoint:
    """Return the program that recomputes these values for the backward pass."""
    least, most, stacked = _with_smaller_stacks(stored, program, value_ids)
    kept_until: dict[int, int] = {}
    recomputed: list[PlannedValue] = []
    unused_id = max(program.by_id, default=0) + 1
    for value_id in sorted((value_ids & program.by_id.keys()) - stacked):
        value = program.by_id[value_id]
        facts = stored.facts.get(value_id)
        if value.is_stored or value.is_table or value.lives_out or (facts and facts.is_backward):
            continue
        backward, forward = _readers(stored, program, value)
        if not backward:
            continue
        kept_until[value_id] = max((reader.first for reader in forward), default=value.first)
        recomputed.append(
            value._replace(
                value_id=unused_id + len(recomputed),
                buffer_set=unused_id + len(recomputed),
                first=min(reader.first for reader in backward),
                last=max(reader.first for reader in backward),
            )
        )
    least, most = with_shortened_values(least, kept_until), with_shortened_values(most, kept_until)
    most = replace(most, values=(*most.values, *recomputed))
    named = stacked & frozenset(value_ids)
    return Checkpoint(least, most, len(kept_until) + len(named), named)


def _with_smaller_stacks(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> tuple[PlannedProgram, PlannedProgram, frozenset[int]]:
    """Return the programs with the least and the most of these stacks kept, and their ids."""
    least: dict[int, Fraction] = {}
    most: dict[int, Fraction] = {}
    for stacks in loop_stacks(stored, program, value_ids):
        least |= dict.fromkeys(stacks.value_ids, stacks.kept_at_least)
        most |= dict.fromkeys(stacks.value_ids, stacks.kept_at_most)
    return with_shrunk_values(program, least), with_shrunk_values(program, most), frozenset(least)


def defer(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Checkpoint:
    """Return the program that recomputes values no earlier than the backward pass reads them.

    Inputs of a checkpoint, from which another scope recomputes, are kept.
    """
    least: set[int] = set()
    first_by_id: dict[int, int] = {}
    for value_id in sorted(value_ids & program.by_id.keys()):
        value = program.by_id[value_id]
        readers, _ = _readers(stored, program, value)
        recomputing = [reader for reader in readers if is_recomputed(_op_name(stored, reader))]
        if any(_scope(stored, reader) != _scope(stored, value) for reader in recomputing):
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
    return Checkpoint(without_values(program, least), replace(program, values=deferred), len(least))


def move(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Checkpoint:
    """Return the program that computes values where they are first read.

    The least assumes that their operands are not kept longer, the most that they are kept
    until then.
    """
    by_id = program.by_id
    first_by_id: dict[int, int] = {}
    kept_until: dict[int, int] = {}
    for value_id in sorted(value_ids & by_id.keys()):
        reads = [by_id[each].first for each in stored.readers.get(value_id, ()) if each in by_id]
        value = by_id[value_id]
        first_by_id[value_id] = max(value.first, min(reads, default=value.last))
        for operand in value.reads:
            kept_until[operand] = max(first_by_id[value_id], kept_until.get(operand, 0))
    moved = [
        value._replace(first=first_by_id.get(value.value_id, value.first))
        for value in program.values
    ]
    kept = [
        value._replace(last=max(value.last, kept_until.get(value.value_id, 0))) for value in moved
    ]
    return Checkpoint(
        replace(program, values=tuple(moved)),
        replace(program, values=tuple(kept)),
        len(first_by_id),
    )


def _op_name(stored: PlannableCompilation, value: PlannedValue) -> str:
    facts = stored.facts.get(value.value_id)
    return (facts.op_name if facts is not None else None) or ""


def _scope(stored: PlannableCompilation, value: PlannedValue) -> str:
    return _op_name(stored, value).rpartition("/")[0]


def _is_forward(stored: PlannableCompilation, value: PlannedValue, scope: str) -> bool:
    facts = stored.facts.get(value.value_id)
    if facts is None or facts.op_name is None or facts.is_backward:
        return False
    return in_scope(scope, facts.op_name)


def _readers(
    stored: PlannableCompilation, program: PlannedProgram, value: PlannedValue
) -> tuple[list[PlannedValue], list[PlannedValue]]:
    """Return the values that are computed from a value: backward ones, then forward ones."""
    by_id = program.by_id
    readers = [
        by_id[reader] for reader in stored.readers.get(value.value_id, ()) if reader in by_id
    ]
    backward: list[PlannedValue] = []
    forward: list[PlannedValue] = []
    for reader in readers:
        facts = stored.facts.get(reader.value_id)
        if not reader.is_table:
            (backward if facts is not None and facts.is_backward else forward).append(reader)
    return backward, forward
