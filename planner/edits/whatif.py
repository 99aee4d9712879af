"""Replan the memory of a compilation after changes, the way XLA would."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.batch import Batch
from xlagraph.planner.edits.changes import Changes, parse_factor
from xlagraph.planner.edits.other_batch import find_batch
from xlagraph.planner.edits.result import PeakValue, WhatIf
from xlagraph.planner.edits.steps import Outcome, changed
from xlagraph.planner.memory_plan import MemoryPlan, replan
from xlagraph.planner.replay import Replay, replay
from xlagraph.queries.errors import QueryError
from xlagraph.queries.runner.compilations import find_compilation
from xlagraph.runtime.garbage_collection import collector_paused

__all__ = [
    "Changes",
    "parse_factor",
    "plan_stored",
    "whatif",
]

_MOST_VALUES: Final = 10


@collector_paused(has_many=True)
def whatif(graph: Graph, compilation: str | None = None, changes: Changes | None = None) -> WhatIf:
    """Replan the memory of a compilation after changes; only the graph is read.

    Raises NoSuchName if a pattern names nothing, and QueryError if the dump had no live ranges, or
    no module text and changes are given.
    """
    found = find_compilation(graph, compilation)
    notes = () if found.note is None else (found.note,)
    stored = plannable_compilation(StoredCompilation(graph, found.key))
    changes = changes or Changes()
    return plan_stored(stored, changes, find_batch(graph, stored, changes), notes=notes)


def plan_stored(
    stored: PlannableCompilation,
    changes: Changes,
    batch: Batch | None = None,
    *,
    notes: tuple[str, ...] = (),
) -> WhatIf:
    """Replay the plan of a compilation and replan it, without and with changes."""
    if not stored.has_ranges:
        raise QueryError(f"{stored.key}: the dump has no live ranges, so nothing can be planned")
    replays = replay(stored.program)
    if not stored.has_buffer_sets:
        if changes:
            raise QueryError(
                f"{stored.key}: the dump was ingested without its module text, so its plan can be"
                " replayed but not changed; keep the `.txt` file of the same name beside the dump"
            )
        return _result(stored, replays, None, Outcome(), notes)
    before = replan(stored.program, replays)
    outcome = changed(stored, changes, batch, replays, before) if changes else Outcome(before)
    return _result(stored, replays, before, outcome, notes)


def _result(
    stored: PlannableCompilation,
    replays: Sequence[Replay],
    before: MemoryPlan | None,
    outcome: Outcome,
    notes: tuple[str, ...],
) -> WhatIf:
    own = [replay for replay in replays if replay.allocation.color == 0]
    heap = outcome.plan.heap() if outcome.plan is not None else None
    peak = heap.peak_step if heap is not None else None
    if peak is not None and outcome.donation is not None:
        peak = outcome.donation.donated.step_before(peak)
    lower_bound = heap.lower_bound_bytes if heap is not None else 0
    result = WhatIf(
        compilation=stored.key,
        temp_bytes=sum(replay.allocation.size_bytes for replay in own),
        temp_bytes_replayed=sum(replay.size_bytes for replay in own),
        offsets_equal=all(replay.offsets_equal for replay in own),
        reserved_bytes=stored.reserved_bytes.get(0, 0),
        reserved_bytes_replanned=before.reserved_bytes() if before is not None else None,
        reserved_bytes_after=outcome.plan.reserved_bytes() if outcome.plan is not None else None,
        reserved_bytes_at_most=outcome.at_most.reserved_bytes() if outcome.at_most else None,
        temp_bytes_after=outcome.plan.temp_bytes() if outcome.plan is not None else None,
        peak_step_after=peak,
        lower_bound_bytes=lower_bound if outcome.plan is not None else None,
        peak_values=_peak_values(stored, outcome.plan),
        donated=outcome.donation.parameters if outcome.donation is not None else (),
        effects=outcome.effects,
        assumptions=outcome.assumptions,
        notes=notes,
    )
    return replace(result, assumptions=(*outcome.assumptions, *_doubts(stored, result)))


def _doubts(stored: PlannableCompilation, result: WhatIf) -> list[str]:
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
    if any(allocation.color == 1 for allocation in stored.program.allocations):
        name = f" ({stored.space_names[1]})" if 1 in stored.space_names else ""
        doubts.append(f"memory space 1{name} is not replanned: XLA assigns it first")
    return doubts


def _peak_values(stored: PlannableCompilation, plan: MemoryPlan | None) -> tuple[PeakValue, ...]:
    heap = plan.heap() if plan is not None else None
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
        facts = stored.facts.get(value_id)
        if facts is None:
            peak_values.append(PeakValue("a copy that the compiler makes", size_bytes, "", None))
        else:
            peak_values.append(PeakValue(facts.label, size_bytes, facts.shape, facts.op_name))
    return tuple(peak_values)
