"""Shape indices in XLA's notation: ``{1,0}`` is element 0 of element 1, ``{}`` the whole."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = ["WHOLE", "index_numbers", "index_text", "nested_index"]

WHOLE: Final = "{}"


def index_text(numbers: Iterable[int]) -> str:
    """Print the numbers of an index."""
    return "{" + ",".join(map(str, numbers)) + "}"


def index_numbers(index: str | None) -> tuple[int, ...]:
    """Return the numbers of a printed index; none for the whole, or for None."""
    if index is None or index == WHOLE:
        return ()
    return tuple(map(int, index[1:-1].split(",")))


@lru_cache(1 << 12)
def nested_index(outer: str, inner: str) -> str:
    """Return the index of an element's element: ``{1}`` and ``{0}`` make ``{1,0}``."""
    if outer == WHOLE:
        return inner
    if inner == WHOLE:
        return outer
    return f"{outer[:-1]},{inner[1:]}"
