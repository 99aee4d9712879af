"""The memory plan of one compilation as the dump states it: plain immutable records.

    Plan
    ├── allocations   Allocation    one buffer of the plan
    ├── values        Value         one HLO value in a slot of an allocation
    ├── total         TotalBytes    what XLA adds up itself
    ├── used_values   UsedValue     positions and uses of a value
    ├── instructions                text of the defining instructions, each kept once
    ├── live_ranges   LiveRanges    schedule, ranges, printed peak
    └── style         Style         spelling without meaning, so that a plan renders back

What a dump does not say is ``None``; a section that it does not have is ``None`` too,
while a section that it has and that lists nothing is an empty tuple. Shape indices are
kept as XLA prints them, with their braces: ``{}``, ``{1,0}``.

Records that a dump holds by the million are named tuples, the others frozen dataclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class ParameterStorage:
    """Which entry parameter an allocation stores."""

    number: int
    shape: str | None
    """Without layout; up to jaxlib 0.7.0 the whole tuple on each of its leaves."""
    shape_index: str | None


class Allocation(NamedTuple):
    """One buffer of the plan."""

    number: int
    size_bytes: int
    address: str | None = None
    """Of a C++ object at compile time; up to TensorFlow 2.10. Means nothing."""
    color: int = 0
    """Memory space; printed only when it is not 0."""
    page: int | None = None
    parameter: ParameterStorage | None = None
    output_shape: str | None = None
    is_constant: bool = False
    is_thread_local: bool = False
    maybe_live_out: bool = False
    is_preallocated_temp: bool = False


class Value(NamedTuple):
    """One HLO value in its slot ``[offset_bytes, offset_bytes + size_bytes)``."""

    value_id: int
    name: str
    shape_index: str | None
    """Tuple index where the defining instruction is tuple-shaped, in every generation."""
    is_phi: bool
    color: int | None
    allocation: int
    """Number of the allocation that holds it."""
    offset_bytes: int
    size_bytes: int
    shape: str
    """With layout, as printed."""

    @property
    def label(self) -> str:
        """Name and tuple index: ``fusion.7``, ``while.1{1}``, ``tuple.13{}``."""
        return self.name if self.shape_index is None else self.name + self.shape_index


class Position(NamedTuple):
    """An instruction and shape index at which a value is visible."""

    instruction: str
    shape_index: str | None


class Use(NamedTuple):
    """An instruction that reads a value."""

    instruction: str
    operand: int
    operand_index: str | None
    """Index within the operand, where that operand is a tuple."""


class UsedValue(NamedTuple):
    """Positions and uses of one value, in the order of the dump."""

    value_id: int
    positions: tuple[Position, ...]
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class TotalBytes:
    """XLA's own sum of all allocations, every memory space and thread-local included."""

    bytes: int
    human: str | None
    """``48.3KiB``; absent before TensorFlow 2.7."""


class LiveRange(NamedTuple):
    """Steps of the schedule in which a value is needed, both ends inclusive."""

    name: str
    shape_index: str
    """Always printed here, ``{}`` for arrays too."""
    first_step: int
    last_step: int


class PrintedPeakEntry(NamedTuple):
    """One line of XLA's list of values live at its peak."""

    name: str
    shape_index: str | None
    """Absent before jaxlib 0.6."""
    bytes: int
    cumulative_bytes: int | None


@dataclass(frozen=True, slots=True)
class PrintedPeak:
    """What XLA takes for the peak.

    Often not the true one: it looks for the step with the size of whole tuples where it means
    their elements.
    """

    step: int
    entries: tuple[PrintedPeakEntry, ...]
    stack_trace: tuple[str, ...] | None
    """Lines of the stack-trace tree as printed, its headline first."""


@dataclass(frozen=True, slots=True)
class LiveRanges:
    """Schedule, live ranges and printed peak."""

    max_step: int
    schedule: tuple[str, ...]
    """Instruction names; the index in the tuple is the step."""
    ranges: tuple[LiveRange, ...]
    peak: PrintedPeak | None


SectionName = Literal["allocations", "used values", "live ranges"]
ValueForm = Literal["value", "logical buffer", "multi-line value"]


class Blanks(NamedTuple):
    """A run of blank lines."""

    offset: int
    """Characters before it in the file without blank lines."""
    lines: int


@dataclass(frozen=True, slots=True)
class PartStyle:
    """What one file of a dump holds, and how its lines stand."""

    sections: tuple[SectionName, ...]
    has_byte_order_mark: bool = False
    line_end: str = "\n"
    blank_lines: tuple[Blanks, ...] = ()


@dataclass(frozen=True, slots=True)
class Style:
    """How a dump spells what it says; only rendering needs it."""

    parts: tuple[PartStyle, ...] = (PartStyle(("allocations", "used values", "live ranges")),)
    value_form: ValueForm = "value"
    instruction_prefix: str | None = " from instruction: %"
    """What stands before a defining instruction; None where the dump has none."""
    is_glued: bool = False
    """The next value follows a defining instruction on its line (jaxlib 0.4.24 to 0.4.35)."""
    prints_none: bool = False
    """An empty list of uses says ``(none)`` (since jaxlib 0.10.2)."""
    values_without_uses: frozenset[int] = frozenset()
    """Ids of the values whose uses XLA had not computed."""
    live_ranges_remark: str | None = None
    """``HloLiveRange not available…``: stands for the section."""
    peak_remark: str | None = None
    """``  Peak memory could not be determined…``: stands for the peak."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One parsed dump."""

    allocations: tuple[Allocation, ...]
    values: tuple[Value, ...]
    """In the order of the dump: by allocation, then as listed there."""
    total: TotalBytes | None
    used_values: tuple[UsedValue, ...] | None
    """None before TensorFlow 1.15 and where the companion file is missing."""
    instructions: Mapping[str, str]
    """Text after ``%name = `` of each defining instruction, by name."""
    live_ranges: LiveRanges | None
    style: Style = field(default_factory=Style)
