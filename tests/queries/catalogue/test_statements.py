"""Statements of Python modules are in files, and follow the rules for canned queries."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlagraph.graph import Cell, Graph, open_graph, schema_statements
from xlagraph.graph.cypher_tokens import read_tokens
from xlagraph.graph.ladybug import schema_statements as ladybug_statements
from xlagraph.graph.neo4j import schema_statements as neo4j_statements
from xlagraph.graph.schema import PARTS as PARTS_OF_COMPILATIONS
from xlagraph.graph.schema import SCHEMA, SHARED
from xlagraph.queries.catalogue.query_check import statement_faults, unknown_names
from xlagraph.queries.catalogue.statement import clauses, projections

TREE = Path(__file__).resolve().parents[3]
PARTS = set(
    tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-dir"
    ].values()
)
FILES = sorted(path for part in PARTS for path in (TREE / part).rglob("statements/*.cypher"))
ENGINES = {TREE / "graph/ladybug", TREE / "graph/neo4j"}
FILES_OF_BOTH_ENGINES = [path for path in FILES if path.parents[1] not in ENGINES]
FILES_OF_ONE_ENGINE = [path for path in FILES if path.parents[1] in ENGINES]
# statements derived from the schema are generated there
MODULES = [
    path
    for part in sorted(PARTS)
    for path in sorted((TREE / part).rglob("*.py"))
    if path.stem != "schema_statements"
]
# not for queries: the version in a file; the nodes of loads, and the load of each compilation
WORKING_NAMES = re.compile(
    r"no label (Claim|Load|Schema)\b"
    r"|no property ((count|heartbeat|load|process) of Load|(key|load|purpose) of Claim)\b"
    r"|no property version of Schema\b"
)
LISTS = ("compilations", "frames", "instructions", "opNames", "runs", "sides")
NUMBERS = ("depth", "limit", "memorySpace")


@pytest.fixture(scope="module")
def empty_graph(tmp_path_factory: pytest.TempPathFactory):
    with open_graph(tmp_path_factory.mktemp("graph") / "empty.lbug", create=True) as graph:
        yield graph


def name_of(path: Path) -> str:
    return path.relative_to(TREE).as_posix()


@pytest.mark.parametrize("path", FILES_OF_BOTH_ENGINES, ids=name_of)
def test_a_statement_of_a_module_has_no_problem_and_an_engine_accepts_it(
    path: Path, empty_graph: Graph
):
    text = path.read_text(encoding="utf-8")
    faults = [fault.message for fault in statement_faults(text)]
    if ", in any order" in text.partition("\n")[0]:
        faults.remove("rows come in any order; end with ORDER BY")
    assert faults == []
    empty_graph.query(text, {name: sample(name) for name in re.findall(r"\$(\w+)", text)})


def sample(parameter: str) -> Cell:
    if parameter in LISTS:
        return ["x"]
    return 0 if parameter in NUMBERS else "x"


@pytest.mark.parametrize("path", FILES_OF_ONE_ENGINE, ids=name_of)
def test_a_statement_of_an_engine_names_only_parts_of_the_schema(path: Path):
    text = path.read_text(encoding="utf-8")
    assert names_out_of_schema(text) == []
    assert unnamed_columns(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("MERGE (c:Compilation {key: $key}) SET c.status = 'complete'", "property status of"),
        ("CREATE (c:Compilation {keys: $key})", "property keys of Compilation"),
        ("CREATE (:Compiled {key: $key})", "label Compiled"),
        ("MATCH (c:Compilation) SET c.state = 'complete', c:Compiled", "label Compiled"),
        ("MATCH (c:Compilation) CALL (c) { REMOVE c:Compiled }", "label Compiled"),
        ("MATCH (l:Load) SET l.hearbeat = timestamp()", "property hearbeat of Load"),
        ("UNWIND $keys AS k MERGE (:Run {key: k})-[:COMPILES]->(:Module)", "type COMPILES"),
        ("CREATE INDEX i FOR (c:Compilation) ON (c.status)", "property status of"),
    ],
)
def test_written_properties_are_checked_against_the_schema(text: str, fault: str):
    assert any(fault in found for found in names_out_of_schema(text)), names_out_of_schema(text)


def test_generated_statements_name_only_parts_of_the_schema():
    assert [fault for text in generated_statements() for fault in names_out_of_schema(text)] == []
    assert [column for text in generated_statements() for column in unnamed_columns(text)] == []


def unnamed_columns(text: str) -> list[str]:
    """Return the expressions that a statement returns without a name."""
    last = next(iter(clauses(list(read_tokens(text)))[-1:]), None)
    if last is None or not last.word.startswith("RETURN"):
        return []
    return [
        projection.name
        for projection in projections(last)
        if not projection.is_aliased and len(projection.expression) > 1
    ]


def names_out_of_schema(text: str) -> list[str]:
    text = text.replace(":Loading", ":Compilation")  # one that is not complete
    faults = [fault.message for fault in unknown_names(text)]
    return [fault for fault in faults if not WORKING_NAMES.search(fault)]


def generated_statements() -> Iterator[str]:
    rows = Path("rows.parquet")
    yield from neo4j_statements.constraints()
    yield from neo4j_statements.indexes()
    yield neo4j_statements.write_chunk()
    yield ladybug_statements.set_run(["key"], create=True)
    for node in SCHEMA.nodes:
        yield schema_statements.look_up_nodes(node)
        yield ladybug_statements.count_nodes(node.label)
    for part in PARTS_OF_COMPILATIONS:
        yield ladybug_statements.delete_parts(part)
        yield neo4j_statements.delete_parts(part)
    for shared in SHARED:
        yield ladybug_statements.delete_unused(shared.label)
        yield ladybug_statements.stored_keys(shared.label)
        yield neo4j_statements.merge_nodes(shared)
        yield neo4j_statements.replace_nodes(shared)
        yield neo4j_statements.lock_shared(shared.label)
        yield neo4j_statements.delete_orphans(shared.label)
        yield neo4j_statements.unused_keys(shared.label)
    for relationship in SCHEMA.relationships:
        yield schema_statements.walk_relationship(relationship, relationship.source)
        yield ladybug_statements.count_relationships(relationship.name)
        yield ladybug_statements.create_relationships(relationship, [rows])
        yield neo4j_statements.merge_relationships(relationship)
        yield neo4j_statements.delete_relationships(relationship)


def test_every_statement_file_is_read_by_the_module_beside_its_folder():
    for path in FILES:
        modules = path.parents[1].glob("*.py")
        asked = [module for module in modules if f'"{path.stem}"' in module.read_text()]
        assert asked, f"nothing reads {name_of(path)}"


def test_no_statement_is_written_in_a_module():
    for module in MODULES:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = [ast.get_docstring(node, clean=False) for node in ast.walk(tree)
                      if isinstance(node, documented)]  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_statement = re.search(r"\b(MATCH \(|UNWIND \$\w+ AS)", node.value)
                assert not is_statement or node.value in docstrings, name_of(module)
