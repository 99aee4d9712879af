"""Find the input whose elements a value holds, in another place, order or type."""

from collections.abc import Collection
from typing import Final

from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS

GATHERING: Final = frozenset(("all-gather", "all-gather-start", "all-gather-done"))
"""Opcodes that make a whole of which every device has a part."""
SLICING: Final = frozenset(("slice", "dynamic-slice"))
"""Opcodes that take a part."""


def input_of(
    program: PeakProgram,
    value: StoredValue,
    *,
    gathered: bool = False,
    sliced: bool = False,
    converted: bool = True,
) -> StoredValue | None:
    """Return the input or constant that a value is, or a copy of; None if it is computed.

    With ``gathered`` the value may be the whole of which the input is this device's part, with
    ``sliced`` a part of the input. Unless ``converted``, its elements must keep their type.
    """
    passing = MOVED_ELEMENTS | (GATHERING if gathered else set()) | (SLICING if sliced else set())
    passing -= set() if converted else {"convert"}
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
            waiting += (
                each
                for each in program.wholes_read_by(maker.name)
                if program.values[each].dimensions  # where a slice starts
            )
    return None


def multiplies_inputs(program: PeakProgram, product: str, value_ids: Collection[int]) -> bool:
    """Return True if all factors of a product are inputs, as points are, or parts of them.

    A gradient among the values that are made with the product shows weights that are trained.
    Vectors are added to the rows or columns of the product.
    """
    factors = [
        each
        for value_id in program.read_by.get(product, ())
        if len((each := program.values[value_id]).dimensions) > 1
    ]
    return (
        len(factors) > 1
        and all(input_of(program, each, sliced=True) is not None for each in factors)
        and not any(program.values[each].is_backward for each in value_ids)
    )
