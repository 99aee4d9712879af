# ruff: noqa: D102  the protocols in engine.py document the methods
"""The embedded engine: a Cypher database in this process, in one file.

A load never touches the file that readers have open: see `load`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import ladybug

from xlagraph.graph.engine import Cell, Graph, Load, QueryLimits, Result, StoredRun
from xlagraph.graph.errors import (
    GraphBusy,
    GraphError,
    GraphMissing,
    QueryFailed,
    QueryRefused,
    check_version,
)
from xlagraph.graph.ladybug.database import (
    NO_ADDRESSES,
    create_tables,
    open_database,
    schema_version,
)
from xlagraph.graph.ladybug.list_kinds import check_lists
from xlagraph.graph.ladybug.lock import check_folder
from xlagraph.graph.ladybug.map_order import with_ordered_maps
from xlagraph.graph.ladybug.other_meanings import check_meanings, checked_patterns
from xlagraph.graph.ladybug.reading_ahead import ReadingAhead
from xlagraph.graph.ladybug.result_rows import Table, check_counts, read_table
from xlagraph.graph.ladybug.statement_process import query_in_process
from xlagraph.graph.read_only import (
    check_statement,
    given_parameters,
)
from xlagraph.graph.schema import VERSION

if TYPE_CHECKING:
    from xlagraph.graph.row_tables import CompilationRows

_KIND: Final = re.compile(r"[A-Z]\w+(?: \w+)? exception: ")
"""The beginning of the engine's messages for people."""
_SENTENCES: Final = {
    r"Parser exception: Invalid input <(.*)>: expected rule .*? \(line: (\d+), offset: \d+\)(.*)": (
        r"the statement cannot be read after `\1` (line \2)\3"
    ),
    r"Parser exception: (.*)": r"the statement cannot be read: \1",
    r"Binder exception: Table (.*) does not exist\.": (
        r"the graph has no label or relationship type \1"
    ),
    r"Binder exception: Cannot find property (.*) for (.*)\.": r"\2 has no property \1",
    r"Binder exception: Variable (.*) is not in scope\.": r"no variable is called \1 here",
    r"Binder exception: Cannot match a built-in function for given function (.*?)\. Supported.*": (
        r"\1 does not exist: the types do not fit"
    ),
    r"Binder exception: Function (.*) did not receive correct arg.*?Actual: *(.*?)\s+Exp.*": (
        r"the function \1 does not take \2"
    ),
    r"Catalog exception: function (.*) does not exist\.": (
        r"the embedded engine has no function \1"
    ),
}
"""The engine's messages that need other words, as patterns, and the sentences for them."""
_MOST_CHARACTERS: Final = 2_000
"""Longest message; the engine quotes the whole statement."""


def open_location(
    location: str,
    *,
    create: bool,
    wait: bool,
    ask_password: Callable[[str], str | None] | None,
    notify: Callable[[str], None],
) -> "LadybugGraph":
    """Open a file by its path; see `open_graph`."""
    del ask_password
    try:
        path = Path(location).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # circular link, no home folder, no current folder
        raise GraphMissing(f"{location} does not exist: {error}") from error
    return LadybugGraph(path, create=create, wait=wait, notify=notify)


class _MemoryFull(QueryFailed):
    """The engine has no memory left for a statement."""


