"""What the page shows of one compilation: every value, its slot, its details, its call stack."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from xlagraph.graph import Cell, Graph, NameUnknown, Result, Scalar
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries import load_catalogue
from xlagraph.queries.value_details.range_end import range_end
from xlagraph.report.packed_tables import Column, Kind, Part, Table
from xlagraph.report.provenance import (
    Provenance,
    command_line,
    pasteable_statement,
    statement_provenance,
)

Row = Mapping[str, Cell]

_WIDE, _NUMBER, _FLAG, _TEXT = Kind.WIDE_NUMBER, Kind.NUMBER, Kind.FLAG, Kind.TEXT

_COMPILATION: Final = load_statement(__file__, "compilation")
_VALUES: Final = load_statement(__file__, "values")
_INSTRUCTIONS: Final = load_statement(__file__, "instructions")
_ALLOCATIONS: Final = load_statement(__file__, "allocations")
_SPACES: Final = load_statement(__file__, "memory-spaces")
_USES: Final = load_statement(__file__, "uses")
_POSITIONS: Final = load_statement(__file__, "positions")
_IN_PLACE_UPDATES: Final = load_statement(__file__, "in-place-updates")
_REUSES: Final = load_statement(__file__, "reuses")
_FRAMES_OF_VALUES: Final = load_statement(__file__, "frames-of-values")
_FRAMES: Final = load_statement(__file__, "frames")

# the columns of a table of the page that a statement returns as they are
_VALUE_COLUMNS: Final = {
    "label": _TEXT,
    "valueId": _WIDE,
    "shape": _TEXT,
    "layout": _TEXT,
    "dtype": _TEXT,
    "sizeBytes": _WIDE,
    "denseBytes": _WIDE,
    "offsetBytes": _WIDE,
    "liveFrom": _NUMBER,
    "liveUntil": _NUMBER,
    "lastUse": _NUMBER,
    "opcode": _TEXT,
    "attribution": _TEXT,
    "attributedOpName": _TEXT,
    "attributedFile": _TEXT,
    "attributedLine": _NUMBER,
    "userFile": _TEXT,
    "userLine": _NUMBER,
}
_INSTRUCTION_COLUMNS: Final = {
    "name": _TEXT,
    "opcode": _TEXT,
    "opName": _TEXT,
    "sourceFile": _TEXT,
    "sourceLine": _NUMBER,
    "step": _NUMBER,
}
_ALLOCATION_COLUMNS: Final = {
    "number": _NUMBER,
    "sizeBytes": _WIDE,
    "role": _TEXT,
    "memorySpace": _NUMBER,
    "parameterNumber": _NUMBER,
    "shapeIndex": _TEXT,
    "shape": _TEXT,
    "maybeLiveOut": _FLAG,
    "physicalPeakBytes": _WIDE,
    "largestHoleBytes": _WIDE,
}
_FRAME_COLUMNS: Final = {"function": _TEXT, "file": _TEXT, "line": _NUMBER}
_SPACE_COLUMNS: Final = {
    "color": _NUMBER,
    "allocationBytes": _WIDE,
    "reservedBytes": _WIDE,
    "logicalPeakBytes": _WIDE,
    "logicalPeakStep": _NUMBER,
    "physicalPeakBytes": _WIDE,
    "physicalPeakStep": _NUMBER,
}


class _Rows:
    """What a statement returns, by column."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        cells = list(zip(*rows, strict=True)) or [()] * len(columns)
        self._cells: Mapping[str, Sequence[Cell]] = dict(zip(columns, cells, strict=True))

    def __getitem__(self, column: str) -> Sequence[Cell]:
        return self._cells[column]

    def columns(self, kinds: Mapping[str, Kind]) -> Table:
        """Return columns of the page that are those of the statement."""
        return {name: Column(kind, self[name]) for name, kind in kinds.items()}

    def row_by(self, column: str) -> dict[Cell, int]:
        """Return the row number of each cell of a column whose cells are distinct."""
        return {cell: row for row, cell in enumerate(self[column])}


def compilation_part(
    graph: Graph, compilation: str, *, more_facts: Mapping[str, object] | None = None
) -> Part:
    """Read all that a page shows of a complete compilation, by its key.

    Where a row names one of another table it holds the number of that row. Raises NameUnknown.
    """

    def read(statement: str) -> Result:
        return graph.query(statement, {"compilation": compilation})

    about = read(_COMPILATION).mappings()
    if not about:
        raise NameUnknown(f"no compilation {compilation} in the graph")
    tables = _tables(read)
    frame_by_value = {row["valueId"]: row["frame"] for row in read(_FRAMES_OF_VALUES)}
    frames = _read_frames(graph, frame_by_value.values())
    frame_rows = frames.row_by("key")
    innermost = [frame_by_value.get(value_id) for value_id in tables["values"]["valueId"].cells]
    endings = list(_endings(tables, about[0]["scheduleLength"]))
    return Part(
        facts={
            "kind": "compilation",
            **about[0],
            "provenance": _provenance(compilation, len(innermost)),
            **(more_facts or {}),
        },
        tables={
            **tables,
            "values": {
                **tables["values"],
                "frame": _row_numbers(innermost, frame_rows),
                "why": Column(_TEXT, endings),
            },
            "frames": {
                **frames.columns(_FRAME_COLUMNS),
                "caller": _row_numbers(frames["caller"], frame_rows),
            },
        },
    )


def _provenance(compilation: str, values: int) -> dict[str, Provenance]:
    """Return what made the tables of values and allocations, and what repeats one step."""
    given: dict[str, Scalar] = {"compilation": compilation}
    live_at = load_catalogue()["lifetime/live-at"]
    return {
        "values": statement_provenance(_VALUES, given),
        "allocations": statement_provenance(_ALLOCATIONS, given),
        # the page knows the step
        "liveAt": {
            "cypher": pasteable_statement(live_at, {**given, "limit": values}, left_open=("step",)),
            "command": command_line(live_at, given),
        },
    }


