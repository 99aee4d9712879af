"""Write the result of a what-if as a page."""

from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.formats import WRITERS, Format
from xlagraph.cli.output.messages import write_prose
from xlagraph.graph.record_cells import record_row
from xlagraph.presentation.byte_sizes import change_text, distinct_bytes, human_bytes

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.planner.edits.result import Effect, WhatIf

SHOWN: Final = 10
"""Number of donated parameters on a page."""
SHOWN_NAMES: Final = 5
"""Number of matched names for each change on a page."""


def write_whatif(result: "WhatIf", format_: Format, stream: TextIO) -> None:
    """Write a page: the plan before and after the changes, the new peak, and the assumptions."""
    _write(f"{result.compilation}: {_replayed(result)}", stream)
    stream.write("\n")
    WRITERS[format_](
        ("memory space 0", "XLA", "replanned", "after", "change"), _totals(result), stream
    )
    if result.effects:
        stream.write("\n")
        for effect in result.effects:
            _write(f"{effect.text}.", stream)
            if _is_pattern(effect):
                _write(f"  {_matched(effect)}.", stream)
    if result.lower_bound_bytes is not None:
        _write(
            f"The temporary block needs at least {human_bytes(result.lower_bound_bytes)} for these"
            " values, however they are packed.",
            stream,
            space=True,
        )
    if result.donated:
        _write(_donated(result), stream, space=True)
        columns = ("parameter", "output", "sizeBytes", "outcome")
        rows = [
            record_row(donated, columns)
            for donated in result.donated
            if donated.outcome != "donated already"
        ]
        if rows:
            WRITERS[format_](columns, rows[:SHOWN], stream)
    if result.peak_values:
        _write(
            f"The temporary block peaks at step {result.peak_step_after}; live at that step:",
            stream,
            space=True,
        )
        columns = ("value", "sizeBytes", "shape", "opName")
        WRITERS[format_](
            columns, [record_row(each, columns) for each in result.peak_values], stream
        )
    if result.assumptions:
        _write(f"Assumed: {'; '.join(result.assumptions)}.", stream, space=True)


def _is_pattern(effect: "Effect") -> bool:
    """Return True unless the change contains every matched name, or is `--donate all`."""
    return "--donate all" not in effect.change and any(
        name not in effect.change for name in effect.matched
    )


def _matched(effect: "Effect") -> str:
    names = list(effect.matched[:SHOWN_NAMES])
    if more := len(effect.matched) - len(names):
        names.append(f"{more} more")
    return f"matched: {', '.join(names)}"


def _replayed(result: "WhatIf") -> str:
    if result.is_exact:
        return "XLA's plan is reproduced byte for byte"
    if result.temp_bytes_replayed != result.temp_bytes:
        replayed, temp = distinct_bytes(result.temp_bytes_replayed, result.temp_bytes)
        return f"replayed, the temporary block takes {replayed} instead of {temp}"
    if not result.offsets_equal:
        return "replayed, the temporary block has its size, but some offsets differ"
    return "the temporary block replays byte for byte"


def _totals(result: "WhatIf") -> list[tuple["Cell", ...]]:
    rows: list[tuple[Cell, ...]] = [
        (
            "reserved",
            human_bytes(result.reserved_bytes),
            _bytes(result.reserved_bytes_replanned),
            _bytes(result.reserved_bytes_after),
            _change(result.reserved_bytes_replanned, result.reserved_bytes_after),
        )
    ]
    if result.reserved_bytes_at_most is not None:
        rows.append(
            (
                "reserved at most",
                "",
                "",
                _bytes(result.reserved_bytes_at_most),
                _change(result.reserved_bytes_replanned, result.reserved_bytes_at_most),
            )
        )
    rows.append(
        (
            "temporary block",
            human_bytes(result.temp_bytes),
            human_bytes(result.temp_bytes_replayed),
            _bytes(result.temp_bytes_after),
            _change(result.temp_bytes, result.temp_bytes_after),
        )
    )
    return rows


def _bytes(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else human_bytes(size_bytes)


def _change(before: int | None, after: int | None) -> str | None:
    return None if before is None or after is None else change_text(before, after)


def _donated(result: "WhatIf") -> str:
    counts = {
        outcome: sum(donated.outcome == outcome for donated in result.donated)
        for outcome in (
            *("in place", "copied first", "copied last", "copied first and last"),
            *("no output", "donated already", "gone"),
        )
    }
    parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    return f"Donated: {', '.join(parts)}."


def _write(text: str, stream: TextIO, *, space: bool = False) -> None:
    stream.write("\n" * space)
    write_prose(text, stream)
