"""The live ranges of temporaries as XLA's traces of a heap, which XProf adds up.

An event of a trace says which value begins or ends, and with which value it shares bytes that are
already counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from xlagraph.exports.placed_program import PlacedProgram, computation_of, step_range
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.planner.compilation.records import StoredValue

_NOT_TEMPORARY: Final = frozenset(["parameter", "constant", "threadLocal", "output", "liveOut"])


def fill_heap_traces(traces: Message, program: PlacedProgram) -> None:
    """Write one trace for each memory space with temporaries, because XProf shows one of each."""
    temporaries = [each for each in program.allocations if each.role not in _NOT_TEMPORARY]
    scheduled = {each.step: each for each in program.instructions if each.step is not None}
    last_step = max(scheduled, default=0)
    for color in sorted({each.memory_space for each in temporaries}):
        blocks = [each for each in temporaries if each.memory_space == color]
        numbers = {block.number for block in blocks}
        trace = traces.add(whole_module_simulation=True)
        trace.buffer_allocation_index = max(blocks, key=lambda block: block.size_bytes).number
        held = (value for value in program.values if value.allocation in numbers)
        for step, kind, value, shared_with in _events(held):
            event = trace.events.add(kind=kind, buffer_id=value.value_id)
            if shared_with is not None:
                event.share_with_canonical_id = shared_with.value_id
            if instruction := scheduled.get(min(step, last_step)):
                event.instruction_name = instruction.name
                event.computation_name = computation_of(instruction)


Event = tuple[int, str, StoredValue, StoredValue | None]


def _events(values: Iterable[StoredValue]) -> Iterator[Event]:
    """Yield step, kind, value and the value that it shares with; values that begin come first.

    A value that updates another one in place shares the bytes of a live buffer of their set that
    holds all of its own. What it overwrites of other buffers ends first: it is counted once.
    """
    buffers_by_set: dict[int, list[_Buffer]] = defaultdict(list)
    for step, is_end, value in _bounds(values):
        buffers = buffers_by_set[value.alias_set]
        if is_end:
            if any(buffer.live.pop(value.value_id, None) for buffer in buffers):
                yield step, "FREE", value, None
        else:
            holder = next((buffer for buffer in buffers if _holds(buffer.first, value)), None)
            for ended in _overwritten(buffers, holder, value):
                yield step, "FREE", ended, None
            if holder is None:
                holder = _Buffer(value)
                buffers.append(holder)
                yield step, "ALLOC", value, None
            else:
                yield step, "SHARE_WITH", value, holder.first
            holder.live[value.value_id] = value
        buffers[:] = [buffer for buffer in buffers if buffer.live]


@dataclass(frozen=True, slots=True)
class _Buffer:
    """Bytes that several values share."""

    first: StoredValue
    live: dict[int, StoredValue] = field(default_factory=dict)
    """Live values by id."""


def _overwritten(
    buffers: Iterable[_Buffer], holder: _Buffer | None, value: StoredValue
) -> list[StoredValue]:
    """Remove the values that overlap with a new one from all other buffers."""
    return [
        buffer.live.pop(each.value_id)
        for buffer in buffers
        if buffer is not holder
        for each in list(buffer.live.values())
        if _overlap(each, value)
    ]


def _bounds(values: Iterable[StoredValue]) -> list[tuple[int, bool, StoredValue]]:
    """Return the first and the last step of each value, in the order of steps."""
    bounds = [
        (step, is_end, value)
        for value in values
        if (live := step_range(value)) is not None
        for step, is_end in ((live.first, False), (live.last, True))
    ]
    return sorted(bounds, key=lambda each: (*each[:2], each[2].alias_position, each[2].value_id))


def _holds(outer: StoredValue, value: StoredValue) -> bool:
    """Return whether the slot of a value lies within that of another."""
    return (
        outer.allocation == value.allocation
        and outer.offset_bytes <= value.offset_bytes
        and _end(value) <= _end(outer)
    )


def _overlap(first: StoredValue, second: StoredValue) -> bool:
    return (
        first.allocation == second.allocation
        and first.offset_bytes < _end(second)
        and second.offset_bytes < _end(first)
    )


def _end(value: StoredValue) -> int:
    """Return the end of its slot within the allocation, in bytes, exclusive."""
    return value.offset_bytes + value.size_bytes
