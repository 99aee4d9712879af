"""The changes that a what-if plans for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from xlagraph.queries.errors import BadParameter

__all__ = ["Changes", "factor_text", "parse_factor"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What to change; nothing by default. Patterns are those of `xlagraph.queries.advice`.

    Raises BadParameter for what is not a factor, and for a batch that is named but not changed.
    """

    donate: Sequence[str] = ()
    """Parameters by number, label or op name; `all`."""
    without: Sequence[str] = ()
    """Patterns of values that are gone, with all that must share their bytes."""
    until_last_use: Sequence[str] = ()
    """Patterns of values that are freed as they are last read."""
    shrink: Mapping[str, float | str | Fraction] = field(default_factory=dict)
    """By pattern, the part of their bytes that values keep, with all that must share those;
    `parse_factor` reads it."""
    checkpoint: Sequence[str] = ()
    """Scopes to put a checkpoint around."""
    batch: float | str | Fraction | None = None
    """The part of the batch that is kept; `parse_factor` reads it."""
    batch_of: Sequence[str] = ()
    """Parameters whose first dimension is the batch, or `PARAMETER:DIMENSION`."""
    batch_like: str | None = None
    """A compilation of another batch to compare with; by default one of the same module."""

    def __post_init__(self) -> None:
        for factor in (*self.shrink.values(), *(() if self.batch is None else (self.batch,))):
            parse_factor(factor)
        if self.batch is None and (self.batch_of or self.batch_like is not None):
            raise BadParameter("the batch is named but not changed: give its factor too")
        if self.batch_of and self.batch_like is not None:
            raise BadParameter("name parameters of the batch or another compilation, not both")

    def __bool__(self) -> bool:
        return self.batch is not None or any(
            (self.donate, self.without, self.until_last_use, self.shrink, self.checkpoint)
        )


def parse_factor(factor: float | str | Fraction) -> Fraction:
    """Return the part of its bytes that a value keeps: `2`, `0.5` and `1/2` are all one half."""
    try:
        parsed = Fraction(str(factor))
    except (ValueError, ZeroDivisionError):
        parsed = Fraction(0)
    if parsed <= 0:
        raise BadParameter(f"{factor} is not a factor; give e.g. 2 or 0.5 for half of the bytes")
    return 1 / parsed if parsed > 1 else parsed


def factor_text(factor: float | str | Fraction) -> str:
    """Return the part that is kept, as people read it: `1/2`."""
    return str(parse_factor(factor))
