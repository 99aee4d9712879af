"""A plan with the spelling of its text dump, which can be written back byte for byte.

The sections of a dump fill a draft of it one after the other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xlagraph.ingest.plan import Allocation, LiveRanges, Plan, UsedValue, Value

SectionName = Literal["allocations", "used values", "live ranges"]
ValueForm = Literal["value", "logical buffer", "multi-line value"]


class Blanks(NamedTuple):
    """A run of blank lines."""

    offset: int
    """Number of characters before the run, blank lines not counted."""
    lines: int


@dataclass(frozen=True, slots=True)
class PartStyle:
    """The sections and the line format of one file of a dump."""

    sections: tuple[SectionName, ...]
    has_byte_order_mark: bool = False
    line_end: str = "\n"
    blank_lines: tuple[Blanks, ...] = ()


@dataclass(frozen=True, slots=True)
class Style:
    """The spelling of a dump, which only rendering needs."""

    parts: tuple[PartStyle, ...] = (PartStyle(("allocations", "used values", "live ranges")),)
    value_form: ValueForm = "value"
    instruction_prefix: str | None = " from instruction: %"
    """Text before a defining instruction; None if the dump prints no defining instructions."""
    is_glued: bool = False
    """True if the next value follows an instruction on its line (jaxlib 0.4.24 to 0.4.35)."""
    prints_none: bool = False
    """True if an empty list of uses is printed as ``(none)`` (since jaxlib 0.10.2)."""
    values_without_uses: frozenset[int] = frozenset()
    """Ids of the values whose uses XLA did not compute."""
    live_ranges_remark: str | None = None
    """``HloLiveRange not available…``, printed instead of the section."""
    peak_remark: str | None = None
    """``  Peak memory could not be determined…``, printed instead of the peak."""


@dataclass(frozen=True, slots=True)
class PrintedPlan(Plan):
    """One parsed dump."""

    instructions: Mapping[str, str] = field(default_factory=dict)
    """Text after ``%name = `` of each defining instruction, by name."""
    human_total: str | None = None
    """Text next to the total such as ``48.3KiB``; None before TensorFlow 2.7."""
    peak_stack_trace: tuple[str, ...] | None = None
    """Lines of the stack-trace tree below the printed peak, the headline first."""
    style: Style = field(default_factory=Style)


@dataclass(slots=True)
class DraftPlan:
    """The facts of the lines read so far; None if no line has stated a fact yet."""

    allocations: list[Allocation] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    total_bytes: int | None = None
    human_total: str | None = None
    used_values: list[UsedValue] | None = None
    instructions: dict[str, str] = field(default_factory=dict)
    live_ranges: LiveRanges | None = None
    peak_stack_trace: tuple[str, ...] | None = None

    names: dict[str, str] = field(default_factory=dict)
    """Each name mapped to itself, so that equal names share one string."""
    value_ids: set[int] = field(default_factory=set)
    unused_values: dict[str, Value] = field(default_factory=dict)
    """Values whose used-value block is not read yet, by the text from ``<`` to ``>``."""

    value_form: ValueForm | None = None
    instruction_prefix: str | None = None
    is_glued: bool = False
    prints_none: bool | None = None
    values_without_uses: set[int] = field(default_factory=set)
    live_ranges_remark: str | None = None
    peak_remark: str | None = None

    def finished(self, parts: Iterable[PartStyle]) -> PrintedPlan:
        """Return the plan of all files of the dump."""
        return PrintedPlan(
            allocations=tuple(self.allocations),
            values=tuple(self.values),
            total_bytes=self.total_bytes,
            human_total=self.human_total,
            used_values=None if self.used_values is None else tuple(self.used_values),
            instructions=self.instructions,
            live_ranges=self.live_ranges,
            peak_stack_trace=self.peak_stack_trace,
            style=Style(
                parts=tuple(parts),
                value_form=self.value_form or "value",
                instruction_prefix=self.instruction_prefix,
                is_glued=self.is_glued,
                prints_none=bool(self.prints_none),
                values_without_uses=frozenset(self.values_without_uses),
                live_ranges_remark=self.live_ranges_remark,
                peak_remark=self.peak_remark,
            ),
        )
