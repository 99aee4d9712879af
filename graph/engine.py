"""What a graph can do, in the words of the task; each engine is one module behind it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from xlagraph.graph.rows import CompilationRows

Scalar = str | int | float | bool | None
Cell = Scalar | Sequence["Cell"] | Mapping[str, "Cell"]
"""What a row holds: nodes and relationships come as mappings of their properties."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query, in order; each row has one cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def mappings(self) -> list[dict[str, Cell]]:
        """Give each row as a mapping from column to cell."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Load(Protocol):
    """Compilations on their way into a graph. Leaving the context makes them visible."""

    def write(self, rows: CompilationRows) -> None:
        """Take one compilation; one of the same key is replaced."""

    def remove(self, compilation: str) -> None:
        """Take a compilation out, with all its parts."""


class Graph(Protocol):
    """An open graph."""

    @property
    def location(self) -> str:
        """File or URI, without credentials; what commands show on stderr."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Engine and its version, driver and its version."""

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> Result:
        """Run one reading statement.

        Raises `QueryRefused` if it would write or reach beyond the graph, `QueryFailed`
        if the engine refuses it, `GraphUnreachable` if the engine is gone.
        """

    def load(self) -> AbstractContextManager[Load]:
        """Begin to write. An exception inside leaves what was complete before."""

    def read(self, compilation: str) -> CompilationRows:
        """Give the rows of a complete compilation back; KeyError if there is none."""

    def tag(self, run: str, tags: Sequence[str]) -> None:
        """Set the tags of a run, each ``name=value``."""

    def close(self) -> None:
        """Let go of the engine."""
