"""Blocks of a plan, and the values that are in them at each step.

A program has thousands of each, so live ranges are indexed, or all compared at once.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from xlagraph.planner.planned_program import Overwrite, PlannedValue

__all__ = ["Block", "HeldValues", "ReusableBlocks"]

_Counts = npt.NDArray[np.uint16] | npt.NDArray[np.int32]


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
    """The reusable blocks, and the live ranges of the values in them.

    A program has thousands of each, so all live ranges are compared at once.
    """

    def __init__(self, capacity: int, steps: int) -> None:
        self._blocks: list[Block] = []
        self._firsts, self._lasts, self._numbers = np.empty((3, capacity), np.int32)
        """First step, last step and block of each held value."""
        self._spans: list[tuple[int, int]] = []
        """First and last step of each held value, without steps that count for its set already."""
        small = capacity < 1 << 16  # halves the time of long ranges
        self._taken: _Counts = np.zeros(steps, np.uint16) if small else np.zeros(steps, np.int32)
        self._counted = 0
        self._full_at: tuple[int, int] | None = None
        self._full_steps: npt.NDArray[np.intp] = np.empty(0, np.intp)
        """Steps before the next of which all blocks are taken, at these counts."""

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of held values and of blocks."""
        return len(self._spans), len(self._blocks)

    def add(self, block: Block) -> None:
        """Add a block that is still empty."""
        block.reusable_number = len(self._blocks)
        self._blocks.append(block)

    def hold(self, block: Block, members: Sequence[PlannedValue]) -> None:
        """Record values added to a block, if it is reusable."""
        if block.reusable_number is None:
            return
        counted_until = 0  # members of one set may overlap
        for value in sorted(members, key=_first_step):
            first, last = value.live_from, value.live_until
            row = len(self._spans)
            self._firsts[row], self._lasts[row] = first, last
            self._numbers[row] = block.reusable_number
            self._spans.append((max(first, counted_until), last))
            counted_until = max(last, counted_until)

    def without_overlap(
        self, members: Sequence[PlannedValue], at: tuple[int, int] | None = None
    ) -> Iterator[Block]:
        """Yield the blocks in which no live range overlaps one of these, the newest first.

        Live ranges that only meet in the last step of one of them do not count as overlap here.
        `at` are the counts of an earlier state.
        """
        held_count, block_count = at or self.counts
        full = self._full(held_count, block_count)
        for value in members:
            row = full.searchsorted(value.live_from)
            if row < len(full) and full[row] < value.live_until:
                return
        firsts, lasts = self._firsts[:held_count], self._lasts[:held_count]
        is_free = np.ones(block_count, np.bool_)
        for value in members:
            overlapping = (firsts < value.live_until) & (lasts > value.live_from)
            is_free[self._numbers[:held_count][overlapping]] = False
        for number in np.flatnonzero(is_free)[::-1]:
            yield self._blocks[number]

    def _full(self, held_count: int, block_count: int) -> npt.NDArray[np.intp]:
        """Return the steps from which to the next one the first values take all first blocks."""
        if self._full_at != (held_count, block_count):
            if held_count < self._counted:
                self._taken[:] = 0
                self._counted = 0
            for first, last in self._spans[self._counted : held_count]:
                self._taken[first:last] += 1
            self._counted = held_count
            self._full_at = held_count, block_count
            self._full_steps = np.flatnonzero(self._taken == block_count)
        return self._full_steps


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
        operand.value_id == earlier.value_id for operand in overwrites.get(later.value_id, ())
    )
