"""What can go wrong with a graph.

GraphError
├── GraphUnreachable     no server there, password refused, connection lost
├── GraphMissing         no file, or a file that is not a graph
├── WrongSchema          written by another version of the schema
│   └── GraphTooNew      … by a newer one
├── GraphBusy            somebody else is writing
├── GraphUnwritable      disk full, read-only, or the engine lost rows
│   └── RowsUnwritten    … before they came to the engine
├── NameUnknown          no run or compilation of that name
├── NameTaken            a run of that name is there already
├── NameInvalid          a text that cannot name a run
├── QueryRefused         the statement would write, or reach beyond the graph
└── QueryFailed          refused by the engine, without a parameter, or beyond a limit
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class GraphError(Exception):
    """Something is wrong with a graph; the message says what, and what to do."""


class GraphUnreachable(GraphError):
    """No server there, a password refused, a connection lost."""


class GraphMissing(GraphError):
    """No file there, or a file that is not a graph."""


class WrongSchema(GraphError):
    """Written by another version of the schema."""


class GraphTooNew(WrongSchema):
    """Written by a newer version of the schema."""


class GraphBusy(GraphError):
    """Somebody else is writing."""


class GraphUnwritable(GraphError):
    """What was written did not arrive; the graph is as it was before."""


class RowsUnwritten(GraphUnwritable):
    """Rows did not get into their files."""

    def __init__(self, folder: Path, reason: str) -> None:
        # both are the arguments: a process that makes rows sends the error to another
        super().__init__(folder, reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"rows could not be written below {self.args[0]}: {self.reason}"


class NameUnknown(GraphError):
    """No run or compilation of that name."""


class NameTaken(GraphError):
    """A run of that name is there already."""


class NameInvalid(GraphError):
    """A text that cannot name a run."""


class QueryRefused(GraphError):
    """The statement would write, or reach beyond the graph."""


class QueryFailed(GraphError):
    """The engine refused the statement, a parameter is missing, or a limit is passed."""


@contextmanager
def raise_unwritable(path: Path, consequence: str = "") -> Iterator[None]:
    """Turn an OSError into GraphUnwritable; ``consequence`` follows the path in its message."""
    try:
        yield
    except OSError as error:
        raise GraphUnwritable(
            f"{path} could not be written{consequence}: {error.strerror or error}"
        ) from error
