"""Attribution: which op of the user's program each value belongs to.

The first rule that finds an instruction with an op name decides. File, line and call stack
are those of the same instruction.

0. stack: the value lies in a stack that a loop fills. Rules 0 to 3 are applied to what an iteration
   writes there (see `stacks`).
1. own: the defining instruction.
2. inside: an instruction of the computation that the defining instruction calls (fusion, call,
   async, custom call; also nested). The search is breadth first from the root, operands in
   their order. For a tuple element it begins at that operand of the root.
3. operand: the defining instruction only moves or reshapes, or is a fusion of such
   instructions. Rules 0 to 3 are applied to its first operand; for the result of a loop or
   call, to the value passed in. So a conversion or copy of a stack belongs to its element.
4. reader: the first reader in the schedule for which rule 0, 1 or 2 finds one.

A value belongs to no op if no rule finds one.

The user's line is the innermost frame of that instruction's call stack that is outside of
installed packages. Without a call stack it is the instruction's line, if that is outside.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import Program
from xlagraph.ingest.measures.op_search import OpSearch, SearchRule, StackOfValue
from xlagraph.ingest.measures.source_places import Location, Places, UserLine
from xlagraph.ingest.plan import Plan

_OP: Final = attrgetter("op_name", "source_file", "source_line", "stack_frame")


class Attribution(NamedTuple):
    """The instruction with an op name to which a value belongs."""

    rule: SearchRule
    op_name: str
    source_file: str | None
    source_line: int | None
    stack_frame: int | None
    """Innermost frame of its call stack."""
    user_line: UserLine | None


class Attributions(NamedTuple):
    """The op that each value of a plan belongs to, and the stack in which it lies."""

    owners: tuple[Attribution | None, ...]
    stacks: tuple[StackOfValue | None, ...]


def attributions(
    plan: Plan,
    program: Program,
    steps: Mapping[str, int],
    instructions: Mapping[str, Instruction],
    places: Places,
) -> Attributions:
    """Return the attribution and the stack of each of the plan's values.

    ``steps`` maps names of scheduled instructions to their steps, and ``instructions`` are those
    that the plan names, by name.

    Algorithm: rule 1 decides for nearly all values, so it is a table by instruction. For the
    other values, rules 0 to 3 look once at each instruction with its shape index, rule 4 at
    each use of the remaining values: linear in instructions and uses.
    """
    search = OpSearch(program, instructions, places)
    ops = [_OP(each.attributes) for each in instructions.values()]
    own = {op: _attribution(SearchRule.OWN, op, places) for op in set(ops) if op[0] is not None}
    own_by_name = dict(zip(instructions, map(own.get, ops), strict=True))
    owners = [own_by_name.get(value.name) for value in plan.values]
    stacks = search.stacks_of_values(plan.values)
    remaining = {}
    for index, value in enumerate(plan.values):
        if owners[index] is None or stacks[index] is not None:
            found = search.of_value(value)
            if found is None:
                remaining[value.value_id] = index
            else:
                rule, instruction = found
                owners[index] = _attribution(rule, _OP(instruction.attributes), places)
    for used in plan.used_values or ():
        if used.value_id in remaining:
            readers = {use.instruction for use in used.uses} & steps.keys()
            reader = search.first(sorted(readers, key=steps.__getitem__))
            if reader is not None:
                op = _OP(reader.attributes)
                owners[remaining[used.value_id]] = _attribution(SearchRule.READER, op, places)
    return Attributions(tuple(owners), stacks)


def _attribution(rule: SearchRule, op: tuple[str | None, *Location], places: Places) -> Attribution:
    file, line, frame, user_line = places[op[1:]]
    return Attribution(rule, op[0] or "", file or None, line, frame, user_line)
