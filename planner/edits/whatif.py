"""Replan a compilation's memory after changes, the way XLA would."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.donation import step_before_copies
from xlagraph.planner.edits.batch import ScaleBatch
from xlagraph.planner.edits.changes import Changes
from xlagraph.planner.edits.donating import name_of
from xlagraph.planner.edits.edit import Edit, Replanned, replan
from xlagraph.planner.edits.other_batch import find_batch
from xlagraph.planner.edits.reordering_edit import Reorder
from xlagraph.planner.edits.result import Effect, PeakValue, WhatIf
from xlagraph.planner.edits.schedules import Schedule, recomputes_early
from xlagraph.planner.memory_plan import HeapPlan
from xlagraph.presentation.byte_sizes import counted, human_bytes
from xlagraph.queries.errors import QueryError
from xlagraph.queries.runner.compilations import find_compilation
from xlagraph.runtime.memory import collector_paused

_MOST_VALUES: Final = 10


@collector_paused(has_many=True)
def whatif(graph: Graph, compilation: str | None = None, changes: Changes | None = None) -> WhatIf:
    """Replan a compilation's memory after changes; only the graph is read.

    Raises NoSuchName if a pattern names nothing, and QueryError if the dump had no live ranges, or
    no module text and changes are given.
    """
    found = find_compilation(graph, compilation)
    notes = () if found.note is None else (found.note,)
    stored = StoredCompilation(graph, found.key)
    read = plannable_compilation(stored)
    changes = changes or Changes()
    reorder = None
    if changes.schedule is not None:
        reorder = Reorder.of(stored, read, Schedule(changes.schedule))
    is_early = bool(changes.checkpoint) and reorder is None and not read.orders_recomputation
    return whatif_of(
        *(read, changes, find_batch(graph, read, changes), reorder),
        notes=notes,
        recomputes_early=is_early and recomputes_early(schedulable_program(stored)),
        stored=stored if reorder is None else None,
    )


def whatif_of(
    compilation: PlannableCompilation,
    changes: Changes,
    batch: ScaleBatch | None = None,
    reorder: Reorder | None = None,
    *,
    notes: tuple[str, ...] = (),
    recomputes_early: bool = False,
    stored: StoredCompilation | None = None,
) -> WhatIf:
    """Replay the plan of a compilation and replan it, without and with changes.

    With `reorder` the changes are made in another order of instructions.
    """
    if not compilation.has_ranges:
        raise QueryError(
            f"{compilation.key}: the dump has no live ranges, so nothing can be planned"
        )
    if changes and not compilation.has_buffer_sets:
        raise QueryError(
            f"{compilation.key}: the dump was ingested without its module text, so its plan can be"
            " replayed but not changed; keep the `.txt` file of the same name next to the dump"
        )
    edits: list[Edit] = [] if reorder is None else [reorder]
    ordered = compilation if reorder is None else reorder.ordered
    edits += changes.edits(ordered, batch, recomputes_early=recomputes_early, stored=stored)
    assumed = () if reorder is None else reorder.assumptions
    return _result(replan(compilation, edits), assumed, notes)


def _result(after: Replanned, assumed: tuple[str, ...], notes: tuple[str, ...]) -> WhatIf:
    compilation = after.compiled
    is_planned = compilation.has_buffer_sets
    own = [each for each in compilation.replays if each.allocation.memory_space == 0]
    heap = after.plan.heap() if is_planned else None
    edited = [step.edited for step in after.steps if step.edited is not None]
    peak = heap.peak_step if heap is not None else None
    if peak is not None:
        for each in reversed(edited):
            peak = step_before_copies(peak, each.copied_before)
    assumptions = [*assumed, *(text for each in edited for text in each.assumptions)]
    if edited and after.compilation is compilation:
        assumptions.insert(0, "the schedule does not change")
    lower_bound = heap.lower_bound_bytes if heap is not None else 0
    result = WhatIf(
        compilation=compilation.key,
        temp_bytes=sum(each.allocation.size_bytes for each in own),
        temp_bytes_replayed=sum(each.size_bytes for each in own),
        offsets_equal=all(each.offsets_equal for each in own),
        reserved_bytes=compilation.reserved_bytes.get(0, 0),
        reserved_bytes_replanned=compilation.plan.reserved_bytes() if is_planned else None,
        reserved_bytes_after=after.reserved_bytes() if is_planned else None,
        reserved_bytes_at_most=after.most_reserved_bytes() if after.most is not None else None,
        temp_bytes_after=after.plan.temp_bytes() if is_planned else None,
        peak_step_after=peak,
        lower_bound_bytes=lower_bound if is_planned else None,
        peak_values=_peak_values(compilation, heap),
        donated=tuple(parameter for each in edited for parameter in each.donated),
        effects=tuple(map(_effect, after.steps)),
        assumptions=(),
        notes=notes,
    )
    assumptions += _doubts(compilation, result)
    return replace(result, assumptions=tuple(dict.fromkeys(assumptions)))


def _effect(step: Replanned) -> Effect:
    assert step.edit is not None and step.edited is not None and step.before is not None  # noqa: S101, PT018 - a step is made by an edit
    value_ids, program = step.edited.value_ids, step.compilation.program
    in_plan = program.bytes_of(value_ids)
    before, after = step.edited.sizes or (in_plan, in_plan)
    saved = step.before.reserved_bytes() - step.reserved_bytes()
    matched = step.edit.matched or (value_ids if step.edited.recomputed_count else ())
    return Effect(
        *(step.edit.name, len(value_ids), len(program.sets_of(value_ids)), before, after, saved),
        _names(step.compilation, matched),
        step.sentence,
    )


def _names(compilation: PlannableCompilation, value_ids: Iterable[int]) -> tuple[str, ...]:
    """Return parameters by op name and other values by label, the largest first."""
    values = [compilation.values[each] for each in value_ids]
    values.sort(key=lambda value: (-value.size_bytes, value.value_id))
    return tuple(name_of(compilation, value) for value in values)


def _doubts(compilation: PlannableCompilation, result: WhatIf) -> list[str]:
    """Return reasons not to trust the effects of changes, if there are any."""
    doubts = []
    if not result.offsets_equal or result.temp_bytes_replayed != result.temp_bytes:
        doubts.append("the temporary block does not replay: do not trust the effects")
    replanned = result.reserved_bytes_replanned
    if replanned is None:
        doubts.append("no module text: nothing is replanned")
    elif replanned != result.reserved_bytes:
        doubts.append(
            f"replanning without a change differs by {replanned - result.reserved_bytes:+,} bytes"
            " from XLA's plan: do not trust effects of that size"
        )
    if any(allocation.memory_space == 1 for allocation in compilation.program.allocations):
        name = f" ({compilation.space_names[1]})" if 1 in compilation.space_names else ""
        moved = ", and may move values there or from there after a change" * bool(result.effects)
        doubts.append(f"memory space 1{name} is not replanned: XLA assigns it first{moved}")
    elsewhere = compilation.program.in_blocks_of_other_spaces
    if elsewhere:
        values = [value for found in elsewhere.values() for value in found]
        doubts.append(
            "changes save nothing of"
            f" {counted(len(values), 'value')} ({human_bytes(sum(e.size_bytes for e in values))})"
            " in blocks of another memory space, which are not replanned"
        )
    return doubts


def _peak_values(compilation: PlannableCompilation, heap: HeapPlan | None) -> tuple[PeakValue, ...]:
    step = heap.peak_step if heap is not None else None
    if heap is None or step is None:
        return ()
    live = [
        (group.size_bytes, value_id)
        for group in heap.groups
        for value_id, (first, last) in zip(group.value_ids, group.steps, strict=True)
        if first <= step <= last
    ]
    peak_values = []
    for size_bytes, value_id in sorted(live, key=lambda held: (-held[0], held[1]))[:_MOST_VALUES]:
        value = compilation.values.get(value_id)
        if value is None:
            peak_values.append(PeakValue("a copy that the compiler makes", size_bytes, "", None))
        else:
            peak_values.append(
                PeakValue(value.label, size_bytes, value.full_shape, value.known_op_name)
            )
    return tuple(peak_values)
