"""Every canned query gives the same rows on both engines, over real dumps, with a good plan."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import neo4j
import pytest

from tests.graph_fixtures import empty
from tests.neo4j_server.server import Neo4jServer
from tests.queries.suitable_parameters import suitable_parameters
from xlagraph.graph import Cell, Graph, Result, open_graph
from xlagraph.graph.schema import SCHEMA
from xlagraph.ingest import ingest
from xlagraph.queries import Query, load_catalogue, picture_of
from xlagraph.queries.runner.missing_facts import missing_facts

CATALOGUE = load_catalogue()
PAIR = ("baseline", "batch2x")

LARGEST_OF_EACH_RUN = """
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
RETURN r.name AS run, c.key AS compilation, c.valueCount AS values
ORDER BY run, values DESC, compilation
"""
BUSIEST_VALUE = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
RETURN v.label AS value ORDER BY v.aliasPosition DESC, v.sizeBytes DESC, value LIMIT 1
"""
MOST_COMMON_OP = """
MATCH (o:Op)<-[:FROM_OP]-(i:Instruction)
RETURN o.name AS opName, count(i) AS instructions ORDER BY instructions DESC, opName LIMIT 1
"""


class Engines(NamedTuple):
    embedded: Graph
    server: Graph
    uri: Neo4jServer


@pytest.fixture(scope="module")
def engines(
    neo4j_server: Neo4jServer, largest_dumps: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    """The same real dumps on both engines, of every sixth run.

    The rows for all of them are tested on one engine, in `test_query_answers`.
    """
    with pytest.MonkeyPatch.context() as environment:
        for name, value in neo4j_server.environment().items():
            environment.setenv(name, value)
        empty(neo4j_server)
        folder = tmp_path_factory.mktemp("graph")
        file, dumps = folder / "real.lbug", folder / "dumps"
        runs = sorted(run.name for run in largest_dumps.iterdir())
        for run in {*runs[::6], "odd", *PAIR}:
            shutil.copytree(largest_dumps / run, dumps / run)
        with open_graph(file, create=True) as embedded, open_graph(neo4j_server.uri) as server:
            for graph in (embedded, server):
                ingest(graph, dumps, jobs=1)
            yield Engines(embedded, server, neo4j_server)
        empty(neo4j_server)


@pytest.fixture(scope="module")
def asked(engines: Engines) -> list[dict[str, Cell]]:
    """Parameters for every query: the compilation with the most values of each run."""
    rows = engines.embedded.query(LARGEST_OF_EACH_RUN).mappings()
    largest = {row["run"]: row["compilation"] for row in reversed(rows)}
    (op,) = engines.embedded.query(MOST_COMMON_OP).mappings()
    asked: list[dict[str, Cell]] = []
    for compilation in largest.values():
        value = engines.embedded.query(BUSIEST_VALUE, {"compilation": compilation}).rows[0][0]
        asked.append(
            {
                "compilation": compilation,
                "value": value,
                "allocation": 0,
                "opName": op["opName"],
                "runA": PAIR[0],
                "runB": PAIR[1],
                "limit": 100_000,
            }
        )
    return asked


def drawn(result: Result) -> tuple[list[str], list[str]]:
    """Return the nodes and edges of a picture; the engine chooses the order of equal rows."""
    picture = picture_of(result)
    # The only difference is the ingest's time.
    nodes = [(node.label, sorted({**node, "ingestedAt": ""}.items())) for node in picture.nodes]
    edges = [
        (edge.type, edge.source.key, edge.target.key, sorted(edge.items()))
        for edge in picture.edges
    ]
    return sorted(map(str, nodes)), sorted(map(str, edges))


def comparable(row: dict[str, Cell]) -> dict[str, Cell]:
    """Remove the ingest's time, and the order in which an engine collects a list."""
    return {
        name: sorted(map(str, cell)) if isinstance(cell, list) else cell
        for name, cell in row.items()
        if name != "ingestedAt"
    }


@pytest.mark.parametrize("query", CATALOGUE.values(), ids=lambda query: query.id)
def test_rows_are_the_same_on_both_engines(
    engines: Engines, asked: list[dict[str, Cell]], query: Query
):
    seen: list[dict[str, Any]] = []
    for everything in asked:
        parameters = suitable_parameters(query, everything)
        if parameters not in seen:
            seen.append(parameters)
            embedded = engines.embedded.query(query.text, parameters)
            server = engines.server.query(query.text, parameters)
            assert embedded.columns == server.columns
            if query.kind == "graph":
                assert drawn(embedded) == drawn(server), parameters
                continue
            for ours, theirs in zip(embedded.mappings(), server.mappings(), strict=True):
                ours, theirs = comparable(ours), comparable(theirs)
                assert ours == theirs, parameters
            assert missing_facts(engines.embedded, query, parameters, embedded) == missing_facts(
                engines.server, query, parameters, server
            )


@pytest.fixture(scope="module")
def session(engines: Engines) -> Iterator[neo4j.Session]:
    """A session of the driver on that server."""
    database = engines.uri.database or "neo4j"
    with engines.uri.driver() as driver, driver.session(database=database) as session:
        for kind, name in names_of_the_schema():  # no dump here has all of them
            session.run(f"CALL db.create{kind}($name)", name=name).consume()
        yield session


def names_of_the_schema() -> Iterator[tuple[str, str]]:
    """Yield each label, relationship type and property, with the kind of name that it is."""
    for node in SCHEMA.nodes:
        yield "Label", node.label
        yield from (("Property", each.name) for each in node.properties)
    for relationship in SCHEMA.relationships:
        yield "RelationshipType", relationship.name
        yield from (("Property", each.name) for each in relationship.properties)


@pytest.mark.parametrize("query", CATALOGUE.values(), ids=lambda query: query.id)
def test_the_plan_knows_every_name_and_does_not_scan_all_nodes(
    session: neo4j.Session, asked: list[dict[str, Cell]], query: Query
):
    text = neo4j.Query(f"EXPLAIN {query.text}")
    summary = session.run(text, suitable_parameters(query, asked[0])).consume()
    notified = [
        (status.gql_status, status.status_description)
        for status in summary.gql_status_objects
        if status.is_notification
    ]
    assert notified == []
    assert "AllNodesScan" not in str(summary.plan)
