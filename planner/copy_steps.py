"""The steps at which the compiler copies donated parameters, and the results that take their bytes.

A schedule that begins with all parameters copies them directly after, each in turn with the
instructions that are ready once its parameter is there. One that places each parameter where it is
needed (CPU, jaxlib 0.4.30) makes each copy just before its first reader.
"""

from bisect import bisect_left
from collections.abc import Collection
from itertools import accumulate, takewhile

from xlagraph.planner.needed_copies import Donor
from xlagraph.planner.planned_program import PlannedProgram, begin_of


def steps_of_copies(
    program: PlannedProgram, copied: Collection[int], *, knows_schedule: bool
) -> dict[int, int]:
    """Return the step before which the compiler inserts each parameter's copy, by parameter."""
    parameters = [value.value_id for value in program.values if value.is_stored]
    start = _first_step(program)
    if knows_schedule:
        return dict.fromkeys(parameters, start)
    if _begins_with_parameters(program):
        return _steps_as_ready(program, copied)
    first_reads: dict[int, int] = {}
    for value in program.values:
        for read in value.reads:
            first_reads[read] = min(value.live_from, first_reads.get(read, value.live_from))
    return {parameter: first_reads.get(parameter, start) for parameter in parameters}


def step_of_result(program: PlannedProgram, donor: Donor) -> int:
    """Return the step before which a result is copied.

    A schedule that saves memory copies it at once. Others first run all instructions that were
    ready when the result was made.
    """
    made = program.by_id[donor.output].live_from
    if not _begins_with_parameters(program):
        return made + 1
    by_id = program.by_id
    later = [
        value.live_from
        for value in program.values
        if value.is_in_entry
        and value.live_from > made
        and any(by_id[read].live_from > made for read in value.reads if read in by_id)
    ]
    return min(later, default=max(made + 1, max(value.live_from for value in program.values)))


def parameter_order(program: PlannedProgram, parameter: int) -> tuple[int, tuple[int, ...], int]:
    """Return the sort key of a parameter in the order in which the compiler copies them."""
    allocation = program.stored_in(program.by_id[parameter])
    if allocation is None:
        return 0, (), parameter
    index = (allocation.shape_index or "{}")[1:-1]
    numbers = tuple(int(part) for part in index.split(",") if part)
    return allocation.parameter_number or 0, numbers, parameter


def _steps_as_ready(program: PlannedProgram, copied: Collection[int]) -> dict[int, int]:
    """Return the step before which each parameter's copy runs if what is ready first runs first.

    It runs after the instructions that are ready once earlier parameters are there. Readers of
    copies wait for them, so that those do not count.
    """
    numbers = {each.number for each in program.allocations if each.parameter_number is not None}
    stored = [each for each in program.values if each.is_stored and each.allocation in numbers]
    stored.sort(key=lambda value: parameter_order(program, value.value_id))
    turns = {value.value_id: turn for turn, value in enumerate(stored)}
    computed = [each for each in program.values if each.is_in_entry and not each.is_stored]
    computed.sort(key=begin_of)
    first_reads: dict[int, int] = {}
    for value in computed:
        for read in value.reads:
            first_reads.setdefault(read, value.live_from)
    ends = sorted(
        (max(map(turns.__getitem__, value.reads), default=-1), value.live_from + 1)
        for value in takewhile(lambda value: turns.keys() >= set(value.reads), computed)
        if not any(read in copied for read in value.reads)
    )
    latest = list(accumulate((end for _, end in ends), max, initial=_first_step(program)))
    steps: dict[int, int] = {}
    for parameter in copied:
        step = latest[bisect_left(ends, (turns[parameter],))]
        steps[parameter] = min(step, first_reads.get(parameter, step))
    return steps


def _begins_with_parameters(program: PlannedProgram) -> bool:
    """Return True if the schedule begins with all parameters: what is ready first runs first."""
    numbers = {allocation.parameter_number for allocation in program.allocations} - {None}
    return _first_step(program) >= len(numbers)


def _first_step(program: PlannedProgram) -> int:
    return min((value.live_from for value in program.values if not value.is_stored), default=0)
