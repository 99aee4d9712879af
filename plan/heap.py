"""The heap simulation: which values of a heap share bytes, and when each is live.

XLA walks the schedule (`HeapSimulator::RunComputation`, xla/service/heap_simulator/
heap_simulator.cc). At each step it defines values, sorted by (first, last, id), then frees
those that end there, in the same order; every definition and free is one tick of the clock
that packing uses.

- The first value of a buffer set is allocated, later ones share it.
- A value alone in its set takes the bytes of the first operand that is alone in its set, in
  the same heap, ends at this step, is not taken yet and may be overwritten; that operand is
  freed one tick before, not at the end of the step.
- A value of no bytes makes no tick.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xlagraph.plan.program import Value

__all__ = ["Group", "heap_groups", "live_bytes_by_step", "merged"]


@dataclass(frozen=True, slots=True)
class Group:
    """Values that share one offset of the heap."""

    value_ids: tuple[int, ...]
    """In the order of their definition."""
    size_bytes: int
    ticks: tuple[tuple[int, int], ...]
    """First and last tick of each value, both inclusive."""
    steps: tuple[tuple[int, int], ...]
    """First and last step of each value, both inclusive."""


def heap_groups(
    values: Iterable[Value],
    set_sizes: Mapping[int, int],
    overwrites: Mapping[int, Sequence[int]],
) -> list[Group]:
    """Simulate the heap that holds `values`; the groups come in order of definition.

    `set_sizes` counts the members of each buffer set in the whole program; `overwrites` lists
    the operands that a value may overwrite, in the order in which they are tried.
    """
    sized = [value for value in values if value.size_bytes]
    by_id = {value.value_id: value for value in sized}
    order = sorted(sized, key=lambda value: (value.first, value.last, value.value_id))
    defined: defaultdict[int, list[Value]] = defaultdict(list)
    freed: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for value in order:
        defined[value.first].append(value)
        freed[value.last][value.value_id] = None
    leader: dict[int, int] = {}
    leader_of_set: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    tick = 0
    for step in sorted(defined.keys() | freed.keys()):
        for value in defined[step]:
            shared = leader_of_set.get(value.buffer_set)
            if shared is None and set_sizes[value.buffer_set] == 1:
                for operand in overwrites.get(value.value_id, ()):
                    if operand in freed[step] and set_sizes[by_id[operand].buffer_set] == 1:
                        del freed[step][operand]
                        ends[operand] = tick
                        tick += 1
                        shared = leader[operand]
                        break
            own = value.value_id if shared is None else shared
            leader[value.value_id] = own
            leader_of_set.setdefault(value.buffer_set, own)
            members.setdefault(own, []).append(value.value_id)
            begins[value.value_id] = tick
            tick += 1
        for value_id in freed[step]:
            ends[value_id] = tick
            tick += 1
    return [
        Group(
            tuple(ids),
            max(by_id[member].size_bytes for member in ids),
            tuple([(begins[member], ends[member]) for member in ids]),
            tuple([(by_id[member].first, by_id[member].last) for member in ids]),
        )
        for ids in members.values()
    ]


def live_bytes_by_step(groups: Iterable[Group]) -> list[tuple[int, int]]:
    """Return the steps at which the bytes of live groups change, and how many are live there.

    No packing needs less than the largest of them.
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


def merged(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of inclusive intervals, sorted; neighbours become one."""
    union: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if union and first <= union[-1][1] + 1:
            union[-1] = (union[-1][0], max(last, union[-1][1]))
        else:
            union.append((first, last))
    return union
