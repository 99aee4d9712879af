"""Check that the names and numbers given as query parameters exist."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Cell, Graph, Scalar
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import NoSuchMemorySpace, NoSuchName, similar_names


class _Named(NamedTuple):
    noun: str
    names: str
    """Statement that returns the names that contain $part, and True for an exact match."""


_NAMED: Final[Mapping[str, _Named]] = {
    "value": _Named("value", load_statement(__file__, "value-labels")),
    "instruction": _Named("instruction", load_statement(__file__, "instruction-names")),
    "module": _Named("module", load_statement(__file__, "module-names")),
    "opName": _Named("op", load_statement(__file__, "op-names")),
}
_ALLOCATIONS: Final = load_statement(__file__, "allocation-numbers")
_SCHEDULE: Final = load_statement(__file__, "schedule-length")
_TAGS: Final = load_statement(__file__, "tags")
_SPACES: Final = load_statement(__file__, "memory-spaces")
_SPACES_OF_COMPILATION: Final = load_statement(__file__, "memory-spaces-of-compilation")


def check_memory_space(graph: Graph, color: int, compilation: str | None = None) -> None:
    """Raise NoSuchMemorySpace if a compilation, or the whole graph, has no such memory space.

    Memory space 0 always exists.
    """
    if not color:
        return
    if compilation:
        rows = graph.query(_SPACES_OF_COMPILATION, {"compilation": compilation}).rows
    else:
        rows = graph.query(_SPACES).rows
    used = {cast("int", number) for (number,) in rows}
    if color not in used:
        raise NoSuchMemorySpace(color, used, compilation)


def check_names(graph: Graph, parameters: Mapping[str, Scalar]) -> None:
    """Raise NoSuchName with similar names if a parameter names something that does not exist."""
    compilation = {
        name: value for name, value in parameters.items() if name == "compilation" and value
    }
    for parameter, named in _NAMED.items():
        if name := str(parameters.get(parameter) or ""):
            _check_name(graph, named, compilation, name)
    of = _in(compilation)
    if "memorySpace" in parameters:
        color = cast("int", parameters["memorySpace"])
        check_memory_space(graph, color, cast("str | None", compilation.get("compilation")))
    if "allocation" in parameters:
        number = cast("int", parameters["allocation"])
        ((count, largest),) = graph.query(_ALLOCATIONS, compilation).rows
        if largest is None or not 0 <= number <= cast("int", largest):
            raise NoSuchName(
                f"no allocation{of} has the number {number}; there are {count}, from 0"
            )
    if "step" in parameters:
        step = cast("int", parameters["step"])
        # no row: the compilation was replaced or removed in the meantime
        for (steps,) in graph.query(_SCHEDULE, compilation).rows:
            if steps is not None and step > cast("int", steps):
                raise NoSuchName(f"no step{of} has the number {step}; the schedule ends at {steps}")


def check_tag(graph: Graph, columns: Sequence[str], parameters: Mapping[str, Scalar]) -> None:
    """Raise NoSuchName with similar names if rows are sorted by a tag that no run has."""
    name = str(parameters.get("sortBy", "time"))
    if "tag" not in columns or name in ("run", "time"):
        return
    tags = sorted({str(row[0]).partition("=")[0] for row in graph.query(_TAGS).rows})
    if name not in tags:
        raise NoSuchName(f"no run has a tag called '{name}'", similar_names(name, tags))


def _check_name(graph: Graph, named: _Named, where: Mapping[str, Scalar], name: str) -> None:
    def names(part: str) -> list[tuple[Cell, ...]]:
        return list(graph.query(named.names, {**where, "part": part}).rows)

    found = names(name)
    if not any(is_whole for _, is_whole in found):
        # The index or counter is often wrong: look for names with the same stem.
        stem = re.split(r"[.{\[(]", name)[0]
        near = [str(near) for near, _ in found or names(stem) or names("")]
        raise NoSuchName(
            f"no {named.noun} is called '{name}'{_in(where)}", similar_names(name, near)
        )


def _in(where: Mapping[str, Scalar]) -> str:
    """Return the compilation that was searched, as text; empty for the whole graph."""
    return f" in {where['compilation']}" if "compilation" in where else ""
