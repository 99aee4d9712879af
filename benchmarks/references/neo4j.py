"""The fastest known way to load Neo4j over a driver: the reference for the load of xlagraph.

One query makes a whole chunk: nodes first, collected into lists, then relationships that
find their ends in those lists by position, so that nothing is looked up by key. Shared
nodes are merged before, in transactions of their own; from the chunk they are matched by
key. All parameters are in memory before the clock starts; two sessions send them.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import neo4j

from benchmarks.references.recording import LINKS, SHARED
from xlagraph.graph import CompilationRows
from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import RelationshipType

OWN = tuple(node.label for node in SCHEMA.nodes if not node.is_shared)
CHUNK_ROWS = 10_000
SESSIONS = 2
INNER = tuple(relationship for relationship in SCHEMA.relationships if relationship not in LINKS)


@dataclass(slots=True)
class Chunk:
    """Parameters of one transaction: maps of nodes, lists of relationships."""

    nodes: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {n: [] for n in OWN})
    relationships: dict[str, list[list[Any]]] = field(
        default_factory=lambda: {relationship.name: [] for relationship in INNER}
    )

    def __len__(self) -> int:
        return sum(map(len, self.nodes.values())) + sum(map(len, self.relationships.values()))


@dataclass(slots=True)
class Prepared:
    """Everything that is sent."""

    shared: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=lambda: {label: {} for label in sorted(SHARED)}
    )
    links: dict[str, set[tuple[str, str]]] = field(
        default_factory=lambda: {relationship.name: set() for relationship in LINKS}
    )
    chunks: list[Chunk] = field(default_factory=lambda: [Chunk()])

    def add(self, rows: CompilationRows) -> None:
        """Add complete compilations to chunks."""
        for key in rows.origins:
            self._add_compilation(rows.of([key]))

    def _add_compilation(self, rows: CompilationRows) -> None:
        if len(self.chunks[-1]) >= CHUNK_ROWS:
            self.chunks.append(Chunk())
        chunk = self.chunks[-1]
        positions: dict[str, dict[Any, int]] = {}
        for label, table in rows.nodes.items():
            found = [
                {name: cell for name, cell in row.items() if cell is not None}
                for row in table.to_pylist()
            ]
            if label in SHARED:
                self.shared[label] |= {row["key"]: row for row in found}
            else:
                start = len(chunk.nodes[label])
                positions[label] = {row["key"]: start + at for at, row in enumerate(found)}
                chunk.nodes[label] += found
        for relationship in SCHEMA.relationships:
            table = rows.relationships[relationship.name]
            source, target, *rest = (column.to_pylist() for column in table.columns)
            if relationship in LINKS:
                self.links[relationship.name] |= {
                    (str(a), str(b)) for a, b in zip(source, target, strict=True)
                }
                continue
            ends = [
                [positions[label][key] for key in keys] if label in positions else keys
                for label, keys in ((relationship.source, source), (relationship.target, target))
            ]
            chunk.relationships[relationship.name] += map(list, zip(*ends, *rest, strict=True))


def send(driver: neo4j.Driver, database: str | None, prepared: Prepared) -> None:
    """Write everything into an empty database that has its constraints."""
    with driver.session(database=database) as session:
        for label, found in prepared.shared.items():
            text = f"UNWIND $rows AS r MERGE (n:{label} {{key: r.key}}) SET n = r"
            for rows in _batched([found[key] for key in sorted(found)]):
                session.run(text, rows=rows).consume()
        for relationship in LINKS:
            text = (
                f"UNWIND $rows AS r MATCH (a:{relationship.source} {{key: r[0]}}) "
                f"MATCH (b:{relationship.target} {{key: r[1]}}) "
                f"MERGE (a)-[:{relationship.name}]->(b)"
            )
            for rows in _batched(sorted(prepared.links[relationship.name])):
                session.run(text, rows=[list(row) for row in rows]).consume()
    waiting = iter(prepared.chunks)

    def work(_: int) -> None:
        with driver.session(database=database) as session:
            for chunk in waiting:  # next() of a list iterator is atomic
                session.execute_write(_send_chunk, chunk)

    with ThreadPoolExecutor(SESSIONS) as pool:
        list(pool.map(work, range(SESSIONS)))


def make_constraints(driver: neo4j.Driver, database: str | None) -> None:
    """Create the key constraints that do not exist."""
    for node in SCHEMA.nodes:
        driver.execute_query(
            f"CREATE CONSTRAINT {node.label}_key IF NOT EXISTS "
            f"FOR (n:{node.label}) REQUIRE n.key IS UNIQUE",
            database_=database,
        )


def make_indexes(driver: neo4j.Driver, database: str | None) -> None:
    """Create the indexes that a load makes in addition to its constraints."""
    for statement in (*schema_statements.indexes(), "CALL db.awaitIndexes(300)"):
        driver.execute_query(statement, database_=database)


def drop_indexes(driver: neo4j.Driver, database: str | None) -> None:
    """Drop the indexes that a load makes in addition to its constraints."""
    found = driver.execute_query(
        "SHOW INDEXES YIELD name, owningConstraint "
        "WHERE owningConstraint IS NULL AND name STARTS WITH 'xlagraph_' RETURN name",
        database_=database,
    )
    for record in found.records:
        driver.execute_query(schema_statements.drop_index(record["name"]), database_=database)


def _send_chunk(transaction: neo4j.ManagedTransaction, chunk: Chunk) -> None:
    nodes = {label: rows for label, rows in chunk.nodes.items() if rows}
    relationships = {name: rows for name, rows in chunk.relationships.items() if rows}
    text = _tree_text(tuple(nodes), tuple(relationships))
    transaction.run(text, dict[str, Any](nodes) | relationships).consume()


def _tree_text(labels: Sequence[str], names: Sequence[str]) -> str:
    lines = [
        f"CALL {{ UNWIND ${label} AS r CREATE (n:{label}) SET n = r "
        f"RETURN collect(n) AS all{label} }}"
        for label in labels
    ]
    lines += [_relationship_text(SCHEMA.relationship(name)) for name in names]
    return "\n".join([*lines, "RETURN 1"])


def _relationship_text(relationship: RelationshipType) -> str:
    picked, matched, scope = ["r"], [], []
    for index, (variable, label) in enumerate(
        (("a", relationship.source), ("b", relationship.target))
    ):
        if label in SHARED:
            matched.append(f"MATCH ({variable}:{label} {{key: r[{index}]}}) ")
        else:
            picked.append(f"all{label}[r[{index}]] AS {variable}")
            scope.append(f"all{label}")
    cells = [f"{part.name}: r[{index}]" for index, part in enumerate(relationship.properties, 2)]
    properties = f" {{{', '.join(cells)}}}" if cells else ""
    return (
        f"CALL ({', '.join(dict.fromkeys(scope))}) {{ UNWIND ${relationship.name} AS r "
        f"WITH {', '.join(picked)} {''.join(matched)}"
        f"CREATE (a)-[:{relationship.name}{properties}]->(b) "
        f"RETURN count(*) AS count{relationship.name} }}"
    )


def _batched(rows: Sequence[Any]) -> Iterator[list[Any]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, CHUNK_ROWS)):
        yield batch


@contextmanager
def connected(uri: str) -> Iterator[tuple[neo4j.Driver, str | None]]:
    """Open a driver from the environment; yield it and the name of the database."""
    password = os.environ.get("NEO4J_PASSWORD")
    auth = (os.environ.get("NEO4J_USERNAME") or "neo4j", password) if password else None
    with neo4j.GraphDatabase.driver(uri, auth=auth, notifications_min_severity="OFF") as driver:
        yield driver, os.environ.get("NEO4J_DATABASE")


def empty(driver: neo4j.Driver, database: str | None) -> None:
    """Delete all nodes; relationships first, for some nodes have hundreds of thousands."""
    texts = (
        "MATCH ()-[r]->() WITH r LIMIT 50000 DELETE r RETURN count(*) AS deleted",
        "MATCH (n) WITH n LIMIT 50000 DELETE n RETURN count(*) AS deleted",
    )
    with driver.session(database=database) as session:
        for text in texts:
            while session.run(text).single(strict=True)["deleted"]:
                pass
