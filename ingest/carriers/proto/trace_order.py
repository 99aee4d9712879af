"""Compare XLA's heap simulation with derived live ranges.

A trace lists in order of time when a value is allocated, when it shares the bytes of another one,
and when it is freed. The first and last steps of these values must never decrease. Values in VMEM
are ignored, because TPUs do not plan it in order of time.
"""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.carriers.proto.message_types import Message

__all__ = ["trace_agrees"]

_FREE: Final = 1
_PLANNED_BY_OTHER_RULES: Final = 1
"""Color of VMEM, which is not planned in order of time."""


def trace_agrees(
    assignment: Message, ranges: Mapping[int, tuple[int, int]], colors: Mapping[int, int]
) -> bool | None:
    """Return whether all traces agree with the ranges; None if no trace mentions them."""
    is_asked = False
    for trace in assignment.heap_simulator_traces:
        before = 0
        for event in trace.events:
            value_id = event.buffer_id
            if value_id not in ranges or colors.get(value_id) == _PLANNED_BY_OTHER_RULES:
                continue
            is_asked = True
            step = ranges[value_id][event.kind == _FREE]
            if step < before:
                return False
            before = step
    return True if is_asked else None
