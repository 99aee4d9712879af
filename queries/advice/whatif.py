"""What a compilation would reserve under changes: its memory planned anew, as XLA does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.queries.advice.checkpoint import checkpoint
from xlagraph.queries.advice.donors import is_donated, pair_donations, parameters
from xlagraph.queries.advice.patterns import matching
from xlagraph.queries.advice.plannable_compilation import (
    PlannableCompilation,
    ValueFacts,
    plannable_compilation,
)
from xlagraph.queries.advice.whatif_result import DonatedParameter, PeakValue, WhatIf
from xlagraph.queries.errors import BadParameter, NoSuchName, QueryError
from xlagraph.queries.selection.compilations import find_compilation
from xlagraph.queries.stored_compilation.stored_compilation import StoredCompilation
from xlagraph.runtime.garbage_collection import collector_paused
from xlagraph.xla_planner.donation import DonatedProgram, Donor, donate
from xlagraph.xla_planner.memory_plan import MemoryPlan, plan_anew
from xlagraph.xla_planner.planned_program import PlannedProgram
from xlagraph.xla_planner.replay import Replay, replay
from xlagraph.xla_planner.value_changes import (
    with_shortened_values,
    with_shrunk_values,
    without_values,
)

__all__ = [
    "Changes",
    "parse_factor",
    "plan_stored",
    "whatif",
]

_MOST_VALUES: Final = 10


@dataclass(frozen=True, slots=True)
class Changes:
    """What to change; nothing by default. Patterns are those of `xlagraph.queries.advice`.

    Raises BadParameter for what is not a factor.
    """

    donate: Sequence[str] = ()
    """Parameters by number, label or op name; `all`."""
    without: Sequence[str] = ()
    """Patterns of values that are gone."""
    until_last_use: Sequence[str] = ()
    """Patterns of values that are freed as they are last read."""
    shrink: Mapping[str, float | str | Fraction] = field(default_factory=dict)
    """By pattern, the part of their bytes that values keep; `parse_factor` reads it."""
    checkpoint: Sequence[str] = ()
    """Scopes to put a checkpoint around."""

    def __post_init__(self) -> None:
        for factor in self.shrink.values():
            parse_factor(factor)

    def __bool__(self) -> bool:
        return any((self.donate, self.without, self.until_last_use, self.shrink, self.checkpoint))


@collector_paused(has_many=True)
def whatif(graph: Graph, compilation: str | None = None, changes: Changes | None = None) -> WhatIf:
    """Plan the memory of a compilation anew, under changes; from the graph alone.

    Raises NoSuchName where a pattern names nothing, QueryError where the dump had no live ranges,
    or no module text for a change.
    """
    found = find_compilation(graph, compilation)
    notes = () if found.note is None else (found.note,)
    stored = plannable_compilation(StoredCompilation(graph, found.key))
    return plan_stored(stored, changes or Changes(), notes=notes)


def parse_factor(factor: float | str | Fraction) -> Fraction:
    """Return the part of its bytes that a value keeps: `2`, `0.5` and `1/2` are all one half."""
    try:
        parsed = Fraction(str(factor))
    except (ValueError, ZeroDivisionError):
        parsed = Fraction(0)
    if parsed <= 0:
        raise BadParameter(f"{factor} is not a factor; give e.g. 2 or 0.5 for half of the bytes")
    return 1 / parsed if parsed > 1 else parsed


def plan_stored(
    stored: PlannableCompilation, changes: Changes, *, notes: tuple[str, ...] = ()
) -> WhatIf:
    """Replay the plan of a compilation and make it anew, without and with changes."""
    if not stored.has_ranges:
        raise QueryError(f"{stored.key}: the dump has no live ranges, nothing can be planned")
    replays = replay(stored.program)
    if not stored.has_buffer_sets:
        if changes:
            raise QueryError(
                f"{stored.key}: no module text was ingested with the dump, so only its own plan"
                " can be replayed; keep the `.txt` file of the same name beside the dump"
            )
        return _result(stored, replays, None, _Outcome(), notes)
    before = plan_anew(stored.program, replays)
    outcome = _changed(stored, changes, replays) if changes else _Outcome(before)
    return _result(stored, replays, before, outcome, notes)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The plan under changes."""

    plan: MemoryPlan | None = None
    at_most: MemoryPlan | None = None
    donation: DonatedProgram | None = None
    donated: tuple[DonatedParameter, ...] = ()
    assumptions: tuple[str, ...] = ()


