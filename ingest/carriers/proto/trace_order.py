"""Whether XLA's own heap simulation agrees with derived live ranges.

A trace lists in order of time where a value takes its bytes, alone or from another, and where it
leaves them: the first and last steps of the same values must never decrease. The memory of TPUs
that is not planned in the order of time (VMEM) says nothing.
"""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.carriers.proto.message_types import Message

__all__ = ["trace_agrees"]

_FREE: Final = 1
_PLANNED_BY_OTHER_RULES: Final = 1
"""Color of VMEM."""


def trace_agrees(
    assignment: Message, ranges: Mapping[int, tuple[int, int]], colors: Mapping[int, int]
) -> bool | None:
    """Return whether no trace contradicts the ranges; None if there is none to ask."""
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
