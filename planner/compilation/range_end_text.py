"""Sentences that say why the live range of a value ends."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from xlagraph.planner.compilation.records import StoredValue


class RangeEnd(StrEnum):
    """The reason why a live range ends; `rangeEnd` in the graph."""

    UNKNOWN = "unknown"
    """The value has no live range."""
    PARAMETER = "parameter"
    """Live until the program's end: the caller owns the buffer."""
    OUTPUT = "output"
    """Live until the end: it is a result of the program."""
    CONSTANT = "constant"
    """Live until the end: it is a constant."""
    END = "end"
    """Live until the end, and the dump does not show why."""
    OVERWRITTEN = "overwritten"
    """A later value overwrites it in place."""
    LAST_USE = "lastUse"
    """Freed after its last reader."""
    UNREAD = "unread"
    """No scheduled instruction reads it."""
    KEPT = "kept"
    """Live after its last reader, until another instruction is done."""
    HANDED_ON = "handedOn"
    """Not live at its last reader, which reads the bytes of another value."""


InstructionName = tuple[str, str | None]
"""Name and opcode; the opcode is None if the dump has none."""

_WITHOUT_NAMES: Final[Mapping[RangeEnd, str]] = {
    RangeEnd.UNKNOWN: "unknown: the dump has no live range for it",
    RangeEnd.PARAMETER: "lives to the end: it is an input, and its buffer belongs to the caller",
    RangeEnd.OUTPUT: "lives to the end: it leaves the program",
    RangeEnd.CONSTANT: "lives to the end: it is a constant of the program",
    RangeEnd.END: "lives to the end; the dump does not say why",
}


def range_end_of(value: StoredValue) -> RangeEnd:
    """Return why the live range of a value ends."""
    return RangeEnd.UNKNOWN if value.range_end is None else RangeEnd(value.range_end)


def range_end_text(
    value: StoredValue,
    *,
    last_readers: Iterable[InstructionName],
    ends_at: InstructionName | None,
    overwritten_by: Sequence[str],
) -> str:
    """Return why the live range of a value ends, as a sentence.

    ``last_readers`` are the instructions that read it in the step of its last use, ``ends_at`` is
    the instruction of its last step, ``overwritten_by`` the labels of the values that update it in
    place in that step.
    """
    end = range_end_of(value)
    until = value.live_until
    if end in _WITHOUT_NAMES:
        return _WITHOUT_NAMES[end]
    if end is RangeEnd.OVERWRITTEN:
        return f"cut at step {until}: {', '.join(overwritten_by)} overwrites it in place"
    if end is RangeEnd.UNREAD:
        return f"freed after step {until}: nothing in the schedule reads it"
    last = ", ".join(dict.fromkeys(map(_instruction_text, last_readers)))
    if end is RangeEnd.LAST_USE:
        return f"freed after step {until}, its last use, by {last}"
    if end is RangeEnd.KEPT:
        kept_by = "its end" if ends_at is None else f"{ends_at[0]} ({ends_at[1]})"
        return (
            f"kept until step {until}, {kept_by}, though {last} reads it last,"
            f" at step {value.last_use}"
        )
    return f"ends at step {until}, before {last} at step {value.last_use}, which takes it over"


def _instruction_text(instruction: InstructionName) -> str:
    name, opcode = instruction
    return name if opcode is None else f"{name} ({opcode})"
