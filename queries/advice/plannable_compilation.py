"""Read from the graph what planning needs of a compilation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, get_args

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.advice.op_marks import is_backward
from xlagraph.xla_planner.program import PRESET_COLORS, Allocation, Overwrite, Program, Role, Value

__all__ = ["PlannableCompilation", "ValueFacts", "index_numbers", "read_plannable_compilation"]

_PROGRAM: Final = load_statement(__file__, "program")
_ALLOCATIONS: Final = load_statement(__file__, "allocations")
_VALUES: Final = load_statement(__file__, "values")
_USES: Final = load_statement(__file__, "uses")
_OVERWRITES: Final = load_statement(__file__, "overwrites")
_RESULTS: Final = load_statement(__file__, "results")

_ALIGNMENTS: Final[Mapping[str | None, tuple[int, ...]]] = {
    "cpu": (64, 16),
    "gpu": (256, 128),
    "rocm": (256, 128),
}
"""By platform, largest first: each dump shows which one it is."""
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_ALIGNMENTS_OF_OTHERS: Final = (16384, 512, 256, 128, 64, 16, 4)


class ValueFacts(NamedTuple):
    """Facts of a value that `plan.Value` does not carry."""

    value_id: int
    label: str
    shape: str
    """With layout."""
    dtype: str | None
    opcode: str | None
    op_name: str | None
    """Of what it belongs to; its own where that is all that is known."""
    own_op_name: str | None
    source_lines: tuple[str, ...]
    """`file:line` of its own, of what it belongs to, and of the user's."""
    live_until: int | None
    last_use: int | None
    needed_until: int | None
    """Of an entry parameter."""
    color: int
    parameter: tuple[int, str] | None
    """Number and shape index of the entry parameter that it is."""
    computation: str | None
    """The one that its instruction stands in."""

    @property
    def is_backward(self) -> bool:
        """Whether the backward pass makes it, as its op name says."""
        return is_backward(self.op_name)


@dataclass(frozen=True, slots=True)
class PlannableCompilation:
    """A compilation whose memory can be planned anew."""

    key: str
    platform: str | None
    program: Program
    facts: Mapping[int, ValueFacts]
    """By value id; those without a live range too."""
    results: tuple[int, ...]
    """Value ids in the order of the program's results."""
    readers: Mapping[int, tuple[int, ...]]
    """By value id: the values that are made from it."""
    has_buffer_sets: bool
    """Whether a module text said which values share an address; else nothing is planned anew."""
    has_ranges: bool
    reserved_bytes: Mapping[int, int]
    """By colour, in XLA's own plan, thread-local memory left out."""
    space_names: Mapping[int, str]
    """By colour: HBM, VMEM, SMEM or host, where that is known."""

    @property
    def drops_needless_copies(self) -> bool:
        """Whether the compiler drops copies once the schedule is made, on GPUs and TPUs."""
        return self.platform in ("gpu", "rocm") or self.space_names.get(0) == "HBM"


def read_plannable_compilation(graph: Graph, compilation: str) -> PlannableCompilation:
    """Read a compilation, given by its whole key."""

    def rows(statement: str) -> list[dict[str, Cell]]:
        return graph.query(statement, {"compilation": compilation}).mappings()

    (program_row,) = rows(_PROGRAM)
    allocation_rows = rows(_ALLOCATIONS)
    value_rows = rows(_VALUES)
    platform = _text_or_none(program_row["platform"])
    allocations = tuple(_allocation(row) for row in allocation_rows)
    results = _results(rows(_RESULTS))
    ranged = [row for row in value_rows if row["liveFrom"] is not None]
    stored_ids = _stored_ids(ranged, allocations)
    entry = next((row["computation"] for row in value_rows if row["valueId"] in results), None)
    values = _values(ranged, stored_ids, frozenset(results), _Uses(rows(_USES)), entry=entry)
    parameters = {
        allocation.number: (allocation.parameter_number, allocation.shape_index or "{}")
        for allocation in allocations
        if allocation.parameter_number is not None
    }
    return PlannableCompilation(
        key=compilation,
        platform=platform,
        program=Program(
            values,
            allocations,
            _overwrites_by_id(rows(_OVERWRITES)),
            _ALIGNMENTS.get(platform, _ALIGNMENTS_OF_OTHERS),
            _given_bytes(values, allocations),
        ),
        facts={_number(row["valueId"]): _facts(row, stored_ids, parameters) for row in value_rows},
        results=results,
        readers=_readers_by_id(values),
        has_buffer_sets=program_row["result"] is not None
        and any(row["bufferSet"] is not None for row in value_rows),
        has_ranges=program_row["scheduleLength"] is not None,
        reserved_bytes=_reserved_bytes(allocations),
        space_names={
            _number(row["memorySpace"] or 0): str(row["memorySpaceName"])
            for row in allocation_rows
            if row["memorySpaceName"] is not None
        },
    )


