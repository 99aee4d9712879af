"""A partial plan, which the sections of a dump fill one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from xlagraph.ingest.carriers.text.printed_plan import PartStyle, PrintedPlan, Style, ValueForm
from xlagraph.ingest.plan import Allocation, LiveRanges, UsedValue, Value

__all__ = ["DraftPlan"]


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
