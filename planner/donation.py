"""Donation: a result of the program takes the bytes of an entry parameter.

The compiler joins both in one buffer set. If it cannot prove that the parameter is read no later
than its bytes are written, it keeps copies (`needed_copies`) of the parameter, of the result, or of
both, at certain steps (`copy_steps`).
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from xlagraph.planner.added_copies import AddedCopy, shifted, with_copies
from xlagraph.planner.copy_steps import parameter_order, step_of_result, steps_of_copies
from xlagraph.planner.needed_copies import (
    Copies,
    Donor,
    Readers,
    is_own_copy,
    is_written_after,
    needed_copies,
    overwritten_copy,
)
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import (
    cut_where_the_next_begins,
    with_sources_of_removed_copies,
    without_values,
)


@dataclass(frozen=True, slots=True)
class DonatedProgram:
    """A program with some parameters donated."""

    program: PlannedProgram
    in_place: tuple[Donor, ...]
    """Donors whose result is written over the parameter."""
    copied: tuple[Donor, ...]
    """Donors whose parameter is copied first."""
    copied_last: tuple[Donor, ...]
    """Donors whose result is copied over the parameter once it is made."""
    copied_twice: tuple[Donor, ...]
    """Donors with both copies."""
    copied_before: tuple[int, ...]
    """Steps of the unchanged schedule before which copies were inserted, in their order."""


def step_before_copies(step: int, copied_before: Iterable[int]) -> int:
    """Return the step in the original schedule for a step in the schedule with inserted copies."""
    copied_at = [before + number for number, before in enumerate(copied_before)]
    return step - bisect_left(copied_at, step)


def donate(
    program: PlannedProgram,
    donors: Iterable[Donor],
    *,
    like_sources: Collection[int] = (),
    knows_schedule: bool,
    copies_last: bool = False,
) -> DonatedProgram:
    """Return the program that the compiler would make if these parameters were donated.

    `like_sources`: copies with the layout of what they copy. `knows_schedule`: the compiler drops
    copies that the schedule proves unnecessary, as for GPUs and TPUs. `copies_last`: results are
    copied at the end, not as soon as possible.
    """
    every = sorted(donors, key=lambda donor: parameter_order(program, donor.parameter))
    returned = tuple(donor for donor in every if _is_returned_unchanged(program, donor))
    donors = [donor for donor in every if donor not in returned]
    if returned:  # a parameter that is its own result needs no copy
        own_copies = {donor.output for donor in returned}
        program = with_sources_of_removed_copies(program, own_copies)
        program = without_values(program, own_copies)
    if not donors:
        return DonatedProgram(program, returned, (), (), (), ())
    parameters = {donor.parameter for donor in donors}
    of_copies = {
        member.value_id
        for value in program.values
        if value.value_id in like_sources and not parameters.isdisjoint(value.operands)
        for member in program.sets[value.buffer_set]
    }
    readers = Readers(program.values, parameters | of_copies)
    results = [program.by_id[donor.output] for donor in donors]
    passed = {
        result.value_id
        for result in results
        if result.is_copy
        and any(each in program.by_id and program.by_id[each].is_stored for each in result.operands)
    }
    needed = {
        donor: needed_copies(program, donor, readers, passed, knows_schedule=knows_schedule)
        for donor in donors
    }
    dropped = {
        donor: copy
        for donor, kept in needed.items()
        if not kept.of_parameter
        and (copy := overwritten_copy(program, donor, readers, like_sources, knows_schedule))
    }
    for donor, copy in dropped.items():
        follows = is_written_after(program, donor, copy, readers, knows_schedule)
        needed[donor] = Copies(of_parameter=False, of_result=not follows)
    in_place = [donor for donor, copies in needed.items() if not any(copies)]
    copied = {donor.parameter for donor, kept in needed.items() if kept.of_parameter}
    steps = steps_of_copies(program, copied, knows_schedule=knows_schedule)
    last = max(value.live_from for value in program.values)
    copies = [
        AddedCopy(
            donor,
            steps[donor.parameter],
            is_of_result=False,
            post_order=_post_order_of_copy(program, donor, kept),
        )
        for donor, kept in needed.items()
        if kept.of_parameter
    ]
    copies += [
        AddedCopy(
            donor,
            last if copies_last else step_of_result(program, donor),
            is_of_result=True,
            post_order=program.by_id[donor.output].post_order,
        )
        for donor, kept in needed.items()
        if kept.of_result
    ]
    copies.sort(key=lambda copy: (copy.before, _ready_from(program, copy)))
    copied_before = tuple(copy.before for copy in copies)
    changed, result_copies = with_copies(_without_own_copies(program, in_place), copies)
    changed = _copied_once(changed, result_copies, {donor.parameter for donor in donors})
    joined = [
        donor._replace(
            output=result_copies.get(donor.output, donor.output),
            needed_until=shifted(_needed_until(program, donor), copied_before),
        )
        for donor in donors
    ]
    changed = _joined(changed, joined)
    if dropped:
        gone = {copy.value_id for copy in dropped.values()}
        changed = without_values(with_sources_of_removed_copies(changed, gone), gone)
    return DonatedProgram(
        changed,
        (*returned, *in_place),
        tuple(donor for donor, kept in needed.items() if kept == (True, False)),
        tuple(donor for donor, kept in needed.items() if kept == (False, True)),
        tuple(donor for donor, kept in needed.items() if kept == (True, True)),
        copied_before,
    )


def with_results_apart(
    program: PlannedProgram, parameters: Collection[int]
) -> tuple[PlannedProgram, dict[int, int]]:
    """Return the program as if these donated parameters were not donated.

    The copies that their donation needed are gone: their readers read the parameters. Also return
    the last steps of these readers, by parameter.
    """
    copied = {
        value.value_id: value.operands[0]
        for value in program.values
        if value.is_copy
        and len(value.operands) == 1
        and value.operands[0] in parameters
        and value.buffer_set != program.by_id[value.operands[0]].buffer_set
        and len(program.sets[value.buffer_set]) == 1
        and not value.lives_out
    }
    end = max(value.live_until for value in program.values)
    names = {
        program.by_id[each].buffer_set: min(
            (
                member.value_id
                for member in program.sets[program.by_id[each].buffer_set]
                if member.value_id not in parameters
            ),
            default=each,
        )
        for each in parameters
    }
    values = []
    last = dict.fromkeys(parameters, 0)
    for value in program.values:
        if value.value_id in copied:
            parameter = copied[value.value_id]
            last[parameter] = max(last[parameter], value.live_until)
            continue
        changed = value._replace(
            buffer_set=names.get(value.buffer_set, value.buffer_set),
            operands=tuple(copied.get(each, each) for each in value.operands),
            reads=tuple(copied.get(each, each) for each in value.reads),
        )
        if value.value_id in parameters:
            changed = changed._replace(buffer_set=value.value_id, live_until=end, lives_out=False)
        values.append(changed)
    overwrites = {
        value_id: tuple(
            each._replace(value_id=copied.get(each.value_id, each.value_id)) for each in may
        )
        for value_id, may in program.overwrites.items()
    }
    return replace(program, values=tuple(values), overwrites=overwrites), last


def _is_returned_unchanged(program: PlannedProgram, donor: Donor) -> bool:
    result = program.by_id[donor.output]
    return (
        result.is_copy
        and result.operands == (donor.parameter,)
        and len(program.sets[result.buffer_set]) == 1
    )


def _ready_from(program: PlannedProgram, copy: AddedCopy) -> int:
    """Return the step from which a result's copy can run; copies of parameters come first."""
    return program.by_id[copy.donor.output].live_from if copy.is_of_result else -1


