"""Statements of Python modules stand in files, and the rules for canned queries hold for them."""

import ast
import re
from pathlib import Path

import pytest

from xlagraph.graph import Cell, Graph, open_graph
from xlagraph.queries.lint.query_check import statement_faults

TREE = Path(__file__).resolve().parents[3]
FILES = sorted(TREE.glob("[!.]*/**/statements/*.cypher"))
PARTS = ("cli", "graph/exporter", "ingest", "plan", "queries", "report", "runtime", "serve")
# what the engines send to write, and what reads rows back, is generated from the schema
MODULES = [
    *(TREE / "graph").glob("*.py"),
    *(path for part in PARTS for path in (TREE / part).rglob("*.py")),
]
LISTS = ("compilations", "frames", "opNames", "runs")
NUMBERS = ("depth", "limit", "memorySpace")


@pytest.fixture(scope="module")
def empty_graph(tmp_path_factory: pytest.TempPathFactory):
    with open_graph(tmp_path_factory.mktemp("graph") / "empty.lbug", create=True) as graph:
        yield graph


def name_of(path: Path) -> str:
    return path.relative_to(TREE).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_statement_of_a_module_has_no_fault_and_an_engine_takes_it(path: Path, empty_graph: Graph):
    text = path.read_text(encoding="utf-8")
    assert re.match(r"// \w.+\n(?!//)", text), "one line says what its rows are"
    assert statement_faults(text) == []
    empty_graph.query(text, {name: sample(name) for name in re.findall(r"\$(\w+)", text)})


def sample(parameter: str) -> Cell:
    if parameter in LISTS:
        return ["x"]
    return 0 if parameter in NUMBERS else "x"


def test_every_statement_file_is_read_by_the_module_beside_its_folder():
    for path in FILES:
        modules = path.parents[1].glob("*.py")
        asked = [module for module in modules if f'"{path.stem}"' in module.read_text()]
        assert asked, f"nothing reads {name_of(path)}"


def test_no_statement_stands_in_a_module():
    for module in MODULES:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = [ast.get_docstring(node, clean=False) for node in ast.walk(tree)
                      if isinstance(node, documented)]  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_statement = re.search(r"\b(MATCH \(|UNWIND \$\w+ AS)", node.value)
                assert not is_statement or node.value in docstrings, name_of(module)