class _Uses:
    """Which values each instruction reads, by its name."""

    def __init__(self, rows: Sequence[Mapping[str, Cell]]) -> None:
        self.operands: defaultdict[str, list[int]] = defaultdict(list)
        """Those that are whole operands, in their order."""
        self.reads: defaultdict[str, list[int]] = defaultdict(list)
        """Those too that are elements of operands."""
        for row in sorted(rows, key=lambda row: _number(row["operand"])):
            instruction, value_id = str(row["instruction"]), _number(row["valueId"])
            self.reads[instruction].append(value_id)
            if row["operandIndex"] in (None, "{}"):
                self.operands[instruction].append(value_id)


def _values(
    ranged: Sequence[Mapping[str, Cell]],
    stored_ids: frozenset[int],
    results: frozenset[int],
    uses: _Uses,
    *,
    entry: Cell,
) -> tuple[Value, ...]:
    """Return the values that have a live range; `entry` is the computation of the results."""
    sizes: defaultdict[int, int] = defaultdict(int)
    for row in ranged:
        sizes[_buffer_set(row)] = max(sizes[_buffer_set(row)], _number(row["sizeBytes"]))
    return tuple(
        [
            Value(
                value_id=_number(row["valueId"]),
                size_bytes=sizes[_buffer_set(row)],
                color=_number(row["memorySpace"] or 0),
                buffer_set=_buffer_set(row),
                first=_number(row["liveFrom"]),
                last=_number(row["liveUntil"]),
                post_order=_LAST if row["postOrder"] is None else _number(row["postOrder"]),
                allocation=_number(row["allocation"]),
                offset_bytes=_number(row["offsetBytes"]),
                instruction=str(row["name"]),
                is_in_entry=row["computation"] == entry,
                is_stored=row["valueId"] in stored_ids,
                is_table=row["dtype"] == "tuple",
                is_copy=row["opcode"] == "copy",
                lives_out=row["valueId"] in results,
                operands=tuple(uses.operands[str(row["name"])])
                if row["shapeIndex"] is None
                else (),
                reads=tuple(dict.fromkeys(uses.reads[str(row["name"])])),
            )
            for row in ranged
        ]
    )


def _results(rows: Sequence[Mapping[str, Cell]]) -> tuple[int, ...]:
    """Return the ids of the values that the program returns, in the order of its results."""
    ordered = sorted(
        (index_numbers(_shape_index(row["shapeIndex"])), _number(row["valueId"])) for row in rows
    )
    return tuple(value_id for _, value_id in ordered)


def _overwrites_by_id(rows: Sequence[Mapping[str, Cell]]) -> dict[int, tuple[Overwrite, ...]]:
    overwrites: defaultdict[int, list[Overwrite]] = defaultdict(list)
    for row in rows:
        overwrites[_number(row["valueId"])].append(
            Overwrite(_number(row["overwritten"]), is_operand=bool(row["isOperand"]))
        )
    return {value_id: tuple(found) for value_id, found in overwrites.items()}


def _readers_by_id(values: Sequence[Value]) -> dict[int, tuple[int, ...]]:
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for value in values:
        for read in value.reads:
            readers[read].append(value.value_id)
    return {value_id: tuple(found) for value_id, found in readers.items()}


