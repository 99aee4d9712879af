"""Find the stacks in which loops collect values of their bodies, as `lax.scan` does.

A body writes its part of a stack with an update of a slice, most often fused with the operations
that compute the part. A stack belongs to a value, or to a scope, if its writer reads that value, or
a value of that scope, with as many elements as one part of the stack.
"""

import math
from collections.abc import Collection, Iterator

from xlagraph.hlo.shapes import parse_shape
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.edits.patterns import in_scope
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["dimensions", "stacks_of", "stacks_of_scope"]


def stacks_of(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> frozenset[int]:
    """Return the writers of stacks that collect one of these values in each iteration."""
    named = frozenset(value_ids)
    return frozenset(
        writer.value_id
        for writer, parts in _writers(stored, program)
        if any(part.value_id in named for part in parts)
    )


def stacks_of_scope(
    stored: PlannableCompilation, program: PlannedProgram, scope: str
) -> frozenset[int]:
    """Return the writers of stacks in which a forward loop collects values of a scope."""
    return frozenset(
        writer.value_id
        for writer, parts in _writers(stored, program)
        if not stored.facts[writer.value_id].is_backward
        if any(_lies_in(scope, stored.facts[part.value_id]) for part in parts)
    )


def _lies_in(scope: str, facts: ValueFacts) -> bool:
    return facts.op_name is not None and in_scope(scope, facts.op_name)


def _writers(
    stored: PlannableCompilation, program: PlannedProgram
) -> Iterator[tuple[PlannedValue, list[PlannedValue]]]:
    """Yield each writer of a part of a stack, with the values of that size that it reads."""
    for members in program.sets.values():
        if len(members) == 1 or not any(_is_loop(stored, value) for value in members):
            continue
        names = {value.value_id for value in members}
        for value in members:
            facts = stored.facts.get(value.value_id)
            if facts is None or facts.opcode in ("while", "parameter", "copy"):
                continue
            lengths = dimensions(facts.shape)
            if value.is_in_entry or len(lengths) < 2 or names.isdisjoint(value.reads):
                continue
            part = math.prod(lengths[1:])
            parts = [
                program.by_id[read]
                for read in value.reads
                if read in program.by_id
                and read not in names
                and read in stored.facts
                and math.prod(dimensions(stored.facts[read].shape)) == part
            ]
            if parts:
                yield value, parts


def _is_loop(stored: PlannableCompilation, value: PlannedValue) -> bool:
    facts = stored.facts.get(value.value_id)
    return facts is not None and facts.opcode == "while"


def dimensions(shape: str) -> tuple[int, ...]:
    """Return the dimensions of an array, outermost first; none of a scalar or a tuple."""
    return parse_shape(shape).dimensions or ()
