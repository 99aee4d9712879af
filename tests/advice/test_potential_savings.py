"""The text of potential savings always includes their range or doubt."""

import pytest

from xlagraph.advice.planned_savings import PotentialSavings


@pytest.mark.parametrize(
    ("at_most", "doubt", "text"),
    [
        (None, None, "1.0 KiB"),
        (None, "the compiler may undo it", "up to 1.0 KiB"),
        (4096, None, "1.0 KiB to 4.0 KiB"),
        (4096, "the compiler may undo it", "1.0 KiB to 4.0 KiB"),
        (1024, "the compiler may undo it", "up to 1.0 KiB"),
    ],
)
def test_savings_are_written_with_their_range_or_doubt(
    at_most: int | None, doubt: str | None, text: str
) -> None:
    assert PotentialSavings(1024, at_most, "reserved", doubt, is_planned=True).text == text
