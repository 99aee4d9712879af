"""What the page shows of one compilation: every value, its slot, its story, its call stack."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, cast

from xlagraph.graph import Cell, Graph
from xlagraph.queries.story.ending import ending
from xlagraph.report.packing import Column, Kind, Part, Table

if TYPE_CHECKING:
    from xlagraph.graph import CompilationRows

Row = dict[str, Cell]
T = TypeVar("T")

_BYTES, _NUMBER, _FLAG, _TEXT = Kind.BYTES, Kind.NUMBER, Kind.FLAG, Kind.TEXT

# the columns of a table of the page, each a property of the graph
_VALUE_PROPERTIES: Final = {
    "label": _TEXT,
    "valueId": _BYTES,
    "name": _TEXT,
    "shape": _TEXT,
    "layout": _TEXT,
    "dtype": _TEXT,
    "isPhi": _FLAG,
    "sizeBytes": _BYTES,
    "denseBytes": _BYTES,
    "liveFrom": _NUMBER,
    "liveUntil": _NUMBER,
    "lastUse": _NUMBER,
    "aliasSet": _BYTES,
    "aliasPosition": _NUMBER,
    "opcode": _TEXT,
    "opName": _TEXT,
    "sourceFile": _TEXT,
    "sourceLine": _NUMBER,
    "attribution": _TEXT,
    "attributedOpName": _TEXT,
    "attributedFile": _TEXT,
    "attributedLine": _NUMBER,
    "userFile": _TEXT,
    "userLine": _NUMBER,
    "userFunction": _TEXT,
}
_INSTRUCTION_PROPERTIES: Final = {
    "name": _TEXT,
    "opcode": _TEXT,
    "opName": _TEXT,
    "sourceFile": _TEXT,
    "sourceLine": _NUMBER,
    "computation": _TEXT,
    "step": _NUMBER,
}
_ALLOCATION_PROPERTIES: Final = {
    "number": _NUMBER,
    "sizeBytes": _BYTES,
    "role": _TEXT,
    "memorySpace": _NUMBER,
    "parameterNumber": _NUMBER,
    "shapeIndex": _TEXT,
    "shape": _TEXT,
    "isOutput": _FLAG,
    "maybeLiveOut": _FLAG,
    "physicalPeakBytes": _BYTES,
    "largestHoleBytes": _BYTES,
}
_FRAME_PROPERTIES: Final = {"function": _TEXT, "file": _TEXT, "line": _NUMBER}
_SPACE_PROPERTIES: Final = {
    "color": _NUMBER,
    "allocationBytes": _BYTES,
    "reservedBytes": _BYTES,
    "logicalPeakBytes": _BYTES,
    "logicalPeakStep": _NUMBER,
    "physicalPeakBytes": _BYTES,
    "physicalPeakStep": _NUMBER,
}


def compilation_part(
    graph: Graph, compilation: str, *, more_facts: Mapping[str, object] | None = None
) -> Part:
    """Read all that a page shows of a complete compilation, by its key.

    Rows of one table name those of another by their place in it. Raises NameUnknown.
    """
    rows = graph.read(compilation)
    return Part(
        facts={
            "kind": "compilation",
            **_rows(rows, "Compilation")[0],
            "run": rows.run,
            **(more_facts or {}),
        },
        tables={
            "values": _values(rows),
            "instructions": _properties(rows, "Instruction", _INSTRUCTION_PROPERTIES),
            "allocations": _properties(rows, "Allocation", _ALLOCATION_PROPERTIES),
            "spaces": _properties(rows, "MemorySpace", _SPACE_PROPERTIES),
            "frames": _frames(rows),
            "uses": _joins(rows, "USED_BY", "value", "instruction")
            | _edge_properties(rows, "USED_BY", {"operand": _NUMBER, "operandIndex": _TEXT}),
            "positions": _joins(rows, "APPEARS_AT", "value", "instruction")
            | _edge_properties(rows, "APPEARS_AT", {"shapeIndex": _TEXT}),
            "successions": _successions(rows),
        },
    )


def _values(rows: "CompilationRows") -> Table:
    count = rows.nodes["Value"].num_rows
    holders, held = _ends(rows, "HOLDS")
    offsets = _cells(rows.relationships["HOLDS"], "offsetBytes")
    return {
        **_properties(rows, "Value", _VALUE_PROPERTIES),
        "allocation": Column(_NUMBER, _placed(count, held, holders)),
        "offsetBytes": Column(_BYTES, _placed(count, held, offsets)),
        "instruction": Column(_NUMBER, _sources(rows, "DEFINES", count)),
        "frame": Column(_NUMBER, _targets(rows, "ATTRIBUTED_FRAME", count)),
        "why": Column(_TEXT, list(_endings(rows))),
    }


def _frames(rows: "CompilationRows") -> Table:
    count = rows.nodes["Frame"].num_rows
    return {
        **_properties(rows, "Frame", _FRAME_PROPERTIES),
        "caller": Column(_NUMBER, _targets(rows, "CALLED_FROM", count)),
    }


def _successions(rows: "CompilationRows") -> Table:
    """Return both kinds in one table; ``steps`` is the step of an update, else the gap."""
    in_place, reuses = rows.relationships["UPDATES_IN_PLACE"], rows.relationships["REUSES"]
    both = ((in_place, "step"), (reuses, "gapSteps"))
    ends = [_ends(rows, name) for name in ("UPDATES_IN_PLACE", "REUSES")]
    return {
        "later": Column(_NUMBER, [later for sources, _ in ends for later in sources]),
        "earlier": Column(_NUMBER, [earlier for _, targets in ends for earlier in targets]),
        "sharedBytes": Column(
            _BYTES, [c for table, _ in both for c in _cells(table, "sharedBytes")]
        ),
        "steps": Column(_NUMBER, [c for table, name in both for c in _cells(table, name)]),
        "inPlace": Column(_FLAG, [True] * in_place.num_rows + [False] * reuses.num_rows),
    }


def _endings(rows: "CompilationRows") -> Iterator[str]:
    """Yield for each value the sentence that says why it ends where it does."""
    values = _rows(rows, "Value")
    instructions = _rows(rows, "Instruction")
    allocations = _rows(rows, "Allocation")
    schedule_length = _rows(rows, "Compilation")[0]["scheduleLength"]
    holders = _sources(rows, "HOLDS", len(values))
    ends = _targets(rows, "LIVE_UNTIL", len(values))
    readers: list[list[Row]] = [[] for _ in values]
    for read, reader in zip(*_ends(rows, "USED_BY"), strict=True):
        row = instructions[reader]
        readers[read].append(row | {"instruction": row["name"]})
    successors: list[list[Row]] = [[] for _ in values]
    steps = _cells(rows.relationships["UPDATES_IN_PLACE"], "step")
    for later, earlier, step in zip(*_ends(rows, "UPDATES_IN_PLACE"), steps, strict=True):
        successors[earlier].append(
            {"value": values[later]["label"], "inPlace": True, "steps": step}
        )
    for place, value in enumerate(values):
        holder, end = holders[place], ends[place]
        allocation = allocations[holder] if holder is not None else {}
        last = instructions[end] if end is not None else {}
        facts = {
            "liveFrom": value["liveFrom"],
            "liveUntil": value["liveUntil"],
            "lastUse": value["lastUse"],
            "scheduleLength": schedule_length,
            "endsAt": last.get("name"),
            "endsAtOpcode": last.get("opcode"),
            "role": allocation.get("role"),
            "parameterNumber": allocation.get("parameterNumber"),
            "maybeLiveOut": allocation.get("maybeLiveOut"),
        }
        by_step = sorted(readers[place], key=lambda row: (row["step"] is None, row["step"] or 0))
        yield ending(facts, by_step, successors[place]).why


def _rows(rows: "CompilationRows", label: str) -> list[Row]:
    found: list[Row] = rows.nodes[label].to_pylist()
    return found


def _cells(table: object, name: str) -> Sequence[Cell]:
    cells: Sequence[Cell] = table.column(name).to_pylist()  # type: ignore[attr-defined]
    return cells


def _properties(rows: "CompilationRows", label: str, kinds: Mapping[str, Kind]) -> Table:
    table = rows.nodes[label]
    return {name: Column(kind, _cells(table, name)) for name, kind in kinds.items()}


def _edge_properties(
    rows: "CompilationRows", name: str, kinds: Mapping[str, Kind]
) -> dict[str, Column]:
    table = rows.relationships[name]
    return {column: Column(kind, _cells(table, column)) for column, kind in kinds.items()}


def _joins(rows: "CompilationRows", name: str, source: str, target: str) -> dict[str, Column]:
    sources, targets = _ends(rows, name)
    return {source: Column(_NUMBER, sources), target: Column(_NUMBER, targets)}


def _ends(rows: "CompilationRows", name: str) -> tuple[list[int], list[int]]:
    # every relationship has both
    return cast("tuple[list[int], list[int]]", tuple(end.to_pylist() for end in rows.ends(name)))


def _targets(rows: "CompilationRows", name: str, count: int) -> list[int | None]:
    """Return for each source the one target that it has at most."""
    sources, targets = _ends(rows, name)
    return _placed(count, sources, targets)


def _sources(rows: "CompilationRows", name: str, count: int) -> list[int | None]:
    """Return for each target the one source that it has at most."""
    sources, targets = _ends(rows, name)
    return _placed(count, targets, sources)


def _placed(count: int, places: Sequence[int], cells: Sequence[T]) -> list[T | None]:
    placed: list[T | None] = [None] * count
    for place, cell in zip(places, cells, strict=True):
        placed[place] = cell
    return placed
