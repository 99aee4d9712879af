# ruff: noqa: D102  the protocols in engine.py document the methods
"""The Neo4j engine: a server, reached over Bolt.

`graph_error` turns driver errors into GraphError. `load` does the writing.
"""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Unpack

import neo4j
from neo4j.exceptions import (
    AuthError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.graph import Node, Path, Relationship

from xlagraph.graph import row_cells
from xlagraph.graph.engine import Cell, Graph, Load, QueryLimits, Result, StoredRun
from xlagraph.graph.errors import (
    GraphUnreachable,
    QueryFailed,
    check_version,
)
from xlagraph.graph.neo4j.browser import page_of_settings
from xlagraph.graph.neo4j.connections import (
    Outcome,
    ServerDatabase,
    StoredBookmarks,
    call_uninterrupted,
)
from xlagraph.graph.neo4j.driver_errors import (
    TESTED_FROM,
    encryption_error,
    graph_error,
    login_error,
)
from xlagraph.graph.read_back import read_compilation, read_stored_runs
from xlagraph.graph.read_only import bounded_rows, check_statement, given_parameters
from xlagraph.graph.row_tables import CompilationRows
from xlagraph.graph.schema import VERSION
from xlagraph.graph.statement_files import load_statement

# Our errors replace the driver's log messages. To read them, set a handler.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

_STORED_SCHEMA_VERSIONS: Final = load_statement(__file__, "stored-schema-versions")
_BROWSER_SETTINGS: Final = load_statement(__file__, "browser-settings")

_OLDEST_ACCEPTED: Final = (5, 23)
"""Older servers do not know ``CALL (a, b) { … }``, which every load is made of."""

# Procedures that only read names in the graph. Others can access disk and network.
PROCEDURES: Final = frozenset(
    {
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)

# A query does not wait for a server to restart; a load does.
_QUERY_RETRY_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.2


def open_location(
    location: str,
    *,
    create: bool,
    wait: bool,
    ask_password: Callable[[str], str | None] | None,
    notify: Callable[[str], None],
) -> "Neo4jGraph":
    """Connect to a server by its URI; one attempt for each password, so no account is locked.

    User, password and database are those of the environment; see `open_graph`.
    """
    del create, wait  # a server is neither created nor locked
    user = os.environ.get("NEO4J_USERNAME") or "neo4j"
    password = os.environ.get("NEO4J_PASSWORD")
    try:
        driver = call_uninterrupted(lambda: _connected(location, user, password))
    except AuthError as error:
        asked = None
        if password is None and ask_password is not None:
            asked = ask_password(user)
        if not asked:
            raise login_error(location, user, given=password is not None) from error
        try:
            driver = call_uninterrupted(lambda: _connected(location, user, asked))
        except AuthError as second:
            raise login_error(location, user, given=True) from second
    database = os.environ.get("NEO4J_DATABASE") or "neo4j"
    graph = Neo4jGraph(driver, location, database, notify)
    try:
        graph.check_server()
    except BaseException:
        graph.close()
        raise
    return graph


def _connected(uri: str, user: str, password: str | None) -> neo4j.Driver:
    driver: neo4j.Driver | None = None
    try:
        driver = neo4j.GraphDatabase.driver(
            uri,
            auth=None if password is None else (user, password),
            notifications_min_severity="OFF",
            connection_timeout=15.0,
            max_transaction_retry_time=_QUERY_RETRY_SECONDS,
        )
        _reconnecting(driver.verify_connectivity, was_connected=False)
    except AuthError:
        if driver is not None:
            driver.close()
        raise
    except (Neo4jError, DriverError, ValueError, OSError) as error:
        if driver is not None:
            driver.close()
        raise (encryption_error(error, uri) or graph_error(error, where=uri)) from error
    return driver


def _reconnecting(call: Callable[[], Outcome], *, was_connected: bool) -> Outcome:
    """Make a call, and repeat it for some seconds if the connection is lost.

    A server that was never reached is reported at once.
    """
    deadline = time.monotonic() + _QUERY_RETRY_SECONDS
    while True:
        try:
            return call()
        except (SessionExpired, ServiceUnavailable) as error:
            was_connected = was_connected or isinstance(error, SessionExpired)
            if not was_connected or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


class Neo4jGraph(Graph):
    """A graph in one database of a server."""

    def __init__(
        self, driver: neo4j.Driver, uri: str, database: str, notify: Callable[[str], None]
    ) -> None:
        self._driver = driver
        self._uri = uri
        self._stored_bookmarks = StoredBookmarks(uri, database)
        self._database = ServerDatabase(driver, database, self._stored_bookmarks.manager())
        self._notify = notify
        self._server = ""

    @property
    def location(self) -> str:
        name = self._database.name
        return self._uri if name == "neo4j" else f"{self._uri} {name}"

    @property
    def versions(self) -> Mapping[str, str]:
        return {"neo4j server": self._server, "neo4j driver": neo4j.__version__}

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        return read_stored_runs(self.query, names)

    def find_browser_page(self) -> str | None:
        try:
            found = call_uninterrupted(
                lambda: self._driver.execute_query(
                    _BROWSER_SETTINGS,
                    routing_=neo4j.RoutingControl.READ,
                    database_=self._database.name,
                    bookmark_manager_=self._database.bookmarks,
                )
            )
        except (Neo4jError, DriverError):  # the user may lack the right to read settings
            return None
        return page_of_settings(dict(record.values() for record in found.records), self._uri)

    def check_server(self) -> None:
        """Reject a server that is too old, or a graph with another schema version."""
        self._check_server_version()
        self._check_schema_version()

    def _check_server_version(self) -> None:
        with self._translated_errors():
            agent = call_uninterrupted(
                lambda: _reconnecting(self._driver.get_server_info, was_connected=True)
            ).agent
        self._server = agent.partition("/")[2]
        numbers = self._server.split(".")
        if all(number.isdigit() for number in numbers[:2]) and len(numbers) >= 2:
            version = (int(numbers[0]), int(numbers[1]))
            if version < _OLDEST_ACCEPTED:
                raise GraphUnreachable(
                    f"{self._uri} is Neo4j {self._server}; xlagraph needs {TESTED_FROM} or later"
                )

    def _check_schema_version(self) -> None:
        try:
            found = self.query(_STORED_SCHEMA_VERSIONS)
        except QueryFailed:
            # the database may have been replaced
            if not self._stored_bookmarks.forget():
                raise
            self._database = replace(self._database, bookmarks=self._stored_bookmarks.manager())
            found = self.query(_STORED_SCHEMA_VERSIONS)
        if any(isinstance(oldest, int) and oldest < VERSION for oldest, _ in found.rows):
            # a run that is deleted while it is read has no properties: read again
            found = self.query(_STORED_SCHEMA_VERSIONS)
        ((oldest, newest),) = found.rows
        other = newest if isinstance(newest, int) and newest > VERSION else oldest
        if isinstance(other, int):
            remedy = "ingest the dumps into an empty database"
            check_version(other, VERSION, where=f"the graph at {self._uri}", remedy=remedy)

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        **limits: Unpack[QueryLimits],
    ) -> Result:
        # the server is another process already
        statement = check_statement(text, procedures=PROCEDURES)
        given = given_parameters(statement, parameters or {})
        timeout_seconds = limits.get("timeout_seconds")
        most = limits.get("max_rows"), limits.get("max_bytes")
        with self._translated_errors(timeout_seconds):
            columns, rows = call_uninterrupted(
                lambda: self._driver.execute_query(
                    # the driver's type is a literal string; this text has passed the guard
                    neo4j.Query(text, timeout=timeout_seconds),
                    given,
                    routing_=neo4j.RoutingControl.READ,
                    database_=self._database.name,
                    bookmark_manager_=self._database.bookmarks,
                    result_transformer_=lambda found: (
                        tuple(found.keys()),
                        # read as a stream: the driver fetches 1,000 rows at a time
                        tuple(bounded_rows(map(_cells, found), *most)),
                    ),
                )
            )
        return Result(columns, rows)

    @contextmanager
    def load(self) -> Iterator[Load]:
        from xlagraph.graph.neo4j.load import loading

        with (
            self._translated_errors(writes=True),
            loading(self._database, self._notify) as load,
        ):
            yield load
        self._stored_bookmarks.store(self._database.bookmarks)

    def read(self, compilation: str) -> CompilationRows:
        return read_compilation(self.query, compilation)

    def close(self) -> None:
        self._driver.close()

    @contextmanager
    def _translated_errors(
        self, timeout_seconds: float | None = None, *, writes: bool = False
    ) -> Iterator[None]:
        try:
            yield
        except (Neo4jError, DriverError) as error:
            raise graph_error(
                error, where=self._uri, timeout_seconds=timeout_seconds, writes=writes
            ) from error
        except (ValueError, TypeError, OverflowError) as error:
            if writes:
                raise
            raise QueryFailed(f"a parameter does not fit: {error}") from error


def _cells(record: neo4j.Record) -> tuple[Cell, ...]:
    return tuple(map(_cell, record.values()))


def _cell(value: Any) -> Cell:  # noqa: ANN401  the driver's values have any type
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_cell(element) for element in value]
    if isinstance(value, Path):
        return _path(value)
    if isinstance(value, Node | Relationship):
        return _properties(value)
    if isinstance(value, Mapping):
        return {str(name): _cell(part) for name, part in value.items()}
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if hasattr(value, "iso_format"):
        return str(value.iso_format())
    # the driver puts an object of its own where it could not convert a value in a list or map
    raise QueryFailed(
        "a value cannot be represented, such as a date outside the years 1 to 9999:"
        " convert it with toString(…)"
    )


def _path(path: Path) -> row_cells.Path:
    by_id = {
        node.element_id: row_cells.Node(next(iter(node.labels), ""), _properties(node))
        for node in path.nodes
    }
    relationships = []
    for relationship in path.relationships:
        # in a path both ends are known
        source, target = (by_id[node.element_id] for node in relationship.nodes if node is not None)
        relationships.append(
            row_cells.Relationship(
                relationship.type, _properties(relationship), source=source, target=target
            )
        )
    return row_cells.Path([by_id[node.element_id] for node in path.nodes], relationships)


def _properties(element: Node | Relationship) -> dict[str, Cell]:
    return {name: _cell(value) for name, value in element.items()}
