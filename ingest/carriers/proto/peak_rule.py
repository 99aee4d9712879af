"""Compute the peak that XLA prints: `HloLiveRange::ComputePeakMemoryMoment`.

XLA finds the step by the size of the whole shape of each defining instruction (for a tuple, its
table of pointers). It then lists the values live at this step with the sizes of the values.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from xlagraph.hlo.shapes import index_text
from xlagraph.ingest.plan import PrintedPeak, PrintedPeakEntry


class LiveValue(NamedTuple):
    """A value with its live range and two sizes."""

    name: str
    shape_index: tuple[int, ...]
    first: int
    last: int
    own_bytes: int
    whole_bytes: int
    """Bytes of the whole shape of its instruction."""


def printed_peak(values: Sequence[LiveValue], step_count: int) -> PrintedPeak | None:
    """Return the step and the list of the peak; None if there are no values."""
    if not values:
        return None
    changes = [0] * (step_count + 3)
    for value in values:
        changes[value.first] += value.whole_bytes
        # XLA adds the values of a step before it subtracts those that ended one step earlier
        changes[value.last + 2] -= value.whole_bytes
    sums = list(accumulate(changes))
    step = sums.index(max(sums))
    live = [value for value in values if value.first <= step <= value.last]
    live.sort(key=lambda value: (-value.own_bytes, value.name, value.shape_index))
    return PrintedPeak(step, tuple(_entries(live)))


def _entries(live: Iterable[LiveValue]) -> Iterable[PrintedPeakEntry]:
    together = 0
    for value in live:
        together += value.own_bytes
        index = index_text(value.shape_index)
        yield PrintedPeakEntry(value.name, index, value.own_bytes, together)
