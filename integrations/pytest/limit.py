"""A test's limit: the bytes that the largest program it compiles may reserve."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from xlagraph.presentation.byte_sizes import distinct_bytes, parse_bytes
from xlagraph.presentation.readable_tables import text_table
from xlagraph.pytest.look import look_text

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan, Watch

_SHOWN_LINES = 10


def limit_of(marker: pytest.Mark) -> int:
    """Return the limit of a marker in bytes; fail the test if it is not a size."""
    (limit,) = marker.args or (marker.kwargs.get("limit"),)
    try:
        return limit if isinstance(limit, int) else parse_bytes(str(limit))
    except ValueError as error:
        reason = str(error)
    pytest.fail(f"@pytest.mark.{marker.name}: {reason}", pytrace=False)


def fail_beyond(limit_bytes: int, watch: "Watch", test: str, folder: Path | None) -> None:
    """Fail if the largest compiled program reserves more than the limit; equal to it passes.

    Programs run one after another, so their bytes are not added up.
    """
    if watch.unreadable:
        pytest.fail(f"{test}: {watch.unreadable[0]}", pytrace=False)
    largest = max(watch.plans, key=lambda plan: plan.reserved, default=None)
    if largest is None or largest.reserved <= limit_bytes:
        return
    reserved, limit = distinct_bytes(largest.reserved, limit_bytes)
    count = len(watch.plans)
    of_how_many = f", the largest of {count} programs," if count > 1 else ""
    module = largest.name.partition("/")[2]
    message = (
        f"{module}{of_how_many} reserves {reserved}; the limit is {limit}\n"
        f"\n{_lines_text(largest)}\n\n{look_text(largest, test, folder)}"
    )
    pytest.fail(message.rstrip(), pytrace=False)


def _lines_text(plan: "FunctionPlan") -> str:
    rows: list[dict[str, Any]] = plan.by_line(_SHOWN_LINES).result.mappings()
    return "at the physical peak:\n" + text_table(
        ("bytes", "line", "largest"),
        [
            (
                row["physicalBytes"],
                _place(row),
                row["largest"],
            )
            for row in rows
        ],
    )


def _place(row: Mapping[str, Any]) -> str | None:
    """Return the user's line, then the line of the library that it calls."""
    lines = (
        f"{row[f'{of}File']}:{row[f'{of}Line']}" if row[f"{of}File"] else None
        for of in ("user", "source")
    )
    return " → ".join(dict.fromkeys(line for line in lines if line)) or None
