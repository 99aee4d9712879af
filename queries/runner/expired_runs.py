"""Runs that are old enough to be removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.runner.compilations import list_runs
from xlagraph.queries.runner.name_checks import check_names

_RUNS_OF_MODULE: Final = load_statement(__file__, "runs-of-module")


@dataclass(frozen=True, slots=True)
class Retention:
    """Rules that keep runs. A run is kept if either rule keeps it.

    Runs without all of the tags, or without a compilation of the module, are ignored.
    """

    older_than: timedelta | None = None
    """Keep runs that were ingested within this time."""
    keep_last: int | None = None
    """Number of runs to keep, the latest first; runs of one second are ordered by name."""
    tags: Sequence[str] = ()
    """Tags that a run must have, each ``name=value``."""
    module: str | None = None


@dataclass(frozen=True, slots=True)
class ExpiredRun:
    """A run that no rule keeps."""

    name: str
    ingested_at: datetime
    compilations: int


def expired_runs(
    graph: Graph, retention: Retention, now: datetime | None = None
) -> tuple[ExpiredRun, ...]:
    """Return the runs that a retention does not keep, the oldest first.

    Raise NoSuchName if there is no such module, ValueError if the retention has no rule.
    """
    if retention.older_than is None and retention.keep_last is None:
        raise ValueError("a retention needs older_than or keep_last")
    newest_first = sorted(
        _counted_runs(graph, retention), key=lambda run: (run.ingested_at, run.name), reverse=True
    )
    expired = newest_first[retention.keep_last or 0 :]
    if retention.older_than is not None:
        limit = (now or datetime.now(UTC)) - retention.older_than
        expired = [run for run in expired if run.ingested_at < limit]
    return tuple(reversed(expired))


def _counted_runs(graph: Graph, retention: Retention) -> list[ExpiredRun]:
    """Return the runs that match the tags and the module and have a complete compilation."""
    of_module = None if retention.module is None else _runs_of_module(graph, retention.module)
    return [
        ExpiredRun(
            str(row["run"]),
            datetime.fromisoformat(str(row["ingestedAt"])),
            int(str(row["compilations"])),
        )
        for row in list_runs(graph)
        if row["compilations"]
        and set(retention.tags) <= _tags(row["tags"])
        and (of_module is None or row["run"] in of_module)
    ]


def _runs_of_module(graph: Graph, module: str) -> set[Cell]:
    check_names(graph, {"module": module})
    return {row[0] for row in graph.query(_RUNS_OF_MODULE, {"module": module}).rows}


def _tags(cell: Cell) -> set[str]:
    return {str(tag) for tag in cell} if isinstance(cell, list) else set()
