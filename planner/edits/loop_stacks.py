"""Find the stacks that a forward loop fills for the backward pass, and their copies.

`lax.scan` keeps the values that the backward pass reads in one buffer for all iterations; its first
dimension is the iteration. A compiler may copy a whole stack between the loops: on CPU a bf16 stack
is widened to f32. A checkpoint around an iteration removes the stacks and their copies. The loop
then stacks the inputs of an iteration (its carry) and, if the policy keeps them, the results of
dots. The values of one iteration are recomputed at a time.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from xlagraph.hlo.shapes import parse_shape
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["LoopStacks", "loop_stacks"]

_HANDING_ON: Final = ("while", "parameter", "copy", "broadcast")


@dataclass(frozen=True, slots=True)
class LoopStacks:
    """Values that one loop stacks for the backward pass."""

    value_ids: frozenset[int]
    """Ids of the stacks and their copies."""
    kept_at_least: Fraction
    """Least part of their bytes that a checkpoint keeps: the inputs of each iteration, less the
    values of one iteration, which no longer wait until they are stacked."""
    kept_at_most: Fraction
    """Most that is kept: also the results of dots and the recomputed values of one iteration."""


def loop_stacks(
    stored: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Iterator[LoopStacks]:
    """Yield the named stacks that each forward loop fills for the backward pass.

    Any value of the buffer set of a stack, or of its copies, names the stack.
    """
    named = frozenset(value_ids)
    families: defaultdict[str, dict[int, frozenset[int]]] = defaultdict(dict)
    filled = {
        buffer_set for buffer_set, members in program.sets.items() if _is_filled(stored, members)
    }
    for buffer_set in sorted(filled):
        loop = _loop(stored, program.sets[buffer_set])
        if loop is None:
            continue
        family = _with_copies(stored, program, program.sets[buffer_set])
        if named.isdisjoint(family):
            continue
        if any(_is_read_backward(stored, program, value_id) for value_id in family):
            families[loop][buffer_set] = family
    for loop, family_by_set in families.items():
        carried = [
            value
            for value in program.values
            if value.instruction == loop and not value.is_table and value.buffer_set not in filled
        ]
        yield _of_loop(stored, program, family_by_set, carried)


def _is_filled(stored: PlannableCompilation, members: Collection[PlannedValue]) -> bool:
    """Return True if a forward loop writes a part in each iteration and does not return the set."""
    return (
        len(members) > 1
        and all(value.size_bytes > 0 and value.value_id in stored.facts for value in members)
        and not any(value.lives_out or value.is_stored for value in members)
        and any(_writes_a_part(stored, value) for value in members)
    )


def _writes_a_part(stored: PlannableCompilation, value: PlannedValue) -> bool:
    facts = stored.facts[value.value_id]
    if facts.is_backward or facts.opcode in _HANDING_ON:
        return False
    is_update = "dynamic_update_slice" in (facts.own_op_name or facts.op_name or "")
    return is_update or (facts.is_stacked and not value.is_in_entry and facts.own_op_name is None)


def _loop(stored: PlannableCompilation, members: Iterable[PlannedValue]) -> str | None:
    """Return the name of the loop instruction that fills a set."""
    loops = [value for value in members if stored.facts[value.value_id].opcode == "while"]
    return loops[0].instruction if loops else None


def _with_copies(
    stored: PlannableCompilation, program: PlannedProgram, members: Collection[PlannedValue]
) -> frozenset[int]:
    """Return the ids of the members and of values computed only from them, element by element."""
    elements = _elements(stored.facts[next(iter(members)).value_id])
    family = {value.value_id for value in members}
    found = list(family)
    while found:
        for reader_id in stored.readers.get(found.pop(), ()):
            reader = program.by_id.get(reader_id)
            if reader is None or reader_id in family or reader.is_table or reader.lives_out:
                continue
            if len(reader.reads) == 1 and _elements(stored.facts[reader_id]) == elements:
                family.add(reader_id)
                found.append(reader_id)
    return frozenset(family)


def _is_read_backward(stored: PlannableCompilation, program: PlannedProgram, value_id: int) -> bool:
    return any(
        reader in program.by_id and stored.facts[reader].is_backward
        for reader in stored.readers.get(value_id, ())
    )


def _of_loop(
    stored: PlannableCompilation,
    program: PlannedProgram,
    family_by_set: dict[int, frozenset[int]],
    carried: Iterable[PlannedValue],
) -> LoopStacks:
    stacks = [program.sets[buffer_set][0] for buffer_set in family_by_set]
    iterations = min(_dimensions(stored.facts[stack.value_id])[0] for stack in stacks)
    stacked_bytes = sum(stack.size_bytes for stack in stacks)
    elements = sum(_elements(stored.facts[stack.value_id]) for stack in stacks)
    carried_bytes = sum(value.size_bytes for value in carried)
    # on CPU a dot is f32, and its stacked form is narrower
    dot_bytes = sum(
        (
            min(Fraction(dot.size_bytes), Fraction(_elements(facts) * stacked_bytes, elements))
            for dot, facts in _dots(stored, program, family_by_set)
        ),
        start=Fraction(),
    )
    inputs = Fraction(iterations * carried_bytes, stacked_bytes)
    dots = iterations * dot_bytes / stacked_bytes
    one_iteration = Fraction(1, iterations)
    return LoopStacks(
        frozenset[int]().union(*family_by_set.values()),
        min(max(inputs - one_iteration, Fraction()), Fraction(1)),
        min(inputs + dots + one_iteration, Fraction(1)),
    )


def _dots(
    stored: PlannableCompilation, program: PlannedProgram, buffer_sets: Iterable[int]
) -> list[tuple[PlannedValue, ValueFacts]]:
    """Return the results of dots in the body of the loop that fills these sets.

    They are in the computations that write the parts. If there are none, take the dots of the same
    scopes: they are in called computations.
    """
    writers = [
        stored.facts[value.value_id]
        for buffer_set in buffer_sets
        for value in program.sets[buffer_set]
        if _writes_a_part(stored, value) and not value.is_in_entry
    ]
    bodies = {facts.computation for facts in writers}
    scopes = tuple({_scope(facts.own_op_name) for facts in writers if facts.own_op_name})
    dots = [
        (value, facts)
        for value in program.values
        if (facts := stored.facts.get(value.value_id)) is not None and not value.is_table
        if (facts.own_op_name or "").partition("[")[0].endswith("/dot_general")
    ]
    return [(dot, facts) for dot, facts in dots if facts.computation in bodies] or [
        (dot, facts) for dot, facts in dots if (facts.own_op_name or "").startswith(scopes)
    ]


def _scope(op_name: str) -> str:
    return op_name.partition("[")[0].rpartition("/")[0] + "/"


def _elements(facts: ValueFacts) -> int:
    return math.prod(_dimensions(facts))


def _dimensions(facts: ValueFacts) -> tuple[int, ...]:
    """Return the dimensions of an array, outermost first; one of length 1 for a scalar."""
    return parse_shape(facts.shape).dimensions or (1,)