def _post_order_of_copy(program: PlannedProgram, donor: Donor, kept: Copies) -> int:
    """Return the post-order of a parameter's copy.

    The copy of the result waits for it (a control predecessor), so that the depth-first search
    from the root finds it there at the latest: after the results before that one.
    """
    found = program.by_id[donor.parameter].post_order
    if not kept.of_result:
        return found
    root = next((value for value in program.values if value.is_table and value.lives_out), None)
    earlier = takewhile(lambda read: read != donor.output, root.reads if root is not None else ())
    by_id = program.by_id
    return min(
        found, max((by_id[each].post_order for each in earlier if each in by_id), default=-1)
    )


def _needed_until(program: PlannedProgram, donor: Donor) -> int:
    """Return the step until which a parameter is needed if the readers of its copies read it."""
    members = program.sets[program.by_id[donor.output].buffer_set]
    copies = (value.live_until for value in members if is_own_copy(program, value, donor))
    return max(copies, default=donor.needed_until)


def _without_own_copies(program: PlannedProgram, donors: Iterable[Donor]) -> PlannedProgram:
    unneeded = {
        value.value_id
        for donor in donors
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if is_own_copy(program, value, donor)
    }
    return replace(
        program, values=tuple(value for value in program.values if value.value_id not in unneeded)
    )


def _copied_once(
    program: PlannedProgram, result_copies: Mapping[int, int], donated: Collection[int]
) -> PlannedProgram:
    """Let the copy of a result that is another parameter read that parameter, or its copy.

    A parameter that is returned unchanged is a copy if it is not donated. With donation, the copy
    of the result is the only one.
    """
    by_id = program.by_id
    sources: dict[int, int] = {}
    for result, copy in result_copies.items():
        made = by_id[result]
        source = by_id.get(made.operands[0]) if made.is_copy and len(made.operands) == 1 else None
        if source is None or source.value_id in donated:  # no copy of the parameter
            continue
        if source.is_stored or (source.is_copy and source.operands[0] in donated):
            sources[copy] = source.value_id
    if not sources:
        return program
    gone = {result for result, copy in result_copies.items() if copy in sources}
    last = {source: by_id[copy].live_from for copy, source in sources.items()}
    values = [
        value._replace(operands=(sources[value.value_id],), reads=(sources[value.value_id],))
        if value.value_id in sources
        else value._replace(
            live_until=max(value.live_until, last.get(value.value_id, 0)),
            operands=tuple(
                result_copies[each] if each in gone else each for each in value.operands
            ),
            reads=tuple(result_copies[each] if each in gone else each for each in value.reads),
        )
        for value in program.values
        if value.value_id not in gone
    ]
    return replace(program, values=tuple(values))


def _joined(program: PlannedProgram, donors: Iterable[Donor]) -> PlannedProgram:
    """Join each parameter with the buffer set of its result, and allow others to reuse it."""
    donors = tuple(donors)
    changed = dict(program.by_id)
    ids_by_set = {
        name: [value.value_id for value in members] for name, members in program.sets.items()
    }
    freed = set()
    for donor in donors:
        parameter = changed[donor.parameter]
        freed.add(parameter.allocation)
        name = changed[donor.output].buffer_set
        ids_by_set[parameter.buffer_set].remove(donor.parameter)
        ids_by_set[name].append(donor.parameter)
        last = min(parameter.live_until, donor.needed_until)
        changed[donor.parameter] = parameter._replace(live_until=last, buffer_set=name)
        changed.update(
            cut_where_the_next_begins([changed[value_id] for value_id in ids_by_set[name]])
        )
    allocations = tuple(
        allocation._replace(maybe_live_out=True) if allocation.number in freed else allocation
        for allocation in program.allocations
    )
    return replace(program, values=tuple(changed.values()), allocations=allocations)
