"""Find what a program computes only for certain numbers, such as the norm of a gradient."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.orders.schedulable import SchedulableProgram

_MOST_BYTES: Final = 64
"""Most bytes of a number that is computed."""


def readers_of_set(program: PeakProgram, value: StoredValue) -> set[str]:
    """Return the instructions that compute with a value, or with what shares its bytes.

    A TPU may compute with a copy of the value, or of parts of it, in another memory space.
    """

    def moved(value_id: int) -> Iterator[int]:
        for name in program.readers_of.get(value_id, ()):
            if program.moves(name):
                yield from (each.value_id for each in program.made_by.get(name, ()))

    ids = set(reached((each.value_id for each in program.members_of(value)), moved))
    makers = {program.values[each].name for each in ids}
    return {
        name
        for each in ids
        for name in program.readers_of.get(each, ())
        if program.instructions[name].opcode not in PASSING_ON and not program.moves(name)
    } - makers


def needed_only_for(program: PeakProgram, readers: Collection[str]) -> set[int]:
    """Return the ids of the values that exist only for numbers that these instructions compute.

    A loop exists only for these if all of its results do, and so does a stack that a loop fills for
    it. Empty if anything larger than a number is computed from theirs.
    """
    schedulable = program.schedulable
    if schedulable is None or not all(name in program.rows for name in readers):
        return set()
    first = {program.rows[name] for name in readers}
    owners = {schedulable.owners[row] for row in first}
    if len(owners) != 1:
        return set()
    unneeded = _unneeded(schedulable, owners.pop(), first)
    names = set(_with_callees(schedulable, unneeded))
    found: set[int] = set()
    for members in program.program.sets.values():
        if any(each.is_stored or each.lives_out or each.is_table for each in members):
            continue
        values = [program.values[each.value_id] for each in members]
        own = {each.name for each in values if not each.is_phi}
        readers_of = (program.readers_of.get(each.value_id, ()) for each in members)
        computing = {
            name
            for each in readers_of
            for name in each
            if program.instructions[name].opcode not in PASSING_ON
        } - own
        is_stack = any(each.stack_loop for each in values) and computing
        if own <= names or (is_stack and computing <= names):
            found |= {each.value_id for each in members}
    return found


def _unneeded(program: SchedulableProgram, computation: str, first: Collection[int]) -> set[int]:
    """Return what is computed from some instructions, and what is computed for these alone."""
    owner = program.computations[computation]
    users: defaultdict[int, set[int]] = defaultdict(set)
    for row in owner.instructions:
        for operand in program.instructions[row].operands:
            users[operand].add(row)
    found, waiting = set(first), list(first)
    while waiting:
        for user in users[waiting.pop()] - found - {owner.root}:
            if program.instructions[user].result_bytes > _MOST_BYTES:
                return set()
            found.add(user)
            waiting.append(user)
    for row in reversed(owner.instructions):
        if row != owner.root and users[row] and users[row] <= found:
            found.add(row)
    return found


def _with_callees(program: SchedulableProgram, rows: Collection[int]) -> Iterator[str]:
    """Yield the names of instructions and of those that they run."""
    waiting = list(rows)
    while waiting:
        each = program.instructions[waiting.pop()]
        yield each.name
        for callee in each.callees:
            waiting += program.computations[callee].instructions
