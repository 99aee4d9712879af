"""The generated pages are up to date."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema  # type: ignore[import-untyped, unused-ignore]  # ships no types
import pytest

from tests.tiny_dumps import write_runs
from xlagraph.cli import main
from xlagraph.graph.schema import SCHEMA

DOCS = Path(__file__).resolve().parents[1] / "docs"
LAYERS = (
    *("runtime", "presentation", "hlo", "graph", "queries", "planner", "ingest", "comparison"),
    *("advice", "recording", "exports", "report", "serve", "cli"),
)


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_names_every_environment_variable() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    section = page.partition("## Environment\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    read = {
        name
        for room in LAYERS
        for module in sorted((DOCS.parent / room).rglob("*.py"))
        for name in variables_read(ast.parse(module.read_text(encoding="utf-8")))
    }
    assert named == read


def variables_read(module: ast.Module) -> Iterator[str]:
    """Return the variables that a module reads, by literal or by a constant of that module."""
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv"):
            name: ast.expr | None = node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            name = node.slice
        else:
            continue
        if isinstance(name, ast.Name):
            name = constants.get(name.id)
        assert isinstance(name, ast.Constant), ast.unparse(node)
        yield str(name.value)


def test_the_picture_of_the_graph_shows_every_label_and_relationship_type() -> None:
    picture = (DOCS / "schema.svg").read_text(encoding="utf-8")
    names = {*re.findall(r">([A-Za-z_]+)</text>", picture)}
    assert names == {node.label for node in SCHEMA.nodes} | {
        relationship.name for relationship in SCHEMA.relationships
    }


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


def test_answers_in_json_follow_their_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = json.loads((DOCS / "answers.schema.json").read_text(encoding="utf-8"))
    graph = str(tmp_path / "graph.lbug")
    assert (
        main(["ingest", "--jobs", "1", "--graph", graph, str(write_runs(tmp_path / "runs"))]) == 0
    )
    for query in ("overview/compilations", "peak/contributors", "compare/roles", "graph/peak"):
        sides = ["--run-a", "before", "--run-b", "after"] if query == "compare/roles" else []
        capsys.readouterr()
        assert main(["query", query, "--graph", graph, "--format", "json", *sides]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer
        jsonschema.validate(answer, schema["$defs"][query])
        del answer[0][next(iter(answer[0]))]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(answer, schema["$defs"][query])


def test_the_index_for_language_models_links_to_existing_files() -> None:
    index = (DOCS.parent / "llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", index, re.MULTILINE)
    assert len(pages) > 15
    for page in pages:
        assert (DOCS.parent / page).exists(), page


def test_every_link_into_a_page_finds_its_heading() -> None:
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for file, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", text):
            target = page.parent / file if file else page
            assert anchor in anchors(target), f"{page.name} links to {file}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
