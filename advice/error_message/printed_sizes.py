"""Sizes as error messages print them: `96.85G`, `27.93GiB`, `4.0K`, `512B`, `2110783616`."""

from typing import Final

from xlagraph.presentation.byte_sizes import parse_bytes

__all__ = ["SIZE", "printed_bytes", "rounded"]

SIZE: Final = (
    r"\d{1,20}(?:(?:\.\d{1,9})? ?(?:[KMGTPE](?:i?B)?|B)(?![A-Za-z])|(?!\.\d|\d| ?[KMGTPE]i?\Z))"
)
"""Pattern of a size. A text with a truncated unit is not a size: `1.50`, `12Gi`."""


def printed_bytes(text: str | None) -> int | None:
    """Return the bytes of a printed size; None if given None."""
    return None if text is None else parse_bytes(text)


def rounded(size_bytes: int) -> str:
    """Return a size with two decimals of a unit, which is equal in all messages of one request."""
    magnitude, power = float(size_bytes), 0
    while magnitude >= 1024:
        magnitude /= 1024
        power += 1
    return f"{magnitude:.2f}·{power}" if power else str(size_bytes)
