"""Tasks of child processes: each prepares, measures one thing, prints JSON.

python -m benchmarks.tasks TASK ARGUMENT…
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xlagraph.runtime.imports import block_imports

ANSWER: dict[str, Any] = {}


@contextmanager
def timed() -> Iterator[None]:
    """Record the seconds of a block as the answer of this task."""
    start = time.perf_counter()
    yield
    ANSWER["seconds"] = time.perf_counter() - start


def ingest(graph: str, folder: str) -> None:
    """Ingest a folder into a graph; the graph file need not exist."""
    from xlagraph.graph import open_graph
    from xlagraph.ingest import ingest as load

    with timed(), open_graph(graph, create=True) as opened:
        summary = load(opened, Path(folder))
    if not summary.added:
        raise SystemExit(f"nothing was added: {summary.problems[:3]}")
    ANSWER.update(
        compilations=len(summary.added),
        values=summary.values,
        rows=summary.nodes + summary.relationships,
    )


def record(graph: str, folder: str, rows: str) -> None:
    """Ingest, and save the new rows as Parquet files for the reference."""
    from benchmarks.references.recording import ParquetSink, RecordingTarget
    from xlagraph.graph import open_graph
    from xlagraph.ingest import ingest as load

    Path(rows).mkdir()
    beneath = open_graph(graph, create=True)
    sink = ParquetSink(Path(rows), beneath)
    with timed(), beneath:
        load(RecordingTarget(beneath, sink), Path(folder))
        sink.close()


def copy_rows(database: str, rows: str) -> None:
    """Copy recorded rows into a new database."""
    from benchmarks.references.embedded import copy_into_new_database

    with timed():
        copy_into_new_database(Path(database), Path(rows))


def add_rows(database: str, rows: str) -> None:
    """Add recorded rows to a database."""
    from benchmarks.references.embedded import add_to_database

    with timed():
        ANSWER["checkpoint_seconds"] = add_to_database(Path(database), Path(rows))


def export(folder: str, target: str) -> None:
    """Export a folder for Neo4j's offline importer."""
    from xlagraph.graph import open_export
    from xlagraph.ingest import ingest as load

    with timed(), open_export(target) as opened:
        load(opened, Path(folder))
    ANSWER["rows"] = opened.manifest.nodes + opened.manifest.relationships


def prepare(folder: str) -> None:
    """Prepare a folder's dumps in this process, rows in memory; measure processor time."""
    from xlagraph.ingest import find_dumps
    from xlagraph.ingest import ingest as load
    from xlagraph.ingest.options import IngestOptions

    dumps = find_dumps(Path(folder)).dumps
    load(
        None, Path(folder), IngestOptions(dry_run=True), jobs=1
    )  # imports, patterns, caches of both
    start = time.process_time()
    load(None, Path(folder), IngestOptions(dry_run=True), jobs=1)
    ANSWER.update(
        seconds=time.process_time() - start,
        compilations=len(dumps),
        bytes=sum(dump.size_bytes for dump in dumps),
    )


def count_lines(*paths: str) -> None:
    """Count the lines of dumps."""
    from benchmarks.references.embedded import count_lines as count

    with timed():
        ANSWER["lines"] = count(map(Path, paths))


def parse(*paths: str) -> None:
    """Read and parse the files of one dump."""
    from xlagraph.ingest import DumpPart, parse_plan

    with timed():
        texts = [DumpPart.decoded(path, Path(path).read_bytes()) for path in paths]
        plan = parse_plan(texts)
    ANSWER["values"] = len(plan.values)


def parse_and_derive(*paths: str) -> None:
    """Read, parse and derive: ranges, peaks, slot succession, alias sets."""
    from xlagraph.ingest import DumpPart, parse_plan
    from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
    from xlagraph.ingest.measures.peaks import peaks
    from xlagraph.ingest.measures.succession import alias_positions, succession, takeovers
    from xlagraph.runtime.memory import collector_paused

    with timed(), collector_paused(has_many=True):  # like where dumps are prepared
        texts = [DumpPart.decoded(path, Path(path).read_bytes()) for path in paths]
        plan = parse_plan(texts)
        spans = value_spans(plan)
        residents = residents_of_allocations(plan, spans)
        taken = takeovers(residents)
        peaks(plan, spans, residents, taken)
        alias_positions(plan, spans, succession(spans, taken))
    ANSWER["values"] = len(plan.values)


