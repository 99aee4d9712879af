"""Group values by a key."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> defaultdict[_Key, list[_Value]]:
    """Return the values of each key, both in the order of the pairs; none for other keys."""
    found: defaultdict[_Key, list[_Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found
