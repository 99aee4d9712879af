"""Split the reserved bytes of a compilation into parts, and assign them to values."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from xlagraph.comparison.mentions import Mentions
from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.hlo.metadata import from_packages, is_installed, makes_every_op
from xlagraph.hlo.shapes import is_float
from xlagraph.planner.compilation.stored_compilation import StoredCompilation

_HELD_VALUES: Final = load_statement(__file__, "held-values")
_COPIES: Final = load_statement(__file__, "copies")
_LOOPS: Final = load_statement(__file__, "loops")


class ReservedPart(StrEnum):
    """A part of the reserved bytes of memory space 0; each reserved byte belongs to one.

    A temporary allocation is neither an input, an output nor a constant. The peak is the step
    at which most bytes of memory space 0 hold a live value. The query ``compare/causes`` makes
    the same split.
    """

    INPUTS = "inputs"
    """Whole allocations of parameters. A donated one is an input, not an output."""
    OUTPUTS = "outputs"
    """Whole allocations of results, except results that share the allocation of an input."""
    CONSTANTS = "constants"
    """Whole allocations of constants."""
    LIVE = "live at the peak"
    """Bytes of temporary allocations that hold a live value at the peak."""
    IDLE = "idle at the peak"
    """Bytes of temporary allocations that are in use at another step, but not at the peak."""
    FRAGMENTATION = "fragmentation"
    """Gaps in temporary allocations that remain even when the allocation is fullest."""
    ELSEWHERE = "in another memory space"
    """No bytes: values in another memory space, such as the VMEM of a TPU."""
    UNKNOWN = "temporary, peak unknown"
    """Whole temporary allocations of a dump without live ranges."""


SourceLine = tuple[str, int]
"""Source file and line."""


def place(line: SourceLine) -> str:
    """Return the file's name and the line; the path in its package for a file of a library."""
    file, number = line
    return f"{from_packages(file) if is_installed(file) else PurePath(file).name}:{number}"


class HeldValue(NamedTuple):
    """A value, and the bytes that are assigned to it."""

    part: ReservedPart
    """Part of the allocation that contains the value; LIVE for every temporary allocation."""
    held_bytes: int
    """Size of the whole allocation for an input, output or constant; share of the peak for a
    temporary value; 0 for every other value."""
    is_donated: bool
    """True for an input whose bytes an output reuses."""
    name: str
    shape_index: str | None
    opcode: str | None
    op_name: str | None
    user_line: SourceLine | None
    """Innermost line outside of installed packages; None if there is none."""
    source_line: SourceLine | None
    """Innermost line, which may belong to a library."""
    shape: str
    dtype: str | None
    size_bytes: int
    live_from: int
    is_result: bool = False
    """True if the program returns the value."""
    target: str | None = None
    """Target of the custom call that makes the value."""
    sharding: str | None = None
    """How an input is split over devices, as the module text prints it."""
    stack_turns: int | None = None
    """Number of parts that the iterations of a loop fill the value with; None if none does."""
    iterations: int | None = None
    """How often that loop runs; None if XLA does not know it, as of `jax.lax.while_loop`."""
    loop: str | None = None
    """Innermost loop that computes the value, by the name of its ``while``."""

    @property
    def label(self) -> str:
        """Name with the tuple index, as queries show it."""
        return self.name if self.shape_index in (None, "{}") else f"{self.name}{self.shape_index}"

    @property
    def line(self) -> SourceLine | None:
        """The user's line, else that of the instruction; None for one that makes every op."""
        line = self.user_line or self.source_line
        return None if line is None or makes_every_op(line[0]) else line

    @property
    def is_float(self) -> bool:
        """True for floating-point numbers; integers are no parameters of a model."""
        return is_float(self.dtype)

    @property
    def is_stack(self) -> bool:
        """True for a value with a part of each iteration of a loop.

        State of which an iteration writes all parts, such as the caches of all layers, is none.
        """
        turns = self.stack_turns or 0
        return turns > 1 and (self.iterations is None or turns >= self.iterations)

    @property
    def is_input(self) -> bool:
        """True for an argument of the program; parameters of loops in its bytes hold none."""
        is_parameter = self.opcode == "parameter" and self.held_bytes > 0
        return self.part is ReservedPart.INPUTS and is_parameter

    @property
    def is_output(self) -> bool:
        """True for a result; the table of a tuple that contains the results is none."""
        return self.is_result and not self.shape.startswith("(")

    @property
    def is_computed(self) -> bool:
        """True for a value that is neither a parameter nor a constant."""
        return self.opcode not in ("parameter", "constant")


