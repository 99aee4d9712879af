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

__all__ = ["Group", "heap_groups", "live_bytes_by_step", "merged"]


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
    heap = _Heap(set_sizes, overwrites)
    order = sorted(
        [
            (value.live_from, value.live_until, value.value_id, value)
            for value in values
            if value.size_bytes
        ]
    )
    defined: defaultdict[int, list[PlannedValue]] = defaultdict(list)
    freed: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for first, last, value_id, value in order:
        defined[first].append(value)
        freed[last][value_id] = None
    none: dict[int, None] = {}
    for step in sorted(defined.keys() | freed.keys()):
        ending = freed.get(step, none)
        for value in defined.get(step, ()):
            heap.define(value, ending)
        for value_id in ending:
            heap.free(value_id)
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
        self._by_id: dict[int, PlannedValue] = {}
        self._leaders: dict[int, int] = {}
        """Leader of each value: the value that its bytes were first allocated for."""
        self._leaders_of_sets: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        """Values that share the bytes of each leader."""

    def define(self, value: PlannedValue, ending: dict[int, None]) -> None:
        """Define a value; one of those that end at this step may be freed for it."""
        value_id = value.value_id
        leader = self._leaders_of_sets.get(value.buffer_set)
        if leader is None:
            operand = self._overwritten(value, ending) if ending else None
            if operand is None:
                leader = value_id
            else:
                del ending[operand]
                self.free(operand)
                leader = self._leaders[operand]
            self._leaders_of_sets[value.buffer_set] = leader
        self._by_id[value_id] = value
        self._leaders[value_id] = leader
        if leader == value_id:
            self._members[leader] = [value_id]
        else:
            self._members[leader].append(value_id)
        self._first_ticks[value_id] = self._tick
        self._tick += 1

    def free(self, value_id: int) -> None:
        """Free a value."""
        self._last_ticks[value_id] = self._tick
        self._tick += 1

    def _overwritten(self, value: PlannedValue, ending: Mapping[int, None]) -> int | None:
        """Return the operand whose bytes a value takes; None if there is none."""
        if self._is_alone(value):
            for operand, is_operand in self._overwrites.get(value.value_id, ()):
                if is_operand and operand in ending and self._is_alone(self._by_id[operand]):
                    return operand
        return None

    def _is_alone(self, value: PlannedValue) -> bool:
        return self._set_sizes[value.buffer_set] == 1

    def groups(self) -> list[Group]:
        """Return the groups, in the order in which they were allocated."""
        firsts, lasts = self._first_ticks, self._last_ticks
        found: list[Group] = []
        for ids in self._members.values():
            if len(ids) == 1:  # most groups have one value
                (member,) = ids
                value = self._by_id[member]
                ticks, steps = (firsts[member], lasts[member]), (value.live_from, value.live_until)
                found.append(Group((member,), value.size_bytes, (ticks,), (steps,)))
                continue
            values = [self._by_id[member] for member in ids]
            found.append(
                Group(
                    tuple(ids),
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
    changes: defaultdict[int, int] = defaultdict(int)
    for group in groups:
        for first, last in merged(group.steps):
            changes[first] += group.size_bytes
            changes[last + 1] -= group.size_bytes
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
