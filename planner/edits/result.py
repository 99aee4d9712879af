"""The result of a what-if, and its cells in machine formats."""

from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.graph.record_cells import cells_of_columns, record_cells
from xlagraph.planner.edits.edit import DonatedParameter
from xlagraph.presentation.byte_sizes import change_text, known_bytes
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable

_COLUMNS: Final = (
    *("compilation", "tempBytes", "tempBytesReplayed", "offsetsEqual", "reservedBytes"),
    *("reservedBytesReplanned", "reservedBytesAfter", "reservedBytesAtMost"),
    *("tempBytesAfter", "peakStepAfter", "lowerBoundBytes"),
)
"""Columns that are named after a field."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one change."""

    change: str
    """The change as an option: `--shrink gates=1/2`."""
    value_count: int
    """Number of values that it changes: the named ones and all that follow them."""
    buffer_count: int
    """Number of their buffer sets."""
    size_bytes: int
    """Bytes of these buffer sets before the change."""
    size_bytes_after: int
    saved_bytes: int
    """Reserved bytes saved in addition to the changes before it; negative if more are needed."""
    matched: tuple[str, ...]
    """Values that its patterns name: parameters by op name, others by label; the largest first."""
    text: str
    """The effect as a sentence, with the reason if nothing is saved."""


@dataclass(frozen=True, slots=True)
class PeakValue:
    """A value that is live at the new peak of the temporary block."""

    value: str
    size_bytes: int
    shape: str
    op_name: str | None


@dataclass(frozen=True, slots=True, repr=False)
class WhatIf(Outlined):
    """Bytes of memory space 0: in XLA's plan, replayed, replanned, and after the changes."""

    compilation: str
    temp_bytes: int
    """Bytes of XLA's temporary blocks."""
    temp_bytes_replayed: int
    """Bytes of the same blocks, packed again."""
    offsets_equal: bool
    """True if every value in them has the same offset as in XLA's plan."""
    reserved_bytes: int
    """Reserved bytes in XLA's plan, without thread-local memory."""
    reserved_bytes_replanned: int | None
    """Bytes replanned without a change. This and the next five are None without module text."""
    reserved_bytes_after: int | None
    reserved_bytes_at_most: int | None
    """Most of the range; None if the effect is not a range."""
    temp_bytes_after: int | None
    peak_step_after: int | None
    """Step of the schedule at which the live bytes of the temporary block are largest."""
    lower_bound_bytes: int | None
    """Lower bound of the temporary block with these values, for any packing."""
    peak_values: tuple[PeakValue, ...]
    """Values of the temporary block that are live at that step, the largest first."""
    donated: tuple[DonatedParameter, ...]
    effects: tuple[Effect, ...]
    """Effects of the changes, in the order in which they are made."""
    assumptions: tuple[str, ...]
    """Assumptions behind the figures, and reasons to doubt them."""
    notes: tuple[str, ...]
    """Note that names the compilation if it was chosen by default."""

    @property
    def is_exact(self) -> bool:
        """True if replaying and replanning both reproduce XLA's plan to the byte."""
        return (
            self.offsets_equal
            and self.temp_bytes_replayed == self.temp_bytes
            and self.reserved_bytes_replanned == self.reserved_bytes
        )

    def outline(self) -> Outline:
        """Return the bytes before and after, and the effect of each change as a sentence."""
        before, after = self.reserved_bytes_replanned, self.reserved_bytes_after
        totals = (
            ("reserved", self.reserved_bytes, before, after),
            ("temporary block", self.temp_bytes, self.temp_bytes_replayed, self.temp_bytes_after),
        )
        columns = ("memory space 0", "xlaBytes", "replannedBytes", "afterBytes")
        when = "after the changes" if self.effects else "replayed without a change"
        title = f"{self.compilation}: reserves {known_bytes(after)} {when}"
        if before is not None and after is not None and before != after:
            title += f", {change_text(before, after)}"
        effects = (each.text.removeprefix("--") for each in self.effects)
        notes = (*effects, *self.notes, *self.assumptions)
        return Outline(title, [OutlineTable(columns, totals)], notes)

    @property
    def saved_bytes(self) -> int | None:
        """Reserved bytes saved; negative if more are needed; None if unknown."""
        if self.reserved_bytes_after is None or self.reserved_bytes_replanned is None:
            return None
        return self.reserved_bytes_replanned - self.reserved_bytes_after


def whatif_cells(result: WhatIf) -> dict[str, Cell]:
    """Return a result's cells by column; lists contain objects."""
    return {
        **cells_of_columns(result, _COLUMNS),
        "liveAtPeak": [*map(record_cells, result.peak_values)],
        "donated": [*map(record_cells, result.donated)],
        "effects": [
            record_cells(effect, value_count="values", buffer_count="buffers")
            | {"matched": list(effect.matched)}
            for effect in result.effects
        ],
        "assumptions": list(result.assumptions),
    }
