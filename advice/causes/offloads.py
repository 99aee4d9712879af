"""Find values that are moved to the host although the device's peak is elsewhere."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import accumulate
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.planned_program import PlannedValue

_DEVICE: Final = 0
_HOST: Final = 5

_OFFLOADED: Final[Remedies] = {
    "jax": "Keep the values on the device: remove their names from names_which_can_be_offloaded of"
    " jax.checkpoint_policies.save_and_offload_only_these_names, or the device_put to"
    " pinned_host; offload values that are live at the peak.",
    "tensorflow": "Keep the values on the device; offload values that are live at the peak.",
    "pytorch": "Keep the values on the device; offload values that are live at the peak.",
}


def useless_offloads(program: PeakProgram) -> Iterator[Cause]:
    """Yield the temporaries on the host, if the peak would be the same with them on the device.

    In each step their bytes are added to those that are live on the device, except in their first
    and last step, in which the device has them too.
    """
    if program.memory_space != _DEVICE:
        return
    inputs_and_results = {
        value.buffer_set for value in program.program.values if value.is_stored or value.lives_out
    }
    arrays = [value for value in program.program.values if not value.is_table]
    device = [value for value in arrays if value.memory_space == _DEVICE]
    host = [
        value
        for value in arrays
        if value.memory_space == _HOST
        and value.buffer_set not in inputs_and_results
        and value.value_id in program.values
    ]
    inner = [
        value._replace(live_from=value.live_from + 1, live_until=value.live_until - 1)
        for value in host
    ]
    if not host or _highest(device + inner) > _highest(device):
        return
    rows = {
        value.buffer_set: evidence_row(
            program.values[value.value_id],
            f"on the host from step {value.live_from} to {value.live_until}",
        )
        for value in reversed(host)
    }
    yield Cause(
        "lifetime/offloaded",
        "This offload moved nothing off the peak",
        None,
        None,
        tuple(sorted(rows.values(), key=lambda row: -int(str(row["sizeBytes"])))),
        _OFFLOADED,
        "saves the transfers and the host's memory, nothing on the device: at each step the bytes"
        " would fit below the peak",
        likelihood=0.0,
    )


def _highest(values: Collection[PlannedValue]) -> int:
    """Return the most bytes that are live in a step. Members of a buffer set share bytes."""
    spans: defaultdict[int, list[PlannedValue]] = defaultdict(list)
    for value in values:
        spans[value.buffer_set].append(value)
    changes: defaultdict[int, int] = defaultdict(int)
    for members in spans.values():
        until = -1
        for value in sorted(members, key=lambda each: each.live_from):
            first = max(value.live_from, until + 1)
            if value.live_until >= first:
                changes[first] += value.size_bytes
                changes[value.live_until + 1] -= value.size_bytes
                until = value.live_until
    return max(accumulate(changes[step] for step in sorted(changes)), default=0)
