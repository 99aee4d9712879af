"""Damages dumps of every generation, and checks the outcome."""

import tracemalloc
from collections.abc import Callable, Sequence

from tests.ingest.carriers.text.sample_dumps import NAMES, parts_of
from xlagraph.ingest import ParseError, parse_plan, render_plan
from xlagraph.ingest.carriers.text.text import DumpPart

SAMPLES = [parts_of(name) for name in NAMES]
"""A dump of each generation, by name."""

_JUNK = (
    "\n", "\r", "\ufeff", "\x00", "é", " ", "0", "-1", "9" * 19, "9" * 400, "{", "}}", "<", ">",
    "(", "BufferAssignment:\n", "Used values:\n", " uses:\n", " positions:\n", ", color 0", "@0>",
    "\r\n", "  ", "  (none)", "  add.3, operand 0\n", "    0:x\n", "    x{}:0-1\n",
    "allocation 0: size 1", " value: <0 x @0> (size=1,offset=0): f32[]",
)  # fmt: skip

Draw = Callable[[int, int], int]
"""Return a number between two bounds, both included."""


def damage(sample: Sequence[DumpPart], draw: Draw) -> list[DumpPart]:
    """Cut, double, swap or replace one to three regions of bytes or lines."""
    parts = list(sample)
    for _ in range(draw(1, 3)):
        place = draw(0, len(parts) - 1)
        text = parts[place].text
        starts = regions(text) if draw(0, 1) else range(len(text) + 1)
        first, second, third = sorted(starts[draw(0, len(starts) - 1)] for _ in range(3))
        region, next_ = text[first:second], text[second:third]
        junk = _JUNK[draw(0, len(_JUNK) - 1)]
        changed = (
            region + region + next_,
            next_,
            next_ + region,
            junk + next_,
            region + junk + next_,
            region[::-1] + next_,
        )
        new = changed[draw(0, len(changed) - 1)]
        parts[place] = parts[place]._replace(text=text[:first] + new + text[third:])
    return parts


def regions(text: str) -> list[int]:
    """Return the offsets where lines begin, and the end of the text."""
    starts = [0]
    while (end := text.find("\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return [*starts, len(text)]


def assert_error_or_faithful_plan(parts: Sequence[DumpPart]) -> None:
    """Parse: the outcome is a ParseError with a place, or a plan that renders every byte."""
    try:
        plan = parse_plan(parts)
    except ParseError as error:
        refused = error
    else:
        assert render_plan(plan) == tuple(part.text for part in parts)
        return
    (text,) = (part.text for part in parts if part.name == refused.file)
    # "\r" may end a line too, and a missing line is reported after the last one
    assert 1 <= refused.line <= len(text.splitlines()) + 2, refused
    assert len(refused.text) <= 80
    assert refused.expected


def peak_bytes(parts: Sequence[DumpPart]) -> int:
    """Return the peak memory of parsing."""
    tracemalloc.start()
    try:
        assert_error_or_faithful_plan(parts)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
