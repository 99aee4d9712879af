"""Importing exports with Neo4j's importer makes the same graph as an ingest."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import neo4j
import pytest

from tests.faults.harness.graph_states import all_rows
from tests.graph_fixtures import StartServer, skipped_without_neo4j
from tests.neo4j_server.server import neo4j_admin
from tests.tiny_dumps import dump, write_dump
from xlagraph.graph import SCHEMA, Graph, merge_exports, open_export, open_graph, remove
from xlagraph.graph.row_tables import CompilationRows
from xlagraph.ingest import IngestOptions, IngestSummary, Shard, ingest

TREE = Path(__file__).resolve().parents[3]
TAGS = ("commit=3f2a1c", 'note=a;b, "c" \\', "empty=")

ODD_RUN = 'a "run", of; ünicode'
# as it stands in a dump, where names are escaped as in C
ODD_OPS = (
    r"jit(f)/\"quoted\", 'single'/\n\r\t/back\\slash\\/\303\251 `x`/ ; | \\N NULL",
    r"jit(f)/\\\"",
    "jit(f)/,/;/ ",
    r"\342\200\250/\360\237\222\251",
    r"{\"a\": 1}/x",
)


class Engines(NamedTuple):
    embedded: Graph
    server: Graph
    uri: str
    export: Path
    next_ingest: IngestSummary
    """The ingest of the two example runs into the server, after they were imported."""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two example runs, and a run of dumps with text that is hard to quote."""
    folder = tmp_path_factory.mktemp("dumps")
    for run in ("baseline", "remat"):
        shutil.copytree(TREE / "examples" / "runs" / run, folder / "runs" / run)
    odd = folder / "odd" / ODD_RUN
    for number, op in enumerate(ODD_OPS):
        write_dump(odd, number, "jit_f", dump(256, op=op))
    long = dump(128).replace(
        "calls=%fused,", f'calls=%fused, backend_config="{"x" * 1_000_000}",', 1
    )
    write_dump(odd, 90, "jit_long", long)
    return folder


@pytest.fixture(scope="module")
def engines(
    dumps: Path, tmp_path_factory: pytest.TempPathFactory, start_server: StartServer
) -> Iterator[Engines]:
    """The same dumps ingested into a file, and imported into a Neo4j from three exports."""
    folder = tmp_path_factory.mktemp("imported")
    with skipped_without_neo4j():
        program = neo4j_admin(folder / "home")
    with open_graph(folder / "ingested.lbug", create=True) as embedded:
        assert ingest(embedded, dumps / "runs", jobs=1).ok
        assert ingest(embedded, dumps / "odd", IngestOptions(tags=TAGS), jobs=1).ok
        exports = [folder / "shard 1", folder / "shard 2", folder / "odd"]
        for number, path in enumerate(exports[:2], 1):
            with open_export(path) as target:
                assert ingest(
                    target, dumps / "runs", IngestOptions(shard=Shard(number, 2)), jobs=1
                ).ok
        with open_export(exports[2]) as target:
            assert ingest(target, dumps / "odd", IngestOptions(tags=TAGS), jobs=1).ok
        merge_exports(folder / "all", exports)
        imported = subprocess.run(
            ["sh", folder / "all" / "import.sh"],
            env={"PATH": "/usr/bin:/bin", "NEO4J_ADMIN": str(program)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert imported.returncode == 0, imported.stdout[-3000:] + imported.stderr[-3000:]
        with (
            start_server(folder / "home") as server,
            open_graph(server.uri) as graph,
        ):
            # makes the constraints by which tests look up keys
            next_ingest = ingest(graph, dumps / "runs", jobs=1)
            yield Engines(embedded, graph, server.uri, folder / "all", next_ingest)


def facts_of(rows: CompilationRows) -> dict[str, list[str]]:
    """Spell all rows of a compilation, without what says when it was ingested."""
    spelt = {}
    for label, table in rows.nodes.items():
        nodes = table.to_pylist()
        for node in nodes:
            node.pop("ingestedAt", None)
            for name in (
                "tags",
                "snapshots",
                "derived",
            ):  # the importer cannot express an empty list
                if name in node:
                    node[name] = node[name] or None
        spelt[label] = sorted(map(repr, nodes))
    for name, table in rows.relationships.items():
        spelt[name] = sorted(map(repr, table.to_pylist()))
    return spelt


def compilations(graph: Graph) -> list[str]:
    rows = graph.query("MATCH (c:Compilation) RETURN c.key AS key ORDER BY key").rows
    return [str(row[0]) for row in rows]


def test_an_ingest_goes_on_where_the_import_ended(engines: Engines, tmp_path: Path):
    summary = engines.next_ingest
    assert (summary.added, summary.updated) == ((), ())
    assert len(summary.unchanged) == 4
    ops = engines.server.query("MATCH (o:Op) RETURN count(o) AS ops").rows
    write_dump(tmp_path / "later", 1, "jit_f", dump(256, op=ODD_OPS[0]))
    assert ingest(engines.server, tmp_path / "later", jobs=1).ok
    assert engines.server.query("MATCH (o:Op) RETURN count(o) AS ops").rows == ops
    with neo4j.GraphDatabase.driver(engines.uri) as driver:
        indexes = driver.execute_query("SHOW INDEXES YIELD name, state RETURN name, state")
    states = {row["name"]: row["state"] for row in indexes.records}
    for node in SCHEMA.nodes:
        assert states[f"xlagraph_{node.label}_key"] == "ONLINE"
    remove(engines.server, "later")


def test_the_import_and_the_ingest_have_the_same_rows(engines: Engines):
    """Every node and relationship, none of them doubled."""
    imported, ingested = all_rows(engines.server), all_rows(engines.embedded)
    for name, rows in ingested.items():
        assert imported[name] == rows, name


def test_compilations_read_back_the_same(engines: Engines):
    keys = compilations(engines.embedded)
    assert compilations(engines.server) == keys
    for key in [keys[0], *(key for key in keys if key.startswith(ODD_RUN))]:
        assert facts_of(engines.server.read(key)) == facts_of(engines.embedded.read(key))


def test_unusual_text_is_unchanged(engines: Engines):
    ops = [str(row[0]) for row in engines.server.query("MATCH (o:Op) RETURN o.name AS name").rows]
    assert "jit(f)/\"quoted\", 'single'/\n\r\t/back\\slash\\/é `x`/ ; | \\N NULL" in ops
    assert {'jit(f)/\\"', "jit(f)/,/;/ ", "\u2028/💩", '{"a": 1}/x'} < set(ops)
    tags = engines.server.query("MATCH (r:Run) WHERE size(r.tags) > 0 RETURN r.name, r.tags").rows
    assert tags == ((ODD_RUN, list(TAGS)),)


def test_the_constraints_beside_the_command_are_those_of_an_ingest(engines: Engines):
    statements = (engines.export / "constraints.cypher").read_text().split(";\n")
    with neo4j.GraphDatabase.driver(engines.uri) as driver:
        made = [
            driver.execute_query(statement).summary.counters
            for statement in statements
            if statement
        ]
    assert len(made) > len(SCHEMA.nodes)
    assert not any(counters.constraints_added or counters.indexes_added for counters in made)
