"""Blocks of a plan, and the values that are in them at each step.

A program has thousands of each, so live ranges are indexed.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from xlagraph.planner.planned_program import Overwrite, PlannedValue

_BEFORE: Final = -1
"""A step before all others."""
_AFTER: Final = 2**31 - 1
"""A step after all others."""
_NO_GAP: Final = (_AFTER, _BEFORE)
_Gap = tuple[int, int, int]
"""Steps between which a block is free, and the row of the gap."""


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

    A program has thousands of each, which numpy compares at once.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._held: list[tuple[int, list[tuple[int, int]]]] = []
        """Block of each held set, and the live ranges of its members, in their order."""
        self._gaps: list[list[_Gap]] = []
        """Gaps of each block, in the order of steps."""
        self._begins, self._ends, self._numbers = array("i"), array("i"), array("i")
        """First step, last step and block of each gap, by its row."""

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

    def without_overlap(self, members: Sequence[PlannedValue]) -> Iterator[Block]:
        """Yield the blocks in which no live range overlaps one of these, the newest first.

        Live ranges that only meet in the last step of one of them do not count as overlap here.
        """
        first, *others = members
        is_free = self._free(first.live_from, first.live_until)
        for value in others:
            is_free &= self._free(value.live_from, value.live_until)
        for number in np.flatnonzero(is_free)[::-1]:  # the first of thousands mostly fits
            yield self._blocks[number]

    def _hold(self, number: int, ranges: list[tuple[int, int]]) -> None:
        self._held.append((number, ranges))
        gaps = self._gaps[number]
        if not gaps:
            gaps.append(self._new_gap(number))
        for first, last in ranges:
            start = bisect_right(gaps, first, key=_end)
            end = bisect_left(gaps, last, lo=start, key=_begin)
            split = gaps[start:end]  # several, where members overlap
            steps = [(begin, first) for begin, _, _ in split if begin <= first]
            steps += [(last, end) for _, end, _ in split if last <= end]
            rows = [row for _, _, row in split]
            rows += [self._new_gap(number)[-1] for _ in steps[len(rows) :]]
            gaps[start:end] = [(*between, row) for between, row in zip(steps, rows, strict=False)]
            for row, (begin, end) in zip(rows, chain(steps, repeat(_NO_GAP)), strict=False):
                self._begins[row], self._ends[row] = begin, end

    def _new_gap(self, number: int) -> "_Gap":
        self._begins.append(_BEFORE)
        self._ends.append(_AFTER)
        self._numbers.append(number)
        return _BEFORE, _AFTER, len(self._numbers) - 1

    def _free(self, first: int, last: int) -> NDArray[np.bool_]:
        """Mark the blocks with a gap that begins until one step, and ends from another on."""
        begins, ends, numbers = (
            np.frombuffer(each, np.intc) for each in (self._begins, self._ends, self._numbers)
        )
        is_free = np.zeros(len(self._blocks), np.bool_)
        is_free[numbers[(begins <= first) & (ends >= last)]] = True
        return is_free


def _begin(gap: _Gap) -> int:
    return gap[0]


def _end(gap: _Gap) -> int:
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
