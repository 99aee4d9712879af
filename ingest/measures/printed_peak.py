"""Values that XLA's list of the peak refers to."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.plan import Plan

__all__ = ["PrintedShare", "printed_shares"]


class PrintedShare(NamedTuple):
    """A value in XLA's list."""

    value: int
    """Index into ``plan.values``."""
    rank: int
    """Index in the list, from 0."""
    bytes: int
    """Bytes as printed; before jaxlib 0.6 often those of the whole tuple."""
    ambiguous: bool
    """True if the list names a tuple, so that its element is a guess."""


def printed_shares(plan: Plan, spans: Sequence[Span | None]) -> tuple[PrintedShare, ...]:
    """Return the value of each line of the printed peak, in the order of the list.

    A line with an index names its value. Before jaxlib 0.6 lines have no index, and a tuple is
    named once for each live element. The k-th mention of a name is then taken for the k-th
    value of that name that is live at the printed step, by value id. A line without a
    matching value is omitted.
    """
    if plan.live_ranges is None or plan.live_ranges.peak is None:
        return ()
    peak = plan.live_ranges.peak
    mentioned = {entry.name for entry in peak.entries}
    values = [
        (value.value_id, value.name, value.shape_index, index)
        for index, value in enumerate(plan.values)
        if value.name in mentioned
    ]
    by_position = {(name, shape_index or "{}"): index for _, name, shape_index, index in values}
    live: dict[str, deque[int]] = defaultdict(deque)
    if any(entry.shape_index is None for entry in peak.entries):
        for _, name, _, index in sorted(values):
            span = spans[index]
            if span is not None and span.first <= peak.step <= span.last:
                live[name].append(index)

    shares = []
    for rank, (name, shape_index, size_bytes, _) in enumerate(peak.entries):
        found: int | None
        if shape_index is not None:
            found = by_position.get((name, shape_index))
            ambiguous = False
        else:
            found = live[name].popleft() if live[name] else None
            ambiguous = found is not None and plan.values[found].shape_index is not None
        if found is not None:
            shares.append(PrintedShare(found, rank, size_bytes, ambiguous))
    return tuple(shares)
