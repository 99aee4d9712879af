"""A plan as a text dump prints it: with its spelling, so that it renders back byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xlagraph.ingest.model.plan import Plan

__all__ = ["Blanks", "PartStyle", "PrintedPlan", "SectionName", "Style", "ValueForm"]

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
class PrintedPlan(Plan):
    """One parsed dump."""

    instructions: Mapping[str, str] = field(default_factory=dict)
    """Text after ``%name = `` of each defining instruction, by name."""
    human_total: str | None = None
    """``48.3KiB``, beside the total; absent before TensorFlow 2.7."""
    peak_stack_trace: tuple[str, ...] | None = None
    """Lines of the stack-trace tree below the printed peak, its headline first."""
    style: Style = field(default_factory=Style)
