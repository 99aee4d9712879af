"""A program with the copies of parameters and results that the compiler adds for donation.

Each copy is a separate step, so that the bytes of one parameter are free for the next.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from xlagraph.planner.needed_copies import Donor
from xlagraph.planner.planned_program import Overwrite, PlannedProgram, PlannedValue

_NO_ALLOCATION: Final = -1
"""Allocation number of a value that XLA's plan does not contain."""


@dataclass(frozen=True, slots=True)
class AddedCopy:
    """A copy of a donated parameter, or of the result that takes its bytes."""

    donor: Donor
    before: int
    """Step of the unchanged schedule before which it is inserted."""
    is_of_result: bool
    post_order: int


def with_copies(
    program: PlannedProgram, copies: Sequence[AddedCopy]
) -> tuple[PlannedProgram, dict[int, int]]:
    """Return the program with copies added, and the id of each result's copy by result.

    `copies` are in the order of their steps. All readers of a copied parameter read the copy.
    """
    if not copies:
        return program, {}
    before = tuple(copy.before for copy in copies)
    unused_id = max(program.by_id, default=0) + 1
    of_parameters: dict[int, PlannedValue] = {}
    of_results: dict[int, PlannedValue] = {}
    for number, copy in enumerate(copies):
        made = _copy(program, copy, copy.before + number, unused_id + number, before)
        if copy.is_of_result:
            of_results[copy.donor.output] = made
        else:
            of_parameters[copy.donor.parameter] = made
    copied_ids = {parameter: made.value_id for parameter, made in of_parameters.items()}
    read_until = _last_reads(program, of_results)

    def changed(value: PlannedValue) -> PlannedValue:
        if (made := of_parameters.get(value.value_id)) is not None:
            first = min(value.post_order, made.post_order)  # an operand comes before its reader
            return value._replace(live_until=made.live_from, post_order=first)
        later = value._replace(
            live_from=shifted(value.live_from, before), live_until=shifted(value.live_until, before)
        )
        if (made := of_results.get(value.value_id)) is not None:
            last = max(made.live_from, shifted(read_until.get(value.value_id, -1), before))
            later = later._replace(live_until=last, lives_out=False)
        return _with_copied_operands(later, copied_ids)

    def overwritten(each: Overwrite) -> Overwrite:
        # the result's table shows the copy, so that the result itself is shown last by its maker
        is_shown_last = each.is_operand and each.value_id in of_results
        return Overwrite(
            copied_ids.get(each.value_id, each.value_id),
            each.is_operand,
            each.may_share_block or is_shown_last,
        )

    overwrites = {
        value_id: tuple(map(overwritten, found)) for value_id, found in program.overwrites.items()
    }
    values = (*map(changed, program.values), *of_parameters.values(), *of_results.values())
    return (
        replace(program, values=values, overwrites=overwrites),
        {result: made.value_id for result, made in of_results.items()},
    )


def _copy(
    program: PlannedProgram, copy: AddedCopy, first: int, value_id: int, before: Sequence[int]
) -> PlannedValue:
    result = program.by_id[copy.donor.output]
    copied = result if copy.is_of_result else program.by_id[copy.donor.parameter]
    needed_until = result.live_until if copy.is_of_result else copy.donor.needed_until
    return copied._replace(
        value_id=value_id,
        buffer_set=value_id,
        live_from=first,
        live_until=shifted(max(needed_until, copy.before), before),
        is_copy=True,
        post_order=copy.post_order,
        is_stored=False,
        lives_out=copy.is_of_result,
        instruction=f"copy of {copied.instruction}",
        operands=(copied.value_id,),
        reads=(copied.value_id,),
        allocation=_NO_ALLOCATION,
    )


def _last_reads(program: PlannedProgram, results: Mapping[int, PlannedValue]) -> dict[int, int]:
    """Return the last step in which each result is read; returning it does not count."""
    found: dict[int, int] = {}
    for value in program.values:
        if not (value.is_table and value.lives_out):
            for read in value.reads:
                if read in results:
                    found[read] = max(value.live_from, found.get(read, -1))
    return found


def shifted(step: int, copied_before: Sequence[int]) -> int:
    """Return the number of a step after copies are inserted before some steps, in order."""
    return step + bisect_right(copied_before, step)


def _with_copied_operands(value: PlannedValue, copied_ids: Mapping[int, int]) -> PlannedValue:
    if copied_ids.keys().isdisjoint(value.reads):
        return value
    return value._replace(
        operands=tuple(copied_ids.get(read, read) for read in value.operands),
        reads=tuple(copied_ids.get(read, read) for read in value.reads),
    )
