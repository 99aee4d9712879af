"""Find the input whose elements a value holds, in another place, order or type."""

from typing import Final

from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_HANDED_ON: Final = SAME_ELEMENTS | {"copy-start", "copy-done"}
"""Opcodes between an input and its copy."""
GATHERING: Final = frozenset(("all-gather", "all-gather-start", "all-gather-done"))
"""Opcodes that make a whole of which every device has a part."""


def input_of(
    program: PeakProgram, value: StoredValue, *, gathered: bool = False
) -> StoredValue | None:
    """Return the input or constant that a value is, or a copy of; None if it is computed.

    With ``gathered`` the value may be the whole of which the input is this device's part.
    """
    passing = _HANDED_ON | GATHERING if gathered else _HANDED_ON
    waiting, seen = [value.value_id], set[int]()
    while waiting:
        each = waiting.pop()
        members = program.members_of(program.values[each])
        if each in seen or not members:
            continue
        seen.add(each)
        given = next((member.value_id for member in members if member.is_stored), None)
        if given is not None:
            return program.values[given]
        waiting += [member.value_id for member in members]
        maker = program.instructions.get(program.values[each].name)
        if maker is not None and (maker.computes_only(passing) or maker.target == JOINED_PARTS):
            waiting += program.wholes_read_by(maker.name)
    return None
