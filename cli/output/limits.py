"""Limits that a user sets on bytes, growth or age."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import typer

from xlagraph.presentation.byte_sizes import parse_bytes, parse_share

if TYPE_CHECKING:
    from xlagraph.comparison.compared_sides import Growth

_AGE: Final = re.compile(r"(?P<number>\d{1,5})(?P<unit>[hdw])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24}


@dataclass(frozen=True, slots=True)
class GrowthLimit:
    """The growth that is allowed: bytes, or a share of the previous size."""

    text: str
    """Text as the user typed it."""
    size_bytes: int | None
    share: float | None

    def exceeded_by(self, growth: "Growth") -> bool:
        """Return whether the growth is above the limit; a growth equal to it is allowed."""
        if self.share is not None:
            return growth.exceeds_share(self.share)
        return self.size_bytes is not None and growth.exceeds_bytes(self.size_bytes)


@dataclass(frozen=True, slots=True)
class Capacity:
    """The size of a memory space."""

    memory_space: int
    size_bytes: int


def parse_capacity(text: str) -> Capacity:
    """Parse a capacity: ``16GiB`` for memory space 0, or ``1=128MiB`` for another space."""
    color, equals, size = text.rpartition("=")
    if equals and not color.strip().isdecimal():
        raise typer.BadParameter(f"expected a capacity such as 16GiB or 1=128MiB, found {text!r}")
    size_bytes = parse_bytes_limit(size)
    if size_bytes and size.strip().isdecimal():
        raise typer.BadParameter(f"{text} has no unit: write {text}GiB, or {text}B for bytes")
    return Capacity(int(color) if equals else 0, size_bytes)


def parse_bytes_limit(text: str) -> int:
    """Parse a size: ``64MiB``, or a number of bytes."""
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_growth_limit(text: str) -> GrowthLimit:
    """Parse a growth limit: ``2%`` or ``64MiB``; the only number without a unit is ``0``."""
    share = parse_share(text)
    if share is not None:
        return GrowthLimit(text, None, share)
    try:
        size_bytes = parse_bytes(text)
    except ValueError:
        raise typer.BadParameter(
            f"expected growth such as 2%, 64MiB or 1GiB, found {text!r}"
        ) from None
    if size_bytes and text.strip().isdecimal():
        raise typer.BadParameter(f"{text} has no unit: write {text}% or {text}MiB")
    return GrowthLimit(text, size_bytes, None)


def parse_age(text: str) -> timedelta:
    """Parse an age: ``12h``, ``30d`` or ``8w``."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"expected an age such as 12h, 30d or 8w, found {text!r}")
    return timedelta(hours=int(found["number"]) * _HOURS[found["unit"]])
