"""The stacks that a forward loop fills, turn by turn, for the backward pass, and their copies.

`lax.scan` keeps what the backward pass reads in one buffer for all turns: the first dimension
is the turn. A compiler may copy a stack as a whole, between the loops: on CPU one of bf16 is
widened to f32. With a checkpoint around a turn, the stacks and their copies are gone. What is
stacked in their place are the inputs of a turn, that is what the loop carries, and, where the
policy keeps them, the results of dots; one turn's values are made again at a time.
"""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from xlagraph.plan.program import Program, Value
from xlagraph.queries.planning.compiled import Compiled, ValueFacts

__all__ = ["LoopStacks", "loop_stacks"]

# a dimension: 6, or <=6 where it is dynamic
_LENGTH: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class LoopStacks:
    """What one loop stacks for the backward pass."""

    value_ids: frozenset[int]
    """Of the stacks and of their copies."""
    kept_at_least: Fraction
    """Part of their bytes that a checkpoint keeps: the inputs of each turn, less the values of
    one turn, which no longer wait until they are stacked."""
    kept_at_most: Fraction
    """The results of dots too, and one turn's values as they are made again."""


def loop_stacks(
    compiled: Compiled, program: Program, value_ids: Collection[int]
) -> Iterator[LoopStacks]:
    """Yield what each forward loop stacks for the backward pass, of stacks that are named.

    A stack is named by any value of its buffer set or of its copies.
    """
    named = frozenset(value_ids)
    families: defaultdict[str, dict[int, frozenset[int]]] = defaultdict(dict)
    filled = {name for name, members in program.sets.items() if _is_filled(compiled, members)}
    for name in sorted(filled):
        loop = _loop(compiled, program.sets[name])
        if loop is None:
            continue
        family = _with_copies(compiled, program, program.sets[name])
        if named.isdisjoint(family):
            continue
        if any(_is_read_backward(compiled, program, value_id) for value_id in family):
            families[loop][name] = family
    for loop, family_by_name in families.items():
        carried = [
            value
            for value in program.values
            if value.instruction == loop and not value.is_table and value.buffer_set not in filled
        ]
        yield _of_loop(compiled, program, family_by_name, carried)


def _is_filled(compiled: Compiled, members: Collection[Value]) -> bool:
    """Whether a forward loop writes a part in each turn, and the program does not return it."""
    return (
        len(members) > 1
        and all(value.size_bytes > 0 and value.value_id in compiled.facts for value in members)
        and not any(value.lives_out or value.is_stored for value in members)
        and any(_writes_a_part(compiled, value) for value in members)
    )


def _writes_a_part(compiled: Compiled, value: Value) -> bool:
    facts = compiled.facts[value.value_id]
    op_name = facts.op_name or ""
    return "dynamic_update_slice" in op_name and facts.opcode != "while" and not facts.is_backward


def _loop(compiled: Compiled, members: Iterable[Value]) -> str | None:
    """Return the loop that fills a set, by the name of its instruction."""
    loops = [value for value in members if compiled.facts[value.value_id].opcode == "while"]
    return loops[0].instruction if loops else None


def _with_copies(
    compiled: Compiled, program: Program, members: Collection[Value]
) -> frozenset[int]:
    """Return the ids of the members and of what is made of them alone, element by element."""
    elements = _elements(compiled.facts[next(iter(members)).value_id])
    family = {value.value_id for value in members}
    found = list(family)
    while found:
        for reader_id in compiled.readers.get(found.pop(), ()):
            reader = program.by_id.get(reader_id)
            if reader is None or reader_id in family or reader.is_table or reader.lives_out:
                continue
            if len(reader.reads) == 1 and _elements(compiled.facts[reader_id]) == elements:
                family.add(reader_id)
                found.append(reader_id)
    return frozenset(family)


def _is_read_backward(compiled: Compiled, program: Program, value_id: int) -> bool:
    return any(
        reader in program.by_id and compiled.facts[reader].is_backward
        for reader in compiled.readers.get(value_id, ())
    )


def _of_loop(
    compiled: Compiled,
    program: Program,
    family_by_name: dict[int, frozenset[int]],
    carried: Iterable[Value],
) -> LoopStacks:
    stacks = [program.sets[name][0] for name in family_by_name]
    turns = min(_dimensions(compiled.facts[stack.value_id])[0] for stack in stacks)
    stacked_bytes = sum(stack.size_bytes for stack in stacks)
    elements = sum(_elements(compiled.facts[stack.value_id]) for stack in stacks)
    carried_bytes = sum(value.size_bytes for value in carried)
    # on CPU a dot is as wide as f32, and what is stacked of it is not
    dot_bytes = sum(
        (
            min(Fraction(dot.size_bytes), Fraction(_elements(facts) * stacked_bytes, elements))
            for dot, facts in _dots(compiled, program, family_by_name)
        ),
        start=Fraction(),
    )
    inputs = Fraction(turns * carried_bytes, stacked_bytes)
    dots = turns * dot_bytes / stacked_bytes
    turn = Fraction(1, turns)
    return LoopStacks(
        frozenset[int]().union(*family_by_name.values()),
        min(max(inputs - turn, Fraction()), Fraction(1)),
        min(inputs + dots + turn, Fraction(1)),
    )


def _dots(
    compiled: Compiled, program: Program, names: Iterable[int]
) -> list[tuple[Value, ValueFacts]]:
    """Return the results of dots in the body of the loop that fills these sets.

    They stand in the computations that write the parts, or in others that those call: these
    go by their scope.
    """
    writers = [
        compiled.facts[value.value_id]
        for name in names
        for value in program.sets[name]
        if _writes_a_part(compiled, value) and not value.is_in_entry
    ]
    bodies = {facts.computation for facts in writers}
    scopes = tuple({_scope(facts.own_op_name) for facts in writers if facts.own_op_name})
    dots = [
        (value, facts)
        for value in program.values
        if (facts := compiled.facts.get(value.value_id)) is not None and not value.is_table
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
    within = facts.shape.partition("[")[2].partition("]")[0]
    return tuple(int(length) for length in _LENGTH.findall(within)) or (1,)
