"""Relationships of a compilation, made by one function for each type.

Their ends are row numbers of the nodes.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from xlagraph.graph.schema_relationships import (
    AllocatesRows,
    AppearsAtRows,
    AttributedFrameRows,
    AttributedLineRows,
    AttributedToRows,
    CalledFromRows,
    CompiledRows,
    DefinesRows,
    FromLineRows,
    FromOpRows,
    HoldsRows,
    InFrameRows,
    InPrintedPeakRows,
    LiveAtPeakRows,
    LiveFromRows,
    LiveUntilRows,
    MayOverwriteRows,
    NextRows,
    OfModuleRows,
    PacksRows,
    ReusesRows,
    SchedulesRows,
    StatesRows,
    UpdatesInPlaceRows,
    UsedByRows,
    UsesSpaceRows,
    WithinRows,
)
from xlagraph.graph.schema_types import RelationshipRows
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.rows.row_source import NumberedFacts, Provenance

_Name = TypeVar("_Name", bound=Hashable)


def _compiled(*_: object) -> CompiledRows:
    return CompiledRows(source=[0], target=[0])  # one run, one compilation


def _of_module(provenance: Provenance, _: CompilationFacts) -> OfModuleRows:
    ends = [] if provenance.files.name.module is None else [0]
    return OfModuleRows(source=ends, target=ends)


def _packs(source: NumberedFacts) -> PacksRows:
    count = int(source.facts.packed_module is not None)
    return PacksRows(source=[0] * count, target=_numbers(count))


def _holds(source: NumberedFacts) -> HoldsRows:
    values = source.facts.plan.values
    rows = {allocation.number: row for row, allocation in enumerate(source.facts.plan.allocations)}
    return HoldsRows(
        source=[rows[value.allocation] for value in values],
        target=_numbers(len(values)),
        offset_bytes=[value.offset_bytes for value in values],
        size_bytes=[value.size_bytes for value in values],
    )


def _used_by(source: NumberedFacts) -> UsedByRows:
    uses_of_each = [used.uses for used in source.facts.plan.used_values or ()]
    uses = [use for uses in uses_of_each for use in uses]
    rows = source.instruction_rows
    return UsedByRows(
        source=_repeated(source.used_rows, uses_of_each),
        target=[rows[use.instruction] for use in uses],
        operand=[use.operand for use in uses],
        operand_index=[use.operand_index for use in uses],
    )


def _repeated(rows: Iterable[int], lists: Iterable[Sequence[object]]) -> list[int]:
    """Return each row once for each item of its list."""
    return [row for row, items in zip(rows, lists, strict=True) for _ in items]


def _defines(source: NumberedFacts) -> DefinesRows:
    rows = source.defining_rows
    return DefinesRows(source=rows, target=_numbers(len(rows)))


def _appears_at(source: NumberedFacts) -> AppearsAtRows:
    positions_of_each = [used.positions for used in source.facts.plan.used_values or ()]
    positions = [position for positions in positions_of_each for position in positions]
    rows = source.instruction_rows
    return AppearsAtRows(
        source=_repeated(source.used_rows, positions_of_each),
        target=[rows[position.instruction] for position in positions],
        shape_index=[position.shape_index for position in positions],
    )


def _live_from(source: NumberedFacts) -> LiveFromRows:
    values, steps = _scheduled(source, source.live_from)
    target = list(map(source.schedule.__getitem__, steps))
    return LiveFromRows(source=values, target=target, step=steps)


def _live_until(source: NumberedFacts) -> LiveUntilRows:
    values, steps = _scheduled(source, source.live_until)
    target = list(map(source.schedule.__getitem__, steps))
    return LiveUntilRows(source=values, target=target, step=steps)


def _scheduled(
    source: NumberedFacts, steps: Sequence[int | None]
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the values with a step of the schedule, and that step."""
    end = len(source.schedule)
    rows = [row for row, step in enumerate(steps) if step is not None and step < end]
    return rows, [step for step in steps if step is not None and step < end]


def _schedules(source: NumberedFacts) -> SchedulesRows:
    steps = _numbers(len(source.schedule))
    return SchedulesRows(source=[0] * len(steps), target=source.schedule, step=steps)


def _next(source: NumberedFacts) -> NextRows:
    return NextRows(source=source.schedule[:-1], target=source.schedule[1:])


def _live_at_peak(source: NumberedFacts) -> LiveAtPeakRows:
    shares = [
        (value, space, size_bytes)
        for space, peaks in enumerate(source.facts.peaks.spaces)
        for value, size_bytes in peaks.shares
    ]
    return LiveAtPeakRows(
        source=[value for value, _, _ in shares],
        target=[space for _, space, _ in shares],
        physical_bytes=[size_bytes for _, _, size_bytes in shares],
    )


