"""Find a value by its label or another of its names."""

import re
from typing import Final

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import AmbiguousValue, NoSuchName
from xlagraph.queries.runner.compilations import check_stored
from xlagraph.queries.runner.name_checks import check_names

_BY_LABEL: Final = load_statement(__file__, "values-by-label")
_LABEL: Final = load_statement(__file__, "label-of-value")
_BY_INSTRUCTION: Final = load_statement(__file__, "values-by-instruction")
_BY_POSITION: Final = load_statement(__file__, "values-by-position")
# while.1{1}
_NAME: Final = re.compile(r"%?(?P<instruction>[^{}]+?)(?P<index>\{[\d, ]*\})?")


def find_value(graph: Graph, compilation: str, name: str) -> str:
    """Return the key of the value with a name in a compilation; labels have priority.

    Raise NoSuchName with similar names, AmbiguousValue with the elements if the name is a tuple,
    NotStored if the compilation was ingested without values.
    """
    parameters: dict[str, Cell] = {"compilation": compilation, "name": name.removeprefix("%")}
    exact = graph.query(_BY_LABEL, parameters).rows
    if exact:
        return str(exact[0][0])
    match = _NAME.fullmatch(name)
    if match is None:
        raise _unknown(graph, compilation, name)
    instruction, index = match["instruction"], match["index"]
    named = parameters | {"instruction": instruction}
    found = {
        f"{instruction}{shape_index or ''}": str(key)
        for key, shape_index in graph.query(_BY_POSITION, named).rows
        if index is None or shape_index == index
    }
    if not found and index is None:  # dumps of this generation have no positions
        elements = graph.query(_BY_INSTRUCTION, named).rows
        found = {str(label): str(key) for key, label in elements}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    if not found:
        raise _unknown(graph, compilation, name)
    raise AmbiguousValue(name, sorted(found, key=_tuple_index))


def find_label(graph: Graph, compilation: str, name: str) -> str:
    """Return the value's label with a name in a compilation; raise like `find_value`."""
    ((label,),) = graph.query(_LABEL, {"value": find_value(graph, compilation, name)}).rows
    return str(label)


def _tuple_index(element: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", element.partition("{")[2])]


def _unknown(graph: Graph, compilation: str, name: str) -> NoSuchName:
    check_stored(graph, [compilation])
    try:
        check_names(graph, {"compilation": compilation, "value": name})
    except NoSuchName as error:
        return error
    return NoSuchName(f"no value is called '{name}' in {compilation}")
