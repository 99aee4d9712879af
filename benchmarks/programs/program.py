"""A planned program to write as a dump: values in slots, ranges, printed peak.

The generators fill a `Program` in the order of its schedule; `Program.plan` then does the last
steps of XLA's planner: live ranges of outputs, first-fit packing of temporaries into one block,
and the step at which most bytes are live.
"""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate

ALIGNMENT_BYTES = 64
"""Alignment of the slots in the block of temporaries on CPU, in bytes."""


@dataclass(slots=True, eq=False)
class Value:
    """One HLO value; ``first`` and ``last`` are -1 if it has no live range."""

    value_id: int
    name: str
    index: str
    """Tuple index as printed on its value line; empty if the instruction is not a tuple."""
    shape: str
    size_bytes: int
    text: str
    """Text of its instruction after ``%name = ``."""
    is_phi: bool = False
    first: int = -1
    last: int = -1
    offset_bytes: int = 0
    overwrites: "Value | None" = None
    """The value whose slot it overwrites, if that value ends when it begins."""
    positions: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.positions.append(f"{self.name} {self.index}" if self.index else self.name)

    @property
    def printed(self) -> str:
        """Return its name as printed between ``<`` and ``>``."""
        phi = " (phi)" if self.is_phi else ""
        return f"{self.value_id} {self.name}{self.index}{phi} @0"


@dataclass(slots=True)
class Allocation:
    """One buffer; ``kind`` is the text after the size on its line, with commas."""

    kind: str
    values: list[Value]

    @property
    def size_bytes(self) -> int:
        """Return the end of its last value."""
        return max((value.offset_bytes + value.size_bytes for value in self.values), default=0)


@dataclass(slots=True)
class Program:
    """The content of the dump of one compilation."""

    module_name: str
    allocations: list[Allocation] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    """Values by id."""
    schedule: list[str] = field(default_factory=list)
    temporaries: list[Value] = field(default_factory=list)
    module_header: str = ""
    computations: Iterable[str] = ()
    """Lines of the module text after its header, made when they are written."""
    peak_step: int = -1

    def total_bytes(self) -> int:
        """Add up all allocations."""
        return sum(allocation.size_bytes for allocation in self.allocations)

    def plan(self) -> None:
        """Pack the temporaries and find the step with most live bytes."""
        if self.temporaries:
            pack(self.temporaries)
            self.allocations.append(Allocation(", preallocated-temp", self.temporaries))
        change = [0] * (len(self.schedule) + 2)
        for value in self.values:
            if value.first >= 0:
                change[value.first] += value.size_bytes
                change[value.last + 1] -= value.size_bytes
        live = list(accumulate(change))
        self.peak_step = live.index(max(live))

    def live_at_peak(self) -> list[Value]:
        """Return the values that XLA prints at its peak, largest first."""
        live = [value for value in self.values if value.first <= self.peak_step <= value.last]
        return sorted(live, key=lambda value: (-value.size_bytes, value.name, value.index))


def pack(temporaries: list[Value]) -> None:
    """Assign every temporary an offset: first fit along the schedule, in place if possible.

    Values that overwrite each other make one chain with one slot. A slot is free from the
    step after the one in which its last value ends.
    """
    chains: list[list[Value]] = []
    chain_ending_with: dict[Value, list[Value]] = {}
    for value in sorted(temporaries, key=lambda value: (value.first, value.value_id)):
        earlier = value.overwrites
        chain = chain_ending_with.pop(earlier, None) if earlier else None
        if (
            chain is None
            or chain[-1].last != value.first
            or chain[-1].size_bytes != value.size_bytes
        ):
            chain = []
            chains.append(chain)
        chain.append(value)
        chain_ending_with[value] = chain

    free = _FreeBytes()
    ends: list[tuple[int, int, int]] = []
    for chain in chains:  # in order of their first steps
        while ends and ends[0][0] < chain[0].first:
            _, offset, size = heappop(ends)
            free.release(offset, size)
        size = -(-chain[0].size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        offset = free.allocate(size)
        heappush(ends, (chain[-1].last, offset, size))
        for value in chain:
            value.offset_bytes = offset


class _FreeBytes:
    """Free ranges below the top of a block, by address; everything above is free, too."""

    def __init__(self) -> None:
        self._holes: list[tuple[int, int]] = []
        self._top = 0

    def allocate(self, size: int) -> int:
        for index, (offset, room) in enumerate(self._holes):
            if room >= size:
                self._holes[index : index + 1] = (
                    [(offset + size, room - size)] if room > size else []
                )
                return offset
        offset = self._top
        if self._holes and sum(self._holes[-1]) == self._top:
            offset = self._holes.pop()[0]
        self._top = offset + size
        return offset

    def release(self, offset: int, size: int) -> None:
        insort(self._holes, (offset, size))
        index = self._holes.index((offset, size))
        first = index - 1 if index and sum(self._holes[index - 1]) == offset else index
        end = offset + size
        after = index + 1
        if after < len(self._holes) and self._holes[after][0] == end:
            end = sum(self._holes[after])
            after += 1
        start = self._holes[first][0]
        self._holes[first:after] = [(start, end - start)]
