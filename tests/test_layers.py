"""Allowed imports between layers and rooms; a room is a folder of modules.

CONTRIBUTING draws the layers, and to the right of each `←` the layers that it may import.
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[1]
PACKAGES: dict[str, str] = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))[
    "tool"
]["setuptools"]["package-dir"]
LAYERS = set(PACKAGES.values())
DRIVERS = {"neo4j": "graph/neo4j", "ladybug": "graph/ladybug"}
WITHOUT_GRAPH = ("ingest/carriers", "ingest/files", "ingest/measures")
"""Rooms, and those inside them, that parse and derive: they do not know what stores a row."""
FACADES = {"queries/__init__.py"}
"""Modules that export names of later layers, so that all analyses are found in one place."""
# a command or summary is named after its subject, a part of an engine like the other's
SHOWN = {"cli/commands", "cli/summaries"}
PARTS_OF_COMMANDS = {Path(f"cli/commands/{name}.py") for name in ("canned", "query", "export")}
OF_SEVERAL_ROOMS = {"app", "errors", "load"}
MODULES = [
    path.relative_to(TREE)
    for layer in sorted(LAYERS)
    for path in sorted(TREE.glob(f"{layer}/**/*.py"))
]
KNOWN = frozenset(MODULES)
ROOMS = {module.parent.as_posix() for module in MODULES}


@cache
def drawn_imports() -> dict[str, set[str]]:
    """Return the layers that each layer may import, as drawn in CONTRIBUTING."""
    text = (TREE / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = text.partition("## How the parts fit")[2].split("```")[1]
    layers: dict[str, set[str]] = {}
    for line in drawing.strip().splitlines():
        shown, _, imports = line.partition("←")
        if layer := re.match(r"([a-z_]+)/", shown):
            layers[layer[1]] = set()
        layers[list(layers)[-1]].update(imports.split())
    return layers


@cache
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
    is_layer = f"xlagraph.{first}" in PACKAGES
    return [first, *others] if is_layer else [PACKAGES["xlagraph"], first, *others]


def room_of(name: str) -> str:
    """Return the innermost room of a dotted name of ours."""
    parts = parts_of(name)
    return next(
        room for end in range(len(parts), 0, -1) if (room := "/".join(parts[:end])) in ROOMS
    )


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_a_module_imports_only_what_its_layer_and_room_may(layer: str) -> None:
    for module in (module for module in MODULES if module.parts[0] == layer):
        room = module.parent.as_posix()
        names = imported(module)
        rooms = {room_of(name) for name in names if name.startswith("xlagraph.")}
        if module.as_posix() not in FACADES:
            others = {other.split("/")[0] for other in rooms} - {layer, *drawn_imports()[layer]}
            assert not others, module
        if room.startswith(WITHOUT_GRAPH):
            assert not {other for other in rooms if other.startswith("graph")}, module
        assert not {name for name in names if name.startswith(".")}, f"relative import in {module}"
        drivers = {name.split(".")[0] for name in names} & DRIVERS.keys()
        assert {DRIVERS[driver] for driver in drivers} <= {room}, module


def test_the_drawing_has_every_layer_below_those_that_it_imports() -> None:
    drawn = drawn_imports()
    assert drawn.keys() == LAYERS
    order = list(drawn)
    for layer, imports in drawn.items():
        assert imports <= set(order[: order.index(layer)]), layer


def imported_modules(module: Path) -> set[Path]:
    """Return the modules of ours that a module imports anywhere, also in functions."""
    found = set()
    for name in imported(module):
        parts = parts_of(name) if name.startswith("xlagraph.") else []
        for end in (len(parts), len(parts) - 1):
            path = Path(*parts[:end]) if end > 0 else Path("none")
            if (own := path.with_suffix(".py")) in KNOWN or (own := path / "__init__.py") in KNOWN:
                found.add(own)
                break
    return found


@cache
def all_imports() -> dict[Path, set[Path]]:
    """Return the modules of ours that each module imports."""
    return {module: imported_modules(module) for module in MODULES}


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
    assert circle(all_imports()) == []


def test_a_circle_is_found_from_any_of_its_modules() -> None:
    a, b, c = Path("a.py"), Path("b.py"), Path("c.py")
    assert circle({a: [b], b: [c], c: [b]}) == [b, c]
    assert circle({a: [b, c], b: [c], c: []}) == []


def test_no_two_rooms_import_each_other() -> None:
    pairs = {
        (module.parent.as_posix(), other.parent.as_posix())
        for module, others in all_imports().items()
        for other in others
        if module.name != "__init__.py"  # exports the names of the rooms inside
    }
    assert {(one, other) for one, other in pairs if one < other and (other, one) in pairs} == set()


def test_a_command_imports_no_other_command() -> None:
    for module in MODULES:
        if module.parent.as_posix() == "cli/commands" and module not in PARTS_OF_COMMANDS:
            assert not {name for name in imported(module) if ".cli.commands." in name}, module


def test_a_module_has_a_name_that_no_other_room_has():
    rooms_by_name: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        room = module.parent.as_posix()
        if module.stem != "__init__" and room not in SHOWN:
            rooms_by_name[module.stem].add("graph" if room in DRIVERS.values() else room)
    assert {name for name, rooms in rooms_by_name.items() if len(rooms) > 1} == OF_SEVERAL_ROOMS
