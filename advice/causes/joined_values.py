"""Find the values of which an array consists.

A concatenation reads all of them. A TPU writes them into a new buffer, each by its own instruction.
"""

from collections.abc import Sequence
from math import prod
from typing import Final

from xlagraph.advice.causes.old_values import written_in_part
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_JOINING: Final = SAME_ELEMENTS | {"broadcast", "concatenate"}
_WRITING: Final = SAME_ELEMENTS | {"constant", "dynamic-update-slice"}
_ALLOCATING: Final = "custom-call"
"""Opcode of AllocateBuffer, which is fused with the first of such updates."""


def is_concatenation(program: PeakProgram, instruction: str) -> bool:
    """Return True for an instruction that joins its operands and computes nothing else."""
    known = program.instructions[instruction]
    return known.computes_with("concatenate") and known.computes_only(_JOINING)


def joined_values(program: PeakProgram, value: StoredValue) -> Sequence[int]:
    """Return the ids of the values that a value only joins, in order; none for other values."""
    maker = program.instructions.get(value.name)
    if maker is None or not value.dimensions:
        return ()
    if is_concatenation(program, maker.name):
        return program.read_by.get(value.name, ())
    if not maker.computes_with("dynamic-update-slice") or _is_continued(program, value):
        return ()
    found: list[int] = []
    into: StoredValue | None = value
    while into is not None:
        maker = program.instructions[into.name]
        written = written_in_part(program, into)
        if not maker.computes_only(_WRITING if written else {*_WRITING, _ALLOCATING}):
            return ()
        read = program.read_by.get(into.name, ())
        found += [each for each in read if written is None or each != written.value_id]
        into = written
    written_elements = sum(prod(program.values[each].dimensions) for each in found)
    is_whole = written_elements == prod(value.dimensions)
    if not is_whole or not maker.computes_with(_ALLOCATING):
        return ()
    return [_before_moves(program, each) for each in reversed(found)]


def _before_moves(program: PeakProgram, value_id: int) -> int:
    """Return the value that a TPU took to another memory space, whole or in parts."""
    value: StoredValue | None = program.values[value_id]
    while value is not None and program.moves(value.name):
        value_id = value.value_id
        wholes = (program.values[each] for each in program.wholes_read_by(value.name))
        value = next((each for each in wholes if each.dimensions == value.dimensions), None)
    return value_id if value is None else value.value_id


def _is_continued(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if another instruction writes the next part of the array."""
    return any(
        written_in_part(program, made) == value
        for name in program.readers_of.get(value.value_id, ())
        for made in program.made_by.get(name, ())
    )
