"""Exit codes of the command, and the code of each error class."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command; scripts rely on these."""

    DONE = 0
    FAILED = 1
    """Part of the input, or the query, failed."""
    USAGE = 2
    NO_GRAPH = 3
    """The server is not reachable, the password is wrong, or the file is missing or not a graph."""
    GATE = 4
    """A limit that the user set is exceeded."""
    INTERRUPTED = 130


class UsageError(Exception):
    """An invalid command line; the message says how to correct it."""


def exit_code_of(error: Exception) -> ExitCode | None:
    """Return the exit code for an error; None for a bug in xlagraph."""
    from xlagraph.graph import errors as graph
    from xlagraph.hlo.descriptor_sets import ProtobufMissing
    from xlagraph.ingest import errors as ingest
    from xlagraph.planner.solving import SolverMissing
    from xlagraph.queries import errors as queries

    codes: tuple[tuple[type[Exception], ExitCode], ...] = (
        (UsageError, ExitCode.USAGE),
        (ingest.FlagsUnusable, ExitCode.USAGE),
        (ingest.VersionUnknown, ExitCode.FAILED),
        (ingest.NotInstallable, ExitCode.FAILED),
        (ingest.ExtraMissing, ExitCode.USAGE),
        (ProtobufMissing, ExitCode.USAGE),
        (SolverMissing, ExitCode.USAGE),
        (queries.UnknownQuery, ExitCode.USAGE),
        (queries.BadParameter, ExitCode.USAGE),
        (queries.QueryError, ExitCode.FAILED),
        (graph.QueryRefused, ExitCode.FAILED),
        (graph.QueryFailed, ExitCode.FAILED),
        (graph.GraphUnwritable, ExitCode.FAILED),
        (graph.NameUnknown, ExitCode.FAILED),
        (graph.NameInvalid, ExitCode.USAGE),
        (graph.NameTaken, ExitCode.FAILED),
        (graph.GraphError, ExitCode.NO_GRAPH),
        (OSError, ExitCode.FAILED),
        (UnicodeError, ExitCode.FAILED),
        (MemoryError, ExitCode.FAILED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)
