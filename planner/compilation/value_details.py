"""Read the details of one value: shape, storage, maker, names, neighbours, readers, live range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.range_end_text import (
    RangeEnd,
    range_end_of,
    range_end_text,
)
from xlagraph.planner.compilation.records import (
    StoredFrame,
    StoredInstruction,
    StoredSpace,
    StoredValue,
    read_records,
    record_of,
)
from xlagraph.planner.compilation.stored_compilation import FRAMES_STATEMENT
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable
from xlagraph.queries.runner.compilations import find_compilation
from xlagraph.queries.runner.values import find_value

_VALUE: Final = load_statement(__file__, "value")
_POSITIONS: Final = load_statement(__file__, "value-positions")
_READERS: Final = load_statement(__file__, "readers")
_PREDECESSORS: Final = load_statement(__file__, "predecessors")
_SUCCESSORS: Final = load_statement(__file__, "successors")
_ALIAS_SET: Final = load_statement(__file__, "alias-set")
_RANK: Final = load_statement(__file__, "peak-rank")
_LOOP_TURNS: Final = load_statement(__file__, "loop-turns")
_CALLERS: Final = load_statement(__file__, "callers")


class NameOfValue(NamedTuple):
    """A name of a value: an instruction and an index."""

    name: str
    shape_index: str | None
    opcode: str | None
    step: int | None


class Neighbour(NamedTuple):
    """A value that uses bytes of another value before or after it."""

    value: str
    """Label of the neighbour."""
    in_place: bool
    shared_bytes: int
    steps: int
    """Step of the update if in place; else the number of steps between both values."""
    shape: str
    op_name: str | None


class Reader(NamedTuple):
    """An instruction that reads a value as an operand."""

    instruction: str
    operand: int
    operand_index: str | None
    opcode: str | None
    op_name: str | None
    step: int | None
    file: str | None
    """File of the user's line, else of the instruction's."""
    line: int | None


@dataclass(frozen=True, slots=True)
class PeakShare:
    """Share of a value in the physical peak of its memory space; None if it is not live there."""

    physical_bytes: int | None
    share: float | None
    """Share of the peak, 0 to 1."""
    rank: int | None
    """Rank from 1, as in `peak/contributors`."""
    contributors: int | None
    peak_bytes: int | None
    """Size of the peak; this and the next field are None without live ranges."""
    peak_step: int | None


@dataclass(frozen=True, slots=True)
class LiveRangeDetails:
    """The live range of a value, with both ends included, and the reason for its end."""

    live_from: int | None
    live_until: int | None
    last_use: int | None
    schedule_length: int | None
    ends_at: str | None
    """Instruction at its last step; None after the schedule's end."""
    ending: RangeEnd
    why: str
    """Reason for the end as a sentence."""


class LoopOfValue(NamedTuple):
    """The innermost loop that computes a value, in the same bytes in every iteration."""

    loop: str
    """Name of the `while`."""
    turns: int | None
    """Number of times the body runs; None if XLA does not know it."""


@dataclass(frozen=True, slots=True, repr=False)
class ValueDetails(Outlined):
    """All facts about one value."""

    compilation: str
    note: str | None
    """Reason for the choice of the compilation if none was named."""
    asked: str
    """Requested name, which may differ from the label."""
    value: StoredValue
    allocation: PlannedAllocation
    space: StoredSpace
    maker: StoredInstruction | None
    loop: LoopOfValue | None
    stack: tuple[StoredFrame, ...]
    """Call stack of the maker, innermost first."""
    attribution_stack: tuple[StoredFrame, ...]
    """Call stack of the op that the value is attributed to, innermost first."""
    names: tuple[NameOfValue, ...]
    """Names in order of their steps."""
    predecessors: tuple[Neighbour, ...]
    """Values whose bytes it reuses, sorted by bytes, descending."""
    successors: tuple[Neighbour, ...]
    """Values that reuse its bytes, sorted by bytes, descending."""
    aliases: tuple[str, ...]
    """Labels of other values that share its storage by in-place updates, in order."""
    readers: tuple[Reader, ...]
    """Readers in order of their steps."""
    live_range: LiveRangeDetails
    peak: PeakShare

    def outline(self) -> Outline:
        """Return what made the value, and the values whose bytes it reuses or that reuse its."""
        value, maker, live = self.value, self.maker, self.live_range
        line = (
            None
            if maker is None or maker.source_file is None
            else (f"{maker.source_file}:{maker.source_line}")
        )
        facts = ("shape", "sizeBytes", "peakBytes", "opcode", "line", "liveFrom", "liveUntil")
        row = (
            *(value.shape, value.size_bytes, self.peak.physical_bytes),
            *(maker and maker.opcode, line, live.live_from, live.live_until),
        )
        neighbours = [
            OutlineTable(
                ("value", "inPlace", "sharedBytes", "shape"),
                [(each.value, each.in_place, each.shared_bytes, each.shape) for each in found],
                title,
            )
            for title, found in (("before", self.predecessors), ("after", self.successors))
            if found
        ]
        notes = [live.why] if self.note is None else [self.note, live.why]
        return Outline(
            f"{value.label} of {self.compilation}", [OutlineTable(facts, [row]), *neighbours], notes
        )

    @property
    def padding_bytes(self) -> int | None:
        """Assigned bytes in addition to the elements; None for tuples and tokens."""
        dense = self.value.dense_bytes
        return None if dense is None else self.value.size_bytes - dense


