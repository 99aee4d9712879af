"""A plan under changes, and its cells for machines."""

from dataclasses import dataclass

from xlagraph.graph.engine import Cell

__all__ = ["DonatedParameter", "Effect", "PeakValue", "WhatIf", "whatif_cells"]


@dataclass(frozen=True, slots=True)
class DonatedParameter:
    """A parameter that is donated, and the effect."""

    parameter: str
    """Label; so is the next."""
    output: str | None
    """Result that takes its bytes; None where none has its shape and type."""
    size_bytes: int
    outcome: str
    """`in place`; `copied first`, where others read the parameter later; `copied last`, where the
    result is copied over it once it is made; `copied first and last`; `no output`, `donated
    already`, or `gone` without its value."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One of the changes, and what it does."""

    change: str
    """As an option: `--shrink gates=1/2`."""
    value_count: int
    """Values that it changes; those that it names, and all that follow."""
    buffer_count: int
    """Buffer sets that these are."""
    size_bytes: int
    """Of these buffer sets before the change."""
    size_bytes_after: int
    saved_bytes: int
    """Of what is reserved, after the changes before it; negative where more is."""
    text: str
    """What it does as a sentence, and why it saves nothing if it does not."""


@dataclass(frozen=True, slots=True)
class PeakValue:
    """A value that is live at the new peak of the temporary block."""

    value: str
    size_bytes: int
    shape: str
    op_name: str | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Bytes of memory space 0 in XLA's plan, replayed, replanned, and after the changes."""

    compilation: str
    temp_bytes: int
    """Of XLA's temporary blocks."""
    temp_bytes_replayed: int
    """The same blocks packed again."""
    offsets_equal: bool
    """Whether every value of theirs was given the offset that XLA gave it."""
    reserved_bytes: int
    """In XLA's plan, thread-local memory left out."""
    reserved_bytes_replanned: int | None
    """Replanned without a change; None without module text, as are the next five."""
    reserved_bytes_after: int | None
    reserved_bytes_at_most: int | None
    """Where the effect is a range; else None."""
    temp_bytes_after: int | None
    peak_step_after: int | None
    """Step of the compilation's schedule at which most of the temporary block is live."""
    lower_bound_bytes: int | None
    """Least that the temporary block takes with these values, however they are packed."""
    peak_values: tuple[PeakValue, ...]
    """What is live at that step in the temporary block, the largest first."""
    donated: tuple[DonatedParameter, ...]
    effects: tuple[Effect, ...]
    """Of each change, in the order in which they are made."""
    assumptions: tuple[str, ...]
    """What the figures rest on, and why not to trust them."""
    notes: tuple[str, ...]
    """Which compilation was chosen."""

    @property
    def is_exact(self) -> bool:
        """Whether replay and plan anew both reproduce the plan to the byte."""
        return (
            self.offsets_equal
            and self.temp_bytes_replayed == self.temp_bytes
            and self.reserved_bytes_replanned == self.reserved_bytes
        )

    @property
    def saved_bytes(self) -> int | None:
        """Of what is reserved; negative where more is; None where that is unknown."""
        if self.reserved_bytes_after is None or self.reserved_bytes_replanned is None:
            return None
        return self.reserved_bytes_replanned - self.reserved_bytes_after


def whatif_cells(result: WhatIf) -> dict[str, Cell]:
    """Return the cells of a result by name; lists as objects."""
    return {
        "compilation": result.compilation,
        "tempBytes": result.temp_bytes,
        "tempBytesReplayed": result.temp_bytes_replayed,
        "offsetsEqual": result.offsets_equal,
        "reservedBytes": result.reserved_bytes,
        "reservedBytesReplanned": result.reserved_bytes_replanned,
        "reservedBytesAfter": result.reserved_bytes_after,
        "reservedBytesAtMost": result.reserved_bytes_at_most,
        "tempBytesAfter": result.temp_bytes_after,
        "peakStepAfter": result.peak_step_after,
        "lowerBoundBytes": result.lower_bound_bytes,
        "liveAtPeak": [
            {
                "value": holder.value,
                "sizeBytes": holder.size_bytes,
                "shape": holder.shape,
                "opName": holder.op_name,
            }
            for holder in result.peak_values
        ],
        "donated": [
            {
                "parameter": donated.parameter,
                "output": donated.output,
                "sizeBytes": donated.size_bytes,
                "outcome": donated.outcome,
            }
            for donated in result.donated
        ],
        "effects": [
            {
                "change": effect.change,
                "values": effect.value_count,
                "buffers": effect.buffer_count,
                "sizeBytes": effect.size_bytes,
                "sizeBytesAfter": effect.size_bytes_after,
                "savedBytes": effect.saved_bytes,
                "text": effect.text,
            }
            for effect in result.effects
        ],
        "assumptions": list(result.assumptions),
    }
