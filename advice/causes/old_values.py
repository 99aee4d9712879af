"""Find which instructions force a copy of an old value: the readers that nothing orders.

XLA writes a new value over an old one if every reader of the old value must run before the write:
if a path of operands or control dependencies leads from the reader to the writer. Otherwise it
copies the old value first, or writes elsewhere and copies the new one.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.random_bits import makes_random_bits
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.orders.schedulable import SchedulableProgram

_FORWARDING: Final = PASSING_ON | {"parameter", "constant"}
"""Opcodes that neither read the elements of a value nor write new ones, other than copies."""

_WRITES_OF_PARTS: Final = ("dynamic-update-slice", "scatter")


@dataclass(frozen=True, slots=True)
class OldValue:
    """An old value that copies keep, and the instructions around its overwrite."""

    value: StoredValue
    writer: str
    """The instruction whose result takes the bytes of the old value."""
    readers: tuple[str, ...]
    """Readers that no dependence orders before the writer, in the schedule's order."""
    needs_both: bool
    """True if one of these readers also depends on the writer, so that it cannot run before it."""
    value_ids: frozenset[int]
    """Ids of the values that they read: the old value, or copies of it."""
    write: str
    """The instruction that makes what is written: the writer, or the loop that fills a stack."""


def old_value(program: PeakProgram, copies: Sequence[StoredValue]) -> OldValue | None:
    """Return the old value that copies of each other, or of what is written into them, keep.

    None if nothing is written over it, or if the writer itself cannot run in place.
    """
    found = _of_one_write(program, copies)
    return found if found and found.readers else _of_each_copy(program, copies) or found


def _of_each_copy(program: PeakProgram, copies: Sequence[StoredValue]) -> OldValue | None:
    """Return the old value whose readers make the compiler write into a copy; None without them.

    What the writer's own line reads, such as that of a sort, no other line can come before.
    """
    schedulable, rows = program.schedulable, program.rows
    copied = {value.value_id for value in copies}
    if schedulable is None:
        return None
    found: list[tuple[StoredValue, StoredValue, list[str]]] = []
    for copy in copies:
        old = _source(program, copy)
        writer = _writer(program, copy, copied, after=copy.live_from or 0)
        if old is None or writer is None or writer.name not in rows:
            continue
        write = _row_of_write(program, writer)
        readers = [
            name
            for name in _readers(program, {old.value_id})
            if program.place_of(name) != program.place_of(writer.name)
            and not is_ordered_before(schedulable, rows[name], write)
        ]
        if readers:
            found.append((old, writer, readers))
    if not found:
        return None
    old, first, _ = found[0]
    names = {each for _, _, readers in found for each in readers}
    return OldValue(
        old,
        first.name,
        tuple(sorted(names, key=rows.__getitem__)),
        any(
            is_ordered_before(schedulable, _row_of_write(program, writer), rows[each])
            for _, writer, readers in found
            for each in readers
        ),
        frozenset(each.value_id for each, _, _ in found),
        _write(program, first),
    )


def _of_one_write(program: PeakProgram, copies: Sequence[StoredValue]) -> OldValue | None:
    copied = {value.value_id for value in copies}
    sources = [_source(program, value) for value in copies]
    first = next((each for each in sources if each and each.value_id not in copied), None)
    if first is None:
        return None
    old = first
    olds = copied | {old.value_id}
    writer = _writer(program, first, copied, after=first.live_from or 0)
    if writer is None:
        # the new value is made elsewhere and copied over the old one
        taken = (_before(program, each, copied) for each in copies)
        before = next((each for each in taken if each is not None), None)
        if before is None or first.opcode in _FORWARDING:
            return None
        writer, old, olds = first, before, {before.value_id}
    reads = set(program.read_by.get(writer.name, ()))
    may = {each.value_id for each in program.program.overwrites.get(writer.value_id, ())}
    if reads & olds and not may & olds:
        return None
    schedulable = program.schedulable
    rows = program.rows
    if schedulable is None or writer.name not in rows:
        return None
    write = _row_of_write(program, writer)
    readers = [
        name
        for name in _readers(program, olds)
        if name != writer.name and not is_ordered_before(schedulable, rows[name], write)
    ]
    return OldValue(
        old,
        writer.name,
        tuple(sorted(readers, key=rows.__getitem__)),
        any(is_ordered_before(schedulable, write, rows[name]) for name in readers),
        frozenset(olds),
        _write(program, writer),
    )


