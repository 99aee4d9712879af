"""What a command ends with, and which of our errors means what."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command; scripts rely on these."""

    DONE = 0
    FAILED = 1
    """Some input, or the query, failed."""
    USAGE = 2
    NO_GRAPH = 3
    """Server not reachable, password refused, file missing or no graph."""
    GATE = 4
    """A limit that the user set is exceeded."""
    INTERRUPTED = 130


class UsageError(Exception):
    """The command line cannot mean anything; the message says what to write."""


def exit_code_of(error: Exception) -> ExitCode | None:
    """Return the exit code for an error; None for a defect."""
    from xlagraph.graph import errors as graph
    from xlagraph.ingest.problems import errors as ingest
    from xlagraph.protos import errors as protos
    from xlagraph.queries import errors as queries

    codes: tuple[tuple[type[Exception], ExitCode], ...] = (
        (UsageError, ExitCode.USAGE),
        (ingest.FlagsUnusable, ExitCode.USAGE),
        (ingest.VersionUnknown, ExitCode.FAILED),
        (ingest.NotInstallable, ExitCode.FAILED),
        (ingest.ExtraMissing, ExitCode.USAGE),
        (protos.ProtobufMissing, ExitCode.USAGE),
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
