"""The instructions in loops that read values, and the loops around them."""

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import is_checkpointed, is_recomputed
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue

READING_NOTHING: Final = (PASSING_ON | {"parameter"}) - {"conditional"}
"""Opcodes of instructions that only pass on values. A branch may read all of its operand."""


def readers_of_values(program: PeakProgram, value_ids: Collection[int]) -> set[str]:
    """Return the instructions that read values, and do not only pass them on."""
    readers = (program.readers_of.get(each, ()) for each in value_ids)
    return {
        name
        for name in chain.from_iterable(readers)
        if program.instructions[name].opcode not in READING_NOTHING
    }


def takes_parts(program: PeakProgram, value: StoredValue, reader: str) -> bool:
    """Return True for an instruction in a later loop, each iteration of which takes one part."""
    known = program.instructions[reader]
    is_later = known.loop not in (None, program.instructions[value.name].loop)
    return is_later and known.computes_with("dynamic-slice")


def is_around(program: PeakProgram, made: StoredValue, value: StoredValue) -> bool:
    """Return True if a larger value was made outside of the loop in which a value is made of it.

    What reads parts of the value reads parts of these parts.
    """
    loops = {program.instructions[each.name].loop for each in (made, value)}
    return len(loops) > 1 and made.size_bytes > value.size_bytes


def loops_around(program: PeakProgram, loop: str) -> Iterator[str | None]:
    """Yield the loops that contain one, innermost first, and None for the entry.

    A compiler moves what no iteration changes out of all of them.
    """
    around: str | None = loop
    while around is not None:
        around = program.instructions[around].loop
        yield around


def is_recomputed_backward(program: PeakProgram, reader: str, again: bool) -> bool:
    """Return True for a reader in a backward loop that a checkpoint around the body recomputes.

    The loop may take the part itself. One around the loop recomputes what is read, too (``again``).
    """
    known = program.instructions[reader]
    loop = program.instructions.get(known.loop or "")
    if loop is None or not program.is_backward(loop.name):
        return False
    if again and is_recomputed(loop.op_name):
        return False
    if is_checkpointed(known.op_name) or not known.computes_with("dynamic-slice"):
        return is_checkpointed(known.op_name)
    readers = readers_of_values(
        program, {each.value_id for each in program.made_by.get(reader, ())}
    )
    return bool(readers) and all(
        is_checkpointed(program.instructions[each].op_name) for each in readers
    )
