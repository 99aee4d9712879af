"""Which part may import which: data goes one way."""

import ast
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "graph": set(),
    "ingest": {"graph"},
    "queries": {"graph"},
    "cli": {"graph", "ingest", "queries"},
}
MAKES_ROWS = {"rows.py", "preparing.py", "load.py"}  # all else in ingest knows of no graph
MODULES = [path.relative_to(TREE) for part in MAY_IMPORT for path in TREE.glob(f"{part}/**/*.py")]


def imported(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse((TREE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_only_what_its_layer_may_see(module: Path) -> None:
    part = module.parts[0]
    allowed = MAY_IMPORT[part] | {part}
    if part == "ingest" and module.name not in MAKES_ROWS:
        allowed -= {"graph"}
    parts = {name.split(".")[1] for name in imported(module) if name.startswith("xlagraph.")}
    assert parts <= allowed
    assert not {name for name in imported(module) if name.startswith(".")}, "relative import"
    if part != "graph":
        assert not {name.split(".")[0] for name in imported(module)} & {"neo4j", "ladybug"}
