"""Find the line that reads a value: a fusion has the line of its result, not of each read."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.metadata import is_installed
from xlagraph.hlo.op_names import last_part
from xlagraph.planner.dimensions.module_operations import Operation

_MOVING: Final = frozenset(("bitcast", "reshape", "copy", "transpose", "get-tuple-element"))
"""Opcodes that read a value in a fusion without computing anything."""


class PlaceOfRead(NamedTuple):
    """What reads a value, in the program's own words."""

    op: str
    """Last part of the op name; empty if unknown."""
    file: str | None
    line: int | None


def place_of_read(
    program: PeakProgram, instruction: str, value_ids: Collection[int]
) -> PlaceOfRead:
    """Return the place at which an instruction first computes with one of these values.

    It is the instruction's own, unless a fusion with call stacks contains that operation. One
    without a line that only moves elements has the place of its first reader.
    """
    for read in _reads(program, instruction, value_ids):
        if (place := _stated_place(program, instruction, read.name)) is not None:
            return place
    own = program.instructions[instruction]
    file, line = program.place_of(instruction)
    if file is None and own.computes_only(_MOVING):
        made = [each.value_id for each in program.made_by.get(instruction, ())]
        readers = {name for each in made for name in program.readers_of.get(each, ())}
        if readers:
            first = min(readers, key=lambda name: (program.rows.get(name, 0), name))
            return place_of_read(program, first, made)
    return PlaceOfRead(last_part(own.op_name), file, line)


def is_same_expression(program: PeakProgram, one: str, other: str) -> bool:
    """Return True if two instructions belong to one line and scope, or one call of a library."""
    place = program.place_of(one)
    if place[0] is None or place != program.place_of(other):
        return False
    both = [program.instructions[each] for each in (one, other)]
    ops = [each.op_name or "" for each in both]
    scopes = [op.rpartition("/")[0] for op in ops]
    is_one = scopes[0] in (scopes[1], ops[1]) or scopes[1] == ops[0]
    return is_one or all(is_installed(each.source_file or "") for each in both)


def is_in_call(program: PeakProgram, place: PlaceOfRead, reader: str, writer: str) -> bool:
    """Return True if the read and the write are in one line's calls of libraries.

    What a fusion of another line reads may be computed there again. A reader that the compiler has
    made for itself, without a file, belongs to the call.
    """
    read, written = (program.instructions[each].source_file for each in (reader, writer))
    is_one = place.file is not None and (place.file, place.line) == program.place_of(writer)
    is_of_library = read is None or is_installed(read)
    return is_one and is_of_library and is_installed(written or "")


def repeats_write(program: PeakProgram, place: PlaceOfRead, reader: str, writer: str) -> bool:
    """Return True if a fusion that reads the new value computes it once more from the old one.

    No line can be put before another one: in the program, the reader already uses the new value.
    """
    (written, *others) = program.made_by[writer]
    over = {each.value_id for each in program.program.overwrites.get(written.value_id, ())}
    read = {each for each in program.read_by.get(writer, ()) if each not in over}
    of_write = PlaceOfRead(
        last_part(program.instructions[writer].op_name), *program.place_of(writer)
    )
    if not (place.op and of_write.op):  # a scatter or a conversion that the compiler has expanded
        place = place._replace(op=of_write.op)
    is_one = place.file is not None and place == of_write
    return is_one and not others and read.issubset(program.read_by.get(reader, ()))


def _stated_place(program: PeakProgram, fusion: str, operation: str) -> PlaceOfRead | None:
    """Return the place of an operation of a fusion; None if the module has no call stacks."""
    module = program.stored.operations
    text = None if module is None else module.program
    (runs,) = program.operations[fusion].callees["calls"]
    found = None if text is None else text.find(operation, runs)
    if text is None or found is None:
        return None
    frame = text.user_frame(found.attributes.stack_frame)
    file, line = text.source_location(found.attributes)
    if frame is not None:
        file, line = frame.file, frame.line
    if file is None or is_installed(file):
        return None
    return PlaceOfRead(last_part(found.attributes.op_name), file, line)


def _reads(
    program: PeakProgram, instruction: str, value_ids: Collection[int]
) -> Iterator[Operation]:
    """Yield the operations of a fusion that compute with one of these values, in order."""
    fusion = program.operations.get(instruction)
    called = () if fusion is None else program.fused_operations(fusion)
    operands = {
        use.operand for use in program.uses_by.get(instruction, ()) if use.value_id in value_ids
    }
    names = {each.name for each in called if not operands.isdisjoint(_number(each))}
    for each in called:
        if not names.isdisjoint(operand.name for operand in each.operands):
            if each.opcode in _MOVING:
                names.add(each.name)
            else:
                yield each


def _number(operation: Operation) -> Collection[int]:
    return operation.numbers.get("number", ()) if operation.opcode == "parameter" else ()
