"""Find the values that an edit of the values at the peak changes too."""

from collections.abc import Iterable
from math import prod
from typing import Final

from xlagraph.hlo.op_names import outside_loops, stem
from xlagraph.hlo.opcodes import CONTROL_FLOW
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import ids_of
from xlagraph.planner.planned_program import PlannedProgram

_PADDED: Final = 0.02
"""Share of the elements that padding or slicing may change."""
_GATHERS: Final = frozenset(("all-gather", "all-gather-start"))
_OF_LOOPS: Final = CONTROL_FLOW | {"tuple", "parameter"}
"""Opcodes of instructions that hand on values of other computations."""


def are_in_scopes(compilation: PlannableCompilation, labels: Iterable[str]) -> bool:
    """Return True if a scope, such as that of a layer, encloses one of these values."""
    found = (compilation.values[each] for each in ids_of(compilation, labels))
    return any(len(stem(value.known_op_name)) > 1 for value in found)


def in_whole_sets(compilation: PlannableCompilation, labels: Iterable[str]) -> list[str]:
    """Return the labels, and those of values that must share their bytes, such as a loop's state.

    A type is that of the whole state. That of an input or a result belongs to the caller, also
    where an iteration of a loop copies it.
    """
    program, by_label = compilation.program, compilation.id_by_label
    found = dict.fromkeys(
        label for label in labels if not _copies_state_of_caller(program, by_label.get(label))
    )
    sets = {
        program.by_id[value_id].buffer_set
        for label in found
        if (value_id := by_label.get(label)) in program.by_id
    }
    for members in map(program.sets.__getitem__, sorted(sets)):
        if not any(member.is_stored or member.lives_out for member in members):
            found |= dict.fromkeys(compilation.values[each.value_id].label for each in members)
    return list(found)


def with_same_elements(compilation: PlannableCompilation, labels: Iterable[str]) -> list[str]:
    """Return the labels, and those of values of about as many elements that belong together.

    They are computed from a value, or gathered elsewhere, as its gradient is. If a value is
    sharded, the compiler shards these, too.
    """
    found = ids_of(compilation, labels)
    sizes = {prod(compilation.values[each].dimensions) for each in found}

    def is_alike(value: StoredValue) -> bool:
        return any(abs(prod(value.dimensions) - size) <= _PADDED * size for size in sizes)

    gathered = [each for each in compilation.values.values() if each.opcode in _GATHERS]
    found |= {each.value_id for each in gathered if is_alike(each)}
    waiting = list(found)
    while waiting:
        for reader in compilation.readers.get(waiting.pop(), ()):
            value = compilation.values[reader]
            if reader not in found and value.opcode not in _OF_LOOPS and is_alike(value):
                found.add(reader)
                waiting.append(reader)
    return [compilation.values[each].label for each in sorted(found)]


def with_equal_ops(compilation: PlannableCompilation, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels, and those of values of the same ops and shapes that are live elsewhere.

    A checkpoint around an op is one wherever a program computes it: also in the loop that repeats
    it for further parts of a batch. On a CPU only values of loops are added: nothing of a
    checkpoint is certain there, and more values of the entry would only raise the most.
    """
    found, planned = dict.fromkeys(labels), compilation.program.by_id
    named = (compilation.values[compilation.id_by_label[label]] for label in found)
    ops = {_op_and_shape(value) for value in named}
    equal = (
        value
        for value in compilation.values.values()
        if value.known_op_name is not None and _op_and_shape(value) in ops
        if compilation.platform != "cpu"
        or (value.value_id in planned and not planned[value.value_id].is_in_entry)
    )
    return tuple(found | dict.fromkeys(value.label for value in equal))


def _op_and_shape(value: StoredValue) -> tuple[str | None, str]:
    return outside_loops(value.known_op_name), value.shape


def _copies_state_of_caller(program: PlannedProgram, value_id: int | None) -> bool:
    """Return True for a copy in a loop of a state that lies in an input or a result."""
    value = program.by_id.get(-1 if value_id is None else value_id)
    if value is None or not value.is_copy or value.is_in_entry or not value.operands:
        return False
    copied = program.by_id.get(value.operands[0], value)
    return any(each.is_stored or each.lives_out for each in program.sets[copied.buffer_set])
