"""Which room may import which: data goes one way, and a folder is a room.

A room may import itself and the rooms named beside it; a name without a slash is the folder
itself, without its sub-folders.
"""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[1]
PARTS = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
    "package-dir"
].values()
DRIVERS = {"neo4j": "graph/neo4j", "ladybug": "graph/ladybug"}

MAY_IMPORT = {
    # how a process runs: everybody's, knows nobody
    "runtime": "",
    # one schema, two engines behind one interface
    "graph": "runtime graph/rows graph/ladybug graph/neo4j graph/exporter",
    "graph/rows": "graph",
    "graph/ladybug": "runtime graph graph/rows",
    "graph/neo4j": "runtime graph graph/rows",
    "graph/exporter": "graph graph/rows graph/neo4j",
    # XLA's own packing, on records of its own
    "xla_planner": "",
    # text → Plan → measures → rows; what parses and derives knows of no graph
    "ingest": "runtime graph graph/rows ingest/files ingest/carriers/text ingest/measures "
    "ingest/rows ingest/preparation ingest/model",
    "ingest/preparation": "runtime graph graph/rows ingest ingest/files ingest/carriers/text "
    "ingest/measures ingest/rows ingest/model",
    "ingest/model": "",
    "ingest/hlo": "",
    "ingest/carriers": "",
    "ingest/carriers/text": "runtime ingest ingest/hlo ingest/model",
    "ingest/files": "ingest ingest/carriers/text",
    "ingest/measures": "ingest/hlo ingest/carriers/text ingest/model",
    "ingest/rows": "graph graph/rows ingest/files ingest/carriers/text ingest/measures "
    "ingest/model",
    # canned queries, and what is built on them
    "queries": "runtime graph queries/catalogue queries/cypher_text queries/lint "
    "queries/selection queries/runner "
    "queries/checks queries/comparison queries/advice queries/pictures "
    "queries/value_details",
    "queries/catalogue": "graph queries",
    "queries/cypher_text": "graph",
    "queries/lint": "graph queries queries/catalogue queries/cypher_text",
    "queries/selection": "graph queries",
    "queries/runner": "graph queries queries/catalogue queries/cypher_text queries/lint "
    "queries/selection",
    "queries/checks": "graph queries/advice queries/catalogue queries/selection",
    "queries/comparison": "graph queries queries/catalogue queries/selection",
    "queries/advice": "runtime graph xla_planner queries queries/catalogue queries/runner "
    "queries/selection",
    "queries/value_details": "graph queries/selection",
    "queries/pictures": "graph queries queries/catalogue",
    # a page to look at, from what graph and queries know
    "report": "runtime graph queries queries/comparison queries/cypher_text queries/value_details",
    # the same over HTTP and for assistants
    "serve": "runtime graph queries queries/pictures report serve/readers",
    "serve/readers": "graph queries report serve",
    "serve/assistant": "graph queries serve serve/readers",
    # typer commands
    "cli": "runtime graph queries cli/commands cli/commands/query cli/options cli/output",
    "cli/commands/query": "runtime graph queries queries/catalogue queries/cypher_text "
    "queries/lint queries/pictures queries/runner queries/selection cli cli/options cli/output",
    "cli/commands": "graph ingest report serve serve/assistant serve/readers queries "
    "queries/advice queries/catalogue "
    "queries/checks queries/comparison queries/lint queries/pictures "
    "queries/runner queries/selection queries/value_details cli cli/options cli/output "
    "cli/summaries",
    "cli/summaries": "graph ingest ingest/model queries queries/advice queries/catalogue "
    "queries/checks queries/comparison queries/value_details cli cli/options "
    "cli/output",
    "cli/options": "graph queries queries/catalogue queries/comparison queries/selection cli "
    "cli/output",
    "cli/output": "graph ingest queries queries/catalogue queries/pictures cli",
}
# a command or summary is named after what it shows, what an engine has after the other's
SHOWN = {"cli/commands", "cli/summaries"}
OF_SEVERAL_ROOMS = {"app", "errors", "load"}
MODULES = [
    path.relative_to(TREE) for part in PARTS for path in sorted(TREE.glob(f"{part}/**/*.py"))
]
ROOMS = {module.parent.as_posix() for module in MODULES}


def imported(module: Path) -> set[str]:
    """Return the modules and names that a module imports, dotted."""
    names = set()
    for node in ast.walk(ast.parse((TREE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            names |= {f"{origin}.{name.name}" for name in node.names}
    return names


def room_of(name: str) -> str:
    """Return the innermost room that a dotted name of ours lies in."""
    parts = name.split(".")[1:]
    return next(
        room for end in range(len(parts), 0, -1) if (room := "/".join(parts[:end])) in ROOMS
    )


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_only_what_its_room_may_see(module: Path) -> None:
    room = module.parent.as_posix()
    names = imported(module)
    rooms = {room_of(name) for name in names if name.startswith("xlagraph.")}
    assert rooms <= {room, *MAY_IMPORT[room].split()}
    assert not {name for name in names if name.startswith(".")}, "relative import"
    drivers = {name.split(".")[0] for name in names} & DRIVERS.keys()
    assert {DRIVERS[driver] for driver in drivers} <= {room}


def test_a_command_imports_no_other() -> None:
    for module in MODULES:
        if module.parent.as_posix() == "cli/commands":
            assert not {name for name in imported(module) if ".cli.commands." in name}, module


def test_each_rule_is_about_a_room_that_is_there() -> None:
    assert MAY_IMPORT.keys() == ROOMS
    assert {name for rule in MAY_IMPORT.values() for name in rule.split()} <= ROOMS


def test_a_module_has_a_name_that_no_other_room_has():
    rooms_by_name: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        room = module.parent.as_posix()
        if module.stem != "__init__" and room not in SHOWN:
            rooms_by_name[module.stem].add("graph" if room in DRIVERS.values() else room)
    assert {name for name, rooms in rooms_by_name.items() if len(rooms) > 1} == OF_SEVERAL_ROOMS


def drawn_in_contributing() -> dict[str, tuple[set[str], set[str]]]:
    """Return the rooms drawn for each part, and the parts that it may import."""
    picture = (TREE / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```\nruntime/")[1]
    drawn: dict[str, tuple[set[str], set[str]]] = {}
    for line in ("runtime/" + picture.split("\n```")[0]).splitlines():
        what, _, imports = line.partition("←")
        if part := re.match(r"[a-z_]+(?=/)", what):
            name = part[0]
            drawn[name] = ({name}, set())
        rooms = re.findall(r"(?<![A-Z])\b([a-z][a-z0-9_/]*)/(?= |$)", what)
        drawn[name][0].update(f"{name}/{room}" for room in rooms if room != name)
        drawn[name][1].update(imports.split())
    return drawn


def test_the_picture_of_the_rooms_shows_each_of_them() -> None:
    drawn = drawn_in_contributing()
    assert {room for rooms, _ in drawn.values() for room in rooms} == ROOMS
    for part, (_, imports) in drawn.items():
        allowed = {
            name.split("/")[0]
            for room, rule in MAY_IMPORT.items()
            if room.split("/")[0] == part
            for name in rule.split()
        }
        assert imports == allowed - {part}
