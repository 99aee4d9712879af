"""Check if compilations fit: compare reserved bytes with the capacity of a memory space."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from xlagraph.advice.advise import advise
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.checkpoint_scopes import CheckpointScopes, checkpoint_scopes
from xlagraph.advice.combined_changes import CombinedChange, combine
from xlagraph.advice.diagnosis import Diagnosis
from xlagraph.advice.findings import LEAST_SHARE
from xlagraph.advice.needed_memory import NeededMemory
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries.catalogue.query_files import Query
from xlagraph.queries.errors import NoSuchMemorySpace
from xlagraph.queries.runner.compilations import select_all

_RESERVED: Final = load_statement(__file__, "reserved-by-space")
_MOST_DIAGNOSED: Final = 5
"""Number of memory spaces to diagnose, starting with the shortest: a diagnosis takes seconds."""
MOST_FINDINGS: Final = 3
"""Number of changes to list if a compilation does not fit."""


def space_text(color: int, name: str | None) -> str:
    """Return the text for a memory space: `memory space 1 (VMEM)`."""
    return f"memory space {color} ({name})" if name else f"memory space {color}"


@dataclass(frozen=True, slots=True)
class SpaceFit(NeededMemory):
    """Reserved bytes and capacity of one compilation in one memory space."""

    run: str
    compilation: str
    memory_space: int
    memory_space_name: str | None
    """HBM, VMEM, host, …; None if unknown."""
    reserved_bytes: int
    capacity_bytes: int | None

    @property
    def space_text(self) -> str:
        """Text for the memory space: `memory space 1 (VMEM)`."""
        return space_text(self.memory_space, self.memory_space_name)

    @property
    def needed_bytes(self) -> int:
        """Reserved bytes."""
        return self.reserved_bytes


def check_capacity(
    graph: Graph, capacities: Mapping[int, int], names: Sequence[str] = ()
) -> tuple[SpaceFit, ...]:
    """Compare every memory space of runs and compilations with its capacity in bytes.

    If none is named, all compilations of the graph are checked. The result is sorted by missing
    bytes, then by reserved bytes, descending. Raises NoSuchMemorySpace for the capacity of a
    memory space that none of them uses, and EmptyGraph if there is nothing to check.
    """
    rows = graph.query(_RESERVED, {"compilations": list(select_all(graph, names))}).rows
    fits = [
        SpaceFit(run, key, color, name, reserved, capacities.get(color))
        for run, key, color, name, reserved in cast(
            "Sequence[tuple[str, str, int, str | None, int]]", rows
        )
    ]
    reject_unknown_spaces(capacities, {fit.memory_space for fit in fits})
    # sorted is stable, so equal ones stay in order of key and memory space
    return tuple(sorted(fits, key=lambda fit: (-(fit.missing_bytes or 0), -fit.reserved_bytes)))


def reject_unknown_spaces(named: Iterable[int], used: Collection[int]) -> None:
    """Raise NoSuchMemorySpace for an unused number; 0 exists on every device."""
    for color in sorted(named):
        if color and color not in used:
            raise NoSuchMemorySpace(color, used)


@dataclass(frozen=True, slots=True)
class LackingSpace:
    """A memory space that is too small, and changes that make the compilation fit."""

    space: SpaceFit
    changes: tuple[CombinedChange, ...]
    """Changes, sorted by expected savings: as many as make it fit together, at least three."""
    problems: tuple[str, ...]
    """Files of queries that failed, each with the reason."""
    scopes: CheckpointScopes | None = None
    """Scopes whose checkpoints save memory; only if the changes do not make it fit."""

    @property
    def combined(self) -> tuple[CombinedChange, ...]:
        """Changes that were replanned together."""
        return tuple(change for change in self.changes if change.together_bytes is not None)

    @property
    def would_fit(self) -> bool:
        """True if changes without a doubt save at least the missing bytes together."""
        return any(change.fits for change in self.changes)


def changes_where_lacking(
    graph: Graph, spaces: Sequence[SpaceFit], *, catalogue: Mapping[str, Query] | None = None
) -> tuple[LackingSpace, ...]:
    """Return changes for up to five memory spaces, those with the most missing bytes.

    If the large findings together are not enough, small ones are searched, too.
    """
    lacking = [space for space in spaces if space.fits is False]
    return tuple(_changes(graph, space, catalogue) for space in lacking[:_MOST_DIAGNOSED])


def _changes(graph: Graph, space: SpaceFit, catalogue: Mapping[str, Query] | None) -> LackingSpace:
    graph = AskedOnce(graph)  # small findings are searched with the same queries
    stored = StoredCompilation(graph, space.compilation)
    program = PeakProgram(stored, space.memory_space)
    missing = space.missing_bytes or 0
    diagnosis = _diagnosis(graph, space, catalogue, stored, LEAST_SHARE)
    changes = combine(program, diagnosis.findings, missing)
    if diagnosis.hidden and not any(change.fits for change in changes):
        diagnosis = _diagnosis(graph, space, catalogue, stored, 0)
        changes = combine(program, diagnosis.findings, missing)
    last = max(
        (number for number, change in enumerate(changes, 1) if change.together_bytes is not None),
        default=0,
    )
    is_enough = any(change.fits for change in changes)
    scopes = None if is_enough or space.memory_space else checkpoint_scopes(program)
    return LackingSpace(space, changes[: max(last, MOST_FINDINGS)], diagnosis.problems, scopes)


def _diagnosis(
    graph: Graph,
    space: SpaceFit,
    catalogue: Mapping[str, Query] | None,
    stored: StoredCompilation,
    least_share: float,
) -> Diagnosis:
    return advise(
        graph,
        space.compilation,
        memory_space=space.memory_space,
        catalogue=catalogue,
        stored=stored,
        least_share=least_share,
    )