def neo4j_reference(uri: str, folder: str) -> None:
    """Write a folder's rows into an empty Neo4j, parameters ready in memory."""
    from benchmarks.references import neo4j as reference
    from benchmarks.references.recording import RecordingTarget
    from xlagraph.graph import open_graph
    from xlagraph.ingest import ingest as load

    prepared = reference.Prepared()
    with (
        tempfile.TemporaryDirectory() as own,
        open_graph(Path(own) / "recorded.lbug", create=True) as graph,
    ):
        load(RecordingTarget(graph, prepared.add), Path(folder))
    with reference.connected(uri) as (driver, database):
        reference.make_constraints(driver, database)
        with timed():
            reference.send(driver, database, prepared)


def neo4j_empty(uri: str) -> None:
    """Delete all nodes of a database."""
    from benchmarks.references import neo4j as reference

    with timed(), reference.connected(uri) as (driver, database):
        reference.empty(driver, database)


def neo4j_indexes(uri: str, wanted: str) -> None:
    """Create or drop the lookup indexes; constraints stay."""
    from benchmarks.references import neo4j as reference

    with timed(), reference.connected(uri) as (driver, database):
        (reference.make_indexes if wanted == "made" else reference.drop_indexes)(driver, database)


def neo4j_nodes(uri: str) -> None:
    """Count the nodes of a database."""
    from benchmarks.references import neo4j as reference

    with timed(), reference.connected(uri) as (driver, database):
        records = driver.execute_query("MATCH (n) RETURN count(*)", database_=database).records
    ANSWER["nodes"] = records[0][0]


def queries(graph: str, repeats: str) -> None:
    """Measure every canned query on a graph; one call before the first is not counted."""
    from benchmarks.query_times import query_times
    from xlagraph.graph import open_graph

    with timed(), open_graph(graph) as opened:
        ANSWER["queries"] = query_times(opened, int(repeats))


def replan(graph: str, schedule: str) -> None:
    """Replan the only compilation of a graph, in another order if one is named."""
    from xlagraph.graph import open_graph
    from xlagraph.queries import Changes, whatif

    with open_graph(graph) as opened, timed():
        whatif(opened, changes=Changes(schedule=schedule or None))


def order(graph: str) -> None:
    """Find what the order of the only compilation of a graph costs."""
    from xlagraph.graph import open_graph
    from xlagraph.planner.edits.order_cost import order_cost

    with open_graph(graph) as opened, timed():
        order_cost(opened)


def write_fleet(dumps: str, target: str, compilations: str) -> None:
    """Write an export of this many compilations."""
    from benchmarks.fleet import write_fleet as write

    with timed():
        ANSWER["rows"] = sum(write(Path(dumps), Path(target), int(compilations)).values())


def fleet_queries(graph: str, repeats: str) -> None:
    """Measure the queries over many compilations; one call before the first is not counted."""
    from benchmarks.query_times import fleet_times
    from xlagraph.graph import open_graph

    with timed(), open_graph(graph) as opened:
        ANSWER["queries"] = fleet_times(opened, int(repeats))


TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task
    for task in (
        *(ingest, record, copy_rows, add_rows, export, prepare),
        *(count_lines, parse, parse_and_derive),
        *(neo4j_reference, neo4j_empty, neo4j_indexes, neo4j_nodes, queries),
        *(replan, order, write_fleet, fleet_queries),
    )
}


def main(name: str, *arguments: str) -> None:
    """Run a task and print its answer."""
    block_imports()  # as the command does
    TASKS[name](*arguments)
    own, below = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    unit = 1 if sys.platform == "darwin" else 1024
    ANSWER["peak_bytes"] = max(own, below) * unit
    print(json.dumps(ANSWER))


if __name__ == "__main__":
    main(*sys.argv[1:])
