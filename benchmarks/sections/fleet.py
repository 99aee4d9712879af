"""Rows about a fleet: queries over many compilations on Neo4j, and their cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from benchmarks.measure import growth_exponent, in_child
from benchmarks.sections.neo4j import NoServer, import_seconds, recipe
from benchmarks.settings import Settings
from benchmarks.table import Row, limit_row, shown_row, skipped_row

GOAL_SECONDS = 1.0
_PAGE_CACHE = {"server.memory.pagecache.size": "3g"}


def rows(settings: Settings) -> Iterator[Row]:
    """Measure the queries over all compilations at three sizes; list all that are too slow."""
    try:
        with recipe() as found:
            yield from _rows(settings, found)
    except NoServer as reason:
        yield skipped_row("queries over a fleet", str(reason))


def _rows(settings: Settings, found: ModuleType) -> Iterator[Row]:
    sizes = settings.fleet_compilations
    seconds: dict[str, list[float]] = {}
    for size in sizes:
        home, files = settings.fresh("fleet"), settings.fresh("fleet-files")
        written = in_child("write_fleet", _dumps(settings), files, size)
        imported = import_seconds(files, found.neo4j_admin(home))
        with _server(found, home, files) as uri:
            answer = in_child("fleet_queries", uri, settings.repeats).answer["queries"]
            store = home / "data" / "databases" / "neo4j"
            stored_bytes = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        yield shown_row(
            f"{size:,} compilations with their peaks",
            f"{stored_bytes / 2**20:,.0f} MiB",
            f"{written.answer['rows']:,} rows; importer {imported:.0f} s",
        )
        for query in answer:
            seconds.setdefault(query["id"], []).append(query["seconds"])
    slowest = sorted(seconds, key=lambda query: -seconds[query][-1])
    for index, query in enumerate(slowest):
        if index == 0 or seconds[query][-1] > GOAL_SECONDS:
            yield limit_row(
                f"{'slowest: ' if index == 0 else ''}{query}, {sizes[-1]:,} compilations",
                seconds[query][-1],
                GOAL_SECONDS,
            )
    for query in slowest:
        yield shown_row(
            f"{query}: growth",
            f"compilations ** {growth_exponent(sizes, seconds[query]):.2f}",
            " ".join(
                f"{size:,}:{each * 1000:.0f}"
                for size, each in zip(sizes, seconds[query], strict=True)
            )
            + " ms",
        )


@contextmanager
def _server(found: ModuleType, home: Path, files: Path) -> Iterator[str]:
    """Start a server on the imported graph, with the constraints and indexes of the schema."""
    with found.own_server(home, _PAGE_CACHE) as (server, _):
        for statement in (files / "constraints.cypher").read_text().split(";"):
            if statement.strip():
                server.execute(statement)
        server.execute("CALL db.awaitIndexes(3600)")
        yield server.uri


def _dumps(settings: Settings) -> Path:
    """Return the folder of real runs that are copied, by default the examples."""
    return settings.dumps("runs") or Path(__file__).resolve().parents[2] / "examples" / "runs"
