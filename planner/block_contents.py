"""Blocks of a plan, and the values that are in them at each step.

A program has thousands of each, so live ranges are indexed, or all compared at once.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from xlagraph.planner.planned_program import Overwrite, PlannedValue

__all__ = ["Block", "HeldValues", "ReusableBlocks"]

_FEW: Final = 8
"""Number of live ranges below which counting each one is faster than counting all at once."""


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

    def __init__(self, steps: int) -> None:
        self._blocks: list[Block] = []
        self._firsts, self._lasts, self._numbers = array("i"), array("i"), array("i")
        """First step, last step and block of each held value."""
        self._begins = array("i")
        """First step of each held value that does not count for its set already."""
        self._taken = np.zeros(steps, np.int64)
        self._counted = 0
        self._full_at: tuple[int, int] | None = None
        self._full_steps: list[int] = []
        """Steps before the next of which all blocks are taken, at these counts."""

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of held values and of blocks."""
        return len(self._begins), len(self._blocks)

    def add(self, block: Block) -> None:
        """Add a block that is still empty."""
        block.reusable_number = len(self._blocks)
        self._blocks.append(block)

    def hold(self, block: Block, members: Sequence[PlannedValue]) -> None:
        """Record values added to a block, if it is reusable."""
        if block.reusable_number is None:
            return
        counted_until = 0  # members of one set may overlap
        for value in sorted(members, key=_first_step) if len(members) > 1 else members:
            first, last = value.live_from, value.live_until
            self._firsts.append(first)
            self._lasts.append(last)
            self._numbers.append(block.reusable_number)
            self._begins.append(min(max(first, counted_until), last))
            counted_until = max(last, counted_until)

    def without_overlap(
        self, members: Sequence[PlannedValue], at: tuple[int, int] | None = None
    ) -> Sequence[Block]:
        """Return the blocks in which no live range overlaps one of these, the newest first.

        Live ranges that only meet in the last step of one of them do not count as overlap here.
        `at` are the counts of an earlier state.
        """
        counts = at or self.counts
        if not counts[1]:
            return ()
        full = self._full_steps if counts == self._full_at else self._full(*counts)
        for value in members:
            row = bisect_left(full, value.live_from)
            if row < len(full) and full[row] < value.live_until:
                return ()
        held_count, block_count = counts
        firsts, lasts, numbers = (
            np.frombuffer(held, np.intc)[:held_count]
            for held in (self._firsts, self._lasts, self._numbers)
        )
        is_free = np.ones(block_count, np.bool_)
        for value in members:
            overlap = (firsts < value.live_until) & (lasts > value.live_from)
            is_free[numbers[overlap.nonzero()[0]]] = False
        return [self._blocks[number] for number in np.flatnonzero(is_free)[::-1].tolist()]

    def _full(self, held_count: int, block_count: int) -> list[int]:
        """Return the steps from which to the next one the first values take all first blocks."""
        if held_count < self._counted:
            self._taken[:] = 0
            self._counted = 0
        added = slice(self._counted, held_count)
        if held_count - self._counted < _FEW:
            for first, last in zip(self._begins[added], self._lasts[added], strict=True):
                self._taken[first:last] += 1
        else:
            begun, ended = (
                np.bincount(steps[added], minlength=len(self._taken) + 1)
                for steps in (self._begins, self._lasts)
            )
            self._taken += (begun - ended).cumsum()[:-1]
        self._counted = held_count
        self._full_at = held_count, block_count
        self._full_steps = np.flatnonzero(self._taken == block_count).tolist()
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
