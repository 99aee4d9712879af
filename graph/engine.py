"""What a graph can do, in the words of the task; each engine is one package behind it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]  # has no types of its own
    import polars

    from xlagraph.graph.rows.row_files import RowFiles
    from xlagraph.graph.rows.tables import CompilationRows

Scalar = str | int | float | bool | None
Cell = Scalar | Sequence["Cell"] | Mapping[str, "Cell"]
"""What a row holds: nodes and relationships come as mappings of their properties."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query, in order; each row has one cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.mappings())

    def _repr_html_(self) -> str:
        from xlagraph.presentation.html_tables import html_table

        return html_table(self.columns, self.rows)

    def mappings(self) -> list[dict[str, Cell]]:
        """Return each row as a mapping from column to cell; so does iterating."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the rows as a pandas frame; ImportError with the remedy without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame.from_records(list(self.rows), columns=list(self.columns))

    def to_polars(self) -> "polars.DataFrame":
        """Return the rows as a polars frame; ImportError with the remedy without polars."""
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars needs polars: pip install polars") from error
        return polars.DataFrame(
            list(self.rows), schema=list(self.columns), orient="row", infer_schema_length=None
        )


@dataclass(frozen=True, slots=True)
class CompilationDigest:
    """A complete compilation, as far as another dump is compared with it."""

    path: str
    """Folder that it was ingested from."""
    sha256: str
    total_bytes: int | None
    """As XLA printed it."""
    allocation_bytes: int
    detail: str
    """How much of it is stored."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with its complete compilations."""

    path: str
    """Folder that it was ingested from; the first of those that joined it."""
    tags: tuple[str, ...] = ()
    """Each ``name=value``."""
    compilations: Mapping[str, CompilationDigest] = field(default_factory=dict)
    """By key."""

    @property
    def folders(self) -> frozenset[str]:
        """Return the paths of all folders that it came from."""
        return frozenset((self.path, *(stored.path for stored in self.compilations.values())))


class Load(Protocol):
    """Compilations on their way into a graph. Leaving the context makes them visible.

    `LadybugLoad` writes a file, `Neo4jLoad` into a server, `ExportLoad` files to import.
    """

    @property
    def row_folder(self) -> Path | None:
        """Folder for files passed to `write_files`, deleted with the load; None if any will do."""

    def expect_rows(self) -> None:
        """Prepare to receive rows, which are certain to come; may be called again."""

    def watch(self, report: Callable[[float], None]) -> None:
        """Call ``report`` with the share written so far, 0 to 1, while a call or the end waits.

        It is called from the thread that waits; never, where all is written at the end.
        """

    def write(self, rows: "CompilationRows") -> None:
        """Write compilations, each at most once in a load.

        One of the same key is replaced, unless it has the same digest and folder: then it stays.
        """

    def write_files(self, files: "RowFiles") -> None:
        """Write compilations as `write` does; the files are the load's from now on."""

    def remove(self, compilation: str) -> None:
        """Remove a compilation, with all its parts and what nothing else uses.

        A run goes with its last compilation. Nothing happens if there is no such key. On a
        server, what was written before is complete before this begins.
        """

    def tag(self, run: str, tags: Sequence[str]) -> None:
        """Set the tags of a run, each ``name=value``. Nothing happens if there is no run."""


class WrittenKeys:
    """The compilations that a load was given: each once, and none is removed afterwards."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, compilations: Iterable[str]) -> None:
        """Add keys; ValueError if one of them was written already."""
        for key in compilations:
            if key in self._keys:
                raise ValueError(f"{key} is written twice in one load")
            self._keys.add(key)

    def check_removal(self, compilation: str) -> None:
        """Raise ValueError if a compilation that is to be removed was written."""
        if compilation in self._keys:
            raise ValueError(f"{compilation} is removed after it was written")


class LoadTarget(Protocol):
    """What takes compilations: a graph, or files that become one."""

    @property
    def location(self) -> str:
        """File, folder or URI, without credentials; what commands show on stderr."""

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        """Return what is held of these runs, by name; nothing of one that is not there."""

    def load(self) -> AbstractContextManager[Load]:
        """Begin to write; inside, queries see the newest state that others left.

        In a file, an exception inside changes nothing; on a server, what was removed or
        completed before it stays so, and what is incomplete is removed. Raises `GraphBusy` if
        somebody else is writing and the graph was opened without waiting.
        """


class Graph(LoadTarget, Protocol):
    """An open graph; a context manager that closes it."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Engine and its version, driver and its version."""

    def find_browser_page(self) -> str | None:
        """Return the address of the page on which people run statements; None if not known."""

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        *,
        timeout_seconds: float | None = None,
        max_rows: int | None = None,
        max_bytes: int | None = None,
    ) -> Result:
        """Run one reading statement; parameters that it does not name are left out.

        Raises `QueryRefused` if it would write, reach beyond the graph, or is nested too deep,
        `QueryFailed` if the engine refuses it or it returns more or takes longer than allowed,
        `GraphUnreachable` if the engine is gone.
        """

    def read(self, compilation: str) -> "CompilationRows":
        """Return the rows of a complete compilation; NameUnknown if there is none."""

    def close(self) -> None:
        """Release the engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
