"""Sentences about the effect of an edit, and the reasons why it has none."""

from collections.abc import Collection

from xlagraph.planner.edits.edit import Replanned
from xlagraph.presentation.byte_sizes import human_bytes


def saved_text(after: Replanned, before: Replanned, why: str = "") -> str:
    """Return what an edit saves or costs, or why it saves nothing."""
    saved = before.reserved_bytes() - after.reserved_bytes()
    if saved > 0:
        return f"saves {human_bytes(saved)} of reserved memory"
    if saved < 0:
        return f"costs {human_bytes(-saved)}: the values pack less tightly"
    changed = after.edited.value_ids if after.edited is not None else ()
    return f"saves nothing: {why or why_nothing_is_saved(before, changed)}"


def saved_range_text(after: Replanned, before: Replanned, why: str = "") -> str:
    """Return the least and the most that an edit saves, or why it saves nothing."""
    saved_most = before.reserved_bytes() - after.reserved_bytes()
    saved_least = before.most_reserved_bytes() - after.most_reserved_bytes()
    low, high = sorted((saved_least, saved_most))
    if low == high or high <= 0:
        return saved_text(after, before, why)
    if low > 0:
        return f"saves {human_bytes(low)} to {human_bytes(high)} of reserved memory"
    return f"saves up to {human_bytes(high)} of reserved memory"


def why_not_changed(before: Replanned, named: Collection[int]) -> str:
    """Return why no named value changes its size."""
    if not named:
        return "no value matches"
    program = before.program
    planned = [program.by_id[value_id] for value_id in named if value_id in program.by_id]
    if not planned:
        if any(value_id in before.compilation.program.by_id for value_id in named):
            return "an earlier change removes these values"
        return (
            "the named values are thread-local or have no live range, so they are not in the plan"
        )
    if all(value.is_table for value in planned):
        return "the named values are tables of pointers, which keep their size"
    if all(value.size_bytes == 0 for value in planned):
        return "the named values take no bytes"
    return "the named values keep their size"


def why_nothing_is_saved(before: Replanned, value_ids: Collection[int]) -> str:
    """Return why an edit of these values saves nothing: what else needs the bytes before it."""
    if not value_ids:
        return "what it has to keep takes as many bytes"
    by_id = before.program.by_id
    blocks = [
        block
        for block in before.plan.blocks
        if any(value.value_id in value_ids for value in block.values)
    ]
    in_blocks = {value.value_id for block in blocks for value in block.values}
    if not any(by_id[each].memory_space == 0 for each in value_ids if each in by_id):
        return "the values are in another memory space"
    in_heap = [by_id[each] for each in value_ids if each in by_id and each not in in_blocks]
    if not in_heap:
        others = [
            value for block in blocks for value in block.values if value.value_id not in value_ids
        ]
        largest = max(others, key=lambda value: value.size_bytes, default=None)
        named = before.compilation.values.get(largest.value_id) if largest is not None else None
        if named is not None:
            return f"{named.label} uses the same bytes at another time"
        return "other values use the same bytes"
    heap = before.plan.heap()
    peak = heap.peak_step if heap is not None else None
    if peak is not None and not any(
        value.live_from <= peak <= value.live_until for value in in_heap
    ):
        return f"none of them is live at step {peak}, the peak of the temporary block"
    return "another step needs as much, or the other values cannot be packed more tightly"
