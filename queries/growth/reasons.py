"""Reasons for which one program reserves more than another, and the values behind each."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from xlagraph.queries.growth.held_values import HeldValue

__all__ = ["Kind", "Reason", "Subject"]


class Kind(StrEnum):
    """Kind of a reason; ``same`` values are matched as `match_values` says."""

    UNDONATED = "undonated"
    """Inputs that are no longer donated, so that outputs need allocations."""
    DONATED = "donated"
    """Inputs that are donated now."""
    UNCHECKPOINTED = "uncheckpointed"
    """Values of scopes that are no longer recomputed in the backward pass."""
    CHECKPOINTED = "checkpointed"
    """Values of scopes that are recomputed now."""
    DTYPE = "dtype"
    """The same values with another element type."""
    SIZE = "size"
    """The same values with more or fewer elements."""
    SCOPE_NEW = "scopeNew"
    """Values in scopes that the first side does not have."""
    SCOPE_GONE = "scopeGone"
    """Values in scopes that the second side does not have."""
    COPIES = "copies"
    """Copy instructions that one side alone has."""
    CASTS = "casts"
    """Temporary values that one side alone has, and that change the element type of another."""
    INPUTS = "inputs"
    """Inputs that one side alone has."""
    OUTPUTS = "outputs"
    """Outputs that one side alone has."""
    CONSTANTS = "constants"
    """Constants that one side alone has."""
    REPLACED = "replaced"
    """Temporary values that one side alone has."""
    PADDING = "padding"
    """The same shapes in more or fewer bytes."""
    PLACED = "placed"
    """The same values, in allocations of another role."""
    PEAK = "peak"
    """The same values, of which others are live at the peak."""
    IDLE = "idle"
    """Temporary bytes that are in use at another step than the peak."""
    FRAGMENTATION = "fragmentation"
    """Gaps in temporary allocations."""
    UNKNOWN = "unknown"
    """Temporary allocations of dumps without live ranges."""
    UNPAIRED = "unpaired"
    """Compilations that one side alone has."""
    OTHER = "other"
    """Compilations whose values were not read, because others changed more."""


class Subject(NamedTuple):
    """What a reason is about: reasons of one subject are one reason."""

    kind: Kind
    before: str = ""
    """Element type, of DTYPE."""
    after: str = ""
    """New element type (DTYPE, CASTS), or scope with `*` for numbers (SCOPE_NEW, SCOPE_GONE)."""
    factor: float = 1.0
    """Number of elements after, divided by that before, of SIZE."""


@dataclass
class Reason:
    """A reason, how much the reserved bytes grew for it, and the values behind it."""

    subject: Subject
    growth_bytes: int = 0
    count_a: int = 0
    """Values on the first side; compilations, of UNPAIRED and OTHER."""
    count_b: int = 0
    """The same on the second side."""
    scopes: set[str] = field(default_factory=set)
    """Scopes that it is about, of those kinds that are about scopes."""
    placed_bytes: int = 0
    """Part of the growth, of donations: temporaries that moved into or out of outputs."""
    growth_by_line: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Part of the growth, by source file and line."""
    example: tuple[HeldValue | None, HeldValue | None] = (None, None)
    """The value that grew or shrank most, on both sides."""
    only_reason: bool = False
    """Of FRAGMENTATION: nothing else changed."""
    compilations: tuple[str, str] = ("", "")
    """Keys of the pair in which it counts most."""

    def count(self, a: HeldValue | None, b: HeldValue | None) -> None:
        """Add a value, on the sides that have it."""
        growth_bytes = _held(b) - _held(a)
        if self.example == (None, None) or abs(growth_bytes) > self._example_bytes:
            self.example = (a, b)
        self.growth_bytes += growth_bytes
        self.count_a += a is not None
        self.count_b += b is not None
        value = b or a
        if value and value.source_file and value.source_line:
            self.growth_by_line[value.source_file, value.source_line] += growth_bytes

    def merge(self, other: "Reason") -> None:
        """Add a reason of the same subject in another pair of compilations."""
        if abs(other.growth_bytes) > abs(self.growth_bytes):
            self.compilations = other.compilations
        if other._example_bytes > self._example_bytes:
            self.example = other.example
        self.growth_bytes += other.growth_bytes
        self.count_a += other.count_a
        self.count_b += other.count_b
        self.scopes |= other.scopes
        self.placed_bytes += other.placed_bytes
        for line, growth_bytes in other.growth_by_line.items():
            self.growth_by_line[line] += growth_bytes
        self.only_reason &= other.only_reason

    @property
    def _example_bytes(self) -> int:
        return abs(_held(self.example[1]) - _held(self.example[0]))


def _held(value: HeldValue | None) -> int:
    return value.held_bytes if value else 0
