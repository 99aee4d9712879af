"""What can go wrong with a graph.

GraphError
├── GraphUnreachable     no server there, password refused, connection lost
├── GraphMissing         no file, or a file that is no graph
├── GraphTooNew          written by a newer version of the schema
├── GraphBusy            somebody else is writing
├── QueryRefused         the statement would write, or reach beyond the graph
└── QueryFailed          the engine refused the statement, or ran out of time
"""


class GraphError(Exception):
    """Something is wrong with a graph; the message says what, and what to do."""


class GraphUnreachable(GraphError):
    """No server there, a password refused, a connection lost."""


class GraphMissing(GraphError):
    """No file there, or a file that is no graph."""


class GraphTooNew(GraphError):
    """Written by a newer version of the schema."""


class GraphBusy(GraphError):
    """Somebody else is writing."""


class QueryRefused(GraphError):
    """The statement would write, or reach beyond the graph."""


class QueryFailed(GraphError):
    """The engine refused the statement, or ran out of time."""