def _tables(read: Callable[[str], Result]) -> dict[str, Table]:
    """Return the tables that need nothing but statements about the compilation."""

    def rows(statement: str) -> _Rows:
        found = read(statement)
        return _Rows(found.columns, found.rows)

    unsorted = read(_INSTRUCTIONS)  # a union has no order
    instructions = _Rows(unsorted.columns, sorted(unsorted.rows, key=lambda row: str(row[0])))
    values, allocations = rows(_VALUES), rows(_ALLOCATIONS)
    uses, positions = rows(_USES), rows(_POSITIONS)
    value_rows, instruction_rows = values.row_by("valueId"), instructions.row_by("name")
    return {
        "values": {
            **values.columns(_VALUE_COLUMNS),
            "allocation": _row_numbers(values["allocation"], allocations.row_by("number")),
            "instruction": _row_numbers(values["name"], instruction_rows),
        },
        "instructions": instructions.columns(_INSTRUCTION_COLUMNS),
        "allocations": allocations.columns(_ALLOCATION_COLUMNS),
        "spaces": rows(_SPACES).columns(_SPACE_COLUMNS),
        "uses": {
            "value": _row_numbers(uses["valueId"], value_rows),
            "instruction": _row_numbers(uses["instruction"], instruction_rows),
            **uses.columns({"operand": _NUMBER, "operandIndex": _TEXT}),
        },
        "positions": {
            "value": _row_numbers(positions["valueId"], value_rows),
            "instruction": _row_numbers(positions["instruction"], instruction_rows),
            **positions.columns({"shapeIndex": _TEXT}),
        },
        "successions": _successions(value_rows, rows(_IN_PLACE_UPDATES), rows(_REUSES)),
    }


def _row_numbers(keys: Iterable[Cell], row_by_key: Mapping[Cell, int]) -> Column:
    """Return the number of the row of each key."""
    return Column(_NUMBER, [row_by_key.get(key) for key in keys])


def _successions(value_rows: Mapping[Cell, int], updates: _Rows, reuses: _Rows) -> Table:
    """Return both kinds in one table; ``steps`` is the step of an update, else the gap."""
    is_update = [True] * len(updates["steps"]) + [False] * len(reuses["steps"])
    return {
        "later": _row_numbers((*updates["laterId"], *reuses["laterId"]), value_rows),
        "earlier": _row_numbers((*updates["earlierId"], *reuses["earlierId"]), value_rows),
        "sharedBytes": Column(_WIDE, (*updates["sharedBytes"], *reuses["sharedBytes"])),
        "steps": Column(_NUMBER, (*updates["steps"], *reuses["steps"])),
        "inPlace": Column(_FLAG, is_update),
    }


def _read_frames(graph: Graph, innermost: Iterable[Cell]) -> _Rows:
    """Read frames and their callers, a level at a time, in the order of their keys."""
    found: dict[str, Sequence[Cell]] = {}
    columns = ("key", "caller", *_FRAME_COLUMNS)
    wanted = {str(key) for key in innermost}
    while wanted:
        level = graph.query(_FRAMES, {"frames": sorted(wanted)})
        found |= {str(key): (key, *rest) for key, *rest in level.rows}
        wanted = {str(caller) for _, caller, *_ in level.rows if caller is not None} - found.keys()
    return _Rows(columns, [found[key] for key in sorted(found)])


def _endings(tables: Mapping[str, Table], schedule_length: Cell) -> Iterator[str]:
    """Yield for each value the sentence that says why it ends where it does."""
    life = ("label", "liveFrom", "liveUntil", "lastUse", "allocation")
    values = _mappings(tables["values"], life)
    instructions = [
        {**row, "instruction": row["name"]}
        for row in _mappings(tables["instructions"], ("name", "opcode", "step"))
    ]
    reasons = ("role", "parameterNumber", "maybeLiveOut")
    allocations = _mappings(tables["allocations"], reasons)
    at_step: dict[Cell, Row] = {row["step"]: row for row in instructions if row["step"] is not None}
    readers: list[list[Row]] = [[] for _ in values]
    uses = tables["uses"]
    for value, reader in zip(uses["value"].cells, uses["instruction"].cells, strict=True):
        readers[cast("int", value)].append(instructions[cast("int", reader)])
    successors: list[list[Row]] = [[] for _ in values]
    for row in _mappings(tables["successions"], ("later", "earlier", "inPlace", "steps")):
        if row["inPlace"]:
            later = values[cast("int", row["later"])]
            successors[cast("int", row["earlier"])].append(row | {"value": later["label"]})
    for value, read_by, overwritten_by in zip(values, readers, successors, strict=True):
        holder = value["allocation"]
        allocation = {} if holder is None else allocations[cast("int", holder)]
        last = at_step.get(value["liveUntil"]) or {}
        facts = {
            "liveUntil": value["liveUntil"],
            "lastUse": value["lastUse"],
            "scheduleLength": schedule_length,
            "endsAt": last.get("name"),
            "endsAtOpcode": last.get("opcode"),
            "role": allocation.get("role"),
            "parameterNumber": allocation.get("parameterNumber"),
            "maybeLiveOut": allocation.get("maybeLiveOut"),
        }
        _, why = range_end(facts, read_by, overwritten_by)
        yield why


def _mappings(table: Table, columns: Sequence[str]) -> list[dict[str, Cell]]:
    cells = zip(*(table[name].cells for name in columns), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells]