class LadybugGraph(Graph):
    """A graph file, opened read-only; after a load the next query reopens it."""

    def __init__(
        self, path: Path, *, create: bool, wait: bool, notify: Callable[[str], None]
    ) -> None:
        self._path = path
        self._create = create
        self._wait = wait
        self._notify = notify
        self._database: ladybug.Database | None = None
        self._connection: ladybug.Connection | None = None
        self._ahead: ReadingAhead | None = None
        if not create and not path.exists():
            raise GraphMissing(f"no graph at {path}; `xlagraph ingest` makes one")
        if create:
            check_folder(path)
        if path.exists():
            self._connect()

    @property
    def location(self) -> str:
        return str(self._path)

    @property
    def versions(self) -> Mapping[str, str]:
        return {"ladybug": str(ladybug.__version__)}

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        from xlagraph.graph.read_back import read_stored_runs

        # a file that does not exist yet has no runs
        return read_stored_runs(self.query, names) if self._path.exists() else {}

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        **limits: Unpack[QueryLimits],
    ) -> Result:
        statement = check_statement(text, procedures=None)
        given = given_parameters(statement, parameters or {})
        if limits.get("in_process") and self._path.exists():
            timeout_seconds = limits.get("timeout_seconds")
            return query_in_process(_open_to_read, self._path, text, given, timeout_seconds)
        asked, given = _prepared(text, given)
        for pattern, test, its_parameters in checked_patterns(text, given):
            if self._run(test, its_parameters)[1] != ((True,),):
                raise QueryFailed(
                    f"the embedded engine cannot read the pattern '{pattern}': it knows the syntax"
                    " of RE2, without lookarounds and references"
                )
        is_fresh = self._connection is None
        try:
            columns, rows = self._run(asked, given, **limits)
        except _MemoryFull:
            # the engine keeps memory of earlier statements until the file is closed
            if is_fresh or not self._path.exists():
                raise
            self.close()
            columns, rows = self._run(asked, given, **limits)
        if "COUNT" in statement.words:
            check_counts(rows)
        return Result(columns, rows)

    @contextmanager
    def read_ahead(self, statements: Iterable[tuple[str, Mapping[str, Cell]]]) -> Iterator[None]:
        self._connect()
        if self._ahead is None and self._database is not None:
            self._ahead = ReadingAhead(self._database)
        ahead = self._ahead
        begun = ahead.begin(_allowed(statements)) if ahead is not None else []
        try:
            yield
        finally:
            if ahead is not None:
                ahead.forget(begun)

    def _run(self, text: str, given: dict[str, Cell], **limits: Unpack[QueryLimits]) -> Table:
        """Run a statement that was checked; return its columns and rows."""
        connection = self._connect()
        ahead = self._ahead if not limits else None
        if ahead is not None and (table := ahead.take(text, given)) is not None:
            return table
        timeout_seconds = limits.get("timeout_seconds")
        try:
            connection.set_query_timeout(int(1000 * (timeout_seconds or 0)))
            return read_table(connection, text, given, **limits)
        except (RuntimeError, ValueError, TypeError) as error:
            raise query_error(error, timeout_seconds) from error

    @contextmanager
    def load(self) -> Iterator[Load]:
        # pyarrow takes 0.1 s to import, and a query needs none of it
        from xlagraph.graph.ladybug.load import loading
        from xlagraph.graph.ladybug.lock import write_lock

        with write_lock(self._path, wait=self._wait, notify=self._notify):
            # another process may have replaced the file during the wait
            self.close()
            if self._path.exists():
                self._connect()
            elif not self._create:
                raise GraphMissing(f"no graph at {self._path}; `xlagraph ingest` makes one")
            with loading(self._path, query=self.query, release=self.close) as load:
                yield load

    def read(self, compilation: str) -> "CompilationRows":
        from xlagraph.graph.read_back import read_compilation

        return read_compilation(self.query, compilation)

    def close(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.close()
        connection, self._connection = self._connection, None
        database, self._database = self._database, None
        if connection is not None:
            connection.close()
        if database is not None:
            database.close()

    def _connect(self) -> ladybug.Connection:
        if self._connection is None:
            if self._path.exists():
                self._database, self._connection = _open_file(self._path)
            else:
                # nothing is written yet: queries use an empty graph in memory
                self._database = open_database(Path(":memory:"))
                self._connection = ladybug.Connection(self._database)
                create_tables(self._connection)
        return self._connection


def _allowed(
    statements: Iterable[tuple[str, Mapping[str, Cell]]],
) -> Iterator[tuple[str, dict[str, Cell]]]:
    """Yield the statements as the engine gets them, without those that `query` refuses."""
    for text, parameters in statements:
        with suppress(GraphError):
            statement = check_statement(text, procedures=None)
            yield _prepared(text, given_parameters(statement, parameters))


def _prepared(text: str, given: dict[str, Cell]) -> tuple[str, dict[str, Cell]]:
    check_meanings(text, given)
    check_lists(given)
    return with_ordered_maps(text, given)


def _open_to_read(path: Path) -> LadybugGraph:
    return LadybugGraph(path, create=False, wait=False, notify=lambda _: None)


def _open_file(path: Path) -> "tuple[ladybug.Database, ladybug.Connection]":
    if not path.is_file() or path.stat().st_size == 0:
        raise GraphMissing(f"{path} is not a graph; name another file")
    try:
        database = open_database(path, read_only=True)
        connection = ladybug.Connection(database)
    except RuntimeError as error:
        raise _opening_error(path, _first_line(error)) from error
    try:
        version = schema_version(connection)
        if version is None:
            raise GraphMissing(f"{path} is a database without an xlagraph graph")
        remedy = "ingest the dumps into a new file"
        check_version(version, VERSION, where=str(path), remedy=remedy)
    except GraphError:
        connection.close()
        database.close()
        raise
    return database, connection


def _opening_error(path: Path, text: str) -> GraphError:
    """Return the GraphError for a file that the engine cannot open."""
    if "set lock" in text:
        return GraphBusy(f"{path} is being written by a program other than xlagraph")
    if "retry later" in text:
        return GraphMissing(
            f"{path} is damaged, or partly written by another program:"
            " take a copy of it from before, or ingest the dumps into a new file"
        )
    if "Permission denied" in text:
        return GraphMissing(f"{path} cannot be read: Permission denied")
    if "Mmap" in text:
        return GraphMissing(f"{path} cannot be opened: {NO_ADDRESSES}")
    if "not a valid" in text:
        return GraphMissing(f"{path} is not a graph; name another file")
    return GraphMissing(f"{path} is not a graph: {_KIND.sub('', text)}")


def query_error(error: Exception, timeout_seconds: float | None) -> GraphError:
    """Return the GraphError for an engine error, which is nearly always a RuntimeError."""
    text = str(error)
    if isinstance(error, UnicodeDecodeError):
        return QueryFailed("a string in the answer is not UTF-8")
    if "a vector with ANY type" in text:
        return QueryFailed(
            "a value does not fit: it has no type, such as that of max(null); the"
            " values of a list must be of one type, and the list not empty"
        )
    if isinstance(error, ValueError | TypeError) or "Python" in text:
        return QueryFailed(
            f"a parameter does not fit: {_first_line(error)}; the values of a list must be of one"
            " type, and the list not empty"
        )
    if "write operations in a read-only" in text:
        return QueryRefused("a statement only reads the graph; this one would write")
    if text.startswith("Interrupted"):
        return QueryFailed(f"the statement took longer than {timeout_seconds:g} s")
    if "Buffer manager exception" in text or "bad_alloc" in text:
        return _MemoryFull("the statement needs more memory than the engine may take")
    if text.endswith(("Order by NODE is not supported.", "Order by REL is not supported.")):
        return QueryFailed(
            "a column is sorted by a node: give it a name that no variable of the statement has"
        )
    if not _KIND.match(text):
        return QueryFailed(
            f"the embedded engine cannot run this statement ({_first_line(error)[:80]}): write it"
            " in another way"
        )
    sentence = _sentence(text)
    return QueryFailed(
        sentence if len(sentence) <= _MOST_CHARACTERS else sentence[:_MOST_CHARACTERS] + " …"
    )


def _sentence(text: str) -> str:
    """Return a message of the engine in words that people know."""
    for known, sentence in _SENTENCES.items():
        if found := re.fullmatch(known, text, re.DOTALL):
            return found.expand(sentence)
    return _KIND.sub("", text).rstrip()


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
