"""When the live range of a value ends, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from xlagraph.graph.engine import Cell

Row = Mapping[str, Cell]


class RangeEnd(StrEnum):
    """Why the live range of a value ends where it does."""

    UNKNOWN = "unknown"
    """The dump has no live range of it."""
    PARAMETER = "parameter"
    """To the end of the program: the caller owns the buffer."""
    OUTPUT = "output"
    """To the end: it leaves the program."""
    CONSTANT = "constant"
    """To the end: it is a constant of the program."""
    END = "end"
    """To the end, and the dump does not say why."""
    OVERWRITTEN = "overwritten"
    """A later value overwrites it in place."""
    LAST_USE = "lastUse"
    """Freed after its last reader."""
    UNREAD = "unread"
    """Nothing in the schedule reads it."""
    KEPT = "kept"
    """Kept after its last reader, until another instruction is done."""
    HANDED_ON = "handedOn"
    """It ends before its last reader in the schedule, which takes it from elsewhere."""


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The live range of a value, both ends inclusive, and what ends it."""

    live_from: int | None
    live_until: int | None
    last_use: int | None
    schedule_length: int | None
    ends_at: str | None
    """The instruction of its last step; None past the last one."""
    ending: RangeEnd
    why: str
    """The same as a sentence."""


_TO_THE_END: Final[Mapping[RangeEnd, str]] = {
    RangeEnd.PARAMETER: "lives to the end: it is an input, and its buffer belongs to the caller",
    RangeEnd.OUTPUT: "lives to the end: it leaves the program",
    RangeEnd.CONSTANT: "lives to the end: it is a constant of the program",
    RangeEnd.END: "lives to the end; the dump does not say why",
}


def live_range_of(facts: Row, readers: Sequence[Row], after: Sequence[Row]) -> LiveRange:
    """Return the live range of a value, and why it ends there, from its facts and readers.

    ``after`` are the values that take its bytes, in place or later.
    """
    kind, why = range_end(facts, readers, after)
    return LiveRange(
        live_from=_number(facts["liveFrom"]),
        live_until=_number(facts["liveUntil"]),
        last_use=_number(facts["lastUse"]),
        schedule_length=_number(facts["scheduleLength"]),
        ends_at=None if facts["endsAt"] is None else str(facts["endsAt"]),
        ending=kind,
        why=why,
    )


def range_end(facts: Row, readers: Sequence[Row], after: Sequence[Row]) -> tuple[RangeEnd, str]:
    """Return what ends the live range of a value, and the same as a sentence."""
    until, last_use = _number(facts["liveUntil"]), _number(facts["lastUse"])
    if until is None:
        return RangeEnd.UNKNOWN, "unknown: the dump has no live range of it"
    successors = [row for row in after if row["inPlace"] and row["steps"] == until]
    if successors:
        names = ", ".join(str(row["value"]) for row in successors)
        return RangeEnd.OVERWRITTEN, f"cut at step {until}: {names} overwrites it in place"
    if until == facts["scheduleLength"]:
        kind = _ending_at_last_step(facts)
        return kind, _TO_THE_END[kind]
    if last_use is None:
        return RangeEnd.UNREAD, f"freed after step {until}: nothing in the schedule reads it"
    last = ", ".join(dict.fromkeys(_name(row) for row in readers if row["step"] == last_use))
    if last_use == until:
        return RangeEnd.LAST_USE, f"freed after step {until}, its last use, by {last}"
    if last_use < until:
        end = f"{facts['endsAt']} ({facts['endsAtOpcode']})" if facts["endsAt"] else "its end"
        text = f"kept until step {until}, {end}, though {last} reads it last, at step {last_use}"
        return RangeEnd.KEPT, text
    text = f"ends at step {until}, before {last} at step {last_use}, which takes it over"
    return RangeEnd.HANDED_ON, text


def _ending_at_last_step(facts: Row) -> RangeEnd:
    if facts["role"] == "output" or facts["maybeLiveOut"]:
        return RangeEnd.OUTPUT
    if facts["parameterNumber"] is not None:
        return RangeEnd.PARAMETER
    if facts["role"] == "constant":
        return RangeEnd.CONSTANT
    return RangeEnd.END


def _name(row: Row) -> str:
    return f"{row['instruction']} ({row['opcode']})" if row["opcode"] else str(row["instruction"])


def _number(cell: Cell) -> int | None:
    return cell if isinstance(cell, int) else None
