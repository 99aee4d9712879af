"""Reject questions about compilations that were stored without the necessary facts."""

from collections.abc import Collection
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import NotStored

__all__ = ["check_stored", "is_at_peak"]

_AT_PEAK: Final = load_statement(__file__, "compilations-at-peak")
_ANY_AT_PEAK: Final = load_statement(__file__, "any-compilation-at-peak")


def check_stored(graph: Graph, names: Collection[str]) -> None:
    """Raise NotStored if a compilation of these runs or keys is stored with `peak` detail only.

    Check all compilations if there are no names.
    """
    for key in _at_peak(graph, names):
        raise NotStored(key)


def is_at_peak(graph: Graph, names: Collection[str]) -> bool:
    """Return True if a compilation of these runs or keys is stored with `peak` detail only."""
    return bool(_at_peak(graph, names))


def _at_peak(graph: Graph, names: Collection[str]) -> list[str]:
    found = graph.query(_AT_PEAK, {"sides": list(names)}) if names else graph.query(_ANY_AT_PEAK)
    return [str(key) for (key,) in found.rows]
