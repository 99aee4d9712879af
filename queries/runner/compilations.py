"""Find runs and compilations by name, and reject those stored without the necessary facts."""

import re
from collections.abc import Collection, Sequence
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
    NotStored,
    similar_names,
)

_BY_KEY: Final = load_statement(__file__, "compilation-by-key")
_BY_PART: Final = load_statement(__file__, "compilations-by-part")
_BY_FUNCTION: Final = load_statement(__file__, "compilations-by-function")
_BY_SIZE: Final = load_statement(__file__, "compilations-by-size")
_LARGEST: Final = load_statement(__file__, "largest-compilation")
_COUNT: Final = load_statement(__file__, "compilation-count")
_RUNS: Final = load_statement(__file__, "runs")
_RUN_NAMES: Final = load_statement(__file__, "run-names")
_AT_PEAK: Final = load_statement(__file__, "compilations-at-peak")
_ANY_AT_PEAK: Final = load_statement(__file__, "any-compilation-at-peak")
_COMPILATIONS: Final = load_statement(__file__, "compilations-of-run-by-size")

_MOST_NEAR: Final = 5
"""Maximum number of similar names in an error."""


@dataclass(frozen=True, slots=True)
class FoundCompilation:
    """A compilation found by name."""

    key: str
    note: str | None
    """Reason for the choice if the name was a run or omitted; else None."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A run with its compilations, or one compilation, found by name."""

    name: str
    """Name of the run, or full key of the compilation."""
    is_run: bool
    compilations: tuple[str, ...]
    """Keys, sorted."""


def find_compilation(graph: Graph, name: str | None) -> FoundCompilation:
    """Return the compilation with a name, which is case-sensitive.

    A name is a full key, the full name of a run, a unique part of a key, or RUN/FUNCTION, such as
    ``baseline/train_step``, tried in this order.
    For a run, or without a name, return the compilation with the most reserved bytes, then the
    smallest key. Raise NoSuchCompilation or AmbiguousCompilation with the candidates, or
    EmptyGraph.
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
    """Return the run with a name, else the compilation that `find_compilation` returns.

    Raise NoSuchCompilation or AmbiguousCompilation with the candidates, or EmptyGraph.
    """
    runs = run_names(graph)
    if name in runs:
        return Selection(name, is_run=True, compilations=_sorted(compilations_of_run(graph, name)))
    try:
        key = find_compilation(graph, name).key
    except NoSuchCompilation as error:
        near = list(dict.fromkeys((*similar_names(name, runs), *error.candidates)))
        raise NoSuchCompilation(
            f"no run of {graph.location} is called '{name}', and no compilation key contains it"
            + ("" if near else f" ({len(runs)} runs were searched: {_some(runs)})"),
            near,
        ) from None
    return Selection(key, is_run=False, compilations=(key,))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NEAR} more" if len(names) > _MOST_NEAR else ""
    return f"{', '.join(names[:_MOST_NEAR])}{more}"


def select_exact(graph: Graph, name: str) -> Selection:
    """Return the run or the compilation with exactly that name.

    Raise InexactName with the names that contain it, or an error of `select`.
    """
    runs = run_names(graph)
    if name not in runs and not is_compilation(graph, name):
        matches = [run for run in runs if name in run]
        matches += _keys(graph, _BY_PART, part=name)
        if matches:
            raise InexactName(name, matches)
    return select(graph, name)


def select_all(graph: Graph, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the sorted keys of the compilations with these names; of all without names.

    Raise EmptyGraph if there is none, or an error of `select`.
    """
    if not names:
        return _sorted(compilation_keys(graph))
    found = _sorted({key for name in names for key in select(graph, name).compilations})
    if not found:
        raise EmptyGraph
    return found


def is_compilation(graph: Graph, key: str) -> bool:
    """Return True if there is a compilation with that key."""
    return bool(_keys(graph, _BY_KEY, compilation=key))


def compilation_keys(graph: Graph) -> tuple[str, ...]:
    """Return the keys of all compilations, sorted by reserved bytes, descending.

    Raises EmptyGraph.
    """
    keys = _keys(graph, _BY_SIZE)
    if not keys:
        raise EmptyGraph
    return keys


def _only_match(graph: Graph, part: str) -> str:
    matches = _keys(graph, _BY_PART, part=part)
    if not matches:
        run, _, function = part.rpartition("/")
        matches = _keys(graph, _BY_FUNCTION, run=run, function=function, suffix=f"_{function}")
    if len(matches) > 1:
        raise AmbiguousCompilation(part, matches)
    if not matches:
        keys = compilation_keys(graph)
        near_runs = get_close_matches(part.partition("/")[0], run_names(graph), n=2)
        near = [*(near_runs if "/" not in part else ()), *_near_keys(part, keys)][:_MOST_NEAR]
        raise NoSuchCompilation(
            f"no compilation key of the {len(keys)} in {graph.location} contains '{part}'", near
        )
    return matches[0]


def _near_keys(name: str, keys: Sequence[str]) -> list[str]:
    """Return up to five keys that are similar to a name or contain a similar piece.

    A key is RUN/MODULE_NUMBER.MODULE.REST. Pieces have as many of these parts as the name.
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
    return f"using {key}, the {f'largest of {of} compilations' if of > 1 else 'only compilation'}"


def _sorted(keys: "set[str] | tuple[str, ...]") -> tuple[str, ...]:
    return tuple(sorted(keys))


def _keys(graph: Graph, statement: str, **parameters: Cell) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in graph.query(statement, parameters).rows)


def list_runs(graph: Graph) -> Result:
    """Return a row for each run, sorted by name: path, number of compilations, ingestedAt, tags."""
    return graph.query(_RUNS)


def run_names(graph: Graph) -> tuple[str, ...]:
    """Return the names of all runs, sorted."""
    return tuple(str(row[0]) for row in graph.query(_RUN_NAMES).rows)


def find_run(graph: Graph, name: str) -> str:
    """Return the name if a run has it; raise NoSuchRun with similar names, or EmptyGraph."""
    runs = run_names(graph)
    if not runs:
        raise EmptyGraph
    if name not in runs:
        raise NoSuchRun(f"no run is called '{name}'", similar_names(name, runs))
    return name


def compilations_of_run(graph: Graph, run: str) -> tuple[str, ...]:
    """Return the keys of a run's compilations, sorted by reserved bytes, descending."""
    return tuple(str(row[0]) for row in graph.query(_COMPILATIONS, {"run": run}).rows)


def check_stored(graph: Graph, names: Collection[str]) -> None:
    """Raise NotStored if a compilation of these runs or keys is stored with `peak` detail only.

    Check all compilations if there are no names.
    """
    for key in _at_peak(graph, names):
        raise NotStored(key)


def is_at_peak(graph: Graph, names: Collection[str]) -> bool:
    """Return True if a compilation of these runs or keys is stored with `peak` detail only."""
    return bool(_at_peak(graph, names))


def _at_peak(graph: Graph, names: Collection[str]) -> list[str]:
    found = graph.query(_AT_PEAK, {"sides": list(names)}) if names else graph.query(_ANY_AT_PEAK)
    return [str(key) for (key,) in found.rows]
