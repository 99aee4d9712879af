"""The words of the code: docstrings begin, and names are, as readers of Python expect."""

import ast
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[1]
PARTS = (
    *("benchmarks", "cli", "docs", "examples", "exports", "graph", "ingest", "queries", "report"),
    *("protos", "runtime", "serve", "tests"),
)
MODULES = [path.relative_to(TREE) for part in PARTS for path in sorted((TREE / part).rglob("*.py"))]
NAMES_OF_ANYTHING = {"info", "item", "obj", "res", "tmp"}
NOT_FIRST = {"Bring", "Do", "Get", "Give", "Go", "Leave", "Let", "Put", "Say", "Tell"}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_docstrings_begin_with_usual_verbs(module: Path) -> None:
    tree = ast.parse((TREE / module).read_text(encoding="utf-8"))
    first_words = {
        (ast.get_docstring(node) or "-").split()[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not first_words & NOT_FIRST


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_docstrings_return_what_they_promise(module: Path) -> None:
    tree = ast.parse((TREE / module).read_text(encoding="utf-8"))
    docstrings = [
        ast.get_docstring(node) or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [text for text in docstrings if "; give " in text]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_names_say_what_they_hold(module: Path) -> None:
    tree = ast.parse((TREE / module).read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assert not names & NAMES_OF_ANYTHING