def _changed(stored: PlannableCompilation, changes: Changes, replays: Sequence[Replay]) -> _Outcome:
    facts = stored.facts
    program = stored.program
    assumptions = ["the schedule stays as it is"]
    for pattern in changes.without:
        program = without_values(program, matching(pattern, facts))
    for pattern, factor in changes.shrink.items():
        kept = parse_factor(factor)
        program = with_shrunk_values(program, dict.fromkeys(matching(pattern, facts), kept))
    for pattern in changes.until_last_use:
        program = with_shortened_values(
            program, _last_uses(facts[value_id] for value_id in matching(pattern, facts))
        )
    most: PlannedProgram | None = None
    may_be_undone = False
    for scope in changes.checkpoint:
        found = checkpoint(stored, program, scope)
        most = checkpoint(stored, most, scope).most if most is not None else found.most
        program = found.least
        may_be_undone = may_be_undone or not found.is_of_loops
        assumptions.append(
            f"the {found.value_count} values that {scope} keeps for the backward pass"
            " are made again"
        )
    if may_be_undone and stored.platform == "cpu":
        assumptions.append(
            "the compiler may undo a checkpoint outside of a loop on CPU: then nothing is saved"
        )
    donation, donated = _donation(stored, program, changes.donate)
    plan = plan_anew(donation.program if donation else program, replays)
    at_most = None
    if most is not None:
        above, _ = _donation(stored, most, changes.donate)
        at_most = plan_anew(above.program if above else most, replays)
    return _Outcome(plan, at_most, donation, donated, tuple(assumptions))


def _last_uses(found: Iterable[ValueFacts]) -> dict[int, int]:
    return {facts.value_id: facts.last_use if facts.last_use is not None else -1 for facts in found}


def _donation(
    stored: PlannableCompilation, program: PlannedProgram, names: Sequence[str]
) -> tuple[DonatedProgram | None, tuple[DonatedParameter, ...]]:
    if not names:
        return None, ()
    named = {each.value_id for each in _named(stored, names)}
    already = {value_id for value_id in named if is_donated(stored, value_id)}
    kept = program.by_id.keys()
    gone = named - already - kept
    pairs, unpaired = pair_donations(stored, named - gone)
    left = [pair for pair in pairs if pair.output in kept]
    unpaired += [pair.parameter for pair in pairs if pair.output not in kept]
    donation = donate(program, left, knows_schedule=stored.drops_needless_copies)
    outcomes = [
        *((pair, "in place") for pair in donation.in_place),
        *((pair, "copied first") for pair in donation.copied),
        *((pair, "copied last") for pair in donation.copied_last),
        *((pair, "copied first and last") for pair in donation.copied_twice),
    ]
    found = [_donated(stored, pair, outcome) for pair, outcome in outcomes]
    found += [
        DonatedParameter(
            stored.facts[value_id].label,
            None,
            stored.program.by_id[value_id].size_bytes,
            outcome,
        )
        for outcome, value_ids in (
            ("no output", unpaired),
            ("donated already", already),
            ("gone", gone),
        )
        for value_id in value_ids
    ]
    return donation, tuple(
        sorted(found, key=lambda parameter: (-parameter.size_bytes, parameter.parameter))
    )


def _donated(stored: PlannableCompilation, pair: Donor, outcome: str) -> DonatedParameter:
    return DonatedParameter(
        stored.facts[pair.parameter].label,
        stored.facts[pair.output].label,
        stored.program.by_id[pair.parameter].size_bytes,
        outcome,
    )


def _named(stored: PlannableCompilation, names: Sequence[str]) -> list[ValueFacts]:
    """Return the parameters that are named, donated already or not."""
    every = parameters(stored)
    found: dict[int, ValueFacts] = {}
    for name in names:
        if name == "all":
            chosen = every
        elif name.isdecimal():
            chosen = [each for each in every if each.parameter and each.parameter[0] == int(name)]
        else:
            named = set(matching(name, {each.value_id: each for each in every}))
            chosen = [each for each in every if each.value_id in named]
        if not chosen:
            numbers = sorted({each.parameter[0] for each in every if each.parameter})
            span = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
            raise NoSuchName(f"there is no parameter {name}; the program has {span}", ())
        found |= {each.value_id: each for each in chosen}
    return list(found.values())


def _result(
    stored: PlannableCompilation,
    replays: Sequence[Replay],
    before: MemoryPlan | None,
    outcome: _Outcome,
    notes: tuple[str, ...],
) -> WhatIf:
    own = [replay for replay in replays if replay.allocation.color == 0]
    heap = outcome.plan.heap() if outcome.plan is not None else None
    peak = heap.peak_step if heap is not None else None
    if peak is not None and outcome.donation is not None:
        peak = outcome.donation.step_before(peak)
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
        donated=outcome.donated,
        assumptions=outcome.assumptions,
        notes=notes,
    )
    return replace(result, assumptions=(*outcome.assumptions, *_doubts(stored, result)))


def _doubts(stored: PlannableCompilation, result: WhatIf) -> list[str]:
    """Return why changes are not to be trusted, if they are not."""
    doubts = []
    if not result.offsets_equal or result.temp_bytes_replayed != result.temp_bytes:
        doubts.append("the temporary block does not replay: do not trust changes")
    replanned = result.reserved_bytes_replanned
    if replanned is None:
        doubts.append("no module text: nothing is planned anew")
    elif replanned != result.reserved_bytes:
        doubts.append(
            f"planned anew without a change, {replanned - result.reserved_bytes:+,} bytes are"
            " reserved: trust no difference of that size"
        )
    if any(allocation.color == 1 for allocation in stored.program.allocations):
        name = f" ({stored.space_names[1]})" if 1 in stored.space_names else ""
        doubts.append(f"memory space 1{name} is taken as it is: XLA assigns it before all else")
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
