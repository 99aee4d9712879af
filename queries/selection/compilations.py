"""Which runs and compilations a user means by a name: a key, a unique part of one, or a run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, cast

from xlagraph.graph.engine import Cell, Graph, Result
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import (
    AmbiguousCompilation,
    EmptyGraph,
    InexactName,
    NoSuchCompilation,
    NoSuchRun,
    similar_names,
)

__all__ = [
    "FoundCompilation",
    "Selection",
    "compilation_keys",
    "compilations_of_run",
    "find_compilation",
    "find_run",
    "is_compilation",
    "list_runs",
    "run_names",
    "select",
    "select_all",
    "select_exact",
]

_BY_KEY: Final = load_statement(__file__, "compilation-by-key")
_BY_PART: Final = load_statement(__file__, "compilations-by-part")
_BY_SIZE: Final = load_statement(__file__, "compilations-by-size")
_LARGEST: Final = load_statement(__file__, "largest-compilation")
_COUNT: Final = load_statement(__file__, "compilation-count")
_RUNS: Final = load_statement(__file__, "runs")
_RUN_NAMES: Final = load_statement(__file__, "run-names")
_COMPILATIONS: Final = load_statement(__file__, "compilations-of-run-by-size")


_MOST_NEAR: Final = 5


@dataclass(frozen=True, slots=True)
class FoundCompilation:
    """The compilation that a name stands for."""

    key: str
    note: str | None
    """Which of how many was chosen, if the name was that of a run or left out; else None."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a name stands for: a run with its compilations, or one compilation."""

    name: str
    """Name of the run, or the whole key of the compilation."""
    is_run: bool
    compilations: tuple[str, ...]
    """Keys, sorted."""


def find_compilation(graph: Graph, name: str | None) -> FoundCompilation:
    """Return the one compilation that a name stands for, case as written.

    A name is, the first that holds: a whole key, the whole name of a run, a unique part of a
    key. Of a run, and of all where none is named, it is the compilation with the most
    reserved bytes, then the smallest key. Raises NoSuchCompilation or AmbiguousCompilation
    with what else there is, and EmptyGraph.
    """
    if not name:
        ((count,),) = graph.query(_COUNT).rows
        largest = _keys(graph, _LARGEST)
        if not largest:
            raise EmptyGraph
        return FoundCompilation(
            largest[0], f"no compilation was named; {_chosen(largest[0], cast('int', count))}"
        )
    if is_compilation(graph, name):
        return FoundCompilation(name, None)
    if keys := compilations_of_run(graph, name):
        return FoundCompilation(keys[0], f"'{name}' is a run; {_chosen(keys[0], len(keys))}")
    return FoundCompilation(_only_match(graph, name), None)


def select(graph: Graph, name: str) -> Selection:
    """Return what a name stands for: a run by its name, else a compilation as usual.

    Raises NoSuchCompilation or AmbiguousCompilation with the candidates, and EmptyGraph.
    """
    runs = run_names(graph)
    if name in runs:
        return Selection(name, is_run=True, compilations=_sorted(compilations_of_run(graph, name)))
    try:
        key = find_compilation(graph, name).key
    except NoSuchCompilation as error:
        near = list(dict.fromkeys((*similar_names(name, runs), *error.candidates)))
        raise NoSuchCompilation(
            f"no run of {graph.location} is called '{name}', and no compilation has it in its key"
            + ("" if near else f" ({len(runs)} runs were searched: {_some(runs)})"),
            near,
        ) from None
    return Selection(key, is_run=False, compilations=(key,))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NEAR} more" if len(names) > _MOST_NEAR else ""
    return f"{', '.join(names[:_MOST_NEAR])}{more}"


