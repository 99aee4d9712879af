"""A compilation as the graph holds it: allocations, values in their slots, the schedule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.errors import NameUnknown
from xlagraph.graph.statement_files import load_statement

__all__ = ["Allocation", "Instruction", "LiveRange", "PlacedProgram", "PlacedValue", "read_program"]

_COMPILATION: Final = load_statement(__file__, "compilation")
_SPACES: Final = load_statement(__file__, "memory-spaces")
_ALLOCATIONS: Final = load_statement(__file__, "allocations")
_VALUES: Final = load_statement(__file__, "values")
_INSTRUCTIONS: Final = load_statement(__file__, "instructions")

Row = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Allocation:
    """One buffer of the plan."""

    number: int
    size_bytes: int
    role: str | None
    color: int
    parameter_number: int | None
    shape_index: str | None
    """Within that parameter, in braces."""
    maybe_live_out: bool


@dataclass(frozen=True, slots=True)
class LiveRange:
    """Steps in which a value is needed, both inclusive."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value in its slot."""

    value_id: int
    label: str
    instruction: str
    """Name of the one that defines it."""
    shape_index: str | None
    shape: str | None
    """Without layout."""
    dtype: str | None
    size_bytes: int
    dense_bytes: int | None
    color: int
    allocation: int
    offset_bytes: int
    live_range: LiveRange | None
    alias_set: int
    alias_position: int
    opcode: str | None
    op_name: str | None
    """Of what it belongs to, as the source line is."""
    source_file: str | None
    source_line: int | None

    @property
    def end_bytes(self) -> int:
        """Where its slot ends within the allocation, exclusive."""
        return self.offset_bytes + self.size_bytes


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction that is scheduled, or makes a value."""

    name: str
    opcode: str | None
    shape: str | None
    """With layout, as printed."""
    op_name: str | None
    source_file: str | None
    source_line: int | None
    computation: str
    """`entry` where the dump does not say."""
    target: str | None
    step: int | None
    logical_bytes: int | None
    """Live in memory space 0 while it runs; so are the physical bytes."""
    physical_bytes: int | None


@dataclass(frozen=True, slots=True)
class PlacedProgram:
    """A complete compilation."""

    key: str
    run: str
    module: str
    result: str | None
    """Name of the instruction whose value the entry computation returns."""
    schedule_length: int | None
    space_names: Mapping[int, str]
    """By color: HBM, VMEM, …, else `memory space N`."""
    allocations: tuple[Allocation, ...]
    values: tuple[PlacedValue, ...]
    """In the order of their ids."""
    instructions: tuple[Instruction, ...]
    """The schedule, then the others by name."""


def read_program(graph: Graph, compilation: str) -> PlacedProgram:
    """Read a complete compilation by its key; NameUnknown if there is none."""

    def read(statement: str) -> list[dict[str, Cell]]:
        return graph.query(statement, {"compilation": compilation}).mappings()

    found = read(_COMPILATION)
    if not found:
        raise NameUnknown(f"no compilation {compilation} in the graph")
    about = found[0]
    return PlacedProgram(
        key=compilation,
        run=str(about["run"]),
        module=str(about["module"]),
        result=_text(about["result"]),
        schedule_length=_number(about["scheduleLength"]),
        space_names={
            cast("int", row["color"]): str(row["name"] or f"memory space {row['color']}")
            for row in read(_SPACES)
        },
        allocations=tuple(_allocation(row) for row in read(_ALLOCATIONS)),
        values=tuple(_value(row) for row in read(_VALUES)),
        instructions=_in_schedule_order(_instruction(row) for row in read(_INSTRUCTIONS)),
    )


def _in_schedule_order(instructions: Iterable[Instruction]) -> tuple[Instruction, ...]:
    def order(instruction: Instruction) -> tuple[bool, int, str]:
        return instruction.step is None, instruction.step or 0, instruction.name

    return tuple(sorted(instructions, key=order))


def _allocation(row: Row) -> Allocation:
    return Allocation(
        number=cast("int", row["number"]),
        size_bytes=cast("int", row["sizeBytes"]),
        role=_text(row["role"]),
        color=cast("int", row["memorySpace"]),
        parameter_number=_number(row["parameterNumber"]),
        shape_index=_text(row["shapeIndex"]),
        maybe_live_out=bool(row["maybeLiveOut"]),
    )


def _value(row: Row) -> PlacedValue:
    first, last = _number(row["liveFrom"]), _number(row["liveUntil"])
    return PlacedValue(
        value_id=cast("int", row["valueId"]),
        label=str(row["label"]),
        instruction=str(row["name"]),
        shape_index=_text(row["shapeIndex"]),
        shape=_text(row["shape"]),
        dtype=_text(row["dtype"]),
        size_bytes=cast("int", row["sizeBytes"]),
        dense_bytes=_number(row["denseBytes"]),
        color=cast("int", row["memorySpace"]),
        allocation=cast("int", row["allocation"]),
        offset_bytes=cast("int", row["offsetBytes"]),
        live_range=None if first is None or last is None else LiveRange(first, last),
        alias_set=cast("int", row["aliasSet"]),
        alias_position=cast("int", row["aliasPosition"]),
        opcode=_text(row["opcode"]),
        op_name=_text(row["opName"]),
        source_file=_text(row["sourceFile"]),
        source_line=_number(row["sourceLine"]),
    )


def _instruction(row: Row) -> Instruction:
    return Instruction(
        name=str(row["name"]),
        opcode=_text(row["opcode"]),
        shape=_text(row["shape"]),
        op_name=_text(row["opName"]),
        source_file=_text(row["sourceFile"]),
        source_line=_number(row["sourceLine"]),
        computation=str(row["computation"] or "entry"),
        target=_text(row["target"]),
        step=_number(row["step"]),
        logical_bytes=_number(row["logicalBytes"]),
        physical_bytes=_number(row["physicalBytes"]),
    )


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def _number(cell: Cell) -> int | None:
    return cast("int | None", cell)
