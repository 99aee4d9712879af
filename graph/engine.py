"""The interface of a graph; each engine implements it in one package."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypedDict, Unpack

from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]  # has no types of its own
    import polars

    from xlagraph.graph.row_files import RowFiles
    from xlagraph.graph.row_tables import CompilationRows

Scalar = str | int | float | bool | None
Cell = Scalar | Sequence["Cell"] | Mapping[str, "Cell"]
"""A cell's type: a plain value, or a node or relationship as a mapping of its properties."""


@dataclass(frozen=True, slots=True, repr=False)
class Result(Outlined):
    """Rows of a query, in order; each row has one cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.mappings())

    def outline(self) -> Outline:
        """Return the rows as a table."""
        return Outline("", [OutlineTable(self.columns, self.rows)])

    def mappings(self) -> list[dict[str, Cell]]:
        """Return each row as a mapping from column to cell; so does iterating."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the rows as a pandas frame; raise ImportError if it is missing."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame.from_records(list(self.rows), columns=list(self.columns))

    def to_polars(self) -> "polars.DataFrame":
        """Return the rows as a polars frame; raise ImportError if it is missing."""
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars needs polars: pip install polars") from error
        return polars.DataFrame(
            list(self.rows), schema=list(self.columns), orient="row", infer_schema_length=None
        )


class Tabular(Outlined):
    """What is written as one table."""

    __slots__ = ()

    def _result(self) -> Result:
        raise NotImplementedError

    def to_pandas(self) -> "pandas.DataFrame":
        """Return all rows as a pandas frame; raise ImportError if it is missing."""
        return self._result().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """Return all rows as a polars frame; raise ImportError if it is missing."""
        return self._result().to_polars()


@dataclass(frozen=True, slots=True)
class CompilationDigest:
    """The facts of a stored compilation that a new dump is compared with."""

    path: str
    """The folder that it was ingested from."""
    sha256: str
    total_bytes: int | None
    """The total that XLA printed."""
    allocation_bytes: int
    detail: str
    """The detail in which it is stored."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with its complete compilations."""

    path: str
    """The first folder that was ingested into it."""
    tags: tuple[str, ...] = ()
    """Tags of the form ``name=value``."""
    snapshots: tuple[str, ...] = ()
    """Snapshots of its devices of the form ``name=JSON``."""
    compilations: Mapping[str, CompilationDigest] = field(default_factory=dict)
    """Compilations by key."""

    @property
    def folders(self) -> frozenset[str]:
        """Return the paths of all folders that were ingested into the run."""
        return frozenset((self.path, *(stored.path for stored in self.compilations.values())))


class Load(Protocol):
    """A load of compilations into a graph; they become visible when its context ends.

    `LadybugLoad` writes a graph file, `Neo4jLoad` writes to a server, `ExportLoad` to import files.
    """

    @property
    def row_folder(self) -> Path | None:
        """Folder for files passed to `write_files`, deleted with the load; None for any folder."""
        return None

    def expect_rows(self) -> None:
        """Prepare to receive rows that will certainly follow; it may be called again."""
        return

    def watch(self, report: Callable[[float], None]) -> None:
        """Call ``report`` with the share written so far, 0 to 1, while a call or the end waits.

        The waiting thread calls it.
        """
        del report

    def write(self, rows: "CompilationRows") -> None:
        """Write compilations, each at most once in a load.

        A stored compilation of the same key is replaced, unless digest and folder are equal.
        """

    def write_files(self, files: "RowFiles") -> None:
        """Write compilations from files as `write` does; the load owns the files afterwards."""
        rows = files.read()
        files.delete()
        self.write(rows)

    def remove(self, compilation: str) -> None:
        """Remove a compilation, with all its parts and what nothing else uses.

        A run is removed with its last compilation. An unknown key changes nothing. On a
        server, what was written before is complete before this begins.
        """

    def tag(self, run: str, tags: Sequence[str]) -> None:
        """Set a run's tags, each ``name=value``. Nothing happens if there is no run."""

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        """Set a run's snapshots, each ``name=JSON``. Nothing happens if there is no run."""


class WrittenKeys:
    """The keys written in a load: no key is written twice, or removed after it was written."""

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
        """Raise ValueError if the load has written the compilation to be removed."""
        if compilation in self._keys:
            raise ValueError(f"{compilation} is removed after it was written")


class LoadTarget(Protocol):
    """A destination of compilations: a graph, or files that become one."""

    @property
    def location(self) -> str:
        """File, folder or URI, without credentials; what commands show on stderr."""

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        """Return the stored runs of these names, by name; unknown names are left out."""

    def load(self) -> AbstractContextManager[Load]:
        """Begin a load; queries inside its context see the newest state.

        In a file, an exception inside changes nothing; on a server, what was removed or
        completed before it stays so, and what is incomplete is removed. Raises `GraphBusy` if
        another process is writing and the graph was opened without waiting.
        """


class QueryLimits(TypedDict, total=False):
    """Limits of a statement, and where it runs; each may be left out."""

    timeout_seconds: float | None
    max_rows: int | None
    max_bytes: int | None
    in_process: bool
    """True to let an engine that runs inside this process use a separate one, so that a statement
    that ends the engine or takes all memory raises QueryFailed. Rows are not limited there."""


class Graph(LoadTarget, Protocol):
    """An open graph; a context manager that closes it."""

    def __repr__(self) -> str:
        return f"<graph {self.location}>"

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of the engine and its driver, by name."""

    def find_browser_page(self) -> str | None:
        """Return the address of the page where users run statements; None if unknown."""
        return None

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        **limits: Unpack[QueryLimits],
    ) -> Result:
        """Run one reading statement; parameters that it does not name are left out.

        Raises `QueryRefused` if it would write, reach beyond the graph, or is nested too deep,
        `QueryFailed` if the engine rejects it or it returns more or takes longer than allowed,
        `GraphUnreachable` if the engine is gone.
        """

    def read_ahead(
        self, statements: Iterable[tuple[str, Mapping[str, Cell]]]
    ) -> AbstractContextManager[None]:
        """Begin with statements and their parameters, which the block will query.

        An engine inside this process runs them while the block computes. Those that the block
        does not query are dropped at its end.
        """
        del statements
        return nullcontext()

    def read(self, compilation: str) -> "CompilationRows":
        """Return the rows of a complete compilation; NameUnknown if there is none."""

    def close(self) -> None:
        """Release the engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
