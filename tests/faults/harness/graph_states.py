"""A graph's content, in a form that compares graphs of both engines."""

import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from tests.queries.suitable_parameters import suitable_parameters
from tests.tiny_dumps import STEM, dump, write_dump
from xlagraph.graph import SCHEMA, Cell, CompilationRows, Graph, QueryFailed, Result, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue

CATALOGUE = load_catalogue()
OF_THE_MOMENT = frozenset({"ingestedAt", "path", "tags"})
"""Properties that describe an ingest and not a dump."""

Rows = list[tuple[Cell, ...]]


def all_rows(graph: Graph) -> dict[str, Rows]:
    """Return all nodes and relationships, visible or not."""
    found = {}
    for node in SCHEMA.nodes:
        names = [
            property_.name for property_ in node.properties if property_.name not in OF_THE_MOMENT
        ]
        returned = ", ".join(f"n.{name} AS {name}" for name in names)
        rows = graph.query(f"MATCH (n:{node.label}) RETURN {returned}").rows
        # Neo4j's importer has no empty list
        found[node.label] = _sorted(
            [tuple(None if cell == [] else cell for cell in row) for row in rows]
        )
    for relationship in SCHEMA.relationships:
        names = ["a.key AS source", "b.key AS target"]
        names += [f"r.{part.name} AS {part.name}" for part in relationship.properties]
        pattern = f"(a:{relationship.source})-[r:{relationship.name}]->(b:{relationship.target})"
        text = f"MATCH {pattern} RETURN {', '.join(names)}"
        found[relationship.name] = _sorted(graph.query(text).rows)
    # a file has one more node, with the version of its schema
    text = "MATCH (n) RETURN count(*) - count(n.version) AS nodes"
    found["all nodes"] = _sorted(graph.query(text).rows)
    return found


def complete_digests(graph: Graph) -> dict[str, str]:
    """Return the digest of each visible compilation."""
    rows = graph.query(
        "MATCH (c:Compilation) WHERE c.state = 'complete' RETURN c.key AS key, c.sha256 AS digest"
    ).rows
    return {str(key): str(digest) for key, digest in rows}


def rows_of_compilation(graph: Graph, key: str) -> dict[str, Rows]:
    """Return one compilation with everything that belongs to it, as an export reads it."""
    rows: CompilationRows = graph.read(key)
    found: dict[str, Rows] = {}
    for label, table in rows.nodes.items():
        kept = table.drop_columns([name for name in table.column_names if name in OF_THE_MOMENT])
        found[label] = _sorted(tuple(row.values()) for row in kept.to_pylist())
    for name, table in rows.relationships.items():
        found[name] = _sorted(tuple(row.values()) for row in table.to_pylist())
    return found


def answers(
    graph: Graph, compilations: Collection[str], queries: Iterable[str] = CATALOGUE
) -> dict[tuple[str, str], Rows | str]:
    """Answer canned queries; those about one compilation, for each of these."""
    found: dict[tuple[str, str], Rows | str] = {}
    for query in map(CATALOGUE.__getitem__, queries):
        takes_one = any(parameter.name == "compilation" for parameter in query.parameters)
        for compilation in compilations if takes_one else [""]:
            parameters = suitable_parameters(
                query, compilation=compilation, runA="alpha", runB="beta", limit=1_000_000
            )
            try:
                result = graph.query(query.text, parameters)
            except QueryFailed as error:
                found[query.id, compilation] = str(error)
                continue
            found[query.id, compilation] = rows_of_dumps(result)
    return found


def rows_of_dumps(result: Result) -> Rows:
    """Return rows without an ingest's properties, also in the nodes of paths."""
    return [tuple(_of_dumps(row).values()) for row in result.mappings()]


def _of_dumps(properties: Mapping[str, Cell]) -> dict[str, Cell]:
    return {
        name: _cell_of_dumps(cell) for name, cell in properties.items() if name not in OF_THE_MOMENT
    }


def _cell_of_dumps(cell: Cell) -> Cell:
    if isinstance(cell, Mapping):
        return _of_dumps(cell)
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return [_cell_of_dumps(element) for element in cell]
    return cell


class CleanGraphs:
    """Graphs of one undisturbed ingest each, by the dumps in them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[frozenset[tuple[str, str]], Path] = {}

    def of(self, dumps: Mapping[str, str]) -> Graph:
        """Open a graph of these texts, by key `run/stem`."""
        wanted = frozenset(dumps.items())
        if wanted not in self._paths:
            folder = self._folder / str(len(self._paths))
            path = folder / "clean.lbug"
            for key, text in dumps.items():
                put_dump(folder / "runs", key, text)
            with open_graph(path, create=True) as graph:
                if dumps:
                    assert ingest(graph, folder / "runs", jobs=1).ok
                else:
                    self._make_empty(graph, folder)
            shutil.rmtree(folder / "runs", ignore_errors=True)
            self._paths[wanted] = path
        return open_graph(self._paths[wanted])

    def _make_empty(self, graph: Graph, folder: Path) -> None:
        write_dump(folder / "runs" / "gone", 1, "jit_gone", dump(64))
        assert ingest(graph, folder / "runs", jobs=1).ok
        with graph.load() as load:
            load.remove(key_of("gone", 1, "jit_gone"))


def key_of(run: str, number: int, module: str) -> str:
    """Return a dump's key."""
    return f"{run}/{STEM.format(number=number, module=module)}"


def put_dump(folder: Path, key: str, text: str) -> Path:
    """Write a dump below a folder with this key."""
    path = folder / f"{key}-buffer-assignment.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _sorted(rows: Iterable[tuple[Cell, ...]]) -> Rows:
    return sorted(rows, key=repr)
