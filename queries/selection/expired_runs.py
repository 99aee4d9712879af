"""Runs that are old enough to be removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.selection.compilations import list_runs
from xlagraph.queries.selection.name_checks import check_names

__all__ = ["ExpiredRun", "Retention", "expired_runs"]

_RUNS_OF_MODULE: Final = load_statement(__file__, "runs-of-module")


@dataclass(frozen=True, slots=True)
class Retention:
    """Rules that keep runs. A run that either rule keeps is kept.

    Runs without all of the tags, or without a compilation of the module, do not count at all.
    """

    older_than: timedelta | None = None
    """Keep the runs that were ingested within this time."""
    keep_last: int | None = None
    """Keep so many runs, those ingested last; of one second, the last by name."""
    tags: Sequence[str] = ()
    """Each ``name=value``."""
    module: str | None = None


@dataclass(frozen=True, slots=True)
class ExpiredRun:
    """A run that is not kept."""

    name: str
    ingested_at: datetime
    compilations: int


def expired_runs(
    graph: Graph, retention: Retention, now: datetime | None = None
) -> tuple[ExpiredRun, ...]:
    """Return the runs that a retention does not keep, the oldest first.

    Raises NoSuchName if there is no such module; ValueError if it has no rule.
    """
    if retention.older_than is None and retention.keep_last is None:
        raise ValueError("a retention has an age or a number of runs")
    newest_first = sorted(
        _counted_runs(graph, retention), key=lambda run: (run.ingested_at, run.name), reverse=True
    )
    expired = newest_first[retention.keep_last or 0 :]
    if retention.older_than is not None:
        limit = (now or datetime.now(UTC)) - retention.older_than
        expired = [run for run in expired if run.ingested_at < limit]
    return tuple(reversed(expired))


def _counted_runs(graph: Graph, retention: Retention) -> list[ExpiredRun]:
    """Return the runs that count; those of which no compilation is complete do not."""
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
