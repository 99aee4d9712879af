"""Changes to whole runs: remove, rename, tag."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.graph.errors import NameInvalid, NameTaken, NameUnknown
from xlagraph.graph.statement_files import load_statement

_COMPILATIONS_OF_RUN: Final = load_statement(__file__, "compilations-of-run")
_COMPILATION: Final = load_statement(__file__, "compilation")
_LISTS_OF_RUN: Final = load_statement(__file__, "lists-of-run")


@dataclass(frozen=True, slots=True)
class RemovedKeys:
    """The keys of removed runs and compilations."""

    runs: tuple[str, ...]
    """Keys of the runs that were removed with their last compilation."""
    compilations: tuple[str, ...]
    """Keys, in order."""


def remove(graph: Graph, name: str) -> RemovedKeys:
    """Remove a run or one compilation, named by its key; NameUnknown if there is none.

    Shared nodes that become unused are removed too.
    """
    compilations = _compilations(graph, name) or _compilation(graph, name)
    if not compilations:
        raise NameUnknown(f"no run and no compilation is called {name}")
    return _remove(graph, compilations)


def remove_runs(graph: Graph, runs: Iterable[str]) -> RemovedKeys:
    """Remove several runs and rewrite a file only once; unknown names are ignored."""
    return _remove(graph, [found for run in runs for found in _compilations(graph, run)])


def _remove(graph: Graph, compilations: Sequence[tuple[str, str]]) -> RemovedKeys:
    """Remove compilations, each given as its run and its key."""
    runs = {run for run, _ in compilations}
    with graph.load() as load:
        for _, compilation in compilations:
            load.remove(compilation)
    gone = [run for run in sorted(runs) if not _compilations(graph, run)]
    return RemovedKeys(tuple(gone), tuple(compilation for _, compilation in compilations))


def check_run_name(name: str) -> None:
    """Raise NameInvalid if a run cannot have this name."""
    if not name or name.strip("/") != name:
        raise NameInvalid(f"{name!r} cannot name a run: it is empty, or begins or ends with `/`")


def rename_run(graph: Graph, old: str, new: str) -> None:
    """Rename a run, and change the keys of its compilations with it.

    Raises NameUnknown if there is no such run, NameTaken if the new name is in use, NameInvalid
    if it cannot name a run. An interruption leaves a file as it was; on a server it may leave
    some compilations under both names.
    """
    check_run_name(new)
    from xlagraph.graph.row_tables import with_run_renamed  # imports pyarrow, which is slow

    with graph.load() as load:
        compilations = _compilations(graph, old)
        if not compilations:
            raise NameUnknown(f"no run is called {old}")
        if old == new:
            return
        if _compilations(graph, new):
            raise NameTaken(f"a run called {new} already exists; remove it first")
        # copies are complete before anything is removed: an interruption loses nothing
        for _, compilation in compilations:
            load.write(with_run_renamed(graph.read(compilation), old, new))
        for _, compilation in compilations:
            load.remove(compilation)


def tag_run(graph: Graph, run: str, tags: Mapping[str, str | None]) -> None:
    """Set tags of a run, or remove those of value None; NameUnknown if there is no such run."""
    with graph.load() as load:
        current = _stored_by_name(graph, run, "tags")
        changed = {name: value for name, value in {**current, **tags}.items() if value is not None}
        if changed != current:
            load.tag(run, [f"{name}={value}" for name, value in changed.items()])


def store_snapshot(graph: Graph, run: str, name: str, snapshot: str) -> None:
    """Store a snapshot with a run, and replace one of the same name.

    Raises NameUnknown if there is no such run.
    """
    with graph.load() as load:
        changed = {**_stored_by_name(graph, run, "snapshots"), name: snapshot}
        load.store_snapshots(run, [f"{key}={text}" for key, text in changed.items()])


def _stored_by_name(graph: Graph, run: str, column: str) -> dict[str, str]:
    """Return the values of a run's list of ``name=value``, by name."""
    found = graph.query(_LISTS_OF_RUN, {"run": run}).mappings()
    if not found:
        raise NameUnknown(f"no run is called {run}")
    stored = found[0][column]
    pairs = (str(each).partition("=") for each in (stored if isinstance(stored, list) else ()))
    return {name: value for name, _, value in pairs}


def _compilations(graph: Graph, run: str) -> list[tuple[str, str]]:
    result = graph.query(_COMPILATIONS_OF_RUN, {"run": run})
    return [(str(run), str(compilation)) for run, compilation in result.rows]


def _compilation(graph: Graph, key: str) -> list[tuple[str, str]]:
    result = graph.query(_COMPILATION, {"compilation": key})
    return [(str(run), str(compilation)) for run, compilation in result.rows]
