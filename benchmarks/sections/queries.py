"""Rows about canned queries: each one over a large graph, on both engines."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.measure import in_child
from benchmarks.sections.embedded import graph_of
from benchmarks.sections.neo4j import NoServer, neo4j_server
from benchmarks.settings import Settings
from benchmarks.table import Row, broken_row, limit_row, shown_row, skipped_row

ONE_COMPILATION_SECONDS = 1.0
WHOLE_GRAPH_SECONDS = 5.0
MEDIAN_SECONDS = {"embedded": 0.050, "Neo4j": 0.150}


def rows(settings: Settings) -> Iterator[Row]:
    """Measure every query of the catalogue; the slowest of each kind and all that are too slow."""
    values = settings.folder_values[-1]
    graph = graph_of(settings, values)
    answer = in_child("queries", graph, settings.repeats).answer
    yield from _judged("embedded", f"{values:,} values", answer["queries"])
    try:
        with neo4j_server(settings) as uri:
            in_child("ingest", uri, settings.training_folder(values))
            answer = in_child("queries", uri, settings.repeats).answer
        yield from _judged("Neo4j", f"{values:,} values", answer["queries"])
    except NoServer as reason:
        yield skipped_row("canned queries on Neo4j", str(reason))


def _judged(engine: str, size: str, queries: list[dict[str, Any]]) -> Iterator[Row]:
    timed = [query for query in queries if "seconds" in query]
    for query in queries:
        if "seconds" not in query:
            yield broken_row(f"{query['id']}, {engine}", query["broken"])
    middle = median(query["seconds"] for query in timed)
    yield limit_row(
        f"median of {len(timed)} queries, {engine}, {size}", middle, MEDIAN_SECONDS[engine]
    )
    for is_of_one, limit in ((True, ONE_COMPILATION_SECONDS), (False, WHOLE_GRAPH_SECONDS)):
        kind = "of one compilation" if is_of_one else "over the whole graph"
        found = sorted(
            (query for query in timed if query["of_one"] is is_of_one),
            key=lambda query: -float(query["seconds"]),
        )
        for index, query in enumerate(found):
            if index == 0 or query["seconds"] > limit:
                yield limit_row(
                    f"{'slowest, ' if index == 0 else ''}{kind}: {query['id']}, {engine}",
                    query["seconds"], limit, f"{query['rows']} rows",
                )  # fmt: skip
        yield shown_row(
            f"all {len(found)} {kind}, {engine}",
            " ".join(f"{query['id']}:{query['seconds'] * 1000:.0f}" for query in found),
            "ms each",
        )
