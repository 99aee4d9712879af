"""The data of the page of one compilation: values, slots, details and call stacks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from xlagraph.graph import Cell, Graph, Scalar
from xlagraph.planner.compilation.range_end_text import InstructionName, range_end_text
from xlagraph.planner.compilation.records import (
    StoredFrame,
    StoredInstruction,
    StoredPosition,
    StoredSpace,
    StoredSuccession,
    StoredUse,
    StoredValue,
    column_names,
)
from xlagraph.planner.compilation.stored_compilation import (
    ALLOCATIONS_STATEMENT,
    VALUES_STATEMENT,
    StoredCompilation,
)
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries import load_catalogue
from xlagraph.report.packed_tables import ColumnKind, PackedColumn, PagePart, Table
from xlagraph.report.reproduction import (
    Reproduction,
    command_line,
    pasteable_statement,
    reproduction_of_statement,
)
from xlagraph.runtime.memory import collector_paused

_WIDE, _NUMBER, _FLAG, _TEXT = (
    ColumnKind.WIDE_NUMBER,
    ColumnKind.NUMBER,
    ColumnKind.FLAG,
    ColumnKind.TEXT,
)

# the fields of records that a table of the page shows unchanged
_VALUE_COLUMNS: Final = {
    "label": _TEXT,
    "value_id": _WIDE,
    "shape": _TEXT,
    "layout": _TEXT,
    "dtype": _TEXT,
    "size_bytes": _WIDE,
    "dense_bytes": _WIDE,
    "offset_bytes": _WIDE,
    "live_from": _NUMBER,
    "live_until": _NUMBER,
    "last_use": _NUMBER,
    "opcode": _TEXT,
    "attribution": _TEXT,
    "attributed_op_name": _TEXT,
    "attributed_file": _TEXT,
    "attributed_line": _NUMBER,
    "user_file": _TEXT,
    "user_line": _NUMBER,
    "category": _TEXT,
}
_INSTRUCTION_COLUMNS: Final = {
    "name": _TEXT,
    "opcode": _TEXT,
    "op_name": _TEXT,
    "source_file": _TEXT,
    "source_line": _NUMBER,
    "step": _NUMBER,
}
_ALLOCATION_COLUMNS: Final = {
    "number": _NUMBER,
    "size_bytes": _WIDE,
    "role": _TEXT,
    "memory_space": _NUMBER,
    "parameter_number": _NUMBER,
    "shape_index": _TEXT,
    "shape": _TEXT,
    "maybe_live_out": _FLAG,
    "physical_peak_bytes": _WIDE,
    "largest_hole_bytes": _WIDE,
}
_USE_COLUMNS: Final = {"operand": _NUMBER, "operand_index": _TEXT}
_SUCCESSION_COLUMNS: Final = {"shared_bytes": _WIDE, "steps": _NUMBER, "in_place": _FLAG}
_FRAME_COLUMNS: Final = {"function": _TEXT, "file": _TEXT, "line": _NUMBER}
_SPACE_COLUMNS: Final = {
    "color": _NUMBER,
    "allocation_bytes": _WIDE,
    "reserved_bytes": _WIDE,
    "logical_peak_bytes": _WIDE,
    "logical_peak_step": _NUMBER,
    "physical_peak_bytes": _WIDE,
    "physical_peak_step": _NUMBER,
}


def compilation_part(graph: Graph, compilation: str) -> PagePart:
    """Return the page data of a complete compilation, by its key; or raise NameUnknown."""
    return part_of(StoredCompilation(graph, compilation))


@collector_paused()
def part_of(stored: StoredCompilation, answers: PagePart | None = None) -> PagePart:
    """Return all that a page shows of a compilation, with the answers about it if given.

    References to rows of other tables are row numbers. Raises NameUnknown.
    """
    totals = stored.totals
    rows = _RowNumbers(stored)
    return PagePart(
        facts={
            "kind": "compilation",
            "key": totals.key,
            "run": totals.run,
            "scheduleLength": totals.schedule_length,
            "printedPeakBytes": totals.printed_peak_bytes,
            "printedPeakStep": totals.printed_peak_step,
            "provenance": _reproductions(stored.key, len(stored.values)),
            **(answers.facts if answers else {}),
        },
        tables={
            "values": _value_table(stored, rows),
            "instructions": _table(StoredInstruction, stored.instructions, _INSTRUCTION_COLUMNS),
            "allocations": _table(PlannedAllocation, stored.allocations, _ALLOCATION_COLUMNS),
            "spaces": _table(StoredSpace, stored.spaces, _SPACE_COLUMNS),
            "uses": {
                "value": rows.of_values(use.value_id for use in stored.uses),
                "instruction": rows.of_instructions(use.instruction for use in stored.uses),
                **_table(StoredUse, stored.uses, _USE_COLUMNS),
            },
            "positions": {
                "value": rows.of_values(each.value_id for each in stored.positions),
                "instruction": rows.of_instructions(each.instruction for each in stored.positions),
                **_table(StoredPosition, stored.positions, {"shape_index": _TEXT}),
            },
            "successions": {
                "later": rows.of_values(pair.later_id for pair in stored.successions),
                "earlier": rows.of_values(pair.earlier_id for pair in stored.successions),
                **_table(StoredSuccession, stored.successions, _SUCCESSION_COLUMNS),
            },
            "frames": {
                **_table(StoredFrame, tuple(stored.frames.values()), _FRAME_COLUMNS),
                "caller": rows.of_frames(frame.caller for frame in stored.frames.values()),
            },
            **(answers.tables if answers else {}),
        },
    )


class _RowNumbers:
    """Columns that refer to values, instructions, allocations and frames by row numbers."""

    def __init__(self, stored: StoredCompilation) -> None:
        self.of_values = _numbering(value.value_id for value in stored.values)
        self.of_instructions = _numbering(each.name for each in stored.instructions)
        self.of_allocations = _numbering(allocation.number for allocation in stored.allocations)
        self.of_frames = _numbering(stored.frames)


def _numbering(keys: Iterable[Cell]) -> Callable[[Iterable[Cell]], PackedColumn]:
    """Return the function from keys of some rows to the column of their numbers."""
    row_by_key = {key: row for row, key in enumerate(keys)}
    return lambda found: PackedColumn(_NUMBER, list(map(row_by_key.get, found)))


def _table(
    record: type[NamedTuple], rows: Sequence[NamedTuple], kinds: Mapping[str, ColumnKind]
) -> Table:
    """Return fields of records as columns, named as in the graph."""
    columns = dict(zip(record._fields, column_names(record), strict=True))
    return {
        columns[field]: PackedColumn(kind, list(map(attrgetter(field), rows)))
        for field, kind in kinds.items()
    }


def _value_table(stored: StoredCompilation, rows: _RowNumbers) -> Table:
    values = stored.values
    return {
        **_table(StoredValue, values, _VALUE_COLUMNS),
        "allocation": rows.of_allocations(value.allocation for value in values),
        "instruction": rows.of_instructions(value.name for value in values),
        "frame": rows.of_frames(stored.frame_by_value.get(value.value_id) for value in values),
        "why": PackedColumn(_TEXT, list(_range_end_texts(stored))),
    }


def _reproductions(compilation: str, values: int) -> dict[str, Reproduction]:
    """Return the statements behind the tables of values, allocations and one step."""
    given: dict[str, Scalar] = {"compilation": compilation}
    live_at = load_catalogue()["lifetime/live-at"]
    return {
        "values": reproduction_of_statement(VALUES_STATEMENT, given),
        "allocations": reproduction_of_statement(ALLOCATIONS_STATEMENT, given),
        # the page knows the step
        "liveAt": {
            "cypher": pasteable_statement(live_at, {**given, "limit": values}, left_open=("step",)),
            "command": command_line(live_at, given),
        },
    }


def _range_end_texts(stored: StoredCompilation) -> Iterator[str]:
    """Yield the sentence that says why the live range ends, for each value."""
    steps = {each.name: each.step for each in stored.instructions}
    names = {each.name: (each.name, each.opcode) for each in stored.instructions}
    name_at_step = {each.step: names[each.name] for each in stored.instructions}
    values = {value.value_id: value for value in stored.values}
    last_readers: defaultdict[int, list[InstructionName]] = defaultdict(list)
    for use in stored.uses:
        step = steps[use.instruction]
        if step is not None and step == values[use.value_id].last_use:
            last_readers[use.value_id].append(names[use.instruction])
    overwritten_by: defaultdict[int, list[str]] = defaultdict(list)
    for pair in stored.successions:
        if pair.in_place and pair.steps == values[pair.earlier_id].live_until:
            overwritten_by[pair.earlier_id].append(values[pair.later_id].label)
    for value_id, value in values.items():
        yield range_end_text(
            value,
            last_readers=last_readers[value_id],
            ends_at=None if value.live_until is None else name_at_step.get(value.live_until),
            overwritten_by=overwritten_by[value_id],
        )
