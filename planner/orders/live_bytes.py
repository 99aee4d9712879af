"""Bytes that are live at each step of an order, however they are packed.

Buffer sets count once while one of their values is live. Constants, entry parameters that no
result is written over, and tables of tuples are live all the time. A value that is written over
an operand does not count in the step that they share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xlagraph.planner.orders.order_ranges import FlatSchedule, running_ends
from xlagraph.planner.orders.ordered_program import Reordering

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LiveBytes:
    """Live bytes of a memory space in one order."""

    schedule: FlatSchedule
    firsts: _Numbers
    """First step of each value, by its row in the program."""
    lasts: _Numbers
    """Last step of each value, inclusive."""
    by_step: _Numbers
    """Live bytes at each step."""

    @property
    def peak_step(self) -> int:
        """First step at which most bytes are live."""
        return int(self.by_step.argmax())

    @property
    def peak_bytes(self) -> int:
        """Most bytes live at one step."""
        return int(self.by_step.max())


class LiveBytesModel:
    """Counts the live bytes of any order of a program."""

    def __init__(self, reordering: Reordering, memory_space: int = 0) -> None:
        self.reordering = reordering
        planned, values = reordering.planned, reordering.schedulable.values
        self.fixed_sets = planned.fixed_sets(memory_space)
        self.sizes = {
            value.buffer_set: value.size_bytes
            for value in planned.values
            if value.memory_space == memory_space and value.buffer_set not in self.fixed_sets
        }
        """Bytes of each buffer set that is not live all the time."""
        self.fixed_bytes = planned.fixed_bytes(memory_space)
        self.rows_of_sets: dict[int, list[int]] = {}
        """Rows of the values of each of these sets."""
        for row, value in enumerate(values):
            if value.buffer_set in self.sizes:
                self.rows_of_sets.setdefault(value.buffer_set, []).append(row)
        places = [
            (row, number) for number, rows in enumerate(self.rows_of_sets.values()) for row in rows
        ]
        self._rows, self._sets = np.array(places, np.int64).reshape(-1, 2).T
        sizes = [self.sizes[name] for name in self.rows_of_sets]
        self._size_bytes = np.array(sizes, np.int64)

    def of(self, schedule: FlatSchedule) -> LiveBytes:
        """Count the live bytes of an order."""
        firsts, lasts = self.reordering.ranges.of(schedule)
        changes = np.zeros(len(schedule.steps) + 2, np.int64)
        for steps, signed in self._ends_of_sets(firsts, lasts):
            np.add.at(changes, steps, signed)
        by_step = changes.cumsum()[:-1] + self.fixed_bytes
        self._share_operands(firsts, lasts, by_step)
        return LiveBytes(schedule, firsts, lasts, by_step)

    def _ends_of_sets(
        self, firsts: _Numbers, lasts: _Numbers
    ) -> tuple[tuple[_Numbers, _Numbers], tuple[_Numbers, _Numbers]]:
        """Return where each set begins and ends to be live, with its bytes and their negative."""
        order = np.lexsort((firsts[self._rows], self._sets))
        rows, sets = self._rows[order], self._sets[order]
        begins, ends = firsts[rows], running_ends(sets, lasts[rows])
        is_apart = (sets[1:] != sets[:-1]) | (begins[1:] > ends[:-1] + 1)
        is_first, is_last = np.insert(is_apart, 0, True), np.append(is_apart, True)
        is_first, is_last = is_first[: len(rows)], is_last[: len(rows)]
        size_bytes = self._size_bytes[sets]
        return (
            (begins[is_first], size_bytes[is_first]),
            (ends[is_last] + 1, -size_bytes[is_last]),
        )

    def live_sets(self, live: LiveBytes, step: int) -> dict[int, int]:
        """Return the row of a live value of each set that is live at a step, by set."""
        rows = ((live.firsts <= step) & (live.lasts >= step)).nonzero()[0].tolist()
        values = self.reordering.schedulable.values
        return {values[row].buffer_set: row for row in rows if values[row].buffer_set in self.sizes}

    @cached_property
    def _overwrites(self) -> Sequence[tuple[int, Sequence[int]]]:
        """Row of each value that may be written over operands, and the rows of these."""
        values = self.reordering.schedulable.values
        row_of = {value.value_id: row for row, value in enumerate(values)}
        movable = [value.buffer_set in self.sizes for value in values]
        found = []
        for value_id, overwrites in self.reordering.planned.overwrites.items():
            row = row_of.get(value_id)
            if row is None or not movable[row]:
                continue
            others = [row_of[each.value_id] for each in overwrites if each.value_id in row_of]
            own_set = values[row].buffer_set
            if operands := [
                other for other in others if movable[other] and values[other].buffer_set != own_set
            ]:
                found.append((row, operands))
        return found

    def _share_operands(self, firsts: _Numbers, lasts: _Numbers, by_step: _Numbers) -> None:
        values = self.reordering.schedulable.values
        first_steps, last_steps = firsts.tolist(), lasts.tolist()
        taken: set[int] = set()
        for row, operands in self._overwrites:
            step = first_steps[row]
            for operand in operands:
                if last_steps[operand] != step or operand in taken:
                    continue
                own, other = values[row].buffer_set, values[operand].buffer_set
                if any(
                    first_steps[each] <= step <= last_steps[each]
                    for each in (*self.rows_of_sets[own], *self.rows_of_sets[other])
                    if each not in (row, operand)
                ):
                    continue  # other values are in these bytes at this step
                taken.add(operand)
                by_step[step] -= min(self.sizes[own], self.sizes[other])
                break
