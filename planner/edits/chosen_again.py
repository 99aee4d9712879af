"""The order that XLA's GPU compiler chooses again for an edited program.

It takes the best of three orders, two of which depend on the sizes of values. It also orders copies
of donated parameters that it drops afterwards.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from xlagraph.hlo.op_names import is_recomputed
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.schedules import reordering_of, with_order
from xlagraph.planner.orders.choice_of_three import chosen_by_estimate
from xlagraph.planner.orders.elided_copies import with_copies, with_donations
from xlagraph.planner.orders.order_ranges import Ranges
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.orders.rules import may_make_all, order_of
from xlagraph.planner.orders.schedulable import SchedulableProgram
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.queries.errors import QueryError


def reordering_of_choice(
    stored: StoredCompilation, compilation: PlannableCompilation
) -> Reordering | None:
    """Return the reordering of a GPU's program if the dump has the order that is chosen for it.

    None also for a program that recomputes values outside of loops: no dump has the barriers that
    order them.
    """
    if not compilation.is_gpu or any(
        value.is_in_entry and is_recomputed(compilation.values[value.value_id].known_op_name)
        for value in compilation.program.values
    ):
        return None
    try:
        found = reordering_of(stored, compilation)
    except QueryError:
        return None
    program = found.schedulable
    is_known = not program.is_asynchronous and found.is_exact
    return found if is_known and may_make_all(chosen_by_estimate(found), program) else None


def chosen_again(
    found: Reordering, compilation: PlannableCompilation, scaled: PlannedProgram
) -> PlannableCompilation:
    """Return the compilation with the program in the order that is chosen for these sizes."""
    before, after = found.planned.by_id, scaled.by_id
    less: defaultdict[int, int] = defaultdict(int)
    values = []
    for value in found.schedulable.values:
        size_bytes = value.size_bytes
        if (old := before.get(value.value_id)) is not None and old.size_bytes:
            size_bytes = size_bytes * after[value.value_id].size_bytes // old.size_bytes
        less[value.defined_at] += value.size_bytes - size_bytes
        values.append(value._replace(size_bytes=size_bytes))
    instructions = tuple(
        [
            each._replace(defined_bytes=each.defined_bytes - less[step]) if less[step] else each
            for step, each in enumerate(found.schedulable.instructions)
        ]
    )
    program = replace(found.schedulable, instructions=instructions, values=tuple(values))
    return in_chosen_order(replace(found, planned=scaled), compilation, program)


def in_chosen_order(
    found: Reordering, compilation: PlannableCompilation, program: SchedulableProgram
) -> PlannableCompilation:
    """Return the compilation in the order that is chosen for a program of other instructions.

    ``found`` has the planned program whose values these instructions make.
    """
    program = with_copies(replace(program, as_ordered=None))
    changed = replace(found, schedulable=program, ranges=Ranges(program, found.ranges.rules))
    order = order_of(program, chosen_by_estimate(changed))
    return with_order(compilation, changed, changed.flat(order))


def chosen_with_donations(
    found: Reordering, compilation: PlannableCompilation, outputs: Mapping[int, int]
) -> PlannableCompilation | None:
    """Return the compilation in the order that is chosen if parameters are donated.

    ``outputs`` are the parameters, by the results that are written over them; they are not yet
    donated in what is returned. None if the order stays the same.
    """
    sets = {value.value_id: value.buffer_set for value in found.schedulable.values}
    joined = {sets[output]: sets[each] for output, each in outputs.items() if output in sets}
    program, is_ordered_otherwise = with_donations(found.schedulable, joined)
    if not is_ordered_otherwise:
        return None
    planned = replace(
        found.planned,
        values=tuple(
            [
                value._replace(buffer_set=joined.get(value.buffer_set, value.buffer_set))
                for value in found.planned.values
            ]
        ),
    )
    ranges = Ranges(program, found.ranges.rules)
    donated = replace(found, planned=planned, schedulable=program, ranges=ranges)
    order = order_of(program, chosen_by_estimate(donated))
    if order == found.schedulable.present_order:
        return None
    return with_order(compilation, found, found.flat(order))