class Reserved(NamedTuple):
    """The reserved bytes of a compilation.

    The bytes of `values`, `idle_bytes`, `fragmentation_bytes` and `unknown_bytes` add up to
    `Compilation.reservedBytes`.
    """

    values: tuple[HeldValue, ...]
    idle_bytes: int = 0
    fragmentation_bytes: int = 0
    unknown_bytes: int = 0
    copies: int = 0
    """Number of copies that `alias/copies` lists."""
    partitions: int | None = None
    """Devices over which the program is split; None if the dump has no module text."""
    mentions: Mentions = Mentions()
    """Names in the module; none if it is not stored."""
    turns: Mapping[str, int] = MappingProxyType({})
    """How often loops run, by the name of the ``while``, where XLA knows it."""
    platform: str | None = None
    """``cpu``, ``gpu``, ``tpu``, …; None if unknown."""

    @property
    def total_bytes(self) -> int:
        """Sum of all parts."""
        held_bytes = sum(value.held_bytes for value in self.values)
        return held_bytes + self.idle_bytes + self.fragmentation_bytes + self.unknown_bytes

    def without_peak(self) -> "Reserved":
        """Return the same with temporary allocations of unknown peak, as without live ranges."""
        is_live = [value.part is ReservedPart.LIVE for value in self.values]
        values = tuple(
            value._replace(held_bytes=0) if live else value
            for value, live in zip(self.values, is_live, strict=True)
        )
        unknown = self.total_bytes - sum(value.held_bytes for value in values)
        return self._replace(
            values=values, idle_bytes=0, fragmentation_bytes=0, unknown_bytes=unknown
        )


class _Row(NamedTuple):
    compilation: str
    is_peak_known: bool
    allocation: int
    role: str | None
    allocation_bytes: int
    fullest_bytes: int | None
    maybe_live_out: bool | None
    donation: str | None
    value_id: int | None
    name: str | None
    shape_index: str | None
    opcode: str | None
    op_name: str | None
    user_file: str | None
    user_line: int | None
    source_file: str | None
    source_line: int | None
    shape: str | None
    dtype: str | None
    size_bytes: int | None
    live_from: int | None
    peak_bytes: int | None
    target: str | None
    is_result: bool
    sharding: str | None
    partitions: int | None
    stack_turns: int | None
    stack_loop: str | None
    loop: str | None
    platform: str | None
    memory_space: int | None

    @property
    def user_place(self) -> SourceLine | None:
        return _line(self.user_file, self.user_line)

    @property
    def source_place(self) -> SourceLine | None:
        return _line(self.source_file, self.source_line)


def place_of_most(values: Iterable[HeldValue], dtype: str) -> set[str]:
    """Return the line that computes most of the values of a type; empty if none does."""
    lines = Counter(each.line for each in values if each.is_computed and each.dtype == dtype)
    return {place(line) for line, n in lines.items() if line and 2 * n > lines.total()}


def _line(file: str | None, number: int | None) -> SourceLine | None:
    """Return a line without the folder of a checkout or environment, as two of them differ."""
    if not file or not number:
        return None
    if not is_installed(file):
        return PurePath(file).name, number
    in_package = from_packages(file)
    return file if in_package == file else f"/site-packages/{in_package}", number


_Turns = Mapping[tuple[Cell, Cell], int]
"""How often loops run, by compilation and name."""

_PART_OF_ROLE: Final = {
    "parameter": ReservedPart.INPUTS,
    "output": ReservedPart.OUTPUTS,
    "liveOut": ReservedPart.OUTPUTS,
    "constant": ReservedPart.CONSTANTS,
}


