"""Blocks of a plan, and the values that are in them at each step.

A program has thousands of each, so live ranges are indexed.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from sys import maxsize
from typing import Final

from xlagraph.planner.planned_program import Overwrite, PlannedValue

__all__ = ["Block", "HeldValues", "ReusableBlocks"]

_NEVER: Final = -1
"""A step before all others."""


class HeldValues:
    """Values in a block, indexed because a block may contain thousands of them."""

    __slots__ = ("_copied_ids", "_last_steps", "_value_ids", "_values")

    def __init__(self, values: Iterable[PlannedValue] = ()) -> None:
        self._values: list[PlannedValue] = []
        """Values sorted by first step."""
        self._last_steps: list[int] = []
        """Latest last step of the values up to each index; members of one set may overlap."""
        self._value_ids: set[int] = set()
        self._copied_ids: set[int] = set()
        """Ids of the operands of the copies among the values."""
        for value in values:
            self.add(value)

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, value: PlannedValue) -> None:
        """Add a value."""
        row = bisect_right(self._values, value.live_from, key=_first_step)
        self._values.insert(row, value)
        self._last_steps.insert(row, max(self._last_steps[row - 1 : row], default=value.live_until))
        while row < len(self._values) and self._last_steps[row] < value.live_until:
            self._last_steps[row] = value.live_until
            row += 1
        self._value_ids.add(value.value_id)
        if value.is_copy:
            self._copied_ids.update(value.operands)

    def interfere(
        self, value: PlannedValue, overwrites: Mapping[int, tuple[Overwrite, ...]]
    ) -> bool:
        """Return True if a value cannot share bytes with these.

        Their live ranges overlap, or one is a copy of the other.
        """
        if value.value_id in self._copied_ids:
            return True
        if value.is_copy and not self._value_ids.isdisjoint(value.operands):
            return True
        start = bisect_left(self._last_steps, value.live_from)
        end = bisect_right(self._values, value.live_until, key=_first_step)
        return any(_overlap(held, value, overwrites) for held in self._values[start:end])


def _first_step(value: PlannedValue) -> int:
    return value.live_from


@dataclass(slots=True)
class Block:
    """A buffer of the plan, other than the temporary block."""

    size_bytes: int
    memory_space: int
    is_read_only: bool = False
    is_table: bool = False
    values: list[PlannedValue] = field(default_factory=list)
    reusable_number: int | None = None
    """Number among the reusable blocks, in the order of creation; None if not reusable."""
    _held: HeldValues | None = field(default=None, init=False, repr=False, compare=False)
    """Index of the values; None until they are compared with others, as most never are."""

    def hold(self, members: Iterable[PlannedValue]) -> None:
        """Add the values of a buffer set to the block."""
        self.values.extend(members)
        if self._held is not None:
            for value in members:
                self._held.add(value)

    def interferes(
        self, members: Iterable[PlannedValue], overwrites: Mapping[int, tuple[Overwrite, ...]]
    ) -> bool:
        """Return True if one of these values cannot share bytes with those in the block."""
        if self._held is None:
            self._held = HeldValues(self.values)
        return any(self._held.interfere(value, overwrites) for value in members)


class ReusableBlocks:
    """The reusable blocks, and the gaps between the live ranges of the values in each.

    A program has thousands of each, so gaps are found by their beginning, in a tree of the latest
    ends of all gaps that begin in some steps.
    """

    def __init__(self, steps: int) -> None:
        self._blocks: list[Block] = []
        self._held: list[tuple[int, list[tuple[int, int]]]] = []
        """Block of each held set, and the live ranges of its members, in their order."""
        self._gaps: list[list[tuple[int, int]]] = []
        """Steps between which each block is free, in their order."""
        self._by_begin: dict[int, list[tuple[int, int]]] = {}
        """End and block of the gaps that begin at a step, sorted."""
        self._last_step = steps
        self._leaves = 1 << (steps + 2).bit_length()
        self._latest = [_NEVER] * (2 * self._leaves)

    @property
    def held_count(self) -> int:
        """Number of held buffer sets."""
        return len(self._held)

    def add(self, block: Block) -> None:
        """Add a block that is still empty; it is found once it holds a value."""
        block.reusable_number = len(self._blocks)
        self._blocks.append(block)
        self._gaps.append([])

    def hold(self, block: Block, members: Iterable[PlannedValue]) -> None:
        """Record the values of a buffer set added to a block, if it is reusable."""
        if block.reusable_number is not None:
            ranges = [(value.live_from, value.live_until) for value in members]
            self._hold(block.reusable_number, ranges)

    def repeat(self, other: "ReusableBlocks", held_count: int) -> None:
        """Hold the first buffer sets of other blocks, beyond those that are held already."""
        for number, ranges in other._held[self.held_count : held_count]:
            if number == len(self._blocks):
                self.add(other._blocks[number])
            self._hold(number, ranges)

    def without_overlap(self, members: Sequence[PlannedValue]) -> Sequence[Block]:
        """Return the blocks in which no live range overlaps one of these, the newest first.

        Live ranges that only meet in the last step of one of them do not count as overlap here.
        """
        first, *others = members
        numbers = self._free(first.live_from, first.live_until)
        for value in others:
            numbers &= self._free(value.live_from, value.live_until)
        return [self._blocks[number] for number in sorted(numbers, reverse=True)]

    def _hold(self, number: int, ranges: list[tuple[int, int]]) -> None:
        self._held.append((number, ranges))
        gaps = self._gaps[number]
        gone: list[tuple[int, int]] = []
        new = [] if gaps else [(_NEVER, maxsize)]
        gaps += new
        for first, last in ranges:
            row = bisect_right(gaps, first, key=_end)
            end = bisect_left(gaps, last, lo=row, key=_begin)
            split = gaps[row:end]  # several, where members overlap
            left = [(begin, first) for begin, _ in split if begin <= first]
            left += [(last, end) for _, end in split if last <= end]
            gaps[row:end] = left
            for gap in split:
                if gap in new:
                    new.remove(gap)
                else:
                    gone.append(gap)
            new += left
        for begin, end in gone:
            ends = self._by_begin[begin]
            del ends[bisect_left(ends, (end, number))]
        for begin, end in new:
            insort(self._by_begin.setdefault(begin, []), (end, number))
        for begin in {begin for begin, _ in chain(gone, new)}:
            self._update(begin)

    def _update(self, begin: int) -> None:
        """Update the latest ends after the gaps that begin at a step have changed."""
        ends = self._by_begin[begin]
        latest = ends[-1][0] if ends else _NEVER
        node = self._leaves + begin + 1
        while node and self._latest[node] != latest:
            self._latest[node] = latest
            latest = max(latest, self._latest[node ^ 1])
            node >>= 1

    def _free(self, first: int, last: int) -> set[int]:
        """Return the blocks with a gap that begins until one step, and ends from another on."""
        found: set[int] = set()
        nodes: list[int] = []
        after = self._leaves + min(first, self._last_step) + 2
        while after > 1:
            if after & 1 and self._latest[after - 1] >= last:
                nodes.append(after - 1)
            after >>= 1
        while nodes:
            node = nodes.pop()
            if node >= self._leaves:
                ends = self._by_begin[node - self._leaves - 1]
                found.update(number for _, number in ends[bisect_left(ends, (last, 0)) :])
            else:
                children = (2 * node, 2 * node + 1)
                nodes += [child for child in children if self._latest[child] >= last]
        return found


def _begin(gap: tuple[int, int]) -> int:
    return gap[0]


def _end(gap: tuple[int, int]) -> int:
    return gap[1]


def _overlap(
    one: PlannedValue, other: PlannedValue, overwrites: Mapping[int, tuple[Overwrite, ...]]
) -> bool:
    """Return True if live ranges overlap, other than in a step in which one is overwritten."""
    if one.live_from > other.live_until or other.live_from > one.live_until:
        return False
    if one.live_until == other.live_from:
        earlier, later = one, other
    elif other.live_until == one.live_from:
        earlier, later = other, one
    else:
        return True
    return not any(
        operand.value_id == earlier.value_id and operand.may_share_block
        for operand in overwrites.get(later.value_id, ())
    )