def select_exact(graph: Graph, name: str) -> Selection:
    """Return the run or the compilation of exactly that name.

    Raises InexactName, with what it is a part of, or what `select` raises.
    """
    runs = run_names(graph)
    if name not in runs and not is_compilation(graph, name):
        matches = [run for run in runs if name in run]
        matches += _keys(graph, _BY_PART, part=name)
        if matches:
            raise InexactName(name, matches)
    return select(graph, name)


def select_all(graph: Graph, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the keys of the compilations that names stand for, sorted; of all without names.

    Raises EmptyGraph if there is none, and what `select` raises.
    """
    if not names:
        return _sorted(compilation_keys(graph))
    found = _sorted({key for name in names for key in select(graph, name).compilations})
    if not found:
        raise EmptyGraph
    return found


def is_compilation(graph: Graph, key: str) -> bool:
    """Whether there is a compilation of that key."""
    return bool(_keys(graph, _BY_KEY, compilation=key))


def compilation_keys(graph: Graph) -> tuple[str, ...]:
    """Return the keys of all compilations, the one that reserves most first; or EmptyGraph."""
    keys = _keys(graph, _BY_SIZE)
    if not keys:
        raise EmptyGraph
    return keys


def _only_match(graph: Graph, part: str) -> str:
    matches = _keys(graph, _BY_PART, part=part)
    if len(matches) > 1:
        raise AmbiguousCompilation(part, matches)
    if not matches:
        keys = compilation_keys(graph)
        near_runs = get_close_matches(part.partition("/")[0], run_names(graph), n=2)
        near = [*(near_runs if "/" not in part else ()), *_near_keys(part, keys)][:_MOST_NEAR]
        raise NoSuchCompilation(
            f"no compilation has '{part}' in its key, of {len(keys)} in {graph.location}", near
        )
    return matches[0]


def _near_keys(name: str, keys: Sequence[str]) -> list[str]:
    """Return up to five keys that are near a name, or have in them what is near.

    A key is RUN/MODULE_NUMBER.MODULE.REST: as many of these parts as the name has are compared.
    """
    parts = _parts(name)
    keys_by_piece: dict[str, list[str]] = {}
    for key in keys:
        of_key = _parts(key)
        for start in range(len(of_key) - len(parts) + 1):
            piece = "/".join(of_key[start : start + len(parts)])
            keys_by_piece.setdefault(piece, []).append(key)
    near = get_close_matches("/".join(parts), keys_by_piece, n=_MOST_NEAR)
    found = (key for piece in near for key in keys_by_piece[piece])
    return list(dict.fromkeys((*found, *similar_names(name, keys))))[:_MOST_NEAR]


def _parts(key: str) -> list[str]:
    return re.split(r"[/.]", key)


def _chosen(key: str, of: int) -> str:
    of_how_many = f"which reserves most of {of}" if of > 1 else "the only one"
    return f"this is {key}, {of_how_many}"


def _sorted(keys: "set[str] | tuple[str, ...]") -> tuple[str, ...]:
    return tuple(sorted(keys))


def _keys(graph: Graph, statement: str, **parameters: Cell) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in graph.query(statement, parameters).rows)


def list_runs(graph: Graph) -> Result:
    """Return a row for each run, by name: path, compilations (how many), ingestedAt, tags."""
    return graph.query(_RUNS)


def run_names(graph: Graph) -> tuple[str, ...]:
    """Return the names of all runs, sorted."""
    return tuple(str(row[0]) for row in graph.query(_RUN_NAMES).rows)


def find_run(graph: Graph, name: str) -> str:
    """Return the name if a run has it; raises NoSuchRun with what is near, EmptyGraph."""
    runs = run_names(graph)
    if not runs:
        raise EmptyGraph
    if name not in runs:
        raise NoSuchRun(f"no run is called '{name}'", similar_names(name, runs))
    return name


def compilations_of_run(graph: Graph, run: str) -> tuple[str, ...]:
    """Return the keys of the compilations of a run, the one that reserves most first."""
    return tuple(str(row[0]) for row in graph.query(_COMPILATIONS, {"run": run}).rows)
