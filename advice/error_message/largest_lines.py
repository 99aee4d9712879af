"""The largest allocations of a failure, summed by the line and the op that made them."""

from dataclasses import dataclass

from xlagraph.advice.error_message.failure import Failure, LargeAllocation


@dataclass(frozen=True, slots=True)
class LineShare:
    """The listed allocations of one line and op."""

    line: str | None
    """`file:line`; None if the message names none."""
    op_name: str | None
    size_bytes: int
    padding_bytes: int
    allocations: int
    shape: str | None
    """Shape of the largest of them."""
    label: str | None
    """Name or opcode of its instruction."""


def largest_lines(failure: Failure) -> tuple[LineShare, ...]:
    """Return the listed allocations by line and op, largest sum first.

    Allocations without line and op are not merged.
    """
    groups: dict[tuple[object, ...], list[LargeAllocation]] = {}
    for index, entry in enumerate(failure.largest):
        known = entry.op_name or entry.source_line
        key = (entry.source_file, entry.source_line, entry.op_name) if known else (index,)
        groups.setdefault(key, []).append(entry)
    shares = [_share(entries) for entries in groups.values()]
    return tuple(sorted(shares, key=lambda share: -share.size_bytes))


def _share(entries: list[LargeAllocation]) -> LineShare:
    largest = max(entries, key=lambda entry: entry.size_bytes)
    line = None
    if largest.source_file is not None:
        line = f"{largest.source_file}:{largest.source_line or '?'}"
    return LineShare(
        line,
        largest.op_name,
        sum(entry.size_bytes for entry in entries),
        sum(entry.padding_bytes for entry in entries),
        len(entries),
        largest.shape,
        largest.instruction or largest.label or largest.kind,
    )
