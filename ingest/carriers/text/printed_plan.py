"""A plan with the spelling of its text dump, which can be written back byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xlagraph.ingest.plan import Plan

__all__ = ["Blanks", "PartStyle", "PrintedPlan", "SectionName", "Style", "ValueForm"]

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
