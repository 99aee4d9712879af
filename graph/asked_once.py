# ruff: noqa: D102  the protocols in engine.py document the methods
"""Runs each statement once for a command whose findings, answers and tables ask the same."""

import re
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Unpack

from xlagraph.graph.engine import Cell, Graph, Load, QueryLimits, Result, StoredRun

if TYPE_CHECKING:
    from xlagraph.graph.row_tables import CompilationRows

_MOST_ROWS: Final = 1_000
"""Most rows of an answer that are remembered."""
_LIMITED: Final = re.compile(r"(?:[^$]|\$(?!limit\b)|(?<=LIMIT )\$limit)*LIMIT \$limit\s*")
"""A statement whose limit leaves out its last rows and changes nothing else."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    result: Result
    """The first rows of an answer."""
    is_whole: bool
    """True if there are no other rows."""


class AskedOnce(Graph):
    """A graph that remembers short answers, and the first rows of long ones."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._remembered: dict[tuple[str, str], _Remembered] = {}

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        **limits: Unpack[QueryLimits],
    ) -> Result:
        question, most = _question(text, parameters or {})
        if (known := self._known(question, most)) is not None:
            return known
        found = self._graph.query(text, parameters, **limits)
        count = len(found.rows)
        self._remembered[question] = _Remembered(
            Result(found.columns, found.rows[:_MOST_ROWS]),
            count <= _MOST_ROWS and count < most,
        )
        return found

    def read_ahead(
        self, statements: Iterable[tuple[str, Mapping[str, Cell]]]
    ) -> AbstractContextManager[None]:
        unknown = [each for each in statements if self._known(*_question(*each)) is None]
        return self._graph.read_ahead(unknown)

    def _known(self, question: tuple[str, str], most: int) -> Result | None:
        known = self._remembered.get(question)
        if known is None or not (known.is_whole or most <= len(known.result.rows)):
            return None
        return Result(known.result.columns, known.result.rows[:most])

    @property
    def location(self) -> str:
        return self._graph.location

    @property
    def versions(self) -> Mapping[str, str]:
        return self._graph.versions

    def find_browser_page(self) -> str | None:
        return self._graph.find_browser_page()

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        return self._graph.stored_runs(names)

    def load(self) -> AbstractContextManager[Load]:
        return self._graph.load()

    def read(self, compilation: str) -> "CompilationRows":
        return self._graph.read(compilation)

    def close(self) -> None:
        self._graph.close()


def _question(text: str, parameters: Mapping[str, Cell]) -> tuple[tuple[str, str], int]:
    """Return a statement with its parameters but a limit, and the rows that this allows."""
    given = dict(parameters)
    limit = given.pop("limit", None) if _LIMITED.fullmatch(text) else None
    most = limit if isinstance(limit, int) else sys.maxsize
    return (text, repr(sorted(given.items()))), most
