"""Reasons why a change of a what-if has no effect."""

from collections.abc import Collection, Sequence

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.result import DonatedParameter
from xlagraph.planner.memory_plan import MemoryPlan
from xlagraph.planner.planned_program import PlannedProgram

__all__ = [
    "why_donation_saves_nothing",
    "why_not_changed",
    "why_not_shortened",
    "why_nothing_is_saved",
]


def why_not_changed(
    stored: PlannableCompilation, program: PlannedProgram, named: Collection[int]
) -> str:
    """Return why no named value changes its size."""
    if not named:
        return "no value is named"
    planned = [program.by_id[value_id] for value_id in named if value_id in program.by_id]
    if not planned:
        if any(value_id in stored.program.by_id for value_id in named):
            return "an earlier change removes these values"
        return (
            "the named values are thread-local or have no live range, so they are not in the plan"
        )
    if all(value.is_table for value in planned):
        return "the named values are tables of pointers, which keep their size"
    if all(value.size_bytes == 0 for value in planned):
        return "the named values take no bytes"
    return "the named values keep their size"


def why_not_shortened(
    stored: PlannableCompilation, program: PlannedProgram, named: Collection[int]
) -> str:
    """Return why no named value is freed earlier."""
    planned = [program.by_id[value_id] for value_id in named if value_id in program.by_id]
    if not planned:
        return why_not_changed(stored, program, named)
    if all(value.is_stored for value in planned):
        return "parameters and constants live to the end"
    if all(value.lives_out or value.is_stored for value in planned):
        return "results of the program live to the end"
    return "the named values are already freed at their last use, or are returned"


def why_nothing_is_saved(
    stored: PlannableCompilation,
    program: PlannedProgram,
    plan: MemoryPlan,
    value_ids: Collection[int],
) -> str:
    """Return why changing these values saves nothing in the plan of this program."""
    blocks = [
        block for block in plan.blocks if any(value.value_id in value_ids for value in block.values)
    ]
    in_blocks = {value.value_id for block in blocks for value in block.values}
    in_heap = [
        program.by_id[value_id]
        for value_id in value_ids
        if value_id in program.by_id and value_id not in in_blocks
    ]
    if not any(program.by_id[each].color == 0 for each in value_ids if each in program.by_id):
        return "the values are in another memory space"
    if not in_heap:
        others = [
            value for block in blocks for value in block.values if value.value_id not in value_ids
        ]
        largest = max(others, key=lambda value: value.size_bytes, default=None)
        facts = stored.facts.get(largest.value_id) if largest is not None else None
        if facts is not None:
            return f"{facts.label} uses the same bytes at another time"
        return "other values use the same bytes"
    heap = plan.heap()
    peak = heap.peak_step if heap is not None else None
    if peak is not None and not any(value.first <= peak <= value.last for value in in_heap):
        return f"none of them is live at step {peak}, the peak of the temporary block"
    return "another step needs as much, or the other values cannot be packed more tightly"


def why_donation_saves_nothing(effective: Sequence[DonatedParameter]) -> str:
    """Return why donated parameters save nothing."""
    if all(each.outcome != "in place" for each in effective):
        return "the compiler keeps a copy of each"
    return "temporaries used the bytes of the results and now need other bytes"
