"""Formats and parses byte counts, shares and numbers of things: `1.5 MiB`, `64MiB`, `2%`."""

import re
from typing import Final

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# 64MiB, 64MB and 64M are one size: all units are binary
_POWERS: Final = {
    "": 0,
    **{
        spelling.lower(): power
        for power, unit in enumerate(_UNITS)
        for spelling in (unit, unit.replace("i", ""), unit[0])
    },
}
# 64MiB, 1.5 GiB, 2G, 4096
_SIZE: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)")
# 2%, 0.5 %
_PERCENT: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*%")


def human_bytes(size_bytes: float) -> str:
    """Return a byte count with a binary unit: ``512 B``, ``1.5 MiB``, ``-3.0 KiB``."""
    magnitude = float(abs(size_bytes))
    power = 0
    # 1023.95 KiB would round to 1024.0 KiB: take the next unit
    while round(magnitude, 1 if power else 0) >= 1024 and power < len(_UNITS) - 1:
        magnitude /= 1024
        power += 1
    sign = "-" if size_bytes < 0 else ""
    number = f"{magnitude:.1f}" if power else f"{magnitude:.0f}"
    return f"{sign}{number} {_UNITS[power]}"


def known_bytes(size_bytes: float | None) -> str:
    """Return a byte count with a binary unit; ``unknown`` for None."""
    return "unknown" if size_bytes is None else human_bytes(size_bytes)


def signed_bytes(growth_bytes: int) -> str:
    """Return a growth with its sign: ``+23.8 MiB``."""
    return f"{'+' if growth_bytes > 0 else ''}{human_bytes(growth_bytes)}"


def change_text(before_bytes: int, after_bytes: int) -> str:
    """Return a change with its share of the first count: ``-1.5 MiB, -2.0%``, or ``none``."""
    change = after_bytes - before_bytes
    if not change:
        return "none"
    share = f", {share_text(change / before_bytes, signed=True)}" if before_bytes else ""
    return f"{signed_bytes(change)}{share}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 value``, ``1,200 values``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def distinct_bytes(size_bytes: int, other_bytes: int) -> tuple[str, str]:
    """Return strings of two byte counts that differ if the counts do: ``1,049,400 B``."""
    texts = human_bytes(size_bytes), human_bytes(other_bytes)
    if size_bytes != other_bytes and texts[0] == texts[1]:
        return f"{size_bytes:,} B", f"{other_bytes:,} B"
    return texts


def share_text(share: float, *, signed: bool = False) -> str:
    """Return a share as a percentage: ``62.0%``, signed ``+62.0%``."""
    text = f"{share:+.1%}" if signed else f"{share:.1%}"
    return "0.0%" if text.lstrip("+-") == "0.0%" else text


def parse_bytes(text: str) -> int:
    """Parse ``64MiB``, ``1.5 GiB``, ``2G`` (also binary) or a plain number of bytes.

    Raises ValueError with a sentence that shows the forms.
    """
    match = _SIZE.fullmatch(text.strip())
    power = _POWERS.get(match["unit"].lower()) if match else None
    if match is None or power is None:
        raise ValueError(f"expected bytes such as 64MiB, 16GiB or 1048576, found {text!r}")
    number = match["number"]
    exact = int(number) if number.isdecimal() else float(number)
    return int(exact * 1024**power)


def parse_share(text: str) -> float | None:
    """Read ``2%`` as 0.02; None if the text is not a percentage."""
    match = _PERCENT.fullmatch(text.strip())
    return None if match is None else float(match["number"]) / 100


def counts_bytes(column: str) -> bool:
    """Return whether a column counts bytes: its name contains `Bytes`, or begins with `bytes`."""
    return "Bytes" in column or column.startswith("bytes")


def range_text(least_bytes: int, most_bytes: int | None, *, is_certain: bool = True) -> str:
    """Return a range of savings as text: one size if both ends look alike."""
    least = human_bytes(least_bytes)
    most = least if most_bytes is None else human_bytes(most_bytes)
    if least != most:
        return f"{least} to {most}" if least_bytes > 0 else f"up to {most}"
    return least if is_certain else f"up to {least}"