def value(graph: Graph, name: str, compilation: str | None = None) -> ValueDetails:
    """Return all facts about the value with a label or another name.

    Raise NoSuchName with similar names, AmbiguousValue if the name is a tuple, or an error of
    `find_compilation`.
    """
    found = find_compilation(graph, compilation)
    parameters: dict[str, Cell] = {"value": find_value(graph, found.key, name)}
    (row,) = graph.query(_VALUE, parameters).mappings()
    stored = record_of(StoredValue, _node(row["valueNode"]))
    space = record_of(StoredSpace, _node(row["spaceNode"]))
    readers = read_records(graph, _READERS, Reader, parameters)
    maker = _instruction(row["maker"])
    successors = read_records(graph, _SUCCESSORS, Neighbour, parameters)
    return ValueDetails(
        compilation=found.key,
        note=found.note,
        asked=name,
        value=stored,
        allocation=record_of(PlannedAllocation, _node(row["allocationNode"])),
        space=space,
        maker=maker,
        loop=_loop(graph, found.key, maker),
        stack=_stack(graph, row["frame"]),
        attribution_stack=_stack(graph, row["attributedFrame"]),
        names=read_records(graph, _POSITIONS, NameOfValue, parameters),
        predecessors=read_records(graph, _PREDECESSORS, Neighbour, parameters),
        successors=successors,
        aliases=tuple(str(alias) for _, alias in graph.query(_ALIAS_SET, parameters).rows),
        readers=readers,
        live_range=_live_range(stored, row, readers, successors),
        peak=_peak(graph, parameters, space, cast("int | None", row["physicalBytes"])),
    )


def _node(cell: Cell) -> Mapping[str, Cell]:
    """Return a node's properties in a row."""
    return cast("Mapping[str, Cell]", cell)


def _instruction(cell: Cell) -> StoredInstruction | None:
    return None if cell is None else record_of(StoredInstruction, _node(cell))


def _loop(graph: Graph, compilation: str, maker: StoredInstruction | None) -> LoopOfValue | None:
    if maker is None or maker.loop is None:
        return None
    parameters: dict[str, Cell] = {"compilation": compilation, "loop": maker.loop}
    rows = graph.query(_LOOP_TURNS, parameters).rows
    return LoopOfValue(maker.loop, cast("int | None", rows[0][0]) if rows else None)


def _stack(graph: Graph, innermost: Cell) -> tuple[StoredFrame, ...]:
    """Return the frame with a key and its callers; nothing without a key."""
    if innermost is None:
        return ()
    found = list(read_records(graph, FRAMES_STATEMENT, StoredFrame, {"frames": [innermost]}))
    while found[-1].caller is not None:
        rows = graph.query(_CALLERS, {"frame": found[-1].key}).rows
        found += [StoredFrame._make(row[:-1]) for row in rows]  # the last cell is the depth
    return tuple(found)


def _live_range(
    stored: StoredValue,
    row: Mapping[str, Cell],
    readers: Sequence[Reader],
    successors: Sequence[Neighbour],
) -> LiveRangeDetails:
    ends_at = _instruction(row["endsAt"])
    return LiveRangeDetails(
        live_from=stored.live_from,
        live_until=stored.live_until,
        last_use=stored.last_use,
        schedule_length=cast("int | None", row["scheduleLength"]),
        ends_at=None if ends_at is None else ends_at.name,
        ending=range_end_of(stored),
        why=range_end_text(
            stored,
            last_readers=[
                (each.instruction, each.opcode) for each in readers if each.step == stored.last_use
            ],
            ends_at=None if ends_at is None else (ends_at.name, ends_at.opcode),
            overwritten_by=[
                each.value
                for each in successors
                if each.in_place and each.steps == stored.live_until
            ],
        ),
    )


def _peak(
    graph: Graph, parameters: Mapping[str, Cell], space: StoredSpace, physical_bytes: int | None
) -> PeakShare:
    whole = space.physical_peak_bytes
    rank = contributors = share = None
    if physical_bytes is not None and whole is not None:
        ((rank, contributors),) = graph.query(_RANK, parameters).rows
        share = physical_bytes / whole if whole else None
    return PeakShare(
        physical_bytes,
        share,
        cast("int | None", rank),
        cast("int | None", contributors),
        whole,
        space.physical_peak_step,
    )
