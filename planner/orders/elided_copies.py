"""Copies that XLA's GPU compiler drops, or adds, after it has ordered the instructions.

It inserts copies, orders the instructions, and then inserts copies once more, knowing the order
(`copy-insertion` before and after scheduling, xla/service/gpu/gpu_compiler.cc):

- A donated parameter that is read while a result may be written over it is copied first. The copy
  is dropped if the order has all readers before the writer.
- Each loop counter starts with a copy of one constant. Afterwards one copy of the constant begins
  one loop, and is copied for the others.

Without these copies, the orders of XLA's schedulers are not those of the dumps of most programs
that donate parameters (jaxlib 0.10.2, H100).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count

from xlagraph.hlo.walks import reached
from xlagraph.planner.orders.choice_of_three import THREE
from xlagraph.planner.orders.rules import may_make_all
from xlagraph.planner.orders.schedulable import (
    SchedulableInstruction,
    SchedulableProgram,
    SchedulableValue,
)


def with_copies(program: SchedulableProgram) -> SchedulableProgram:
    """Return the program of a GPU with the one that XLA ordered, if that is another one.

    A dump does not tell when the copy of a constant that is copied again was made: it is taken for
    an added one if a scheduler may then have chosen the dump's order.
    """
    entry = program.computations[program.entry].instructions
    parameters = sorted(set(_written_over(program)))
    added = [step for step in entry if _is_copied_again(program, step)]
    found = _ordered(program, parameters, added)
    is_made = not added or any(may_make_all(rule, found) for rule in THREE)
    return found if is_made else _ordered(program, parameters, ())


def with_donations(
    program: SchedulableProgram, sets: Mapping[int, int]
) -> tuple[SchedulableProgram, bool]:
    """Return the program with more parameters donated, and if XLA orders more copies of them.

    ``sets`` are the buffer sets of the parameters, by those of the results that are written over
    them. The copies that are taken for added ones stay so.
    """
    given = set(sets.values())
    values = [
        each._replace(
            buffer_set=sets.get(each.buffer_set, each.buffer_set),
            is_kept=each.is_kept and each.buffer_set not in given,
        )
        for each in program.values
    ]
    joined = replace(program, values=tuple(values), as_ordered=None, dropped=frozenset(), added=())
    copied = set(_written_over(joined))
    is_ordered_otherwise = any(
        each.buffer_set in given and each.defined_at in copied for each in values
    )
    return _ordered(joined, sorted(copied), program.added), is_ordered_otherwise


def _ordered(
    program: SchedulableProgram, parameters: Collection[int], added: Collection[int]
) -> SchedulableProgram:
    """Return the program with the one that has copies of parameters, and no added copies.

    Copies have numbers after all others; in the dump's order, each one would run directly before
    its first reader.
    """
    instructions, users = program.instructions, program.users
    numbers = count(len(instructions))
    created = max((each.created for each in instructions), default=0)
    copies: dict[int, SchedulableInstruction] = {}
    operands: defaultdict[int, dict[int, int]] = defaultdict(dict)

    def copied(step: int, operand: int) -> int:
        number = next(numbers)
        copies[number] = instructions[step]._replace(
            name=f"copy.{number}", opcode="copy", operands=(operand,), created=created + number
        )
        return number

    of_parameter = {step: copied(step, step) for step in parameters}
    for parameter, number in of_parameter.items():
        for user in users[parameter]:
            operands[user][parameter] = number
    for step in added:
        (constant,) = instructions[step].operands
        for user in users[step]:
            is_copy = instructions[user].opcode == "copy"
            operands[user][step] = constant if is_copy else copied(step, constant)
    if not operands:
        return program
    ordered = list(instructions)
    for user, changed in operands.items():
        read = [changed.get(operand, operand) for operand in instructions[user].operands]
        ordered[user] = instructions[user]._replace(operands=tuple(read))
    for step in added:  # belongs to no computation
        ordered[step] = instructions[step]._replace(operands=(), control_predecessors=())
    entry = program.computations[program.entry]
    order: dict[int, None] = {}
    for step in entry.instructions:
        if step not in added:
            order |= dict.fromkeys(each for each in ordered[step].operands if each in copies)
            order[step] = None
    as_ordered = replace(
        program,
        instructions=(*ordered, *copies.values()),
        computations={
            **program.computations,
            program.entry: replace(entry, instructions=tuple(order)),
        },
        values=tuple(_values_with_copies(program, of_parameter)),
        dropped=frozenset(copies),
    )
    return replace(program, as_ordered=as_ordered, added=tuple(added))


def _is_copied_again(program: SchedulableProgram, step: int) -> bool:
    """Return True for the copy of a constant that is copied again."""
    each = program.instructions[step]
    return (
        each.opcode == "copy"
        and program.instructions[each.operands[0]].opcode == "constant"
        and any(program.instructions[user].opcode == "copy" for user in program.users[step])
    )


def _written_over(program: SchedulableProgram) -> Iterator[int]:
    """Yield the entry parameters that are read by what need not run before they are written over.

    A result has the bytes of such a parameter.
    """
    instructions, owners = program.instructions, program.owners
    members: defaultdict[int, list[SchedulableValue]] = defaultdict(list)
    for value in program.values:
        if owners[value.defined_at] == program.entry:
            members[value.buffer_set].append(value)

    def before(step: int) -> list[int]:
        each = instructions[step]
        return [other for other in (*each.operands, *each.control_predecessors) if other >= least]

    for values in members.values():
        parameters = [
            each for each in values if instructions[each.defined_at].opcode == "parameter"
        ]
        written = [each.defined_at for each in values if each not in parameters]
        if len(parameters) != 1 or not written:
            continue
        least = min(parameters[0].uses, default=0)  # what runs before all readers leads to none
        ordered = set(reached([min(written)], before))
        users = {program.within(step, program.entry) for step in parameters[0].uses}
        if not users <= ordered:
            yield parameters[0].defined_at


def _values_with_copies(
    program: SchedulableProgram, copies: Mapping[int, int]
) -> Iterator[SchedulableValue]:
    """Yield all values; what reads a copied parameter reads the value of its copy."""
    numbers = count(max((value.value_id for value in program.values), default=0) + 1)
    for value in program.values:
        number = copies.get(value.defined_at)
        if number is None:
            yield value
            continue
        value_id = next(numbers)
        elsewhere = [each for each in value.positions if each != value.defined_at]
        yield value._replace(positions=(value.defined_at,), uses=(number,))
        yield value._replace(
            value_id=value_id,
            defined_at=number,
            positions=(number, *elsewhere),
            buffer_set=value_id,
        )
