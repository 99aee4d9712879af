"""Rows about Neo4j: whole ingest against the fastest driver load known."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import Measured, in_child
from settings import Settings
from table import Row, ratio_row, shown_row, skipped_row

TESTS = Path(__file__).resolve().parents[1] / "tests"
PAGE_CACHE = "server.memory.pagecache.size"


class NoServer(Exception):
    """No Neo4j can be had here; the message says why."""


def rows(settings: Settings) -> Iterator[Row]:
    """Measure on a warm server, the reference and the ingest in turn."""
    what = f"ingest into Neo4j, {settings.server_values:,} values"
    try:
        with neo4j_server(settings) as uri:
            yield from _ingest(settings, uri, what)
    except NoServer as reason:
        yield skipped_row(what, str(reason))
    yield skipped_row("export for neo4j-admin + offline importer", "xlagraph has no export yet")


@contextmanager
def neo4j_server(settings: Settings) -> Iterator[str]:
    """Give the URI of an empty server: what NEO4J_URI names, else one of our own."""
    if uri := os.environ.get("NEO4J_URI"):
        if in_child("neo4j_nodes", uri).answer["nodes"]:
            raise NoServer(f"the database at {uri} is not empty: name another one")
        yield uri
        return
    sys.path.insert(0, str(TESTS))
    try:
        from graph_fixtures import NoNeo4j, own_server
    except ImportError as error:
        raise NoServer(f"the recipe of the tests is not here: {error}") from error
    try:
        with own_server(settings.work / "neo4j") as (server, _):
            yield server.uri
    except NoNeo4j as reason:
        raise NoServer(str(reason)) from reason


def _ingest(settings: Settings, uri: str, what: str) -> Iterator[Row]:
    folder = settings.training_folder(settings.server_values, values_each=1000)
    warm = settings.training_folder(20_000, values_each=1000)
    for task in ("neo4j_reference", "ingest"):
        in_child(task, uri, warm)
        in_child("neo4j_empty", uri)
    references: list[Measured] = []
    ingests: list[Measured] = []
    for _ in range(settings.repeats):
        for task, found in (("neo4j_reference", references), ("ingest", ingests)):
            found.append(in_child(task, uri, folder))
            in_child("neo4j_empty", uri)
    reference, seconds = (
        sorted(item.seconds for item in found)[len(found) // 2] for found in (references, ingests)
    )
    yield ratio_row(what, seconds, "parameter tree, two sessions, ready in memory", reference, 1.3)
    count = ingests[0].answer["rows"]
    yield shown_row(
        "ingest into Neo4j", f"{count / seconds:,.0f} rows/s",
        f"{count:,} rows; reference {count / reference:,.0f} rows/s",
    )  # fmt: skip