def is_ordered_before(program: SchedulableProgram, earlier: int, later: int) -> bool:
    """Return True if one instruction must run before another one, or contains it.

    Instructions of called computations are compared where their callers meet.
    """
    outer = callers(program, earlier)
    for at in callers(program, later):
        for inside in outer:
            if program.owners[inside] == program.owners[at]:
                return inside == at or _depends(program, at, inside)
    return False


def moved_carries(
    program: PeakProgram,
) -> tuple[dict[int, tuple[str, int, int]], dict[int, tuple[str, int]]]:
    """Return the loop carries that an iteration passes on in another place, and all carries.

    Parts of them may be written before, also by a loop inside. By value id, also of what is
    written: the loop, the place of the carry, and its next place; loop and place of all. The loops
    of a random number generator are left out: no line of the program moves their carries. So is a
    carry in the place of one that no iteration reads: two steps in one would not help.
    """
    schedulable = program.schedulable
    found: dict[int, tuple[str, int, int]] = {}
    places: dict[int, tuple[str, int]] = {}
    if schedulable is None:
        return found, places
    at = {(name, index): value for value, name, index in program.stored.positions}
    for loop in schedulable.instructions:
        if loop.opcode != "while" or len(loop.callees) < 2:
            continue
        if makes_random_bits(program, loop.name):
            continue
        body = schedulable.computations.get(loop.callees[-1])
        if body is None or schedulable.instructions[body.root].opcode != "tuple":
            continue
        steps = (schedulable.instructions[each] for each in body.instructions)
        parameter = next((each.name for each in steps if each.opcode == "parameter"), "")
        root = schedulable.instructions[body.root].name
        carries = {value: index for (name, index), value in at.items() if name == parameter}
        places |= {
            value: (loop.name, int(index[1:-1]))
            for value, index in carries.items()
            if index and index[1:-1].isdecimal()
        }
        moved: dict[str, tuple[int, ...]] = {}
        for (name, index), value_id in at.items():
            if name == root and index is not None and index[1:-1].isdecimal():
                chain = tuple(_in_place_of(program, at, program.values[value_id]))
                if chain[-1] in places and carries.get(chain[-1], index) != index:
                    moved[index] = chain
        passed_on = {chain[-1] for chain in moved.values()}
        for index, chain in moved.items():
            old = at.get((parameter, index))
            if old is not None and (old in passed_on or _is_read(program, old, root)):
                found |= dict.fromkeys(chain, (*places[chain[-1]], int(index[1:-1])))
    return found, places


def _is_read(program: PeakProgram, value_id: int, root: str) -> bool:
    """Return True if an instruction computes with a value or a copy of it, other than the root."""
    readers = set(program.readers_of.get(value_id, ())) - {root}
    copies = {each for each in readers if program.instructions[each].opcode == "copy"}
    made = [each.value_id for name in copies for each in program.made_by.get(name, ())]
    return readers != copies or any(_is_read(program, each, root) for each in made)


def _source(program: PeakProgram, copy: StoredValue) -> StoredValue | None:
    """Return the value that a copy copies."""
    read = program.read_by.get(copy.name, ())
    return program.values[read[0]] if read else None


