"""Make named tuples faster than by calls of their classes."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, Final, TypeVar

__all__ = ["new_record", "records"]

new_record: Final = tuple.__new__
"""Function of a named tuple's class and its fields."""

_Record = TypeVar("_Record", bound=tuple[Any, ...])


def records(kind: type[_Record], rows: Iterable[tuple[object, ...]]) -> Iterator[_Record]:
    """Return an iterator over rows of fields as named tuples."""
    return map(new_record, repeat(kind), rows)
