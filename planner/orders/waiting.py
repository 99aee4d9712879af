"""Values that are live at the peak of one order, and not at the peak of another.

They wait because of the order, not because of a dependence: the other order makes them after its
peak, or has read them for the last time before it.
"""

from dataclasses import dataclass
from typing import Literal

from xlagraph.hlo.opcodes import FORWARDING
from xlagraph.planner.orders.live_bytes import LiveBytes, LiveBytesModel
from xlagraph.planner.orders.schedulable import SchedulableProgram, SchedulableValue

Wait = Literal["made early", "read late"]


@dataclass(frozen=True, slots=True)
class WaitingValue:
    """A value that waits at the peak; instructions are steps of the schedule in the dump."""

    value_id: int
    size_bytes: int
    """Bytes of its buffer set."""
    wait: Wait
    """`read late` if all that its readers after the peak read is there at the peak; else
    `made early`, as it is made before its readers can run."""
    made_at: int
    read_at: int | None
    """Last reader; None if no instruction reads it at the peak or later."""
    waits_for: int | None
    """Latest instruction that this reader needs besides the value; None if there is none."""


def waiting_values(
    model: LiveBytesModel, here: LiveBytes, other: LiveBytes
) -> tuple[WaitingValue, ...]:
    """Return the values that wait at the peak of `here`, the largest first."""
    at_peak = model.live_sets(here, here.peak_step)
    at_other = model.live_sets(other, other.peak_step)
    program, new_step = model.reordering.schedulable, here.schedule.new_step
    found = []
    for buffer_set in at_peak.keys() - at_other.keys():
        value = program.values[at_peak[buffer_set]]
        later = [step for step in value.uses if new_step[step] > here.peak_step]
        needed = {step: _needed_besides(program, step, value) for step in later}
        latest = {
            step: max(earlier, key=new_step.__getitem__, default=None)
            for step, earlier in needed.items()
        }
        is_ready = all(step is None or new_step[step] <= here.peak_step for step in latest.values())
        not_before = [step for step in value.uses if new_step[step] >= here.peak_step]
        reader = max(not_before, key=new_step.__getitem__, default=None)
        found.append(
            WaitingValue(
                value.value_id,
                model.sizes[buffer_set],
                "read late" if later and is_ready else "made early",
                value.defined_at,
                reader,
                None if reader is None else latest.get(reader),
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.size_bytes, each.value_id)))


def _needed_besides(
    program: SchedulableProgram, reader: int, value: SchedulableValue
) -> frozenset[int]:
    """Return what a reader depends on besides a value, behind tuples, elements and bitcasts."""
    found: set[int] = set()
    seen = {*value.positions}
    waiting = [reader]
    while waiting:
        each = program.instructions[waiting.pop()]
        for earlier in (*each.operands, *each.control_predecessors):
            if earlier not in seen:
                seen.add(earlier)
                forwards = program.instructions[earlier].opcode in FORWARDING
                (waiting.append if forwards else found.add)(earlier)
    return frozenset(found)
