"""A value of a plan, and the role of an allocation."""

import re
from dataclasses import dataclass

from tests.queries.plain.text import (
    PlainText,
    dense_bytes,
)
from xlagraph.ingest.plan import Allocation, Position, Use

Segment = tuple[int, int, int]
"""Allocation, first byte, byte past the last: no value begins or ends inside."""


@dataclass(frozen=True, eq=False)
class PlainValue:
    """A value with its facts from the rest of the dump."""

    value_id: int
    name: str
    shape_index: str | None
    is_phi: bool
    allocation: Allocation
    offset: int
    size: int
    printed_shape: str
    first: int | None
    last: int | None
    last_use: int | None
    positions: tuple[Position, ...]
    uses: tuple[Use, ...]
    made: PlainText
    segments: tuple[Segment, ...]

    @property
    def label(self) -> str:
        """Name and tuple index."""
        return self.name + (self.shape_index or "")

    @property
    def shape(self) -> str:
        """Shape without layout."""
        return re.sub(r"(?<=\])\{[^}]*\}", "", self.printed_shape)

    @property
    def dtype(self) -> str:
        """Type of its elements."""
        return "tuple" if self.shape.startswith("(") else self.shape.partition("[")[0]

    @property
    def dense(self) -> int | None:
        """Bytes of its elements without padding; None if it is not an array."""
        return dense_bytes(self.printed_shape)

    @property
    def is_array(self) -> bool:
        """True if it is neither a tuple table nor a token."""
        return self.dtype not in ("tuple", "token", "opaque")

    @property
    def users(self) -> set[str]:
        """Names of the instructions that read it."""
        return {use.instruction for use in self.uses}

    @property
    def place(self) -> tuple[int, int, int]:
        """Position in the order (liveFrom, liveUntil, valueId)."""
        assert self.first is not None
        assert self.last is not None
        return (self.first, self.last, self.value_id)

    @property
    def steps(self) -> range:
        """Steps of its live range; none without one."""
        if self.first is None or self.last is None:
            return range(0)
        return range(self.first, self.last + 1)


def role(allocation: Allocation) -> str | None:
    """Return the role of an allocation."""
    roles = (
        ("threadLocal", allocation.is_thread_local),
        ("constant", allocation.is_constant),
        ("parameter", allocation.parameter is not None),
        ("output", allocation.output_shape is not None),
        ("liveOut", allocation.maybe_live_out),
        ("temp", allocation.is_preallocated_temp),
    )
    return next((name for name, holds in roles if holds), None)
