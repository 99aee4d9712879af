"""Which value a user means by a name: its label, or another name by which it goes."""

import re
from typing import Final

from xlagraph.graph.engine import Cell, Graph
from xlagraph.queries.errors import AmbiguousValue, NoSuchName
from xlagraph.queries.missing_facts import check_names

_BY_LABEL: Final = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $name
RETURN v.key AS value
"""
_BY_NAME: Final = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.name = $name
RETURN v.key AS value, v.label AS label
ORDER BY label
"""
_BY_POSITION: Final = """
MATCH (i:Instruction {key: $place})<-[p:APPEARS_AT]-(v:Value)
RETURN v.key AS value, p.shapeIndex AS shapeIndex, v.label AS label
ORDER BY shapeIndex, label
"""
# while.1{1}
_NAME: Final = re.compile(r"%?(?P<instruction>[^{}]+?)(?P<index>\{[\d, ]*\})?")


def find_value(graph: Graph, compilation: str, name: str) -> str:
    """Give the key of the value that has the name in a compilation; a label wins.

    Raises NoSuchName with what is near, AmbiguousValue with the elements where a tuple is
    named.
    """
    parameters: dict[str, Cell] = {"compilation": compilation, "name": name.removeprefix("%")}
    exact = graph.query(_BY_LABEL, parameters).rows
    if exact:
        return str(exact[0][0])
    match = _NAME.fullmatch(name)
    if match is None:
        raise _nothing(graph, compilation, name)
    instruction, index = match["instruction"], match["index"]
    place = f"{compilation}#i/{instruction}"
    found = {
        f"{instruction}{shape_index or ''}": str(key)
        for key, shape_index, _ in graph.query(_BY_POSITION, {"place": place}).rows
        if index is None or shape_index == index
    }
    if not found and index is None:  # a generation that does not print positions
        elements = graph.query(_BY_NAME, parameters | {"name": instruction}).rows
        found = {str(label): str(key) for key, label in elements}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    if not found:
        raise _nothing(graph, compilation, name)
    raise AmbiguousValue(name, sorted(found, key=_place))


def _place(element: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", element.partition("{")[2])]


def _nothing(graph: Graph, compilation: str, name: str) -> NoSuchName:
    try:
        check_names(graph, {"compilation": compilation, "value": name})
    except NoSuchName as error:
        return error
    return NoSuchName(f"no value is called '{name}'")
