"""Relationships of a compilation as columns, made by one function for each type."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeVar

from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.rows.row_source import (
    Columns,
    NumberedFacts,
    Provenance,
    bytes_and_text,
    columns_of,
)

__all__ = ["PROVENANCE_RELATIONSHIP_ROWS", "RELATIONSHIP_ROWS"]

_Name = TypeVar("_Name", bound=Hashable)


def _compiled(*_: object) -> Columns:
    return _relationships([0], [0])  # one run, one compilation


def _of_module(provenance: Provenance, _: CompilationFacts) -> Columns:
    ends = [] if provenance.files.name.module is None else [0]
    return _relationships(ends, ends)


def _uses_space(source: NumberedFacts) -> Columns:
    count = len(source.facts.peaks.spaces)
    return _relationships([0] * count, _numbers(count))


def _allocates(source: NumberedFacts) -> Columns:
    count = len(source.facts.plan.allocations)
    return _relationships([0] * count, _numbers(count))


def _holds(source: NumberedFacts) -> Columns:
    plan = source.facts.plan
    rows = {allocation.number: row for row, allocation in enumerate(plan.allocations)}
    return _relationships(
        [rows[value.allocation] for value in plan.values],
        _numbers(len(plan.values)),
        offsetBytes=[value.offset_bytes for value in plan.values],
        sizeBytes=[value.size_bytes for value in plan.values],
    )


def _used_by(source: NumberedFacts) -> Columns:
    uses_of_each = [used.uses for used in source.facts.plan.used_values or ()]
    names, operands, operand_indexes = columns_of(chain.from_iterable(uses_of_each), 3)
    return _relationships(
        _repeated(source.used_rows, uses_of_each),
        list(map(source.instruction_rows.__getitem__, names)),
        operand=operands,
        operandIndex=operand_indexes,
    )


def _repeated(rows: Iterable[int], lists: Iterable[Sequence[object]]) -> list[int]:
    """Return each row as often as its list is long."""
    return [row for row, items in zip(rows, lists, strict=True) for _ in items]


def _defines(source: NumberedFacts) -> Columns:
    return _relationships(source.defining_rows, _numbers(len(source.defining_rows)))


def _appears_at(source: NumberedFacts) -> Columns:
    positions_of_each = [used.positions for used in source.facts.plan.used_values or ()]
    names, shape_indexes = columns_of(chain.from_iterable(positions_of_each), 2)
    return _relationships(
        _repeated(source.used_rows, positions_of_each),
        list(map(source.instruction_rows.__getitem__, names)),
        shapeIndex=shape_indexes,
    )


def _live_from(source: NumberedFacts) -> Columns:
    return _at_instructions(source, source.first_steps)


def _live_until(source: NumberedFacts) -> Columns:
    return _at_instructions(source, source.last_steps)


def _at_instructions(source: NumberedFacts, steps: Sequence[int | None]) -> Columns:
    """Join values with the instructions at these steps; steps after the last one are skipped."""
    schedule = source.schedule
    joined = [
        (row, step) for row, step in enumerate(steps) if step is not None and step < len(schedule)
    ]
    rows, at = columns_of(joined, 2)
    return _relationships(rows, list(map(schedule.__getitem__, at)), step=at)


def _schedules(source: NumberedFacts) -> Columns:
    count = len(source.schedule)
    return _relationships([0] * count, source.schedule, step=_numbers(count))


def _next(source: NumberedFacts) -> Columns:
    return _relationships(source.schedule[:-1], source.schedule[1:])


def _live_at_peak(source: NumberedFacts) -> Columns:
    shares = [
        (value, space, size_bytes)
        for space, peaks in enumerate(source.facts.peaks.spaces)
        for value, size_bytes in peaks.shares
    ]
    return _relationships(
        [value for value, _, _ in shares],
        [space for _, space, _ in shares],
        **bytes_and_text("physicalBytes", [size_bytes for _, _, size_bytes in shares]),
    )


def _in_printed_peak(source: NumberedFacts) -> Columns:
    shares = source.facts.printed_shares
    return _relationships(
        [share.value for share in shares],
        [0] * len(shares),
        **bytes_and_text("printedBytes", [share.bytes for share in shares]),
        rank=[share.rank for share in shares],
        ambiguous=[share.ambiguous for share in shares],
    )


def _updates_in_place(source: NumberedFacts) -> Columns:
    found = [succession for succession in source.facts.succession if succession.in_place]
    return _relationships(
        [succession.later for succession in found],
        [succession.earlier for succession in found],
        **bytes_and_text("sharedBytes", [succession.shared_bytes for succession in found]),
        step=[succession.steps for succession in found],
    )


def _reuses(source: NumberedFacts) -> Columns:
    found = [succession for succession in source.facts.succession if not succession.in_place]
    return _relationships(
        [succession.later for succession in found],
        [succession.earlier for succession in found],
        **bytes_and_text("sharedBytes", [succession.shared_bytes for succession in found]),
        gapSteps=[succession.steps for succession in found],
    )


def _may_overwrite(source: NumberedFacts) -> Columns:
    planning = source.facts.planner_inputs
    found = planning.overwrites if planning is not None else ()
    return _relationships(
        [overwriting.value for overwriting in found],
        [overwriting.operand_value for overwriting in found],
        operand=[overwriting.operand for overwriting in found],
        isOperand=[overwriting.is_operand for overwriting in found],
    )


def _from_op(source: NumberedFacts) -> Columns:
    return _to_shared(source.op_names, source.op_rows)


def _from_line(source: NumberedFacts) -> Columns:
    return _to_shared(source.instruction_lines, source.source_line_rows)


def _in_frame(source: NumberedFacts) -> Columns:
    return _to_rows([named.call_path for named in source.facts.instructions])


def _attributed_to(source: NumberedFacts) -> Columns:
    return _to_shared(source.attributed_op_names, source.op_rows)


def _attributed_line(source: NumberedFacts) -> Columns:
    return _to_shared(source.attributed_lines, source.source_line_rows)


def _attributed_frame(source: NumberedFacts) -> Columns:
    return _to_rows(source.facts.call_path_of_values)


def _to_shared(targets: Sequence[_Name | None], rows: Mapping[_Name, int]) -> Columns:
    return _to_rows([None if target is None else rows[target] for target in targets])


def _to_rows(targets: Sequence[int | None]) -> Columns:
    """Join each row of a table with the given row of another table; None is skipped."""
    return _relationships(
        [row for row, target in enumerate(targets) if target is not None],
        [target for target in targets if target is not None],
    )


def _numbers(count: int) -> list[int]:
    # pyarrow reads a list three times as fast as a range
    return list(range(count))


def _within(source: NumberedFacts) -> Columns:
    return _relationships(
        [row for row, _, _ in source.scopes],
        [source.scope_rows[scope] for _, _, scope in source.scopes],
    )


def _called_from(source: NumberedFacts) -> Columns:
    return _to_rows([path.caller for path in source.facts.call_paths])


def _relationships(
    sources: Sequence[int], targets: Sequence[int], **properties: Sequence[object]
) -> Columns:
    return {"source": sources, "target": targets, **properties}


PROVENANCE_RELATIONSHIP_ROWS: Final[
    Mapping[str, Callable[[Provenance, CompilationFacts], Columns]]
] = {
    "COMPILED": _compiled,
    "OF_MODULE": _of_module,
}
"""Functions for relationships that depend on more than the text, by type."""

RELATIONSHIP_ROWS: Final[Mapping[str, Callable[[NumberedFacts], Columns]]] = {
    "USES_SPACE": _uses_space,
    "ALLOCATES": _allocates,
    "HOLDS": _holds,
    "USED_BY": _used_by,
    "DEFINES": _defines,
    "APPEARS_AT": _appears_at,
    "LIVE_FROM": _live_from,
    "LIVE_UNTIL": _live_until,
    "SCHEDULES": _schedules,
    "NEXT": _next,
    "LIVE_AT_PEAK": _live_at_peak,
    "IN_PRINTED_PEAK": _in_printed_peak,
    "UPDATES_IN_PLACE": _updates_in_place,
    "REUSES": _reuses,
    "MAY_OVERWRITE": _may_overwrite,
    "FROM_OP": _from_op,
    "FROM_LINE": _from_line,
    "IN_FRAME": _in_frame,
    "ATTRIBUTED_TO": _attributed_to,
    "ATTRIBUTED_LINE": _attributed_line,
    "ATTRIBUTED_FRAME": _attributed_frame,
    "WITHIN": _within,
    "CALLED_FROM": _called_from,
}
"""Functions for relationships that depend only on the text, by type."""
