"""Rows of the table: their verdicts, text and file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.measure import growth_exponent

GROWTH_LIMIT = 1.15
"""Largest exponent that counts as linear, with room for noise and caches."""


class Verdict(StrEnum):
    """Verdict on a goal."""

    MET = "met"
    MISSED = "MISSED"
    KNOWN = "missed, as known"
    """Missed, within the bound in `known_misses`."""
    BROKEN = "BROKEN"
    """Could not be measured for an unexpected reason."""
    SKIPPED = "skipped"
    SHOWN = "-"
    """Has no goal."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; strings carry their units."""

    what: str
    verdict: Verdict
    measured: str = ""
    reference: str = ""
    ratio: float | None = None
    goal: str = ""
    note: str = ""


def ratio_row(
    what: str,
    seconds: float,
    reference: str,
    reference_seconds: float,
    goal: float | None,
    note: str = "",
) -> Row:
    """Return a row with the verdict: at most ``goal`` times a reference, or shown."""
    ratio = seconds / reference_seconds
    return Row(
        what,
        Verdict.SHOWN if goal is None else _verdict(ratio <= goal),
        format_seconds(seconds),
        f"{reference}: {format_seconds(reference_seconds)}",
        ratio,
        "" if goal is None else f"<= {goal:g} x",
        note,
    )


def limit_row(what: str, seconds: float, goal_seconds: float, note: str = "") -> Row:
    """Return a row with the verdict on a time with a fixed limit."""
    return Row(
        what,
        _verdict(seconds <= goal_seconds),
        format_seconds(seconds),
        goal=f"<= {format_seconds(goal_seconds)}",
        note=note,
    )


def memory_row(
    what: str, peak: int, reference: str, reference_bytes: int, goal: float, note: str = ""
) -> Row:
    """Return a row with the verdict on peak memory, compared with another run."""
    ratio = peak / reference_bytes
    return Row(
        what,
        _verdict(ratio <= goal),
        format_bytes(peak),
        f"{reference}: {format_bytes(reference_bytes)}",
        ratio,
        f"<= {goal:g} x",
        note,
    )


def growth_row(what: str, sizes: Sequence[float], costs: Sequence[float]) -> Row:
    """Return a row with the verdict on growth: the exponent is at most `GROWTH_LIMIT`."""
    exponent = growth_exponent(sizes, costs)
    return Row(
        f"{what}: growth",
        _verdict(exponent <= GROWTH_LIMIT),
        f"size ** {exponent:.2f}",
        " ".join(f"{size:,.0f}:{cost:.3g}" for size, cost in zip(sizes, costs, strict=True)),
        goal=f"<= {GROWTH_LIMIT:g}",
    )


def shown_row(what: str, measured: str, note: str = "") -> Row:
    """Return a row without a goal."""
    return Row(what, Verdict.SHOWN, measured, note=note)


def skipped_row(what: str, reason: str) -> Row:
    """Return a row that names what is missing here to measure something."""
    return Row(what, Verdict.SKIPPED, note=reason)


def broken_row(what: str, reason: str) -> Row:
    """Return a row that names the error of a measurement."""
    return Row(what, Verdict.BROKEN, note=reason)


def failed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that missed their goal or broke."""
    return [row for row in rows if row.verdict in (Verdict.MISSED, Verdict.BROKEN)]


def _verdict(is_met: bool) -> Verdict:
    return Verdict.MET if is_met else Verdict.MISSED


def format_seconds(seconds: float) -> str:
    """Return a time with three digits: ``12.3 s``, ``4.56 ms``."""
    if seconds >= 1:
        return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
    return f"{seconds * 1000:.3g} ms"


def format_bytes(count: int) -> str:
    """Return a size in MiB."""
    return f"{count / 2**20:,.0f} MiB"


def format_row(row: Row) -> str:
    """Return one row as a line of Markdown."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} x"
    cells = (row.what, row.measured, row.reference, ratio, row.goal, row.verdict.value, row.note)
    return "| " + " | ".join(cells) + " |"


HEADER = (
    "| what | measured | reference in the same run | ratio | goal | verdict | note |\n"
    "|---|---|---|---|---|---|---|"
)


def write_json(path: Path, machine: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Save the table with a description of the machine."""
    document = {"machine": dict(machine), "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
