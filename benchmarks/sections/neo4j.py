"""Rows about Neo4j: whole ingest and export, compared with the fastest known ways to load it."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType

from benchmarks.measure import Measured, in_child, median_run
from benchmarks.settings import Settings
from benchmarks.table import Row, ratio_row, shown_row, skipped_row

TREE = Path(__file__).resolve().parents[2]


class NoServer(Exception):
    """No Neo4j is available here; the message says why."""


class ImportFailed(Exception):
    """An error of the offline importer; the message is its last line."""


def rows(settings: Settings) -> Iterator[Row]:
    """Measure the ingest into a warm server, the cost of its indexes, and export with import."""
    for measured, what in (
        (_ingest, f"ingest into Neo4j, {settings.server_values:,} values"),
        (_indexes, f"indexes of an ingest into Neo4j, {settings.server_values:,} values"),
        (_export, f"export + offline importer, {settings.import_values:,} values"),
    ):
        try:
            yield from measured(settings, what)
        except NoServer as reason:
            yield skipped_row(what, str(reason))


@contextmanager
def neo4j_server(settings: Settings) -> Iterator[str]:
    """Return the URI of an empty server: NEO4J_URI, or else a new local one."""
    if uri := os.environ.get("NEO4J_URI"):
        if in_child("neo4j_nodes", uri).answer["nodes"]:
            raise NoServer(f"the database at {uri} is not empty: name another one")
        try:
            yield uri
        finally:
            in_child("neo4j_empty", uri)
        return
    with recipe() as found, found.own_server(settings.fresh("neo4j")) as server:
        yield server.uri


@contextmanager
def recipe() -> Iterator[ModuleType]:
    """Return the test module that starts Neo4j; NoServer if it cannot."""
    try:
        from tests.neo4j_server import artifacts, server
    except ImportError as error:
        raise NoServer(f"the recipe of the tests is not here: {error}") from error
    try:
        yield server
    except artifacts.NoNeo4j as reason:
        raise NoServer(str(reason)) from reason


def _ingest(settings: Settings, what: str) -> Iterator[Row]:
    folder = settings.training_folder(settings.server_values, values_each=1000)
    warm = settings.training_folder(20_000, values_each=1000)
    runs: dict[str, list[Measured]] = {"neo4j_reference": [], "ingest": []}
    with neo4j_server(settings) as uri:
        for task in runs:
            in_child(task, uri, warm)
            in_child("neo4j_empty", uri)
        for _ in range(settings.repeats):
            for task, found in runs.items():
                found.append(in_child(task, uri, folder))
                in_child("neo4j_empty", uri)
    reference, ingest = map(median_run, runs.values())
    count = ingest.answer["rows"]
    yield ratio_row(
        what, ingest.seconds,
        "parameter tree, two sessions, ready in memory", reference.seconds, 1.3,
    )  # fmt: skip
    yield shown_row(
        what, f"{count / ingest.seconds:,.0f} rows/s",
        f"{count:,} rows; reference {count / reference.seconds:,.0f} rows/s",
    )  # fmt: skip


def _indexes(settings: Settings, what: str) -> Iterator[Row]:
    """Compare ingests with and without the lookup indexes, in turns."""
    folder = settings.training_folder(settings.server_values, values_each=1000)
    runs: dict[str, list[Measured]] = {"dropped": [], "made": []}
    with neo4j_server(settings) as uri:
        in_child("ingest", uri, folder)  # the server is warm, and has its constraints
        in_child("neo4j_empty", uri)
        for _ in range(settings.repeats):
            for wanted, found in runs.items():
                in_child("neo4j_indexes", uri, wanted)
                found.append(in_child("ingest", uri, folder))
                in_child("neo4j_empty", uri)
    without, ingest = map(median_run, runs.values())
    yield ratio_row(what, ingest.seconds, "the same without them", without.seconds, 1.1)


def _export(settings: Settings, what: str) -> Iterator[Row]:
    folder = settings.training_folder(settings.import_values)
    with recipe() as found:
        program = found.neo4j_admin(settings.fresh("importing"))
    exports, imports = [], []
    for _ in range(settings.repeats):
        files = settings.fresh("exported")
        exports.append(in_child("export", folder, files))
        imports.append(import_seconds(files, program))
    export, alone = median_run(exports), median(imports)
    yield ratio_row(
        what, export.seconds + alone, "the importer alone", alone, 1.5,
        f"{export.answer['rows']:,} rows",
    )  # fmt: skip


def import_seconds(files: Path, program: Path) -> float:
    """Measure the command in an export, with the start of the importer."""
    start = time.perf_counter()
    ended = subprocess.run(
        ["sh", files / "import.sh", "--overwrite-destination"],
        env={**os.environ, "NEO4J_ADMIN": str(program), "NEO4J_DATABASE": "neo4j"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = time.perf_counter() - start
    if ended.returncode:
        *_, last = ended.stdout.strip().split("\n")
        failure = ImportFailed(f"exit code {ended.returncode}: {last}")
        failure.add_note(ended.stdout)
        raise failure
    return seconds
