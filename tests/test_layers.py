"""Allowed imports between rooms; a room is a folder.

A room may import itself and the rooms listed beside it; a name without a slash is the folder
without its sub-folders.
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[1]
PACKAGES: dict[str, str] = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))[
    "tool"
]["setuptools"]["package-dir"]
PARTS = PACKAGES.values()
INTEGRATIONS = {
    name.removeprefix("xlagraph."): folder for name, folder in PACKAGES.items() if "/" in folder
}
"""Folders that would hide the package that they integrate with if they were at the top."""
DRIVERS = {"neo4j": "graph/neo4j", "ladybug": "graph/ladybug"}

MAY_IMPORT = {
    # how a process runs: imported by all, imports nothing
    "runtime": "",
    # XLA's protobuf messages
    "protos": "",
    # figures and rows for people: imports nothing either
    "presentation": "",
    # one schema, two engines behind one interface
    "graph": "runtime presentation graph/rows graph/opening graph/exporter",
    "graph/rows": "graph",
    "graph/ladybug": "runtime graph graph/rows",
    "graph/neo4j": "graph graph/rows",
    "graph/opening": "graph graph/ladybug graph/neo4j",
    "graph/exporter": "graph graph/rows graph/neo4j",
    # XLA's packing, on separate records
    "xla_planner": "",
    # text → Plan → measures → rows; parsing and measures do not import the graph
    "ingest": "runtime graph ingest/files ingest/carriers/text ingest/preparation ingest/problems "
    "ingest/model ingest/remote ingest/rows ingest/error_message ingest/package_versions",
    # released versions of a package, and environments for them, made by other programs
    "ingest/package_versions": "ingest/problems",
    "ingest/preparation": "runtime graph graph/rows ingest/problems ingest/files ingest/measures "
    "ingest/rows ingest/model",
    # errors and problems that every part of an ingest can raise or report
    "ingest/problems": "",
    "ingest/model": "",
    # an export distributed over machines, each writing a part
    "ingest/cluster": "graph graph/exporter ingest ingest/problems ingest/files "
    "ingest/preparation ingest/remote",
    # files behind an address, fetched to disk
    "ingest/remote": "ingest/problems ingest/carriers/text ingest/files",
    "ingest/hlo": "ingest/model",
    # an error message: text in, records and sentences out
    "ingest/error_message": "presentation ingest/model",
    "ingest/carriers": "protos ingest/problems ingest/model",
    "ingest/carriers/text": "runtime ingest/problems ingest/carriers ingest/model",
    "ingest/carriers/proto": "runtime protos ingest/problems ingest/carriers ingest/hlo "
    "ingest/model",
    "ingest/carriers/profile": "ingest/problems ingest/carriers ingest/carriers/proto",
    "ingest/carriers/process": "ingest/problems ingest/carriers ingest/carriers/proto",
    "ingest/files": "ingest/problems ingest/carriers ingest/carriers/text ingest/carriers/proto "
    "ingest/carriers/profile ingest/carriers/process ingest/model",
    "ingest/measures": "ingest/hlo ingest/model",
    "ingest/rows": "presentation graph graph/rows ingest/files ingest/measures ingest/model",
    # canned queries, and the features built on them
    "queries": "runtime queries/catalogue queries/lint queries/selection queries/runner "
    "queries/checks queries/growth queries/advice advice/whatif queries/pictures "
    "queries/stored_compilation queries/value_details",
    "queries/catalogue": "presentation graph queries queries/cypher_text",
    "queries/cypher_text": "graph",
    "queries/lint": "presentation graph queries queries/catalogue queries/cypher_text",
    "queries/selection": "graph queries",
    "queries/runner": "presentation graph queries queries/catalogue queries/cypher_text "
    "queries/lint queries/selection",
    "queries/stored_compilation": "runtime graph queries/selection",
    "queries/checks": "graph queries queries/advice advice/replanning queries/catalogue "
    "queries/runner queries/selection queries/stored_compilation",
    "queries/growth": "presentation graph queries/catalogue queries/selection",
    "queries/advice": "runtime presentation graph queries queries/catalogue queries/runner "
    "queries/selection queries/stored_compilation advice/causes advice/replanning "
    "advice/whatif xla_planner",
    "advice/causes": "graph xla_planner advice/replanning queries/catalogue "
    "queries/stored_compilation",
    "advice/whatif": "runtime presentation graph xla_planner queries queries/selection "
    "queries/stored_compilation advice/replanning",
    "advice/replanning": "runtime graph xla_planner queries queries/catalogue "
    "queries/selection queries/stored_compilation",
    "queries/value_details": "graph queries/selection queries/stored_compilation",
    "queries/pictures": "presentation graph",
    # files for other tools, made from queries
    "exports": "runtime presentation graph graph/rows protos queries queries/selection "
    "queries/stored_compilation",
    # an interactive page, made from graph and queries
    "report": "runtime presentation graph queries queries/growth queries/cypher_text "
    "queries/stored_compilation",
    # the same over HTTP and for assistants
    "serve": "runtime graph queries report serve/readers",
    "serve/readers": "presentation graph queries queries/pictures report",
    "serve/assistant": "graph queries serve serve/readers",
    # use inside a program of JAX, its tests and its notebooks
    "integrations/jax": "runtime presentation graph ingest ingest/problems "
    "ingest/error_message ingest/files ingest/measures ingest/preparation "
    "queries queries/catalogue report",
    "integrations/pytest": "presentation graph integrations/jax",
    "integrations/ipython": "integrations/jax",
    # typer commands
    "cli": "runtime graph graph/opening cli/commands cli/commands/export cli/commands/query "
    "cli/options cli/output",
    "cli/commands/export": "graph ingest ingest/cluster exports queries queries/selection "
    "cli/options cli/output cli/summaries",
    "cli/commands/query": "runtime graph graph/neo4j queries queries/catalogue "
    "queries/cypher_text queries/lint queries/pictures queries/runner "
    "cli/options cli/output",
    "cli/commands": "presentation graph ingest ingest/error_message ingest/package_versions "
    "report serve serve/assistant serve/readers queries queries/advice advice/whatif "
    "advice/replanning queries/checks queries/growth queries/selection "
    "queries/value_details cli/options cli/output cli/summaries",
    "cli/summaries": "presentation graph ingest ingest/error_message ingest/model queries "
    "queries/advice advice/replanning advice/whatif queries/catalogue "
    "queries/checks queries/growth queries/stored_compilation queries/value_details cli/options "
    "cli/output",
    "cli/options": "presentation graph queries queries/catalogue queries/growth "
    "queries/selection cli/output",
    "cli/output": "presentation graph protos ingest ingest/problems queries queries/pictures",
}
MUTUAL = {
    ("graph", "graph/rows"): "a load takes rows, and the columns of rows follow from the schema",
}
"""Rooms that import each other, with the reason; two modules never do."""
# a command or summary is named after its subject, a part of an engine like the other's
SHOWN = {"cli/commands", "cli/commands/export", "cli/summaries"}
OF_SEVERAL_ROOMS = {"app", "errors", "load"}
MODULES = [
    path.relative_to(TREE) for part in PARTS for path in sorted(TREE.glob(f"{part}/**/*.py"))
]
ROOMS = {module.parent.as_posix() for module in MODULES}


def imported(module: Path) -> set[str]:
    """Return the dotted names of the modules and names that a module imports."""
    names = set()
    for node in ast.walk(ast.parse((TREE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            names |= {f"{origin}.{name.name}" for name in node.names}
    return names


def parts_of(name: str) -> list[str]:
    """Return the folders and modules of a dotted name of ours."""
    first, *others = name.split(".")[1:]
    return [*INTEGRATIONS.get(first, first).split("/"), *others]


def room_of(name: str) -> str:
    """Return the innermost room of a dotted name of ours."""
    parts = parts_of(name)
    return next(
        room for end in range(len(parts), 0, -1) if (room := "/".join(parts[:end])) in ROOMS
    )


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_only_the_rooms_allowed_to_its_room(module: Path) -> None:
    room = module.parent.as_posix()
    names = imported(module)
    rooms = {room_of(name) for name in names if name.startswith("xlagraph.")}
    assert rooms <= {room, *MAY_IMPORT[room].split()}
    assert not {name for name in names if name.startswith(".")}, "relative import"
    drivers = {name.split(".")[0] for name in names} & DRIVERS.keys()
    assert {DRIVERS[driver] for driver in drivers} <= {room}


def imported_modules(module: Path) -> set[Path]:
    """Return the modules of ours that a module imports anywhere, also in functions."""
    found = set()
    for name in imported(module):
        parts = parts_of(name) if name.startswith("xlagraph.") else []
        for end in (len(parts), len(parts) - 1):
            path = Path(*parts[:end]) if end > 0 else Path("none")
            if (own := path.with_suffix(".py")) in MODULES or (
                own := path / "__init__.py"
            ) in MODULES:
                found.add(own)
                break
    return found


IMPORTED = {module: imported_modules(module) for module in MODULES}


def circle(imports: Mapping[Path, Collection[Path]]) -> list[Path]:
    """Return modules each of which imports the next, and the last the first; empty if none."""
    done: set[Path] = set()

    def search(module: Path, way: list[Path]) -> list[Path]:
        if module in way:
            return way[way.index(module) :]
        if module in done:
            return []
        found = (search(each, [*way, module]) for each in sorted(imports[module]))
        first = next(filter(None, found), [])
        done.add(module)
        return first

    return next(filter(None, (search(module, []) for module in imports)), [])


def test_no_module_imports_itself_through_others() -> None:
    # an __init__ also exports names lazily: the modules of these names must
    # not import them from it
    assert circle(IMPORTED) == []


def test_a_circle_is_found_from_any_of_its_modules() -> None:
    a, b, c = Path("a.py"), Path("b.py"), Path("c.py")
    assert circle({a: [b], b: [c], c: [b]}) == [b, c]
    assert circle({a: [b, c], b: [c], c: []}) == []


def test_rooms_that_import_each_other_are_few_and_have_a_reason() -> None:
    pairs = {
        (module.parent.as_posix(), other.parent.as_posix())
        for module, others in IMPORTED.items()
        for other in others
        # the __init__ of a part imports all its rooms
        if module.as_posix() not in {f"{part}/__init__.py" for part in PARTS}
    }
    mutual = {(one, other) for one, other in pairs if one < other and (other, one) in pairs}
    assert mutual == MUTUAL.keys()


def test_a_command_imports_no_other_command() -> None:
    for module in MODULES:
        if module.parent.as_posix() == "cli/commands":
            assert not {name for name in imported(module) if ".cli.commands." in name}, module


def test_each_rule_names_an_existing_room() -> None:
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
    assert {room for rooms, _ in drawn.values() for room in rooms} - {"integrations"} == ROOMS
    for part, (_, imports) in drawn.items():
        allowed = {
            name.split("/")[0]
            for room, rule in MAY_IMPORT.items()
            if room.split("/")[0] == part
            for name in rule.split()
        }
        assert imports == allowed - {part}
