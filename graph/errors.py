"""Errors of graphs.

GraphError
├── GraphUnreachable     the server is not reachable, or rejects the password
├── GraphMissing         no file, or a file that is not a graph
├── WrongSchema          written by another version of the schema
│   └── GraphTooNew      … by a newer one
├── GraphBusy            another process is writing
├── GraphUnwritable      disk full, read-only, or the engine lost rows
│   └── RowsUnwritten    … before the engine received them
├── NameUnknown          no run or compilation of that name
├── NameTaken            a run of that name is there already
├── NameInvalid          a text that cannot name a run
├── QueryRefused         the statement would write, or reach beyond the graph
└── QueryFailed          rejected by the engine, without a parameter, or beyond a limit
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class GraphError(Exception):
    """An error of a graph; the message says what is wrong and what to do."""


class GraphUnreachable(GraphError):
    """The server cannot be reached, rejects the password, or the connection is lost."""


class GraphMissing(GraphError):
    """The file does not exist, or is not a graph."""


class WrongSchema(GraphError):
    """The graph was written with another version of the schema."""


class GraphTooNew(WrongSchema):
    """The graph was written with a newer version of the schema."""


class GraphBusy(GraphError):
    """Another process is writing to the graph."""


class GraphUnwritable(GraphError):
    """Writing failed; the graph is unchanged."""


class RowsUnwritten(GraphUnwritable):
    """Rows could not be written to their files."""

    def __init__(self, folder: Path, reason: str) -> None:
        # both are arguments, so that the error can be sent to another process
        super().__init__(folder, reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"rows could not be written below {self.args[0]}: {self.reason}"


class NameUnknown(GraphError):
    """No run or compilation has that name."""


class NameTaken(GraphError):
    """A run of that name exists already."""


class NameInvalid(GraphError):
    """The text cannot be a run's name."""


class QueryRefused(GraphError):
    """The statement would write, or reach beyond the graph."""


class QueryFailed(GraphError):
    """The engine rejected the statement, a parameter is missing, or a limit is exceeded."""


def check_version(stored: int, current: int, *, where: str, remedy: str) -> None:
    """Raise GraphTooNew or WrongSchema unless a graph has the current version of the schema."""
    versions = f"(schema {stored}, here {current})"
    if stored > current:
        raise GraphTooNew(f"{where} was written by a newer xlagraph {versions}: upgrade xlagraph")
    if stored < current:
        raise WrongSchema(f"{where} was written by an older xlagraph {versions}: {remedy}")


@contextmanager
def raise_unwritable(path: Path, consequence: str = "") -> Iterator[None]:
    """Turn an OSError into GraphUnwritable; ``consequence`` follows the path in its message."""
    try:
        yield
    except OSError as error:
        raise GraphUnwritable(
            f"{path} could not be written{consequence}: {error.strerror or error}"
        ) from error
