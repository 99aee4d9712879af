"""Rejects parameters whose lists mix kinds of values, because the embedded engine converts them.

The engine gives the elements of a list one type: `[false, '']` arrives as `[False, False]`, and a
whole number next to a fraction becomes a float, and lists and maps next to null become text.
"""

from collections.abc import Mapping
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.graph.errors import QueryRefused

_EXACT_IN_FLOATS: Final = 2**53
_EMPTY: Final = "nothing"
_NULL: Final = "null"
_NUMBERS: Final = ("int", "long int", "float")

_Kind = str | tuple[str, "_Kind"] | dict[str, "_Kind"]


class _Mixed(Exception):
    """Two elements of a list have kinds that the engine cannot hold together."""


def check_lists(parameters: Mapping[str, Cell]) -> None:
    """Raise QueryRefused if a list in a parameter holds values of several kinds."""
    for name, value in parameters.items():
        if isinstance(value, list | dict):
            try:
                _kind(value)
            except _Mixed:
                raise QueryRefused(
                    f"a list in ${name} has values of several kinds, which the embedded engine"
                    " would convert; give all its elements one kind"
                ) from None


def _kind(value: object) -> _Kind:
    if value is None:
        return _NULL
    if isinstance(value, dict):
        return {key: _kind(part) for key, part in value.items()}
    if isinstance(value, list):
        kind: _Kind = _EMPTY
        for part in value:
            kind = _common(kind, _kind(part))
        return ("list", kind)
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if abs(value) <= _EXACT_IN_FLOATS else "long int"
    return type(value).__name__


def _common(first: _Kind, second: _Kind) -> _Kind:
    """Return the kind that holds values of both."""
    if first == second or second == _EMPTY:
        return first
    if first == _EMPTY:
        return second
    if isinstance(first, str) and isinstance(second, str) and _NULL in (first, second):
        return second if first == _NULL else first
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {key: _common(kind, second[key]) for key, kind in first.items()}
    if isinstance(first, tuple) and isinstance(second, tuple):
        return ("list", _common(first[1], second[1]))
    if first in _NUMBERS and second in _NUMBERS and {first, second} != {"long int", "float"}:
        return max(str(first), str(second), key=_NUMBERS.index)
    raise _Mixed