def _in_printed_peak(source: NumberedFacts) -> InPrintedPeakRows:
    shares = source.facts.printed_shares
    return InPrintedPeakRows(
        source=[share.value for share in shares],
        target=[0] * len(shares),
        printed_bytes=[share.bytes for share in shares],
        rank=[share.rank for share in shares],
        ambiguous=[share.ambiguous for share in shares],
    )


def _updates_in_place(source: NumberedFacts) -> UpdatesInPlaceRows:
    found = [succession for succession in source.facts.succession if succession.in_place]
    return UpdatesInPlaceRows(
        source=[succession.later for succession in found],
        target=[succession.earlier for succession in found],
        shared_bytes=[succession.shared_bytes for succession in found],
        step=[succession.steps for succession in found],
    )


def _reuses(source: NumberedFacts) -> ReusesRows:
    found = [succession for succession in source.facts.succession if not succession.in_place]
    return ReusesRows(
        source=[succession.later for succession in found],
        target=[succession.earlier for succession in found],
        shared_bytes=[succession.shared_bytes for succession in found],
        gap_steps=[succession.steps for succession in found],
    )


def _may_overwrite(source: NumberedFacts) -> MayOverwriteRows:
    planning = source.facts.planner_inputs
    found = planning.overwrites if planning is not None else ()
    return MayOverwriteRows(
        source=[overwriting.value for overwriting in found],
        target=[overwriting.operand_value for overwriting in found],
        operand=[overwriting.operand for overwriting in found],
        is_operand=[overwriting.is_operand for overwriting in found],
        is_last_position=[overwriting.is_last_position for overwriting in found],
    )


def _to_names(
    targets: Sequence[_Name | None], rows: Mapping[_Name, int]
) -> dict[str, Sequence[int]]:
    return _to_rows([None if target is None else rows[target] for target in targets])


def _to_rows(targets: Sequence[int | None]) -> dict[str, Sequence[int]]:
    """Join each row of a table with the given row of another table; None is skipped."""
    return {
        "source": [row for row, target in enumerate(targets) if target is not None],
        "target": [target for target in targets if target is not None],
    }


def _of_compilation(parts: Sequence[object]) -> dict[str, Sequence[int]]:
    """Join the compilation with each of its parts."""
    return {"source": [0] * len(parts), "target": _numbers(len(parts))}


def _numbers(count: int) -> list[int]:
    # pyarrow reads a list three times as fast as a range
    return list(range(count))


def _within(source: NumberedFacts) -> WithinRows:
    return WithinRows(
        source=[row for row, _, _ in source.scopes],
        target=[source.scope_rows[scope] for _, _, scope in source.scopes],
    )


RELATIONSHIPS_OF_PROVENANCE: Final[
    Mapping[type[RelationshipRows], Callable[[Provenance, CompilationFacts], RelationshipRows]]
] = {CompiledRows: _compiled, OfModuleRows: _of_module}
"""Functions for relationships that depend on more than the text."""

RELATIONSHIPS_OF_TEXT: Final[
    Mapping[type[RelationshipRows], Callable[[NumberedFacts], RelationshipRows]]
] = {
    UsesSpaceRows: lambda source: UsesSpaceRows(**_of_compilation(source.facts.peaks.spaces)),
    StatesRows: lambda source: StatesRows(**_of_compilation(source.facts.plan.statistics)),
    PacksRows: _packs,
    AllocatesRows: lambda source: AllocatesRows(**_of_compilation(source.facts.plan.allocations)),
    HoldsRows: _holds,
    UsedByRows: _used_by,
    DefinesRows: _defines,
    AppearsAtRows: _appears_at,
    LiveFromRows: _live_from,
    LiveUntilRows: _live_until,
    SchedulesRows: _schedules,
    NextRows: _next,
    LiveAtPeakRows: _live_at_peak,
    InPrintedPeakRows: _in_printed_peak,
    UpdatesInPlaceRows: _updates_in_place,
    ReusesRows: _reuses,
    MayOverwriteRows: _may_overwrite,
    FromOpRows: lambda source: FromOpRows(**_to_names(source.op_names, source.op_rows)),
    FromLineRows: lambda source: FromLineRows(
        **_to_names(source.instruction_lines, source.source_line_rows)
    ),
    InFrameRows: lambda source: InFrameRows(
        **_to_rows([named.call_path for named in source.facts.instructions])
    ),
    AttributedToRows: lambda source: AttributedToRows(
        **_to_names(source.attributed_op_names, source.op_rows)
    ),
    AttributedLineRows: lambda source: AttributedLineRows(
        **_to_names(source.attributed_lines, source.source_line_rows)
    ),
    AttributedFrameRows: lambda source: AttributedFrameRows(
        **_to_rows(source.facts.call_path_of_values)
    ),
    WithinRows: _within,
    CalledFromRows: lambda source: CalledFromRows(
        **_to_rows([path.caller for path in source.facts.call_paths])
    ),
}
"""Functions for relationships that depend only on the text."""
