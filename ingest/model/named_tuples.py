"""Makes many named tuples."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, TypeVar

__all__ = ["records"]

_Record = TypeVar("_Record", bound=tuple[Any, ...])


def records(kind: type[_Record], rows: Iterable[tuple[object, ...]]) -> Iterator[_Record]:
    """Return an iterator over rows of fields as named tuples: twice as fast as calling `kind`."""
    return map(tuple.__new__, repeat(kind), rows)