def _in_place_of(
    program: PeakProgram, at: Mapping[tuple[str, str | None], int], value: StoredValue
) -> Iterator[int]:
    """Yield the id of a value, and those that it is a copy, a later state or a new version of.

    Values are found by position: instruction and shape index.
    """
    found: StoredValue | None = value
    while found is not None:
        yield found.value_id
        if found.opcode == "copy":
            found = _source(program, found)
        elif found.opcode == "while" and program.schedulable and found.name in program.rows:
            instructions = program.schedulable.instructions
            (given,) = instructions[program.rows[found.name]].operands
            before = at.get((instructions[given].name, found.shape_index))
            found = None if before is None else program.values[before]
        else:
            found = written_in_part(program, found)


def written_in_part(program: PeakProgram, value: StoredValue) -> StoredValue | None:
    """Return the operand of which an instruction writes a part; None for other instructions."""
    maker = program.instructions.get(value.name)
    if maker is None or not any(map(maker.computes_with, _WRITES_OF_PARTS)):
        return None
    may = (each.value_id for each in program.program.overwrites.get(value.value_id, ()))
    written = [each for each in map(program.values.__getitem__, may) if is_alike(each, value)]
    return written[0] if len(written) == 1 else None


def is_alike(value: StoredValue, other: StoredValue) -> bool:
    """Return True for arrays of the same elements, whose dimensions of length 1 may differ."""
    is_same = (value.dtype, value.squeezed) == (other.dtype, other.squeezed)
    return is_same and value.is_array


def _writer(
    program: PeakProgram, old: StoredValue, copied: Iterable[int], *, after: int
) -> StoredValue | None:
    """Return the first value that is computed into the bytes of an old one.

    If none is, what a loop stacks may be copied over it.
    """
    later = [
        program.values[member.value_id]
        for member in program.members_of(old)
        if member.live_from > after and member.value_id not in {old.value_id, *copied}
    ]
    computed = [value for value in later if value.opcode not in _FORWARDING]
    stacks = [value for value in later if _copied_stack(program, value) is not None]
    return min(
        computed or stacks,
        key=lambda value: (value.live_from or 0, value.value_id),
        default=None,
    )


def _row_of_write(program: PeakProgram, writer: StoredValue) -> int:
    """Return the row of the instruction that makes what is written: for a stack, of its loop."""
    return program.rows[_write(program, writer)]


def _write(program: PeakProgram, writer: StoredValue) -> str:
    stack = _copied_stack(program, writer)
    return (stack and stack.stack_loop) or writer.name


def _copied_stack(program: PeakProgram, value: StoredValue) -> StoredValue | None:
    """Return the stack that a value is a copy of; None for other values."""
    source = _source(program, value) if value.opcode == "copy" else None
    return source and program.stack_of(source)


def _before(program: PeakProgram, copy: StoredValue, copied: Container[int]) -> StoredValue | None:
    """Return the value whose bytes a copy takes."""
    earlier = [
        each
        for each in program.members_of(copy)
        if each.live_from < (copy.live_from or 0) and each.value_id not in copied
    ]
    last = max(earlier, key=lambda each: (each.live_from, each.value_id), default=None)
    return None if last is None else program.values[last.value_id]


def _readers(program: PeakProgram, value_ids: Iterable[int]) -> list[str]:
    """Return the scheduled instructions that compute with one of these values, each once."""
    names = dict.fromkeys(name for each in value_ids for name in program.readers_of.get(each, ()))
    return [
        name
        for name in names
        if name in program.rows and program.instructions[name].opcode not in _FORWARDING
    ]


def callers(program: SchedulableProgram, step: int) -> list[int]:
    """Return an instruction, and those that run it, innermost first."""
    found = [step]
    while (caller := program.callers.get(program.owners[found[-1]])) is not None:
        found.append(caller)
    return found


def _depends(program: SchedulableProgram, later: int, earlier: int) -> bool:
    """Return True if a path of operands or control dependencies leads to an instruction."""
    waiting, seen = [later], {later}
    while waiting:
        each = program.instructions[waiting.pop()]
        for before in (*each.operands, *each.control_predecessors):
            if before == earlier:
                return True
            # an instruction runs after all that it depends on
            if before > earlier and before not in seen:
                seen.add(before)
                waiting.append(before)
    return False
