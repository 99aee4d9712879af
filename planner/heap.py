"""Heap simulation: which values of a heap share bytes, and when each is live.

XLA walks the schedule (`HeapSimulator::RunComputation`, xla/service/heap_simulator/
heap_simulator.cc). At each step it defines values, sorted by (first, last, id), then frees
those that end there, in the same order. Every definition and every free is one tick of the clock
that packing uses.

- The first value of a buffer set is allocated; later ones share its bytes.
- If a value is the only one in its set, it takes the bytes of the first operand that is also
  the only one in its set, is in the same heap, ends at this step, is not taken yet and may be
  overwritten. That operand is freed one tick earlier, not at the end of the step.
- A value of zero bytes makes no tick.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xlagraph.planner.planned_program import Overwrite, PlannedValue


class Group(NamedTuple):
    """Values that share one offset of the heap."""

    value_ids: tuple[int, ...]
    """Value ids in the order of definition."""
    size_bytes: int
    ticks: tuple[tuple[int, int], ...]
    """First and last tick of each value, both inclusive."""
    steps: tuple[tuple[int, int], ...]
    """First and last step of each value, both inclusive."""


def heap_groups(
    values: Iterable[PlannedValue],
    set_sizes: Mapping[int, int],
    overwrites: Mapping[int, Sequence[Overwrite]],
) -> list[Group]:
    """Simulate a heap of `values`; return the groups in order of definition.

    `set_sizes` counts the members of each buffer set in the whole program; `overwrites` lists
    the operands that a value may overwrite, in the order in which they are tried.
    """
    order = sorted(
        [
            (value.live_from, value.live_until, value.value_id, value)
            for value in values
            if value.size_bytes
        ]
    )
    freed: defaultdict[int, dict[int, PlannedValue]] = defaultdict(dict)
    for _, last, value_id, value in order:
        freed[last][value_id] = value
    heap = _Heap(set_sizes, overwrites)
    none: dict[int, PlannedValue] = {}
    waiting = sorted(freed, reverse=True)
    for first, _, _, value in order:
        while waiting and waiting[-1] < first:
            heap.free(freed[waiting.pop()])
        heap.define(value, freed.get(first, none))
    for step in reversed(waiting):
        heap.free(freed[step])
    return heap.groups()


class _Heap:
    """State of the simulation, tick by tick."""

    def __init__(
        self, set_sizes: Mapping[int, int], overwrites: Mapping[int, Sequence[Overwrite]]
    ) -> None:
        self._set_sizes = set_sizes
        self._overwrites = overwrites
        self._tick = 0
        self._first_ticks: dict[int, int] = {}
        self._last_ticks: dict[int, int] = {}
        self._groups: list[list[PlannedValue]] = []
        """Values that share bytes, in the order of definition."""
        self._group_of_set: dict[int, list[PlannedValue]] = {}

    def define(self, value: PlannedValue, ending: dict[int, PlannedValue]) -> None:
        """Define a value; one of those that end at this step may be freed for it."""
        group = self._group_of_set.get(value.buffer_set)
        if group is None:
            operand = self._overwritten(value, ending) if ending else None
            if operand is None:
                group = []
                self._groups.append(group)
            else:
                group = self._group_of_set[operand.buffer_set]
                self.free((operand.value_id,))
                del ending[operand.value_id]
            self._group_of_set[value.buffer_set] = group
        group.append(value)
        self._first_ticks[value.value_id] = self._tick
        self._tick += 1

    def free(self, value_ids: Iterable[int]) -> None:
        """Free values, one after the other."""
        for value_id in value_ids:
            self._last_ticks[value_id] = self._tick
            self._tick += 1

    def _overwritten(
        self, value: PlannedValue, ending: Mapping[int, PlannedValue]
    ) -> PlannedValue | None:
        """Return the operand whose bytes a value takes; None if there is none."""
        if self._set_sizes[value.buffer_set] == 1:
            for operand, is_operand, _ in self._overwrites.get(value.value_id, ()):
                found = ending.get(operand) if is_operand else None
                if found is not None and self._set_sizes[found.buffer_set] == 1:
                    return found
        return None

    def groups(self) -> list[Group]:
        """Return the groups, in the order in which they were allocated."""
        firsts, lasts = self._first_ticks, self._last_ticks
        found: list[Group] = []
        for values in self._groups:
            if len(values) == 1:  # most groups have one value
                (value,) = values
                member = value.value_id
                ticks, steps = (firsts[member], lasts[member]), (value.live_from, value.live_until)
                found.append(Group((member,), value.size_bytes, (ticks,), (steps,)))
                continue
            ids = tuple([value.value_id for value in values])
            found.append(
                Group(
                    ids,
                    max([value.size_bytes for value in values]),
                    tuple([(firsts[member], lasts[member]) for member in ids]),
                    tuple([(value.live_from, value.live_until) for value in values]),
                )
            )
        return found


def live_bytes_by_step(groups: Iterable[Group]) -> list[tuple[int, int]]:
    """Return the steps at which the live bytes change, and the bytes live from there on.

    The largest number of bytes is a lower bound for every packing.
    """
    return summed_by_step(
        (steps, group.size_bytes) for group in groups for steps in merged(group.steps)
    )


def summed_by_step(ranges: Iterable[tuple[tuple[int, int], int]]) -> list[tuple[int, int]]:
    """Return the sum of the sizes of live ranges, at each step where it changes."""
    changes: defaultdict[int, int] = defaultdict(int)
    for (first, last), size_bytes in ranges:
        changes[first] += size_bytes
        changes[last + 1] -= size_bytes
    total = 0
    found = []
    for step in sorted(changes):
        total += changes[step]
        found.append((step, total))
    return found


def merged(intervals: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the union of inclusive intervals, sorted; neighbours become one."""
    if len(intervals) == 1:  # most groups have one value
        return intervals
    union: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if union and first <= union[-1][1] + 1:
            union[-1] = (union[-1][0], max(last, union[-1][1]))
        else:
            union.append((first, last))
    return union
