"""Order in which a table's columns are kept where not all fit."""

from collections.abc import Sequence
from typing import Final

from xlagraph.presentation.byte_sizes import counts_bytes

__all__ = ["most_important_first"]

_NAMING: Final = 2
"""Number of leading columns that name the subject of a row."""
_OTHERS: Final = "…"
"""Place of the columns that an order of importance does not name."""


def most_important_first(
    columns: Sequence[str], shown: Sequence[str] = ()
) -> Sequence[Sequence[int]]:
    """Return groups of column indices, the most important first; a file and its line are one.

    ``shown`` names columns by importance; `…` stands for the others. Those that name a row are
    first, then byte counts.
    """
    groups: list[list[int]] = []
    for index, name in enumerate(columns):
        if name.endswith("Line") and columns[index - 1] == f"{name.removesuffix('Line')}File":
            groups[-1].append(index)
        else:
            groups.append([index])
    place_by_name = {name: place for place, name in enumerate(shown)}
    place_of_others = place_by_name.get(_OTHERS, len(shown))

    def rank(group: Sequence[int]) -> tuple[int, int]:
        index, name = group[0], columns[group[0]]
        usual = index if index < _NAMING else _NAMING if counts_bytes(name) else _NAMING + 1
        return place_by_name.get(name, place_of_others), usual

    return sorted(groups, key=rank)