def _reserved_bytes(allocations: Sequence[Allocation]) -> dict[int, int]:
    reserved: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        if allocation.role != "threadLocal":
            reserved[allocation.color] += allocation.size_bytes
    return dict(reserved)


_LAST: Final = 1 << 40
"""Place in the post-order of what no text mentions."""


def _stored_ids(
    ranged: Sequence[Mapping[str, Cell]], allocations: Sequence[Allocation]
) -> frozenset[int]:
    """Return the ids of constants and entry parameters: the first value of each such allocation."""
    kept = {
        allocation.number
        for allocation in allocations
        if allocation.role in ("constant", "parameter")
    }
    first: dict[int, int] = {}
    for row in sorted(
        ranged,
        key=lambda row: tuple(map(_number, (row["liveFrom"], row["liveUntil"], row["valueId"]))),
    ):
        number = _number(row["allocation"])
        if number in kept:
            first.setdefault(number, _number(row["valueId"]))
    return frozenset(first.values())


def _given_bytes(values: Sequence[Value], allocations: Sequence[Allocation]) -> dict[int, int]:
    with_values = {value.allocation for value in values}
    given: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        is_preset = allocation.role == "temp" and allocation.color in PRESET_COLORS
        if allocation.role != "threadLocal" and (is_preset or allocation.number not in with_values):
            given[allocation.color] += allocation.size_bytes
    return dict(given)


def _allocation(row: Mapping[str, Cell]) -> Allocation:
    number = row["parameterNumber"]
    return Allocation(
        _number(row["number"]),
        _number(row["sizeBytes"]),
        _number(row["memorySpace"] or 0),
        next((role for role in _ROLES if role == row["role"]), None),
        maybe_live_out=bool(row["maybeLiveOut"]),
        parameter_number=None if number is None else _number(number),
        shape_index=_text_or_none(row["shapeIndex"]),
    )


def _facts(
    row: Mapping[str, Cell], stored_ids: frozenset[int], parameters: Mapping[int, tuple[int, str]]
) -> ValueFacts:
    value_id = _number(row["valueId"])
    own = _text_or_none(row["opName"])
    places = (("sourceFile", "sourceLine"), ("attributedFile", "attributedLine"))
    lines = [
        f"{row[file]}:{row[line]}"
        for file, line in (*places, ("userFile", "userLine"))
        if row[file] is not None and row[line] is not None
    ]
    return ValueFacts(
        value_id=value_id,
        label=str(row["label"]),
        shape=f"{row['shape'] or ''}{row['layout'] or ''}",
        dtype=_text_or_none(row["dtype"]),
        opcode=_text_or_none(row["opcode"]),
        op_name=_text_or_none(row["attributedOpName"]) or own,
        own_op_name=own,
        source_lines=tuple(dict.fromkeys(lines)),
        live_until=_number_or_none(row["liveUntil"]),
        last_use=_number_or_none(row["lastUse"]),
        needed_until=_number_or_none(row["neededUntil"]),
        color=_number(row["memorySpace"] or 0),
        parameter=parameters.get(_number(row["allocation"])) if value_id in stored_ids else None,
        computation=_text_or_none(row["computation"]),
    )


def _buffer_set(row: Mapping[str, Cell]) -> int:
    return _number(row["valueId"] if row["bufferSet"] is None else row["bufferSet"])


def index_numbers(index: str) -> tuple[int, ...]:
    """Return the numbers of a shape index: 1 and 0 of `{1,0}`."""
    return tuple(int(part) for part in index[1:-1].split(",") if part)


def _number(cell: Cell) -> int:
    if not isinstance(cell, int):
        raise TypeError(f"a number was expected, not {cell!r}")
    return cell


def _number_or_none(cell: Cell) -> int | None:
    return None if cell is None else _number(cell)


def _shape_index(cell: Cell) -> str:
    return "{}" if cell is None else str(cell)


def _text_or_none(cell: Cell) -> str | None:
    return None if cell is None else str(cell)
