"""Refuses what would be answered wrong, or not at all, of a compilation stored with less."""

from collections.abc import Collection
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import NotStored

__all__ = ["check_stored", "is_at_peak"]

_AT_PEAK: Final = load_statement(__file__, "compilations-at-peak")
_ANY_AT_PEAK: Final = load_statement(__file__, "any-compilation-at-peak")


def check_stored(graph: Graph, names: Collection[str]) -> None:
    """Raise NotStored if a compilation of these runs or keys is stored with its peaks alone.

    Without names it is about all compilations.
    """
    for key in _at_peak(graph, names):
        raise NotStored(key)


def is_at_peak(graph: Graph, names: Collection[str]) -> bool:
    """Return whether a compilation of these runs or keys is stored with its peaks alone."""
    return bool(_at_peak(graph, names))


def _at_peak(graph: Graph, names: Collection[str]) -> list[str]:
    found = graph.query(_AT_PEAK, {"sides": list(names)}) if names else graph.query(_ANY_AT_PEAK)
    return [str(key) for (key,) in found.rows]