def read_reserved(graph: Graph, compilations: Sequence[str]) -> dict[str, Reserved]:
    """Return the reserved bytes of compilations, by key."""
    if not compilations:  # one engine cannot unwind an empty list
        return {}
    parameters = {"compilations": list(dict.fromkeys(compilations))}
    found = graph.query(_HELD_VALUES, parameters).rows
    copies = {str(key): cast("int", count) for key, count in graph.query(_COPIES, parameters).rows}
    rows = map(_Row._make, cast("Iterable[Sequence[object]]", found))
    turns = {
        (key, loop): cast("int", count) for key, loop, count in graph.query(_LOOPS, parameters).rows
    }
    reserved = {key: Reserved(()) for key in compilations}
    for compilation, all_of_it in groupby(rows, key=lambda row: row.compilation):
        of_compilation = list(all_of_it)
        allocations = groupby(of_compilation, key=lambda row: row.allocation)
        parts = [_reserved_by(list(group), turns) for _, group in allocations]
        reserved[compilation] = Reserved(
            _without_shared_names([value for part in parts for value in part.values]),
            sum(part.idle_bytes for part in parts),
            sum(part.fragmentation_bytes for part in parts),
            sum(part.unknown_bytes for part in parts),
            copies.get(compilation, 0),
            parts[0].partitions,
            mentions := Mentions(StoredCompilation(graph, compilation)),
            {str(loop): count for (key, loop), count in turns.items() if key == compilation}
            or mentions.counted_loops(),
            of_compilation[0].platform,
        )
    return reserved


def _without_shared_names(values: Sequence[HeldValue]) -> tuple[HeldValue, ...]:
    """Return values without the name that several inputs have, such as `XLA_Args` of TensorFlow."""
    counts = Counter(value.op_name for value in values if value.is_input)
    return tuple(
        value._replace(op_name=None) if value.is_input and counts[value.op_name] > 1 else value
        for value in values
    )


def _reserved_by(rows: Sequence[_Row], turns: _Turns) -> Reserved:
    """Split the bytes of one allocation."""
    first = rows[0]
    if first.memory_space:
        elsewhere = _values(ReservedPart.ELSEWHERE, rows, [0] * len(rows), turns)
        return Reserved(elsewhere, partitions=first.partitions)
    part = _PART_OF_ROLE.get(first.role or "", ReservedPart.LIVE)
    if part is not ReservedPart.LIVE:
        holder = _holder(part, rows)
        held = [first.allocation_bytes if row is holder else 0 for row in rows]
        return Reserved(_values(part, rows, held, turns), partitions=first.partitions)
    held = [row.peak_bytes or 0 for row in rows]
    values = _values(part, rows, held, turns)
    if not first.is_peak_known or first.fullest_bytes is None:
        unknown_bytes = first.allocation_bytes - sum(held)
        return Reserved(values, unknown_bytes=unknown_bytes, partitions=first.partitions)
    return Reserved(
        values,
        idle_bytes=first.fullest_bytes - sum(held),
        fragmentation_bytes=first.allocation_bytes - first.fullest_bytes,
        partitions=first.partitions,
    )


def _holder(part: ReservedPart, rows: Sequence[_Row]) -> _Row:
    """Return the value that represents an allocation: the largest output, or the parameter."""
    if part is ReservedPart.OUTPUTS:
        return max(rows, key=lambda row: (row.size_bytes or 0, row.live_from or 0))
    return next((row for row in rows if row.opcode == "parameter"), rows[0])


def _values(
    part: ReservedPart, rows: Sequence[_Row], held: Sequence[int], turns: _Turns
) -> tuple[HeldValue, ...]:
    # an allocation without values still counts its bytes
    return tuple(
        HeldValue(
            part,
            held_bytes,
            part is ReservedPart.INPUTS
            and held_bytes > 0
            and (row.donation == "paired" or row.maybe_live_out is True),
            row.name or f"allocation {row.allocation}",
            row.shape_index,
            row.opcode,
            row.op_name,
            row.user_place,
            row.source_place,
            row.shape or "",
            row.dtype,
            row.size_bytes or 0,
            row.live_from or 0,
            row.is_result,
            row.target,
            row.sharding,
            row.stack_turns,
            turns.get((row.compilation, row.stack_loop)),
            row.loop,
        )
        for row, held_bytes in zip(rows, held, strict=True)
        if row.value_id is not None or held_bytes
    )
