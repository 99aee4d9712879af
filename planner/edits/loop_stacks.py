"""Find the stacks in which loops collect values of their bodies, as `lax.scan` does.

A body writes its part of a stack with an update of a slice, most often fused with the operations
that compute the part. A stack belongs to a value, or to a scope, if its writer reads that value, or
a value of that scope, with as many elements as one part of the stack.

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

from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import primitive
from xlagraph.hlo.opcodes import CONTROL_FLOW, COPYING
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.patterns import in_scope
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

_HANDING_ON: Final = ("while", "conditional", "parameter", "copy", "broadcast")
SAME_ELEMENTS: Final = frozenset(("copy", "bitcast", "convert", "transpose", "reshape"))
"""Opcodes that only change the order or the type of elements."""
MOVED_ELEMENTS: Final = SAME_ELEMENTS | COPYING
"""Also of the copies by which a TPU moves values to another memory space."""


@dataclass(frozen=True, slots=True)
class LoopStacks:
    """Values that one loop stacks for the backward pass."""

    value_ids: frozenset[int]
    """Ids of the stacks and their copies."""
    kept_at_least: Fraction
    """Least part of their bytes that a checkpoint keeps: the inputs of each iteration, less the
    values of one iteration, which no longer wait until they are stacked."""
    kept_at_most: Fraction
    """Most that is kept: the inputs, and the recomputed values of one iteration."""
    read_ids: frozenset[int]
    """Values made before the loop from which it computes the stacks: a checkpoint keeps them."""


def stacks_of(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> frozenset[int]:
    """Return the writers of stacks that collect one of these values in each iteration."""
    named = frozenset(value_ids)
    readers = {reader for value_id in named for reader in compilation.readers.get(value_id, ())}
    candidates = [program.by_id[reader] for reader in readers if reader in program.by_id]
    return frozenset(
        writer.value_id
        for writer, parts in _writers(compilation, program, candidates)
        if any(part.value_id in named for part in parts)
    )


def stacks_of_scope(
    compilation: PlannableCompilation, program: PlannedProgram, scope: str
) -> frozenset[int]:
    """Return the writers of stacks in which a forward loop collects values of a scope."""
    return frozenset(
        writer.value_id
        for writer, parts in _writers(compilation, program, program.values)
        if writer.value_id not in compilation.backward_ids
        if any(_lies_in(scope, compilation.values[part.value_id]) for part in parts)
    )


def _lies_in(scope: str, value: StoredValue) -> bool:
    return value.known_op_name is not None and in_scope(scope, value.known_op_name)


def _writers(
    compilation: PlannableCompilation, program: PlannedProgram, values: Iterable[PlannedValue]
) -> Iterator[tuple[PlannedValue, list[PlannedValue]]]:
    """Yield which of the values write a part of a stack, each with what it reads of that size."""
    for value in values:
        if not _writes_a_part(compilation, value):
            continue
        members = {member.value_id for member in program.sets[value.buffer_set]}
        part = math.prod(compilation.values[value.value_id].dimensions[1:])
        parts = [
            program.by_id[read]
            for read in value.reads
            if read in program.by_id
            and read not in members
            and read in compilation.values
            and _elements(compilation.values[read]) == part
        ]
        if parts:
            yield value, parts


def loop_stacks(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Iterator[LoopStacks]:
    """Yield the named stacks that each forward loop fills for the backward pass.

    Any value of the buffer set of a stack, or of its copies, names the stack.
    """
    named = frozenset(value_ids)
    families: defaultdict[str, dict[int, frozenset[int]]] = defaultdict(dict)
    filled = {
        buffer_set
        for buffer_set, members in program.sets.items()
        if len(members) > 1 and _is_filled(compilation, members)
    }
    if not filled:
        return
    beside: dict[str, frozenset[int]] = {}
    forward = _forward_computations(compilation, program)
    backward = compilation.backward_ids & program.by_id.keys()
    made_by = grouped((value.instruction, value) for value in program.values)
    for buffer_set in sorted(filled):
        loop = _loop(compilation, program.sets[buffer_set])
        if loop is None:
            continue
        family = _with_copies(compilation, program, program.sets[buffer_set])
        if named.isdisjoint(family):
            continue
        if loop not in beside:
            beside[loop] = _beside(compilation, program, made_by[loop])
        read_by = [compilation.readers.get(each, ()) for each in family]
        readers = set[int]().union(*read_by) - family
        own = {value.computation for value in program.sets[buffer_set]}
        # what reads it next to the loop, or in another loop of the forward pass, needs it even if
        # the backward pass does not
        if any(program.by_id[each].computation in forward - own for each in readers):
            continue
        if beside[loop].isdisjoint(readers) and not backward.isdisjoint(readers):
            families[loop][buffer_set] = family
    for loop, family_by_set in families.items():
        carried = [
            value
            for value in made_by[loop]
            if not value.is_table
            # a stack that the loop returns is no carry either
            and not any(_writes_forward(compilation, it) for it in program.sets[value.buffer_set])
        ]
        yield _of_loop(compilation, program, family_by_set, carried, loop)


def _forward_computations(
    compilation: PlannableCompilation, program: PlannedProgram
) -> frozenset[str]:
    """Return the computations, such as bodies of loops, without values of the backward pass."""
    backward = compilation.backward_ids
    of_backward = {each.computation for each in program.values if each.value_id in backward}
    return frozenset(each.computation for each in program.values) - of_backward - {""}


def _is_filled(compilation: PlannableCompilation, members: Collection[PlannedValue]) -> bool:
    """Return True if a forward loop writes a part in each iteration and does not return the set."""
    return (
        not any(value.lives_out or value.is_stored for value in members)  # most are, of several
        and all(value.size_bytes > 0 and value.value_id in compilation.values for value in members)
        and any(_writes_forward(compilation, value) for value in members)
    )


def _writes_forward(compilation: PlannableCompilation, value: PlannedValue) -> bool:
    is_backward = value.value_id in compilation.backward_ids
    return not is_backward and _writes_a_part(compilation, value)


def _writes_a_part(compilation: PlannableCompilation, value: PlannedValue) -> bool:
    stored = compilation.values.get(value.value_id)
    if stored is None or stored.stack_loop is None:
        return False
    return stored.opcode not in _HANDING_ON and not value.is_in_entry


def _loop(compilation: PlannableCompilation, members: Iterable[PlannedValue]) -> str | None:
    """Return the name of the loop instruction that fills a set."""
    loops = [value for value in members if compilation.values[value.value_id].opcode == "while"]
    return loops[0].instruction if loops else None


def _with_copies(
    compilation: PlannableCompilation, program: PlannedProgram, members: Collection[PlannedValue]
) -> frozenset[int]:
    """Return the ids of the members and of values computed only from them, element by element."""
    elements = _elements(compilation.values[next(iter(members)).value_id])

    def copies(value_id: int) -> Iterator[int]:
        for reader_id in compilation.readers.get(value_id, ()):
            reader = program.by_id.get(reader_id)
            if reader is None or len(reader.reads) != 1 or reader.is_table or reader.lives_out:
                continue
            known = compilation.values[reader_id]
            if _elements(known) != elements:
                continue
            # a GPU moves elements in a fusion, which has the op name of the loop that reads them
            is_move = known.opcode in SAME_ELEMENTS or primitive(known.op_name) == "while"
            if is_move or reader_id not in compilation.backward_ids:
                yield reader_id

    return frozenset(reached((value.value_id for value in members), copies))


def _beside(
    compilation: PlannableCompilation, program: PlannedProgram, of_loop: Iterable[PlannedValue]
) -> frozenset[int]:
    """Return the values that are computed next to a loop, which makes the values ``of_loop``."""
    around = {value.computation for value in of_loop} - {""}
    return frozenset(
        value.value_id
        for value in program.values
        if value.computation in around and not value.is_table
        # an edit may have added values that are not stored
        if (stored := compilation.values.get(value.value_id)) is not None
        if stored.opcode not in CONTROL_FLOW
    )


def _of_loop(
    compilation: PlannableCompilation,
    program: PlannedProgram,
    family_by_set: dict[int, frozenset[int]],
    carried: Iterable[PlannedValue],
    loop: str,
) -> LoopStacks:
    stacks = [program.sets[buffer_set][0] for buffer_set in family_by_set]
    read_ids, needed = _read_for(compilation, program, family_by_set, loop)
    iterations = min((*compilation.values[stack.value_id].dimensions, 1)[0] for stack in stacks)
    stacked_bytes = sum(stack.size_bytes for stack in stacks)
    carried_bytes = sum(value.size_bytes for value in carried if value.buffer_set in needed)
    inputs = Fraction(iterations * carried_bytes, stacked_bytes)
    one_iteration = Fraction(1, iterations)
    return LoopStacks(
        frozenset[int]().union(*family_by_set.values()),
        min(max(inputs - one_iteration, Fraction()), Fraction(1)),
        min(inputs + one_iteration, Fraction(1)),
        read_ids,
    )


def _read_for(
    compilation: PlannableCompilation,
    program: PlannedProgram,
    buffer_sets: Iterable[int],
    loop: str,
) -> tuple[frozenset[int], Collection[int]]:
    """Return the values outside of a loop from which its body computes the parts of stacks.

    The second are the buffer sets of those that it takes from the iteration before: a sum over the
    iterations is carried, but not needed again. An inner loop may need all of them.
    """
    by_id = program.by_id
    around = {value.computation for value in program.values if value.instruction == loop}
    waiting = [
        value
        for buffer_set in buffer_sets
        for value in program.sets[buffer_set]
        if _writes_forward(compilation, value)
    ]
    seen = {value.value_id for value in waiting}
    found: set[int] = set()
    carried: set[int] = set()
    needed: Collection[int] = carried
    while waiting:
        for each in waiting.pop().reads:
            value = by_id.get(each)
            if value is None or each in seen:
                continue
            seen.add(each)
            opcode = compilation.values[each].opcode
            if value.computation in around:
                found.add(each)
            elif opcode == "parameter":
                carried.add(value.buffer_set)
            elif opcode == "while":
                needed = program.sets
            else:
                waiting.append(value)
    return frozenset(found), needed


def _elements(value: StoredValue) -> int:
    return math.prod(value.dimensions)
