"""Find the values around the holes of temporary blocks."""

from collections.abc import Iterator, Mapping, Sequence

from xlagraph.advice.causes.cause import Cause, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import PackTightly
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind


def fragmented_blocks(
    program: PeakProgram, rows: Sequence[Mapping[str, Cell]], advice: Advice | None
) -> Iterator[Cause]:
    """Yield the values below and above the largest hole of each block when it is fullest.

    ``rows`` are those of reuse/fragmentation, whose advice the cause repeats.
    """
    found: list[tuple[StoredValue, str]] = []
    for row in rows:
        step, block_bytes = row["physicalPeakStep"], row["sizeBytes"]
        is_here = row["packingBytes"] and row["memorySpace"] == program.memory_space
        if is_here and isinstance(step, int) and isinstance(block_bytes, int):
            found += _neighbours(program, row["allocation"], block_bytes, step)
    if found and advice is not None:
        evidence = [evidence_row(value, reason) for value, reason in found]
        yield Cause(
            "reuse/fragmentation",
            advice.title,
            ChangeKind.PACK,
            PackTightly(),
            tuple(sorted(evidence, key=lambda row: -int(str(row["sizeBytes"])))),
            advice.remedies,
        )


def _neighbours(
    program: PeakProgram, allocation: Cell, block_bytes: int, step: int
) -> list[tuple[StoredValue, str]]:
    """Return the values around the largest hole at a step, each with a sentence."""
    live = sorted(
        (
            value
            for value in program.values.values()
            if value.allocation == allocation
            and value.live_from is not None
            and value.live_until is not None
            and value.live_from <= step <= value.live_until
            and value.size_bytes
        ),
        key=lambda value: (value.offset_bytes, -value.size_bytes),
    )
    hole_bytes, below, above = 0, None, None
    end, last = 0, None
    for value in live:
        if value.offset_bytes - end > hole_bytes:
            hole_bytes, below, above = value.offset_bytes - end, last, value
        if value.offset_bytes + value.size_bytes > end:
            end, last = value.offset_bytes + value.size_bytes, value
    if block_bytes - end > hole_bytes:
        hole_bytes, below, above = block_bytes - end, last, None
    found: list[tuple[StoredValue, str]] = []
    for near, side in ((below, "below"), (above, "above")):
        if near is not None and hole_bytes:
            reason = (
                f"{human_bytes(near.size_bytes)} {side} a hole of {human_bytes(hole_bytes)} at"
                f" step {step}, live from {near.live_from} to {near.live_until}"
            )
            found.append((near, reason))
    return found
